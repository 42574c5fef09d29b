-- How a session begins, and what is known about the files that a prompt names.

-- Set for a one-line reference. The row that it refers to may still be shown in full.
ALTER TABLE injection ADD COLUMN brief INTEGER NOT NULL DEFAULT 0;

-- Set when the session was offered to start a GHAP.
ALTER TABLE session ADD COLUMN offered INTEGER NOT NULL DEFAULT 0;

-- Recent work of a project, and the preferences that its sessions begin with. The first is on an expression, so that only
-- who asks for recent work goes by it: for the newest fix of one failure it would read all others first.
CREATE INDEX episode_fixed ON episode (project, coalesce(ended, 0)) WHERE how = 'fixed';
CREATE INDEX ghap_resolved ON ghap (project, resolved) WHERE status IN ('confirmed', 'falsified');
CREATE INDEX memory_preference ON memory (project, changed) WHERE category = 'preference' AND importance = 1.0;

-- Files of fixed episodes, by their last part. Derived: written together with the documents of an episode.
CREATE TABLE episode_file (
    project INTEGER NOT NULL,
    name    TEXT NOT NULL,
    episode BLOB NOT NULL, -- a UUIDv7, so that the newest is last
    path    TEXT NOT NULL, -- from the root of the checkout
    PRIMARY KEY (project, name, episode, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_file_episode ON episode_file (episode);
CREATE TRIGGER episode_file_went AFTER DELETE ON episode BEGIN
    DELETE FROM episode_file WHERE episode = OLD.uid;
END;
INSERT INTO stale (row, kind) SELECT uid, 'episode' FROM episode
    WHERE how = 'fixed' AND NOT EXISTS (SELECT 1 FROM stale WHERE row = episode.uid);
