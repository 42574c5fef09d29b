//! The PreToolUse hook: asks an agent every so many calls if its hypothesis still holds, recalls lessons for a subagent
//! that is about to start, records the caller of our own tools, copies files that a command may change, and says so if an edit
//! removes the lines of an earlier fix or a command is known to fail.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rutter_contract::input::{PreToolUse, RawPayload};
use rutter_contract::output::HookOutput;
use serde::Deserialize;

use super::{
    HookCall, HookEnv, HookResult, ReceivedEvent, command_hint, fingerprint, snapshot, tests_first,
};
use crate::bash_call::BashCall;
use crate::context::Depth;
use crate::edit_input::edits_text;
use crate::fix_guard;
use crate::known_commands::possible_shapes;
use crate::messages;
use crate::recall_context::{self, Audience, ContextRequest};
use rutter_memory::change::may_change_state;
use rutter_memory::config::RecallScope;
use rutter_memory::ghap::Ghap;
use rutter_memory::quote::escape_quotation;
use rutter_memory::store::entry::{EntryKind, ParkedRows};
use rutter_memory::store::{StoreError, hook_store::StoreNotReady};
use rutter_memory::{Clean, Id};
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
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    if !is_own_tool(&event.tool) {
        let Some(call) = HookCall::open(event, env) else { return };
        return handle_call(event, call, result);
    }
    // Must precede the settings: a file of the project must not be able to disable this question.
    let env = env();
    if let Some(file) = find_foreign_server(event.wire, &event.tool, &env) {
        return ask_user(&file, result);
    }
    if let Some(mut call) = HookCall::open(event, || env)
        // Our tools answer for the session's own project, wherever the shell is.
        && call.enter_session_folder()
    {
        handle_call(event, call, result);
    }
}

fn handle_call(event: &ReceivedEvent<'_>, mut call: HookCall, result: &mut HookResult) {
    let (mut entries, mut parked) = (Vec::new(), Vec::new());
    if starts_agent(&event.tool) {
        parked.extend(park_recall(event.wire, &mut call, result));
    }
    if is_own_tool(&event.tool)
        // Our server gets the call right after this hook, without the session and the agent.
        && let Some(tool_use) = event.wire.text("tool_use_id").filter(|id| !id.is_empty())
    {
        entries.push(EntryKind::Calls(Clean::new(&tool_use), call.agent.clone()));
    }
    if event.tool == "Bash"
        && call.config.hooks.outcome_capture.enabled
        && call.config.privacy.capture_patches
    {
        snapshot_before(event.wire, &mut call);
    }
    let objection = tests_first::check_call(event, &mut call, result);
    // A call that is not made needs no hint.
    let hint = if objection.is_some() { None } else { find_hint(event, &mut call, result) };
    if let Some((row, text)) = &hint {
        // The line before a command is the whole lesson, which is not repeated when the command fails.
        let is_reference = event.tool != "Bash";
        parked.extend(call.shown_entries_as(&fingerprint(text), &[(*row, 1.0)], is_reference));
    }
    let text = hint.map(|(_, text)| text).unwrap_or_default();
    let mut ghap = None;
    if call.config.hooks.ghap_checkin.enabled {
        let watched = watched_ghap(&mut call);
        // If the database is busy, a GHAP may be active, and the call is counted later.
        if !matches!(watched, Ok(None)) {
            entries.push(EntryKind::Called(call.agent.clone()));
        }
        ghap = watched.ok().flatten();
    }
    if let Some(objection) = objection {
        if !entries.is_empty() || !parked.is_empty() {
            call.record_with_shown(entries, parked, result);
        }
        return tests_first::answer_call(objection, result);
    }
    let is_recorded = match ghap {
        Some(ghap) => return check_in_ghap(&mut call, &ghap, (entries, parked), text, result),
        None if !entries.is_empty() => call.record_with_shown(entries, parked, result),
        None if !parked.is_empty() => call.record_shown(parked, result),
        None => false,
    };
    if is_recorded {
        call.print_context::<PreToolUse>(&text, result);
    }
    remove_stale_fingerprints(event, &mut call, result);
}

