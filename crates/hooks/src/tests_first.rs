//! The gate for tests, before an edit or a command: an implementation file needs a test before it is written.
//!
//! The gate never allows a call: an answer that allows would skip the user's own permission prompt. A call that it accepts
//! gets no answer.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rutter_contract::input::PreToolUse;
use rutter_contract::output::HookOutput;
use rutter_gates::{
    ChangeDecision, FileChange, PassReason, ProjectTree, TestsFirstSettings, command_changes,
    decide_change, render_denial,
};
use rutter_memory::config::{GateMode, TestsFirstGateSettings};
use rutter_memory::log::GateDecision;
use rutter_memory::outcome::Outcome;
use rutter_memory::project::files_named;
use rutter_memory::quote::{escape_in_line, reads_like_instruction};
use rutter_memory::{Clean, log};
use rutter_runs::command_line::CommandLine;
use rutter_runs::{RunKind, Verdict};

use super::{HookCall, HookResult, ReceivedEvent};
use crate::bash_call::BashCall;
use crate::edit_input::{EditInput, edits_text};

/// Largest file whose text is compared.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Number of tracked files that are looked at for a test in an unusual place.
const MAX_TRACKED: usize = 50;
/// Number of commands whose last runs are looked at.
const MAX_RUNS: usize = 20;
/// Time in milliseconds for which a held call is remembered.
const HOLD_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// Longest command that is read.
const MAX_COMMAND_BYTES: usize = 256 * 1024;

/// A call that the gate does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    /// The mode of the gate.
    mode: GateMode,
    /// The text for the agent.
    reason: String,
}

/// Decides about a call. Returns None if it may go on.
pub(crate) fn check_call(
    event: &ReceivedEvent<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<Objection> {
    let mode = call.config.gates.tests_first.mode;
    if mode == GateMode::Off || !(edits_text(&event.tool) || event.tool == "Bash") {
        return None;
    }
    let (root, settings) = (call.located.root.clone(), call.config.gates.tests_first.clone());
    let changes = find_changes(event)?;
    for change in changes {
        let (file, reason, because) = match decide_change_in(&root, &change, &settings) {
            ChangeDecision::Pass { file, reason: PassReason::Tested { test } } => {
                if !call.config.gates.tests_first.require_red || test == file {
                    continue;
                }
                let Some(because) = find_missing_red(call, &test) else { continue };
                let [test, shown] = [&test, &file].map(|path| path_for_agent(path));
                let reason = format!(
                    "Tests first: run `{test}` and see it fail, then write `{shown}`: {because}."
                );
                (file, reason, because)
            }
            ChangeDecision::Pass { .. } => continue,
            ChangeDecision::Deny { file, places, silent_test, adds_definition } => {
                if !adds_definition && is_refactoring(call) {
                    continue;
                }
                let places: Vec<String> =
                    places.iter().map(|place| path_for_agent(place).into_owned()).collect();
                let silent_test = silent_test.as_deref().map(path_for_agent);
                let reason = render_denial(&path_for_agent(&file), &places, silent_test.as_deref());
                (file, reason, "no test".to_owned())
            }
        };
        return object(event, call, result, (&file, reason, &because));
    }
    None
}

/// Decides about a change in the checkout with this root, by the settings of the gate.
pub fn decide_change_in(
    root: &Path,
    change: &FileChange,
    settings: &TestsFirstGateSettings,
) -> ChangeDecision {
    let rules = TestsFirstSettings {
        exclude: settings.exclude.clone(),
        places: settings.places.clone(),
        must_mention: settings.must_mention,
    };
    let tree = ProjectTree::new(root.to_owned());
    decide_change(change, &tree, &rules, |names| {
        let stems: Vec<&str> =
            names.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect();
        files_named(root, &stems, MAX_TRACKED)
    })
}

/// Returns a path as an agent reads it. A name of the repository may be made to read like an instruction.
fn path_for_agent(path: &str) -> Cow<'_, str> {
    if reads_like_instruction(path) {
        Cow::Borrowed("this file")
    } else {
        Cow::Owned(escape_in_line(path))
    }
}

/// Applies the mode to a denial, and records it.
fn object(
    event: &ReceivedEvent<'_>,
    call: &HookCall,
    result: &mut HookResult,
    (file, reason, because): (&str, String, &str),
) -> Option<Objection> {
    let mode = call.config.gates.tests_first.mode;
    let input = event.wire.raw("tool_input").unwrap_or_default();
    let sum = super::fingerprint(&format!("{}{input}", event.tool));
    let was_held = mode == GateMode::Hold && was_held(call, &sum);
    let done = match mode {
        GateMode::Off => return None,
        GateMode::Observe => "observed",
        GateMode::Hold if was_held => "passed",
        GateMode::Hold => "held",
        GateMode::Ask => "asked",
        GateMode::Deny => "denied",
    };
    let decision = GateDecision {
        gate: "tests-first".to_owned(),
        done: done.to_owned(),
        project: call.located.key.to_string(),
        session: call.client.to_string(),
        tool: event.tool.to_string(),
        file: file.to_owned(),
        because: because.to_owned(),
        call: sum.to_string(),
    };
    let logged = log::append_gate_decision(&call.env.files, call.env.now, decision);
    if let Err(error) = &logged {
        result.errors.push(Clean::new(&format!("gate: not recorded: {error}")));
    }
    // A hold that cannot be remembered would deny the same call again and again.
    let is_forgotten = mode == GateMode::Hold && logged.is_err();
    let passes = matches!(done, "observed" | "passed") || is_forgotten;
    (!passes).then_some(Objection { mode, reason })
}

