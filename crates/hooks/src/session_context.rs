//! The context at session start: the open GHAP, preferences, values, lessons, recent work, branch and last runs.
//!
//! The hook, `rutter context` without a prompt, and the server share this implementation. Every query uses an index,
//! because the hook has only a few milliseconds, even with a large store.

use rutter_memory::config::SessionStartSettings;
use rutter_memory::ghap::Ghap;
use rutter_memory::origin::UnconfirmedReason;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{StoreError, StoreReader};
use rutter_memory::{Clean, Id, Time};

use crate::context::{
    self, Context, ContextCandidate, ContextSection, Depth, InjectionSource, LessonLookup,
    OmissionReason,
};
use crate::{AgentInterface, messages, reference};

/// Maximum number of test runs that are shown.
const MAX_RUNS: usize = 2;
/// Minimum number of lessons in a project for a list of them.
const MIN_LESSONS: usize = 5;
/// Number of rows that are examined for each one that is shown, as some are in the context already.
const SESSION_ROWS_PER_ITEM: usize = 4;

/// The parts and limits of the context at session start.
#[derive(Debug, Clone)]
pub struct SessionContextRequest<'a> {
    /// The project and checkout.
    pub place: &'a ProjectPlace,
    /// The session and the agent that read it; no item is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
    /// The interface of the agent: tools or commands.
    pub interface: &'a AgentInterface,
    /// The GHAP of the session, if it should be shown.
    pub own_ghap: Option<&'a Ghap>,
    /// True if a GHAP that an earlier session left open is shown.
    pub orphan: bool,
    /// True if recent work of other projects is included.
    pub everywhere: bool,
    /// The kinds to include; empty for all.
    pub kinds: &'a [InjectionSource],
    /// Maximum number of preferences.
    pub preferences: usize,
    /// Maximum number of values.
    pub values: usize,
    /// Maximum number of lessons that are listed with their ids.
    pub lessons: usize,
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

impl<'a> SessionContextRequest<'a> {
    /// Returns the request for a new session with the configured limits. `Depth::Rich` replaces them with its own
    /// limits.
    pub fn new(
        place: &'a ProjectPlace,
        interface: &'a AgentInterface,
        settings: &SessionStartSettings,
        depth: Option<Depth>,
    ) -> Self {
        let many = depth == Some(Depth::Rich);
        let most = |set: u32| if many { Depth::Rich.limit() } else { set as usize };
        Self {
            place,
            to: None,
            interface,
            own_ghap: None,
            orphan: true,
            everywhere: false,
            kinds: &[],
            preferences: most(settings.preferences),
            values: most(settings.values),
            lessons: most(settings.lessons),
            recent_work: most(settings.recent_work),
            card: true,
            branch: None,
            last: String::new(),
            limit: usize::MAX,
            tokens: if many { Depth::Rich.tokens() } else { settings.token_budget as usize },
        }
    }

