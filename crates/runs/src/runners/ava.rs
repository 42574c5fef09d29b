//! AVA: a line per test, then each failure in detail below a rule, and the numbers below another.
//!
//! A name is printed as `file › test`, or as `test` if only one file ran; ` › ` becomes ` > `.

use super::stack::JsStack;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "ava",
    RunKind::Test,
    &["\n  ─\n", "  ✘ ", "\n  Uncaught exception in ", "\n  Unhandled rejection in ", "\n# pass "],
    read_output,
);

/// Maximum number of failures that are searched for details.
const MAX_DETAILED_FAILURES: usize = 200;

#[derive(Default)]
struct AvaParser<'a> {
    /// The texts after `✘ [fail]: `: a title, and often the reason.
    failed: Vec<&'a str>,
    passed: PassedTests,
    /// True after the first rule.
    is_telling: bool,
    /// Titles of failures in detail, with the lines below them.
    told: Vec<(&'a str, Vec<&'a str>)>,
    /// Errors outside of tests.
    broken: Vec<(&'a str, JsStack)>,
    counts: Option<TestCounts>,
    is_bad: bool,
}

fn read_output(text: &str) -> OutputReport {
    if text.lines().any(|line| line.starts_with("# pass ")) {
        return read_tap(text);
    }
    let mut reading = AvaParser::default();
    let mut above = "";
    for line in text.lines() {
        reading.read_line(line, above);
        above = line;
    }
    reading.report()
}

impl<'a> AvaParser<'a> {
    fn read_line(&mut self, line: &'a str, above: &str) {
        let Some(text) = line.strip_prefix("  ") else { return };
        if text == "─" {
            self.is_telling = true;
        } else if let Some(failed) = text.strip_prefix("✘ [fail]: ") {
            self.failed.push(failed);
        } else if text == "✘ Timed out while running tests" {
            self.is_bad = true;
        } else if let Some(name) = text.strip_prefix("✔ ") {
            let name = super::tree::strip_time(name);
            self.passed.add(None, || name.replace(" › ", " > "));
        } else if let Some(file) = text
            .strip_prefix("Uncaught exception in ")
            .or_else(|| text.strip_prefix("Unhandled rejection in "))
        {
            self.broken.push((file, JsStack::default()));
        } else if self.is_telling && self.read_count(text) {
        } else if self.is_telling && above.is_empty() && self.is_failed(text) {
            self.told.push((text, Vec::new()));
        } else if let Some((_, lines)) = self.told.last_mut().filter(|_| self.is_telling) {
            lines.push(text);
        } else if let Some((file, stack)) = self.broken.last_mut() {
            read_outside_error(stack, file, text);
        }
    }

    /// Returns true if a test with this title failed. Searches only the first [`MAX_DETAILED_FAILURES`] failures.
    fn is_failed(&self, title: &str) -> bool {
        self.failed.iter().take(MAX_DETAILED_FAILURES).any(|failed| is_title(title, failed))
    }

    /// Reads a number below the last rule: `3 tests failed`.
    fn read_count(&mut self, text: &str) -> bool {
        let Some((number, words)) = scan::split_amount(text) else { return false };
        let counts = self.counts.unwrap_or_default();
        self.counts = Some(match words {
            "test passed" | "tests passed" => TestCounts { passed: number, ..counts },
            "test failed" | "tests failed" => TestCounts { failed: number, ..counts },
            "test skipped" | "tests skipped" | "test todo" | "tests todo" => {
                TestCounts { skipped: counts.skipped.saturating_add(number), ..counts }
            }
            "known failure" | "known failures" => counts,
            _ if is_outside_failure(words) => {
                self.is_bad = true;
                counts
            }
            _ => return false,
        });
        true
    }

