//! Dart and Flutter: `dart test`, `flutter test`, `dart analyze` and `flutter analyze`. Written from the documented
//! forms and from logs in public issues.
//!
//! Progress is `00:01 +1 ~1 -1: test/a_test.dart: Till opens`; a line that ends in `[E]` is a failure, with the reason
//! below. A test is named by its description; the file, which precedes it if there are several, is the scope.

use super::findings::Findings;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER_FLUTTER_TEST: OutputReader =
    OutputReader::new("flutter test", RunKind::Test, TEST_KEYWORDS, read_test);

pub(super) static RUNNER_DART_TEST: OutputReader =
    OutputReader::new("dart test", RunKind::Test, TEST_KEYWORDS, read_test);

pub(super) static RUNNER_DART_ANALYZE: OutputReader =
    OutputReader::new("dart analyze", RunKind::Lint, ANALYZE_KEYWORDS, read_analyze);

pub(super) static RUNNER_FLUTTER_ANALYZE: OutputReader =
    OutputReader::new("flutter analyze", RunKind::Lint, ANALYZE_KEYWORDS, read_analyze);

const TEST_KEYWORDS: &[&str] = &[" All tests passed!", " Some tests failed.", " [E]"];
const ANALYZE_KEYWORDS: &[&str] =
    &["issue found.", "issues found.", "No issues found!", " - ", " • "];

/// A line of progress.
#[derive(Clone, Copy)]
struct DartProgress<'a> {
    counts: TestCounts,
    said: &'a str,
}

fn read_test(output: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut running: Option<(&str, TestCounts)> = None;
    let mut last: Option<TestCounts> = None;
    let mut ended = None;
    let mut is_open = false;
    let mut thrown: Option<ReportedFailure> = None;
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        if let Some(DartProgress { counts, said }) = parse_progress(line) {
            is_open = false;
            // The number of passes grows when the previous test has passed.
            if let Some((test, before)) = running.take()
                && counts.passed == before.passed + 1
                && counts.failed == before.failed
                && !test.starts_with("loading ")
            {
                let (scope, test) = split_file(test);
                passed.add(scope, || test.to_owned());
            }
            last = Some(counts);
            match said {
                "All tests passed!" => ended = Some(true),
                "Some tests failed." => ended = Some(false),
                _ => match said.strip_suffix(" [E]") {
                    Some(test) => {
                        is_open = failures.len() < scan::MAX_FAILURES;
                        if is_open {
                            let (scope, test) =
                                split_file(test.strip_prefix("loading ").unwrap_or(test));
                            let failure = thrown.take().unwrap_or_default();
                            let scope = scope.map(str::to_owned);
                            failures.push(ReportedFailure {
                                test: Some(test.to_owned()),
                                scope,
                                ..failure
                            });
                        }
                    }
                    None => running = Some((said.trim_end(), counts)),
                },
            }
        } else if line.starts_with("══╡ EXCEPTION CAUGHT BY FLUTTER TEST FRAMEWORK ╞") {
            thrown = Some(read_exception(lines.clone()));
        } else if let Some(failure) = failures.last_mut().filter(|_| is_open) {
            read_detail(failure, line);
        }
    }
    let is_failed = ended == Some(false) || last.is_some_and(|counts| counts.failed > 0);
    let verdict = match (is_failed, ended, last) {
        (true, ..) => Verdict::Failed,
        (false, Some(true), Some(counts)) if counts.passed > 0 && failures.is_empty() => {
            Verdict::Passed
        }
        _ => Verdict::Unknown,
    };
    let counts = last.filter(|_| ended.is_some());
    OutputReport::new(verdict, counts, passed, failures)
}

/// Parses `00:01 +1 ~1 -1: Till opens`.
fn parse_progress(line: &str) -> Option<DartProgress<'_>> {
    let (clock, rest) = line.split_once(" +")?;
    let (minutes, seconds) = clock.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(minutes) || !is_number(seconds) {
        return None;
    }
    let (numbers, said) = rest.split_once(": ")?;
    let mut counts = TestCounts::default();
    for (at, number) in numbers.split(' ').enumerate() {
        match (at, number.strip_prefix('~'), number.strip_prefix('-')) {
            (0, ..) => counts.passed = number.parse().ok()?,
            (_, Some(skipped), _) => counts.skipped = skipped.parse().ok()?,
            (_, _, Some(failed)) => counts.failed = failed.parse().ok()?,
            _ => return None,
        }
    }
    Some(DartProgress { counts, said: said.trim_end() })
}

/// Splits `test/a_test.dart: Till opens`.
fn split_file(name: &str) -> (Option<&str>, &str) {
    match name.split_once(": ") {
        Some((file, test)) if scan::has_extension(file, "dart") => (Some(file), test),
        _ => (None, name),
    }
}

