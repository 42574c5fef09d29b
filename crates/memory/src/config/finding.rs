//! Mistakes in configuration files: the problem, the place, and advice.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Clean;
use crate::quote::PathLine as _;
use rutter_redact::choice;

/// Maximum number of characters of a name that a message quotes.
const MAX_NAME_CHARS: usize = 60;

choice! {
    /// The kind of a mistake.
    ConfigMistake, "mistake" {
        /// The file cannot be read; it counts as absent.
        Unreadable = "unreadable",
        /// The file is not valid TOML; it counts as absent.
        Syntax = "syntax",
        /// The key does not exist.
        UnknownKey = "unknown-key",
        /// The key was valid once, or is valid elsewhere, and has no effect here.
        Replaced = "replaced",
        /// The value is invalid; the earlier value stays.
        WrongValue = "wrong-value",
        /// The file sets more than an untrusted file may.
        NotTrusted = "not-trusted",
        /// A project cannot set this key.
        UserOnly = "user-only",
    }
}

/// A position in a file. Both numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FilePosition {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl FilePosition {
    /// Returns the position of a byte.
    pub(super) fn at_byte(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
        Self { line: number(line), column: number(column) }
    }
}

/// A mistake in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigFinding {
    /// The file.
    pub file: PathBuf,
    /// The position in the file.
    pub position: Option<FilePosition>,
    /// The kind of the mistake.
    pub mistake: ConfigMistake,
    /// The key as written in the file.
    pub key: Option<String>,
    /// The problem.
    pub what: String,
    /// The solution, with the text to type.
    pub advice: String,
}

impl ConfigFinding {
    /// Creates a finding about a whole file.
    pub(super) fn for_file(file: &Path, mistake: ConfigMistake, what: &str, advice: &str) -> Self {
        Self {
            file: file.to_owned(),
            position: None,
            mistake,
            key: None,
            what: what.to_owned(),
            advice: advice.to_owned(),
        }
    }

    /// Returns the file with line and column.
    pub fn location(&self) -> String {
        let file = self.file.to_line();
        match self.position {
            Some(FilePosition { line, column }) => format!("{file}:{line}:{column}"),
            None => file,
        }
    }
}

impl fmt::Display for ConfigFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.location(), self.what, self.advice)
    }
}

/// Shortens and redacts a name from a file for a message.
pub(super) fn shorten_name(name: &str) -> String {
    let mut shown: String = Clean::new(name).replace('\n', " ");
    if let Some((end, _)) = shown.char_indices().nth(MAX_NAME_CHARS) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}
