-- When a lesson applies: phrases of a user who has the problem again. They are part of the lesson's searchable text.
ALTER TABLE memory ADD COLUMN applies_when TEXT NOT NULL DEFAULT '[]'; -- JSON: phrases
ALTER TABLE ghap ADD COLUMN applies_when TEXT NOT NULL DEFAULT '[]'; -- JSON: phrases
