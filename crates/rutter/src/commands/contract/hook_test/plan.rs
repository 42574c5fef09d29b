//! The hooks of a run: the given command, or the command hooks of settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_check::matcher::{IfRule, Matcher, MatcherKind, current_tool_name};
use rutter_check::script::find_named_events;
use rutter_check::settings::{
    HookEntry, HookFile, HookFileKind, LayerState, SettingsLayer, find_disabled_hooks,
    load_folder_layers, load_plugin_folder,
};
use rutter_check::tester::{
    HookStart, ScriptFacts, TestPayload, TestedHook, TrialEnvironment, has_tool,
};
use rutter_contract::EventName;
use rutter_contract::spec::MatcherValues;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use rutter_memory::hook_recording::hook_id;
use rutter_memory::quote::PathLine as _;
use serde_json::Value;

use crate::cli::hook_test::HookTestArgs;
use crate::doctor::ClientEnvironment;
use crate::ui::{format_count, one_line};
use crate::{CommandError, CommandResult};

/// The hooks of a run.
pub(in crate::commands::contract) struct HookPlan {
    /// The project folder.
    pub(in crate::commands::contract) project: PathBuf,
    /// The hooks, in the order of the settings.
    pub(in crate::commands::contract) hooks: Vec<PlannedHook>,
    /// Remarks on hooks that are not run.
    pub(in crate::commands::contract) notes: Vec<String>,
}

/// A hook with the calls for which it runs.
#[derive(Debug, Clone)]
pub(in crate::commands::contract) struct PlannedHook {
    pub(in crate::commands::contract) hook: TestedHook,
    /// The id of its recorded calls. Empty for a command that no settings have.
    pub(in crate::commands::contract) id: String,
    /// The tools that the matcher names exactly.
    pub(in crate::commands::contract) tools: Vec<String>,
    /// True if the client does not wait for the hook.
    pub(in crate::commands::contract) is_async: bool,
    matcher: Option<Matcher>,
    /// The tool of the `if` rule.
    if_tool: Option<String>,
}

