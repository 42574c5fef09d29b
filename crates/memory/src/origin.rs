//! The origin of a row: its writer, its checkout, and the import that added it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::quote::{escape_quotation, format_age, truncate_start};
use crate::{Clean, Id, Time};
use rutter_redact::choice;

choice! {
    /// The writer of a row.
    Writer, "writer" {
        /// A hook that captured a run of tests, a build or a linter.
        Run = "captured run",
        /// An agent.
        Agent = "agent",
        /// A person who typed it.
        Person = "person",
        /// Rutter, which derived it from several lessons.
        Lessons = "lessons",
    }
}

/// The origin of a row, in the form of exports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The writer; None if an imported file does not name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<Writer>,
    /// The main folder of the repository, which its worktrees share, or the folder without git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Clean>,
    /// The client's name for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Clean>,
    /// The agent in that session; None for the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Clean>,
    /// The import that added the row. It is specific to this machine and not exported.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportBatch>,
}

/// A file that was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportBatch {
    /// Id of the import.
    pub id: Id,
    /// The name of the file.
    pub file: Clean,
    /// Time of the import.
    pub at: Time,
    /// True if the user has accepted its rows as their own.
    pub is_accepted: bool,
}

impl Origin {
    /// Returns the origin of a row that a person writes in a checkout.
    pub fn person(checkout: Option<Clean>) -> Self {
        Self { writer: Some(Writer::Person), checkout, ..Self::default() }
    }

    /// Returns true if the row came from a file and was not accepted.
    pub fn is_unconfirmed_import(&self) -> bool {
        self.import.as_ref().is_some_and(|batch| !batch.is_accepted)
    }

    /// Describes the origin in one line, without text that could pass for markup.
    pub fn describe(&self, now: Time) -> String {
        let mut text = match self.writer {
            Some(writer) => writer.to_string(),
            None => "writer unknown".to_owned(),
        };
        if let Some(checkout) = &self.checkout {
            let _ = write!(text, " in {}", truncate_start(&escape_quotation(checkout), 80));
        }
        if let Some(session) = &self.session {
            let _ = write!(text, ", session {}", truncate_start(&escape_quotation(session), 40));
        }
        if let Some(agent) = &self.agent {
            let _ = write!(text, ", subagent {}", truncate_start(&escape_quotation(agent), 40));
        }
        match &self.import {
            None => text,
            Some(batch) => {
                let file = truncate_start(&escape_quotation(&batch.file), 80);
                let state = if batch.is_accepted { "accepted" } else { "not confirmed here" };
                format!(
                    "imported from {file} {} ({state}); there: {text}",
                    format_age(batch.at, now)
                )
            }
        }
    }
}

/// The reason for marking a row as unconfirmed when it is shown to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnconfirmedReason {
    /// The row was imported and not accepted.
    Imported,
    /// The row was recorded in another checkout of the project, and no run in this checkout has confirmed it.
    OtherCheckout,
}

impl UnconfirmedReason {
    /// Returns the text with the mark appended.
    pub fn append_mark(self, text: &str) -> String {
        format!("{text} {}", self.mark_text())
    }

    /// Returns the mark that follows a row.
    pub const fn mark_text(self) -> &'static str {
        match self {
            Self::Imported => "(imported, not confirmed here)",
            Self::OtherCheckout => "(from another checkout, not confirmed here)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn origins_are_described_in_one_line() {
        let clean = |text: &str| Some(Clean::new(text));
        let run = Origin {
            writer: Some(Writer::Run),
            checkout: clean("/home/ada/shop"),
            session: clean("s-1"),
            agent: None,
            import: None,
        };
        assert_eq!(run.describe(at(0)), "captured run in /home/ada/shop, session s-1");
        let batch = ImportBatch {
            id: Id::new(at(0)),
            file: Clean::new("a\n.jsonl"),
            at: at(0),
            is_accepted: false,
        };
        let imported = Origin { import: Some(batch), ..Origin::person(None) };
        let text = imported.describe(at(7_200));
        assert!(text.starts_with("imported from a.jsonl "), "{text}");
        assert!(text.ends_with(" 2 hours ago (not confirmed here); there: person"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
}
