//! A tool is about to run: every so often an agent is asked whether it still believes what it said; and an agent that is
//! about to be started gets what was learnt about its task.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rutter_contract::input::{PreToolUse, Wire};
use rutter_contract::output::HookOutput;
use serde::Deserialize;

use super::{Around, Call, Heard, fingerprint, snapshot};
use crate::bash_call::Call as BashCall;
use crate::change::changes_something;
use crate::config::Recall;
use crate::context::Depth;
use crate::quote::quoted;
use crate::runs::command_line::CommandLine;
use crate::store::entry::{Parked, What};
use crate::store::{Audience, Wanted};
use crate::store::{StoreError, hot::Unready, spool};
use crate::{Clean, speech};

/// What is read of the input of `Agent`.
#[derive(Deserialize)]
struct Task<'a> {
    #[serde(borrow)]
    prompt: Cow<'a, str>,
    #[serde(borrow, default)]
    subagent_type: Option<Cow<'a, str>>,
}

/// What an agent is where nobody says.
const GENERAL: &str = "general-purpose";

pub(super) fn hear(
    wire: &Wire<'_>,
    tool: &str,
    call: impl FnOnce() -> Option<Call>,
    heard: &mut Heard,
) {
    let Some(mut call) = call() else { return };
    if is_agent(tool) {
        park(wire, &mut call, heard);
    }
    if is_ours(tool) {
        // The server is asked right behind this, and cannot tell whose question it is.
        if let Some(tool_use) = wire.text("tool_use_id").filter(|id| !id.is_empty()) {
            let agent = call.agent.clone();
            call.record(vec![What::Calls(Clean::new(&tool_use), agent)], heard);
        }
    }
    if tool == "Bash"
        && call.config.hooks.outcome_capture.enabled
        && call.config.privacy.capture_patches
    {
        look_before(wire, &mut call);
    }
    if call.config.hooks.ghap_checkin.enabled {
        check_in(&mut call, heard);
    }
}

/// The file by which the project has put another server in the place of ours. Rules that allow our tools allow its tools, too.
pub(super) fn find_foreign_server(wire: &Wire<'_>, tool: &str, around: &Around) -> Option<PathBuf> {
    (around.foreign_server)(&client_folder(wire, around)?, server_name(tool)?)
}

/// The server of a tool, by the tool's name.
fn server_name(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split("__").next()
}

/// The folder that the client was started in, or else the one that it is in.
fn client_folder(wire: &Wire<'_>, around: &Around) -> Option<PathBuf> {
    around.started_in.clone().or_else(|| wire.text("cwd").map(|cwd| PathBuf::from(&*cwd)))
}

/// Has the client ask the user about a call.
pub(super) fn ask_about(file: &Path, heard: &mut Heard) {
    let reason = format!(
        "`{}` names a server as rutter's server is named, and it starts something else. Allow this call only if you know that \
         server.",
        quoted(&file.to_string_lossy())
    );
    heard.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
}

/// Has the client ask about a call of which only the head can be read, unless its server is known to be ours.
pub(super) fn guard_unread_call(wire: &Wire<'_>, tool: &str, around: &Around, heard: &mut Heard) {
    if client_folder(wire, around).is_none() {
        let reason = "This call could not be read, so it is not known whether it goes to rutter's own server. Allow it only if \
                      you know the server.";
        heard.stdout = HookOutput::<PreToolUse>::new().ask(reason).answer().stdout;
    } else if let Some(file) = find_foreign_server(wire, tool, around) {
        ask_about(&file, heard);
    }
}

/// Reads the files that a command may change, while a failure is open.
fn look_before(wire: &Wire<'_>, call: &mut Call) {
    let command = BashCall::typed(wire);
    let Some(command) = command.filter(|command| command.len() <= super::bash::MAX_LINE_BYTES)
    else {
        return;
    };
    let line = CommandLine::parse(&command);
    if changes_something(&line) {
        snapshot::take(wire, call, &line);
    }
}

/// Whether a tool starts an agent, by its name of today or of before.
pub(super) fn is_agent(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Whether a tool is one of our own server: registered by its name, or by the plugin of that name.
pub(super) fn is_ours(tool: &str) -> bool {
    tool.starts_with("mcp__rutter__") || tool.starts_with("mcp__plugin_rutter_rutter__")
}

fn check_in(call: &mut Call, heard: &mut Heard) {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let frequency = call.config.hooks.ghap_checkin.frequency;
    let entry = call.entry(What::Called(agent.clone()));
    let (files, speaks) = (call.around.files.clone(), call.may_speak());
    let counted = match call.store() {
        Ok(store) => match store.has_active(&client) {
            // Nearly always.
            Ok(false) => return,
            Ok(true) => match store.active(&place, &client, agent.as_ref()) {
                Ok(None) => return,
                // Whoever is only watched is counted, and never asked.
                Ok(Some(ghap)) => store
                    .check_in(&entry, ghap.id, if speaks { frequency } else { u32::MAX })
                    .map(|calls| calls.map(|calls| (ghap, calls))),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        },
        Err(Unready::Store(StoreError::Busy)) => Err(StoreError::Busy),
        // Where there is no database, there is no GHAP either.
        Err(_) => return,
    };
    match counted {
        Ok(Some((ghap, calls))) => {
            let text = speech::check_in(&ghap, calls, &call.hands());
            call.say::<PreToolUse>(&text, heard);
        }
        Ok(None) => {}
        Err(error) => {
            heard.tend = true;
            let kept = spool::append(&files, &[entry]);
            let what =
                kept.map_or_else(|error| format!("lost: {error}"), |()| "spooled".to_owned());
            heard.faults.push(Clean::new(&format!("a call was {what}: {error}")));
        }
    }
}

/// Recalls for an agent that is about to start, which cannot be spoken to yet.
fn park(wire: &Wire<'_>, call: &mut Call, heard: &mut Heard) {
    let task: Option<Task<'_>> =
        wire.raw("tool_input").and_then(|input| serde_json::from_str(input).ok());
    let Some(task) = task.filter(|_| call.config.hooks.subagent_start.enabled) else { return };
    if !call.may_speak() {
        return;
    }
    let (place, now) = (call.place.clone(), call.around.now);
    let wanted = Wanted {
        text: &task.prompt,
        place: &place,
        everywhere: call.config.scope.recall == Recall::Everywhere,
        kinds: &[],
        depth: Depth::Light,
        limit: Depth::Light.limit(),
        tokens: Depth::Light.tokens(),
        audience: Audience::Subagent,
        to: None,
    };
    let Ok(store) = call.store() else { return };
    let Some(context) = heard.take("recall", store.context(&wanted, now)) else { return };
    // Also where there is nothing: or this agent would take what waits for the next one.
    let parked = Parked {
        kind: Clean::new(task.subagent_type.as_deref().unwrap_or(GENERAL)),
        prompt: fingerprint(&task.prompt),
        rows: context.rows(),
    };
    // Not by the spool: what comes late would be the next agent's.
    call.record_said(vec![What::Parked(parked)], heard);
}
