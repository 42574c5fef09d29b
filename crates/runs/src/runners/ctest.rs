//! ctest: a line per test, and a summary that counts a skipped test as passed, so the lines are counted instead.

use std::collections::HashMap;

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("ctest", RunKind::Test, &[" sec"], read_output);

/// The result of a test: `Passed`, or the text around `***`.
enum CtestStatus<'a> {
    Passed,
    Skipped,
    Failed(&'a str),
}

fn read_output(text: &str) -> OutputReport {
    let mut counts = TestCounts::default();
    let mut announced = 0;
    let mut passed = PassedTests::default();
    let mut failing: Vec<(&str, &str)> = Vec::new();
    let mut printed: HashMap<&str, &str> = HashMap::new();
    let mut said: Option<u32> = None;
    let mut time = None;
    let mut above: Option<&str> = None;
    let mut below: Option<&str> = None;
    for line in text.lines() {
        if let Some((of, test, went)) = parse_result(line) {
            announced = of;
            below = None;
            match went {
                CtestStatus::Passed => {
                    counts.passed += 1;
                    passed.add(None, || test.to_owned());
                }
                CtestStatus::Skipped => counts.skipped += 1,
                CtestStatus::Failed(how) => {
                    counts.failed += 1;
                    failing.push((test, how));
                    below = Some(test);
                    // With -V the output is above, each line after the number of its test.
                    if let Some(line) = above {
                        printed.insert(test, line);
                    }
                }
            }
            above = None;
        } else if let Some(failed) = parse_summary(line) {
            said = Some(failed);
            below = None;
        } else if let Some(real) = line.strip_prefix("Total Test time (real) =") {
            time = real.trim().strip_suffix(" sec").and_then(scan::parse_seconds);
        } else if let Some(line) = parse_verbose_line(line) {
            if parse_c_place(line).is_some() || above.is_none() {
                above = Some(line);
            }
        } else if line.trim_start().starts_with("Start ") {
            below = None;
        } else if let Some(test) = below.filter(|_| !line.is_empty()) {
            printed.entry(test).or_insert(line);
        }
    }
    let seen = counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped);
    let whole = seen == announced && announced > 0 && said == Some(counts.failed) && time.is_some();
    let verdict = match said {
        _ if counts.failed > 0 => Verdict::Failed,
        Some(0) if whole && counts.passed > 0 => Verdict::Passed,
        _ => Verdict::Unknown,
    };
    // The list at the end has the order of the test numbers; the result lines have the order in which tests ended.
    let listed = text.lines().skip_while(|line| *line != "The following tests FAILED:");
    let listed = listed.filter_map(parse_listed_test).enumerate();
    let order: HashMap<&str, usize> = listed.map(|(at, test)| (test, at)).collect();
    if whole {
        failing.sort_by_key(|(test, _)| order.get(test));
    }
    let failures =
        failing.iter().map(|(test, how)| build_failure(test, how, printed.get(test).copied()));
    let failures: Vec<ReportedFailure> = failures.collect();
    OutputReport {
        verdict,
        counts: whole.then_some(counts),
        passed: passed.without_failed(&failures),
        failures,
        duration: time.filter(|_| whole),
    }
}

/// Parses ` 2/10 Test  #2: book.fails ....***Failed    0.00 sec`: the number of all tests, the name, and the result.
fn parse_result(line: &str) -> Option<(u32, &str, CtestStatus<'_>)> {
    let (_, rest) = split_number(line.trim_start())?;
    let (of, rest) = split_number(rest.strip_prefix('/')?)?;
    let (_, rest) = split_number(rest.strip_prefix(" Test")?.trim_start().strip_prefix('#')?)?;
    let rest = rest.strip_prefix(": ")?;
    let rest = rest.strip_suffix(" sec")?;
    let (rest, time) = rest.rsplit_once(' ')?;
    scan::parse_seconds(time)?;
    let (test, end) = rest.split_once(" ..")?;
    let end = end.trim_start_matches('.').trim();
    let went = if end == "Passed" {
        CtestStatus::Passed
    } else if end == "***Skipped" || end == "***Not Run (Disabled)" {
        CtestStatus::Skipped
    } else {
        let (before, after) = end.split_once("***")?;
        CtestStatus::Failed(if before.is_empty() { after } else { before }.trim_end_matches(':'))
    };
    Some((of, test, went))
}

/// Parses the number of failed tests in `44% tests passed, 5 tests failed out of 9`.
fn parse_summary(line: &str) -> Option<u32> {
    let (_, rest) = split_number(line)?;
    let (failed, rest) = split_number(rest.strip_prefix("% tests passed, ")?)?;
    let (_, rest) = split_number(rest.strip_prefix(" tests failed out of ")?)?;
    rest.is_empty().then_some(failed)
}

/// Parses the test of `\t  2 - book.fails (Failed)`.
fn parse_listed_test(line: &str) -> Option<&str> {
    let (_, rest) = split_number(line.strip_prefix('\t')?.trim_start())?;
    rest.strip_prefix(" - ")?.rsplit_once(" (").map(|(test, _)| test)
}

/// Returns the rest of `3: Assertion failed`.
fn parse_verbose_line(line: &str) -> Option<&str> {
    let (_, rest) = split_number(line)?;
    let rest = rest.strip_prefix(": ")?;
    let own = ["Test command: ", "Working Directory: ", "Test timeout computed"];
    own.iter().all(|prefix| !rest.starts_with(prefix)).then_some(rest)
}

/// Parses the place in a line of a C program; in an assertion it follows the program:
/// `t: /src/t.c:9: main: Assertion …`.
fn parse_c_place(line: &str) -> Option<CodePlace<'_>> {
    let behind = line.split_once(": ").and_then(|(_, rest)| scan::parse_place(rest));
    let source = |place: &CodePlace<'_>| place.path.contains('.') && !place.path.contains(' ');
    scan::parse_place(line).filter(source).or_else(|| behind.filter(source))
}

fn build_failure(test: &str, how: &str, printed: Option<&str>) -> ReportedFailure {
    let (kind, detail) = how.split_once(": ").unwrap_or((how, ""));
    let error = if detail.is_empty() { kind } else { detail };
    ReportedFailure {
        test: Some(test.to_owned()),
        error: Some(error.trim().to_owned()).filter(|error| error != "Failed"),
        message: printed.map(str::to_owned),
        ..ReportedFailure::default()
    }
    .with_place(printed.and_then(parse_c_place))
}
