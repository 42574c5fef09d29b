//! The tool `status`: the state of the project.

use rutter_memory::Store;
use rutter_memory::store::{EpisodeFilter, GhapFilter, GhapOwner, RowCounts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ghap::GhapBrief;
use super::{MAX_LINE_CHARS, ToolInvocation, ToolRefusal, TypedAnswer, truncate_chars};
use crate::server_context::Caller;

/// `status`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {}

/// The answer of `status`.
#[derive(Serialize, JsonSchema)]
pub(super) struct StatusAnswer {
    version: String,
    project: String,
    /// Reason why nothing is kept or recalled here, if so. Then only counts are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<String>,
    /// The client's session; absent on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The calling subagent; absent if main.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<GhapBrief>,
    /// Active GHAPs of ended sessions.
    orphans: usize,
    runs: Vec<RunEntry>,
    /// Tests that have not passed since they failed.
    open_failures: Vec<String>,
    memories: u64,
    experiences: u64,
    episodes: u64,
    outcomes: u64,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry {
    id: String,
    command: String,
    verdict: String,
    at: String,
}

/// The maximum number of entries per list.
const MAX_LISTED_ENTRIES: usize = 3;

pub(super) fn get_status(
    _: &StatusInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<StatusAnswer>, ToolRefusal> {
    let now = call.now();
    let Caller { owner, quiet } = call.caller()?;
    if let Some(quiet) = quiet {
        return quiet_status(&owner, &quiet, &call.store);
    }
    call.store.try_drain_spool(now)?;
    let store = &call.store;
    let project = store.project(&owner.place)?;
    let active = store.active_ghap(&owner)?;
    let (mut failures, mut orphans, mut counts) = (Vec::new(), 0, RowCounts::default());
    if let Some(project) = &project {
        let key = Some(project.key.clone());
        let open = EpisodeFilter { project: key.clone(), open: true, ..EpisodeFilter::default() };
        failures = store.episodes(&open)?;
        let left = GhapFilter { project: key, orphaned: true, ..GhapFilter::default() };
        let own = active.as_ref().map(|active| active.id);
        orphans = store.ghaps(&left, now)?.iter().filter(|ghap| Some(ghap.id) != own).count();
        counts = store.row_counts(Some(project.id))?;
    }
    let runs = store.last_runs(&owner.place, MAX_LISTED_ENTRIES)?;
    let status = StatusAnswer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        project: owner.place.key.to_string(),
        quiet: None,
        session: owner.client.as_ref().map(ToString::to_string),
        agent: owner.agent.as_ref().map(ToString::to_string),
        active: active.as_ref().map(GhapBrief::from),
        orphans,
        runs: runs
            .iter()
            .map(|run| RunEntry {
                id: run.id.to_string(),
                command: truncate_chars(&run.command, MAX_LINE_CHARS),
                verdict: run.verdict.to_string(),
                at: run.at.to_string(),
            })
            .collect(),
        open_failures: failures
            .iter()
            .take(MAX_LISTED_ENTRIES)
            .map(|episode| {
                truncate_chars(episode.test.as_ref().unwrap_or(&episode.error), MAX_LINE_CHARS)
            })
            .collect(),
        memories: counts.memories,
        experiences: counts.experiences,
        episodes: counts.episodes,
        outcomes: counts.outcomes,
    };
    let ghap = active.map_or_else(
        || "no GHAP is active".to_owned(),
        |active| format!("GHAP {} is active", active.id.short()),
    );
    let text = format!(
        "{}: {ghap}; {}; {}, {}.",
        status.project,
        status.describe_counts(),
        format_count(failures.len() as u64, "open failure", "open failures"),
        format_count(orphans as u64, "orphan", "orphans")
    );
    Ok(TypedAnswer { value: status, text })
}

/// Returns the status of a paused or excluded caller: the reason and the counts.
fn quiet_status(
    owner: &GhapOwner,
    quiet: &str,
    store: &Store,
) -> Result<TypedAnswer<StatusAnswer>, ToolRefusal> {
    let counts = match store.project(&owner.place)? {
        Some(project) => store.row_counts(Some(project.id))?,
        None => RowCounts::default(),
    };
    let status = StatusAnswer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        project: owner.place.key.to_string(),
        quiet: Some(quiet.to_owned()),
        session: owner.client.as_ref().map(ToString::to_string),
        agent: owner.agent.as_ref().map(ToString::to_string),
        active: None,
        orphans: 0,
        runs: Vec::new(),
        open_failures: Vec::new(),
        memories: counts.memories,
        experiences: counts.experiences,
        episodes: counts.episodes,
        outcomes: counts.outcomes,
    };
    let text = format!("{}: {quiet}. There are {}.", status.project, status.describe_counts());
    Ok(TypedAnswer { value: status, text })
}

impl StatusAnswer {
    fn describe_counts(&self) -> String {
        [
            format_count(self.memories, "memory", "memories"),
            format_count(self.experiences, "experience", "experiences"),
            format_count(self.episodes, "episode", "episodes"),
            format_count(self.outcomes, "run", "runs"),
        ]
        .join(", ")
    }
}

fn format_count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
