//! `rutter contract live`: runs hooks in the real client, offline, and reports what it did with their answers.

use std::path::PathBuf;
use std::thread;

use rutter_check::live::ClientBinary;
use rutter_check::tester::HookStart;
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;

use super::hook_test::ask_to_run;
use crate::cli::live::LiveArgs;
use crate::doctor::ClientEnvironment;
use crate::environment::Environment;
use crate::scratch::ScratchFolder;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

mod plan;
mod render;
mod report;
mod session;

use plan::LivePlan;
use report::{LiveReport, report_hooks};
use session::{LiveSession, PlannedSession, SessionBench, plan_sessions};

/// Number of sessions that run at the same time.
const PARALLEL_SESSIONS: usize = 2;

pub(crate) fn run(args: &LiveArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let places = ClientEnvironment::from_env(env)?;
    if args.client.len() > 2 {
        return Err(CommandError::Usage("at most two clients are compared".to_owned()));
    }
    let clients = find_clients(args, &places)?;
    let contract = Contract::for_client(clients[0].version());
    let plan = LivePlan::create(args, &places, contract)?;
    for note in &plan.notes {
        ui.print_note(note)?;
    }
    let starts: Vec<HookStart> = plan.starts();
    ask_to_run(starts.iter(), &places.files.folder, &env.data, &args.to_test_args(), ui)?;
    let scratch = ScratchFolder::open("live")?;
    let root = scratch.path().canonicalize()?;
    let bench = SessionBench { plan: &plan, places: &places, scratch: &root, prompt: &args.prompt };
    let mut reports = Vec::new();
    for client in &clients {
        reports.push(report_client(client, &bench, args)?);
    }
    scratch.close()?;
    if args.json {
        ui.print_json(&reports)?;
    } else {
        render::print_reports(&reports, ui)?;
    }
    if reports.iter().all(LiveReport::is_good) { Ok(()) } else { Err(CommandError::Findings) }
}

/// Opens the given clients, or the installed one.
fn find_clients(args: &LiveArgs, places: &ClientEnvironment) -> CommandResult<Vec<ClientBinary>> {
    let mut paths: Vec<PathBuf> = args.client.clone();
    if paths.is_empty() {
        paths.extend(places.find_program("claude"));
    }
    if paths.is_empty() {
        return Err(CommandError::Refused(
            "`claude` is not in PATH; install it with `npm i -g @anthropic-ai/claude-code`, or give its path with --client"
                .to_owned(),
        ));
    }
    let open = |path: PathBuf| {
        // The client starts in another folder.
        let path = std::path::absolute(&path).unwrap_or(path);
        ClientBinary::open(path).map_err(|error| CommandError::Refused(error.to_string()))
    };
    paths.into_iter().map(open).collect()
}

/// Runs all sessions with a client, some at the same time, and reports on the hooks.
fn report_client(
    client: &ClientBinary,
    bench: &SessionBench<'_>,
    args: &LiveArgs,
) -> CommandResult<LiveReport> {
    let contract = Contract::for_client(client.version());
    let planned = plan_sessions(bench.plan, &args.tool, contract);
    let mut sessions: Vec<LiveSession> = Vec::new();
    for some in planned.chunks(PARALLEL_SESSIONS) {
        let run = |one: &PlannedSession| bench.run(one, client);
        let done: Vec<CommandResult<LiveSession>> = thread::scope(|scope| {
            let running: Vec<_> = some.iter().map(|one| scope.spawn(move || run(one))).collect();
            running.into_iter().filter_map(|session| session.join().ok()).collect()
        });
        for session in done {
            sessions.push(session?);
        }
    }
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for session in &sessions {
        for (path, left_out) in &session.left_out {
            if !left_out.keys.is_empty() {
                let keys = left_out.keys.join(", ");
                add(format!(
                    "left out of {path}: {keys}; such settings could point the client elsewhere"
                ));
            }
            for hook in &left_out.hooks {
                add(format!("not run: a hook on {hook}, {path}"));
            }
        }
        for line in session.record.debug_log.lines().filter(|line| line.contains("Invalid setting"))
        {
            let line = line.split_once("] ").map_or(line, |(_, rest)| rest);
            add(format!("the client says: {}", session.without_sandbox(line)));
        }
    }
    let mut disagreements: Vec<_> =
        sessions.iter().flat_map(|session| session.disagreements.clone()).collect();
    disagreements.dedup();
    Ok(LiveReport {
        client: client.version().to_string(),
        path: client.path().to_line(),
        sessions: sessions.len(),
        hooks: report_hooks(bench.plan, &sessions, contract),
        disagreements,
        notes,
    })
}
