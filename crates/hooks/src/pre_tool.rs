//! The PreToolUse hook: asks an agent every so many calls if its hypothesis still holds, recalls lessons for a subagent
//! that is about to start, records the caller of our own tools, and copies files that a command may change.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rutter_contract::input::{PreToolUse, RawPayload};
use rutter_contract::output::HookOutput;
use serde::Deserialize;

use super::{HookCall, HookEnv, HookResult, fingerprint, snapshot};
use crate::bash_call::BashCall;
use crate::context::Depth;
use crate::messages;
use crate::recall_context::{self, Audience, ContextRequest};
use rutter_memory::Clean;
use rutter_memory::change::may_change_state;
use rutter_memory::config::RecallScope;
use rutter_memory::quote::escape_quotation;
use rutter_memory::store::entry::{EntryKind, ParkedRows};
use rutter_memory::store::{StoreError, hook_store::StoreNotReady, spool};
use rutter_runs::command_line::CommandLine;

/// The fields of the input of `Agent` that are read.
#[derive(Deserialize)]
struct AgentTask<'a> {
    #[serde(borrow)]
    prompt: Cow<'a, str>,
    #[serde(borrow, default)]
    subagent_type: Option<Cow<'a, str>>,
}

/// The type of a subagent if the input has none.
const DEFAULT_AGENT_TYPE: &str = "general-purpose";

pub(super) fn handle_pre_tool(
    wire: &RawPayload<'_>,
    tool: &str,
    call: impl FnOnce() -> Option<HookCall>,
    heard: &mut HookResult,
) {
    let Some(mut call) = call() else { return };
    if starts_agent(tool) {
        park_recall(wire, &mut call, heard);
    }
    if is_own_tool(tool) {
        // Our server gets the call right after this hook, without the session and the agent.
        if let Some(tool_use) = wire.text("tool_use_id").filter(|id| !id.is_empty()) {
            let agent = call.agent.clone();
            call.record(vec![EntryKind::Calls(Clean::new(&tool_use), agent)], heard);
        }
    }
    if tool == "Bash"
        && call.config.hooks.outcome_capture.enabled
        && call.config.privacy.capture_patches
    {
        snapshot_before(wire, &mut call);
    }
    if call.config.hooks.ghap_checkin.enabled {
        check_in_ghap(&mut call, heard);
    }
}

/// Finds the project file that registers another server under the name of ours. Permission rules for our tools also
/// allow the tools of that server.
pub(super) fn find_foreign_server(
    wire: &RawPayload<'_>,
    tool: &str,
    around: &HookEnv,
) -> Option<PathBuf> {
    (around.foreign_server)(&client_folder(wire, around)?, server_name(tool)?)
}

/// The server of a tool, by the tool's name.
fn server_name(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split("__").next()
}

/// The folder that the client was started in, or else the one that it is in.
fn client_folder(wire: &RawPayload<'_>, around: &HookEnv) -> Option<PathBuf> {
    around.started_in.clone().or_else(|| wire.text("cwd").map(|cwd| PathBuf::from(&*cwd)))
}

/// Makes the client ask the user for permission.
pub(super) fn ask_user(file: &Path, heard: &mut HookResult) {
    let reason = format!(
        "The server of `{}` has the name of rutter's server, but starts another program. Allow \
         this call only if you know that server.",
        escape_quotation(&file.to_string_lossy())
    );
    heard.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
}

/// Makes the client ask about a call with an unreadable payload, unless its server is known to be ours.
pub(super) fn guard_unread_call(
    wire: &RawPayload<'_>,
    tool: &str,
    around: &HookEnv,
    heard: &mut HookResult,
) {
    if client_folder(wire, around).is_none() {
        let reason = "This call could not be read, so it is not known whether it goes to rutter's own server. Allow it only if \
                      you know the server.";
        heard.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
    } else if let Some(file) = find_foreign_server(wire, tool, around) {
        ask_user(&file, heard);
    }
}

