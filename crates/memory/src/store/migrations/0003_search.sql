-- What can be found: every row that has something to say, as one document per axis that it can be asked on.
--
-- The text itself stays where it was written. Whatever deletes a row deletes its documents, and a document takes its
-- terms with it.

CREATE TABLE document (
    id      INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    row     BLOB NOT NULL,
    axis    TEXT NOT NULL,
    project INTEGER REFERENCES project ON DELETE CASCADE, -- none is everywhere
    length  INTEGER NOT NULL, -- in terms
    vector  BLOB,
    tokens  BLOB NOT NULL, -- of the table of word vectors, two bytes each
    at      INTEGER NOT NULL,
    UNIQUE (row, axis)
) STRICT;
CREATE INDEX document_project ON document (project);

-- Terms are made by us and parted by blanks. Those of other axes than the whole have a mark before them, so that each axis
-- counts for itself.
CREATE VIRTUAL TABLE lexicon USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '-_./:\@$~'"
);
CREATE VIRTUAL TABLE lexicon_count USING fts5vocab (lexicon, 'row');
CREATE VIRTUAL TABLE lexicon_place USING fts5vocab (lexicon, 'instance');

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
    DELETE FROM lexicon WHERE rowid = OLD.id;
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
