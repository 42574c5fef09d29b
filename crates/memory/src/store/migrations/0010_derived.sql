-- Phrases that nobody wrote: the errors of the run that a GHAP was compared with.
ALTER TABLE ghap ADD COLUMN phrases_derived INTEGER NOT NULL DEFAULT 0; -- boolean

-- The memories of a project in the order of the list at the start of a session, which leaves these preferences out.
CREATE INDEX memory_importance ON memory (project, importance DESC, changed DESC)
    WHERE NOT (category = 'preference' AND importance = 1.0);
