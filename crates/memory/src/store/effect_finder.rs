//! Finds the effects of injections: whether the next run was better or worse because of a row that was shown.
//!
//! A doubtful case has no effect. A success after an injection proves nothing by itself, because most runs succeed. So
//! - the fix of an earlier failure *helped* if a part of it was applied again and the failure is gone, and *hurt* if
//!   all of it was applied and the failure is still there;
//! - another lesson that was shown during an open failure it is relevant to *helped* if the next run that executed the
//!   failing test passed, and the fix shares a word with the lesson;
//! - a lesson that an agent acted on *helped* if a run confirmed the agent's prediction, and *hurt* if a run falsified
//!   it.
//!
//! The first rule is applied when the run is recorded. Maintenance applies the others.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};

use super::effects::{InjectionEffect, write_effects};
use super::values::{BELIEF_COLUMNS, Belief, Sentence};
use super::{StoreResult, documents, episodes};
use crate::ghap::GhapStatus;
use crate::injection::ShownEffect;
use crate::{Id, Time};
use rutter_search::score::MIN_CONFIDENCE;
use rutter_search::terms::extract_distinct;

/// Age of a session's last activity beyond which no more effects are looked for in it.
const MAX_SESSION_SILENCE: Duration = Duration::from_hours(14 * 24);

/// Effects that were found and are not recorded yet.
pub(crate) struct NewEffects {
    effects: Vec<InjectionEffect>,
    /// The sessions that were examined.
    sessions: Vec<i64>,
    now: Time,
}

impl NewEffects {
    pub(crate) fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.sessions.is_empty()
    }

    /// Returns true if there are new effects.
    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Records the effects and marks the sessions as examined.
    pub(crate) fn write(&self, connection: &Connection) -> StoreResult {
        write_effects(connection, &self.effects)?;
        let mut looked =
            connection.prepare_cached("UPDATE session SET settled = ?2 WHERE id = ?1")?;
        for session in &self.sessions {
            looked.execute(params![session, self.now])?;
        }
        Ok(())
    }
}

/// Finds effects in the sessions with activity since they were last examined.
pub(crate) fn find_effects(connection: &Connection, now: Time) -> StoreResult<NewEffects> {
    let sessions: Vec<i64> = connection
        .prepare_cached(
            "SELECT id FROM session WHERE seen > ?1 AND (seen >= settled OR EXISTS (
                 SELECT 1 FROM ghap WHERE ghap.session = session.id AND ghap.resolved >= session.settled))",
        )?
        .query_map([now.minus(MAX_SESSION_SILENCE)], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut effects = Vec::new();
    for session in &sessions {
        find_fix_effects(connection, *session, &mut effects)?;
        find_prediction_effects(connection, *session, &mut effects)?;
    }
    Ok(NewEffects { effects, sessions, now })
}

/// Finds lessons that helped to fix a failure: they were shown while it was open, and are relevant to it and to its
/// fix. Leaves out values, which apply to any subject, and earlier failures, because `RunContext::record_fix_effects` records their
/// effects.
fn find_fix_effects(
    connection: &Connection,
    session: i64,
    effects: &mut Vec<InjectionEffect>,
) -> StoreResult {
    let mut select = connection.prepare_cached(
        "SELECT injection.id, injection.row, episode.uid, outcome.at
         -- In this order: few runs mend something, and many things are shown.
         FROM outcome CROSS JOIN episode ON episode.closed = outcome.id
         CROSS JOIN injection ON injection.session = outcome.session
           AND injection.agent IS outcome.agent AND injection.at < outcome.at
         WHERE outcome.session = ?1 AND outcome.verdict = 'passed' AND injection.effect IS NULL AND NOT injection.brief
           AND injection.event != 'SessionStart' AND (injection.gone IS NULL OR injection.gone > outcome.at)
           AND episode.how = 'fixed' AND episode.opened <= injection.at AND episode.seen <= injection.at
           AND NOT EXISTS (SELECT 1 FROM value WHERE value.uid = injection.row)
           AND NOT EXISTS (SELECT 1 FROM episode WHERE episode.uid = injection.row)
         ORDER BY injection.id",
    )?;
    let mut rows = select.query([session])?;
    let mut bears: HashMap<(Id, Id), bool> = HashMap::new();
    while let Some(row) = rows.next()? {
        let injection: i64 = row.get(0)?;
        if effects.iter().any(|known| known.injection == injection) {
            continue;
        }
        let (lesson, failure): (Id, Id) = (row.get(1)?, row.get(2)?);
        let bears = if let Some(bears) = bears.get(&(lesson, failure)) {
            *bears
        } else {
            let found = is_relevant_to_fix(connection, lesson, failure)?;
            bears.insert((lesson, failure), found);
            found
        };
        if bears {
            effects.push(InjectionEffect {
                injection,
                effect: ShownEffect::Helped,
                at: row.get(3)?,
            });
        }
    }
    Ok(())
}