/// Copies the files that a command may change, if a failure is open.
fn snapshot_before(wire: &RawPayload<'_>, call: &mut HookCall) {
    let command = BashCall::command_text(wire);
    let Some(command) =
        command.filter(|command| command.len() <= super::bash_result::MAX_LINE_BYTES)
    else {
        return;
    };
    let line = CommandLine::parse(&command);
    if may_change_state(&line) {
        snapshot::take_snapshot(wire, call, &line);
    }
}

/// Returns true if a tool starts a subagent. `Task` is its former name.
pub(super) fn starts_agent(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Returns true if a tool belongs to our server, which is registered directly or by the plugin.
pub(super) fn is_own_tool(tool: &str) -> bool {
    tool.starts_with("mcp__rutter__") || tool.starts_with("mcp__plugin_rutter_rutter__")
}

fn check_in_ghap(call: &mut HookCall, heard: &mut HookResult) {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let frequency = call.config.hooks.ghap_checkin.frequency;
    let entry = call.new_entry(EntryKind::Called(agent.clone()));
    let (files, speaks) = (call.env.files.clone(), call.may_print());
    let counted = match call.store() {
        Ok(store) => match store.has_active_ghap(&client) {
            // The common case.
            Ok(false) => return,
            Ok(true) => match store.active_ghap(&place, &client, agent.as_ref()) {
                Ok(None) => return,
                // Sessions of the control cohort are counted and never asked.
                Ok(Some(ghap)) => store
                    .check_in(&entry, ghap.id, if speaks { frequency } else { u32::MAX })
                    .map(|calls| calls.map(|calls| (ghap, calls))),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        },
        Err(StoreNotReady::Store(StoreError::Busy)) => Err(StoreError::Busy),
        // Without a database no GHAP can be active.
        Err(_) => return,
    };
    match counted {
        Ok(Some((ghap, calls))) => {
            let text = messages::render_check_in(&ghap, calls, &call.interface());
            call.print_context::<PreToolUse>(&text, heard);
        }
        Ok(None) => {}
        Err(error) => {
            heard.needs_maintenance = true;
            let kept = spool::append_entries(&files, &[entry]);
            let what =
                kept.map_or_else(|error| format!("lost: {error}"), |()| "spooled".to_owned());
            heard.errors.push(Clean::new(&format!("a call was {what}: {error}")));
        }
    }
}

/// Recalls lessons for a subagent that is about to start and stores their ids; its SubagentStart hook shows them.
fn park_recall(wire: &RawPayload<'_>, call: &mut HookCall, heard: &mut HookResult) {
    let task: Option<AgentTask<'_>> =
        wire.raw("tool_input").and_then(|input| serde_json::from_str(input).ok());
    let Some(task) = task.filter(|_| call.config.hooks.subagent_start.enabled) else { return };
    if !call.may_print() {
        return;
    }
    let (place, now) = (call.place.clone(), call.env.now);
    let wanted = ContextRequest {
        text: &task.prompt,
        place: &place,
        everywhere: call.config.scope.recall == RecallScope::Everywhere,
        kinds: &[],
        depth: Depth::Light,
        limit: Depth::Light.limit(),
        tokens: Depth::Light.tokens(),
        audience: Audience::Subagent,
        to: None,
    };
    let Ok(store) = call.store() else { return };
    let Some(context) =
        heard.ok_or_log("recall", recall_context::recall_context(store.reader(), &wanted, now))
    else {
        return;
    };
    // Parked even if empty; otherwise this subagent would get the rows parked for the next one.
    let parked = ParkedRows {
        kind: Clean::new(task.subagent_type.as_deref().unwrap_or(DEFAULT_AGENT_TYPE)),
        prompt: fingerprint(&task.prompt),
        rows: context.full_rows(),
    };
    // Not by the spool: late rows would go to the next subagent.
    call.record_shown(vec![EntryKind::Parked(parked)], heard);
}
