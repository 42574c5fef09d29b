//! The context at session start: the open GHAP, preferences, values, recent work, branch and last runs.
//!
//! One implementation for the hook, `rutter context` without a prompt, and the server. All rows are found by an index:
//! the hook has a few milliseconds, even with a large store.

use rutter_memory::config::SessionStart;
use rutter_memory::ghap::Ghap;
use rutter_memory::origin::Unconfirmed;
use rutter_memory::store::entry::Place;
use rutter_memory::store::{Reader, StoreError};
use rutter_memory::{Clean, Id, Time};

use crate::context::{self, Candidate, Context, Depth, LeftOut, Section, Source};
use crate::{Hands, reference, speech};

/// Maximum number of test runs that are shown.
const MAX_RUNS: usize = 2;
/// Number of rows that are examined for each one that is shown, as some are in the context already.
const LOOKED_AT: usize = 4;

/// The parts and limits of the context at session start.
#[derive(Debug, Clone)]
pub struct SessionWanted<'a> {
    /// The project and checkout.
    pub place: &'a Place,
    /// The session and the agent that read it; no item is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
    /// The interface of the agent: tools or commands.
    pub hands: &'a Hands,
    /// The GHAP of the session, if it should be shown.
    pub own: Option<&'a Ghap>,
    /// True if a GHAP that an earlier session left open is shown.
    pub orphan: bool,
    /// True if recent work of other projects is included.
    pub everywhere: bool,
    /// The kinds to include; empty for all.
    pub kinds: &'a [Source],
    /// Maximum number of preferences.
    pub preferences: usize,
    /// Maximum number of values.
    pub values: usize,
    /// Maximum number of lines of recent work.
    pub recent_work: usize,
    /// True if branch and last runs are shown.
    pub card: bool,
    /// The branch, shown if `card` is true.
    pub branch: Option<&'a str>,
    /// A text at the end, if it fits.
    pub last: String,
    /// Maximum number of items.
    pub limit: usize,
    /// Maximum number of tokens.
    pub tokens: usize,
}

impl<'a> SessionWanted<'a> {
    /// Returns the request for a new session with the configured limits. `Depth::Rich` replaces them with its own
    /// limits.
    pub fn new(
        place: &'a Place,
        hands: &'a Hands,
        settings: &SessionStart,
        depth: Option<Depth>,
    ) -> Self {
        let many = depth == Some(Depth::Rich);
        let most = |set: u32| if many { Depth::Rich.limit() } else { set as usize };
        Self {
            place,
            to: None,
            hands,
            own: None,
            orphan: true,
            everywhere: false,
            kinds: &[],
            preferences: most(settings.preferences),
            values: most(settings.values),
            recent_work: most(settings.recent_work),
            card: true,
            branch: None,
            last: String::new(),
            limit: usize::MAX,
            tokens: if many { Depth::Rich.tokens() } else { settings.token_budget as usize },
        }
    }

