//! A comparison of what the client did with the verdicts on the answers of hooks.
//!
//! The hooks were run by the client, behind recorders. The verdict engine judges the recorded answers, and the requests to
//! the model, the results of tools and the client's reports show what really happened.

use rutter_contract::EventName;
use rutter_contract::verdict::{HookOutcome, ToolCallEffect, TurnEffect, decode_stdout};
use rutter_contract::version::Contract;
use serde_json::Value;

use super::model::ModelThread;
use super::record::RunRecord;
use super::recorder::{RecordedHookRun, read_hook_runs};
use super::wrapped_settings::WrappedHook;
use crate::tester::{JudgedTrial, TrialEffect, TrialEnding, judge_trial, merge_answers};

/// Shortest text of an answer that is looked for in the requests: shorter ones may occur by chance.
const MIN_FRAGMENT_BYTES: usize = 6;
/// Keys below which the texts of an answer are input or output of tools.
const TOOL_DATA_KEYS: [&str; 4] =
    ["updatedInput", "updatedToolOutput", "updatedMCPToolOutput", "updatedPermissions"];
/// Number of times that the client lets a hook keep an agent going.
const MAX_KEPT_GOING: usize = 8;

/// A run of a hook in the client.
#[derive(Debug, Clone)]
pub struct FiredHook {
    /// The index of the hook among the wrapped ones.
    pub hook: usize,
    /// The recorded run.
    pub run: RecordedHookRun,
    /// The verdict on its answer.
    pub judged: JudgedTrial,
    /// True if the client did not wait for the answer.
    pub is_async: bool,
    /// True if the client killed the hook before its time limit: another hook had answered, or the session ended.
    pub is_cut_off: bool,
}

impl FiredHook {
    /// Returns true if the answer counts.
    fn is_heard(&self) -> bool {
        !self.is_async && !self.is_cut_off
    }
}

/// A firing of an event: the hooks that got the same payload.
#[derive(Debug, Clone)]
pub struct HookFiring {
    /// The event.
    pub event: EventName,
    /// The payload.
    pub payload: Value,
    /// The runs, in the order in which they ended.
    pub hooks: Vec<FiredHook>,
}

/// A difference between the client and the verdicts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Disagreement {
    /// The subject.
    pub what: String,
    /// The verdict.
    pub explained: String,
    /// The client's behaviour.
    pub observed: String,
}

/// Reads the recorded runs of hooks and groups them by the firing of the event.
pub fn group_firings(
    hooks: &[WrappedHook],
    record: &RunRecord,
    contract: Contract,
) -> Vec<HookFiring> {
    let mut firings: Vec<(Vec<u8>, usize, HookFiring)> = Vec::new();
    for (hook, wrapped) in hooks.iter().enumerate() {
        let runs = read_hook_runs(&wrapped.folder);
        for (number, run) in runs.iter().enumerate() {
            let earlier = runs[..number].iter().filter(|other| other.stdin == run.stdin).count();
            let trial = run.trial();
            let is_async = wrapped.handler["async"] == true
                || wrapped.handler["asyncRewake"] == true
                || starts_async(&trial.stdout);
            let judged = judge_trial(&wrapped.tested_hook(), trial, contract);
            let is_cut_off = run.end.is_none() && !has_timed_out(wrapped, record);
            let fired = FiredHook { hook, run: run.clone(), judged, is_async, is_cut_off };
            let known = firings.iter_mut().find(|(stdin, time, firing)| {
                firing.event == wrapped.event && *stdin == run.stdin && *time == earlier
            });
            if let Some((_, _, firing)) = known {
                firing.hooks.push(fired);
            } else {
                let payload = serde_json::from_slice(&run.stdin).unwrap_or_default();
                let firing = HookFiring { event: wrapped.event, payload, hooks: vec![fired] };
                firings.push((run.stdin.clone(), earlier, firing));
            }
        }
    }
    let mut firings: Vec<HookFiring> = firings.into_iter().map(|(_, _, firing)| firing).collect();
    for firing in &mut firings {
        firing.hooks.sort_by_key(|fired| fired.run.ended_us());
    }
    firings.sort_by_key(|firing| firing.hooks.first().map(|fired| fired.run.started_ms));
    firings
}

/// Returns true if the client's log says that a hook has exceeded its time limit.
fn has_timed_out(hook: &WrappedHook, record: &RunRecord) -> bool {
    let report = format!("[{}] timed out after", hook.recorder_line);
    record.debug_log.contains(&report)
}

/// Returns true if the first line of an output puts the hook into the background.
fn starts_async(stdout: &[u8]) -> bool {
    let text = decode_stdout(stdout);
    let first: Option<Value> = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
    first.is_some_and(|first| first["async"] == true)
}

