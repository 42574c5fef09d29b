-- The ground: projects and sessions, what was predicted and what really happened, what was asked to be remembered.
--
-- Every row has an INTEGER key for joins and a UUIDv7 that stays the same when rows move between machines.
-- Times are milliseconds since 1970. Vocabularies are checked by the types that read and write them.

CREATE TABLE project (
    id      INTEGER PRIMARY KEY,
    uid     BLOB NOT NULL UNIQUE,
    key     TEXT NOT NULL UNIQUE,
    name    TEXT NOT NULL,
    root    TEXT NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL
) STRICT;

-- Every key that a project is or was known by, its own included.
CREATE TABLE project_alias (
    id      INTEGER PRIMARY KEY,
    key     TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    merged  INTEGER NOT NULL DEFAULT 0 -- by a person, who said that two projects are one
) STRICT;
CREATE INDEX project_alias_project ON project_alias (project);

CREATE TABLE session (
    id            INTEGER PRIMARY KEY,
    uid           BLOB NOT NULL UNIQUE,
    client        TEXT NOT NULL UNIQUE,
    project       INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    source        TEXT NOT NULL,
    started       INTEGER NOT NULL,
    seen          INTEGER NOT NULL,
    ended         INTEGER,
    process       INTEGER,
    process_began INTEGER,
    cohort        TEXT,
    calls         INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_project ON session (project);

CREATE TABLE outcome (
    id        INTEGER PRIMARY KEY,
    uid       BLOB NOT NULL UNIQUE,
    project   INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    session   INTEGER REFERENCES session ON DELETE SET NULL,
    agent     TEXT,
    command   TEXT NOT NULL,
    kind      TEXT NOT NULL,
    runner    TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    passed    INTEGER,
    failed    INTEGER,
    skipped   INTEGER,
    failing   TEXT NOT NULL, -- JSON: names
    signature TEXT,
    exit      INTEGER,
    duration  INTEGER,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX outcome_project ON outcome (project, at);
CREATE INDEX outcome_session ON outcome (session);
CREATE INDEX outcome_signature ON outcome (signature) WHERE signature IS NOT NULL;

CREATE TABLE ghap (
    id             INTEGER PRIMARY KEY,
    uid            BLOB NOT NULL UNIQUE,
    project        INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    -- No cascade: a session may have begun in a project that is forgotten and gone on in one that is not.
    session        INTEGER NOT NULL REFERENCES session,
    agent          TEXT NOT NULL, -- '' is the main one: two NULLs would not be the same agent
    domain         TEXT NOT NULL,
    strategy       TEXT NOT NULL,
    goal           TEXT NOT NULL,
    hypothesis     TEXT NOT NULL,
    action         TEXT NOT NULL,
    prediction     TEXT NOT NULL,
    expects        TEXT NOT NULL,
    target         TEXT,
    stated_expects INTEGER NOT NULL,
    stated_target  INTEGER NOT NULL,
    testable       INTEGER NOT NULL,
    confidence     REAL,
    predicted      INTEGER NOT NULL,
    status         TEXT NOT NULL,
    resolved       INTEGER,
    result         TEXT,
    surprise       TEXT,
    cause          TEXT,
    cause_text     TEXT,
    what_worked    TEXT,
    takeaway       TEXT,
    tier           TEXT,
    outcome        INTEGER REFERENCES outcome ON DELETE SET NULL,
    supports       INTEGER,
    created        INTEGER NOT NULL,
    changed        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX ghap_active ON ghap (project, session, agent) WHERE status = 'active';
CREATE INDEX ghap_session ON ghap (session);
CREATE INDEX ghap_project ON ghap (project);
CREATE INDEX ghap_outcome ON ghap (outcome) WHERE outcome IS NOT NULL;

CREATE TABLE ghap_revision (
    id         INTEGER PRIMARY KEY,
    ghap       INTEGER NOT NULL REFERENCES ghap ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    hypothesis TEXT NOT NULL,
    action     TEXT NOT NULL,
    prediction TEXT NOT NULL
) STRICT;
CREATE INDEX ghap_revision_ghap ON ghap_revision (ghap);

CREATE TABLE ghap_note (
    id   INTEGER PRIMARY KEY,
    ghap INTEGER NOT NULL REFERENCES ghap ON DELETE CASCADE,
    at   INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX ghap_note_ghap ON ghap_note (ghap);

CREATE TABLE experience (
    id      INTEGER PRIMARY KEY,
    uid     BLOB NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    ghap    INTEGER NOT NULL UNIQUE REFERENCES ghap ON DELETE CASCADE,
    tier    TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX experience_project ON experience (project);

CREATE TABLE memory (
    id         INTEGER PRIMARY KEY,
    uid        BLOB NOT NULL UNIQUE,
    project    INTEGER REFERENCES project ON DELETE CASCADE,
    category   TEXT NOT NULL,
    text       TEXT NOT NULL,
    importance REAL NOT NULL,
    tags       TEXT NOT NULL, -- JSON: words
    created    INTEGER NOT NULL,
    changed    INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_project ON memory (project);

-- One row while what was deleted may still be found in the file's bytes.
CREATE TABLE erasing (
    id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;

-- Spool files whose entries are in the tables above: a file that a crash left behind is not drained again.
CREATE TABLE drained (
    id   INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE
) STRICT;
