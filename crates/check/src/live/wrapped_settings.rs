//! Settings in which a recorder runs in place of each command hook.
//!
//! Everything else of a hook stays as it is: its matcher, its `if`, its time limit and the form of its start. Entries that
//! the client takes for duplicates stay duplicates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_contract::EventName;
use serde_json::{Map, Value, json};

use super::hook::shell_quote;
use crate::tester::{HookStart, TestedHook};

/// The settings that a copy keeps. All others are left out: they could point the client to another address, run programs
/// or load plugins.
const KEPT_KEYS: [&str; 7] = [
    "$schema",
    "hooks",
    "permissions",
    "disableAllHooks",
    "allowManagedHooksOnly",
    "outputStyle",
    "includeCoAuthoredBy",
];
/// The types of hooks that contact an address, a server or a model.
const FOREIGN_TYPES: [&str; 4] = ["http", "mcp_tool", "prompt", "agent"];

/// A command hook behind a recorder.
#[derive(Debug, Clone, PartialEq)]
pub struct WrappedHook {
    /// The event.
    pub event: EventName,
    /// The entry as written.
    pub handler: Value,
    /// The start of the hook, with the paths of the sandbox.
    pub start: HookStart,
    /// The command line of the recorder, as the client reports it.
    pub recorder_line: String,
    /// The folder of the recorded runs.
    pub folder: PathBuf,
}

impl WrappedHook {
    /// Returns the hook as a test without a client runs it.
    pub fn tested_hook(&self) -> TestedHook {
        let seconds = self.handler["timeout"].as_f64().filter(|seconds| *seconds > 0.0);
        TestedHook {
            event: self.event,
            start: self.start.clone(),
            plugin: None,
            timeout: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            blocks_on_failure: self.handler["onFailure"] == "block",
        }
    }
}

/// The parts of settings that a copy lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutSettings {
    /// Keys that could point the client elsewhere, or that matter only outside a test.
    pub keys: Vec<String>,
    /// Hooks of other types than `command`, by their type.
    pub hooks: Vec<String>,
}

/// Puts a recorder in place of each command hook.
#[derive(Debug)]
pub struct HookWrapper {
    program: PathBuf,
    words: Vec<String>,
    folder: PathBuf,
    hooks: Vec<WrappedHook>,
}

