//! Test, build, lint and type-check runs: finding them in a command line and reading their output.
//!
//! [`command_line`](self) parses a command line, [`runners`] lists the known programs, and [`read`](mod@read) turns a
//! command and its output into a verdict with its failures.

use serde::{Deserialize, Serialize};

use rutter_redact::choice;

pub mod change;
pub mod clues;
pub mod command_form;
pub mod command_line;
pub mod failed_command;
pub mod fault;
mod keywords;
pub mod place;
mod printed_status;
pub mod read;
pub mod report;
pub mod run_finder;
pub mod runners;
mod scan;
pub mod selection;
pub mod shell;
pub mod signature;
pub mod table;
pub mod test_source;
pub mod text;
mod time;
pub mod wrapper_output;
mod wrappers;

pub use time::{ParseTimeError, Time};

choice! {
    /// The kind of a run.
    RunKind, "kind of run" {
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
    /// The result of a run. If in doubt it is unknown, never passed.
    Verdict, "verdict" {
        /// Everything that ran succeeded.
        Passed = "passed",
        /// At least one part failed.
        Failed = "failed",
        /// The result cannot be determined.
        Unknown = "unknown",
    }
}

/// Numbers of tests by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed, errors included.
    pub failed: u32,
    /// Tests that did not run.
    pub skipped: u32,
}