    fn report(self) -> OutputReport {
        let Self { failed, told, broken, passed, counts, is_bad, .. } = self;
        let mut failures: Vec<ReportedFailure> = Vec::new();
        for text in failed.iter().take(scan::MAX_FAILURES) {
            let found = told.iter().find(|(title, _)| is_title(title, text));
            failures.push(match found {
                Some((title, lines)) => build_failure(title, lines),
                None => ReportedFailure {
                    test: Some(text.replace(" › ", " > ")),
                    ..ReportedFailure::default()
                },
            });
        }
        failures
            .extend(broken.into_iter().map(|(file, stack)| stack.failure(Some(file.to_owned()))));
        let is_failed =
            is_bad || counts.is_some_and(|counts| counts.failed > 0) || !failures.is_empty();
        let verdict = match counts {
            _ if is_failed => Verdict::Failed,
            Some(counts) if counts.passed > 0 => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        // With failures, passes are shown but not counted.
        let shown = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        let is_seen = !failed.is_empty() || shown > 0 || !is_failed;
        let counts = counts
            .filter(|_| is_seen)
            .map(|counts| TestCounts { passed: counts.passed.max(shown), ..counts });
        OutputReport::new(verdict, counts, passed, failures)
    }
}

/// Returns true for failures outside of tests: `1 uncaught exception`, `1 hook failed`.
fn is_outside_failure(words: &str) -> bool {
    [
        "uncaught exception",
        "unhandled rejection",
        "hook failed",
        "hooks failed",
        "test file did not",
        "tests remaining",
    ]
    .iter()
    .any(|start| words.starts_with(start))
}

/// Returns true if the text after `[fail]` is this title, with or without a reason after it.
fn is_title(title: &str, failed: &str) -> bool {
    !title.is_empty()
        && failed.strip_prefix(title).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Builds a failure from the lines below its title.
fn build_failure(title: &str, lines: &[&str]) -> ReportedFailure {
    let mut stack = JsStack::default();
    let mut place = None;
    let mut said: Vec<&str> = Vec::new();
    for line in lines {
        if place.is_none()
            && let Some((found, "")) = scan::parse_located_prefix(line)
            && !found.path.contains(' ')
        {
            place = Some(found);
        } else if let Some((_, message)) = scan::split_error(line)
            && !message.is_empty()
        {
            stack.take(line);
        } else if line.trim_start().starts_with("at ") {
            stack.take(line);
        } else if !is_source(line) && !line.is_empty() && !line.starts_with('›') {
            said.push(line);
        }
    }
    if stack.is_empty() && !said.is_empty() {
        // `Difference (- actual, + expected):`, and the two values.
        stack.set_error_line(
            &said.iter().take(3).map(|line| line.trim()).collect::<Vec<_>>().join(" "),
        );
    }
    let failure = stack.failure(Some(title.replace(" › ", " > ")));
    let place = place.filter(|_| failure.frame.is_none());
    failure.with_place(place)
}

/// Reads a line about an error outside of tests.
fn read_outside_error(stack: &mut JsStack, file: &str, text: &str) {
    if let Some((place, "")) =
        scan::parse_located_prefix(text).filter(|(place, _)| place.path == file)
    {
        stack.add_place(Some(place));
    } else if text.trim_start().starts_with("at ")
        || (scan::split_error(text).is_some() && stack.is_empty())
    {
        stack.take(text);
    }
}

/// Returns true for a line of quoted code: ` 4:   t.is(total([1, 2]), 4);`.
fn is_source(line: &str) -> bool {
    scan::split_number(line.trim_start()).is_some_and(|(_, rest)| rest.starts_with(':'))
}

/// Reads the output of `--tap`, which ends in `# tests`, `# pass`, optionally `# skip`, and `# fail`.
fn read_tap(text: &str) -> OutputReport {
    let mut counts = TestCounts::default();
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut planned = None;
    let mut footer = Vec::new();
    for line in text.lines() {
        let (is_ok, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => {
                if let Some(plan) = line.strip_prefix("1..") {
                    planned = plan.parse::<u32>().ok();
                    footer.clear();
                } else if let Some((name, _)) =
                    line.strip_prefix("# ").and_then(|rest| rest.split_once(' '))
                {
                    footer.push(name);
                } else if let Some(failure) = failures.last_mut() {
                    read_yaml_line(failure, line);
                }
                continue;
            }
        };
        let Some((_, name)) = rest.split_once(" - ") else { continue };
        if name.ends_with("# SKIP") || name.ends_with("# TODO") {
            counts.skipped += 1;
        } else if is_ok {
            counts.passed += 1;
            passed.add(None, || name.replace(" › ", " > "));
        } else {
            counts.failed += 1;
            failures.push(ReportedFailure {
                test: Some(name.replace(" › ", " > ")),
                ..ReportedFailure::default()
            });
        }
    }
    // Node's runner also prints TAP, with more numbers.
    if !matches!(footer.as_slice(), ["tests", "pass", "fail"] | ["tests", "pass", "skip", "fail"]) {
        return OutputReport::unknown();
    }
    let is_whole = planned == Some(counts.passed + counts.failed + counts.skipped);
    let verdict = match counts.failed {
        1.. => Verdict::Failed,
        0 if is_whole && counts.passed > 0 => Verdict::Passed,
        0 => Verdict::Unknown,
    };
    let counts = is_whole.then_some(counts);
    OutputReport::new(verdict, counts, passed, failures)
}

/// Reads a line of the details of a point: `    message: Error thrown in test`,
/// `    at: 'total (file:///p/shop.js:2:16)'`.
fn read_yaml_line(failure: &mut ReportedFailure, line: &str) {
    let Some((key, value)) = line.strip_prefix("    ").and_then(|line| line.split_once(": "))
    else {
        return;
    };
    let value = value.trim_matches('\'');
    match key {
        "name" => failure.error = Some(value.to_owned()),
        "message" if !value.is_empty() => failure.message = Some(value.to_owned()),
        "at" => {
            let place = super::stack::parse_stack_place(value)
                .filter(|place| scan::is_project_file(place.path));
            if let Some(place) = place {
                failure.set_place(place);
            }
        }
        _ => {}
    }
}
