//! Swift and Xcode: `swift build`, `swift test` and `xcodebuild`, with XCTest and with Swift Testing. Written from the
//! documented forms and from logs in public issues.
//!
//! XCTest names a test `TillTests.testOpens` on Linux and `-[ShopTests.TillTests testOpens]` on macOS; both become
//! `TillTests.testOpens`, and the module is the scope. Swift Testing begins its lines with a symbol that depends on the
//! terminal.

use super::diagnostics;
use super::findings::Findings;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

/// Keywords of the compiler and the linker, with additional ones.
macro_rules! tells {
    ($($own:literal),*) => {
        &[
            "error: ", ": error ", "undefined reference to ", "ld: ", " error generated.", " errors generated.",
            $($own),*
        ]
    };
}

pub(super) static RUNNER_SWIFT_BUILD: OutputReader =
    OutputReader::new("swift build", RunKind::Build, tells!("\nBuild complete!"), read_build);

pub(super) static RUNNER_SWIFT_TEST: OutputReader = OutputReader::new(
    "swift test",
    RunKind::Test,
    tells!(
        "Executed ",
        "Test Case ",
        "Test case ",
        " recorded an issue ",
        " passed after ",
        " failed after "
    ),
    read_test,
);

/// The keywords of [`read_xcode`].
const XCODE_KEYWORDS: &[&str] = tells!(
    "\n** ",
    "Executed ",
    "Test Case ",
    "Test case ",
    " recorded an issue ",
    " passed after ",
    " failed after "
);

pub(super) static RUNNER_XCODEBUILD: OutputReader =
    OutputReader::new("xcodebuild", RunKind::Build, XCODE_KEYWORDS, read_xcode);

pub(super) static RUNNER_XCODEBUILD_TEST: OutputReader =
    OutputReader::new("xcodebuild test", RunKind::Test, XCODE_KEYWORDS, read_xcode);

fn read_build(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if line.starts_with("Build complete!") {
            findings.good = true;
        } else if parse_test_failure(line).is_none() {
            read_compiler_line(&mut findings, line);
        }
    }
    findings.report()
}

/// Reads an error of the compiler, of the package manager, or of Xcode.
fn read_compiler_line(findings: &mut Findings, line: &str) {
    if let Some(message) = line.strip_prefix("xcodebuild: error: ") {
        findings.add_once(None, Some("xcodebuild"), message);
    } else if let Some(message) = line.strip_prefix("error: ") {
        // `error: fatalError` and `error: emit-module command failed` only repeat that there was an error.
        let is_echo =
            message == "fatalError" || message.contains(" command failed with exit code ");
        let is_package =
            message.contains("Package.swift") || message.starts_with("no such module ");
        if is_package {
            // `'project': /p/Package.swift:5:1: error: expected ')'`
            let inner = message.split_once("': ").map_or(message, |(_, inner)| inner);
            match diagnostics::parse_diagnostic(inner) {
                Some(found) => findings.add_once(found.place, found.error, found.message),
                None => findings.add_once(None, Some("swift"), message),
            }
        }
        findings.bad |= is_echo;
    } else {
        diagnostics::read_line(findings, line);
    }
}

#[derive(Default)]
struct SwiftTestParser {
    failures: Vec<ReportedFailure>,
    passed: PassedTests,
    /// The numbers of XCTest, from the outermost suite, and below those of Swift Testing.
    xctest: Option<TestCounts>,
    testing: Option<TestCounts>,
    failed: bool,
    compile: Findings,
}

fn read_test(text: &str) -> OutputReport {
    let mut run = SwiftTestParser::default();
    for line in text.lines() {
        run.read_line(line);
    }
    run.report()
}

fn read_xcode(output: &str) -> OutputReport {
    let report = read_test(output);
    // `** TEST FAILED **`; a time may follow it.
    let said = |end: &str| {
        ["BUILD", "TEST", "TEST BUILD", "ARCHIVE"].iter().any(|action| {
            let words = format!("** {action} {end} **");
            output.lines().any(|line| line.starts_with(&words))
        })
    };
    let verdict = match report.verdict {
        Verdict::Failed => Verdict::Failed,
        _ if said("FAILED") => Verdict::Failed,
        Verdict::Unknown if said("SUCCEEDED") => Verdict::Passed,
        verdict => verdict,
    };
    let mut failures = report.failures;
    if verdict == Verdict::Failed && failures.is_empty() {
        // A tail of the output shows only the list at the end.
        let listed = output.lines().skip_while(|line| *line != "Failing tests:").skip(1);
        let listed = listed.map_while(|line| line.strip_prefix('\t'));
        failures.extend(listed.take(scan::MAX_FAILURES).map(|name| {
            let (scope, test) = split_name(name.trim_end_matches("()"));
            ReportedFailure {
                test: Some(test),
                scope: scope.map(str::to_owned),
                ..ReportedFailure::default()
            }
        }));
    }
    OutputReport { verdict, failures, ..report }
}

