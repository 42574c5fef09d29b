-- Commands that failed and are no test run, with the variant that worked.
CREATE TABLE command_episode (
    id         INTEGER PRIMARY KEY,
    uid        BLOB NOT NULL UNIQUE,
    project    INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    client     TEXT NOT NULL, -- the client's name for the session
    agent      TEXT,
    root       TEXT NOT NULL,
    program    TEXT NOT NULL, -- with its subcommand
    command    TEXT NOT NULL,
    shape      INTEGER NOT NULL, -- a checksum of the command with masked values
    error      TEXT NOT NULL,
    signature  TEXT NOT NULL, -- the error with masked values
    failures   INTEGER NOT NULL,
    opened     INTEGER NOT NULL,
    seen       INTEGER NOT NULL, -- the last failure
    passed     INTEGER, -- when a command of this shape succeeded
    how        TEXT, -- none while it is open
    ended      INTEGER,
    worked     TEXT, -- the command that succeeded
    difference TEXT, -- JSON
    -- Only while it is open:
    calls      INTEGER NOT NULL DEFAULT 0, -- Bash calls since the last failure
    form       TEXT NOT NULL DEFAULT '', -- JSON
    output     TEXT NOT NULL DEFAULT '',
    meanwhile  TEXT NOT NULL DEFAULT '[]' -- JSON: forms of commands that succeeded since
) STRICT;
CREATE INDEX command_episode_open ON command_episode (client) WHERE how IS NULL;
CREATE INDEX command_episode_signature ON command_episode (project, signature);
CREATE INDEX command_episode_shape ON command_episode (project, shape);
CREATE TRIGGER command_episode_origin_went AFTER DELETE ON command_episode BEGIN
    DELETE FROM origin WHERE row = OLD.uid;
END;
