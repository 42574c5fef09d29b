//! `cypress run`: the output of Mocha for each spec file, and at the end a table with `✖  1 of 2 failed (50%)` or
//! `✔  All specs passed!` below it. Written from the documented forms.
//!
//! A test has its Mocha name; its spec file is the scope.

use super::mocha;
use crate::report::{OutputReader, OutputReport, PassedTest, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cypress run",
    RunKind::Test,
    &["\n  Running:  ", "  (Run Finished)", "All specs passed!", " failed ("],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut passed: Vec<PassedTest> = Vec::new();
    let mut ended: Option<(bool, Option<TestCounts>)> = None;
    let mut spec: Option<(&str, usize)> = None;
    let mut is_failed = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let said = line.trim_end();
        if let Some(name) = said.strip_prefix("  Running:  ") {
            spec = Some((name.split_once("  ").map_or(name, |(name, _)| name), at));
        } else if said == "  (Results)" || said == "  (Run Finished)" {
            if let Some((name, start)) = spec.take() {
                let report = (mocha::RUNNER.read)(&text[start..at]);
                is_failed |= report.verdict == Verdict::Failed;
                let scope = || Some(name.to_owned());
                failures.extend(
                    report
                        .failures
                        .into_iter()
                        .map(|one| ReportedFailure { scope: scope(), ..one }),
                );
                passed.extend(
                    report.passed.into_iter().map(|one| PassedTest { scope: scope(), ..one }),
                );
            }
        } else if let Some(end) = parse_final_line(said) {
            ended = Some(end);
        }
        at += line.len();
    }
    let counts = ended.and_then(|(_, counts)| counts);
    let verdict = match ended {
        Some((false, _)) => Verdict::Failed,
        Some((true, Some(counts))) if counts.passed > 0 && !is_failed => Verdict::Passed,
        _ if is_failed => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    failures.truncate(scan::MAX_FAILURES);
    OutputReport { verdict, counts, failures, passed, duration: None }
}

/// Parses `    ✖  1 of 2 failed (50%)     00:05        5        4        1        -        -`: the result of all specs,
/// and the numbers of all, passing, failing, pending and skipped tests.
fn parse_final_line(line: &str) -> Option<(bool, Option<TestCounts>)> {
    let text = line.trim_start();
    let rest = text.trim_start_matches(['✔', '✖', '√', '×']).trim_start();
    (rest.len() < text.len()).then_some(())?;
    let is_fine = rest.starts_with("All specs passed!");
    let is_bad = scan::split_number(rest).is_some_and(|(_, rest)| {
        rest.strip_prefix(" of ")
            .and_then(scan::split_number)
            .is_some_and(|(_, rest)| rest.starts_with(" failed ("))
    });
    if !is_fine && !is_bad {
        return None;
    }
    let mut numbers = rest.split_whitespace().rev().map_while(|word| match word {
        "-" => Some(0),
        _ => word.parse::<u32>().ok(),
    });
    let mut next = || numbers.next();
    let (skipped, pending, failed, passed) = (next(), next(), next(), next());
    let counts = passed.zip(failed).zip(pending).zip(skipped);
    let counts = counts.map(|(((passed, failed), pending), skipped)| TestCounts {
        passed,
        failed,
        skipped: pending.saturating_add(skipped),
    });
    Some((is_fine, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_of_the_table() {
        let line = "    ✖  1 of 2 failed (50%)                      00:05        5        3        1        1        -";
        assert_eq!(
            parse_final_line(line),
            Some((false, Some(TestCounts { passed: 3, failed: 1, skipped: 1 })))
        );
        let line = "    ✔  All specs passed!                        00:05        5        5        -        -        -";
        assert_eq!(
            parse_final_line(line),
            Some((true, Some(TestCounts { passed: 5, failed: 0, skipped: 0 })))
        );
        assert_eq!(parse_final_line("  │ ✔  till.cy.js   00:04   2   1   1   -   - │"), None);
    }
}
