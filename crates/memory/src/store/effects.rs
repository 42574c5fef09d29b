//! Effects of injections: whether the next run was better or worse because of a row that was shown.
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

use rusqlite::{Connection, Row, params};

use super::values::Sentence;
use super::{StoreError, documents, episodes};
use crate::change::{Change, ChangeKind};
use crate::episode::Episode;
use crate::ghap::GhapStatus;
use crate::injection::{EffectCounts, ShownEffect};
use crate::value;
use crate::{Clean, Id, Time};
use rutter_search::embed::Vector;
use rutter_search::score::MIN_CONFIDENCE;
use rutter_search::terms::extract_distinct;

/// Minimum cosine between a belief and a sentence at which the belief may be based on the sentence.
const MIN_BELIEF_COSINE: f32 = 0.4;
/// Age of a session's last activity beyond which no more effects are looked for in it.
const MAX_SESSION_SILENCE: Duration = Duration::from_hours(14 * 24);

/// Returns how often a row helped and hurt since a time.
pub(crate) fn effects_since(
    connection: &Connection,
    row: Id,
    since: Time,
) -> Result<EffectCounts, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE effect = 'helped'), count(*) FILTER (WHERE effect = 'hurt')
             FROM injection WHERE row = ?1 AND effect IS NOT NULL AND coalesce(came, at) > ?2",
        )?
        .query_row(params![row, since], |row| {
            Ok(EffectCounts { helped: row.get(0)?, hurt: row.get(1)? })
        })?)
}

/// Returns how often a row helped and hurt in all.
pub(crate) fn total_effects(connection: &Connection, row: Id) -> Result<EffectCounts, StoreError> {
    effects_since(connection, row, Time::from_millis(0))
}

/// Records that the rows shown to the main agent of a session have left its context.
pub(super) fn mark_left_context(
    connection: &Connection,
    session: i64,
    at: Time,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE injection SET gone = ?2 WHERE session = ?1 AND agent IS NULL AND gone IS NULL AND at <= ?2",
        )?
        .execute(params![session, at])?;
    Ok(())
}

/// Marks a session to be examined again, because one of its entries arrived late.
pub(super) fn mark_unexamined(connection: &Connection, session: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE session SET settled = 0 WHERE id = ?1 AND settled != 0")?
        .execute([session])?;
    Ok(())
}

/// A run in a checkout by an agent of a session. It may meet open failures again.
pub(super) struct RunContext<'a> {
    pub(super) project: i64,
    pub(super) root: &'a Clean,
    pub(super) session: i64,
    pub(super) agent: Option<&'a Clean>,
    pub(super) at: Time,
}

impl RunContext<'_> {
    /// Records the effects of earlier fixes that were shown for a failure, by whether the failure is gone. A fix of
    /// which nothing was applied gets no effect.
    pub(super) fn record_fix_effects(
        &self,
        connection: &Connection,
        failure: &Episode,
        is_gone: bool,
    ) -> Result<(), StoreError> {
        let mut select = connection.prepare_cached(
            "SELECT injection.id, injection.at, episode.fix
             -- A session was shown a few things, and a project may have thousands of failures.
             FROM injection CROSS JOIN episode ON episode.uid = injection.row
             WHERE injection.session = ?1 AND injection.agent IS ?2 AND injection.effect IS NULL AND NOT injection.brief
               AND injection.at >= ?3 AND injection.at < ?4 AND (injection.gone IS NULL OR injection.gone > ?4)
               AND episode.project = ?5 AND episode.how = 'fixed' AND (episode.signature = ?6 OR episode.test = ?7)",
        )?;
        let mut rows = select.query(params![
            self.session,
            self.agent,
            failure.opened,
            self.at,
            self.project,
            failure.signature,
            failure.test,
        ])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            let (shown, fix): (Time, String) = (row.get(1)?, row.get(2)?);
            // Agents are shown the first change of a fix.
            let fix: Vec<Change> = serde_json::from_str(&fix).unwrap_or_default();
            let Some(fix) = fix.first() else { continue };
            let mut since = episodes::changes_since(connection, self.project, self.root, shown)?;
            since.retain(|change| change.at > shown && change.at < self.at);
            let effect = match (is_gone, FixReuse::compare(fix, &since)) {
                (true, FixReuse::Partly | FixReuse::Wholly) => ShownEffect::Helped,
                (false, FixReuse::Wholly) => ShownEffect::Hurt,
                _ => continue,
            };
            effects.push(InjectionEffect { injection: row.get(0)?, effect, at: self.at });
        }
        write_effects(connection, &effects)
    }
}

/// The part of a fix that was applied again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixReuse {
    /// No line, as far as the recorded changes show.
    Not,
    /// Some lines.
    Partly,
    /// All lines.
    Wholly,
}

