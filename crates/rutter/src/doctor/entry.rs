//! An entry of ours, and how the client would start it.

use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use serde_json::Value;

use super::finding::Place;
use super::layers::Whose;
use super::places::Places;
use crate::install::{self, Scope, groups, program_of};

/// An entry under `hooks` that runs rutter.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<String>,
    /// Where the matcher is, or the group.
    pub(crate) matcher_place: Place,
    pub(crate) place: Place,
    pub(crate) handler: Value,
    /// Of a plugin: where it is.
    pub(crate) plugin: Option<PathBuf>,
    /// Whose file it stands in.
    pub(crate) whose: Whose,
}

/// How the client starts an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// A program with arguments.
    Exec { program: String, args: Vec<String> },
    /// A line for a shell, and the word of it that is the program.
    Shell { line: String, word: String },
    /// A line for a shell that starts a program if it is there, and says nothing if it is not.
    Guarded { line: String, program: String },
}

impl Start {
    /// The program, as it is written.
    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Exec { program, .. } | Self::Guarded { program, .. } => program,
            Self::Shell { word, .. } => word,
        }
    }
}

impl Entry {
    pub(crate) fn start(&self, places: &Places) -> Start {
        let text = |value: &Value| self.filled_in(value.as_str().unwrap_or_default(), places);
        let command = text(&self.handler["command"]);
        if let Some(args) = self.handler["args"].as_array() {
            return Start::Exec { program: command, args: args.iter().map(text).collect() };
        }
        let line = command.trim();
        let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
        let word = match quote {
            Some(quote) => line[1..].find(quote).map(|end| &line[..end + 2]),
            None => line.split_whitespace().next(),
        };
        match word {
            Some(word) if word != "if" => {
                Start::Shell { word: word.to_owned(), line: line.to_owned() }
            }
            _ => {
                let program = program_of(&self.handler).unwrap_or(super::NAME);
                Start::Guarded { program: self.filled_in(program, places), line: command }
            }
        }
    }

    /// Whether it comes with a checkout, which may be anybody's: a clone can have any of these files.
    pub(crate) const fn is_of_checkout(&self) -> bool {
        matches!(self.whose, Whose::Local | Whose::Checkout | Whose::Project)
    }

    /// For whose file the line was written that others get as well, if it is one: to the byte as `rutter init` writes it.
    /// Whatever differs is somebody's own, and may do anything.
    pub(crate) fn shared(&self) -> Option<Scope> {
        let program = program_of(&self.handler)?;
        [Scope::Project, Scope::Plugin].into_iter().find(|scope| {
            let start = install::Start::Shared { program: program.to_owned(), scope: *scope };
            let written = groups(&start).into_iter().next();
            let line = |handler: &Value| handler["command"].clone();
            written.is_some_and(|group| line(&group.value["hooks"][0]) == line(&self.handler))
        })
    }

    /// Whether what it starts is there, as far as a hook that would step back for it looks.
    pub(crate) fn is_there(&self) -> bool {
        let program = Path::new(program_of(&self.handler).unwrap_or_default());
        !program.is_absolute() || program.is_file()
    }

    /// With what the client puts in the place of its variables.
    fn filled_in(&self, text: &str, places: &Places) -> String {
        let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &places.folder.to_string_lossy());
        if let Some(plugin) = &self.plugin {
            text = text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.to_string_lossy());
        }
        text
    }

    /// What the client tells two entries apart by: the same one runs once, however often it is registered.
    pub(crate) fn identity(&self) -> String {
        let part = |key: &str| self.handler.get(key).map(Value::to_string).unwrap_or_default();
        let plugin = self.plugin.as_ref().map(|plugin| plugin.to_string_lossy().into_owned());
        [part("command"), part("args"), part("if"), plugin.unwrap_or_default()].join("\n")
    }
}
