//! ctest: a line per test, and a summary that counts a skipped test as passed, so the lines are counted instead.

use std::collections::HashMap;

use crate::report::{Failure, PassedTests, Report, Runner};
use crate::scan::{self, Place, number};
use crate::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner =
    Runner { name: "ctest", kind: Kind::Test, tells: &[" sec"], silent_on_success: false, read };

/// The result of a test: `Passed`, or the text around `***`.
enum Went<'a> {
    Passed,
    Skipped,
    Failed(&'a str),
}

fn read(text: &str) -> Report {
    let mut counts = Counts::default();
    let mut announced = 0;
    let mut passed = PassedTests::default();
    let mut failing: Vec<(&str, &str)> = Vec::new();
    let mut printed: HashMap<&str, &str> = HashMap::new();
    let mut said: Option<u32> = None;
    let mut time = None;
    let mut above: Option<&str> = None;
    let mut below: Option<&str> = None;
    for line in text.lines() {
        if let Some((of, test, went)) = result(line) {
            announced = of;
            below = None;
            match went {
                Went::Passed => {
                    counts.passed += 1;
                    passed.add(None, || test.to_owned());
                }
                Went::Skipped => counts.skipped += 1,
                Went::Failed(how) => {
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
        } else if let Some(failed) = summary(line) {
            said = Some(failed);
            below = None;
        } else if let Some(real) = line.strip_prefix("Total Test time (real) =") {
            time = real.trim().strip_suffix(" sec").and_then(scan::seconds);
        } else if let Some(line) = verbose(line) {
            if place(line).is_some() || above.is_none() {
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
    let listed = listed.filter_map(listed_test).enumerate();
    let order: HashMap<&str, usize> = listed.map(|(at, test)| (test, at)).collect();
    if whole {
        failing.sort_by_key(|(test, _)| order.get(test));
    }
    let failures = failing.iter().map(|(test, how)| failure(test, how, printed.get(test).copied()));
    let failures: Vec<Failure> = failures.collect();
    Report {
        verdict,
        counts: whole.then_some(counts),
        passed: passed.without(&failures),
        failures,
        duration: time.filter(|_| whole),
    }
}

/// Parses ` 2/10 Test  #2: book.fails ....***Failed    0.00 sec`: the number of all tests, the name, and the result.
fn result(line: &str) -> Option<(u32, &str, Went<'_>)> {
    let (_, rest) = number(line.trim_start())?;
    let (of, rest) = number(rest.strip_prefix('/')?)?;
    let (_, rest) = number(rest.strip_prefix(" Test")?.trim_start().strip_prefix('#')?)?;
    let rest = rest.strip_prefix(": ")?;
    let rest = rest.strip_suffix(" sec")?;
    let (rest, time) = rest.rsplit_once(' ')?;
    scan::seconds(time)?;
    let (test, end) = rest.split_once(" ..")?;
    let end = end.trim_start_matches('.').trim();
    let went = if end == "Passed" {
        Went::Passed
    } else if end == "***Skipped" || end == "***Not Run (Disabled)" {
        Went::Skipped
    } else {
        let (before, after) = end.split_once("***")?;
        Went::Failed(if before.is_empty() { after } else { before }.trim_end_matches(':'))
    };
    Some((of, test, went))
}

/// Parses the number of failed tests in `44% tests passed, 5 tests failed out of 9`.
fn summary(line: &str) -> Option<u32> {
    let (_, rest) = number(line)?;
    let (failed, rest) = number(rest.strip_prefix("% tests passed, ")?)?;
    let (_, rest) = number(rest.strip_prefix(" tests failed out of ")?)?;
    rest.is_empty().then_some(failed)
}

/// Parses the test of `\t  2 - book.fails (Failed)`.
fn listed_test(line: &str) -> Option<&str> {
    let (_, rest) = number(line.strip_prefix('\t')?.trim_start())?;
    rest.strip_prefix(" - ")?.rsplit_once(" (").map(|(test, _)| test)
}

/// Returns the rest of `3: Assertion failed`.
fn verbose(line: &str) -> Option<&str> {
    let (_, rest) = number(line)?;
    let rest = rest.strip_prefix(": ")?;
    let own = ["Test command: ", "Working Directory: ", "Test timeout computed"];
    own.iter().all(|prefix| !rest.starts_with(prefix)).then_some(rest)
}

/// Parses the place in a line of a C program; in an assertion it follows the program:
/// `t: /src/t.c:9: main: Assertion …`.
fn place(line: &str) -> Option<Place<'_>> {
    let behind = line.split_once(": ").and_then(|(_, rest)| scan::place(rest));
    let source = |place: &Place<'_>| place.path.contains('.') && !place.path.contains(' ');
    scan::place(line).filter(source).or_else(|| behind.filter(source))
}

fn failure(test: &str, how: &str, printed: Option<&str>) -> Failure {
    let (kind, detail) = how.split_once(": ").unwrap_or((how, ""));
    let error = if detail.is_empty() { kind } else { detail };
    Failure {
        test: Some(test.to_owned()),
        error: Some(error.trim().to_owned()).filter(|error| error != "Failed"),
        message: printed.map(str::to_owned),
        ..Failure::default()
    }
    .at(printed.and_then(place))
}

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::cases::check("ctest");
    }
}
