//! Deno: `deno test`, `deno lint` and `deno check`.
//!
//! A test is named by its description, followed by its steps; its file is the scope.

use super::count_sums;
use super::findings::Findings;
use super::stack::JsStack;
use super::tree::{self, SuiteTree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER_TEST: OutputReader = OutputReader::new(
    "deno test",
    RunKind::Test,
    &[
        "\nok | ",
        "\nFAILED | ",
        " [ERROR]: ",
        " => ./",
        "\nerror: Type checking failed.",
        "\nerror: SyntaxError: ",
        "\n ERRORS \n",
    ],
    read_test,
);

pub(super) static RUNNER_LINT: OutputReader = OutputReader::new(
    "deno lint",
    RunKind::Lint,
    &["\nChecked ", "\nFound ", "\nerror[", ": line ", "\nError linting: "],
    read_lint,
);

pub(super) static RUNNER_CHECK: OutputReader = OutputReader::new(
    "deno check",
    RunKind::Typecheck,
    &[" [ERROR]: ", "\nerror: Type checking failed.", "\nerror: SyntaxError: "],
    read_check,
);

/// The part of a test run that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum DenoTestPart {
    Progress,
    Errors,
    Failures,
}

struct DenoTestParser<'a> {
    part: DenoTestPart,
    file: Option<&'a str>,
    steps: SuiteTree<'a>,
    passed: PassedTests,
    /// The failures in detail, by title.
    told: Vec<(&'a str, JsStack)>,
    listed: Vec<&'a str>,
    counts: Option<TestCounts>,
    milliseconds: Option<u64>,
    failed: bool,
}

fn read_test(text: &str) -> OutputReport {
    let mut run = DenoTestParser {
        part: DenoTestPart::Progress,
        file: None,
        steps: SuiteTree::default(),
        passed: PassedTests::default(),
        told: Vec::new(),
        listed: Vec::new(),
        counts: None,
        milliseconds: None,
        failed: false,
    };
    for line in text.lines() {
        run.read_line(line);
    }
    let report = run.report();
    if report.is_known() { report } else { read_check(text) }
}

impl<'a> DenoTestParser<'a> {
    fn read_line(&mut self, line: &'a str) {
        if let Some((is_ok, counts, milliseconds)) = parse_summary(line) {
            self.failed |= !is_ok;
            count_sums::add_counts(self.counts.get_or_insert_default(), counts);
            count_sums::add_duration(&mut self.milliseconds, milliseconds);
            self.part = DenoTestPart::Progress;
        } else if let Some(file) = parse_running(line) {
            (self.file, self.steps, self.part) =
                (Some(file), SuiteTree::default(), DenoTestPart::Progress);
        } else if line == " ERRORS " {
            self.part = DenoTestPart::Errors;
        } else if line == " FAILURES " {
            self.part = DenoTestPart::Failures;
        } else if is_title(line) && (self.part != DenoTestPart::Progress || line.contains(" => ./"))
        {
            match self.part {
                // A truncated text may begin within the list.
                DenoTestPart::Failures | DenoTestPart::Progress => self.listed.push(line),
                DenoTestPart::Errors => self.told.push((line, JsStack::default())),
            }
        } else if self.part == DenoTestPart::Errors {
            if let Some((_, stack)) = self.told.last_mut() {
                read_error(stack, line);
            }
        } else if self.part == DenoTestPart::Progress {
            self.read_progress(line);
        }
    }

    /// Reads `adds up ... ok (2ms)`, `till ...`, and an indented step below it.
    fn read_progress(&mut self, line: &'a str) {
        let (indent, text) = tree::split_indent(line);
        if let Some((name, result)) = text.split_once(" ... ") {
            if result.starts_with("ok (") {
                let (steps, file) = (&self.steps, self.file);
                self.passed.add(file, || steps.path(indent, name, " > "));
            }
        } else if let Some(name) = text.strip_suffix(" ...") {
            self.steps.enter(indent, name);
        }
    }

