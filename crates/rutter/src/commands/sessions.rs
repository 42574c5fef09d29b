//! `rutter sessions`: lists sessions of the client, or shows one with its runs, GHAPs and injections.

use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::Outcome;
use rutter_memory::store::{InjectionFilter, InjectionWithText, SessionSummary};
use rutter_memory::{Store, Time};
use serde::Serialize;

use super::injections;
use crate::CommandResult;
use crate::cli::Format;
use crate::cli::steer::{SessionsCommand, SessionsListArgs, SessionsShowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};

pub(crate) fn run(command: &SessionsCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Includes rows that hooks could only write to the spool.
    if !store.refresh_effects(env.now)? {
        ui.print_note(super::values::STALE)?;
    }
    match command {
        SessionsCommand::List(args) => list_sessions(args, &store, env, ui),
        SessionsCommand::Show(args) => show_session(args, &store, env, ui),
    }
}

/// A session with its short id and state.
#[derive(Serialize)]
pub(super) struct SessionOutput<'a> {
    /// The short id.
    short: String,
    /// True if the session ended, its process is gone, or it was not seen for a long time.
    over: bool,
    #[serde(flatten)]
    summary: &'a SessionSummary,
}

impl<'a> SessionOutput<'a> {
    pub(super) fn new(summary: &'a SessionSummary, now: Time) -> Self {
        let session = &summary.session;
        Self { short: session.id.short(), over: session.is_over(now), summary }
    }

    pub(super) fn state(&self) -> &'static str {
        match (self.summary.session.ended, self.over) {
            (Some(_), _) => "ended",
            (None, true) => "over",
            (None, false) => "live",
        }
    }

    fn runs(&self) -> String {
        let SessionSummary { runs, passed, failed, .. } = self.summary;
        format!("{runs} ({passed} passed, {failed} failed)")
    }
}

fn list_sessions(
    args: &SessionsListArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let project = if args.all { None } else { store.project(&env.owner()?.place)? };
    let found = if project.is_none() && !args.all {
        Vec::new()
    } else {
        store.sessions(project.as_ref().map(|project| &project.key), args.limit)?
    };
    let shown: Vec<_> = found.iter().map(|summary| SessionOutput::new(summary, env.now)).collect();
    if args.format.chosen() == Format::Json {
        return ui.print_json(&shown);
    }
    if shown.is_empty() {
        let hint = if args.all {
            ""
        } else {
            " in this project; add `--all` to list other \
                                              projects"
        };
        return Ok(ui.print_note(&format!("no session was recorded{hint}"))?);
    }
    let rows = shown.iter().map(|shown| {
        let SessionSummary { session, ghaps, injections, .. } = shown.summary;
        [
            shown.short.clone(),
            shown.state().to_owned(),
            session.source.to_string(),
            session.seen.to_string(),
            shown.runs(),
            ghaps.to_string(),
            injections.to_string(),
            first_line(&session.client),
        ]
    });
    Ok(ui.print_table(
        ["ID", "STATE", "SOURCE", "SEEN", "RUNS", "GHAPS", "SHOWN", "CLIENT'S ID"],
        rows,
    )?)
}

/// A session with all its rows, in the JSON output.
#[derive(Serialize)]
struct SessionDetailsJson<'a> {
    #[serde(flatten)]
    session: SessionOutput<'a>,
    outcomes: &'a [Outcome],
    set_out: &'a [Ghap],
    shown: &'a [InjectionWithText],
}

fn show_session(
    args: &SessionsShowArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let summary = store.session_named(&args.id)?;
    let client = &summary.session.client;
    let (outcomes, set_out) = (store.session_runs(client)?, store.session_ghaps(client)?);
    let filter = InjectionFilter { session: Some(client.clone()), ..InjectionFilter::default() };
    let mut shown = store.injections(&filter)?;
    shown.reverse();
    let session = SessionOutput::new(&summary, env.now);
    if args.format.chosen() == Format::Json {
        let whole =
            SessionDetailsJson { session, outcomes: &outcomes, set_out: &set_out, shown: &shown };
        return ui.print_json(&whole);
    }
    let SessionSummary { session: known, .. } = &summary;
    writeln!(ui.out, "{} {}, {}", session.short, session.state(), known.source)?;
    let mut line = |name: &str, text: &str| writeln!(ui.out, "  {name:<8} {text}");
    line("client", &first_line(client))?;
    line("project", &first_line(known.project.as_str()))?;
    line("started", &known.started.to_string())?;
    line("seen", &known.seen.to_string())?;
    if let Some(ended) = known.ended {
        line("ended", &ended.to_string())?;
    }
    if let Some(refreshed) = known.refreshed {
        line("emptied", &format!("{refreshed}, its context"))?;
    }
    line("cohort", known.cohort.as_ref().map_or("-", |cohort| cohort.as_str()))?;
    // Hooks count tool calls only while a GHAP is active.
    line("calls", &format!("{} while a GHAP was active", format_count(known.calls, "tool call")))?;
    line("runs", &session.runs())?;
    for outcome in &outcomes {
        line("", &format!("{} {} {}", outcome.at, outcome.verdict, first_line(&outcome.command)))?;
    }
    line("GHAPs", &summary.ghaps.to_string())?;
    for ghap in &set_out {
        let (id, status) = (ghap.id.short(), ghap.status);
        line("", &format!("{} {id} {status} {}", ghap.created, first_line(&ghap.goal)))?;
    }
    line("shown", &summary.injections.to_string())?;
    for one in &shown {
        line("", &injections::format_injection(one))?;
    }
    Ok(())
}
