-- What can be found: every row that has something to say, as one document per axis that it can be asked on.
--
-- The text itself stays where it was written. Whatever deletes a row deletes its documents. They are searched in files beside
-- the database, which are made of this table, and in the table itself where they are newer.

CREATE TABLE document (
    id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: the files beside the database go by it
    kind    TEXT NOT NULL,
    row     BLOB NOT NULL,
    axis    TEXT NOT NULL,
    project INTEGER REFERENCES project ON DELETE CASCADE, -- none is everywhere
    at      INTEGER NOT NULL,
    length  INTEGER NOT NULL, -- in terms
    vector  BLOB,
    tokens  BLOB NOT NULL, -- of the table of word vectors, two bytes each
    terms   TEXT NOT NULL, -- made by us, parted by blanks, each as often as it stands in the text
    UNIQUE (row, axis)
) STRICT;
CREATE INDEX document_project ON document (project);

-- Documents that went and may still be in the files beside the database.
CREATE TABLE gone (
    document INTEGER PRIMARY KEY
) STRICT;
-- The files that belong to this database, and to this state of it. One that was put back from a copy, or begun anew, knows
-- none of later ones.
CREATE TABLE edition (
    number INTEGER PRIMARY KEY
) STRICT;

-- How many documents a project has on each axis, and how long they are together; 0 is everywhere.
CREATE TABLE corpus (
    axis      TEXT NOT NULL,
    project   INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    terms     INTEGER NOT NULL,
    PRIMARY KEY (axis, project)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER document_came AFTER INSERT ON document BEGIN
    INSERT INTO corpus (axis, project, documents, terms) VALUES (NEW.axis, coalesce(NEW.project, 0), 1, NEW.length)
    ON CONFLICT DO UPDATE SET documents = documents + 1, terms = terms + excluded.terms;
END;
CREATE TRIGGER document_went AFTER DELETE ON document BEGIN
    UPDATE corpus SET documents = documents - 1, terms = terms - OLD.length
    WHERE axis = OLD.axis AND project = coalesce(OLD.project, 0);
    DELETE FROM corpus WHERE axis = OLD.axis AND project = coalesce(OLD.project, 0) AND documents = 0;
    INSERT INTO gone (document) VALUES (OLD.id);
END;
-- Rows that say something else than their documents. Whatever writes them, a trigger sees it; whoever commits brings the
-- documents up to date. (`OR IGNORE` would not do: the clause of the statement that fires a trigger comes before its own.)
CREATE TABLE stale (
    row  BLOB PRIMARY KEY,
    kind TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_came AFTER INSERT ON memory BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'memory' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memory BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'memory' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
CREATE TRIGGER ghap_came AFTER INSERT ON ghap WHEN NEW.status != 'active' BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'experience' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
CREATE TRIGGER ghap_changed AFTER UPDATE ON ghap WHEN NEW.status != 'active' OR OLD.status != 'active' BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'experience' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
CREATE TRIGGER episode_came AFTER INSERT ON episode WHEN NEW.how = 'fixed' BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'episode' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
CREATE TRIGGER episode_changed AFTER UPDATE ON episode WHEN NEW.how = 'fixed' OR OLD.how = 'fixed' BEGIN
    INSERT INTO stale (row, kind) SELECT NEW.uid, 'episode' WHERE NOT EXISTS (SELECT 1 FROM stale WHERE row = NEW.uid);
END;
INSERT INTO stale (row, kind) SELECT uid, 'memory' FROM memory;
INSERT INTO stale (row, kind) SELECT uid, 'experience' FROM ghap WHERE status != 'active';
INSERT INTO stale (row, kind) SELECT uid, 'episode' FROM episode WHERE how = 'fixed';

CREATE TRIGGER memory_went AFTER DELETE ON memory BEGIN
    DELETE FROM document WHERE row = OLD.uid;
END;
CREATE TRIGGER ghap_went AFTER DELETE ON ghap BEGIN
    DELETE FROM document WHERE row = OLD.uid;
END;
CREATE TRIGGER episode_went AFTER DELETE ON episode BEGIN
    DELETE FROM document WHERE row = OLD.uid;
END;