/// Returns what the client did otherwise than the verdicts say.
pub fn find_disagreements(
    firings: &[HookFiring],
    hooks: &[WrappedHook],
    record: &RunRecord,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let texts = ModelTexts::from_record(record, hooks);
    for (number, firing) in firings.iter().enumerate() {
        compare_texts(firing, firings, &texts, &mut found);
        compare_reports(firing, record, &mut found);
        compare_call(firing, record, &mut found);
        compare_going_on(firing, &firings[number + 1..], &firings[..number], &mut found);
    }
    compare_turn(firings, record, &mut found);
    found
}

fn add(found: &mut Vec<Disagreement>, what: String, explained: &str, observed: &str) {
    if explained != observed {
        let (explained, observed) = (explained.to_owned(), observed.to_owned());
        found.push(Disagreement { what, explained, observed });
    }
}

/// The texts that reached the model, without the command lines of recorders: a hook's own text may be part of its command.
struct ModelTexts {
    texts: Vec<String>,
}

impl ModelTexts {
    fn from_record(record: &RunRecord, hooks: &[WrappedHook]) -> Self {
        let mut texts: Vec<String> =
            record.texts_to_model().into_iter().map(|told| told.text.to_owned()).collect();
        texts.sort_unstable();
        texts.dedup();
        for text in &mut texts {
            for hook in hooks.iter().filter(|hook| !hook.recorder_line.is_empty()) {
                if text.contains(&hook.recorder_line) {
                    *text = text.replace(&hook.recorder_line, "");
                }
            }
        }
        Self { texts }
    }

    fn contain(&self, part: &str) -> bool {
        self.texts.iter().any(|text| text.contains(part))
    }
}

fn reached(is_reached: bool) -> &'static str {
    if is_reached { "reaches the model" } else { "does not reach the model" }
}

/// Returns the texts for the model of a firing.
fn predicted_texts(firing: &HookFiring) -> Vec<String> {
    let heard = firing.hooks.iter().filter(|fired| fired.is_heard());
    let answers: Vec<(usize, &JudgedTrial)> =
        heard.map(|fired| (fired.hook, &fired.judged)).collect();
    merge_answers(firing.event, &answers).map(|merged| merged.texts).unwrap_or_default()
}

fn compare_texts(
    firing: &HookFiring,
    all: &[HookFiring],
    texts: &ModelTexts,
    found: &mut Vec<Disagreement>,
) {
    if firing.hooks.iter().any(|fired| fired.is_async) {
        return;
    }
    for text in &predicted_texts(firing) {
        let is_reached = texts.contain(text.trim());
        add(
            found,
            format!("{}: \u{201c}{}\u{201d}", firing.event, shorten(text)),
            reached(true),
            reached(is_reached),
        );
    }
    // A text may come from another firing.
    let everywhere: Vec<String> = all.iter().flat_map(predicted_texts).collect();
    for fired in &firing.hooks {
        for fragment in answer_fragments(&fired.judged) {
            if everywhere.iter().any(|text| text.contains(&fragment))
                || firing.payload.to_string().contains(&fragment)
            {
                continue;
            }
            let is_reached = texts.contain(&fragment);
            add(
                found,
                format!("{}: \u{201c}{}\u{201d}", firing.event, shorten(&fragment)),
                reached(false),
                reached(is_reached),
            );
        }
    }
}

fn shorten(text: &str) -> String {
    text.trim().chars().take(60).collect()
}

/// Returns the texts of an answer that could reach the model.
fn answer_fragments(judged: &JudgedTrial) -> Vec<String> {
    let mut fragments = Vec::new();
    let stdout = decode_stdout(&judged.trial.stdout);
    match serde_json::from_str::<Value>(&stdout) {
        Ok(answer @ Value::Object(_)) => collect_texts(&answer, &mut fragments),
        _ => fragments.push(stdout),
    }
    fragments.push(String::from_utf8_lossy(&judged.trial.stderr).trim().to_owned());
    fragments.retain(|text| text.len() >= MIN_FRAGMENT_BYTES && text.parse::<EventName>().is_err());
    fragments
}

