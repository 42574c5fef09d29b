//! An entry of ours, and how the client would start it.

use std::path::PathBuf;

use rutter_contract::EventName;
use serde_json::Value;

use super::finding::Place;
use super::places::Places;

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
    /// Whether it comes with a checkout, which may be anybody's.
    pub(crate) of_checkout: bool,
}

/// How the client starts an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// A program with arguments.
    Exec { program: String, args: Vec<String> },
    /// A line for a shell, and the word of it that is the program.
    Shell { line: String, word: String },
    /// A line for a shell that starts rutter if there is one, and says nothing if there is none.
    Guarded { line: String },
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
            _ => Start::Guarded { line: line.to_owned() },
        }
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
