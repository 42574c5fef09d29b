//! Why Go tests failed: what they logged, or the panic that ended the run.

use std::collections::HashMap;

use super::super::go_errors::own;
use crate::runs::report::Failure;
use crate::runs::scan::{file, has_extension};

/// What the tests said.
#[derive(Default)]
pub(super) struct Told<'a> {
    test: Option<&'a str>,
    /// The last line that each logged with its place. A test that stops says why last.
    logged: HashMap<&'a str, (&'a str, &'a str)>,
    panic: Option<&'a str>,
    /// The lines of its stack.
    stack: Vec<&'a str>,
    /// `exit status 3`, of a package whose process just ended.
    exit: Option<&'a str>,
}

impl<'a> Told<'a> {
    /// What follows is this test's.
    pub(super) fn running(&mut self, test: &'a str) {
        self.test = Some(test);
    }

    pub(super) fn read(&mut self, line: &'a str) {
        if self.panic.is_some() {
            self.stack.push(line);
        } else if let Some(message) =
            line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: "))
        {
            self.panic = Some(message.strip_suffix(" [recovered]").unwrap_or(message));
        } else if line.starts_with("exit status ") {
            self.exit = Some(line);
        } else if let Some(test) = self.test
            && line.starts_with("    ")
        {
            self.log(test, line.trim_start());
        }
    }

    fn log(&mut self, test: &'a str, line: &'a str) {
        if let Some(file) = file(line).filter(|file| has_extension(file, "go"))
            && let Some((_, message)) =
                line.get(file.len()..).and_then(|rest| rest.split_once(": "))
        {
            self.logged.insert(test, (file, message.trim()));
        } else if let Some((_, message)) = self.logged.get_mut(test)
            && message.is_empty()
            && let Some(error) = line.strip_prefix("Error:")
        {
            // testify puts a table below an empty first line.
            *message = error.trim();
        }
    }

    /// Whether a panic with its stack was seen.
    pub(super) fn panicked(&self) -> bool {
        self.panic.is_some() && self.stack.iter().any(|line| line.starts_with("goroutine "))
    }

    /// One failure per failing test, and one for what ended the run otherwise.
    pub(super) fn failures(&self, failing: &[&str], root: Option<&str>) -> Vec<Failure> {
        let mut found: Vec<Failure> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for test in failing.iter().filter(|test| seen.insert(**test)) {
            let logged = self.logged.get(test);
            found.push(Failure {
                test: Some((*test).to_owned()),
                error: None,
                message: logged.map(|(_, message)| (*message).to_owned()),
                frame: logged.map(|(file, _)| (*file).to_owned()),
                ..Failure::default()
            });
        }
        if self.panicked() {
            let test = self.test_in_stack();
            // It is the last one's that failed without a word, unless the stack names another.
            let last = found.last_mut().filter(|last| last.message.is_none());
            let failure = Failure {
                test: test.map(str::to_owned),
                error: Some("panic".to_owned()),
                message: self.panic.map(str::to_owned),
                frame: self.frame(root).map(str::to_owned),
                ..Failure::default()
            };
            match last {
                Some(last) => *last = Failure { test: last.test.take(), ..failure },
                None => found.push(failure),
            }
        } else if let (true, Some(exit)) = (found.is_empty(), self.exit) {
            found.push(Failure { error: Some(exit.to_owned()), ..Failure::default() });
        }
        found
    }

    fn frame(&self, root: Option<&str>) -> Option<&'a str> {
        self.stack
            .iter()
            .filter_map(|line| line.strip_prefix('\t'))
            .find_map(|place| own(place, root))
    }

    /// The test of `example.com/ledger.TestRemote.func1(…)` in the stack.
    fn test_in_stack(&self) -> Option<&'a str> {
        self.stack.iter().find_map(|line| {
            let call = line.strip_prefix("created by ").unwrap_or(line);
            let call = call.rsplit('/').next()?;
            let name = call.split(['.', '(', ' ']).nth(1)?;
            let rest = name.strip_prefix("Test")?;
            (!line.starts_with('\t') && rest.starts_with(|c: char| !c.is_lowercase()))
                .then_some(name)
        })
    }
}
