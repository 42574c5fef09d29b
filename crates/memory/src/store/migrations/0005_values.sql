-- What many lessons have in common: which experiences belong together on each axis, and what was made of it.
--
-- Clusters are made of documents by whoever tends or asks, never by a hook. Their identities stay while their members come
-- and go, so that what is said of one can be held against it later.

CREATE TABLE cluster (
    id       INTEGER PRIMARY KEY,
    uid      BLOB NOT NULL UNIQUE,
    axis     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    cohesion REAL NOT NULL,    -- how alike the members are on average, from 0 to 1
    medoid   BLOB,             -- the member in the middle
    created  INTEGER NOT NULL,
    changed  INTEGER NOT NULL
) STRICT;
CREATE INDEX cluster_axis ON cluster (axis);

-- Where each experience belongs on each axis. By row and not by document: documents are made anew when a project is joined or a
-- lesson is said otherwise, and that is no reason to belong elsewhere.
CREATE TABLE grouped (
    row      BLOB NOT NULL,
    axis     TEXT NOT NULL,
    document INTEGER NOT NULL, -- which of its documents was looked at
    cluster  INTEGER REFERENCES cluster ON DELETE SET NULL, -- none: it belongs to none so far
    PRIMARY KEY (row, axis)
) STRICT, WITHOUT ROWID;
CREATE INDEX grouped_cluster ON grouped (cluster);

-- What is known of an axis: what its texts have in common, which is taken away before they are compared; up to which document
-- they were looked at; whether one of them is gone since.
CREATE TABLE common (
    axis  TEXT PRIMARY KEY,
    mean  BLOB NOT NULL,
    seen  INTEGER NOT NULL,
    stale INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE value (
    id           INTEGER PRIMARY KEY,
    uid          BLOB NOT NULL UNIQUE,
    project      INTEGER REFERENCES project ON DELETE CASCADE, -- none is everywhere
    text         TEXT NOT NULL,
    axis         TEXT NOT NULL,
    cluster      BLOB, -- no reference: it may come from another machine, or its cluster may be gone
    standing     TEXT NOT NULL,
    source       BLOB, -- the GHAP whose own words these are
    distance     REAL NOT NULL,
    threshold    REAL NOT NULL,
    support      INTEGER NOT NULL,
    contradicted INTEGER NOT NULL,
    since        INTEGER NOT NULL, -- what happened before does not count against it
    created      INTEGER NOT NULL,
    changed      INTEGER NOT NULL
) STRICT;
CREATE INDEX value_project ON value (project);
CREATE INDEX value_source ON value (source) WHERE source IS NOT NULL;

-- Of what is forgotten nothing stays: not its place, and not its words where they became a value.
CREATE TRIGGER ghap_ungrouped AFTER DELETE ON ghap BEGIN
    UPDATE common SET stale = 1 WHERE axis IN (SELECT axis FROM grouped WHERE row = OLD.uid);
    UPDATE cluster SET size = size - 1 WHERE id IN (SELECT cluster FROM grouped WHERE row = OLD.uid);
    DELETE FROM grouped WHERE row = OLD.uid;
    UPDATE cluster SET medoid = NULL WHERE medoid = OLD.uid;
    DELETE FROM value WHERE source = OLD.uid;
END;
