//! Maven: compiler and surefire.
//!
//! `BUILD SUCCESS` does not cover tests with ignored failures, and tests can print anything, so the total of surefire
//! must be the sum of its classes.

mod classes;

use std::collections::HashSet;

use classes::{Module, tests};

use super::java;
use crate::report::{Failure, Report, Runner};
use crate::scan::{self, Place, file, has_extension};
use crate::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "mvn",
    kind: Kind::Test,
    tells: &["BUILD SUCCESS\n", "BUILD FAILURE\n", "Failed to execute goal ", "Tests run: "],
    silent_on_success: false,
    read,
};

fn read(text: &str) -> Report {
    let mut modules: Vec<Module> = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    let mut build = None;
    let mut goal: Option<&str> = None;
    let mut none_ran = false;
    let mut took = None;
    let mut crashed = false;
    // True if the stack of the last failure follows.
    let mut open = false;
    let mut above = "";
    for whole in text.lines() {
        let (level, line) = level(whole);
        if line.trim() == "T E S T S" {
            modules.push(Module::default());
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
            took = time.trim().strip_suffix(" s").and_then(scan::seconds);
        } else if let Some(counts) = tests(line) {
            open = false;
            if modules.is_empty() {
                modules.push(Module::quiet());
            }
            if let Some(module) = modules.last_mut() {
                module.read(line, counts);
            }
        } else if line == "Results:" || line == "Results :" {
            open = false;
            if let Some(module) = modules.last_mut() {
                module.results();
            }
        } else if let Some(test) = failed(line, modules.last().and_then(|module| module.class)) {
            failures.push(Failure { test: Some(test), ..Failure::default() });
            open = true;
        } else if let Some(failure) = compiler(line).filter(|_| level == "ERROR") {
            failures.push(failure);
            open = false;
        } else if line == "Crashed tests:" {
            crashed = true;
        } else if crashed {
            failures.push(crash(line));
            crashed = false;
        } else if let Some(failure) = failures.last_mut().filter(|_| open && level.is_empty()) {
            java::detail(failure, line);
        }
        above = line;
    }
    let whole = modules.iter().all(|module| module.total.is_some());
    let counts = (whole && !modules.is_empty()).then(|| sum(&modules));
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
                Failure { message: Some(message.to_owned()), ..Failure::default() }
            }));
        }
    } else {
        failures.clear();
    }
    // A VM that died did not run the rest of its tests.
    let died = text.contains("The forked VM terminated without");
    Report {
        verdict,
        counts: counts.filter(|_| !died),
        failures,
        passed: Vec::new(),
        duration: took,
    }
}

/// Splits `[ERROR] text` into level and text.
fn level(line: &str) -> (&str, &str) {
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
fn failed(line: &str, class: Option<&str>) -> Option<String> {
    let (test, end) = line.split_once(" Time elapsed: ")?;
    if !end.ends_with("<<< FAILURE!") && !end.ends_with("<<< ERROR!") {
        return None;
    }
    let test = test.trim();
    if let Some(test) = test.strip_suffix(" --") {
        let test = bare(test);
        return Some(match test.rsplit_once('.') {
            Some((class, method)) => format!("{class}#{method}"),
            None => test.to_owned(),
        });
    }
    if let Some((method, class)) = test.strip_suffix(')').and_then(|test| test.split_once('(')) {
        return Some(format!("{class}#{}", bare(method)));
    }
    let test = bare(test);
    Some(class.map_or_else(|| test.to_owned(), |class| format!("{class}#{test}")))
}

/// Returns a method without JUnit's suffix for parameters: `odd{int}[2]`.
fn bare(method: &str) -> &str {
    method.split(['{', '(', '[']).next().unwrap_or(method).trim()
}

/// Parses `/home/ada/project/src/main/java/com/acme/Ledger.java:[4,54] incompatible types: …`.
fn compiler(line: &str) -> Option<Failure> {
    let (file, rest) = line.split_once(":[")?;
    let (numbers, message) = rest.split_once("] ")?;
    let source =
        has_extension(file, "java") || has_extension(file, "kt") || has_extension(file, "scala");
    let place = Place::new(file, numbers.split(',').next().unwrap_or_default());
    let failure = Failure { message: Some(message.to_owned()), ..Failure::default() };
    source.then(|| failure.at(Some(place)))
}

fn crash(class: &str) -> Failure {
    Failure {
        test: Some(class.trim().to_owned())
            .filter(|class| !class.contains(' ') && file(class).is_none()),
        error: Some("VM crash".to_owned()),
        message: Some("The forked VM terminated without properly saying goodbye".to_owned()),
        frame: None,
        ..Failure::default()
    }
}

fn sum(modules: &[Module]) -> Counts {
    let totals = modules.iter().filter_map(|module| module.total);
    totals.fold(Counts::default(), |sum, counts| Counts {
        passed: sum.passed.saturating_add(counts.passed),
        failed: sum.failed.saturating_add(counts.failed),
        skipped: sum.skipped.saturating_add(counts.skipped),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures() {
        crate::cases::check("mvn");
    }

    #[test]
    fn names_of_all_versions() {
        let old = "adds(com.acme.LedgerTest)  Time elapsed: 0.01 s  <<< FAILURE!";
        let new = "com.acme.LedgerTest.adds -- Time elapsed: 0.01 s <<< ERROR!";
        let bare = "adds  Time elapsed: 0.01 s  <<< FAILURE!";
        for line in [old, new, bare] {
            assert_eq!(
                failed(line, Some("com.acme.LedgerTest")).unwrap(),
                "com.acme.LedgerTest#adds"
            );
        }
    }
}
