//! Maven: compiler and surefire.
//!
//! `BUILD SUCCESS` does not cover tests with ignored failures, and tests can print anything, so the total of surefire
//! must be the sum of its classes.

mod classes;

use classes::{SurefireModule, parse_test_counts};

use super::count_sums::sum_counts;
use super::java;
use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan::{self, CodePlace, file_of_place, has_extension};
use crate::{RunKind, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "mvn",
    RunKind::Test,
    &["BUILD SUCCESS\n", "BUILD FAILURE\n", "Failed to execute goal ", "Tests run: "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut output = MavenOutput::default();
    for line in text.lines() {
        output.read_line(line);
    }
    // A VM that died did not run the rest of its tests.
    let vm_died = text.contains("The forked VM terminated without");
    output.finish(vm_died)
}

/// The output of a Maven build, as far as it was read.
#[derive(Default)]
struct MavenOutput<'a> {
    modules: Vec<SurefireModule<'a>>,
    failures: Vec<ReportedFailure>,
    /// True if the stack of the last failure follows.
    in_stack: bool,
    /// True after the heading of the list of crashed tests.
    expects_crashed_test: bool,
    /// The first failed goal and its reason.
    failed_goal: Option<&'a str>,
    /// True if surefire started and reported nothing since, because it found no tests.
    found_no_tests: bool,
    succeeded: Option<bool>,
    duration: Option<u64>,
    previous_line: &'a str,
}

impl<'a> MavenOutput<'a> {
    fn read_line(&mut self, whole: &'a str) {
        let (level, line) = split_level(whole);
        let class = self.modules.last().and_then(|module| module.class);
        if line.trim() == "T E S T S" {
            self.modules.push(SurefireModule::default());
        } else if is_rule(self.previous_line)
            && (line == "BUILD SUCCESS" || line == "BUILD FAILURE")
        {
            self.succeeded = Some(line == "BUILD SUCCESS");
            self.in_stack = false;
        } else if let Some(goal) =
            line.strip_prefix("Failed to execute goal ").filter(|_| level == "ERROR")
        {
            self.failed_goal = self.failed_goal.or(Some(goal));
        } else if line.starts_with("--- ") && line.contains("surefire") && line.contains(":test ") {
            self.found_no_tests = true;
        } else if line == "Tests are skipped." {
            self.found_no_tests = false;
        } else if let Some(time) = line.strip_prefix("Total time:") {
            self.duration = time.trim().strip_suffix(" s").and_then(scan::parse_seconds);
        } else if let Some(counts) = parse_test_counts(line) {
            self.in_stack = false;
            if self.modules.is_empty() {
                self.modules.push(SurefireModule::new_quiet());
            }
            if let Some(module) = self.modules.last_mut() {
                module.read_counts(line, counts);
            }
        } else if line == "Results:" || line == "Results :" {
            self.in_stack = false;
            if let Some(module) = self.modules.last_mut() {
                module.expect_total();
            }
        } else if let Some(test) = parse_failed(line, class) {
            self.failures.push(ReportedFailure { test: Some(test), ..ReportedFailure::default() });
            self.in_stack = true;
        } else if let Some(failure) = parse_compiler_error(line).filter(|_| level == "ERROR") {
            self.failures.push(failure);
            self.in_stack = false;
        } else if line == "Crashed tests:" {
            self.expects_crashed_test = true;
        } else if self.expects_crashed_test {
            self.failures.push(crash_failure(line));
            self.expects_crashed_test = false;
        } else if self.in_stack
            && level.is_empty()
            && let Some(failure) = self.failures.last_mut()
        {
            java::read_stack_line(failure, line);
        }
        self.previous_line = line;
    }

