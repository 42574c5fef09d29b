//! Facts about a hook that are read in its script: inputs that the client never sends, and the text to look for programs.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::payloads::has_tool;
use super::trial::{HookStart, TestedHook, TrialEnvironment};
use crate::adapt::expects_former_tool_name;
use crate::script::{ScriptContext, ScriptLanguage, ScriptReport, read_script};
use crate::settings::read_regular_file;

/// Largest script that is read.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// A key of the payload that a hook reads and the client never sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadInput {
    /// The key.
    pub key: String,
    /// The path that was probably meant.
    pub meant: Option<&'static str>,
}

/// What was read in the command and the scripts of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFacts {
    /// The keys that the client never sends.
    pub dead_inputs: Vec<DeadInput>,
    /// The texts: the command, and the scripts that it names.
    pub texts: Vec<String>,
    /// The scripts that the command names.
    pub scripts: Vec<PathBuf>,
}

impl ScriptFacts {
    /// Reads the command of a hook, and the scripts whose paths it names. `tools` are the tools that its matcher names.
    pub fn read(hook: &TestedHook, environment: &TrialEnvironment, tools: &[String]) -> Self {
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let events = [hook.event];
        let context = ScriptContext { events: &events, tools: &tools, variables: &[] };
        let mut facts = Self { texts: vec![hook.start.to_line()], ..Self::default() };
        if let HookStart::Shell(line) = &hook.start {
            facts.add_report(&read_script(line, ScriptLanguage::Command, &context));
        }
        for word in words(&hook.start) {
            let path = environment.project.join(expand_path(&word, hook, environment));
            let bytes = read_regular_file(&path, MAX_SCRIPT_BYTES);
            let Some(text) = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
                continue;
            };
            let language = ScriptLanguage::detect(Path::new(&word), &text);
            if let Some(language) = language {
                facts.add_report(&read_script(&text, language, &context));
            }
            if !text.contains('\0') {
                facts.texts.push(text);
                facts.scripts.push(path);
            }
        }
        let is_dead = |text: &String| has_tool(hook.event) && expects_former_tool_name(text);
        if facts.texts.iter().any(is_dead) {
            let meant = Some("tool_name == \"Agent\"");
            facts.dead_inputs.push(DeadInput { key: "tool_name == \"Task\"".to_owned(), meant });
        }
        facts
    }

    fn add_report(&mut self, report: &ScriptReport) {
        for unsent in &report.unsent_keys {
            let dead = DeadInput { key: unsent.key.clone(), meant: unsent.meant };
            if !self.dead_inputs.contains(&dead) {
                self.dead_inputs.push(dead);
            }
        }
    }
}

/// Returns the words of a start that may be paths.
fn words(start: &HookStart) -> Vec<String> {
    let all: Vec<String> = match start {
        HookStart::Shell(line) => {
            let line = line.replace(['"', '\''], "");
            line.split([' ', '\t', '\n', ';', '&', '|', '(', ')']).map(str::to_owned).collect()
        }
        HookStart::Exec { program, args } => {
            std::iter::once(program).chain(args).cloned().collect()
        }
    };
    all.into_iter().filter(|word| word.contains(['/', '.']) && !word.starts_with('-')).collect()
}

fn expand_path(word: &str, hook: &TestedHook, environment: &TrialEnvironment) -> String {
    let project = environment.project.to_string_lossy();
    let word = word
        .replace("${CLAUDE_PROJECT_DIR}", &project)
        .replace("$CLAUDE_PROJECT_DIR", &project)
        .replace("${CLAUDE_PROJECT_DIR:-.}", &project);
    match &hook.plugin {
        None => word,
        Some(plugin) => {
            let plugin = plugin.to_string_lossy();
            word.replace("${CLAUDE_PLUGIN_ROOT}", &plugin).replace("$CLAUDE_PLUGIN_ROOT", &plugin)
        }
    }
}
