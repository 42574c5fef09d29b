//! Test, build, lint and type-check runs: finding them in a command line and reading what they printed.
//!
//! [`command_line`](self) parses what was typed, [`runners`] lists the programs that are known, and [`read`](mod@read) turns
//! a command and its output into a verdict with its failures.

use serde::{Deserialize, Serialize};

use rutter_redact::choice;

mod announced;
#[cfg(test)]
mod cases;
pub mod change;
pub mod clues;
pub mod command_line;
pub mod fault;
pub mod found;
pub mod place;
pub mod read;
pub mod report;
pub mod runners;
mod scan;
pub mod selection;
pub mod shell;
pub mod signature;
pub mod table;
mod tells;
pub mod test_source;
pub mod text;
mod time;
pub mod wrapper_output;
mod wrappers;

pub use time::{BadTime, Time};

choice! {
    /// What was run.
    Kind, "kind of run" {
        /// Tests.
        Test = "test",
        /// A build.
        Build = "build",
        /// A linter.
        Lint = "lint",
        /// A type checker.
        Typecheck = "typecheck",
    }
}

choice! {
    /// How a run went. On doubt it is unknown, never passed.
    Verdict, "verdict" {
        /// Everything that ran was fine.
        Passed = "passed",
        /// Something was not.
        Failed = "failed",
        /// Nobody can say.
        Unknown = "unknown",
    }
}

/// How many tests went which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Were fine.
    pub passed: u32,
    /// Were not, errors included.
    pub failed: u32,
    /// Did not run.
    pub skipped: u32,
}