/// Returns the row and the line to show about what the call is about to do.
fn find_hint(
    event: &ReceivedEvent<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<(Id, String)> {
    if !call.config.hooks.action_hints.enabled || !call.may_print() {
        return None;
    }
    if edits_text(&event.tool) {
        return fix_guard::find_removed_fix(event.wire, call, result);
    }
    if event.tool == "Bash" {
        return command_hint::find_failing_command(event.wire, call, result);
    }
    None
}

/// Removes the fingerprints that led this call to the database for nothing.
fn remove_stale_fingerprints(
    event: &ReceivedEvent<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) {
    let cwd = event.wire.text("cwd").unwrap_or_default();
    let folders = Path::new(&*cwd).ancestors().map(|folder| folder.to_string_lossy());
    let root = call.place.root.clone();
    let folders: Vec<Cow<'_, str>> = folders.chain([Cow::Borrowed(root.as_str())]).collect();
    let folders: Vec<&str> = folders.iter().map(|folder| &**folder).collect();
    let command = (event.tool == "Bash").then(|| BashCall::command_text(event.wire)).flatten();
    let folder = call.located.root.join(&call.folder);
    let shapes = command.map(|command| possible_shapes(&command, &folder)).unwrap_or_default();
    let client = call.client.clone();
    if let Ok(store) = call.store() {
        let removed = store.remove_stale_fingerprints(&client, &folders, &shapes);
        result.ok_or_log("fingerprints", removed);
    }
}

/// Finds the project file that registers another server under the name of ours. Permission rules for our tools also
/// allow the tools of that server.
pub(super) fn find_foreign_server(
    wire: &RawPayload<'_>,
    tool: &str,
    env: &HookEnv,
) -> Option<PathBuf> {
    (env.foreign_server)(&client_folder(wire, env)?, server_name(tool)?)
}

/// The server of a tool, by the tool's name.
fn server_name(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split("__").next()
}

/// The folder that the client was started in, or else the one that it is in.
fn client_folder(wire: &RawPayload<'_>, env: &HookEnv) -> Option<PathBuf> {
    env.started_in.clone().or_else(|| wire.text("cwd").map(|cwd| PathBuf::from(&*cwd)))
}

/// Makes the client ask the user for permission.
pub(super) fn ask_user(file: &Path, result: &mut HookResult) {
    let reason = format!(
        "The server of `{}` has the name of rutter's server, but starts another program. Allow \
         this call only if you know that server.",
        escape_quotation(&file.to_string_lossy())
    );
    result.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
}

/// Makes the client ask about a call with an unreadable payload, unless its server is known to be ours.
pub(super) fn guard_unread_call(
    wire: &RawPayload<'_>,
    tool: &str,
    env: &HookEnv,
    result: &mut HookResult,
) {
    if client_folder(wire, env).is_none() {
        let reason = "This call could not be read, so it is not known whether it goes to rutter's own server. Allow it only if \
                      you know the server.";
        result.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
    } else if let Some(file) = find_foreign_server(wire, tool, env) {
        ask_user(&file, result);
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

/// Records the entries of the call, and asks about the GHAP if enough calls were made since the last time.
fn check_in_ghap(
    call: &mut HookCall,
    ghap: &Ghap,
    (entries, parked): (Vec<EntryKind>, Vec<EntryKind>),
    mut text: String,
    result: &mut HookResult,
) {
    let (entries, parked) = (call.new_entries(entries), call.new_entries(parked));
    // Sessions of the control cohort are counted and never asked.
    let frequency =
        if call.may_print() { call.config.hooks.ghap_checkin.frequency } else { u32::MAX };
    let counted = call.recorder.record_call(&entries, &parked, ghap.id, frequency);
    let (recorded, calls) = match counted {
        Ok((destination, calls)) => (Ok(destination), calls),
        Err(error) => (Err(error), None),
    };
    call.report_destination(recorded, result);
    if let Some(calls) = calls {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &messages::render_check_in(ghap, calls, &call.interface());
    }
    call.print_context::<PreToolUse>(&text, result);
}

/// Returns the active GHAP of the agent. Fails if the database is busy, so that it is not known whether there is one.
fn watched_ghap(call: &mut HookCall) -> Result<Option<Ghap>, StoreError> {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    match call.store() {
        // The cheap question first: most sessions have no GHAP.
        Ok(store) if store.has_active_ghap(&client)? => {
            store.active_ghap(&place, &client, agent.as_ref())
        }
        Ok(_) => Ok(None),
        Err(reason) => match *reason {
            StoreNotReady::Store(StoreError::Busy) => Err(StoreError::Busy),
            // Without a database no GHAP can be active.
            _ => Ok(None),
        },
    }
}

/// Recalls lessons for a subagent that is about to start. Returns the entry with their ids, from which its SubagentStart
/// hook shows them. The entry must not be spooled: late rows would go to the next subagent.
fn park_recall(
    wire: &RawPayload<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<EntryKind> {
    let task: Option<AgentTask<'_>> =
        wire.raw("tool_input").and_then(|input| serde_json::from_str(input).ok());
    let task = task.filter(|_| call.config.hooks.subagent_start.enabled)?;
    if !call.may_print() {
        return None;
    }
    let (place, now) = (call.place.clone(), call.env.now);
    let request = ContextRequest {
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
    let store = call.store().ok()?;
    let context = result
        .ok_or_log("recall", recall_context::recall_context(store.reader(), &request, now))?;
    // Parked even if empty; otherwise this subagent would get the rows parked for the next one.
    Some(EntryKind::Parked(ParkedRows {
        kind: Clean::new(task.subagent_type.as_deref().unwrap_or(DEFAULT_AGENT_TYPE)),
        prompt: fingerprint(&task.prompt),
        rows: context.full_rows(),
    }))
}
