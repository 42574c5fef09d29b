//! `rutter sessions`: lists sessions of the client, or shows one with its runs, GHAPs and injections.

use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::Outcome;
use rutter_memory::store::{InjectionFilter, SessionSummary, WasShown};
use rutter_memory::{Store, Time};
use serde::Serialize;

use super::injections;
use crate::Failure;
use crate::cli::Format;
use crate::cli::steer::{SessionsCommand, SessionsListArgs, SessionsShowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, count, first_line};

pub(crate) fn run(
    command: &SessionsCommand,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    // Includes rows that hooks could only write to the spool.
    if !store.freshen_shown(env.now)? {
        ui.remark(super::values::STALE)?;
    }
    match command {
        SessionsCommand::List(args) => list(args, &store, env, ui),
        SessionsCommand::Show(args) => show(args, &store, env, ui),
    }
}

/// A session with its short id and state.
#[derive(Serialize)]
pub(super) struct Shown<'a> {
    /// The short id.
    short: String,
    /// True if the session ended, its process is gone, or it was not seen for a long time.
    over: bool,
    #[serde(flatten)]
    summary: &'a SessionSummary,
}

impl<'a> Shown<'a> {
    pub(super) fn of(summary: &'a SessionSummary, now: Time) -> Self {
        let session = &summary.session;
        Self { short: session.id.short(), over: session.over(now), summary }
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

fn list(
    args: &SessionsListArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let project = if args.all { None } else { store.project(&env.owner()?.place)? };
    let found = if project.is_none() && !args.all {
        Vec::new()
    } else {
        store.sessions(project.as_ref().map(|project| &project.key), args.limit)?
    };
    let shown: Vec<_> = found.iter().map(|summary| Shown::of(summary, env.now)).collect();
    if args.format.chosen() == Format::Json {
        return ui.json(&shown);
    }
    if shown.is_empty() {
        let hint = if args.all { "" } else { " here; `--all` lists those of other projects" };
        return Ok(ui.remark(&format!("no session was seen{hint}"))?);
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
    Ok(ui.table(["ID", "STATE", "SOURCE", "SEEN", "RUNS", "GHAPS", "SHOWN", "CLIENT'S ID"], rows)?)
}

/// A session with all its rows, in the JSON output.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    session: Shown<'a>,
    outcomes: &'a [Outcome],
    set_out: &'a [Ghap],
    shown: &'a [WasShown],
}

fn show(
    args: &SessionsShowArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let summary = store.session_named(&args.id)?;
    let client = &summary.session.client;
    let (outcomes, set_out) = (store.runs_of(client)?, store.ghaps_of(client)?);
    let filter = InjectionFilter { session: Some(client.clone()), ..InjectionFilter::default() };
    let mut shown = store.injections(&filter)?;
    shown.reverse();
    let session = Shown::of(&summary, env.now);
    if args.format.chosen() == Format::Json {
        let whole = Whole { session, outcomes: &outcomes, set_out: &set_out, shown: &shown };
        return ui.json(&whole);
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
    line("calls", &format!("{} while a GHAP was active", count(known.calls, "tool call")))?;
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
        line("", &injections::line(one))?;
    }
    Ok(())
}
