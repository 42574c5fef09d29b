//! A hook entry that runs rutter, and the way in which the client would start it.

use std::path::{Path, PathBuf};

use rutter_check::settings::FileLocation;
use rutter_contract::EventName;
use serde_json::Value;

use super::layers::SettingsSource;
use super::places::ClientEnvironment;
use crate::install::{self, InstallScope, hook_groups, program_of};

/// An entry under `hooks` that runs rutter.
#[derive(Debug, Clone)]
pub(crate) struct HookEntry {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<String>,
    /// Position of the matcher, or of the group if it has no matcher.
    pub(crate) matcher_place: FileLocation,
    pub(crate) place: FileLocation,
    pub(crate) handler: Value,
    /// Folder of the plugin that contains the entry. None for settings.
    pub(crate) plugin: Option<PathBuf>,
    /// The kind of settings file that contains the entry.
    pub(crate) whose: SettingsSource,
}

/// The way in which the client starts an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaunchCommand {
    /// A program with arguments.
    Exec { program: String, args: Vec<String> },
    /// A shell command line, and the word of it that is the program.
    Shell { line: String, word: String },
    /// A shell command line that starts a program if it exists, and otherwise does nothing.
    Guarded { line: String, program: String },
}

impl LaunchCommand {
    /// Returns the program as it is written in the entry.
    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Exec { program, .. } | Self::Guarded { program, .. } => program,
            Self::Shell { word, .. } => word,
        }
    }
}

impl HookEntry {
    pub(crate) fn launch_command(&self, places: &ClientEnvironment) -> LaunchCommand {
        let text =
            |value: &Value| self.expand_variables(value.as_str().unwrap_or_default(), places);
        let command = text(&self.handler["command"]);
        if let Some(args) = self.handler["args"].as_array() {
            return LaunchCommand::Exec { program: command, args: args.iter().map(text).collect() };
        }
        let line = command.trim();
        let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
        let word = match quote {
            Some(quote) => line[1..].find(quote).map(|end| &line[..end + 2]),
            None => line.split_whitespace().next(),
        };
        match word {
            Some(word) if word != "if" => {
                LaunchCommand::Shell { word: word.to_owned(), line: line.to_owned() }
            }
            _ => {
                let program = program_of(&self.handler).unwrap_or(super::PROGRAM_NAME);
                LaunchCommand::Guarded {
                    program: self.expand_variables(program, places),
                    line: command,
                }
            }
        }
    }

    /// Returns true if the entry may come from a checkout. A clone of a repository can contain any of these files.
    pub(crate) const fn comes_from_checkout(&self) -> bool {
        matches!(
            self.whose,
            SettingsSource::Local | SettingsSource::Checkout | SettingsSource::Project
        )
    }

    /// Returns the scope of a shared entry: one with the exact command line that `rutter init` writes for a project or
    /// a plugin. An entry that differs in any byte was written by hand and may do anything, so it does not count.
    pub(crate) fn shared_scope(&self) -> Option<InstallScope> {
        let program = program_of(&self.handler)?;
        [InstallScope::Project, InstallScope::Plugin].into_iter().find(|scope| {
            let start =
                install::ProgramReference::Shared { program: program.to_owned(), scope: *scope };
            let written = hook_groups(&start).into_iter().next();
            let line = |handler: &Value| handler["command"].clone();
            written.is_some_and(|group| line(&group.value["hooks"][0]) == line(&self.handler))
        })
    }

    /// Returns true if the program of the entry exists, by the same test that a shared hook makes before it defers to
    /// the entry.
    pub(crate) fn program_exists(&self) -> bool {
        let program = Path::new(program_of(&self.handler).unwrap_or_default());
        !program.is_absolute() || program.is_file()
    }

    /// Expands the client's variables in a text.
    fn expand_variables(&self, text: &str, places: &ClientEnvironment) -> String {
        let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &places.folder.to_string_lossy());
        if let Some(plugin) = &self.plugin {
            text = text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.to_string_lossy());
        }
        text
    }

    /// Returns the key by which the client deduplicates entries: equal entries run once, even if registered several
    /// times.
    pub(crate) fn dedup_key(&self) -> String {
        let part = |key: &str| self.handler.get(key).map(Value::to_string).unwrap_or_default();
        let plugin = self.plugin.as_ref().map(|plugin| plugin.to_string_lossy().into_owned());
        [part("command"), part("args"), part("if"), plugin.unwrap_or_default()].join("\n")
    }
}