impl SwiftTestParser {
    fn read_line(&mut self, line: &str) {
        if let Some((place, name, message)) = parse_test_failure(line) {
            self.failed = true;
            let (scope, test) = split_name(name);
            let failure = ReportedFailure {
                test: Some(test),
                scope: scope.map(str::to_owned),
                message: Some(message.to_owned()),
                ..ReportedFailure::default()
            };
            self.add_failure(failure.with_place(Some(place)));
        } else if let Some((name, is_passed)) = parse_case(line) {
            let (scope, test) = split_name(name);
            if is_passed {
                self.passed.add(scope, || test);
            } else {
                self.add_failure(ReportedFailure {
                    test: Some(test),
                    scope: scope.map(str::to_owned),
                    ..ReportedFailure::default()
                });
            }
        } else if let Some(counts) = parse_executed(line) {
            // Suites are nested, and the outermost comes last.
            self.xctest = Some(counts);
        } else if let Some(rest) = strip_symbol(line) {
            self.read_swift_testing(rest);
        } else {
            read_compiler_line(&mut self.compile, line);
        }
    }

    /// Reads a line of Swift Testing after its symbol.
    fn read_swift_testing(&mut self, rest: &str) {
        if let Some((name, issue)) = rest.split_once(" recorded an issue ") {
            self.failed = true;
            let issue = issue
                .rsplit_once(" at ")
                .filter(|_| issue.starts_with("with "))
                .map_or(issue, |(_, rest)| rest);
            let issue = issue.strip_prefix("at ").unwrap_or(issue);
            let located = scan::parse_located_prefix(issue);
            let message = located.map_or(issue, |(_, rest)| rest.trim_start_matches([':', ' ']));
            let test = Some(strip_quotes(name).to_owned());
            let failure = ReportedFailure {
                test,
                message: Some(message.to_owned()),
                ..ReportedFailure::default()
            };
            self.add_failure(failure.with_place(located.map(|(place, _)| place)));
        } else if let Some((name, _)) = rest.split_once(" passed after ") {
            if let Some(number) = parse_run_count(name) {
                self.testing = Some(TestCounts { passed: number, ..TestCounts::default() });
            } else {
                self.passed.add(None, || strip_quotes(name).to_owned());
            }
        } else if let Some((name, _)) = rest.split_once(" failed after ") {
            self.failed = true;
            match parse_run_count(name) {
                // The number counts issues, not failed tests.
                Some(_) => self.testing = None,
                None => self.add_failure(ReportedFailure {
                    test: Some(strip_quotes(name).to_owned()),
                    ..ReportedFailure::default()
                }),
            }
        }
    }

    /// Adds a failure, unless its test already has one.
    fn add_failure(&mut self, failure: ReportedFailure) {
        let is_known = self.failures.iter().rev().take(64).any(|other| other.test == failure.test);
        if !is_known && self.failures.len() < scan::MAX_FAILURES {
            self.failures.push(failure);
        }
    }

