//! What came of what was shown: whether the next run was better for it, or worse.
//!
//! On doubt nothing came of it. That something was shown and all went well says nothing: most things go well. So
//! - the fix of an earlier failure *helped* where the failure is gone in the first run after something was changed, and *hurt*
//!   where it is still there;
//! - whatever else was shown while a failure was open that it bears on *helped* where the next run that met the failure
//!   found it fixed;
//! - what an agent acted upon *helped* where a run bore the prediction out, and *hurt* where a run did not.
//!
//! The first is said by the run itself as it is written down. The others are looked for by whoever tends.

use std::time::Duration;

use rusqlite::{Connection, params};

use super::{StoreError, documents, episodes, values};
use crate::embed::Vector;
use crate::episode::Episode;
use crate::ghap::Status;
use crate::injection::{Effect, Effects};
use crate::search::score::FLOOR;
use crate::value;
use crate::{Clean, Id, Time};

/// So near to a sentence is a belief that was held because of it, or could have been.
const ACTED_UPON: f32 = 0.4;
/// Sessions that were not seen for longer have nothing to add.
const RECENT: Duration = Duration::from_hours(14 * 24);

/// How often a row helped and hurt since a time.
pub(crate) fn of(connection: &Connection, row: Id, since: Time) -> Result<Effects, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE effect = 'helped'), count(*) FILTER (WHERE effect = 'hurt')
             FROM injection WHERE row = ?1 AND effect IS NOT NULL AND at > ?2",
        )?
        .query_row(params![row, since], |row| {
            Ok(Effects { helped: row.get(0)?, hurt: row.get(1)? })
        })?)
}

/// A run by an agent of a session that met a failure which was followed, or would have.
pub(super) struct Meeting<'a> {
    pub(super) project: i64,
    pub(super) root: &'a Clean,
    pub(super) session: i64,
    pub(super) agent: Option<&'a Clean>,
    pub(super) at: Time,
}

impl Meeting<'_> {
    /// Settles what came of earlier fixes that were shown for a failure, by whether it was there again. Where nothing was changed
    /// since, it is the same run once more, and says nothing.
    pub(super) fn settle(
        &self,
        connection: &Connection,
        failure: &Episode,
        effect: Effect,
    ) -> Result<(), StoreError> {
        connection
            .prepare_cached(
                "UPDATE injection SET effect = ?1
                 WHERE session = ?2 AND agent IS ?3 AND effect IS NULL AND at >= ?4 AND at < ?5
                   AND event IN ('PostToolUse', 'PostToolUseFailure')
                   AND row IN (SELECT uid FROM episode WHERE project = ?6 AND how = 'fixed' AND (signature = ?7 OR test = ?8))
                   AND EXISTS (SELECT 1 FROM change WHERE change.project = ?6 AND change.root = ?9
                                  AND change.at > injection.at AND change.at < ?5)",
            )?
            .execute(params![
                effect,
                self.session,
                self.agent,
                failure.opened,
                self.at,
                self.project,
                failure.signature,
                failure.test,
                self.root,
            ])?;
        Ok(())
    }
}

/// What was believed when something was predicted, and what was learnt from it.
pub(crate) struct Belief {
    text: Clean,
    held: Vector,
    learnt: Option<Vector>,
}

/// What a belief is made of, of a GHAP.
pub(crate) const BELIEF: &str = "ghap.hypothesis || char(10) || ghap.action,
    coalesce(ghap.surprise, '') || char(10) || coalesce(ghap.cause_text, '') || char(10) || coalesce(ghap.takeaway, '')";

impl Belief {
    /// None where none of its words is known.
    pub(crate) fn of(text: &str, learnt: &str) -> Option<Self> {
        let held = values::pointing_plainly(text)?;
        Some(Self { text: Clean::new(text), held, learnt: values::pointing_plainly(learnt) })
    }

    /// Whether it was held because of a sentence, or could have been.
    pub(crate) fn rests_on(&self, sentence: &Vector) -> bool {
        let acted = self.held.cosine(sentence);
        // Whoever learnt just this from it had not acted upon it.
        let learnt = self.learnt.as_ref().map_or(0.0, |learnt| learnt.cosine(sentence));
        acted >= ACTED_UPON && acted > learnt
    }
}