    fn includes(&self, kind: InjectionSource) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Assembles the context at session start, or returns the first error.
pub fn session_context(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let mut failed = None;
    let context = assemble_session_context(reader, request, now, |_, error| {
        failed.get_or_insert(error);
    });
    failed.map_or(Ok(context), Err)
}

/// Assembles the context at session start. A part that cannot be read is left out and reported to `fault`.
pub(crate) fn assemble_session_context(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
    mut fault: impl FnMut(&str, StoreError),
) -> Context {
    let _snapshot = reader.snapshot();
    let mut take = |what: &str, found: Result<Vec<ContextCandidate>, StoreError>| {
        found.map_err(|error| fault(what, error)).unwrap_or_default()
    };
    let mut candidates = Vec::new();
    if request.includes(InjectionSource::Memory) {
        candidates.extend(take("preferences", preference_candidates(reader, request, now)));
    }
    if request.includes(InjectionSource::Value) {
        candidates.extend(take("values", value_candidates(reader, request, now)));
    }
    let values: Vec<Id> = candidates.iter().map(|candidate| candidate.row).collect();
    let without_sources = |mut found: Vec<ContextCandidate>| {
        for candidate in found.iter_mut().filter(|candidate| candidate.refused.is_none()) {
            let is_said = reader.is_source_of_any(candidate.row, &values)?;
            candidate.refused = is_said.then_some(OmissionReason::SaysTheSame);
        }
        Ok(found)
    };
    let work =
        take("recent work", recent_work_candidates(reader, request, now).and_then(without_sources));
    let is_work = |row: Id| work.iter().any(|candidate| candidate.row == row);
    let mut lessons =
        take("lessons", lesson_candidates(reader, request, now).and_then(without_sources));
    lessons.retain(|candidate| !is_work(candidate.row));
    candidates.extend(lessons);
    candidates.extend(work);
    let before = render_open_ghap(reader, request, now).unwrap_or_else(|error| {
        fault("GHAP", error);
        String::new()
    });
    let mut after = Vec::new();
    if request.card {
        match reader.last_runs(request.place, MAX_RUNS) {
            Ok(runs) => {
                let mark = |row| reader.unconfirmed_reason(row, request.place).ok().flatten();
                after.push(messages::render_runs_card(request.branch, &runs, mark, now));
            }
            Err(error) => fault("runs", error),
        }
    }
    after.push(request.last.clone());
    Context::for_session(before, candidates, after, request.limit, request.tokens)
}

/// Renders the GHAP of the session, else the newest one that an earlier session left open.
fn render_open_ghap(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<String, StoreError> {
    if let Some(own) = request.own_ghap {
        return Ok(messages::render_active_ghap(own, request.interface));
    }
    if !request.orphan {
        return Ok(String::new());
    }
    let client = request.to.map(|(client, _)| client).unwrap_or_default();
    let orphans = reader.orphaned_ghaps(request.place, client, now)?;
    let Some(ghap) = orphans.first() else { return Ok(String::new()) };
    let unconfirmed = reader.unconfirmed_reason(ghap.id, request.place)?;
    Ok(messages::render_orphan_ghap(ghap, unconfirmed, now, request.interface))
}

/// Returns the most important preferences: those of the project before those for every project, the newest first.
fn preference_candidates(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let memories = reader
        .preferences(request.place, request.preferences.saturating_mul(SESSION_ROWS_PER_ITEM))?;
    let found = memories
        .iter()
        .map(|memory| (memory.id, InjectionSource::Memory, context::render_preference(memory)))
        .collect();
    fresh_candidates(reader, request, ContextSection::Preferences, request.preferences, found, now)
}

fn value_candidates(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let held = reader.place_values(request.place, request.values)?;
    let found = held
        .into_iter()
        .map(|held| {
            (held.value.id, InjectionSource::Value, context::render_session_value(&held.value))
        })
        .collect();
    fresh_candidates(reader, request, ContextSection::Values, request.values, found, now)
}

/// Returns the lessons of the project, the best first, one line each; none if there are only a few.
fn lesson_candidates(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    if request.lessons == 0 {
        return Ok(Vec::new());
    }
    let lessons = reader.project_lessons(request.place, now)?;
    if lessons.len() < MIN_LESSONS {
        return Ok(Vec::new());
    }
    let found = lessons
        .iter()
        .map(|lesson| (lesson.row, lesson.kind.into(), reference::describe_lesson(lesson)))
        .filter(|(_, kind, _)| request.includes(*kind))
        .collect();
    let lookup = match request.interface {
        AgentInterface::McpTools => LessonLookup::Tool,
        AgentInterface::Cli(_) => LessonLookup::Command,
    };
    fresh_candidates(reader, request, ContextSection::Lessons(lookup), request.lessons, found, now)
}

/// Returns recent fixes and resolved GHAPs, the newest first, one line each.
fn recent_work_candidates(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let mut work: Vec<(Time, Id, InjectionSource, String)> = Vec::new();
    let most = request.recent_work.saturating_mul(SESSION_ROWS_PER_ITEM);
    if request.includes(InjectionSource::Episode) {
        for episode in reader.recent_fixes(request.place, request.everywhere, most)? {
            let at = episode.ending.as_ref().map_or(episode.seen, |ending| ending.at);
            if let Some(text) = reference::describe_recent_fix(&episode, now) {
                work.push((at, episode.id, InjectionSource::Episode, text));
            }
        }
    }
    if request.includes(InjectionSource::Experience) {
        for ghap in reader.recent_ghaps(request.place, request.everywhere, most)? {
            let at = ghap.resolution.as_ref().map_or(ghap.changed, |resolution| resolution.at);
            if let Some(text) = reference::describe_recent_ghap(&ghap, now) {
                work.push((at, ghap.id, InjectionSource::Experience, text));
            }
        }
    }
    work.sort_by(|(one, ..), (other, ..)| other.cmp(one));
    let found = work.into_iter().map(|(_, row, kind, text)| (row, kind, text)).collect();
    fresh_candidates(reader, request, ContextSection::RecentWork, request.recent_work, found, now)
}

/// Returns the first `most` rows that are not in the context yet, and the rows before them that are.
fn fresh_candidates(
    reader: StoreReader<'_>,
    request: &SessionContextRequest<'_>,
    section: ContextSection,
    most: usize,
    found: Vec<(Id, InjectionSource, String)>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let is_shown = |row: Id| match request.to {
        Some(to) if section.is_brief() => reader.is_referred_to(to, row, now),
        Some(to) => reader.is_in_context(to, row, now),
        None => Ok(false),
    };
    let mut candidates: Vec<ContextCandidate> = Vec::new();
    let mut fresh = 0;
    for (row, kind, text) in found {
        if fresh == most {
            break;
        }
        // Two fixes of the same failure become one line.
        let is_same = |known: &ContextCandidate| strip_time(&known.text) == strip_time(&text);
        if section == ContextSection::RecentWork && candidates.iter().any(is_same) {
            continue;
        }
        let text = match reader.unconfirmed_reason(row, request.place)? {
            // An imported row is shown unasked only after the user has accepted it.
            Some(UnconfirmedReason::Imported) => continue,
            Some(unconfirmed) => unconfirmed.append_mark(&text),
            None => text,
        };
        let refused = is_shown(row)?.then_some(OmissionReason::Shown);
        fresh += usize::from(refused.is_none());
        candidates.push(ContextCandidate { row, kind, section, confidence: 1.0, refused, text });
    }
    Ok(candidates)
}

/// Returns a reference without the time at its start.
fn strip_time(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, rest)| rest)
}
