//! What was changed while something was failing: the lines of an edit, or the command that may have changed anything.

use serde::{Deserialize, Serialize};

use crate::choice::choice;
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

mod command;
mod hunk;

pub use command::{changes_beside_its_run, changes_something};
pub(crate) use hunk::in_tree;
pub use hunk::{Hunk, net};

/// How much of one change is kept.
pub const SIZE: usize = 2 * 1024;
/// Beyond this a change is no longer read: what is kept of it would not grow.
const READ: usize = 64 * 1024;
/// How long the name of a command may be.
const COMMAND: usize = 300;

choice! {
    /// What kind of change.
    Sort, "sort of change" {
        /// Of a file, by a tool that says which lines.
        Edit = "edit",
        /// By a command, which may have changed anything.
        Command = "command",
    }
}

/// A change that is kept for the episodes that are open where it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noted {
    /// Its identity.
    pub id: Id,
    /// Where it was made.
    pub project: ProjectKey,
    /// In which checkout.
    pub root: Clean,
    /// What it is.
    pub change: Change,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What kind.
    pub sort: Sort,
    /// The file, from the root of the checkout; or the command.
    pub name: Clean,
    /// Lines that went (`-`) and came (`+`), hunks parted by `@@`; empty for a command. At most [`SIZE`] bytes.
    pub patch: Clean,
    /// When.
    pub at: Time,
}

impl Change {
    /// An edit of a file.
    pub fn edit(file: &str, hunks: &[Hunk], at: Time) -> Self {
        Self { sort: Sort::Edit, name: Clean::new(file), patch: hunk::written(hunks, SIZE), at }
    }

    /// A command that may have changed something.
    pub fn command(line: &str, at: Time) -> Self {
        let clean = Clean::new(line.trim());
        let first = clean.lines().next().unwrap_or_default();
        let cut = first.len() < clean.len() || first.chars().count() > COMMAND;
        let mut name: String = first.chars().take(COMMAND).collect();
        if cut {
            name.push_str(" …");
        }
        // It was clean, and a part of it is.
        Self { sort: Sort::Command, name: Clean::new(&name), patch: Clean::default(), at }
    }

    /// Its hunks.
    pub fn hunks(&self) -> Vec<Hunk> {
        hunk::read(&self.patch)
    }

    /// Whether it only lays code out in another way: no test takes notice of that.
    pub(crate) fn only_formats(&self) -> bool {
        match self.sort {
            Sort::Command => command::only_formats(&self.name),
            Sort::Edit => {
                let hunks = self.hunks();
                !hunks.is_empty() && hunks.iter().all(|hunk| hunk.only_formats(&self.name))
            }
        }
    }

    /// The same change with other hunks.
    pub(crate) fn with(&self, hunks: &[Hunk]) -> Self {
        Self { patch: hunk::written(hunks, SIZE), ..self.clone() }
    }
}