/// What can be said by now of what nothing was known of, to be written down.
pub(crate) fn found(connection: &Connection, now: Time) -> Result<Vec<(i64, Effect)>, StoreError> {
    let mut found = fixed(connection, now)?;
    for (injection, effect) in resolved(connection, now)? {
        if found.iter().all(|(known, _)| *known != injection) {
            found.push((injection, effect));
        }
    }
    Ok(found)
}

/// Writes that down.
pub(crate) fn write(connection: &Connection, found: &[(i64, Effect)]) -> Result<(), StoreError> {
    let mut update = connection
        .prepare_cached("UPDATE injection SET effect = ?2 WHERE id = ?1 AND effect IS NULL")?;
    for (injection, effect) in found {
        update.execute(params![injection, effect])?;
    }
    Ok(())
}

/// What was shown while a failure was open that it bears on, and the next run that met it found it fixed. Not what every
/// session begins with: that was shown whatever was the matter.
fn fixed(connection: &Connection, now: Time) -> Result<Vec<(i64, Effect)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT injection.id, injection.row, episode.uid
         -- In this order: few runs mend something, and many things are shown.
         FROM session CROSS JOIN outcome ON outcome.session = session.id AND outcome.verdict = 'passed'
         CROSS JOIN episode ON episode.closed = outcome.id
         CROSS JOIN injection ON injection.session = session.id
           AND injection.agent IS outcome.agent AND injection.at < outcome.at
         WHERE session.seen > ?1 AND injection.effect IS NULL AND injection.event != 'SessionStart'
           AND episode.how = 'fixed' AND episode.opened <= injection.at AND episode.seen <= injection.at
         ORDER BY injection.id",
    )?;
    let mut rows = select.query([now.minus(RECENT)])?;
    let mut found: Vec<(i64, Effect)> = Vec::new();
    while let Some(row) = rows.next()? {
        let injection: i64 = row.get(0)?;
        if found.last().is_some_and(|(last, _)| *last == injection) {
            continue;
        }
        let failure =
            episodes::select(connection, "WHERE episode.uid = ?1", [row.get::<_, Id>(2)?])?.pop();
        if let Some(failure) = failure
            && let Some(said) = documents::said(connection, row.get(1)?)?
            && bears_on(&said, &failure)
        {
            found.push((injection, Effect::Helped));
        }
    }
    Ok(found)
}

/// Whether a text would be brought back for a failure by what it says.
fn bears_on(text: &str, failure: &Episode) -> bool {
    let asked = format!("{}\n{}", failure.test.as_deref().unwrap_or_default(), failure.error);
    documents::fits(&asked, &[text]).iter().all(|fit| fit.confidence(1.0) >= FLOOR)
}

/// What an agent acted upon after it was shown, and a run has said since what the prediction was worth.
fn resolved(connection: &Connection, now: Time) -> Result<Vec<(i64, Effect)>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT injection.id, injection.row, ghap.status, {BELIEF}
         FROM session CROSS JOIN ghap ON ghap.session = session.id
         CROSS JOIN injection ON injection.session = session.id AND coalesce(injection.agent, '') = ghap.agent
         WHERE session.seen > ?1 AND injection.effect IS NULL
           AND ghap.status IN ('confirmed', 'falsified') AND ghap.tier = 'gold' AND ghap.predicted >= injection.at
           -- Nothing has emptied the context meanwhile.
           AND (session.refreshed IS NULL OR session.refreshed <= injection.at OR session.refreshed > ghap.predicted)
         ORDER BY injection.id, ghap.resolved, ghap.id"
    ))?;
    let mut rows = select.query([now.minus(RECENT)])?;
    let mut found: Vec<(i64, Effect)> = Vec::new();
    while let Some(row) = rows.next()? {
        let injection: i64 = row.get(0)?;
        if found.last().is_some_and(|(last, _)| *last == injection) {
            continue;
        }
        let (belief, learnt): (String, String) = (row.get(3)?, row.get(4)?);
        let Some(belief) = Belief::of(&belief, &learnt) else { continue };
        if let Some(sentence) = documents::lesson(connection, row.get(1)?)?
            && !value::opposed(&belief.text, &sentence)
            && values::pointing_plainly(&sentence).is_some_and(|vector| belief.rests_on(&vector))
        {
            let effect = match row.get(2)? {
                Status::Confirmed => Effect::Helped,
                _ => Effect::Hurt,
            };
            found.push((injection, effect));
        }
    }
    Ok(found)
}
