//! `rutter contract replay`: runs hooks again on recorded calls, and compares the verdicts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use rutter_check::tester::{
    HookStart, JudgedTrial, TestedHook, TrialEffect, TrialRunner, judge_trial,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use rutter_memory::Time;
use rutter_memory::hook_recording::{CallPart, RecordedCall, redact_output};
use serde::Serialize;

use super::hook_test::ask_to_run;
use super::hook_test::isolation::{self, HookRunStart, Isolation, TrialFolder};
use super::hook_test::plan::{HookPlan, command_start};
use super::recorded_calls::{
    describe_call, judge_recorded, recorded_contract, recorded_trial, select_calls,
};
use crate::cli::hook_test::{HookTestArgs, HookTestFormat};
use crate::cli::record::ReplayArgs;
use crate::cli::{ClientArgs, Format};
use crate::doctor::ClientEnvironment;
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count, one_line};
use crate::{CommandError, CommandResult};

/// A hook counts as slower from this multiple of its recorded duration on,
const SLOWER_FACTOR: u32 = 3;
/// and from this many milliseconds more.
const SLOWER_MILLIS: u64 = 250;

/// The results of a replay.
#[derive(Debug, Serialize)]
struct ReplayRun {
    /// None if nothing was run.
    isolation: Option<Isolation>,
    /// Number of compared calls.
    calls: usize,
    /// Number of calls that were not compared.
    skipped: SkippedCalls,
    differences: Vec<Difference>,
}

/// The numbers of calls that were not compared.
#[derive(Debug, Default, Serialize)]
struct SkippedCalls {
    /// Calls without a whole payload.
    without_payload: usize,
    /// Calls of hooks that the settings do not have any more.
    unknown_hook: usize,
    /// Calls on events that this version does not know.
    unknown_event: usize,
}

/// A call with another result.
#[derive(Debug, Serialize)]
struct Difference {
    /// The number of the call in `record list`.
    number: usize,
    time: Time,
    event: EventName,
    /// The tool and the start of its input.
    call: String,
    hook: String,
    kind: DifferenceKind,
    old: Outcome,
    new: Outcome,
    /// The parts in which placeholders stand for secrets, which may be the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<CallPart>,
    /// The parts that are not whole, which may be the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<CallPart>,
}

/// A kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum DifferenceKind {
    /// The client does something else.
    Verdict,
    /// The model or the user reads another text.
    Text,
    /// The hook takes much longer.
    Slower,
}

/// The result of a hook.
#[derive(Debug, Serialize)]
struct Outcome {
    verdict: TrialEffect,
    texts: Vec<String>,
    milliseconds: f64,
}

pub(crate) fn run(args: &ReplayArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    if let Some(root) = args.stage.of_start() {
        return isolation::start_in_namespaces(&run_start(args), root);
    }
    let calls = select_calls(&args.calls, env)?;
    if calls.is_empty() {
        return Err(CommandError::Usage(
            "no such calls are recorded; `rutter contract record on` starts, and `rutter contract record list` shows them"
                .to_owned(),
        ));
    }
    if args.client.client.is_some() && args.command.is_empty() {
        let contract = super::contract_for(&args.client, ui)?;
        return finish(&compare_versions(&calls, contract), args, ui);
    }
    let places = ClientEnvironment::from_env(env)?;
    let contract = super::contract_for(&args.client, ui)?;
    let tests = test_args(args);
    let project = places.files.folder.clone();
    let hooks = match command_start(&tests, &project) {
        Some(start) => {
            refuse_several_hooks(&calls, args)?;
            ReplayedHooks::Command(start)
        }
        None => ReplayedHooks::Settings(HookPlan::create(&tests, &places, contract)?),
    };
    let starts = hooks.starts(&calls);
    let Some(stage) = args.stage.of_run() else {
        if starts.is_empty() {
            return Err(CommandError::Usage(
                "the settings have none of the recorded hooks any more; give a command behind `--`"
                    .to_owned(),
            ));
        }
        ask_to_run(starts.iter(), &project, &env.data, &tests, ui)?;
        return isolation::start(&project, &run_start(args), ui, |_, _| Ok(()));
    };
    let starts = starts.iter().map(|start| (start, None));
    let entered = isolation::enter(&project, starts, &run_start(args), stage, &places)?;
    let run = replay_calls(&calls, &hooks, entered, &project, args)?;
    finish(&run, args, ui)
}

/// Prints the results. Fails if a verdict differs.
fn finish(run: &ReplayRun, args: &ReplayArgs, ui: &mut Ui<'_>) -> CommandResult {
    if args.format.chosen() == Format::Json {
        ui.print_json(run)?;
    } else {
        print_run(run, ui)?;
    }
    let differs = run.differences.iter().any(|found| found.kind == DifferenceKind::Verdict);
    if differs { Err(CommandError::Findings) } else { Ok(()) }
}

/// The hooks that are run.
enum ReplayedHooks {
    /// Those of the settings, each on the calls with its id.
    Settings(HookPlan),
    /// A command, on all calls.
    Command(HookStart),
}

