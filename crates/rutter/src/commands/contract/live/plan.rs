//! The plan of a live run: the settings, where each belongs in the sandbox, and the hooks in them.

use std::path::{Path, PathBuf};

use rutter_check::live::CALLABLE_TOOLS;
use rutter_check::matcher::{IfRule, Matcher, MatcherKind, current_tool_name};
use rutter_check::settings::{
    ClientFiles, HookFile, HookFileKind, LayerState, SettingsLayer, SettingsSource,
    find_disabled_hooks, load_folder_layers,
};
use rutter_check::tester::{HookStart, has_tool};
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;
use serde_json::{Map, Value, json};

use super::super::hook_test::plan::command_start;
use crate::cli::live::LiveArgs;
use crate::doctor::ClientEnvironment;
use crate::{CommandError, CommandResult};

/// The settings and hooks of a run.
pub(super) struct LivePlan {
    /// The project folder.
    pub(super) project: PathBuf,
    /// The settings, for their places in the sandbox.
    pub(super) layers: Vec<LiveLayer>,
    /// The hooks, in the order of the settings.
    pub(super) hooks: Vec<LiveHook>,
    /// The setting that disables all hooks.
    pub(super) disabled: Option<String>,
    /// Remarks on what is not tried.
    pub(super) notes: Vec<String>,
}

/// A settings file.
pub(super) struct LiveLayer {
    /// Its place in the sandbox.
    pub(super) place: LayerPlace,
    /// Its path, for reports.
    pub(super) path: String,
    /// Its content.
    pub(super) content: LayerContent,
}

/// The content of a settings file.
pub(super) enum LayerContent {
    /// A JSON object.
    Settings(Value),
    /// A text that the client cannot read.
    Text(String),
}

/// The place of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerPlace {
    Project,
    Local,
    User,
}

/// A command hook of the settings.
#[derive(Debug, Clone)]
pub(super) struct LiveHook {
    pub(super) event: EventName,
    /// The matcher as written.
    pub(super) matcher_text: Option<String>,
    pub(super) matcher: Matcher,
    /// The entry as written.
    pub(super) handler: Value,
    /// The place of the entry, for reports.
    pub(super) place: String,
    /// True if the client ignores the file.
    pub(super) is_void: bool,
}

