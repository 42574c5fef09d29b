//! `rutter contract test`: runs hooks as the client does, and reports what they do.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use rutter_check::tester::{
    HookConclusion, HookTestReport, JudgedTrial, MergedAnswer, ProgramFolder, ScriptFacts,
    TestPayload, TestedPayloads, TrialRunner, merge_answers, run_hook_test, test_payloads,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use serde::Serialize;

use crate::cli::hook_test::{HookTestArgs, HookTestFormat};
use crate::doctor::ClientEnvironment;
use crate::environment::Environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

mod consent;
pub(super) mod isolation;
pub(super) mod plan;
mod render;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(not(target_os = "linux"))]
#[path = "hook_test/no_sandbox.rs"]
mod sandbox;
mod test_files;
mod waits;

pub(super) use consent::ask_to_run;
use isolation::{Isolation, TrialFolder, test_start};
use plan::{HookPlan, PlannedHook};
use test_files::PlannedFile;
use waits::{ToolWait, ToolWaits};

/// The results of a run.
#[derive(Debug, Serialize)]
struct HookTestRun {
    client: String,
    isolation: Isolation,
    hooks: Vec<HookTestReport>,
    /// The merged answers of several hooks. Empty if no payload reaches two hooks.
    together: Vec<MergedEvent>,
    /// The waits for hooks before and after a call together. Empty if no tool has both.
    calls: Vec<ToolWait>,
}

/// The merged answers of an event.
#[derive(Debug, Serialize)]
struct MergedEvent {
    event: EventName,
    /// The commands, by the numbers in the answers.
    hooks: Vec<String>,
    answers: Vec<MergedPayload>,
}

/// The merged answer to a payload.
#[derive(Debug, Serialize)]
struct MergedPayload {
    payload: String,
    #[serde(flatten)]
    answer: MergedAnswer,
    /// Duration of the slowest hook, for which the client waits.
    wait_ms: f64,
}

pub(crate) fn run(args: &HookTestArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    if let Some(root) = args.stage.of_start() {
        return isolation::start_in_namespaces(&test_start(args), root);
    }
    let places = ClientEnvironment::from_env(env)?;
    let contract = super::contract_for(&args.client, ui)?;
    if !args.tests.is_empty() {
        return run_test_files(args, &places, &env.data, contract, ui);
    }
    if !matches!(args.chosen_format(), HookTestFormat::Text | HookTestFormat::Json) {
        let message = "the formats junit and tap are for --tests; use --json";
        return Err(CommandError::Usage(message.to_owned()));
    }
    let plan = HookPlan::create(args, &places, contract)?;
    let Some(stage) = args.stage.of_run() else {
        for note in &plan.notes {
            ui.print_note(note)?;
        }
        let starts = plan.hooks.iter().map(|hook| &hook.hook.start);
        ask_to_run(starts, &plan.project, &env.data, args, ui)?;
        return isolation::start(&plan.project, &test_start(args), ui, |_, _| Ok(()));
    };
    let starts = plan.hooks.iter().map(|hook| (&hook.hook.start, hook.hook.plugin.as_deref()));
    let entered = isolation::enter(&plan.project, starts, &test_start(args), stage, &places)?;
    let run = run_hooks(&plan, args, &places, entered, contract)?;
    if args.chosen_format() == HookTestFormat::Json {
        ui.print_json(&run)?;
    } else {
        render::print_run(&run, ui)?;
    }
    let has_defects = |report: &HookTestReport| report.conclusion == HookConclusion::Defects;
    if run.hooks.iter().any(has_defects) { Err(CommandError::Findings) } else { Ok(()) }
}

/// Runs the tests of `--tests`.
fn run_test_files(
    args: &HookTestArgs,
    places: &ClientEnvironment,
    data: &Path,
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let project = &places.files.folder;
    let files = test_files::load_files(args, places, contract)?;
    let Some(stage) = args.stage.of_run() else {
        for note in files.iter().flat_map(PlannedFile::notes) {
            ui.print_note(note)?;
        }
        let starts = files.iter().flat_map(PlannedFile::starts).map(|(start, _)| start);
        ask_to_run(starts, project, data, args, ui)?;
        return isolation::start(project, &test_start(args), ui, |scratch, ui| {
            test_files::update_files(&files, scratch, args, ui)
        });
    };
    let starts = files.iter().flat_map(PlannedFile::starts);
    let entered = isolation::enter(project, starts, &test_start(args), stage, places)?;
    test_files::run_files(&files, args, entered, contract, ui)
}