    fn report(self) -> OutputReport {
        let is_failed = self.failed || self.xctest.is_some_and(|counts| counts.failed > 0);
        let compile = self.compile.report();
        if !is_failed && self.failures.is_empty() && compile.verdict == Verdict::Failed {
            return compile;
        }
        let mut failures = self.failures;
        let ran = |counts: Option<TestCounts>| counts.is_some_and(|counts| counts.passed > 0);
        let verdict = if is_failed || !failures.is_empty() {
            Verdict::Failed
        } else if ran(self.xctest) || ran(self.testing) {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        if verdict != Verdict::Failed {
            failures.clear();
        }
        // With both libraries in one run, the numbers of one do not cover the run.
        let counts = match (self.xctest, self.testing) {
            (Some(xctest), None) if xctest.passed + xctest.failed > 0 => Some(xctest),
            (None | Some(TestCounts { passed: 0, failed: 0, .. }), testing) => testing,
            _ => None,
        };
        OutputReport {
            verdict,
            counts,
            passed: self.passed.without_failed(&failures),
            failures,
            duration: None,
        }
    }
}

/// Parses `/p/TillTests.swift:7: error: TillTests.testOpens : XCTAssertEqual failed: …` into place, name and message.
fn parse_test_failure(line: &str) -> Option<(scan::CodePlace<'_>, &str, &str)> {
    let (place, rest) = line.split_once(": error: ")?;
    let (place, end) = scan::parse_located_prefix(place)?;
    let (name, message) = rest.split_once(" : ")?;
    let is_name = name.starts_with("-[") || (!name.contains(' ') && name.contains('.'));
    (end.is_empty() && is_name).then_some((place, name, message.trim_end_matches(" - ").trim_end()))
}

/// Parses `Test Case 'TillTests.testOpens' failed (0.001 seconds)`. Returns the name, and true if it passed.
fn parse_case(line: &str) -> Option<(&str, bool)> {
    let (name, rest) = line
        .strip_prefix("Test Case '")
        .or_else(|| line.strip_prefix("Test case '"))?
        .split_once("' ")?;
    let is_passed = rest.starts_with("passed ");
    (is_passed || rest.starts_with("failed ")).then_some((name, is_passed))
}

/// Splits `-[ShopTests.TillTests testOpens]` or `TillTests.testOpens` into module and test.
fn split_name(name: &str) -> (Option<&str>, String) {
    let inner = name.strip_prefix("-[").and_then(|name| name.strip_suffix(']'));
    match inner.and_then(|inner| inner.split_once(' ')) {
        Some((class, method)) => match class.rsplit_once('.') {
            Some((module, class)) => (Some(module), format!("{class}.{method}")),
            None => (None, format!("{class}.{method}")),
        },
        None => (None, name.replace('/', ".")),
    }
}

/// Parses `Executed 2 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.002 (0.002) seconds`.
fn parse_executed(line: &str) -> Option<TestCounts> {
    let (all, rest) = scan::split_amount(line.trim_start().strip_prefix("Executed ")?)?;
    let rest = rest.strip_prefix("tests, with ").or_else(|| rest.strip_prefix("test, with "))?;
    rest.ends_with(" seconds").then_some(())?;
    let (skipped, rest) = match rest.split_once(" skipped and ") {
        Some((skipped, rest)) => (scan::split_number(skipped)?.0, rest),
        None => (0, rest),
    };
    let (failed, words) = scan::split_amount(rest)?;
    let passed = all.saturating_sub(failed).saturating_sub(skipped);
    words.starts_with("failure").then_some(TestCounts { passed, failed, skipped })
}

/// Returns the text after the symbol of Swift Testing in `✘ Test opens() failed after …`.
fn strip_symbol(line: &str) -> Option<&str> {
    let (mark, rest) = line.split_once(' ')?;
    let rest = rest.trim_start().strip_prefix("Test ")?;
    let is_mark = mark.chars().count() == 1 && !mark.is_ascii();
    (is_mark && !rest.starts_with("case ")).then_some(rest)
}

/// Parses the number of `run with 2 tests in 1 suite`.
fn parse_run_count(name: &str) -> Option<u32> {
    scan::split_amount(name.strip_prefix("run with ")?).map(|(number, _)| number)
}

/// Removes the quotes of a display name, and the number of its cases.
fn strip_quotes(name: &str) -> &str {
    let name = name.split_once(" with ").map_or(name, |(name, _)| name);
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_systems_have_one_name() {
        assert_eq!(
            split_name("-[ShopTests.TillTests testOpens]"),
            (Some("ShopTests"), "TillTests.testOpens".to_owned())
        );
        assert_eq!(split_name("TillTests.testOpens"), (None, "TillTests.testOpens".to_owned()));
    }

    #[test]
    fn numbers_of_a_suite() {
        let line = "\t Executed 3 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.002 (0.002) seconds";
        assert_eq!(parse_executed(line), Some(TestCounts { passed: 1, failed: 1, skipped: 1 }));
        assert_eq!(parse_executed("Executed 3 commands"), None);
    }

    #[test]
    fn symbols_depend_on_the_terminal() {
        assert_eq!(strip_symbol("✘ Test opens() failed"), Some("opens() failed"));
        assert_eq!(strip_symbol("\u{100884}  Test opens() failed"), Some("opens() failed"));
        assert_eq!(strip_symbol("A Test opens() failed"), None);
    }
}
