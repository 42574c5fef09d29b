//! Maven: compiler and surefire.
//!
//! `BUILD SUCCESS` does not cover tests with ignored failures, and tests can print anything, so the total of surefire
//! must be the sum of its classes.

mod classes;

use std::collections::HashSet;

use classes::{SurefireModule, parse_test_counts};

use super::java;
use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan::{self, CodePlace, file_of_place, has_extension};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "mvn",
    kind: RunKind::Test,
    keywords: &["BUILD SUCCESS\n", "BUILD FAILURE\n", "Failed to execute goal ", "Tests run: "],
    silent_on_success: false,
    read: read_output,
};

fn read_output(text: &str) -> OutputReport {
    let mut modules: Vec<SurefireModule> = Vec::new();
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut build = None;
    let mut goal: Option<&str> = None;
    let mut none_ran = false;
    let mut took = None;
    let mut crashed = false;
    // True if the stack of the last failure follows.
    let mut open = false;
    let mut above = "";
    for whole in text.lines() {
        let (level, line) = split_level(whole);
        if line.trim() == "T E S T S" {
            modules.push(SurefireModule::default());
        } else if is_rule(above) && (line == "BUILD SUCCESS" || line == "BUILD FAILURE") {
            build = Some(line == "BUILD SUCCESS");
            open = false;
        } else if let Some(why) =
            line.strip_prefix("Failed to execute goal ").filter(|_| level == "ERROR")
        {
            goal = goal.or(Some(why));
        } else if line.starts_with("--- ") && line.contains("surefire") && line.contains(":test ") {
            // It prints nothing if it finds no tests.
            none_ran = true;
        } else if line == "Tests are skipped." {
            none_ran = false;
        } else if let Some(time) = line.strip_prefix("Total time:") {
            took = time.trim().strip_suffix(" s").and_then(scan::parse_seconds);
        } else if let Some(counts) = parse_test_counts(line) {
            open = false;
            if modules.is_empty() {
                modules.push(SurefireModule::new_quiet());
            }
            if let Some(module) = modules.last_mut() {
                module.read_counts(line, counts);
            }
        } else if line == "Results:" || line == "Results :" {
            open = false;
            if let Some(module) = modules.last_mut() {
                module.expect_total();
            }
        } else if let Some(test) =
            parse_failed(line, modules.last().and_then(|module| module.class))
        {
            failures.push(ReportedFailure { test: Some(test), ..ReportedFailure::default() });
            open = true;
        } else if let Some(failure) = parse_compiler_error(line).filter(|_| level == "ERROR") {
            failures.push(failure);
            open = false;
        } else if line == "Crashed tests:" {
            crashed = true;
        } else if crashed {
            failures.push(crash_failure(line));
            crashed = false;
        } else if let Some(failure) = failures.last_mut().filter(|_| open && level.is_empty()) {
            java::read_stack_line(failure, line);
        }
        above = line;
    }
    let whole = modules.iter().all(|module| module.total.is_some());
    let counts = (whole && !modules.is_empty()).then(|| total_counts(&modules));
    let ran = counts.is_some_and(|counts| counts.passed > 0);
    let failed = build == Some(false)
        || goal.is_some()
        || counts.is_some_and(|counts| counts.failed > 0)
        || modules.iter().any(|module| module.failed);
    let verdict = match build {
        _ if failed => Verdict::Failed,
        Some(true) if ran || (modules.is_empty() && !none_ran) => Verdict::Passed,
        _ => Verdict::Unknown,
    };
    if verdict == Verdict::Failed {
        let mut seen = HashSet::new();
        failures.retain(|one| {
            seen.insert((one.test.clone(), one.message.clone().filter(|_| one.test.is_none())))
        });
        if failures.is_empty() {
            failures.extend(goal.map(|why| {
                let message = why.split_once(": ").map_or(why, |(_, message)| message);
                let message = message.split(" -> [Help").next().unwrap_or(message);
                ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() }
            }));
        }
    } else {
        failures.clear();
    }
    // A VM that died did not run the rest of its tests.
    let died = text.contains("The forked VM terminated without");
    OutputReport {
        verdict,
        counts: counts.filter(|_| !died),
        failures,
        passed: Vec::new(),
        duration: took,
    }
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

fn total_counts(modules: &[SurefireModule]) -> TestCounts {
    let totals = modules.iter().filter_map(|module| module.total);
    totals.fold(TestCounts::default(), |sum, counts| TestCounts {
        passed: sum.passed.saturating_add(counts.passed),
        failed: sum.failed.saturating_add(counts.failed),
        skipped: sum.skipped.saturating_add(counts.skipped),
    })
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
