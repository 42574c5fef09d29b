//! Changes made while a test was failing: the lines of an edit, a command that may have changed files, or another way
//! to run the failing command.

use serde::{Deserialize, Serialize};

use crate::Time;
use rutter_redact::Clean;
use rutter_redact::choice;

mod command;
mod hunk;
mod invocation;
mod patch;
mod section;

pub use command::{GitEffect, git_effect};
pub use command::{changes_before_run, is_repeatable, may_change_state, named_files};
pub use hunk::{Hunk, net_changes};
pub use hunk::{changes_in_tree, is_trivial_file};
pub use invocation::{InvocationDifference, invocation_difference};
pub use patch::{PatchPart, PatchedFile, redact_patch};

/// Maximum size of a stored change.
pub const MAX_CHANGE_BYTES: usize = 8 * 1024;
/// Maximum size of a change that is read. More would not fit into the stored change.
const MAX_READ_BYTES: usize = 64 * 1024;
/// Maximum length of a stored command.
const MAX_COMMAND_CHARS: usize = 300;

choice! {
    /// The kind of a change.
    ChangeKind, "sort of change" {
        /// Lines of a file.
        Edit = "edit",
        /// A command that may have changed anything.
        Command = "command",
        /// A run of the failing command in another way: with a variable, a flag or a wrapper.
        Invocation = "invocation",
    }
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The kind of the change. Stored and exported changes have it under its earlier name.
    #[serde(rename = "sort")]
    pub kind: ChangeKind,
    /// The file, relative to the root of the checkout; or the command.
    pub name: Clean,
    /// Removed (`-`) and added (`+`) lines, each hunk below its `@@` line; empty for a command.
    pub patch: Clean,
    /// The time of the change.
    pub at: Time,
    /// The command that made the edit; None for an edit by a tool of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<Clean>,
    /// The reason why it counts as part of a fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Clean>,
    /// True if the evidence is good enough to call it the fix.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_certain: bool,
}

impl Change {
    fn new(kind: ChangeKind, name: Clean, patch: Clean, at: Time) -> Self {
        Self { kind, name, patch, at, made_by: None, reason: None, is_certain: false }
    }

    /// Builds an edit of a file.
    pub fn from_edit(file: &str, hunks: &[Hunk], at: Time) -> Self {
        let patch = hunk::write_hunks(hunks, MAX_CHANGE_BYTES);
        Self::new(ChangeKind::Edit, Clean::new(file), patch, at)
    }

    /// Builds the change of a command that may have changed something.
    pub fn from_command(line: &str, at: Time) -> Self {
        Self::new(ChangeKind::Command, short_command(line), Clean::default(), at)
    }

    /// Builds the change of another way to run the failing command: `with TZ=UTC`.
    pub fn from_invocation(difference: &str, at: Time) -> Self {
        Self::new(ChangeKind::Invocation, short_command(difference), Clean::default(), at)
    }

    /// Sets the command that made the edit.
    #[must_use]
    pub fn made_by(self, command: &str) -> Self {
        Self { made_by: Some(short_command(command)), ..self }
    }

    /// Parses the hunks of the patch.
    pub fn hunks(&self) -> Vec<Hunk> {
        hunk::read_hunks(&self.patch)
    }

    /// Returns true if it changes only the layout of code, which does not affect tests.
    pub fn only_formats(&self) -> bool {
        match self.kind {
            ChangeKind::Command => command::only_formats(&self.name),
            ChangeKind::Invocation => false,
            ChangeKind::Edit => {
                let hunks = self.hunks();
                !hunks.is_empty() && hunks.iter().all(|hunk| hunk.only_formats(&self.name))
            }
        }
    }

    /// Returns true if it changes only comments, which do not affect tests.
    pub fn only_comments(&self) -> bool {
        let hunks = self.hunks();
        !hunks.is_empty() && hunks.iter().all(|hunk| hunk.only_comments(&self.name))
    }

    /// Returns the change with other hunks.
    #[must_use]
    pub fn with_hunks(&self, hunks: &[Hunk]) -> Self {
        Self { patch: hunk::write_hunks(hunks, MAX_CHANGE_BYTES), ..self.clone() }
    }
}

/// Returns the first line of a command, redacted and shortened.
fn short_command(line: &str) -> Clean {
    let clean = Clean::new(line.trim());
    let first = clean.lines().next().unwrap_or_default();
    let cut = first.len() < clean.len() || first.chars().count() > MAX_COMMAND_CHARS;
    let mut name: String = first.chars().take(MAX_COMMAND_CHARS).collect();
    if cut {
        name.push_str(" …");
    }
    // The whole text is redacted, so this part is too.
    Clean::new(&name)
}
