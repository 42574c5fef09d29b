//! gotestsum, in all of its formats: they end in the same sections and in
//! `DONE 6 tests, 1 skipped, 3 failures in 0.49s`.
//!
//! The numbers include parents of subtests. A parent that failed only with its subtests is neither counted nor named.

use std::collections::HashSet;

use super::{count_sums, go_errors, go_test};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "gotestsum",
    RunKind::Test,
    &["\nDONE ", "\n=== FAIL: ", "\n=== Failed"],
    read_output,
);

/// A block `=== FAIL: till TestOpen (0.00s)` and the lines below it.
struct GotestsumFailure<'a> {
    package: &'a str,
    test: &'a str,
    lines: Vec<&'a str>,
}

/// The numbers of the last line.
#[derive(Clone, Copy, Default)]
struct GotestsumTotals {
    counts: TestCounts,
    errors: u32,
    milliseconds: Option<u64>,
}

fn read_output(text: &str) -> OutputReport {
    let mut blocks: Vec<GotestsumFailure<'_>> = Vec::new();
    let mut passed = PassedTests::default();
    let mut totals: Option<GotestsumTotals> = None;
    let mut is_open = false;
    for line in text.lines() {
        if let Some(more) = line.strip_prefix("DONE ").and_then(parse_totals) {
            let sum = totals.get_or_insert_default();
            count_sums::add_counts(&mut sum.counts, more.counts);
            sum.errors = sum.errors.saturating_add(more.errors);
            count_sums::add_duration(&mut sum.milliseconds, more.milliseconds);
            is_open = false;
        } else if let Some((package, test)) = line.strip_prefix("=== FAIL: ").and_then(parse_failed)
        {
            blocks.push(GotestsumFailure { package, test, lines: Vec::new() });
            is_open = true;
        } else if line.starts_with("=== ") {
            is_open = false;
        } else if let Some((package, test)) = line.strip_prefix("PASS ").and_then(parse_passed) {
            passed.add(Some(package), || test.to_owned());
        } else if is_open && let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    let mut with_subtests: HashSet<(&str, &str)> = HashSet::new();
    for block in &blocks {
        if let Some((parent, _)) = block.test.rsplit_once('/') {
            with_subtests.insert((block.package, parent));
        }
    }
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut parents = 0_u32;
    for block in &blocks {
        if with_subtests.contains(&(block.package, block.test)) {
            parents = parents.saturating_add(1);
        } else if failures.len() < scan::MAX_FAILURES {
            failures.push(go_test::build_failure(block.test, block.package, &block.lines));
        }
    }
    let GotestsumTotals { mut counts, errors, milliseconds } = totals.unwrap_or_default();
    counts.failed = counts.failed.saturating_sub(parents);
    if errors > 0 {
        failures.extend(go_errors::collect_errors(text).list);
    }
    let verdict = if counts.failed > 0 || errors > 0 || !blocks.is_empty() {
        Verdict::Failed
    } else if counts.passed > 0 {
        Verdict::Passed
    } else {
        Verdict::Unknown
    };
    OutputReport {
        verdict,
        // The tests of a package that does not build are not counted.
        counts: totals.filter(|_| errors == 0).map(|_| counts),
        passed: passed.without_failed(&failures),
        failures,
        duration: milliseconds,
    }
}

/// Parses `6 tests, 1 skipped, 3 failures in 0.49s`, with `2 runs, ` before it if tests ran again.
fn parse_totals(line: &str) -> Option<GotestsumTotals> {
    let (list, time) = line.rsplit_once(" in ")?;
    let milliseconds = Some(scan::parse_seconds(time.strip_suffix('s')?)?);
    let mut totals = GotestsumTotals { milliseconds, ..GotestsumTotals::default() };
    let mut tests = None;
    for part in list.split(", ") {
        let (number, word) = scan::split_amount(part)?;
        match word {
            "tests" | "test" => tests = Some(number),
            "skipped" => totals.counts.skipped = number,
            "failures" | "failure" => totals.counts.failed = number,
            "errors" | "error" => totals.errors = number,
            "runs" | "run" => {}
            _ => return None,
        }
    }
    let TestCounts { failed, skipped, .. } = totals.counts;
    totals.counts.passed = tests?.saturating_sub(failed).saturating_sub(skipped);
    Some(totals)
}

/// Parses package and test of `till TestOpen (0.00s)` and `till TestOpen (re-run 1) (0.00s)`.
fn parse_failed(rest: &str) -> Option<(&str, &str)> {
    let (name, time) = rest.rsplit_once(" (")?;
    scan::parse_seconds(time.strip_suffix("s)")?)?;
    let name = name.split_once(" (re-run ").map_or(name, |(name, _)| name);
    name.split_once(' ')
}

/// Parses package and test of `till.TestOpen (0.00s)`; tests of the module's root have no package.
fn parse_passed(rest: &str) -> Option<(&str, &str)> {
    let (name, time) = rest.rsplit_once(" (")?;
    scan::parse_seconds(time.strip_suffix("s)")?)?;
    let start = name.find("Test").or_else(|| name.find("Example"))?;
    let package = name[..start].strip_suffix('.');
    (start == 0 || package.is_some()).then(|| (package.unwrap_or("."), &name[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_adds_up() {
        let totals = parse_totals("6 tests, 1 skipped, 3 failures in 0.49s").unwrap();
        assert_eq!(totals.counts, TestCounts { passed: 2, failed: 3, skipped: 1 });
        assert_eq!(parse_totals("1 tests, 1 error in 0.471s").unwrap().errors, 1);
        assert!(parse_totals("with it in 3s").is_none());
        assert_eq!(parse_failed(". TestA/b (re-run 1) (0.00s)"), Some((".", "TestA/b")));
        assert_eq!(parse_passed("a/till.TestOpen (0.00s)"), Some(("a/till", "TestOpen")));
        assert_eq!(parse_passed("TestOpen/x.TestY (0.00s)"), Some((".", "TestOpen/x.TestY")));
    }
}
