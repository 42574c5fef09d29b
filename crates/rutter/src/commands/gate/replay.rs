//! Replays the gate for tests on the calls that `contract record` has kept.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rutter_gates::{ChangeDecision, FileChange, command_changes};
use rutter_hooks::decide_change_in;
use rutter_memory::config::TestsFirstGateSettings;
use rutter_memory::hook_recording::{HookRecording, RecordedCall};
use rutter_memory::project::LocatedProject;
use rutter_runs::command_line::CommandLine;
use serde::Serialize;
use serde_json::Value;

use crate::environment::Environment;
use crate::{CommandError, CommandResult};

/// The result of a replay.
#[derive(Debug, Default, Serialize)]
pub(super) struct GateReplay {
    /// Number of recorded calls that the gate decides about.
    pub(super) calls: usize,
    /// The calls that it would not accept.
    pub(super) denied: Vec<DeniedCall>,
}

/// A recorded call that the gate would not accept.
#[derive(Debug, Serialize)]
pub(super) struct DeniedCall {
    pub(super) time: String,
    pub(super) tool: String,
    pub(super) file: String,
    pub(super) place: Option<String>,
}

/// Replays the recorded calls of this folder. The project is taken as it is now, because its earlier states are gone.
pub(super) fn replay_calls(
    env: &Environment,
    project: &LocatedProject,
    settings: &TestsFirstGateSettings,
) -> CommandResult<GateReplay> {
    let folder = env.working_dir()?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut folders = vec![folder, project.root.clone()];
    folders.dedup();
    let mut replay = GateReplay::default();
    let mut seen = BTreeSet::new();
    for folder in folders {
        let calls = HookRecording::of_project(&env.data_dir(), &folder).calls().map_err(|error| {
            CommandError::Refused(format!(
                "could not read the recorded calls: {error}; `rutter contract record status` shows their place"
            ))
        })?;
        for call in calls.filter(|call| call.event == "PreToolUse") {
            let Some(payload) = call.payload_value() else { continue };
            // Each hook on the event has recorded the same call.
            let id = payload["tool_use_id"].as_str().unwrap_or(&call.payload).to_owned();
            if !seen.insert(id) {
                continue;
            }
            let Some(changes) = recorded_changes(&payload) else { continue };
            replay.calls += 1;
            let denied = changes.iter().find_map(|change| {
                match decide_change_in(&project.root, change, settings) {
                    ChangeDecision::Deny { file, places, .. } => {
                        Some(denied_call(&call, &payload, file, places.into_iter().next()))
                    }
                    ChangeDecision::Pass { .. } => None,
                }
            });
            replay.denied.extend(denied);
        }
    }
    Ok(replay)
}

fn denied_call(
    call: &RecordedCall,
    payload: &Value,
    file: String,
    place: Option<String>,
) -> DeniedCall {
    let tool = payload["tool_name"].as_str().unwrap_or_default().to_owned();
    DeniedCall { time: call.time.to_string(), tool, file, place }
}

/// Returns the changes of a recorded call, or None for a call that the gate does not decide about.
fn recorded_changes(payload: &Value) -> Option<Vec<FileChange>> {
    let folder = PathBuf::from(payload["cwd"].as_str()?);
    let input = &payload["tool_input"];
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    match payload["tool_name"].as_str()? {
        "Bash" => {
            let changes =
                command_changes(&CommandLine::parse(&text("command")?), &folder, |_| None);
            (!changes.is_empty()).then_some(changes)
        }
        "Write" => Some(vec![FileChange {
            path: text("file_path")?.into(),
            folder,
            new_text: text("content"),
            old_text: None,
        }]),
        // The file has changed since, so only the replaced text is compared.
        "Edit" => Some(vec![FileChange {
            path: text("file_path")?.into(),
            folder,
            new_text: text("new_string"),
            old_text: text("old_string"),
        }]),
        _ => None,
    }
}
