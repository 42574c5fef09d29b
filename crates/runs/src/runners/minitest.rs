//! minitest, alone or through rake and Rails.

use crate::report::{Failure, PassedTests, Report, Runner};
use crate::scan::{self, counted};
use crate::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "minitest",
    kind: Kind::Test,
    tells: &[" skips\n", "Failure:\n", "Error:\n"],
    silent_on_success: false,
    read,
};

fn read(text: &str) -> Report {
    let mut summaries: Vec<Counts> = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut finished = None;
    let mut heading = "";
    let mut open = false;
    for line in text.lines() {
        if let Some(counts) = summary(line) {
            summaries.push(counts);
            open = false;
        } else if let Some(rest) = line.strip_prefix("Finished in ") {
            finished = rest.split_once("s, ").and_then(|(time, _)| scan::seconds(time));
        } else if line.ends_with(" Failure:")
            || line.ends_with(" Error:")
            || line == "Failure:"
            || line == "Error:"
        {
            heading = line;
            open = false;
        } else if !heading.is_empty() {
            // The line below the heading names the test; class and message, or the message alone, follow it.
            if let Some(failure) = named(line) {
                failures.push(failure);
                open = true;
            }
            heading = "";
        } else if let Some(test) = verbose_pass(line) {
            passed.add(None, || test.to_owned());
        } else if let Some(place) =
            line.strip_prefix("bin/rails test ").or_else(|| line.strip_prefix("rails test "))
        {
            // Rails prints the command to run the test again.
            if let Some(failure) = failures.last_mut().filter(|_| open) {
                failure.scope = scan::file(place).map(str::to_owned);
            }
            open = false;
        } else if line.ends_with(" Skipped:") {
            open = false;
        } else if let Some(failure) = failures.last_mut().filter(|_| open) {
            detail(failure, line);
        }
    }
    let sum = match summaries.as_slice() {
        // Rake runs one process per task, each with a summary; two summaries of one process look the same.
        [counts] => Some(*counts),
        _ => None,
    };
    let failed = summaries.iter().any(|counts| counts.failed > 0);
    let verdict = match sum {
        Some(Counts { failed: 0, passed: 1.., .. })
            if failures.is_empty() && finished.is_some() =>
        {
            Verdict::Passed
        }
        _ if failed => Verdict::Failed,
        None if summaries.is_empty() && !failures.is_empty() => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    let duration = finished.filter(|_| sum.is_some());
    Report { verdict, counts: sum, passed: passed.without(&failures), failures, duration }
}

/// Parses a complete `3 runs, 2 assertions, 1 failures, 0 errors, 1 skips`.
fn summary(line: &str) -> Option<Counts> {
    if !line.ends_with(" skips") {
        return None;
    }
    let runs = counted(line, "runs")?;
    let failed = counted(line, "failures")?.checked_add(counted(line, "errors")?)?;
    let skipped = counted(line, "skips")?;
    let passed = runs.checked_sub(failed)?.checked_sub(skipped)?;
    Some(Counts { passed, failed, skipped })
}

/// Parses the test of `TestLedger#test_adds = 0.00 s = .`, which is printed with `--verbose`.
fn verbose_pass(line: &str) -> Option<&str> {
    let (test, time) = line.strip_suffix(" s = .")?.rsplit_once(" = ")?;
    scan::seconds(time).filter(|_| test.contains('#') && !test.contains(' ')).map(|_| test)
}

/// Parses `TestLedger#test_adds [test/l_test.rb:4]:`. Only a failed assertion has a place.
fn named(line: &str) -> Option<Failure> {
    let line = line.strip_suffix(':')?;
    let (test, place) = match line.split_once(" [") {
        Some((test, place)) => (test, place.strip_suffix(']').and_then(scan::place)),
        None => (line, None),
    };
    test.contains('#')
        .then(|| Failure { test: Some(test.to_owned()), ..Failure::default() }.at(place))
}

fn detail(failure: &mut Failure, line: &str) {
    if failure.message.is_none() {
        let class = |c: &&str| c.starts_with(|c: char| c.is_ascii_uppercase()) && !c.contains(' ');
        // An assertion has its place above, so `Expected: 4` does not start with a class.
        match line.split_once(": ").filter(|(kind, _)| failure.frame.is_none() && class(kind)) {
            Some((kind, message)) => {
                failure.error = Some(kind.to_owned());
                failure.message = Some(message.to_owned());
            }
            None if !line.is_empty() => failure.message = Some(line.trim().to_owned()),
            None => {}
        }
    } else if failure.frame.is_none()
        && let Some(place) = line.strip_prefix("    ")
        && !place.starts_with("/usr/")
        && !place.contains("/gems/")
        && let Some(place) = scan::place(place)
    {
        failure.set_place(place);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::cases::check("minitest");
    }
}
