//! The sessions of a live run: copies of the project and the settings, with a recorder around each hook.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rutter_check::live::{
    ClientBinary, Disagreement, EventScenario, HookFiring, HookWrapper, LeftOutSettings, LiveError,
    RunRecord, Sandbox, TestHook, find_disagreements, group_firings, prepare_tool_calls,
};
use rutter_check::tester::{CopyError, copy_project};
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use serde_json::json;

use super::super::hook_test::plan::expand_home;
use super::plan::{LayerContent, LayerPlace, LivePlan};
use crate::doctor::ClientEnvironment;
use crate::environment;
use crate::live_recorder::RECORDER_WORDS;
use crate::process::ProcessGroup;
use crate::{CommandError, CommandResult};

/// The events of an ordinary session with tool calls.
const MAIN_EVENTS: [EventName; 8] = [
    EventName::SessionStart,
    EventName::UserPromptSubmit,
    EventName::PreToolUse,
    EventName::PostToolUse,
    EventName::PostToolBatch,
    EventName::Stop,
    EventName::SessionEnd,
    EventName::MessageDisplay,
];
/// Beginnings of variables that the client itself reads. They could point it to another address.
const CLIENT_PREFIXES: [&str; 16] = [
    "NODE", "BUN", "AWS", "GOOGLE", "GCLOUD", "CLOUD", "VERTEX", "AZURE", "LD_", "DYLD", "SSL",
    "HTTP", "DISABLE", "ENABLE", "MCP", "API",
];
/// Variables that a sandbox sets.
const SANDBOX_VARIABLES: [&str; 5] = ["SHELL", "TMPDIR", "IS_SANDBOX", "BASH_ENV", "ENV"];

/// A session: the events that it is for, and the tools that it calls.
#[derive(Debug, Clone)]
pub(super) struct PlannedSession {
    pub(super) events: Vec<EventName>,
    pub(super) tools: Vec<String>,
}

/// A finished session.
pub(super) struct LiveSession {
    pub(super) planned: PlannedSession,
    pub(super) record: RunRecord,
    pub(super) wrapper: HookWrapper,
    pub(super) firings: Vec<HookFiring>,
    pub(super) disagreements: Vec<Disagreement>,
    pub(super) left_out: Vec<(String, LeftOutSettings)>,
}

/// Returns the sessions in which the events of the hooks fire.
pub(super) fn plan_sessions(
    plan: &LivePlan,
    extra: &[String],
    contract: Contract,
) -> Vec<PlannedSession> {
    let events: Vec<EventName> =
        plan.events().into_iter().filter(|event| event_spec(*event).is_at(contract)).collect();
    let main: Vec<EventName> =
        events.iter().copied().filter(|event| MAIN_EVENTS.contains(event)).collect();
    let mut sessions = Vec::new();
    if !main.is_empty() {
        let mut tools = plan.tools(&main, extra, contract);
        if main.contains(&EventName::PostToolBatch) && tools.is_empty() {
            tools.push("Bash".to_owned());
        }
        sessions.push(PlannedSession { events: main, tools });
    }
    for event in events.into_iter().filter(|event| !MAIN_EVENTS.contains(event)) {
        let tools = match event {
            EventName::PostToolUseFailure | EventName::PermissionRequest => {
                plan.tools(&[event], extra, contract)
            }
            _ => Vec::new(),
        };
        sessions.push(PlannedSession { events: vec![event], tools });
    }
    sessions
}

/// The surroundings of all sessions.
pub(super) struct SessionBench<'a> {
    pub(super) plan: &'a LivePlan,
    pub(super) places: &'a ClientEnvironment,
    pub(super) scratch: &'a Path,
    pub(super) prompt: &'a str,
}

