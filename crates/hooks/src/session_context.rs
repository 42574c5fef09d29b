//! What a session begins with: the open GHAP, preferences, values, recent work, and where things stand.
//!
//! One implementation for the hook, `rutter context` without a prompt, and the server. All of it is found by an index:
//! the hook has a few milliseconds, whatever the size of the memory.

use rutter_memory::config::SessionStart;
use rutter_memory::ghap::Ghap;
use rutter_memory::origin::Unconfirmed;
use rutter_memory::store::entry::Place;
use rutter_memory::store::{Reader, StoreError};
use rutter_memory::{Clean, Id, Time};

use crate::context::{self, Candidate, Context, Depth, LeftOut, Section, Source};
use crate::{Hands, reference, speech};

/// Runs that are told of.
const MAX_RUNS: usize = 2;
/// Rows that are looked at for one that is shown: some are in the context already.
const LOOKED_AT: usize = 4;

/// What a session is to begin with, and how much of it.
#[derive(Debug, Clone)]
pub struct SessionWanted<'a> {
    /// Where.
    pub place: &'a Place,
    /// The session and the agent that it is for; nothing is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
    /// What the agent acts with.
    pub hands: &'a Hands,
    /// The GHAP that the session works on, if that is to be shown.
    pub own: Option<&'a Ghap>,
    /// Whether a GHAP that an earlier session left open is shown.
    pub orphan: bool,
    /// Recent work of other projects too.
    pub everywhere: bool,
    /// Only these kinds; none is all.
    pub kinds: &'a [Source],
    /// Preferences at most.
    pub preferences: usize,
    /// Values at most.
    pub values: usize,
    /// Lines of recent work at most.
    pub recent_work: usize,
    /// Whether branch and last runs are told.
    pub card: bool,
    /// The branch, for the card.
    pub branch: Option<&'a str>,
    /// A text behind everything else, where there is room.
    pub last: String,
    /// Items at most.
    pub limit: usize,
    /// Tokens at most.
    pub tokens: usize,
}

impl<'a> SessionWanted<'a> {
    /// Everything that a new session gets, as it is configured. A depth that is asked for brings its own bounds.
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

/// Assembles the context that a session begins with, or returns the first error.
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

/// Assembles the context that a session begins with. A part that cannot be read is left out and reported to `fault`.
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

/// The GHAP that the session works on, else the newest that an earlier one left open.
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

/// Preferences of the greatest importance: those of the project before those for every project, the newest first.
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

/// What was fixed and what GHAPs taught, the newest first, one line each.
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

/// The first `most` rows that are not in the context yet, and those before them that are.
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
        // The same failure fixed twice is one line.
        let is_same = |known: &Candidate| gist(&known.text) == gist(&text);
        if section == Section::RecentWork && candidates.iter().any(is_same) {
            continue;
        }
        let text = match reader.unconfirmed(row, wanted.place)? {
            // Nobody has asked for it, so it waits until a person has accepted it.
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

/// A reference without the time in front of it.
fn gist(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, rest)| rest)
}
