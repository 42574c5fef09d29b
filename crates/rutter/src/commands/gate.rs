//! `rutter gate`: enables gates for a project, and says what they decide.

use std::collections::BTreeMap;

use rutter_gates::{ChangeDecision, FileChange, PassReason, render_denial};
use rutter_hooks::decide_change_in;
use rutter_memory::config::TestsFirstGateSettings;
use rutter_memory::log::{self, GateDecision};
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;
use serde_json::json;

use crate::cli::Format;
use crate::cli::gate::{
    DisableGateArgs, EnableGateArgs, EnabledMode, ExplainGateArgs, GateCommand, GateStatusArgs,
    ReplayGateArgs, TestGateArgs,
};
use crate::environment::Environment;
use crate::install::FileContents;
use crate::ui::{Ui, one_line};
use crate::{CommandError, CommandResult};

mod config_edit;
mod replay;

use config_edit::{GateEdit, edit_config};
use replay::{DeniedCall, GateReplay, replay_calls};

/// Days whose decisions `status` counts.
const COUNTED_DAYS: i64 = 14;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// A recorded decision with its time.
#[derive(Debug, Serialize)]
struct TimedDecision {
    at: String,
    #[serde(flatten)]
    decision: GateDecision,
}

pub(crate) fn run(command: &GateCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        GateCommand::Enable(args) => enable(args, env, ui),
        GateCommand::Disable(args) => disable(args, env, ui),
        GateCommand::Status(args) => show_status(args, env, ui),
        GateCommand::Test(args) => test_path(args, env, ui),
        GateCommand::Explain(args) => list_decisions(args, env, ui),
        GateCommand::Replay(args) => show_replay(args, env, ui),
    }
}

fn enable(args: &EnableGateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mode = match args.mode {
        EnabledMode::Observe => "observe",
        EnabledMode::Hold => "hold",
        EnabledMode::Ask => "ask",
        EnabledMode::Deny => "deny",
    };
    let edit = GateEdit::Enable {
        mode,
        require_red: args.require_red,
        must_mention: args.must_mention,
        exclude: &args.exclude,
        places: &args.place,
    };
    let project = change_config(&edit, env)?;
    let settings = env.load_config(Some(&project.root)).config.gates.tests_first;
    let replay = replay_calls(env, &project, &settings)?;
    if args.format.chosen() == Format::Json {
        let report = json!({ "gate": "tests-first", "mode": mode, "project": project.key, "replay": replay });
        return ui.print_json(&report);
    }
    print_replay(&replay, ui)?;
    writeln!(ui.out, "The gate for tests is enabled for {}, mode {mode}.", project.key)?;
    if args.mode == EnabledMode::Observe {
        writeln!(
            ui.out,
            "It denies nothing yet. `rutter gate explain` lists what it would have denied; then run\n`rutter gate enable --mode deny`."
        )?;
    }
    Ok(())
}

fn disable(args: &DisableGateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let project = change_config(&GateEdit::Disable, env)?;
    let settings = env.load_config(Some(&project.root)).config.gates.tests_first;
    if args.format.chosen() == Format::Json {
        return ui.print_json(
            &json!({ "gate": "tests-first", "mode": settings.mode, "project": project.key }),
        );
    }
    Ok(writeln!(ui.out, "The gate for tests is {} for {}.", settings.mode, project.key)?)
}

/// Changes the table of this project in the user's configuration file.
fn change_config(edit: &GateEdit<'_>, env: &Environment) -> CommandResult<LocatedProject> {
    if env.session_id().is_some() {
        return Err(CommandError::Refused(
            "this runs inside a session of an agent, and only a person may change a gate; run it in a terminal of your own"
                .to_owned(),
        ));
    }
    let project = env.locate_project()?;
    let Some(path) = &env.config_file else {
        return Err(CommandError::Refused(
            "no home folder is known, so there is no place for the configuration; set RUTTER_HOME"
                .to_owned(),
        ));
    };
    let file = FileContents::load(path)?;
    let refused = |what: &str| {
        CommandError::Refused(format!(
            "{} {what}; nothing was changed; `rutter config check` shows the place",
            path.to_line()
        ))
    };
    let text = file.decode().map_err(|_| refused("is not UTF-8"))?;
    let after =
        edit_config(text.body, project.key.as_str(), edit).map_err(|what| refused(&what))?;
    if after != text.body {
        file.replace(Some(&text.encode(&after)))?;
    }
    Ok(project)
}