impl FixReuse {
    fn compare(fix: &Change, since: &[Change]) -> Self {
        let mut same = since
            .iter()
            .filter(|change| change.kind == fix.kind && change.name == fix.name)
            .peekable();
        if same.peek().is_none() {
            return Self::Not;
        }
        if fix.kind == ChangeKind::Command {
            return Self::Wholly;
        }
        let (mut came, mut went) = (BTreeSet::new(), BTreeSet::new());
        for hunk in same.flat_map(Change::hunks) {
            // A line that is removed again does not count as added.
            for line in identifying_lines(&hunk.removed) {
                came.remove(&line);
                went.insert(line);
            }
            for line in identifying_lines(&hunk.added) {
                went.remove(&line);
                came.insert(line);
            }
        }
        let (mut comes, mut goes) = (BTreeSet::new(), BTreeSet::new());
        for hunk in fix.hunks() {
            comes.extend(identifying_lines(&hunk.added));
            goes.extend(identifying_lines(&hunk.removed));
        }
        let wholly = match (comes.is_empty(), goes.is_empty()) {
            (false, _) => comes.is_subset(&came),
            (true, false) => goes.is_subset(&went),
            (true, true) => false,
        };
        if wholly {
            Self::Wholly
        } else if comes.is_disjoint(&came) && goes.is_disjoint(&went) {
            Self::Not
        } else {
            Self::Partly
        }
    }
}

/// Returns the trimmed lines that are long enough to identify a change.
fn identifying_lines(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().map(|line| line.trim().to_owned()).filter(|line| line.len() > 2)
}

/// The belief behind the prediction of a GHAP, and the lesson learnt from it.
pub(crate) struct Belief {
    action: Clean,
    held: Vector,
    learnt: Option<Vector>,
}

/// The three SQL columns of a GHAP from which a [`Belief`] is read.
pub(crate) const BELIEF_COLUMNS: &str = "ghap.hypothesis || char(10) || ghap.action, ghap.action,
    coalesce(ghap.surprise, '') || char(10) || coalesce(ghap.cause_text, '') || char(10) || coalesce(ghap.takeaway, '')";

impl Belief {
    /// Reads a belief from three columns starting at `first`. Returns None if no word of it is in the vector table.
    pub(crate) fn from_row(row: &Row<'_>, first: usize) -> Result<Option<Self>, StoreError> {
        let (belief, learnt): (Clean, Clean) = (row.get(first)?, row.get(first + 2)?);
        let Some(held) = Sentence::new(&belief).vector else { return Ok(None) };
        let learnt = Sentence::new(&learnt).vector;
        Ok(Some(Self { action: row.get(first + 1)?, held, learnt }))
    }

    /// Returns true if the belief is, or could be, based on a sentence. An agent that did the opposite did not act on
    /// the sentence. The action decides that, because a hypothesis often contains a *not*.
    pub(crate) fn is_based_on(&self, sentence: &Sentence) -> bool {
        let Some(vector) = &sentence.vector else { return false };
        let acted = self.held.cosine(vector);
        // A belief nearer to the lesson learnt than to the sentence was not based on the sentence.
        let learnt = self.learnt.as_ref().map_or(0.0, |learnt| learnt.cosine(vector));
        acted >= MIN_BELIEF_COSINE
            && acted > learnt
            && !value::are_opposed(&self.action, &sentence.text)
    }
}

/// The effect of one injection.
struct InjectionEffect {
    injection: i64,
    effect: ShownEffect,
    /// The time of the run.
    at: Time,
}

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
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
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
pub(crate) fn find_effects(connection: &Connection, now: Time) -> Result<NewEffects, StoreError> {
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

fn write_effects(connection: &Connection, effects: &[InjectionEffect]) -> Result<(), StoreError> {
    let mut update = connection.prepare_cached(
        "UPDATE injection SET effect = ?2, came = ?3 WHERE id = ?1 AND effect IS NULL",
    )?;
    for InjectionEffect { injection, effect, at } in effects {
        update.execute(params![injection, effect, at])?;
    }
    Ok(())
}

/// Finds lessons that helped to fix a failure: they were shown while it was open, and are relevant to it and to its
/// fix. Leaves out values, which apply to any subject, and earlier failures, because [`RunContext::record_fix_effects`] records their
/// effects.
fn find_fix_effects(
    connection: &Connection,
    session: i64,
    effects: &mut Vec<InjectionEffect>,
) -> Result<(), StoreError> {
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
fn is_relevant_to_fix(
    connection: &Connection,
    lesson: Id,
    failure: Id,
) -> Result<bool, StoreError> {
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
    let (said, asked) = (of(&said), of(&asked));
    Ok(of(&fix).iter().any(|term| said.contains(term) && !asked.contains(term)))
}

/// Finds lessons that an agent acted on, where a run has since confirmed or falsified the prediction.
fn find_prediction_effects(
    connection: &Connection,
    session: i64,
    effects: &mut Vec<InjectionEffect>,
) -> Result<(), StoreError> {
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
