-- What the members of a cluster come to, so that what is new is held against that and nobody reads all of them again.

CREATE TABLE summed (
    cluster INTEGER PRIMARY KEY REFERENCES cluster ON DELETE CASCADE,
    sum     BLOB NOT NULL,    -- numbers of four bytes; what each is stands in the program
    size    INTEGER NOT NULL, -- of so many; where the cluster has another size, it was not kept up and is made anew
    unrest  INTEGER NOT NULL  -- so many came or went since the members were asked whether they still belong
) STRICT;

-- When the members of a cluster were last asked, and it was told from them what it looks like.
ALTER TABLE cluster ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;

-- A value without a cluster is held against those whose members were asked since: it fits none of the others.
ALTER TABLE value ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;

-- What speaks against a value: failures whose belief was what it says. Up to which document it was held against them, so that it
-- is held against each once; 0 is against none.
ALTER TABLE value ADD COLUMN weighed INTEGER NOT NULL DEFAULT 0;
CREATE TABLE against (
    value INTEGER NOT NULL REFERENCES value ON DELETE CASCADE,
    ghap  BLOB NOT NULL,
    PRIMARY KEY (value, ghap)
) STRICT, WITHOUT ROWID;
CREATE INDEX against_ghap ON against (ghap);

-- What texts have in common stays as it is while only a few more come: how many it was taken of, and how many came since.
-- Nobody knows that of what was taken before, and it was taken of other vectors; so all of it is begun anew. Values find the
-- clusters that they fit.
DELETE FROM common;
DELETE FROM grouped;
DELETE FROM cluster;
ALTER TABLE common ADD COLUMN texts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE common ADD COLUMN came INTEGER NOT NULL DEFAULT 0;

-- Those that belong to none are looked at each time; and all of an axis where they are few.
CREATE INDEX grouped_axis ON grouped (axis, cluster);
-- Where the document is gone that was looked at: it says something else now, or nothing.
CREATE INDEX grouped_outdated ON grouped (axis) WHERE document = 0;
UPDATE grouped SET document = 0 WHERE document NOT IN (SELECT id FROM document);
CREATE TRIGGER document_outdated AFTER DELETE ON document WHEN OLD.kind = 'experience' BEGIN
    UPDATE grouped SET document = 0 WHERE row = OLD.row AND axis = OLD.axis;
END;

-- As before, and what a member was part of goes with it. How often is counted, so that whoever is at it meanwhile can tell.
DROP TRIGGER ghap_ungrouped;
CREATE TRIGGER ghap_ungrouped AFTER DELETE ON ghap BEGIN
    UPDATE common SET stale = stale + 1 WHERE axis IN (SELECT axis FROM grouped WHERE row = OLD.uid);
    UPDATE cluster SET size = size - 1, unweighed = 1 WHERE id IN (SELECT cluster FROM grouped WHERE row = OLD.uid);
    DELETE FROM summed WHERE cluster IN (SELECT cluster FROM grouped WHERE row = OLD.uid);
    DELETE FROM grouped WHERE row = OLD.uid;
    DELETE FROM against WHERE ghap = OLD.uid;
    UPDATE cluster SET medoid = NULL WHERE medoid = OLD.uid;
    DELETE FROM value WHERE source = OLD.uid;
END;
