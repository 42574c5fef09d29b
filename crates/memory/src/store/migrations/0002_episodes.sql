-- The silent loop: failures that are followed, what was changed meanwhile, and what was said about them.

CREATE TABLE episode (
    id        INTEGER PRIMARY KEY,
    uid       BLOB NOT NULL UNIQUE,
    project   INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    root      TEXT NOT NULL,
    program   TEXT NOT NULL,
    folder    TEXT NOT NULL,
    arguments TEXT NOT NULL, -- JSON: words
    stops     INTEGER NOT NULL,
    signature TEXT NOT NULL,
    test      TEXT,
    error     TEXT NOT NULL,
    file      TEXT,
    first     INTEGER REFERENCES outcome ON DELETE SET NULL,
    last      INTEGER REFERENCES outcome ON DELETE SET NULL,
    attempts  INTEGER NOT NULL,
    opened    INTEGER NOT NULL,
    seen      INTEGER NOT NULL,
    gone      INTEGER,
    how       TEXT, -- none while it is open
    ended     INTEGER,
    closed    INTEGER REFERENCES outcome ON DELETE SET NULL,
    fix       TEXT NOT NULL, -- JSON: changes
    changed   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX episode_open ON episode (project, root, signature) WHERE how IS NULL;
CREATE INDEX episode_signature ON episode (project, signature);
CREATE INDEX episode_test ON episode (project, test) WHERE test IS NOT NULL;
CREATE INDEX episode_first ON episode (first) WHERE first IS NOT NULL;
CREATE INDEX episode_last ON episode (last) WHERE last IS NOT NULL;
CREATE INDEX episode_closed ON episode (closed) WHERE closed IS NOT NULL;

-- What was changed while an episode was open in the same checkout.
CREATE TABLE change (
    id      INTEGER PRIMARY KEY,
    uid     BLOB NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    root    TEXT NOT NULL,
    sort    TEXT NOT NULL,
    name    TEXT NOT NULL,
    patch   TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX change_place ON change (project, root, at);

-- What was put in front of the agent.
CREATE TABLE injection (
    id      INTEGER PRIMARY KEY,
    uid     BLOB NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    agent   TEXT,
    event   TEXT NOT NULL,
    row     BLOB NOT NULL,
    score   REAL NOT NULL,
    prompt  TEXT NOT NULL,
    effect  TEXT,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX injection_session ON injection (session, row);
CREATE INDEX injection_row ON injection (row);

-- When what a session had been shown last left its context.
ALTER TABLE session ADD COLUMN refreshed INTEGER;