/// Answers a call that the gate does not accept.
pub(crate) fn answer_call(objection: Objection, result: &mut HookResult) {
    let Objection { mode, mut reason } = objection;
    let answer = HookOutput::<PreToolUse>::new();
    let answer = match mode {
        GateMode::Ask => answer.ask(reason),
        GateMode::Hold => {
            reason.push_str(" If you are sure, the same call passes the second time.");
            answer.deny(reason)
        }
        _ => answer.deny(reason),
    };
    result.stdout = answer.answer().stdout;
}

/// Returns the denial of a call about which no decision was possible, for a gate that is closed on a fault.
pub fn gate_fault_answer() -> String {
    let reason = "The gate for tests could not decide in time, and `on_error = \"closed\"` in the configuration denies the call \
                  then. Repeat the call.";
    HookOutput::<PreToolUse>::new().deny(reason.to_owned()).answer().stdout
}

/// Returns the changes that a call makes, or None if there are none to decide about.
fn find_changes(event: &ReceivedEvent<'_>) -> Option<Vec<FileChange>> {
    let folder = PathBuf::from(&*event.wire.text("cwd")?);
    if event.tool == "Bash" {
        let command = BashCall::command_text(event.wire)?;
        let line = (command.len() <= MAX_COMMAND_BYTES).then(|| CommandLine::parse(&command))?;
        return Some(command_changes(&line, &folder, read_text));
    }
    let edit = EditInput::parse(event.wire)?;
    let path = PathBuf::from(&*edit.file);
    let old_text = read_text(&folder.join(&path));
    // The client edits with plain line ends, and writes the file's own.
    let before = old_text.as_deref().unwrap_or_default().replace("\r\n", "\n");
    let new_text = edit.apply(&before);
    Some(vec![FileChange { path, folder, new_text, old_text: old_text.map(|_| before) }])
}

fn read_text(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let found = file.metadata().ok()?;
    (found.is_file() && found.len() <= MAX_FILE_BYTES).then_some(())?;
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns true if the agent refactors: its test runs in this session were green the last time, and no failure is open.
fn is_refactoring(call: &mut HookCall) -> bool {
    let (place, client) = (call.place.clone(), call.client.clone());
    let Ok(store) = call.store() else { return false };
    let reader = store.reader();
    let Ok(runs) = reader.last_runs(&place, MAX_RUNS) else { return false };
    let mut tests = runs
        .iter()
        .filter(|run| run.kind == RunKind::Test && run.session.as_ref() == Some(&client))
        .peekable();
    tests.peek().is_some()
        && tests.all(|run| run.verdict == Verdict::Passed)
        && reader.open_episodes(&place).is_ok_and(|open| open.is_empty())
}

/// Returns the reason for which a test was not seen failing since its last green run, or None if it was.
fn find_missing_red(call: &mut HookCall, test: &str) -> Option<String> {
    let place = call.place.clone();
    // Without a memory nothing is known, and the call passes.
    let store = call.store().ok()?;
    let reader = store.reader();
    let open = reader.open_episodes(&place).ok()?;
    let is_red = open.iter().any(|episode| {
        let texts = [episode.test.as_ref(), episode.file.as_ref(), Some(&episode.error)];
        episode.is_compile_error || texts.into_iter().flatten().any(|text| names_test(text, test))
    });
    if is_red {
        return None;
    }
    let runs = reader.last_runs(&place, MAX_RUNS).ok()?;
    let last = runs
        .iter()
        .filter(|run| matches!(run.kind, RunKind::Test | RunKind::Build))
        .max_by_key(|run| run.at);
    match last {
        Some(run) if run.verdict == Verdict::Failed && may_be_of(run, test) => None,
        Some(run) if run.verdict == Verdict::Passed => {
            Some("its last captured run was green".to_owned())
        }
        _ => Some("no failing run of it was captured".to_owned()),
    }
}

/// Returns true if a failed run may have failed in a test: it names the test, or no test at all, as a compile error does.
fn may_be_of(run: &Outcome, test: &str) -> bool {
    run.failing.is_empty() || run.failing.iter().any(|name| names_test(name, test))
}

/// Returns true if a text names a test file, by its path or by its name without the extension.
fn names_test(name: &str, test: &str) -> bool {
    let file = test.rsplit('/').next().unwrap_or(test);
    let stem = file.split('.').next().unwrap_or(file);
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    name.contains(test)
        || name.match_indices(stem).any(|(at, _)| {
            !name[..at].ends_with(is_part) && !name[at + stem.len()..].starts_with(is_part)
        })
}

/// Returns true if the same call of this session was held before.
fn was_held(call: &HookCall, sum: &str) -> bool {
    let since = rutter_memory::Time::from_millis(call.env.now.millis() - HOLD_MILLIS);
    let decisions = log::gate_decisions(&call.env.files, since).unwrap_or_default();
    let client: &str = &call.client;
    decisions
        .iter()
        .any(|(_, made)| made.done == "held" && made.session == client && made.call == sum)
}
