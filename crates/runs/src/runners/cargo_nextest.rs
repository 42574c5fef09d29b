//! cargo nextest: a right-aligned status per test, then one summary and the failures again.
//!
//! Output of tests is indented, unless `--no-capture` lets it through; then a test can print a second summary.

use super::rust_failure::{LoosePanics, failure_from_output, named_failure};
use super::rustc;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, find_count, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cargo nextest",
    RunKind::Test,
    &["s] ", "[] ", " ] ", "\nerror: ", "\nerror[", ": error: ", ": error["],
    read_output,
);

/// The line before the summary.
const RULE: &str = "────────────";

/// A summary: the time, the number of all tests, and the numbers by result.
#[derive(Clone, Copy)]
struct NextestSummary {
    millis: u64,
    of: u32,
    counts: TestCounts,
}

/// A failed test, with the output below its status.
struct NextestFailure<'a> {
    /// The id of the binary.
    binary: &'a str,
    test: &'a str,
    status: &'a str,
    printed: Vec<&'a str>,
}

fn read_output(text: &str) -> OutputReport {
    let mut announced = Vec::new();
    let mut summaries: Vec<NextestSummary> = Vec::new();
    let mut failed: Vec<NextestFailure> = Vec::new();
    // Failures before the summary; those after it repeat them, and with some settings are the only ones.
    let mut early = 0;
    let mut said_failed = false;
    // With --no-capture a test is announced, and its output comes before its status.
    let mut running = 0_usize;
    let mut printing = false;
    let mut passed = PassedTests::default();
    let mut before = RULE;
    for line in text.lines() {
        if let Some(summary) = parse_summary(line).filter(|_| before == RULE) {
            if !announced.is_empty() || summaries.is_empty() {
                summaries.push(summary);
            }
            early = failed.len();
            printing = false;
        } else if let Some(number) = parse_starting(line) {
            announced.push(number);
        } else if let Some((status, binary, test)) = parse_status(line) {
            printing = is_failure_status(status);
            if matches!(status, "PASS" | "LEAK" | "SLOW+PASS") || is_late_pass(status) {
                passed.add(Some(binary), || test.to_owned());
            }
            running = if status == "START" { running + 1 } else { running.saturating_sub(1) };
            if printing {
                failed.push(NextestFailure { binary, test, status, printed: Vec::new() });
            }
        } else if line == "error: test run failed" {
            said_failed = true;
            printing = false;
        } else if printing && let Some(failed) = failed.last_mut() {
            failed.printed.push(line.strip_prefix("    ").unwrap_or(line));
        }
        before = line;
    }

    let compile = if announced.is_empty() && summaries.is_empty() {
        rustc::collect_errors(text.lines())
    } else {
        Vec::new()
    };
    // Before the summary, a failed try may be followed by one that passes.
    let certain = failed.get(early..).is_some_and(|late| !summaries.is_empty() && !late.is_empty())
        || failed.iter().any(|failed| !failed.status.starts_with("TRY "));
    let clear = running == 0
        && summaries.len() == announced.len().max(1)
        && announced.iter().zip(&summaries).all(|(announced, summary)| *announced == summary.of);
    let counts =
        if clear { total_counts(&summaries) } else { last_failed_counts(&announced, &summaries) };
    let said_failed = said_failed
        || certain
        || !compile.is_empty()
        || text.lines().any(rustc::reports_uncompiled);
    let verdict = match counts {
        _ if said_failed => Verdict::Failed,
        Some(counts) if counts.failed > 0 => Verdict::Failed,
        Some(counts) if clear && counts.passed > 0 => Verdict::Passed,
        _ => Verdict::Unknown,
    };
    let failures = if verdict == Verdict::Failed {
        let loose = LoosePanics::collect(text);
        let chosen = if summaries.is_empty() { &failed[..] } else { &failed[early..] };
        let mut failures = compile;
        failures.extend(chosen.iter().map(|one| build_failure(one, &failed, &loose)));
        failures
    } else {
        Vec::new()
    };
    let duration = clear.then(|| summaries.iter().map(|s| s.millis).fold(0, u64::saturating_add));
    OutputReport { verdict, counts, passed: passed.without_failed(&failures), failures, duration }
}

