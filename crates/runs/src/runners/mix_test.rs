//! `mix test`: each failure in detail, and `3 tests, 2 failures, 1 skipped` below the time.
//!
//! A test is printed as `test adds up (ShopTest)`; its file is the scope.

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "mix test",
    RunKind::Test,
    &[
        " failures",
        " failure",
        "\n== Compilation error in file ",
        "\n     stacktrace:",
        "_test.exs:",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut compile: Vec<ReportedFailure> = Vec::new();
    let mut passed = PassedTests::default();
    // The module and the file of the tests that `--trace` lists.
    let mut module: Option<(&str, &str)> = None;
    let (mut is_open, mut in_stack) = (false, false);
    let mut counts = None;
    let mut logged = None;
    let mut above = "";
    let mut is_first = true;
    for line in text.lines() {
        if let Some(found) =
            parse_summary(line).filter(|_| above.starts_with("Finished in ") || is_first)
        {
            counts = Some(found);
            is_open = false;
        } else if let Some(test) = parse_heading(line) {
            is_open = failures.len() < scan::MAX_FAILURES;
            in_stack = false;
            if is_open {
                failures.push(ReportedFailure {
                    test: Some(test.to_owned()),
                    ..ReportedFailure::default()
                });
            }
        } else if let Some(failure) =
            failures.last_mut().filter(|_| is_open && line.starts_with("     "))
        {
            in_stack |= line == "     stacktrace:";
            read_detail(failure, line.trim_start(), in_stack);
        } else if let Some((name, (module, file))) = parse_traced(line).zip(module) {
            passed.add(Some(file), || format!("{name} ({module})"));
        } else if let Some((name, file)) =
            line.strip_suffix(']').and_then(|line| line.split_once(" ["))
            && !name.contains(' ')
        {
            module = Some((name, file));
        } else if let Some(message) = line.trim_start().strip_prefix("error: ") {
            logged = Some(message);
        } else if let Some(place) = line.trim_start().strip_prefix("└─ ") {
            if let Some(message) = logged.take() {
                let failure = ReportedFailure {
                    message: Some(message.to_owned()),
                    ..ReportedFailure::default()
                };
                compile.push(failure.with_place(scan::parse_place(place)));
            }
        } else if above.starts_with("== Compilation error in file ") && compile.is_empty() {
            compile.extend(parse_compile_error(line));
        }
        above = line;
        is_first = false;
    }
    let is_failed =
        counts.is_some_and(|counts: TestCounts| counts.failed > 0) || !compile.is_empty();
    let is_told = failures.iter().any(|failure| failure.frame.is_some());
    let verdict = match counts {
        _ if is_failed => Verdict::Failed,
        Some(counts) if counts.passed > 0 => Verdict::Passed,
        None if is_told => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict == Verdict::Failed {
        failures.append(&mut compile);
    } else {
        failures.clear();
    }
    OutputReport::new(verdict, counts, passed, failures)
}

/// Parses a complete `1 doctest, 3 tests, 2 failures, 1 skipped, 1 excluded`.
fn parse_summary(line: &str) -> Option<TestCounts> {
    let (mut all, mut counts, mut left_out) = (0_u32, TestCounts::default(), 0);
    let mut has_failures = false;
    for part in line.split(", ") {
        let (number, word) = scan::split_amount(part)?;
        match word {
            "test" | "tests" | "doctest" | "doctests" | "property" | "properties" => {
                all = all.checked_add(number)?;
            }
            "failure" | "failures" => (counts.failed, has_failures) = (number, true),
            "skipped" => counts.skipped = number,
            "excluded" | "invalid" => left_out += number,
            _ => return None,
        }
    }
    counts.passed =
        all.checked_sub(counts.failed)?.checked_sub(counts.skipped)?.checked_sub(left_out)?;
    counts.skipped = counts.skipped.checked_add(left_out)?;
    has_failures.then_some(counts)
}

/// Parses `  1) test adds up (ShopTest)`.
fn parse_heading(line: &str) -> Option<&str> {
    let (_, rest) = scan::split_number(line.strip_prefix("  ")?.trim_start())?;
    let test = rest.strip_prefix(") ")?;
    let is_test = ["test ", "doctest ", "property "].iter().any(|start| test.starts_with(start));
    (is_test && test.ends_with(')')).then_some(test)
}

/// Reads a line below the heading: the place of the test, the message, and the frames of the stack.
fn read_detail(failure: &mut ReportedFailure, text: &str, in_stack: bool) {
    let place = scan::parse_place(text)
        .filter(|place| place.path.starts_with("test/") || !place.path.contains(' '));
    if failure.scope.is_none() {
        if let Some(place) = place.filter(|place| place.path.ends_with("_test.exs")) {
            failure.scope = Some(place.path.to_owned());
            failure.set_place(place);
        }
    } else if in_stack {
        // A frame of a library begins with the name of its application in brackets.
        if let Some(place) = place.filter(|_| !text.starts_with('(')) {
            failure.set_place(place);
        }
    } else if failure.message.is_none() && !text.is_empty() {
        let error = text.strip_prefix("** (").and_then(|rest| rest.split_once(") "));
        failure.error = error.map(|(error, _)| error.to_owned());
        failure.message = Some(error.map_or(text, |(_, message)| message).to_owned());
    } else if let Some(message) = &mut failure.message
        && message.starts_with("Assertion with ")
        && (text.starts_with("left:") || text.starts_with("right:"))
    {
        // `left:  4` is appended to the message.
        let words: Vec<&str> = text.split_whitespace().collect();
        message.push_str(", ");
        message.push_str(&words.join(" "));
    }
}

/// Parses the test of `  * test adds up (1.0ms) [L#4]`, which overwrites `  * test adds up [L#4]`.
fn parse_traced(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once("  * ")?;
    let (rest, _) = rest.rsplit_once(" [L#")?;
    let name = super::tree::strip_time(rest);
    (name.len() < rest.len()).then_some(name)
}

/// Parses `** (CompileError) lib/shop.ex:2: undefined function itms/0`.
fn parse_compile_error(line: &str) -> Option<ReportedFailure> {
    let (error, rest) = line.strip_prefix("** (")?.split_once(") ")?;
    let place: Option<CodePlace<'_>> = scan::parse_place(rest);
    let message = rest.split_once(": ").map_or(rest, |(_, message)| message);
    let failure = ReportedFailure {
        error: Some(error.to_owned()),
        message: Some(message.to_owned()),
        ..ReportedFailure::default()
    };
    Some(failure.with_place(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_test_counts() {
        let counts = parse_summary("1 doctest, 3 tests, 1 failure, 1 skipped, 1 excluded");
        assert_eq!(counts, Some(TestCounts { passed: 1, failed: 1, skipped: 2 }));
        assert_eq!(parse_summary("3 tests"), None);
        assert_eq!(parse_summary("3 tests, 2 errors"), None);
    }

    /// The form since Elixir 1.15, which was written by hand.
    #[test]
    fn logged_errors_have_their_place_below() {
        let text = "    error: undefined variable \"itms\"\n    │\n  2 │   Enum.sum(itms)\n    │            ^^^^\n    │\n    └─ lib/shop.ex:2:34: Shop.total/1\n\n\n== Compilation error in file lib/shop.ex ==\n** (CompileError) lib/shop.ex: cannot compile module Shop (errors have been logged)\n";
        let report = read_output(text);
        assert_eq!((report.verdict, report.failures.len()), (Verdict::Failed, 1));
        assert_eq!(report.failures[0].line, Some(2));
    }
}
