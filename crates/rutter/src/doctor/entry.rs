//! The command with which the client would start an entry that runs rutter.

use std::path::Path;

use rutter_check::settings::HookEntry;
use serde_json::Value;

use super::places::ClientEnvironment;
use crate::install::{self, InstallScope, hook_groups, hook_program};

/// The command with which the client starts an entry.
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

/// Returns the command with which the client starts an entry of ours.
pub(crate) fn launch_command(entry: &HookEntry, places: &ClientEnvironment) -> LaunchCommand {
    let expand = |text: &str| entry.expand_variables(text, &places.files.folder);
    let text = |value: &Value| expand(value.as_str().unwrap_or_default());
    let command = text(&entry.handler["command"]);
    if let Some(args) = entry.handler["args"].as_array() {
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
            let program = hook_program(&entry.handler).unwrap_or(super::PROGRAM_NAME);
            LaunchCommand::Guarded { program: expand(program), line: command }
        }
    }
}

/// Returns the scope of a shared entry: one with the exact command line that `rutter init` writes for a project or a
/// plugin. An entry that differs in any byte was written by hand and may do anything, so it does not count.
pub(crate) fn shared_scope(entry: &HookEntry) -> Option<InstallScope> {
    let program = hook_program(&entry.handler)?;
    [InstallScope::Project, InstallScope::Plugin].into_iter().find(|scope| {
        let start =
            install::ProgramReference::Shared { program: program.to_owned(), scope: *scope };
        let written = hook_groups(&start).into_iter().next();
        let line = |handler: &Value| handler["command"].clone();
        written.is_some_and(|group| line(&group.value["hooks"][0]) == line(&entry.handler))
    })
}

/// Returns true if the program of an entry exists, by the same test that a shared hook makes before it defers to the
/// entry.
pub(crate) fn program_exists(entry: &HookEntry) -> bool {
    let program = Path::new(hook_program(&entry.handler).unwrap_or_default());
    !program.is_absolute() || program.is_file()
}
