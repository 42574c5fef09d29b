-- Where rows came from, and what waits for a person.

-- Files that were imported.
CREATE TABLE import_batch (
    id       INTEGER PRIMARY KEY,
    uid      BLOB NOT NULL UNIQUE,
    file     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    accepted INTEGER -- when a person took its rows for their own
) STRICT;

-- The origin of a row. One that is not here was written by an older program.
CREATE TABLE origin (
    id       INTEGER PRIMARY KEY,
    row      BLOB NOT NULL UNIQUE,
    writer   TEXT, -- of an imported row: the writer that the file names, if any
    checkout TEXT,
    session  TEXT, -- the client's name for it
    agent    TEXT,
    batch    INTEGER REFERENCES import_batch
) STRICT;
CREATE INDEX origin_batch ON origin (batch) WHERE batch IS NOT NULL;

CREATE TRIGGER session_origin_went AFTER DELETE ON session BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER project_origin_went AFTER DELETE ON project BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER outcome_origin_went AFTER DELETE ON outcome BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER ghap_origin_went AFTER DELETE ON ghap BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER memory_origin_went AFTER DELETE ON memory BEGIN
    DELETE FROM origin WHERE row = OLD.uid;
    DELETE FROM proposal WHERE row = OLD.uid;
END;
CREATE TRIGGER value_origin_went AFTER DELETE ON value BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER episode_origin_went AFTER DELETE ON episode BEGIN DELETE FROM origin WHERE row = OLD.uid; END;
CREATE TRIGGER change_origin_went AFTER DELETE ON change BEGIN DELETE FROM origin WHERE row = OLD.uid; END;

-- What takes effect when a person accepts it: a memory of a project that is to hold everywhere (`row`), or a row or an alias
-- of an import (`record`, a line as in an export).
CREATE TABLE proposal (
    id     INTEGER PRIMARY KEY,
    uid    BLOB NOT NULL UNIQUE,
    row    BLOB UNIQUE,
    record TEXT,
    batch  INTEGER REFERENCES import_batch ON DELETE CASCADE,
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX proposal_batch ON proposal (batch) WHERE batch IS NOT NULL;
