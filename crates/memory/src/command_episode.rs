//! Command episodes: a command that failed and is no test run, and the variant of it that worked.
//!
//! An episode opens when a command fails with an error that another way to write it may prevent. It ends when a command
//! with the same program succeeds soon after in the same session. The difference between the two is the lesson, if it
//! explains the failure. Only such episodes are ever shown.

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};
use rutter_redact::choice;

pub use rutter_runs::command_form::CommandDifference;

choice! {
    /// The way a command episode ended.
    CommandEndingKind, "ending of a command episode" {
        /// A variant worked, and the difference explains why.
        Worked = "worked",
        /// The same command worked without a visible reason: no lesson.
        Same = "same",
        /// No variant worked soon after.
        Left = "left",
    }
}

/// A command that failed, from its first failure to the variant that worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandEpisode {
    /// Id of the row.
    pub id: Id,
    /// The project.
    pub project: ProjectKey,
    /// The client's name for the session.
    pub session: Clean,
    /// The agent; None for the main agent.
    pub agent: Option<Clean>,
    /// The checkout in which it failed.
    pub root: Clean,
    /// The program with its subcommand.
    pub program: Clean,
    /// The command that failed last.
    pub command: Clean,
    /// A checksum of the command with masked values.
    pub shape: u64,
    /// The line of the output that names the error.
    pub error: Clean,
    /// The error with masked values.
    pub signature: Clean,
    /// Number of failures.
    pub failures: u32,
    /// Time of the first failure.
    pub opened: Time,
    /// Time of the last failure.
    pub seen: Time,
    /// Time when a command of the same shape succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Time>,
    /// The end of the episode, once it has ended.
    pub ending: Option<CommandEnding>,
}

/// The end of a command episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandEnding {
    /// The way it ended.
    pub how: CommandEndingKind,
    /// Time of the end.
    pub at: Time,
    /// The variant that worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<CommandVariant>,
}

/// A variant of a failing command that worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandVariant {
    /// The command.
    pub command: Clean,
    /// The difference that explains why it worked.
    pub difference: CommandDifference,
}

impl CommandEpisode {
    /// Returns the variant that worked, if there is one.
    pub fn variant(&self) -> Option<&CommandVariant> {
        self.ending.as_ref().and_then(|ending| ending.variant.as_ref())
    }
}

/// A finished Bash call of a session in which a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandCall {
    /// Id for the episode that it may open.
    pub id: Id,
    /// The agent; None for the main agent.
    pub agent: Option<Clean>,
    /// The client's working directory, from the root of the checkout.
    pub folder: Clean,
    /// The command line.
    pub line: Clean,
    /// The exit status; 0 for a success.
    pub exit: i32,
    /// The start and the end of the output; empty for a success.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub output: Clean,
    /// True if the output names an error, although the call succeeded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_error: bool,
}