impl LivePlan {
    /// Creates the plan of a command line.
    pub(super) fn create(
        args: &LiveArgs,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult<Self> {
        let mut plan = Self {
            project: places.files.folder.clone(),
            layers: Vec::new(),
            hooks: Vec::new(),
            disabled: None,
            notes: Vec::new(),
        };
        if args.command.is_empty() {
            let layers = plan.load_layers(args, places, contract)?;
            plan.disabled = find_disabled_hooks(&layers).map(|place| place.to_string());
            for layer in &layers {
                plan.add_layer(layer, args, contract)?;
            }
        } else {
            plan.add_command(args, contract);
        }
        if plan.hooks.is_empty() {
            let message = "there is no command hook to try; give a command behind `--`, or a file with --settings";
            return Err(CommandError::Usage(message.to_owned()));
        }
        Ok(plan)
    }

    fn load_layers(
        &mut self,
        args: &LiveArgs,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult<Vec<SettingsLayer>> {
        let Some(path) = &args.settings else {
            return Ok(load_folder_layers(&places.files, contract).layers);
        };
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let failure = |what: &str| CommandError::Usage(format!("{} {what}", path.to_line()));
        if whole.symlink_metadata().is_err() {
            return Err(failure("does not exist; give a settings file or a folder"));
        }
        let file = HookFile::classify(&whole, places.files.config.as_deref());
        match file {
            Some(file) if file.kind == HookFileKind::ProjectFolder => {
                self.project.clone_from(&file.path);
                let files = ClientFiles { folder: file.path, ..ClientFiles::default() };
                Ok(load_folder_layers(&files, contract).layers)
            }
            Some(file)
                if matches!(file.kind, HookFileKind::Settings(_) | HookFileKind::UnknownJson) =>
            {
                let folder = whole.ancestors().find(|folder| folder.ends_with(".claude"));
                let is_users = folder == places.files.config.as_deref();
                if let Some(project) = folder.filter(|_| !is_users).and_then(Path::parent) {
                    project.clone_into(&mut self.project);
                }
                Ok(file.load(contract).into_iter().collect())
            }
            _ => Err(failure("is no settings file; give a settings file or a project folder")),
        }
    }

    fn add_layer(
        &mut self,
        layer: &SettingsLayer,
        args: &LiveArgs,
        contract: Contract,
    ) -> CommandResult {
        if matches!(layer.state, LayerState::Absent | LayerState::Blank) {
            return Ok(());
        }
        let place = match layer.whose {
            SettingsSource::Project => LayerPlace::Project,
            SettingsSource::Local => LayerPlace::Local,
            SettingsSource::User => LayerPlace::User,
            SettingsSource::Managed => {
                return Err(CommandError::Refused(format!(
                    "{} rules every client on this machine, so no run can be kept from its settings; use `rutter contract test`",
                    layer.path.to_line()
                )));
            }
            _ => {
                if !layer.entries.is_empty() {
                    let (kind, path) = (layer.whose.as_str(), layer.path.to_line());
                    self.notes.push(format!("not run: {kind} hooks, {path}"));
                }
                return Ok(());
            }
        };
        let text = layer.document.as_ref().map(|document| document.text.as_str());
        let text = match text {
            Some(text) => text.to_owned(),
            None => std::fs::read_to_string(&layer.path).unwrap_or_default(),
        };
        let content = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(settings @ Value::Object(_)) => LayerContent::Settings(settings),
            _ => LayerContent::Text(text),
        };
        let path = layer.path.to_line();
        self.layers.push(LiveLayer { place, path, content });
        for entry in &layer.entries {
            let is_wanted = args.event.is_empty() || args.event.contains(&entry.event);
            if is_wanted
                && entry.handler["type"] == "command"
                && entry.handler["shell"] != "powershell"
            {
                let spec = event_spec(entry.event);
                self.hooks.push(LiveHook {
                    event: entry.event,
                    matcher_text: entry.matcher.clone(),
                    matcher: Matcher::parse(entry.matcher.as_deref(), spec, contract),
                    handler: entry.handler.clone(),
                    place: entry.place.to_string(),
                    is_void: layer.state == LayerState::Void,
                });
            }
        }
        Ok(())
    }

    /// Adds the command of the command line as settings of the project.
    fn add_command(&mut self, args: &LiveArgs, contract: Contract) {
        let Some(start) = command_start(&args.to_test_args(), &self.project) else { return };
        let handler = match start {
            HookStart::Shell(line) => json!({ "type": "command", "command": line }),
            HookStart::Exec { program, args } => {
                json!({ "type": "command", "command": program, "args": args })
            }
        };
        let mut events = Map::new();
        for event in &args.event {
            let matcher = args.tool.join("|");
            let mut group = json!({ "hooks": [handler] });
            let is_matched = has_tool(*event) && !matcher.is_empty();
            if is_matched {
                group["matcher"] = json!(matcher);
            }
            let matcher_text = is_matched.then_some(matcher);
            events.insert(event.as_str().to_owned(), json!([group]));
            self.hooks.push(LiveHook {
                event: *event,
                matcher: Matcher::parse(matcher_text.as_deref(), event_spec(*event), contract),
                matcher_text,
                handler: handler.clone(),
                place: "the command line".to_owned(),
                is_void: false,
            });
        }
        let content = LayerContent::Settings(json!({ "hooks": events }));
        let path = "the command line".to_owned();
        self.layers.push(LiveLayer { place: LayerPlace::Project, path, content });
    }

    /// Returns the starts of the hooks, for the question to the user.
    pub(super) fn starts(&self) -> Vec<HookStart> {
        self.hooks.iter().map(LiveHook::start).collect()
    }

    /// Returns the events of the hooks that the client has.
    pub(super) fn events(&self) -> Vec<EventName> {
        let has = |event: &EventName| self.hooks.iter().any(|hook| hook.event == *event);
        EventName::ALL.into_iter().filter(has).collect()
    }

    /// Returns the tools to call for the hooks of some events: those that matchers and `if` rules name, and for each other
    /// matcher the first one that it matches.
    pub(super) fn tools(
        &self,
        events: &[EventName],
        extra: &[String],
        contract: Contract,
    ) -> Vec<String> {
        let mut tools: Vec<String> = Vec::new();
        let mut add = |tool: &str| {
            if !tools.iter().any(|known| known == tool) {
                tools.push(tool.to_owned());
            }
        };
        for hook in self.hooks.iter().filter(|hook| events.contains(&hook.event)) {
            if !has_tool(hook.event) && hook.event != EventName::PostToolBatch {
                continue;
            }
            let by_if = match hook.handler["if"].as_str().map(IfRule::parse) {
                Some(IfRule::Tool { name, .. }) => {
                    Some(current_tool_name(&name, contract).to_owned())
                }
                _ => None,
            };
            match (by_if, hook.matcher.kind()) {
                (Some(tool), _) => add(&tool),
                (None, MatcherKind::Names(names)) => {
                    for name in names {
                        add(current_tool_name(name, contract));
                    }
                }
                _ => {
                    let matched = |tool: &&&str| hook.matcher.matches(tool) == Some(true);
                    CALLABLE_TOOLS.iter().filter(matched).take(1).for_each(|tool| add(tool));
                }
            }
        }
        for tool in extra {
            add(tool);
        }
        tools
    }
}

impl LiveHook {
    /// Returns the start of the hook as written.
    pub(super) fn start(&self) -> HookStart {
        start_of(&self.handler)
    }
}

/// Returns the start of an entry as written.
pub(super) fn start_of(handler: &Value) -> HookStart {
    let command = handler["command"].as_str().unwrap_or_default().to_owned();
    match handler["args"].as_array() {
        None => HookStart::Shell(command),
        Some(args) => {
            let args = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            HookStart::Exec { program: command, args }
        }
    }
}
