-- Phrases that nobody wrote: the errors of the run that a GHAP was compared with.
ALTER TABLE ghap ADD COLUMN phrases_derived INTEGER NOT NULL DEFAULT 0; -- boolean