/// Reads a line below a failure: `  Expected: <4>`, `    Actual: <3>`, an exception, and then frames such as
/// `  test/a_test.dart 9:5   main.<fn>`.
fn read_detail(failure: &mut ReportedFailure, line: &str) {
    let Some(text) = line.strip_prefix("  ") else { return };
    let text = text.trim_end();
    if let Some(place) = parse_frame(text) {
        if failure.frame.is_none() {
            failure.set_place(place);
            if let Some((_, message)) = text.split_once(": Error: ") {
                failure.message = Some(message.to_owned());
            }
        }
    } else if text.starts_with("Test failed. See exception logs above.")
        || text.starts_with("package:")
    {
    } else if let Some(actual) = text.trim_start().strip_prefix("Actual: ") {
        if let Some(message) =
            failure.message.as_mut().filter(|message| message.starts_with("Expected: "))
        {
            message.push_str(", Actual: ");
            message.push_str(actual);
        }
    } else if failure.message.is_none() && !text.is_empty() && !text.starts_with(' ') {
        let (error, message) =
            scan::split_error(text).map_or((None, text), |(error, message)| (Some(error), message));
        failure.error = error.filter(|error| *error != "Expected").map(str::to_owned);
        let message = if failure.error.is_some() { message } else { text };
        failure.message = Some(message.to_owned());
    }
}

/// Parses `test/a_test.dart 9:5   main.<fn>`, and the place of a compiler error: `test/a_test.dart:5:10: Error: …`.
fn parse_frame(text: &str) -> Option<CodePlace<'_>> {
    let (path, rest) = text.split_once(' ')?;
    if scan::has_extension(path, "dart")
        && !path.starts_with("package:")
        && !path.starts_with("dart:")
    {
        let (line, rest) = scan::split_number(rest)?;
        return rest.starts_with(':').then_some(CodePlace { path, line: Some(line) });
    }
    let (place, rest) = scan::parse_located_prefix(text)?;
    (scan::has_extension(place.path, "dart") && rest.starts_with(": Error: ")).then_some(place)
}

/// Reads the block that Flutter prints about an exception in a widget test.
fn read_exception<'a>(lines: impl Iterator<Item = &'a str>) -> ReportedFailure {
    let mut failure = ReportedFailure::default();
    let mut is_message = false;
    for line in lines.take_while(|line| !line.starts_with("═════")).take(200) {
        if let Some(rest) = line.strip_prefix("The following ") {
            failure.error = rest
                .split_once(" was thrown")
                .map(|(error, _)| error.trim_end_matches(" object").to_owned());
            is_message = true;
        } else if is_message && failure.message.is_none() && !line.is_empty() {
            failure.message = Some(line.trim().to_owned());
        } else if let (Some(message), Some(actual)) =
            (&mut failure.message, line.trim_start().strip_prefix("Actual: "))
        {
            message.push_str(", Actual: ");
            message.push_str(actual.trim());
        } else if failure.frame.is_none()
            && let Some((path, line)) =
                line.trim_start().strip_prefix("file://").and_then(|rest| rest.split_once(" line "))
        {
            failure.set_place(CodePlace::new(path, line));
        }
    }
    failure
}

fn read_analyze(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((level, place, message, rule)) = parse_finding(line) {
            // Notes fail only Flutter's analysis, unless it is configured otherwise.
            if level != "info" {
                findings.add(Some(place), Some(rule), message);
            }
        } else if line == "No issues found!" || line.starts_with("No issues found! (ran in ") {
            findings.good = true;
        }
    }
    findings.report()
}

/// Parses `  error - lib/till.dart:5:10 - Undefined name 'x'. - undefined_identifier`, and Flutter's form with bullets,
/// in which the message precedes the place.
fn parse_finding(line: &str) -> Option<(&str, CodePlace<'_>, &str, &str)> {
    let text = line.trim_start();
    let separator = if text.contains(" • ") { " • " } else { " - " };
    let (level, rest) = text.split_once(separator)?;
    if !matches!(level, "error" | "warning" | "info") {
        return None;
    }
    let (rest, rule) = rest.rsplit_once(separator)?;
    let (place, message) = if separator == " • " {
        let (message, place) = rest.rsplit_once(separator)?;
        (place, message)
    } else {
        rest.split_once(separator)?
    };
    let (place, rest) = scan::parse_located_prefix(place)?;
    let is_rule =
        rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    (rest.is_empty() && is_rule).then_some((level, place, message, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_three_numbers() {
        let counts = |line| parse_progress(line).map(|one| one.counts);
        assert_eq!(
            counts("00:01 +3 ~1 -2: Till opens"),
            Some(TestCounts { passed: 3, failed: 2, skipped: 1 })
        );
        assert_eq!(
            counts("00:01 +3: All tests passed!"),
            Some(TestCounts { passed: 3, ..TestCounts::default() })
        );
        assert_eq!(counts("at 00:01 +3: x"), None);
        assert_eq!(counts("1 +2: x"), None);
    }

    #[test]
    fn findings_of_both_forms() {
        let dart = "  error - lib/till.dart:5:10 - Undefined name 'x'. - undefined_identifier";
        let flutter = "  error • Undefined name 'x' • lib/till.dart:5:10 • undefined_identifier";
        for line in [dart, flutter] {
            let (level, place, _, rule) = parse_finding(line).unwrap();
            assert_eq!((level, place.line, rule), ("error", Some(5), "undefined_identifier"));
        }
    }
}
