//! `rutter status`: the state of the current project on one screen.

use rutter_memory::episode::Episode;
use rutter_memory::ghap::{Ghap, PredictionVerdict};
use rutter_memory::outcome::Outcome;
use rutter_memory::quote::{PathLine as _, format_age};
use rutter_memory::store::{
    EpisodeFilter, GhapFilter, GhapProgress, Project, RowCounts, SessionSummary, spool,
};
use rutter_memory::{Clean, Store};
use serde::Serialize;

use super::pause::QuietReason;
use super::sessions;
use crate::CommandResult;
use crate::cli::Format;
use crate::cli::steer::StatusArgs;
use crate::environment::{self, Environment};
use crate::install::is_installed_in;
use crate::ui::{Ui, first_line, format_count, format_size};

/// The maximum number of entries per list, so that the output fits on a screen.
const MAX_LISTED_ROWS: usize = 3;

/// The state of the current project.
#[derive(Serialize)]
struct StatusReport {
    /// The client's session that runs this command; None for the standing session of the command line.
    client: Option<Clean>,
    #[serde(skip)]
    session: Option<SessionSummary>,
    project: Option<Project>,
    /// The project key of the folder.
    key: String,
    ghap: Option<ActiveGhap>,
    runs: Vec<Outcome>,
    /// Commands that look like runs but are not followed, with the number of times each was typed.
    unfollowed: Vec<(Clean, u32)>,
    failures: Vec<Episode>,
    orphans: Vec<Ghap>,
    here: RowCounts,
    in_all: RowCounts,
    quiet: Option<QuietReason>,
    /// True if a client that is started here runs the hooks, by its settings or by a session in the store.
    hooks_installed: bool,
    store: StoreFileSizes,
}

/// The active GHAP and its progress.
#[derive(Serialize)]
struct ActiveGhap {
    short: String,
    #[serde(flatten)]
    progress: GhapProgress,
    #[serde(flatten)]
    ghap: Ghap,
}

/// The size of the store on disk.
#[derive(Serialize)]
struct StoreFileSizes {
    database: std::path::PathBuf,
    /// The size of the database and its write-ahead log.
    bytes: u64,
    /// The size of the spool.
    spool: u64,
}

pub(crate) fn run(args: &StatusArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Includes rows that hooks could only write to the spool. The rest of the spool is reported below.
    store.try_drain_spool(env.now)?;
    let status = StatusReport::load(&store, env)?;
    if args.format.chosen() == Format::Text {
        return print_status(&status, env, ui);
    }
    let session =
        status.session.as_ref().map(|summary| sessions::SessionOutput::new(summary, env.now));
    let mut value = serde_json::to_value(&status).map_err(std::io::Error::from)?;
    value["session"] = serde_json::to_value(session).map_err(std::io::Error::from)?;
    ui.print_json(&value)
}

impl StatusReport {
    fn load(store: &Store, env: &Environment) -> CommandResult<Self> {
        let owner = env.owner()?;
        let client = env.session_id();
        let name = match &client {
            Some(client) => Some(client.clone()),
            None => store.standing_session(&owner.place)?,
        };
        let session = match name {
            // A session that the store has not seen yet is not an error.
            Some(name) if store.session(&name)?.is_some() => Some(store.session_named(&name)?),
            _ => None,
        };
        let project = store.project(&owner.place)?;
        let key = project.as_ref().map(|project| project.key.clone());
        let (mut failures, mut orphans, mut here) = (Vec::new(), Vec::new(), RowCounts::default());
        let mut unfollowed = Vec::new();
        if let Some(project) = &project {
            unfollowed = store.unrecognized_commands(project.id, MAX_LISTED_ROWS)?;
            let open = EpisodeFilter { project: key.clone(), open: true, ..Default::default() };
            failures = store.episodes(&open)?;
            let left = GhapFilter { project: key, orphaned: true, ..Default::default() };
            orphans = store.ghaps(&left, env.now)?;
            here = store.row_counts(Some(project.id))?;
        }
        let active = store.active_ghap(&owner)?;
        // The session's own active GHAP is not an orphan, even after a long silence.
        orphans.retain(|orphan| active.as_ref().is_none_or(|active| active.id != orphan.id));
        let ghap = match active {
            Some(ghap) => {
                let progress = store.ghap_progress(ghap.id)?;
                Some(ActiveGhap { short: ghap.id.short(), progress, ghap })
            }
            None => None,
        };
        let files = store.files();
        let length = |path: std::path::PathBuf| path.metadata().map_or(0, |found| found.len());
        Ok(Self {
            quiet: QuietReason::current(env, client.as_ref())?,
            hooks_installed: (client.is_some() && session.is_some())
                || is_installed_in(
                    env.working_dir()?,
                    env.client.as_deref(),
                    environment::home_dir().as_deref(),
                ),
            client,
            session,
            project,
            key: owner.place.key.to_string(),
            ghap,
            runs: store.last_runs(&owner.place, MAX_LISTED_ROWS)?,
            unfollowed,
            failures,
            orphans,
            here,
            in_all: store.row_counts(None)?,
            store: StoreFileSizes {
                database: files.database(),
                bytes: length(files.database()) + length(files.wal()),
                // `rutter doctor` reports an unreadable spool folder.
                spool: spool::total_bytes(files).unwrap_or_default(),
            },
        })
    }
}

