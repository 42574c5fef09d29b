//! The output of a finished process.

use std::fmt;
use std::process::{Command, Output};

/// The output and exit code of a process.
#[must_use = "look at the output or the exit code"]
#[derive(Debug)]
pub struct CommandOutput {
    /// The process's stdout.
    pub stdout: String,
    /// The process's stderr.
    pub stderr: String,
    /// The exit code; `None` if a signal ended the process.
    pub exit: Option<i32>,
}

impl CommandOutput {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// If it cannot be started, or if its output is not UTF-8.
    pub fn run(command: &mut Command) -> Self {
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")).into()
    }

    /// Asserts a successful exit and returns `self`.
    ///
    /// # Panics
    /// If the process failed.
    pub fn assert_success(self) -> Self {
        assert_eq!(self.exit, Some(0), "{self}");
        self
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            exit: output.status.code(),
        }
    }
}

/// The form for snapshots.
impl fmt::Display for CommandOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}", self.exit.map_or("by signal".to_owned(), |code| code.to_string()))?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                f.write_str(text)?;
            }
        }
        Ok(())
    }
}