/// Returns true if the text of a lesson fits a failure, and the fix of the failure shares a word with the lesson that
/// is not in the failure itself.
fn is_relevant_to_fix(connection: &Connection, lesson: Id, failure: Id) -> StoreResult<bool> {
    let failure = episodes::select_episodes(connection, "WHERE episode.uid = ?1", [failure])?.pop();
    let (Some(failure), Some(said)) = (failure, documents::full_text(connection, lesson)?) else {
        return Ok(false);
    };
    let asked = format!("{}\n{}", failure.test.as_deref().unwrap_or_default(), failure.error);
    if !documents::compare_texts(&asked, &[said.as_str()])
        .iter()
        .all(|fit| fit.confidence(1.0) >= MIN_CONFIDENCE)
    {
        return Ok(false);
    }
    let mut fix = String::new();
    for change in failure.ending.iter().flat_map(|ending| &ending.fix) {
        let file = Path::new(change.name.as_str()).file_stem().unwrap_or_default();
        fix.push_str(&file.to_string_lossy());
        fix.push('\n');
        fix.push_str(&change.patch);
        fix.push('\n');
    }
    let of = |text: &str| {
        extract_distinct(text).into_iter().map(|term| term.text).collect::<BTreeSet<_>>()
    };
    // A phrase describes the problem, so a word of it says nothing about the use of the lesson.
    let phrases = documents::joined_phrases(connection, lesson)?;
    let lesson_text = said.strip_suffix(phrases.as_str()).unwrap_or(&said);
    let (said, asked) = (of(lesson_text), of(&asked));
    Ok(of(&fix).iter().any(|term| said.contains(term) && !asked.contains(term)))
}

/// Finds lessons that an agent acted on, where a run has since confirmed or falsified the prediction.
fn find_prediction_effects(
    connection: &Connection,
    session: i64,
    effects: &mut Vec<InjectionEffect>,
) -> StoreResult {
    let mut select = connection.prepare_cached(&format!(
        "SELECT ghap.resolved, ghap.agent, ghap.predicted, ghap.status, {BELIEF_COLUMNS} FROM ghap
         WHERE ghap.session = ?1 AND ghap.status IN ('confirmed', 'falsified') AND ghap.tier = 'gold'
         ORDER BY ghap.resolved, ghap.id"
    ))?;
    let mut shown = connection.prepare_cached(
        "SELECT id, row FROM injection
         WHERE session = ?1 AND coalesce(agent, '') = ?2 AND effect IS NULL AND NOT brief AND at <= ?3 AND (gone IS NULL OR gone > ?3)
         ORDER BY id",
    )?;
    let mut rows = select.query([session])?;
    let mut lessons: HashMap<Id, Option<Sentence>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (agent, predicted): (String, Time) = (row.get(1)?, row.get(2)?);
        let status: GhapStatus = row.get(3)?;
        let effect =
            if status == GhapStatus::Confirmed { ShownEffect::Helped } else { ShownEffect::Hurt };
        let mut belief = None;
        let mut shown = shown.query(params![session, agent, predicted])?;
        while let Some(one) = shown.next()? {
            let (injection, lesson): (i64, Id) = (one.get(0)?, one.get(1)?);
            if effects.iter().any(|known| known.injection == injection) {
                continue;
            }
            let sentence = match lessons.entry(lesson) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => {
                    let lesson = documents::lesson(connection, lesson)?;
                    new.insert(lesson.as_ref().map(Sentence::new))
                }
            };
            let Some(sentence) = sentence else { continue };
            if belief.is_none() {
                belief = Some(Belief::from_row(row, 4)?);
            }
            if belief
                .as_ref()
                .and_then(Option::as_ref)
                .is_some_and(|belief| belief.is_based_on(sentence))
            {
                effects.push(InjectionEffect { injection, effect, at: row.get(0)? });
            }
        }
    }
    Ok(())
}