impl ReplayedHooks {
    /// Returns the hook for a call.
    fn find(
        &self,
        call: &RecordedCall,
        event: EventName,
        project: &Path,
        copy: &Path,
    ) -> Option<TestedHook> {
        match self {
            Self::Settings(plan) => {
                let hook = plan.hooks.iter().find(|hook| hook.id == call.hook)?;
                Some(hook.in_folder(project, copy).hook)
            }
            Self::Command(start) => Some(tested_hook(event, start.clone())),
        }
    }

    /// Returns the starts of the hooks that the calls need.
    fn starts(&self, calls: &[(usize, RecordedCall)]) -> Vec<HookStart> {
        match self {
            Self::Settings(plan) => {
                let ids: BTreeSet<&str> =
                    calls.iter().map(|(_, call)| call.hook.as_str()).collect();
                let hooks = plan.hooks.iter().filter(|hook| ids.contains(hook.id.as_str()));
                hooks.map(|hook| hook.hook.start.clone()).collect()
            }
            Self::Command(start) => vec![start.clone()],
        }
    }
}

fn tested_hook(event: EventName, start: HookStart) -> TestedHook {
    TestedHook { event, start, plugin: None, timeout: None, blocks_on_failure: false }
}

/// Fails if a command would stand for several hooks of an event: their verdicts differ with good reason.
fn refuse_several_hooks(calls: &[(usize, RecordedCall)], args: &ReplayArgs) -> CommandResult {
    let first = |call: &RecordedCall| calls.iter().find(|(_, other)| other.event == call.event);
    let other = calls
        .iter()
        .find(|(_, call)| first(call).is_some_and(|(_, first)| first.hook != call.hook));
    if args.calls.hook.is_none()
        && let Some((_, call)) = other
    {
        return Err(CommandError::Usage(format!(
            "several hooks on {} are recorded; choose the calls of one with --hook, for example --hook '{}'",
            call.event,
            first_line(&one_line(&call.command))
        )));
    }
    Ok(())
}

/// Returns the arguments of the test with the same hooks.
fn test_args(args: &ReplayArgs) -> HookTestArgs {
    HookTestArgs {
        event: args.calls.event,
        tool: Vec::new(),
        settings: None,
        tests: Vec::new(),
        yes: args.yes,
        in_place: args.in_place,
        client: ClientArgs { client: args.client.client },
        json: false,
        format: HookTestFormat::Text,
        budget: None,
        update: false,
        stage: args.stage.clone(),
        command: args.command.clone(),
    }
}

/// Compares the verdicts on the recorded answers between the recorded client and another version.
fn compare_versions(calls: &[(usize, RecordedCall)], contract: Contract) -> ReplayRun {
    let mut run = ReplayRun {
        isolation: None,
        calls: 0,
        skipped: SkippedCalls::default(),
        differences: Vec::new(),
    };
    for (number, call) in calls {
        let Ok(event) = call.event.parse() else {
            run.skipped.unknown_event += 1;
            continue;
        };
        run.calls += 1;
        let old = judge_recorded(call, event, recorded_contract(call));
        let new = judge_recorded(call, event, contract);
        run.differences.extend(Difference::find(*number, call, event, &old, &new));
    }
    run
}

/// Runs the hooks on the payloads.
fn replay_calls(
    calls: &[(usize, RecordedCall)],
    hooks: &ReplayedHooks,
    (folder, isolation): (TrialFolder, Isolation),
    project: &Path,
    args: &ReplayArgs,
) -> CommandResult<ReplayRun> {
    let runner = TrialRunner::new(folder.environment.clone())?;
    let copy = &folder.environment.project;
    let mut run = ReplayRun {
        isolation: Some(isolation),
        calls: 0,
        skipped: SkippedCalls::default(),
        differences: Vec::new(),
    };
    for (number, call) in calls {
        let Ok(event) = call.event.parse::<EventName>() else {
            run.skipped.unknown_event += 1;
            continue;
        };
        let Some(hook) = hooks.find(call, event, project, copy) else {
            run.skipped.unknown_hook += 1;
            continue;
        };
        if call.payload.is_empty() {
            run.skipped.without_payload += 1;
            continue;
        }
        run.calls += 1;
        let old_contract = recorded_contract(call);
        let contract = args.client.client.map_or(old_contract, Contract::for_client);
        let payload = move_paths(&call.payload, project, copy);
        let mut trial = runner.run_with_stdin(&hook, format!("{payload}\n").as_bytes(), None);
        // What is compared is what would have been recorded.
        for output in [&mut trial.stdout, &mut trial.stderr] {
            let text = move_paths(&String::from_utf8_lossy(output), copy, project);
            *output = redact_output(text.as_bytes()).into_bytes();
        }
        let old = judge_trial(&hook, recorded_trial(call), old_contract);
        let new = judge_trial(&hook, trial, contract);
        run.differences.extend(Difference::find(*number, call, event, &old, &new));
    }
    Ok(run)
}

