//! minitest, alone or through rake and Rails.

use crate::runs::report::{Failure, Report, Runner};
use crate::runs::scan::{self, counted, file};
use crate::runs::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "minitest",
    kind: Kind::Test,
    tells: &[" skips\n", "Failure:\n", "Error:\n"],
    read,
};

fn read(text: &str) -> Report {
    let mut summaries: Vec<Counts> = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
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
            // The line below the heading names the test; after it come class and message, or the message alone.
            if let Some(failure) = named(line) {
                failures.push(failure);
                open = true;
            }
            heading = "";
        } else if line.ends_with(" Skipped:") {
            open = false;
        } else if let Some(failure) = failures.last_mut().filter(|_| open) {
            detail(failure, line);
        }
    }
    let sum = match summaries.as_slice() {
        // Rake runs one process per task, and prints a summary of each; two of one process cannot be told from them.
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
        _ if failed && !failures.is_empty() => Verdict::Failed,
        None if summaries.is_empty() && !failures.is_empty() => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    Report { verdict, counts: sum, failures, duration: finished.filter(|_| sum.is_some()) }
}

/// `3 runs, 2 assertions, 1 failures, 0 errors, 1 skips`, all of it.
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

/// `TestLedger#test_adds [test/l_test.rb:4]:`, the place only of a failed assertion.
fn named(line: &str) -> Option<Failure> {
    let line = line.strip_suffix(':')?;
    let (test, place) = match line.split_once(" [") {
        Some((test, place)) => (test, place.strip_suffix(']').and_then(file)),
        None => (line, None),
    };
    test.contains('#').then(|| Failure {
        test: Some(test.to_owned()),
        frame: place.map(str::to_owned),
        ..Failure::default()
    })
}

fn detail(failure: &mut Failure, line: &str) {
    if failure.message.is_none() {
        let class = |c: &&str| c.starts_with(|c: char| c.is_ascii_uppercase()) && !c.contains(' ');
        // An assertion has its place above, so that `Expected: 4` is no class.
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
    {
        failure.frame = file(place).map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::runs::cases::check("minitest");
    }
}
