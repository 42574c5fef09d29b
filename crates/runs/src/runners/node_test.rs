//! Node's test runner, in its two forms: TAP (into a pipe, up to Node 22) and spec.
//!
//! Both end in the same block of numbers, in a fixed order; in TAP it follows the plan `1..N`, which a test cannot
//! imitate, as its output is a comment there. A cancelled test counts as failed, a todo test as skipped. A name is the
//! path that `--test-name-pattern` matches, `suite > test`, or the file if all of it failed.

mod spec;
mod tap;

use super::count_sums;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "node --test",
    RunKind::Test,
    &["\n# tests ", "\nℹ tests ", "not ok ", "✖ "],
    read_output,
);

/// The names of the numbers in the block, in order.
const SUMMARY_NAMES: &[&str] =
    &["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];

/// The numbers at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct NodeSummary {
    counts: TestCounts,
    milliseconds: u64,
    lines: usize,
}

fn read_output(text: &str) -> OutputReport {
    let mut total: Option<NodeSummary> = None;
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let (mut tap, mut spec) = (tap::TapParser::default(), spec::SpecParser::default());
    let mut passed = PassedTests::default();
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        let mark = if line.starts_with("# tests ") && is_plan(above) {
            Some("# ")
        } else {
            line.starts_with("ℹ tests ").then_some("ℹ ")
        };
        if let Some(numbers) = mark.and_then(|mark| parse_summary(line, lines.clone(), mark)) {
            // The lines that looked like failures were todo tests, or output of tests.
            if numbers.counts.failed == 0 {
                (tap, spec) = (tap::TapParser::default(), spec::SpecParser::default());
            }
            failures.append(&mut tap.take_failures());
            spec.close_run(numbers.counts.failed > 0, &mut failures);
            let total = total.get_or_insert_default();
            count_sums::add_counts(&mut total.counts, numbers.counts);
            total.milliseconds = total.milliseconds.saturating_add(numbers.milliseconds);
            lines.nth(numbers.lines - 2);
            above = "";
            continue;
        }
        tap.take(line, &mut passed);
        spec.read_line(line, &mut passed);
        above = line;
    }
    failures.append(&mut tap.take_failures());
    spec.close_run(false, &mut failures);
    let counts = total.map(|total| total.counts);
    let verdict = if !failures.is_empty() || counts.is_some_and(|counts| counts.failed > 0) {
        Verdict::Failed
    } else if counts.is_some_and(|counts| counts.passed > 0) {
        Verdict::Passed
    } else {
        Verdict::Unknown
    };
    let duration = total.map(|total| total.milliseconds);
    OutputReport { verdict, counts, passed: passed.without_failed(&failures), failures, duration }
}

fn is_plan(line: &str) -> bool {
    line.strip_prefix("1..").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Parses the block that starts with this line. Its numbers must add up.
fn parse_summary<'a>(
    first: &'a str,
    rest: impl Iterator<Item = &'a str>,
    mark: &str,
) -> Option<NodeSummary> {
    let mut numbers = NodeSummary::default();
    let mut tests = 0;
    let mut next = 0;
    for line in std::iter::once(first).chain(rest) {
        let (name, value) = line.strip_prefix(mark)?.split_once(' ')?;
        // Node 18 did not count suites.
        if SUMMARY_NAMES[next] == "suites" && name == "pass" {
            next += 1;
        }
        if name != SUMMARY_NAMES[next] {
            return None;
        }
        next += 1;
        numbers.lines += 1;
        let counts = &mut numbers.counts;
        if name == "duration_ms" {
            numbers.milliseconds = scan::parse_decimal(value, 1)?;
            let ran = [counts.passed, counts.failed, counts.skipped]
                .iter()
                .try_fold(0, |sum: u32, part| sum.checked_add(*part));
            return (ran == Some(tests)).then_some(numbers);
        }
        let value: u32 = value.parse().ok()?;
        let sum = match name {
            "tests" => &mut tests,
            "pass" => &mut counts.passed,
            "fail" | "cancelled" => &mut counts.failed,
            "skipped" | "todo" => &mut counts.skipped,
            _ => continue,
        };
        *sum = sum.checked_add(value)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 9.5\n";

    #[test]
    fn summary_follows_plan() {
        assert_eq!(read_output(&format!("1..2\n{BLOCK}")).verdict, Verdict::Passed);
        for text in [
            BLOCK.to_owned(),
            format!("1..2\n\n{BLOCK}"),
            format!("1..2\n{}", BLOCK.replace("# todo 0\n", "")),
            format!("1..2\n{}", BLOCK.replace("pass 2", "pass 3")),
            format!("1..2\n{}", BLOCK.replace("# duration_ms 9.5\n", "")),
        ] {
            assert_eq!(read_output(&text).verdict, Verdict::Unknown, "{text}");
        }
        let old = format!("1..2\n{}", BLOCK.replace("# suites 0\n", ""));
        assert_eq!(read_output(&old).verdict, Verdict::Passed);
    }

    #[test]
    fn todo_test_cannot_fail() {
        let text = format!("not ok 1 - a # TODO\n  ---\n  error: 'x'\n  ...\n1..2\n{BLOCK}");
        assert_eq!(read_output(&text).verdict, Verdict::Passed);
        assert!(read_output(&text).failures.is_empty());
    }
}