    fn report(self) -> OutputReport {
        let Self { told, listed, counts, passed, .. } = self;
        let titles =
            if listed.is_empty() { told.iter().map(|(title, _)| *title).collect() } else { listed };
        let failures: Vec<ReportedFailure> = titles
            .into_iter()
            .take(scan::MAX_FAILURES)
            .map(|title| {
                let stack =
                    told.iter().find(|(other, _)| *other == title).map(|(_, stack)| stack.clone());
                build_failure(title, stack.unwrap_or_default())
            })
            .collect();
        let verdict = match counts {
            _ if self.failed || !failures.is_empty() => Verdict::Failed,
            Some(counts) if counts.failed == 0 && counts.passed > 0 => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        let passed = passed.without_failed(&failures);
        OutputReport { verdict, counts, failures, passed, duration: self.milliseconds }
    }
}

/// Parses the file of `running 3 tests from ./ok_test.ts`.
fn parse_running(line: &str) -> Option<&str> {
    let (_, rest) = scan::split_amount(line.strip_prefix("running ")?)?;
    rest.strip_prefix("tests from ").or_else(|| rest.strip_prefix("test from "))
}

/// Returns true for `adds up => ./shop_test.ts:2:6` and `./ok_test.ts (uncaught error)`.
fn is_title(line: &str) -> bool {
    let place = line.rsplit_once(" => ").and_then(|(_, place)| scan::parse_place(place));
    place.is_some() || line.ends_with(" (uncaught error)")
}

/// Builds the failure of `till ... closes => ./shop_test.ts:8:11`.
fn build_failure(title: &str, stack: JsStack) -> ReportedFailure {
    let Some((name, place)) = title.rsplit_once(" => ") else {
        let file = title.strip_suffix(" (uncaught error)").unwrap_or(title);
        return stack.failure(Some(file.to_owned()));
    };
    let mut failure = stack.failure(Some(name.replace(" ... ", " > ")));
    if let Some(place) = scan::parse_place(place) {
        failure.scope = Some(place.path.to_owned());
        if failure.frame.is_none() {
            failure.set_place(place);
        }
    }
    failure
}

/// Reads a line below the title: `error: TypeError: no such till`, and the frames.
fn read_error(stack: &mut JsStack, line: &str) {
    if let Some(error) = line.strip_prefix("error: ") {
        stack.take(error.strip_prefix("(in promise) ").unwrap_or(error));
    } else if line.starts_with("    at ") && !line.contains("ext:") {
        stack.take(line);
    }
}

/// Parses `FAILED | 3 passed (2 steps) | 2 failed (1 step) | 1 ignored (130ms)`.
fn parse_summary(line: &str) -> Option<(bool, TestCounts, Option<u64>)> {
    let (word, rest) = line.split_once(" | ")?;
    let is_ok = match word {
        "ok" => true,
        "FAILED" => false,
        _ => return None,
    };
    let (list, time) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let milliseconds = match time.strip_suffix("ms") {
        Some(time) => scan::parse_decimal(time, 1),
        None => time.strip_suffix('s').and_then(scan::parse_seconds),
    };
    let mut counts = TestCounts::default();
    let mut has_passed = false;
    for part in list.split(" | ") {
        let (number, word) = scan::split_amount(part)?;
        let word = word.split_once(" (").map_or(word, |(word, _)| word);
        match word {
            "passed" => (counts.passed, has_passed) = (number, true),
            "failed" => counts.failed = number,
            "ignored" => counts.skipped = number,
            "measured" | "filtered out" => {}
            _ => return None,
        }
    }
    (has_passed && is_ok == (counts.failed == 0)).then_some((is_ok, counts, milliseconds))
}

/// Returns true for files that Deno checks.
fn is_script(path: &str) -> bool {
    ["ts", "tsx", "js", "jsx", "mts", "mjs", "cts", "cjs"]
        .iter()
        .any(|kind| scan::has_extension(path, kind))
}

fn read_lint(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut open = None;
    let mut is_deno = false;
    for line in text.lines() {
        if let Some((rule, message)) =
            line.strip_prefix("error[").and_then(|rest| rest.split_once("]: "))
        {
            open = Some((rule, message));
        } else if let Some(place) =
            line.trim_start().strip_prefix("--> ").and_then(scan::parse_place)
        {
            if let Some((rule, message)) = open.take().filter(|_| is_script(place.path)) {
                findings.add(Some(place), Some(rule), message);
            }
        } else if let Some((place, rule, message)) = parse_compact(line) {
            findings.add(Some(place), Some(rule), message);
        } else if let Some(path) = line.strip_prefix("Error linting: ") {
            open = Some(("syntax error", path));
        } else if let Some((_, path)) = open.filter(|(rule, _)| *rule == "syntax error") {
            let message =
                line.trim_start().strip_prefix("SyntaxError: ").unwrap_or("Error linting");
            findings.add(Some(CodePlace { path, line: None }), Some("SyntaxError"), message);
            open = None;
        } else if let Some((number, what)) =
            line.strip_prefix("Found ").and_then(scan::split_amount)
        {
            findings.bad |= number > 0 && matches!(what, "problem" | "problems");
        } else if let Some((number, what)) =
            line.strip_prefix("Checked ").and_then(scan::split_amount)
        {
            is_deno |= number > 0 && matches!(what, "file" | "files");
        }
    }
    findings.good = is_deno;
    findings.report()
}

/// Parses `file:///p/a.ts: line 1, col 19 - Message (rule)`.
fn parse_compact(line: &str) -> Option<(CodePlace<'_>, &str, &str)> {
    let (path, rest) = line.strip_prefix("file://")?.split_once(": line ")?;
    let (numbers, rest) = rest.split_once(" - ")?;
    let (message, rule) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    Some((CodePlace::new(path, numbers.split(',').next()?), rule, message))
}

fn read_check(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut open: Option<(&str, &str)> = None;
    for line in text.lines() {
        if let Some((code, message)) =
            line.split_once(" [ERROR]: ").filter(|(code, _)| is_code(code))
        {
            open = Some((code, message));
        } else if let Some(message) = line.strip_prefix("error: SyntaxError: ") {
            open = Some(("SyntaxError", message));
        } else if let Some(place) =
            line.trim_start().strip_prefix("at file://").and_then(scan::parse_place)
        {
            if let Some((code, message)) = open.take() {
                findings.add(Some(place), Some(code), message);
            }
        } else if line == "error: Type checking failed." {
            findings.bad = true;
        }
    }
    findings.report()
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("TS").is_some_and(|digits| digits.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_agrees_with_its_numbers() {
        let (is_ok, counts, time) =
            parse_summary("ok | 2 passed (1 step) | 0 failed | 1 ignored (12ms)").unwrap();
        assert_eq!(
            (is_ok, counts, time),
            (true, TestCounts { passed: 2, failed: 0, skipped: 1 }, Some(12))
        );
        for line in [
            "ok | 2 passed | 1 failed (3ms)",
            "ok | fine (3ms)",
            "2 passed | 0 failed",
            "ok | 2 passed",
        ] {
            assert!(parse_summary(line).is_none(), "{line}");
        }
    }
}
