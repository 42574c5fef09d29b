-- The spoken loop: what was asked about a GHAP, what waits for an agent that is about to start.

-- How many tools were called since it was started, changed or asked about.
ALTER TABLE ghap ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
-- What the agent was last told that a run says about the prediction.
ALTER TABLE ghap ADD COLUMN told TEXT;
-- Whether it was asked about at the end of a turn.
ALTER TABLE ghap ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;

-- Whether a session was told what went wrong before. A new cycle begins when a GHAP is resolved.
ALTER TABLE session ADD COLUMN warned INTEGER NOT NULL DEFAULT 0;

-- What was recalled for an agent, until it starts.
CREATE TABLE parked (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    kind    TEXT NOT NULL, -- of agent
    prompt  TEXT NOT NULL, -- a hash of what it is to do
    rows    TEXT NOT NULL, -- JSON: identities and scores
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX parked_session ON parked (session);