fn print_status(status: &StatusReport, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut line = |name: &str, text: &str| writeln!(ui.out, "{name:<9} {text}");
    line("project", &project_line(status))?;
    line("session", &session_line(status, env))?;
    let hooks = match &status.quiet {
        Some(quiet) => quiet.reason(),
        None if !status.hooks_installed => {
            "not installed for this folder; `rutter init` installs them"
        }
        None => "installed, not paused",
    };
    line("hooks", hooks)?;
    match &status.ghap {
        None => line("GHAP", "none; `rutter ghap start` starts one")?,
        Some(ActiveGhap { short, progress, ghap }) => {
            line("GHAP", &format!("{short} {}", first_line(&ghap.goal)))?;
            line("", &format!("hypothesis {}", first_line(&ghap.hypothesis)))?;
            line("", &format!("prediction {}", first_line(&ghap.prediction)))?;
            let verdict = match progress.told {
                Some(PredictionVerdict::Matches) => "the agent was told that a run confirms it",
                Some(PredictionVerdict::Contradicts) => {
                    "the agent was told that a run \
                                                         contradicts it"
                }
                Some(PredictionVerdict::Partial) => {
                    "the agent was told that fewer tests fail \
                                                     than before"
                }
                None => "no run has confirmed or contradicted it",
            };
            let calls = format_count(progress.calls.into(), "tool call");
            let changed = format_age(ghap.changed, env.now);
            line(
                "",
                &format!("{calls} since the last change or check-in; {verdict}; changed {changed}"),
            )?;
        }
    }
    let run = |run: &Outcome| {
        format!("{} {} {}", run.verdict, format_age(run.at, env.now), first_line(&run.command))
    };
    let failure = |episode: &Episode| {
        let what = first_line(episode.test.as_ref().unwrap_or(&episode.error));
        format!("{} {} {what}", episode.id.short(), format_age(episode.seen, env.now))
    };
    let orphan = |ghap: &Ghap| {
        format!(
            "{} {} {}",
            ghap.id.short(),
            format_age(ghap.changed, env.now),
            first_line(&ghap.goal)
        )
    };
    let mut list = |name: &str, more: &str, rows: Vec<String>| -> std::io::Result<()> {
        for (at, row) in rows.iter().take(MAX_LISTED_ROWS).enumerate() {
            line(if at == 0 { name } else { "" }, row)?;
        }
        match rows.len() {
            0 => line(name, "none"),
            all if all > MAX_LISTED_ROWS => {
                line("", &format!("and {} more: `{more}`", all - MAX_LISTED_ROWS))
            }
            _ => Ok(()),
        }
    };
    list("runs", "rutter sessions list", status.runs.iter().map(run).collect())?;
    let failures = status.failures.iter().map(failure).collect();
    list("failing", "rutter episodes list --open", failures)?;
    let orphans = status.orphans.iter().map(orphan).collect();
    list("left open", "rutter ghap list --orphaned", orphans)?;
    if let [(command, times), ..] = status.unfollowed.as_slice() {
        let typed = format_count(u64::from(*times), "time");
        line(
            "not run",
            &format!(
                "`{}` looks like a test run or build, but is not recorded (run {typed})",
                first_line(command)
            ),
        )?;
        line("", "`rutter outcome --command COMMAND` prints what to add to the configuration")?;
    }
    line("here", &describe_counts(&status.here))?;
    line("in all", &describe_counts(&status.in_all))?;
    let StoreFileSizes { database, bytes, spool } = &status.store;
    let waits = match spool {
        0 => String::new(),
        spool => format!(", {} wait in the spool", format_size(*spool)),
    };
    Ok(line("store", &format!("{}, {}{waits}", database.to_line(), format_size(*bytes)))?)
}

fn project_line(status: &StatusReport) -> String {
    match &status.project {
        Some(project) => {
            format!("{} ({})", first_line(&project.name), first_line(project.key.as_str()))
        }
        None => format!("{}, no rows yet", first_line(&status.key)),
    }
}

fn session_line(status: &StatusReport, env: &Environment) -> String {
    let whose = match &status.client {
        Some(client) => first_line(client),
        None => "of the command line".to_owned(),
    };
    match &status.session {
        Some(summary) => {
            let shown = sessions::SessionOutput::new(summary, env.now);
            let session = &summary.session;
            let (started, state) = (format_age(session.started, env.now), shown.state());
            format!("{whose}, {state}, {}, started {started}", session.source)
        }
        None => format!("{whose}, not recorded yet"),
    }
}

/// Returns the row counts as text.
fn describe_counts(counts: &RowCounts) -> String {
    let lookups = match counts.lookups {
        0 => String::new(),
        lookups => format!(" ({lookups} looked up by an agent)"),
    };
    let rows = [
        format_count(counts.memories, "memory"),
        format_count(counts.experiences, "experience"),
        format_count(counts.episodes, "episode"),
        format_count(counts.outcomes, "outcome"),
        format_count(counts.ghaps, "GHAP"),
        format_count(counts.values, "value"),
        format_count(counts.injections, "injection"),
    ]
    .join(", ");
    rows + &lookups
}