/// Replaces the path of a folder by that of another one, where it is a whole path.
fn move_paths(text: &str, from: &Path, to: &Path) -> String {
    let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
    if from == to || from.len() < 2 {
        return text.to_owned();
    }
    let mut moved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&*from) {
        let end = at + from.len();
        let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.');
        moved.push_str(&rest[..at]);
        let is_whole = !rest[end..].starts_with(is_part) && !moved.ends_with(is_part);
        moved.push_str(if is_whole { &to } else { &from });
        rest = &rest[end..];
    }
    moved + rest
}

impl Difference {
    /// Compares two results of a call. Returns None if they agree.
    fn find(
        number: usize,
        call: &RecordedCall,
        event: EventName,
        old: &JudgedTrial,
        new: &JudgedTrial,
    ) -> Option<Self> {
        let (before, after) = (old.trial.took, new.trial.took);
        let kind = if old.effect != new.effect {
            DifferenceKind::Verdict
        } else if old.texts() != new.texts() {
            DifferenceKind::Text
        } else if after > before * SLOWER_FACTOR
            && after > before + Duration::from_millis(SLOWER_MILLIS)
        {
            DifferenceKind::Slower
        } else {
            return None;
        };
        Some(Self {
            number,
            time: call.time,
            event,
            call: describe_call(call),
            hook: first_line(&one_line(&call.command)),
            kind,
            old: Outcome::new(old),
            new: Outcome::new(new),
            redacted: call.redacted.clone(),
            cut: call.cut.clone(),
        })
    }
}

impl Outcome {
    fn new(judged: &JudgedTrial) -> Self {
        Self {
            verdict: judged.effect,
            texts: judged.texts().into_iter().map(ToString::to_string).collect(),
            milliseconds: (judged.trial.took.as_secs_f64() * 10_000.0).round() / 10.0,
        }
    }
}

fn print_run(run: &ReplayRun, ui: &mut Ui<'_>) -> CommandResult {
    for found in &run.differences {
        let (old, new) = (&found.old, &found.new);
        let what = match found.kind {
            DifferenceKind::Verdict => format!("{} -> {}", old.verdict, new.verdict),
            DifferenceKind::Text => format!("{}, another text", new.verdict),
            DifferenceKind::Slower => {
                format!("slower: {} -> {} ms", old.milliseconds, new.milliseconds)
            }
        };
        writeln!(ui.out, "{}  {}  {}: {what}", found.number, found.event, found.call)?;
        writeln!(ui.out, "  hook: {}", found.hook)?;
        if old.texts != new.texts {
            for (sign, texts) in [('-', &old.texts), ('+', &new.texts)] {
                for text in texts {
                    writeln!(ui.out, "  {sign} {}", first_line(text))?;
                }
            }
        }
        if !found.redacted.is_empty() {
            writeln!(
                ui.out,
                "  secrets in the recorded call are placeholders, which may be the reason"
            )?;
        }
        if !found.cut.is_empty() {
            writeln!(ui.out, "  the recorded call is not whole, which may be the reason")?;
        }
    }
    let count = |kind| run.differences.iter().filter(|found| found.kind == kind).count();
    let verdicts = count(DifferenceKind::Verdict) as u64;
    writeln!(
        ui.out,
        "{} compared: {}, {} with another text, {} slower",
        format_count(run.calls as u64, "call"),
        format_count(verdicts, "different verdict"),
        count(DifferenceKind::Text),
        count(DifferenceKind::Slower)
    )?;
    let skipped = &run.skipped;
    for (count, reason) in [
        (skipped.unknown_hook, "the settings do not have the hook any more"),
        (skipped.without_payload, "the payload was too long to be recorded"),
        (skipped.unknown_event, "the event is unknown"),
    ] {
        if count > 0 {
            ui.print_note(&format!(
                "{} not compared: {reason}",
                format_count(count as u64, "call")
            ))?;
        }
    }
    Ok(())
}

/// Returns the start of the processes that run the hooks.
fn run_start(args: &ReplayArgs) -> HookRunStart<'_> {
    let mut words: Vec<OsString> = ["contract", "replay", "--yes"].map(OsString::from).to_vec();
    let mut add = |option: &str, value: String| words.extend([option.into(), value.into()]);
    if let Some(hook) = &args.calls.hook {
        add("--hook", hook.clone());
    }
    if let Some(event) = args.calls.event {
        add("--event", event.as_str().to_owned());
    }
    if let Some(since) = args.calls.since {
        add("--since", since.to_string());
    }
    if let Some(last) = args.calls.last {
        add("--last", last.to_string());
    }
    if let Some(client) = args.client.client {
        add("--client", client.to_string());
    }
    if args.format.chosen() == Format::Json {
        words.push("--json".into());
    }
    if args.in_place {
        words.push("--in-place".into());
    }
    HookRunStart { words, command: &args.command, in_place: args.in_place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_paths_are_moved() {
        let moved = |text| move_paths(text, Path::new("/home/ada"), Path::new("/tmp/x"));
        assert_eq!(
            moved("{\"a\":\"/home/ada\",\"b\":\"/home/ada/c\"}"),
            "{\"a\":\"/tmp/x\",\"b\":\"/tmp/x/c\"}"
        );
        let others = "/home/adam /home/ada-2 /mnt/home/ada";
        assert_eq!(moved(others), others);
    }
}
