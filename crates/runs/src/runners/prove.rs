//! prove: TAP files, and a report of those that failed. Failures are named by file, as `prove` accepts them.

use std::collections::HashMap;

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{CodePlace, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "prove",
    RunKind::Test,
    &["\nResult: ", " (Wstat: ", "\nDubious, test returned "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut failing: Vec<(&str, u32, Option<&str>)> = Vec::new();
    let mut passed = PassedTests::default();
    let mut skipped = 0;
    let mut tests = None;
    let mut results: Vec<&str> = Vec::new();
    let mut dubious = false;
    // With -v the output of a file is between its name and its result, and may look like the end.
    let mut open = false;
    for line in text.lines() {
        if let Some((file, failed)) = parse_reported(line) {
            failing.push((file, failed, None));
        } else if let Some(why) = line.strip_prefix("  Parse errors: ") {
            if let Some(last) = failing.last_mut() {
                last.2 = Some(why);
            }
        } else if let Some(result) = line.strip_prefix("Result: ") {
            results.push(result);
        } else if let Some(ran) = parse_totals(line) {
            tests = Some(ran);
        } else if line.ends_with(".. ") || line == "ok" {
            open = line != "ok";
        } else if let Some((file, "ok")) = line.rsplit_once(".. ") {
            passed.add(None, || file.trim_end_matches(['.', ' ']).to_owned());
        } else if line.contains(".. skipped: ") {
            skipped += 1;
        } else if line.starts_with("Dubious, test returned ") {
            dubious = true;
        }
    }
    // A file that died failed, even if all of its tests passed.
    let failed = failing.iter().fold(0_u32, |sum, (_, failed, _)| sum.saturating_add(*failed));
    let died = failing.iter().filter(|(_, failed, _)| *failed == 0).count();
    let fine = tests.and_then(|tests: u32| tests.checked_sub(failed));
    let counts = fine.filter(|_| !results.is_empty()).map(|passed| TestCounts {
        passed,
        failed: failed.saturating_add(u32::try_from(died).unwrap_or(u32::MAX)),
        skipped,
    });
    let verdict = match (results.as_slice(), counts) {
        ([.., "FAIL"], _) => Verdict::Failed,
        (["PASS"], Some(TestCounts { passed: 1.., failed: 0, .. })) if !dubious && !open => {
            Verdict::Passed
        }
        ([], _) if !failing.is_empty() || dubious => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    let failures =
        if verdict == Verdict::Failed { build_failures(text, &failing) } else { Vec::new() };
    OutputReport::new(verdict, counts, passed, failures)
}

/// Parses file and number of failed tests of `t/b.t (Wstat: 512 (exited 2) Tests: 3 Failed: 2)`.
fn parse_reported(line: &str) -> Option<(&str, u32)> {
    let (file, rest) = line.split_once(" (Wstat: ")?;
    let (_, failed) = rest.strip_suffix(')')?.rsplit_once(" Failed: ")?;
    Some((file.trim_end(), failed.parse().ok()?))
}

/// Parses the number of tests of `Files=2, Tests=5,  1 wallclock secs (…)`.
fn parse_totals(line: &str) -> Option<u32> {
    let rest = split_number(line.strip_prefix("Files=")?)?.1.strip_prefix(", Tests=")?;
    let (tests, rest) = split_number(rest)?;
    rest.ends_with(" CPU)").then_some(tests)
}

/// Builds one failure per file: its first failed test, the message it died with, or the report of prove.
fn build_failures(text: &str, failing: &[(&str, u32, Option<&str>)]) -> Vec<ReportedFailure> {
    let mut said: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut title = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("#   Failed test ") {
            title = Some(rest);
        } else if let Some(place) = line.strip_prefix("#   at ") {
            if let (Some(title), Some((file, line))) = (title.take(), place.split_once(" line ")) {
                said.entry(file).or_insert((title, line));
            }
        } else if !line.starts_with(['#', ' '])
            && let Some((message, place)) = line.rsplit_once(" at ")
            && let Some((file, line)) = place.split_once(" line ")
        {
            said.entry(file).or_insert((message, line));
        }
    }
    let failure = |(file, failed, parse): &(&str, u32, Option<&str>)| {
        let (message, line) = said.get(file).copied().unzip();
        // `3.`, or `3, near "}"`.
        let line = line.unwrap_or_default().split(['.', ',']).next().unwrap_or_default();
        ReportedFailure {
            test: Some((*file).to_owned()),
            error: (*failed == 0).then(|| "died".to_owned()),
            message: message.or(*parse).map(str::to_owned),
            ..ReportedFailure::default()
        }
        .with_place(Some(CodePlace::new(file, line)))
    };
    failing.iter().map(failure).collect()
}
