//! go test: a line per package, and with `-v` or on failure a line per test, subtests indented below their parents.
//!
//! Without `-v` nobody says how many tests ran, so there are no counts. A parent fails with its subtests; only the
//! innermost tests are counted and named.

mod events;
mod why;

use std::borrow::Cow;
use std::collections::HashSet;

use why::Told;

use super::go_errors;
use crate::runs::report::{Report, Runner};
use crate::runs::scan;
use crate::runs::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "go test",
    kind: Kind::Test,
    tells: &[
        "FAIL\n",
        "FAIL\t",
        "--- FAIL: ",
        "\nok  \t",
        "goroutine ",
        "\n=== RUN   ",
        "\n{\"Time\":",
        "\n{\"Action\":",
    ],
    read,
};

/// How a test went.
#[derive(Clone, Copy, PartialEq)]
enum Went {
    Passed,
    Failed,
    Skipped,
}

/// A line `--- FAIL: TestAdd/small (0.00s)`.
struct Result<'a> {
    went: Went,
    test: &'a str,
    /// Whether its subtests follow.
    parent: bool,
}

/// What the lines about packages say.
#[derive(Default)]
struct Packages {
    ran: bool,
    failed: bool,
    /// The last of them was a failure.
    failed_last: bool,
    millis: u64,
}

fn read(text: &str) -> Report {
    let text = events::unwrapped(text).map_or(Cow::Borrowed(text), Cow::Owned);
    let mut packages = Packages::default();
    let mut results: Vec<Result> = Vec::new();
    let mut started: HashSet<&str> = HashSet::new();
    let mut starts = 0_usize;
    let mut told = Told::default();
    for line in text.lines() {
        if let Some(test) = line.strip_prefix("=== RUN   ") {
            starts += 1;
            started.insert(test);
            told.running(test);
        } else if let Some(test) = resumed(line) {
            told.running(test);
        } else if let Some((went, test)) = result(line) {
            if let Some(last) = results.last_mut()
                && test.strip_prefix(last.test).is_some_and(|rest| rest.starts_with('/'))
            {
                last.parent = true;
            } else if let Some(parent) = test.rsplit_once('/').map(|(parent, _)| parent) {
                // A sister of the last one: their parent is marked already, unless it is in between.
                mark(&mut results, parent);
            }
            results.push(Result { went, test, parent: false });
            told.running(test);
        } else if !packages.read(line) {
            told.read(line);
        }
    }

    let verbose = starts > 0;
    let whole = !told.panicked()
        && verbose
        && starts == results.len()
        && results.iter().all(|r| started.contains(r.test));
    let failing: Vec<&str> = results
        .iter()
        .filter(|r| r.went == Went::Failed && !r.parent && (!verbose || started.contains(r.test)))
        .map(|r| r.test)
        .collect();
    let errors = go_errors::errors(&text);
    // With -v tests print what they like between the lines, also that they failed; then the last word counts.
    let failed = packages.failed_last
        || (packages.failed && !verbose)
        || (!failing.is_empty() && (whole || !verbose || !packages.ran))
        || told.panicked();
    let counts = whole.then(|| count(&results));
    let ran = if verbose { counts.is_some_and(|counts| counts.passed > 0) } else { true };
    let clean = packages.ran && !packages.failed && failing.is_empty() && errors.is_empty();
    let verdict = match (failed, clean && ran) {
        (true, _) => Verdict::Failed,
        (false, true) => Verdict::Passed,
        (false, false) => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        return Report { verdict, counts, failures: Vec::new(), duration: packages.took(verdict) };
    }
    let mut failures = if packages.failed { errors } else { Vec::new() };
    failures.extend(told.failures(&failing, go_errors::root(&text)));
    Report { verdict, counts, failures, duration: packages.took(verdict) }
}

/// Marks the last test of a name as a parent.
fn mark(results: &mut [Result], parent: &str) {
    for result in results.iter_mut().rev() {
        if result.test == parent {
            result.parent = true;
        }
        if !result.test.contains('/') {
            break;
        }
    }
}

impl Packages {
    /// Takes a line about a package: `ok  \tpackage\t0.002s`, `FAIL\tpackage [build failed]`, or the last `FAIL`.
    fn read(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("ok  \t") {
            self.ran |= ran(rest);
            self.failed_last = false;
            self.time(rest);
        } else if line == "FAIL" || line.starts_with("FAIL\t") {
            self.failed |= line != "FAIL";
            self.failed_last = true;
            self.time(line.strip_prefix("FAIL\t").unwrap_or_default());
        } else {
            return line == "PASS" || line.starts_with("?   \t");
        }
        true
    }

    fn time(&mut self, rest: &str) {
        let time = rest.split('\t').nth(1).and_then(|time| time.split(' ').next());
        let took = time.and_then(|time| time.strip_suffix('s')).and_then(scan::seconds);
        self.millis = self.millis.saturating_add(took.unwrap_or(0));
    }

    fn took(&self, verdict: Verdict) -> Option<u64> {
        (verdict != Verdict::Unknown).then_some(self.millis)
    }
}

/// Whether tests ran in a package, by all that follows `ok`. A line that was cut off may have lost that none did.
fn ran(rest: &str) -> bool {
    let mut fields = rest.split('\t').skip(1);
    let time = fields.next().is_some_and(|time| {
        time == "(cached)" || time.strip_suffix('s').and_then(scan::seconds).is_some()
    });
    time && fields
        .all(|field| field.ends_with(" of statements") || field.ends_with("[no statements]"))
}

/// The test of `=== CONT  TestOpen`: what follows is its output.
fn resumed(line: &str) -> Option<&str> {
    line.strip_prefix("=== CONT  ").or_else(|| line.strip_prefix("=== NAME  "))
}

fn result(line: &str) -> Option<(Went, &str)> {
    let rest = line.trim_start_matches(' ').strip_prefix("--- ")?;
    let (went, rest) = rest.split_once(": ")?;
    let went = match went {
        "PASS" => Went::Passed,
        "FAIL" => Went::Failed,
        "SKIP" => Went::Skipped,
        _ => return None,
    };
    let (test, time) = rest.rsplit_once(" (")?;
    scan::seconds(time.strip_suffix("s)")?).map(|_| (went, test))
}

fn count(results: &[Result]) -> Counts {
    let count = |went| {
        let leaves = results.iter().filter(|r| r.went == went && !r.parent).count();
        u32::try_from(leaves).unwrap_or(u32::MAX)
    };
    Counts {
        passed: count(Went::Passed),
        failed: count(Went::Failed),
        skipped: count(Went::Skipped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures() {
        crate::runs::cases::check("go test");
    }

    #[test]
    fn one_failing_package_among_passing_ones() {
        let text = "ok  \ta\t0.1s\nFAIL\tb\t0.2s\nok  \tc\t0.1s\n";
        assert_eq!(read(text).verdict, Verdict::Failed);
    }
}