    fn finish(mut self, vm_died: bool) -> OutputReport {
        let modules = &self.modules;
        let is_complete = modules.iter().all(|module| module.total.is_some());
        let counts = (is_complete && !modules.is_empty())
            .then(|| sum_counts(modules.iter().filter_map(|module| module.total)));
        let has_passed_tests = counts.is_some_and(|counts| counts.passed > 0);
        let has_failures = self.succeeded == Some(false)
            || self.failed_goal.is_some()
            || counts.is_some_and(|counts| counts.failed > 0)
            || modules.iter().any(|module| module.failed);
        let is_build_only = modules.is_empty() && !self.found_no_tests;
        let verdict = match self.succeeded {
            _ if has_failures => Verdict::Failed,
            Some(true) if has_passed_tests || is_build_only => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        if verdict == Verdict::Failed {
            java::keep_each_failure_once(&mut self.failures);
            if self.failures.is_empty() {
                self.failures.extend(self.failed_goal.map(goal_failure));
            }
        } else {
            self.failures.clear();
        }
        OutputReport {
            verdict,
            counts: counts.filter(|_| !vm_died),
            failures: self.failures,
            passed: Vec::new(),
            duration: self.duration,
        }
    }
}

/// Returns the failure of a goal: `org.apache.maven.plugins:… (default) on project shop: No such file -> [Help 1]`.
fn goal_failure(goal: &str) -> ReportedFailure {
    let message = goal.split_once(": ").map_or(goal, |(_, message)| message);
    let message = message.split(" -> [Help").next().unwrap_or(message);
    ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() }
}

/// Splits `[ERROR] text` into level and text.
fn split_level(line: &str) -> (&str, &str) {
    let split = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match split {
        Some((level @ ("INFO" | "WARNING" | "ERROR"), rest)) => (level, rest),
        _ => ("", line),
    }
}

/// Returns true for the line of dashes around `BUILD SUCCESS`.
fn is_rule(line: &str) -> bool {
    line.len() > 60 && line.bytes().all(|b| b == b'-')
}

/// Parses the test of `adds(com.acme.LedgerTest)  Time elapsed: 0.01 s  <<< FAILURE!`, or since surefire 3
/// `com.acme.LedgerTest.adds -- Time elapsed: …`. Earlier versions print no class for JUnit 5, so the last one is used.
fn parse_failed(line: &str, class: Option<&str>) -> Option<String> {
    let (test, end) = line.split_once(" Time elapsed: ")?;
    if !end.ends_with("<<< FAILURE!") && !end.ends_with("<<< ERROR!") {
        return None;
    }
    let test = test.trim();
    if let Some(test) = test.strip_suffix(" --") {
        let test = bare_method(test);
        return Some(match test.rsplit_once('.') {
            Some((class, method)) => format!("{class}#{method}"),
            None => test.to_owned(),
        });
    }
    if let Some((method, class)) = test.strip_suffix(')').and_then(|test| test.split_once('(')) {
        return Some(format!("{class}#{}", bare_method(method)));
    }
    let test = bare_method(test);
    Some(class.map_or_else(|| test.to_owned(), |class| format!("{class}#{test}")))
}

/// Returns a method without JUnit's suffix for parameters: `odd{int}[2]`.
fn bare_method(method: &str) -> &str {
    method.split(['{', '(', '[']).next().unwrap_or(method).trim()
}

/// Parses `/home/ada/project/src/main/java/com/acme/Ledger.java:[4,54] incompatible types: …`.
fn parse_compiler_error(line: &str) -> Option<ReportedFailure> {
    let (file, rest) = line.split_once(":[")?;
    let (numbers, message) = rest.split_once("] ")?;
    let source =
        has_extension(file, "java") || has_extension(file, "kt") || has_extension(file, "scala");
    let place = CodePlace::new(file, numbers.split(',').next().unwrap_or_default());
    let failure =
        ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() };
    source.then(|| failure.with_place(Some(place)))
}

fn crash_failure(class: &str) -> ReportedFailure {
    ReportedFailure {
        test: Some(class.trim().to_owned())
            .filter(|class| !class.contains(' ') && file_of_place(class).is_none()),
        error: Some("VM crash".to_owned()),
        message: Some("The forked VM terminated without properly saying goodbye".to_owned()),
        frame: None,
        ..ReportedFailure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions() {
        let old = "adds(com.acme.LedgerTest)  Time elapsed: 0.01 s  <<< FAILURE!";
        let new = "com.acme.LedgerTest.adds -- Time elapsed: 0.01 s <<< ERROR!";
        let bare = "adds  Time elapsed: 0.01 s  <<< FAILURE!";
        for line in [old, new, bare] {
            assert_eq!(
                parse_failed(line, Some("com.acme.LedgerTest")).unwrap(),
                "com.acme.LedgerTest#adds"
            );
        }
    }
}
