-- What came of what was shown. Of most of it nobody can say; those where somebody can are counted whenever their row is about
-- to be shown again.
CREATE INDEX injection_effect ON injection (row, effect, at) WHERE effect IS NOT NULL;

-- Of how many of them a value has been weighed.
ALTER TABLE value ADD COLUMN weighed INTEGER NOT NULL DEFAULT 0;
