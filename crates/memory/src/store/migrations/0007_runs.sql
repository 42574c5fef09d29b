-- A failure is known by its test, wherever and however that is run: the package around it, the task that ran it, whether the
-- code compiled, and what the failure named, while it is open.
ALTER TABLE episode ADD COLUMN scope TEXT;
ALTER TABLE episode ADD COLUMN task TEXT;
ALTER TABLE episode ADD COLUMN partial INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN compile_error INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN clues TEXT NOT NULL DEFAULT '{}'; -- JSON
-- The command that made an edit.
ALTER TABLE change ADD COLUMN made_by TEXT;

DROP INDEX episode_open;

-- The path in the name of a test starts at the root of the checkout now.
UPDATE episode SET test = folder || '/' || test, signature = folder || '/' || signature
    WHERE folder != '' AND (test LIKE '%.%::%' OR test LIKE '%.% > %')
      AND substr(test, 1, length(folder) + 1) != folder || '/';

-- Of two that are the same by now the older one is left.
UPDATE episode SET how = 'left', ended = seen WHERE how IS NULL AND EXISTS (
    SELECT 1 FROM episode AS other WHERE other.how IS NULL AND other.project = episode.project AND other.root = episode.root
       AND other.signature = episode.signature AND other.id > episode.id);
CREATE UNIQUE INDEX episode_open ON episode (project, root, signature, coalesce(scope, '')) WHERE how IS NULL;

-- What a wrapper says about itself was taken for a failure: any lint error was "fixed" by whatever was edited last.
UPDATE episode SET how = 'left' WHERE how = 'fixed' AND test IS NULL AND (
    error LIKE 'script "%" exited with code %' OR error LIKE '%ELIFECYCLE%' OR error LIKE 'recipe %failed%'
    OR error LIKE 'Recipe %failed%' OR error LIKE 'unrecognized subcommand %' OR error LIKE '%: Error _'
    OR error LIKE 'Command failed with exit code %');

-- Commands that look like a run and are not known as one, for the user to decide about.
CREATE TABLE unfollowed (
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    command TEXT NOT NULL,
    times   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, command)
) STRICT, WITHOUT ROWID;
