//! A process that has ended.

use std::fmt;
use std::process::{Command, Output};

/// What a process left behind.
#[must_use = "look at the output or the exit code"]
#[derive(Debug)]
pub struct Ran {
    /// What it printed.
    pub stdout: String,
    /// What it remarked.
    pub stderr: String,
    /// Its exit code; `None` when a signal ended it.
    pub exit: Option<i32>,
}

impl Ran {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it cannot be started, or prints what is no UTF-8.
    pub fn of(command: &mut Command) -> Self {
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")).into()
    }

    /// Itself, after a look at the exit code.
    ///
    /// # Panics
    /// When the process failed.
    pub fn success(self) -> Self {
        assert_eq!(self.exit, Some(0), "{self}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            exit: output.status.code(),
        }
    }
}

/// As a snapshot shows it.
impl fmt::Display for Ran {
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