impl HookPlan {
    /// Creates the plan of a command line.
    pub(in crate::commands::contract) fn create(
        args: &HookTestArgs,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult<Self> {
        let project = places.files.folder.clone();
        let mut plan = Self { project, hooks: Vec::new(), notes: Vec::new() };
        if args.command.is_empty() {
            plan.add_settings(args.settings.as_deref(), args.event, places, contract)?;
        } else {
            plan.add_command(args);
        }
        if let Some(event) = args.event {
            let spec = event_spec(event);
            if !spec.is_at(contract) {
                return Err(super::super::missing_event_failure(spec, contract));
            }
        }
        if !args.tool.is_empty() && !plan.hooks.iter().any(|hook| has_tool(hook.hook.event)) {
            let message = "--tool needs an event with a tool, for example --event PreToolUse";
            return Err(CommandError::Usage(message.to_owned()));
        }
        if plan.hooks.is_empty() {
            let event = args.event.map(|event| format!(" on {event}")).unwrap_or_default();
            return Err(CommandError::Usage(format!(
                "there is no command hook to run{event}; give a command behind `--`, or a file with --settings"
            )));
        }
        Ok(plan)
    }

    /// Creates the plan of all hooks of a settings file, plugin or project.
    pub(super) fn from_settings(
        path: &Path,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult<Self> {
        let project = places.files.folder.clone();
        let mut plan = Self { project, hooks: Vec::new(), notes: Vec::new() };
        plan.add_settings(Some(path), None, places, contract)?;
        Ok(plan)
    }

    /// Returns the events of the hooks.
    pub(in crate::commands::contract) fn events(&self) -> impl Iterator<Item = EventName> {
        EventName::ALL
            .into_iter()
            .filter(|event| self.hooks.iter().any(|hook| hook.hook.event == *event))
    }

    /// Adds the command of the command line, for the given event or for those that its script names.
    fn add_command(&mut self, args: &HookTestArgs) {
        let Some(start) = command_start(args, &self.project) else { return };
        let hook = |event| TestedHook {
            event,
            start: start.clone(),
            plugin: None,
            timeout: None,
            blocks_on_failure: false,
        };
        let events = match args.event {
            Some(event) => vec![event],
            None => self.find_events(&hook(EventName::PreToolUse)),
        };
        if args.tool.is_empty() && events.iter().any(|event| has_tool(*event)) {
            let note = "the payloads are calls of many tools; --tool Bash leaves the others out, as a matcher does";
            self.notes.push(note.to_owned());
        }
        self.hooks.extend(events.into_iter().map(|event| PlannedHook {
            hook: hook(event),
            id: String::new(),
            tools: args.tool.clone(),
            is_async: false,
            matcher: None,
            if_tool: None,
        }));
    }

    /// Returns the events that a script names, or PreToolUse.
    fn find_events(&mut self, hook: &TestedHook) -> Vec<EventName> {
        let environment =
            TrialEnvironment { project: self.project.clone(), ..TrialEnvironment::default() };
        let texts = ScriptFacts::read(hook, &environment, &[]).texts;
        let found: Vec<EventName> = texts.iter().flat_map(|text| find_named_events(text)).collect();
        let mut events: Vec<EventName> =
            EventName::ALL.into_iter().filter(|event| found.contains(event)).collect();
        let reason = if events.is_empty() {
            events.push(EventName::PreToolUse);
            "the hook names no event"
        } else {
            "the hook names it"
        };
        let names: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
        let names = names.join(", ");
        self.notes.push(format!("testing {names}, because {reason}; --event chooses another"));
        events
    }

    fn add_settings(
        &mut self,
        path: Option<&Path>,
        event: Option<EventName>,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult {
        let layers = match path {
            None => load_folder_layers(&places.files, contract).layers,
            Some(path) => self.load_path(path, places, contract)?,
        };
        if let Some(place) = find_disabled_hooks(&layers) {
            self.notes.push(format!("the client runs no hooks here: disableAllHooks, {place}"));
        }
        let mut seen = Vec::new();
        let mut others = 0;
        for layer in &layers {
            if layer.state == LayerState::Void {
                let path = layer.path.to_line();
                self.notes
                    .push(format!("the client ignores {path}; `rutter contract lint` says why"));
            }
            for entry in layer.entries.iter().filter(|_| layer.state == LayerState::Read) {
                if event.is_some_and(|event| event != entry.event) {
                    continue;
                }
                let identity = (entry.event, entry.matcher.clone(), entry.dedup_key());
                if seen.contains(&identity) {
                    continue;
                }
                seen.push(identity);
                if entry.handler["type"] == "command" && entry.handler["shell"] != "powershell" {
                    self.add_entry(entry, places, contract);
                } else {
                    others += 1;
                }
            }
        }
        if others > 0 {
            let count = format_count(others, "hook");
            self.notes.push(format!("not run: {count} without a command for a POSIX shell"));
        }
        Ok(())
    }

    /// Loads the hooks of a named file or folder. The project is the one that contains the file.
    fn load_path(
        &mut self,
        path: &Path,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult<Vec<SettingsLayer>> {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let failure = |what: &str| CommandError::Usage(format!("{} {what}", path.to_line()));
        if whole.symlink_metadata().is_err() {
            return Err(failure("does not exist; give a settings file or a folder"));
        }
        let file = HookFile::classify(&whole, places.files.config.as_deref())
            .ok_or_else(|| failure("cannot contain hooks; give a settings file or a folder"))?;
        match file.kind {
            HookFileKind::ProjectFolder => {
                self.project.clone_from(&file.path);
                let files = rutter_check::settings::ClientFiles {
                    folder: file.path,
                    ..rutter_check::settings::ClientFiles::default()
                };
                Ok(load_folder_layers(&files, contract).layers)
            }
            HookFileKind::PluginFolder => Ok(load_plugin_folder(&file.path, contract).layers),
            _ => {
                let folder = whole.ancestors().find(|folder| folder.ends_with(".claude"));
                let is_users = folder == places.files.config.as_deref();
                if let Some(project) = folder.filter(|_| !is_users).and_then(Path::parent) {
                    project.clone_into(&mut self.project);
                }
                Ok(file.load(contract).into_iter().collect())
            }
        }
    }

    fn add_entry(&mut self, entry: &HookEntry, places: &ClientEnvironment, contract: Contract) {
        let handler = &entry.handler;
        let line = one_line(handler["command"].as_str().unwrap_or_default());
        let mut if_tool = None;
        if let Some(text) = handler["if"].as_str() {
            let rule = IfRule::parse(text);
            if rule.find_fault(entry.event, contract).is_some() {
                self.notes.push(format!("not run: the `if` of `{line}` never matches"));
                return;
            }
            if let IfRule::Tool { name, content } = rule {
                if_tool = Some(current_tool_name(&name, contract).to_owned());
                if content.is_some() {
                    self.notes.push(format!("`{line}` runs for all calls of {name}; the client evaluates the rest of its `if`"));
                }
            }
        }
        let matcher = Matcher::parse(entry.matcher.as_deref(), event_spec(entry.event), contract);
        let tools = match matcher.kind() {
            MatcherKind::Names(names) if has_tool(entry.event) => {
                names.iter().map(|name| current_tool_name(name, contract).to_owned()).collect()
            }
            _ => Vec::new(),
        };
        let home = places.files.home.as_deref();
        let text = |value: &Value| {
            entry.expand_variables(value.as_str().unwrap_or_default(), &self.project)
        };
        let command = text(&handler["command"]);
        let start = match handler["args"].as_array() {
            Some(args) => {
                HookStart::Exec { program: command, args: args.iter().map(text).collect() }
            }
            None => HookStart::Shell(expand_home(&command, home)),
        };
        let seconds = handler["timeout"].as_f64().filter(|seconds| *seconds > 0.0);
        let is_set = |key: &str| handler[key] == true;
        self.hooks.push(PlannedHook {
            hook: TestedHook {
                event: entry.event,
                start,
                plugin: entry.plugin.clone(),
                timeout: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                blocks_on_failure: handler["onFailure"] == "block",
            },
            id: hook_id(entry.event.as_str(), handler),
            tools,
            is_async: is_set("async") || is_set("asyncRewake"),
            matcher: Some(matcher),
            if_tool,
        });
    }
}

/// Returns the hook of the command line: one word is a line for a shell, several are a program with arguments.
pub(in crate::commands::contract) fn command_start(
    args: &HookTestArgs,
    project: &Path,
) -> Option<HookStart> {
    // A copy of the project has no neighbours.
    let whole = |command: &String| {
        if command.starts_with("../") {
            format!("{}/{command}", project.to_string_lossy())
        } else {
            command.clone()
        }
    };
    match &args.command[..] {
        [] => None,
        [line] => Some(HookStart::Shell(whole(line))),
        [program, rest @ ..] => {
            Some(HookStart::Exec { program: whole(program), args: rest.to_vec() })
        }
    }
}

/// Replaces the home folder in a shell line, because hooks run with an empty one and the script of a hook may lie in it.
pub(in crate::commands::contract) fn expand_home(line: &str, home: Option<&Path>) -> String {
    let Some(home) = home.and_then(Path::to_str).filter(|home| !home.contains(' ')) else {
        return line.to_owned();
    };
    let line = line.replace("$HOME/", &format!("{home}/")).replace("${HOME}/", &format!("{home}/"));
    let words = line.split(' ').map(|word| match word.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

impl PlannedHook {
    /// Returns the hook with the paths of a copy of the project.
    pub(in crate::commands::contract) fn in_folder(&self, project: &Path, copy: &Path) -> Self {
        let (from, to) = (project.to_string_lossy(), copy.to_string_lossy());
        let replace = |text: &String| {
            if from.len() > 1 {
                text.replace(&format!("{from}/"), &format!("{to}/"))
            } else {
                text.clone()
            }
        };
        let mut hook = self.clone();
        hook.hook.start = match &self.hook.start {
            HookStart::Shell(line) => HookStart::Shell(replace(line)),
            HookStart::Exec { program, args } => HookStart::Exec {
                program: replace(program),
                args: args.iter().map(replace).collect(),
            },
        };
        hook
    }

    /// Returns true if the client runs the hook for a payload. A matcher that only the client can evaluate matches.
    pub(in crate::commands::contract) fn takes(
        &self,
        payload: &TestPayload,
        contract: Contract,
    ) -> bool {
        let spec = event_spec(self.hook.event);
        let text = |key: &str| payload.value[key].as_str().unwrap_or_default();
        if let Some(tool) = &self.if_tool
            && current_tool_name(text("tool_name"), contract) != tool
        {
            return false;
        }
        let (Some(matcher), Some(field)) = (&self.matcher, spec.matcher.field) else { return true };
        let value = text(field);
        let value = match spec.matcher.values {
            MatcherValues::Files(_) => value.rsplit('/').next().unwrap_or(value),
            _ => value,
        };
        matcher.matches(value).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_in_home_are_found() {
        let home = Some(Path::new("/home/ada"));
        assert_eq!(
            expand_home("python3 ~/.claude/x.py $HOME/y", home),
            "python3 /home/ada/.claude/x.py /home/ada/y"
        );
        assert_eq!(expand_home("echo a~/b", home), "echo a~/b");
    }
}
