//! The recorded calls of the working directory, and their verdicts.

use std::time::Duration;

use rutter_check::tester::{
    HookStart, HookTrial, JudgedTrial, TestedHook, TrialEnding, judge_trial,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use rutter_memory::hook_recording::{CallEnding, HookRecording, RecordedCall};
use serde_json::Value;

use crate::CommandResult;
use crate::cli::record::RecordedCallArgs;
use crate::environment::Environment;
use crate::ui::{first_line, one_line};

/// Returns the recording of the working directory.
pub(super) fn recording_here(env: &Environment) -> CommandResult<HookRecording> {
    let folder = env.working_dir()?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Ok(HookRecording::of_project(&env.data_dir(), &folder))
}

/// Returns the recorded calls of the working directory that are asked for, with their numbers from 1.
pub(super) fn select_calls(
    args: &RecordedCallArgs,
    env: &Environment,
) -> CommandResult<Vec<(usize, RecordedCall)>> {
    let event = args.event.map(EventName::as_str);
    let is_wanted = |call: &RecordedCall| {
        event.is_none_or(|event| call.event == event)
            && args.hook.as_ref().is_none_or(|hook| call.command.contains(hook.as_str()))
            && args.since.is_none_or(|since| call.time >= since)
    };
    let calls = recording_here(env)?.calls()?.enumerate();
    let mut calls: Vec<(usize, RecordedCall)> =
        calls.filter(|(_, call)| is_wanted(call)).map(|(index, call)| (index + 1, call)).collect();
    if let Some(last) = args.last {
        calls.drain(..calls.len().saturating_sub(last));
    }
    Ok(calls)
}

/// Returns the tool and the start of the input of a call, or another field that tells it from others.
pub(super) fn describe_call(call: &RecordedCall) -> String {
    let Some(payload) = call.payload_value() else { return "(no payload)".to_owned() };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut words = Vec::new();
    if let Some(tool) = payload["tool_name"].as_str() {
        words.push(tool.to_owned());
        let input = &payload["tool_input"];
        let known = ["command", "file_path", "url", "pattern", "prompt"];
        let first = known
            .iter()
            .find_map(|key| input.get(key))
            .or_else(|| input.as_object()?.values().next());
        words.extend(first.map(text));
    } else {
        let known = ["prompt", "source", "reason", "agent_type", "message", "trigger"];
        words.extend(known.iter().find_map(|key| payload.get(key)).map(text));
    }
    first_line(&one_line(&words.join(": ")))
}

/// Returns the contract of the client that a call was recorded in.
pub(super) fn recorded_contract(call: &RecordedCall) -> Contract {
    let version = call.client.as_ref().and_then(|client| client.parse().ok());
    version.map_or_else(Contract::newest, Contract::for_client)
}

/// Judges the recorded answer of a call.
pub(super) fn judge_recorded(
    call: &RecordedCall,
    event: EventName,
    contract: Contract,
) -> JudgedTrial {
    let hook = TestedHook {
        event,
        start: HookStart::Shell(call.command.clone()),
        plugin: None,
        timeout: None,
        blocks_on_failure: false,
    };
    judge_trial(&hook, recorded_trial(call), contract)
}

/// Returns the recorded answer of a call.
pub(super) fn recorded_trial(call: &RecordedCall) -> HookTrial {
    HookTrial {
        ending: match call.ending {
            CallEnding::Exit(code) => TrialEnding::Exited(code),
            CallEnding::Signal(signal) => TrialEnding::Killed(signal),
        },
        stdout: call.stdout.clone().into_bytes(),
        stderr: call.stderr.clone().into_bytes(),
        took: Duration::from_micros(call.micros),
    }
}
