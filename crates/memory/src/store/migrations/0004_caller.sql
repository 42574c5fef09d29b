-- Whose call of one of our tools it is: the client tells a hook before each call, and the server only the call's name.

CREATE TABLE caller (
    tool_use TEXT NOT NULL PRIMARY KEY, -- the client's name for the call
    session  INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    agent    TEXT NOT NULL, -- empty is the main one
    place    TEXT NOT NULL, -- JSON: where
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_session ON caller (session);