impl HookWrapper {
    /// Creates a wrapper. A recorder is `program`, started with `words`, a folder, `--shell` or `--exec`, and the hook. The
    /// folders of the hooks are below `folder`.
    pub fn new(program: PathBuf, words: &[&str], folder: PathBuf) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self { program, words, folder, hooks: Vec::new() }
    }

    /// Returns the wrapped hooks. Entries that the client takes for duplicates are one hook.
    pub fn hooks(&self) -> &[WrappedHook] {
        &self.hooks
    }

    /// Returns the hook with an entry.
    pub fn find(&self, event: EventName, handler: &Value) -> Option<usize> {
        self.hooks.iter().position(|hook| {
            let is_same = |key: &str| hook.handler.get(key) == handler.get(key);
            hook.event == event && ["command", "args", "if"].into_iter().all(is_same)
        })
    }

    /// Returns a copy of settings with recorders. `adapt` changes the paths of a text; it is told whether the text is a line
    /// for a shell. Without hooks of `only` nothing of `hooks` remains.
    pub fn wrap(
        &mut self,
        settings: &Value,
        only: Option<EventName>,
        adapt: &dyn Fn(&str, bool) -> String,
    ) -> (Value, LeftOutSettings) {
        let mut left_out = LeftOutSettings::default();
        let Some(fields) = settings.as_object() else { return (settings.clone(), left_out) };
        let mut copy = Map::new();
        for (key, value) in fields {
            if !KEPT_KEYS.contains(&key.as_str()) {
                left_out.keys.push(key.clone());
            } else if key == "hooks" {
                copy.insert(key.clone(), self.wrap_events(value, only, adapt, &mut left_out));
            } else {
                copy.insert(key.clone(), value.clone());
            }
        }
        (Value::Object(copy), left_out)
    }

    fn wrap_events(
        &mut self,
        events: &Value,
        only: Option<EventName>,
        adapt: &dyn Fn(&str, bool) -> String,
        left_out: &mut LeftOutSettings,
    ) -> Value {
        let mut events = events.clone();
        let Some(fields) = events.as_object_mut() else { return events };
        if let Some(only) = only {
            fields.retain(|name, _| name == only.as_str());
        }
        for (name, groups) in fields.iter_mut() {
            let Ok(event) = name.parse::<EventName>() else { continue };
            for group in groups.as_array_mut().into_iter().flatten() {
                let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
                    continue;
                };
                handlers.retain(|handler| {
                    let kind = handler["type"].as_str().unwrap_or_default();
                    let is_foreign =
                        FOREIGN_TYPES.contains(&kind) || handler["shell"] == "powershell";
                    if is_foreign {
                        left_out.hooks.push(format!("{event} ({kind})"));
                    }
                    !is_foreign
                });
                for handler in handlers {
                    self.wrap_handler(event, handler, adapt);
                }
            }
        }
        events
    }

    /// Changes an entry so that it starts the recorder. A malformed entry stays as it is.
    fn wrap_handler(
        &mut self,
        event: EventName,
        handler: &mut Value,
        adapt: &dyn Fn(&str, bool) -> String,
    ) {
        let Some(command) = handler["command"].as_str() else { return };
        if handler["type"] != "command" {
            return;
        }
        let start = match handler.get("args") {
            None => HookStart::Shell(adapt(command, true)),
            Some(Value::Array(args)) if args.iter().all(Value::is_string) => HookStart::Exec {
                program: adapt(command, false),
                args: args.iter().filter_map(Value::as_str).map(|arg| adapt(arg, false)).collect(),
            },
            Some(_) => return,
        };
        let known = self.find(event, handler);
        let number = known.unwrap_or_else(|| {
            let folder = self.folder.join(self.hooks.len().to_string());
            let recorder_line = String::new();
            let (handler, start) = (handler.clone(), start.clone());
            self.hooks.push(WrappedHook { event, handler, start, recorder_line, folder });
            self.hooks.len() - 1
        });
        let folder = self.hooks[number].folder.clone();
        self.hooks[number].recorder_line = match &start {
            HookStart::Shell(line) => {
                let words = self.words.join(" ");
                let line = shell_quote(Path::new(line));
                let command = format!(
                    "{} {words} {} --shell {line}",
                    shell_quote(&self.program),
                    shell_quote(&folder)
                );
                handler["command"] = json!(command);
                command
            }
            HookStart::Exec { program, args } => {
                let folder = folder.to_string_lossy().into_owned();
                let own = self.words.iter().cloned().chain([folder, "--exec".to_owned()]);
                let all: Vec<String> =
                    own.chain([program.clone()]).chain(args.iter().cloned()).collect();
                handler["command"] = json!(self.program);
                handler["args"] = json!(all);
                format!("{} {}", self.program.display(), all.join(" "))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_entries_stay() {
        let mut wrapper = HookWrapper::new("/bin/rec order".into(), &["record"], "/tmp/r".into());
        let settings = json!({
            "env": { "ANTHROPIC_BASE_URL": "http://elsewhere" },
            "apiKeyHelper": "cat key",
            "permissions": { "deny": ["Read"] },
            "hooks": {
                "PreToolUse": [
                    { "matcher": "Bash", "hooks": [
                        { "type": "command", "command": "it's ~/x", "timeout": 3, "if": "Bash(ls)" },
                        { "type": "http", "url": "http://elsewhere" },
                        { "type": "command", "command": "${CLAUDE_PROJECT_DIR}/y", "args": ["a b"] },
                    ] },
                    { "hooks": [{ "type": "command", "command": "it's ~/x", "if": "Bash(ls)" }, { "command": 1 }] },
                ],
                "Stop": [{ "hooks": [{ "type": "command", "command": "it's ~/x" }] }],
            },
        });
        let (copy, left_out) =
            wrapper.wrap(&settings, None, &|text, _| text.replace("~/", "/home/ada/"));
        assert_eq!(left_out.keys, ["env", "apiKeyHelper"]);
        assert_eq!(left_out.hooks, ["PreToolUse (http)"]);
        let first = &copy["hooks"]["PreToolUse"][0];
        assert_eq!(first["matcher"], "Bash");
        let line = r"'/bin/rec order' record '/tmp/r/0' --shell 'it'\''s /home/ada/x'";
        assert_eq!(
            first["hooks"][0],
            json!({ "type": "command", "command": line, "timeout": 3, "if": "Bash(ls)" })
        );
        assert_eq!(
            first["hooks"][1]["args"],
            json!(["record", "/tmp/r/1", "--exec", "${CLAUDE_PROJECT_DIR}/y", "a b"])
        );
        let again = &copy["hooks"]["PreToolUse"][1]["hooks"];
        assert_eq!(again[0]["command"], line, "a duplicate stays one");
        assert_eq!(again[1], json!({ "command": 1 }));
        assert_eq!(wrapper.hooks().len(), 3, "another event has its own recorder");
        let (copy, _) = wrapper.wrap(&settings, Some(EventName::Stop), &|text, _| text.to_owned());
        assert_eq!(copy["hooks"].as_object().unwrap().len(), 1);
    }
}
