//! What is wrong with a file, where, and what to type.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Clean;
use rutter_redact::choice;

/// How much of a name from a file a message can bear.
const NAME: usize = 60;

choice! {
    /// What kind of mistake it is.
    Mistake, "mistake" {
        /// The file cannot be read; it counts as absent.
        Unreadable = "unreadable",
        /// The file is no TOML; it counts as absent.
        Syntax = "syntax",
        /// There is no such key.
        UnknownKey = "unknown-key",
        /// The key was one once, or is one elsewhere, and means nothing here.
        Replaced = "replaced",
        /// The value cannot be; what was set before stays.
        WrongValue = "wrong-value",
        /// The file wants more than one that is not trusted may have.
        NotTrusted = "not-trusted",
        /// A project cannot decide this.
        UserOnly = "user-only",
    }
}

/// A place in a file. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in it.
    pub column: u32,
}

impl Position {
    /// The place of a byte.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
        Self { line: number(line), column: number(column) }
    }
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// In which file.
    pub file: PathBuf,
    /// Where in it.
    pub position: Option<Position>,
    /// What kind of mistake it is.
    pub mistake: Mistake,
    /// The key, as it was written.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to type.
    pub advice: String,
}

impl Finding {
    /// About a file as a whole.
    pub(super) fn whole(file: &Path, mistake: Mistake, what: &str, advice: &str) -> Self {
        Self {
            file: file.to_owned(),
            position: None,
            mistake,
            key: None,
            what: what.to_owned(),
            advice: advice.to_owned(),
        }
    }

    /// The file, and where in it.
    pub fn place(&self) -> String {
        let file = self.file.display();
        match self.position {
            Some(Position { line, column }) => format!("{file}:{line}:{column}"),
            None => file.to_string(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place(), self.what, self.advice)
    }
}

/// A name from a file, as a message can bear it.
pub(super) fn shown(name: &str) -> String {
    let mut shown: String = Clean::new(name).replace('\n', " ");
    if let Some((end, _)) = shown.char_indices().nth(NAME) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}