    fn has(&self, kind: Source) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Assembles the context at session start, or returns the first error.
pub fn session_context(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let mut failed = None;
    let context = session_context_with(reader, wanted, now, |_, error| {
        failed.get_or_insert(error);
    });
    failed.map_or(Ok(context), Err)
}

/// Assembles the context at session start. A part that cannot be read is left out and reported to `fault`.
pub(crate) fn session_context_with(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
    mut fault: impl FnMut(&str, StoreError),
) -> Context {
    let _snapshot = reader.snapshot();
    let mut take = |what: &str, found: Result<Vec<Candidate>, StoreError>| {
        found.map_err(|error| fault(what, error)).unwrap_or_default()
    };
    let mut candidates = Vec::new();
    if wanted.has(Source::Memory) {
        candidates.extend(take("preferences", preferences(reader, wanted, now)));
    }
    if wanted.has(Source::Value) {
        candidates.extend(take("values", session_values(reader, wanted, now)));
    }
    let values: Vec<Id> = candidates.iter().map(|candidate| candidate.row).collect();
    let work = recent_work(reader, wanted, now).and_then(|mut work| {
        for candidate in work.iter_mut().filter(|candidate| candidate.refused.is_none()) {
            let is_said = reader.is_source_of_any(candidate.row, &values)?;
            candidate.refused = is_said.then_some(LeftOut::SaysTheSame);
        }
        Ok(work)
    });
    candidates.extend(take("recent work", work));
    let before = open_ghap(reader, wanted, now).unwrap_or_else(|error| {
        fault("GHAP", error);
        String::new()
    });
    let mut after = Vec::new();
    if wanted.card {
        match reader.last_runs(wanted.place, MAX_RUNS) {
            Ok(runs) => after.push(speech::card(wanted.branch, &runs, now)),
            Err(error) => fault("runs", error),
        }
    }
    after.push(wanted.last.clone());
    Context::begin(before, candidates, after, wanted.limit, wanted.tokens)
}

/// Renders the GHAP of the session, else the newest one that an earlier session left open.
fn open_ghap(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
) -> Result<String, StoreError> {
    if let Some(own) = wanted.own {
        return Ok(speech::active(own, wanted.hands));
    }
    if !wanted.orphan {
        return Ok(String::new());
    }
    let client = wanted.to.map(|(client, _)| client).unwrap_or_default();
    let orphans = reader.orphans(wanted.place, client, now)?;
    Ok(orphans.first().map(|ghap| speech::orphan(ghap, now, wanted.hands)).unwrap_or_default())
}

/// Returns the most important preferences: those of the project before those for every project, the newest first.
fn preferences(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let memories =
        reader.preferences(wanted.place, wanted.preferences.saturating_mul(LOOKED_AT))?;
    let found = memories
        .iter()
        .map(|memory| (memory.id, Source::Memory, context::of_preference(memory)))
        .collect();
    candidates(reader, wanted, Section::Preferences, wanted.preferences, found, now)
}

fn session_values(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let held = reader.values_of(wanted.place, wanted.values)?;
    let found = held
        .into_iter()
        .map(|held| (held.value.id, Source::Value, context::of_session_value(&held.value)))
        .collect();
    candidates(reader, wanted, Section::Values, wanted.values, found, now)
}

/// Returns recent fixes and resolved GHAPs, the newest first, one line each.
fn recent_work(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let mut work: Vec<(Time, Id, Source, String)> = Vec::new();
    let most = wanted.recent_work.saturating_mul(LOOKED_AT);
    if wanted.has(Source::Episode) {
        for episode in reader.recent_fixes(wanted.place, wanted.everywhere, most)? {
            let at = episode.ending.as_ref().map_or(episode.seen, |ending| ending.at);
            if let Some(text) = reference::recent_fix(&episode, now) {
                work.push((at, episode.id, Source::Episode, text));
            }
        }
    }
    if wanted.has(Source::Experience) {
        for ghap in reader.recent_ghaps(wanted.place, wanted.everywhere, most)? {
            let at = ghap.resolution.as_ref().map_or(ghap.changed, |resolution| resolution.at);
            if let Some(text) = reference::recent_ghap(&ghap, now) {
                work.push((at, ghap.id, Source::Experience, text));
            }
        }
    }
    work.sort_by(|(one, ..), (other, ..)| other.cmp(one));
    let found = work.into_iter().map(|(_, row, kind, text)| (row, kind, text)).collect();
    candidates(reader, wanted, Section::RecentWork, wanted.recent_work, found, now)
}

/// Returns the first `most` rows that are not in the context yet, and the rows before them that are.
fn candidates(
    reader: Reader<'_>,
    wanted: &SessionWanted<'_>,
    section: Section,
    most: usize,
    found: Vec<(Id, Source, String)>,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let is_shown = |row: Id| match wanted.to {
        Some(to) if section.is_brief() => reader.is_referred_to(to, row, now),
        Some(to) => reader.is_in_context(to, row, now),
        None => Ok(false),
    };
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut fresh = 0;
    for (row, kind, text) in found {
        if fresh == most {
            break;
        }
        // Two fixes of the same failure become one line.
        let is_same = |known: &Candidate| gist(&known.text) == gist(&text);
        if section == Section::RecentWork && candidates.iter().any(is_same) {
            continue;
        }
        let text = match reader.unconfirmed(row, wanted.place)? {
            // An imported row is shown unasked only after the user has accepted it.
            Some(Unconfirmed::Imported) => continue,
            Some(unconfirmed) => unconfirmed.mark(&text),
            None => text,
        };
        let refused = is_shown(row)?.then_some(LeftOut::Shown);
        fresh += usize::from(refused.is_none());
        candidates.push(Candidate { row, kind, section, confidence: 1.0, refused, text });
    }
    Ok(candidates)
}

/// Returns a reference without the time at its start.
fn gist(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, rest)| rest)
}