fn show_status(args: &GateStatusArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let project = env.locate_project()?;
    let settings = env.load_config(Some(&project.root)).config.gates.tests_first;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for timed in read_decisions(env, &project, COUNTED_DAYS)? {
        *counts.entry(timed.decision.done).or_default() += 1;
    }
    if args.format.chosen() == Format::Json {
        return ui.print_json(&json!({
            "project": project.key,
            "tests_first": settings,
            "days": COUNTED_DAYS,
            "decisions": counts,
        }));
    }
    writeln!(ui.out, "project      {}", project.key)?;
    writeln!(ui.out, "tests-first  {}{}", settings.mode, describe_settings(&settings))?;
    let counts: Vec<String> =
        counts.iter().map(|(done, count)| format!("{count} {done}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    Ok(writeln!(ui.out, "decisions    {counts} (last {COUNTED_DAYS} days)")?)
}

fn describe_settings(settings: &TestsFirstGateSettings) -> String {
    let mut parts = Vec::new();
    if settings.require_red {
        parts.push("the test must have failed first".to_owned());
    }
    if settings.must_mention {
        parts.push("the test must mention the file".to_owned());
    }
    if !settings.exclude.is_empty() {
        parts.push(format!("not {}", settings.exclude.join(", ")));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", one_line(&parts.join("; "))) }
}

fn test_path(args: &TestGateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let project = env.locate_project()?;
    let settings = env.load_config(Some(&project.root)).config.gates.tests_first;
    let folder = env.working_dir()?.to_owned();
    let change = FileChange {
        old_text: std::fs::read_to_string(folder.join(&args.path)).ok(),
        path: args.path.clone(),
        folder,
        new_text: None,
    };
    let decision = decide_change_in(&project.root, &change, &settings);
    if args.format.chosen() == Format::Json {
        ui.print_json(&decision)?;
    } else {
        match &decision {
            ChangeDecision::Pass { file, reason } => {
                writeln!(ui.out, "pass: {}: {}", one_line(file), describe_pass(reason))?;
            }
            ChangeDecision::Deny { file, places, silent_test, .. } => {
                writeln!(
                    ui.out,
                    "deny: {}",
                    one_line(&render_denial(file, places, silent_test.as_deref()))
                )?;
                writeln!(
                    ui.out,
                    "Edits that only delete, rename, format, or change comments or imports pass."
                )?;
            }
        }
    }
    match decision {
        ChangeDecision::Pass { .. } => Ok(()),
        ChangeDecision::Deny { .. } => Err(CommandError::Findings),
    }
}

fn show_replay(args: &ReplayGateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let project = env.locate_project()?;
    let settings = env.load_config(Some(&project.root)).config.gates.tests_first;
    let replay = replay_calls(env, &project, &settings)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&replay);
    }
    print_replay(&replay, ui)
}

/// Prints what the gate would have denied.
fn print_replay(replay: &GateReplay, ui: &mut Ui<'_>) -> CommandResult {
    if replay.calls == 0 {
        return Ok(writeln!(
            ui.out,
            "No calls are recorded here, so there is nothing to replay; `rutter contract record on` records them."
        )?);
    }
    for DeniedCall { time, tool, file, place } in &replay.denied {
        let place =
            place.as_deref().map(|place| format!(", its test would be {}", one_line(place)));
        writeln!(
            ui.out,
            "{time}  {}  {}{}",
            one_line(tool),
            one_line(file),
            place.unwrap_or_default()
        )?;
    }
    let denied = replay.denied.len();
    Ok(writeln!(
        ui.out,
        "{denied} of {} recorded calls would be denied, by the files that exist now.",
        replay.calls
    )?)
}

fn describe_pass(reason: &PassReason) -> String {
    match reason {
        PassReason::Outside => "it is outside the project".to_owned(),
        PassReason::Role { role } => format!("it needs no test ({role})"),
        PassReason::Excluded { pattern } => format!("`{}` excludes it", one_line(pattern)),
        PassReason::Effect { effect } => format!("the change adds no code ({effect})"),
        PassReason::Declares => "it only declares or re-exports".to_owned(),
        PassReason::Generated => "it is generated".to_owned(),
        PassReason::Tested { test } => format!("its test is {}", one_line(test)),
    }
}

fn list_decisions(args: &ExplainGateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let project = env.locate_project()?;
    let mut decisions = read_decisions(env, &project, 365)?;
    if let Some(path) = &args.path {
        let end = path.trim_start_matches("./");
        decisions.retain(|timed| timed.decision.file.ends_with(end));
    }
    decisions.reverse();
    decisions.truncate(args.limit);
    if args.format.chosen() == Format::Json {
        return ui.print_json(&decisions);
    }
    if decisions.is_empty() {
        return Ok(ui.print_note(
            "no decision is recorded here; `rutter gate status` shows which gates are enabled",
        )?);
    }
    for TimedDecision { at, decision } in &decisions {
        let GateDecision { done, tool, file, because, .. } = decision;
        writeln!(
            ui.out,
            "{at}  {done:<8}  {}  {}: {}",
            one_line(tool),
            one_line(file),
            one_line(because)
        )?;
    }
    Ok(())
}

/// Returns the recorded decisions of a project, oldest first.
fn read_decisions(
    env: &Environment,
    project: &LocatedProject,
    days: i64,
) -> CommandResult<Vec<TimedDecision>> {
    let since = rutter_memory::Time::from_millis(env.now.millis() - days * MILLIS_PER_DAY);
    let decisions = log::gate_decisions(&env.data_dir(), since).map_err(|error| {
        CommandError::Refused(format!(
            "could not read the log in {}: {error}; fix that and try again",
            env.data.to_line()
        ))
    })?;
    let here = decisions.into_iter().filter(|(_, made)| made.project == project.key.as_str());
    Ok(here.map(|(at, decision)| TimedDecision { at: at.to_string(), decision }).collect())
}