fn run_hooks(
    plan: &HookPlan,
    args: &HookTestArgs,
    places: &ClientEnvironment,
    (folder, isolation): (TrialFolder, Isolation),
    contract: Contract,
) -> CommandResult<HookTestRun> {
    let failed = |error: std::io::Error| {
        CommandError::Refused(format!("could not prepare the run: {error}"))
    };
    let runner = TrialRunner::new(folder.environment.clone()).map_err(failed)?;
    let programs = OnceCell::new();
    let find_programs = || {
        let create = || ProgramFolder::create(folder.path().join("programs"), &places.search).ok();
        programs.get_or_init(create).as_ref()
    };
    let mut run = HookTestRun {
        client: contract.version().to_string(),
        isolation,
        hooks: Vec::new(),
        together: Vec::new(),
        calls: Vec::new(),
    };
    let mut waits = ToolWaits::default();
    for event in plan.events() {
        let hooks: Vec<PlannedHook> = (plan.hooks.iter().filter(|hook| hook.hook.event == event))
            .map(|hook| hook.in_folder(&plan.project, &folder.environment.project))
            .collect();
        let payloads = payloads_for(event, &hooks, args, &folder);
        let mut tested = Vec::new();
        for hook in &hooks {
            let facts = ScriptFacts::read(&hook.hook, runner.environment(), &hook.tools);
            let TestedPayloads { mut report, trials } = run_hook_test(
                &runner,
                &hook.hook,
                &payloads,
                &|payload| hook.takes(payload, contract),
                &facts,
                &find_programs,
                contract,
            );
            if let Some(budget) = args.budget {
                report.apply_budget(budget);
            }
            run.hooks.push(report);
            tested.push(trials);
        }
        waits.add(event, &hooks, &payloads, &tested);
        run.together.extend(merge_event(event, &hooks, &payloads, &tested));
    }
    run.calls = waits.finish();
    Ok(run)
}

/// Returns the payloads of an event: for the requested tools, or for the recorded ones and those that matchers name.
fn payloads_for(
    event: EventName,
    hooks: &[PlannedHook],
    args: &HookTestArgs,
    folder: &TrialFolder,
) -> Vec<TestPayload> {
    let environment = &folder.environment;
    let mut payloads = test_payloads(event, &args.tool, environment);
    if args.tool.is_empty() {
        let named: BTreeSet<&String> = hooks.iter().flat_map(|hook| &hook.tools).collect();
        for tool in named {
            if !payloads.iter().any(|payload| payload.value["tool_name"] == tool.as_str()) {
                payloads.extend(test_payloads(event, std::slice::from_ref(tool), environment));
            }
        }
    }
    payloads
}

/// Merges the answers of the hooks of an event. Returns None if no payload reaches two of them.
fn merge_event(
    event: EventName,
    hooks: &[PlannedHook],
    payloads: &[TestPayload],
    tested: &[Vec<Option<JudgedTrial>>],
) -> Option<MergedEvent> {
    let mut answers = Vec::new();
    for (index, payload) in payloads.iter().enumerate() {
        // An asynchronous hook decides nothing.
        let trials: Vec<(usize, &JudgedTrial)> = (tested.iter().enumerate())
            .filter(|(hook, _)| !hooks[*hook].is_async)
            .filter_map(|(hook, trials)| Some((hook, trials.get(index)?.as_ref()?)))
            .collect();
        if trials.len() < 2 {
            continue;
        }
        let slowest = trials.iter().map(|(_, trial)| trial.trial.took).max().unwrap_or_default();
        let wait_ms = (slowest.as_secs_f64() * 10_000.0).round() / 10.0;
        if let Some(answer) = merge_answers(event, &trials) {
            answers.push(MergedPayload { payload: payload.name.clone(), answer, wait_ms });
        }
    }
    let hooks = hooks.iter().map(|hook| hook.hook.start.to_line()).collect();
    (!answers.is_empty()).then_some(MergedEvent { event, hooks, answers })
}
