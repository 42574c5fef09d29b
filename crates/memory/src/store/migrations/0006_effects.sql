-- What came of what was shown. Of most of it nobody can say; those where somebody can are counted whenever their row is about
-- to be shown again.
-- When that was.
ALTER TABLE injection ADD COLUMN came INTEGER;
CREATE INDEX injection_effect ON injection (row, effect, came) WHERE effect IS NOT NULL;
-- When it left the context of whom it was shown to; none while it is there.
ALTER TABLE injection ADD COLUMN gone INTEGER;
UPDATE injection SET gone = (SELECT refreshed FROM session
                             WHERE session.id = injection.session AND refreshed >= injection.at AND injection.agent IS NULL);
-- Up to when it was looked at what came of what a session was shown.
ALTER TABLE session ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;

-- Of how many of them a value has been weighed.
ALTER TABLE value ADD COLUMN came INTEGER NOT NULL DEFAULT 0;
-- When it lost the standing that somebody had given it.
ALTER TABLE value ADD COLUMN doubted INTEGER;
-- Whether values are still to be weighed by what is in it.
ALTER TABLE cluster ADD COLUMN unweighed INTEGER NOT NULL DEFAULT 1;