impl SessionBench<'_> {
    /// Runs a session.
    pub(super) fn run(
        &self,
        planned: &PlannedSession,
        client: &ClientBinary,
    ) -> CommandResult<LiveSession> {
        let failed = |error: LiveError| CommandError::Refused(error.to_string());
        let mut sandbox = Sandbox::new_in(self.scratch).map_err(failed)?;
        sandbox.keep_settings();
        self.copy_project(&sandbox)?;
        let mut wrapper = Self::create_wrapper(&sandbox)?;
        let left_out = self.add_layers(&mut sandbox, &mut wrapper);
        let event = planned.events[0];
        if planned.events.iter().all(|event| MAIN_EVENTS.contains(event)) {
            prepare_tool_calls(&mut sandbox, EventName::PreToolUse, &planned.tools);
            sandbox.prompt(self.prompt);
            // The default time limit of a session's end is 1.5 s, which a busy machine needs to start a shell.
            sandbox.env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "30000");
        } else if planned.tools.is_empty() {
            EventScenario::for_event(event).prepare(&mut sandbox);
        } else {
            prepare_tool_calls(&mut sandbox, event, &planned.tools);
        }
        for event in &planned.events {
            // A second hook on this event would have to return the folder too.
            if *event != EventName::WorktreeCreate {
                sandbox.hook(probe(*event));
            }
        }
        for hook in wrapper.hooks() {
            sandbox.recorded_hook(hook.event, &hook.folder);
        }
        Self::set_environment(&mut sandbox);
        // The client ends with this process, even if that is killed.
        let group = ProcessGroup::create()
            .map_err(|error| CommandError::Refused(format!("could not start /bin/sh: {error}")))?;
        sandbox.group(group.id());
        let record = sandbox.run(client).map_err(failed)?;
        drop(group);
        let contract = Contract::for_client(client.version());
        let firings = group_firings(wrapper.hooks(), &record, contract);
        let disagreements = find_disagreements(&firings, wrapper.hooks(), &record);
        Ok(LiveSession {
            planned: planned.clone(),
            record,
            wrapper,
            firings,
            disagreements,
            left_out,
        })
    }

    /// Copies the project without its settings, which get their recorders later.
    fn copy_project(&self, sandbox: &Sandbox) -> CommandResult {
        let project = sandbox.project();
        copy_project(&self.plan.project, &project).map_err(|error| {
            CommandError::Refused(match error {
                CopyError::TooLarge => {
                    "the project has more than 100 MB or 50000 files, and hooks run on a copy; run it in a smaller folder with --settings"
                        .to_owned()
                }
                CopyError::Io(error) => format!("could not copy the project: {error}"),
            })
        })?;
        for name in ["settings.json", "settings.local.json"] {
            let path = project.join(".claude").join(name);
            if path.symlink_metadata().is_ok() {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn create_wrapper(sandbox: &Sandbox) -> CommandResult<HookWrapper> {
        let program = environment::current_program().ok_or_else(|| {
            CommandError::Refused("could not find this program; start it by its path".to_owned())
        })?;
        let root = sandbox.project();
        let root = root.parent().unwrap_or(&root);
        Ok(HookWrapper::new(program, &RECORDER_WORDS, root.join("records")))
    }

    /// Puts the settings into their places.
    fn add_layers(
        &self,
        sandbox: &mut Sandbox,
        wrapper: &mut HookWrapper,
    ) -> Vec<(String, LeftOutSettings)> {
        let (project, home) = (sandbox.project(), sandbox.home());
        let copy = project.to_string_lossy().into_owned();
        let original = format!("{}/", self.plan.project.to_string_lossy());
        let users = self.places.files.home.as_deref();
        let adapt = |text: &str, is_shell: bool| {
            let text = if is_shell { expand_home(text, users) } else { text.to_owned() };
            if original.len() > 1 { text.replace(&original, &format!("{copy}/")) } else { text }
        };
        let mut all = Vec::new();
        for layer in &self.plan.layers {
            let path = match layer.place {
                LayerPlace::Project => project.join(".claude/settings.json"),
                LayerPlace::Local => project.join(".claude/settings.local.json"),
                LayerPlace::User => home.join(".claude/settings.json"),
            };
            let text = match &layer.content {
                LayerContent::Settings(settings) => {
                    let (settings, left_out) = wrapper.wrap(settings, None, &adapt);
                    all.push((layer.path.clone(), left_out));
                    settings.to_string()
                }
                LayerContent::Text(text) => text.clone(),
            };
            sandbox.file(path, text);
        }
        // Permission rules of a project count only if the user trusts it.
        let trust = json!({ "projects": { copy: { "hasTrustDialogAccepted": true } } });
        sandbox.file(home.join(".claude.json"), trust.to_string());
        all
    }

    fn set_environment(sandbox: &mut Sandbox) {
        for (name, value) in environment::hook_variables() {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
            let upper = name.to_ascii_uppercase();
            let is_clients = upper.ends_with("PROXY")
                || CLIENT_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
                || SANDBOX_VARIABLES.contains(&name);
            if !is_clients {
                sandbox.env(name, value);
            }
        }
        let memory = sandbox.home().join("memory");
        sandbox.env("RUTTER_HOME", memory.to_string_lossy());
        sandbox.args(["--strict-mcp-config"]);
    }
}

/// Returns a silent hook that shows whether an event fires.
fn probe(event: EventName) -> TestHook {
    EventScenario::for_event(event).hook()
}

impl LiveSession {
    /// Returns a text of the client without the path of the sandbox.
    pub(super) fn without_sandbox(&self, text: &str) -> String {
        let project = self.record.project();
        let root = project.parent().unwrap_or(project);
        text.replace(&format!("{}/", project.to_string_lossy()), "")
            .replace(&format!("{}/home/", root.to_string_lossy()), "~/")
    }

    /// Returns the values that matchers of an event were compared with.
    pub(super) fn matcher_values(&self, event: EventName) -> Vec<String> {
        let Some(field) = event_spec(event).matcher.field else { return Vec::new() };
        let values: BTreeSet<String> = self
            .record
            .calls_of(event)
            .filter_map(|call| serde_json::from_slice::<serde_json::Value>(&call.stdin).ok())
            .filter_map(|payload| payload[field].as_str().map(str::to_owned))
            .collect();
        values.into_iter().collect()
    }
}