fn collect_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.trim().to_owned()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, found)),
        Value::Object(fields) => {
            let texts = fields.iter().filter(|(key, _)| !TOOL_DATA_KEYS.contains(&key.as_str()));
            texts.for_each(|(_, value)| collect_texts(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Compares the client's reports of the hooks. For some events it makes none.
fn compare_reports(firing: &HookFiring, record: &RunRecord, found: &mut Vec<Disagreement>) {
    let reports = record.hook_responses(firing.event);
    for fired in firing.hooks.iter().filter(|fired| fired.is_heard()) {
        let stdout = String::from_utf8_lossy(&fired.judged.trial.stdout);
        let own: Vec<&str> = reports
            .iter()
            .filter(|report| report.stdout.trim() == stdout.trim())
            .map(|report| report.outcome)
            .collect();
        let expected = match (&fired.judged.verdict, &fired.judged.trial.ending) {
            (None, TrialEnding::TimedOut) => "cancelled",
            (Some(verdict), _) if verdict.outcome == HookOutcome::Success => "success",
            _ => "error",
        };
        if !own.is_empty() && !own.contains(&expected) {
            add(found, format!("{}: the client's report", firing.event), expected, own[0]);
        }
    }
}

/// Returns the combined effect of the hooks on the tool call.
fn predicted_call(firing: &HookFiring) -> Option<ToolCallEffect> {
    let hooks = firing.hooks.iter().filter(|fired| fired.is_heard());
    let effects = hooks.map(|fired| {
        let is_closed = fired.judged.effect == TrialEffect::Blocked;
        match &fired.judged.verdict {
            Some(verdict) => {
                verdict.tool.map(|tool| if is_closed { ToolCallEffect::Blocked } else { tool })
            }
            None if is_closed => Some(ToolCallEffect::Blocked),
            None => Some(ToolCallEffect::Unchanged),
        }
    });
    let effects: Vec<ToolCallEffect> = effects.flatten().collect();
    if firing.event == EventName::PermissionRequest {
        // The first answer counts.
        let is_answer = |effect: &&ToolCallEffect| **effect != ToolCallEffect::Unchanged;
        return effects.iter().find(is_answer).or(effects.first()).copied();
    }
    effects.into_iter().max_by_key(|effect| match effect {
        ToolCallEffect::Blocked => 5,
        ToolCallEffect::Deferred => 4,
        ToolCallEffect::Asks => 3,
        ToolCallEffect::Rewritten | ToolCallEffect::Runs => 2,
        ToolCallEffect::Unchanged => 1,
    })
}

/// Compares the fate of the tool call that an event announces.
fn compare_call(firing: &HookFiring, record: &RunRecord, found: &mut Vec<Disagreement>) {
    if !matches!(firing.event, EventName::PreToolUse | EventName::PermissionRequest) {
        return;
    }
    let (Some(effect), Some(ran)) = (predicted_call(firing), record.has_tool_run(&firing.payload))
    else {
        return;
    };
    let runs = match effect {
        ToolCallEffect::Runs | ToolCallEffect::Rewritten => true,
        // The calls of a session are allowed; those for which the client asks a user, who is not there, are not.
        ToolCallEffect::Unchanged => firing.event == EventName::PreToolUse,
        ToolCallEffect::Asks | ToolCallEffect::Deferred | ToolCallEffect::Blocked => false,
    };
    let word = |runs: bool| if runs { "runs" } else { "does not run" };
    let tool = firing.payload["tool_name"].as_str().unwrap_or_default();
    add(found, format!("{}: the call of {tool}", firing.event), word(runs), word(ran));
}

/// Compares whether an agent that would have ended goes on.
fn compare_going_on(
    firing: &HookFiring,
    later: &[HookFiring],
    earlier: &[HookFiring],
    found: &mut Vec<Disagreement>,
) {
    if !matches!(firing.event, EventName::Stop | EventName::SubagentStop | EventName::TeammateIdle)
    {
        return;
    }
    let of_agent = |other: &&HookFiring| {
        other.event == firing.event && other.payload["agent_id"] == firing.payload["agent_id"]
    };
    let is_stopped = |firing: &HookFiring| has_turn(firing, TurnEffect::Stops);
    let goes_on = has_turn(firing, TurnEffect::KeptGoing) && !is_stopped(firing);
    if goes_on && earlier.iter().filter(of_agent).count() >= MAX_KEPT_GOING {
        return;
    }
    let word = |goes_on: bool| if goes_on { "goes on" } else { "ends" };
    add(
        found,
        format!("{}: the agent", firing.event),
        word(goes_on),
        word(later.iter().any(|other| of_agent(&other))),
    );
}

fn has_turn(firing: &HookFiring, turn: TurnEffect) -> bool {
    let hooks = firing.hooks.iter().filter(|fired| fired.is_heard());
    hooks.filter_map(|fired| fired.judged.verdict.as_ref()).any(|verdict| verdict.turn == turn)
}

/// Compares whether a hook has ended the session early.
fn compare_turn(firings: &[HookFiring], record: &RunRecord, found: &mut Vec<Disagreement>) {
    let is_late = |event| {
        matches!(event, EventName::Stop | EventName::SubagentStop | EventName::TeammateIdle)
    };
    let deciding = || firings.iter().filter(|firing| !is_late(firing.event));
    if deciding().next().is_none() {
        return;
    }
    let stops = deciding()
        .any(|firing| has_turn(firing, TurnEffect::Stops) || has_turn(firing, TurnEffect::Erased));
    let ended = ["hook_stopped", "tool_deferred", "aborted_tools"];
    let is_ended = record.terminal_reason().is_some_and(|reason| ended.contains(&reason))
        || record.requests.iter().all(|request| request.thread != ModelThread::Main);
    let word = |stops: bool| if stops { "is ended by a hook" } else { "takes its course" };
    add(found, "the turn".to_owned(), word(stops), word(is_ended));
}