/// Returns the counts of the last summary of a run in which tests printed others. Only a failure in it is trusted.
fn last_failed_counts(announced: &[u32], summaries: &[NextestSummary]) -> Option<TestCounts> {
    match (announced, summaries.last()) {
        ([announced], Some(summary)) if *announced == summary.of => Some(summary.counts),
        _ => None,
    }
    .filter(|counts| counts.failed > 0)
}

fn total_counts(summaries: &[NextestSummary]) -> Option<TestCounts> {
    let mut sum = TestCounts::default();
    for NextestSummary { counts, .. } in summaries {
        sum.passed = sum.passed.checked_add(counts.passed)?;
        sum.failed = sum.failed.checked_add(counts.failed)?;
        sum.skipped = sum.skipped.checked_add(counts.skipped)?;
    }
    Some(sum)
}

/// Parses the number of `    Starting 7 tests across 3 binaries (1 test skipped)`.
fn parse_starting(line: &str) -> Option<u32> {
    let (count, rest) = split_number(line.strip_prefix("    Starting ")?)?;
    (rest.starts_with(" test across ") || rest.starts_with(" tests across ")).then_some(count)
}

/// Parses a complete `     Summary [   0.033s] 3/4 tests run: 2 passed, 1 failed, 1 skipped`.
fn parse_summary(line: &str) -> Option<NextestSummary> {
    let (time, rest) = line.strip_prefix("     Summary [")?.split_once("s] ")?;
    let (ran, rest) = split_number(rest)?;
    let (of, rest) = match rest.strip_prefix('/') {
        Some(rest) => split_number(rest)?,
        None => (ran, rest),
    };
    let list = rest.strip_prefix(" tests run: ").or_else(|| rest.strip_prefix(" test run: "))?;
    let some = |word| find_count(list, word).unwrap_or(0);
    let failed = some("failed").checked_add(some("timed"))?.checked_add(some("exec"))?;
    let counts = TestCounts {
        passed: find_count(list, "passed")?,
        failed,
        skipped: find_count(list, "skipped")?,
    };
    let whole = counts.passed.checked_add(failed)? == ran && ran <= of;
    whole.then_some(NextestSummary { millis: scan::parse_seconds(time.trim())?, of, counts })
}

/// Returns true for `TRY 2 PASS`: a test that passed after a failed try.
fn is_late_pass(status: &str) -> bool {
    status.starts_with("TRY ") && status.ends_with(" PASS")
}

/// Parses status, binary and test of `        FAIL [   0.028s] (2/4) ledger tests::adds`; older versions have no
/// `(2/4)`.
fn parse_status(line: &str) -> Option<(&str, &str, &str)> {
    let (status, rest) = (line.get(..12)?, line.get(12..)?);
    let (time, rest) = rest.strip_prefix(" [")?.split_once("] ")?;
    let timed = time.is_empty() || time.ends_with('s') || time.trim().is_empty();
    let rest = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?.1,
        None => rest,
    };
    let (binary, test) = rest.split_once(' ')?;
    (timed && !binary.is_empty()).then(|| (status.trim(), binary, test.trim()))
}

/// Returns true if a status is a failure.
fn is_failure_status(status: &str) -> bool {
    let last = status.rsplit(' ').next().unwrap_or_default();
    let known =
        ["FAIL", "XFAIL", "ABORT", "TIMEOUT", "TMT", "FL+LK", "LKFAIL", "LEAK-FAIL", "TERMINATED"];
    known.contains(&last) || last.starts_with("SIG")
}

fn build_failure(
    one: &NextestFailure,
    all: &[NextestFailure],
    loose: &LoosePanics,
) -> ReportedFailure {
    let told = all.iter().filter(|other| (other.binary, other.test) == (one.binary, one.test));
    let told = told.filter_map(|other| failure_from_output(one.test, &other.printed)).next_back();
    let why =
        told.or_else(|| loose.failure_of(one.test)).unwrap_or_else(|| named_failure(one.test));
    let status = one.status.rsplit(' ').next().filter(|status| *status != "FAIL");
    let error = why.error.or_else(|| status.map(str::to_owned));
    ReportedFailure { error, scope: Some(one.binary.to_owned()), ..why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_alone_is_enough() {
        let text = "────────────\n     Summary [   0.050s] 7 tests run: 7 passed, 1 skipped\n";
        assert_eq!(read_output(text).verdict, Verdict::Passed);
        let text = "     Summary [   0.050s] 7 tests run: 6 passed, 1 skipped\n";
        assert_eq!(read_output(text).verdict, Verdict::Unknown);
    }
}
