//! Jest.
//!
//! A run closes with four lines, `Test Suites:`, `Tests:`, `Snapshots:` and `Time:`. They are sure where as many files were
//! announced (`PASS`, `FAIL`) as they count. A tail of the output shows fewer, and where Jest sees that an agent runs it, it
//! announces only what fails: such lines must stand apart, and are believed only if nothing surer comes.
//! A suite that could not run counts as one failed test more, for Jest counts its tests nowhere. Names are
//! `file > describe > test`, or the file alone.

use std::collections::HashSet;

use super::stack::Stack;
use super::tally;
use crate::runs::report::{Failure, Report, Runner};
use crate::runs::{Counts, Kind, Verdict, scan};

pub(super) static RUNNER: Runner =
    Runner { name: "jest", kind: Kind::Test, tells: &["Test Suites: ", "Jest: ", "  ● "], read };

/// The closing lines.
#[derive(Debug, Clone, Copy, Default)]
struct Closing {
    suites_failed: u32,
    suites_run: u32,
    tests: Counts,
    milliseconds: Option<u64>,
}

#[derive(Default)]
struct Reading<'a> {
    /// The file whose failures are being told.
    file: Option<&'a str>,
    open: Option<(String, Stack)>,
    failures: Vec<Failure>,
    names: HashSet<String>,
    /// Files announced since the last closing lines, while they are announced for the first time.
    announced: u32,
    repeating: bool,
    /// Suites that could not run, since the last closing lines.
    unrun: u32,
    from: usize,
    sure: Vec<Closing>,
    unsure: Vec<Closing>,
    failed: bool,
    doubt: bool,
}

fn read(text: &str) -> Report {
    let mut reading = Reading::default();
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        if let Some(closing) = closing(line, lines.clone()) {
            reading.close(closing, above);
            lines.nth(2);
        } else {
            reading.take(line);
        }
        above = line;
    }
    reading.report()
}

/// Whether closing lines may follow this one: an empty line, or a warning of Node's.
fn is_apart(above: &str) -> bool {
    above.is_empty() || above.starts_with("(node:") || above.starts_with("(Use `node --trace-")
}

/// The four lines that start with this one.
fn closing<'a>(first: &'a str, mut rest: impl Iterator<Item = &'a str>) -> Option<Closing> {
    let suites = numbers(first.strip_prefix("Test Suites: ")?)?;
    let tests = numbers(rest.next()?.strip_prefix("Tests: ")?)?;
    rest.next()?.strip_prefix("Snapshots: ")?;
    let time = rest.next()?.strip_prefix("Time: ")?.trim_start();
    let time = time.split_once(" s").map_or(time, |(time, _)| time);
    Some(Closing {
        suites_failed: suites.failed,
        suites_run: suites.passed.saturating_add(suites.failed),
        tests,
        milliseconds: scan::seconds(time),
    })
}

/// Reads `1 failed, 1 skipped, 1 todo, 5 passed, 8 total` and `1 skipped, 0 of 1 total`; the numbers must add up.
fn numbers(text: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in text.trim_start().split(", ") {
        let (number, word) = scan::amount(part)?;
        let sum = match word {
            "failed" => &mut counts.failed,
            "passed" => &mut counts.passed,
            "skipped" | "todo" => &mut counts.skipped,
            "total" => {
                let all = counts.passed.checked_add(counts.failed)?.checked_add(counts.skipped)?;
                return (all == number).then_some(counts);
            }
            // Of suites, some may not have been run.
            _ => return word.strip_prefix("of ")?.ends_with(" total").then_some(counts),
        };
        *sum = sum.checked_add(number)?;
    }
    None
}

impl<'a> Reading<'a> {
    fn take(&mut self, line: &'a str) {
        // In colour the word has a blank around it.
        let word = line.strip_prefix(' ').unwrap_or(line);
        let announced = word.strip_prefix("PASS ").or_else(|| word.strip_prefix("FAIL "));
        if let Some(rest) = announced {
            self.finish();
            self.announced += u32::from(!self.repeating);
            // `FAIL project test/a.test.js (5.2 s)`
            let rest = rest.split_once(" (").map_or(rest, |(rest, _)| rest);
            let file = rest.rsplit(' ').next();
            self.file = file.filter(|_| word.starts_with('F'));
        } else if line == "Summary of all failing tests" {
            self.finish();
            self.repeating = true;
        } else if let Some(title) = line.strip_prefix("  ● ") {
            self.finish();
            self.start(title);
        } else if line.starts_with("Jest: ") && line.contains(" does not meet ") {
            self.failed = true;
        } else if line.starts_with("    ") {
            if let Some((_, stack)) = &mut self.open
                && !is_source(line)
            {
                stack.take(line);
            }
        } else if !line.is_empty() {
            self.finish();
        }
    }

    fn start(&mut self, title: &str) {
        if title.trim_start().starts_with("process.exit called") {
            self.doubt = true;
        }
        let Some(file) = self.file else { return };
        let name = if title == "Test suite failed to run" {
            file.to_owned()
        } else {
            format!("{file} > {}", title.replace(" › ", " > "))
        };
        self.open = Some((name, Stack::default()));
    }

    fn finish(&mut self) {
        let Some((name, stack)) = self.open.take() else { return };
        // Nothing below the title: what a test logged, or a list of what is obsolete.
        if stack.is_empty() || !self.names.insert(name.clone()) {
            return;
        }
        self.unrun += u32::from(self.file == Some(&name));
        let mut failure = stack.failure(Some(name));
        let message = failure.message.as_deref().unwrap_or_default();
        // Jest leaves out the names that say little.
        if failure.error.is_none() && message.starts_with("expect(") {
            failure.error = Some("JestAssertionError".to_owned());
        } else if failure.error.is_none() {
            failure.error = Some("Error".to_owned());
        }
        if self.failures.len() < scan::MOST {
            self.failures.push(failure);
        }
    }

    /// The closing lines, and what stands above them: where all of a run is quiet, that is the end of another.
    fn close(&mut self, mut closing: Closing, above: &str) {
        let is_sure =
            self.announced >= closing.suites_run || above.starts_with("Ran all test suites");
        if !is_sure && !is_apart(above) {
            self.doubt |= closing.suites_failed > 0;
            return;
        }
        self.finish();
        if closing.suites_failed == 0 {
            // What looked like failures was printed by tests.
            self.failures.truncate(self.from);
            self.unrun = 0;
        }
        let failed = &mut closing.tests.failed;
        *failed = failed.saturating_add(self.unrun);
        if *failed == 0 {
            *failed = closing.suites_failed;
        }
        // Standard output may stand before all of standard error and have its own look-alikes.
        if is_sure {
            self.sure.push(closing);
        } else {
            self.unsure.push(closing);
        }
        self.from = self.failures.len();
        (self.announced, self.unrun, self.repeating, self.file) = (0, 0, false, None);
    }

    fn report(mut self) -> Report {
        self.finish();
        if self.sure.is_empty() {
            self.sure = self.unsure;
        } else {
            self.doubt |= self.unsure.iter().any(|unsure| unsure.tests.failed > 0);
        }
        let mut counts = Counts::default();
        let mut duration = None;
        for closing in &self.sure {
            tally::add(&mut counts, closing.tests);
            tally::add_time(&mut duration, closing.milliseconds);
        }
        let verdict = if self.failed || counts.failed > 0 || !self.failures.is_empty() {
            Verdict::Failed
        } else if counts.passed > 0 && !self.doubt {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let counts = (!self.sure.is_empty()).then_some(counts);
        Report { verdict, counts, failures: self.failures, duration }
    }
}

/// Whether a line shows code: `    > 3 |   it(…)`.
fn is_source(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("> ").trim_start();
    text.trim_start_matches(|sign: char| sign.is_ascii_digit()).trim_start().starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSING: &str = "Test Suites: 1 passed, 1 total\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        0.2 s\n";

    #[test]
    fn a_tail_is_believed_unless_more_is_known() {
        assert_eq!(read(CLOSING).verdict, Verdict::Passed);
        assert_eq!(read(&format!("hello\n{CLOSING}")).verdict, Verdict::Unknown);
        let text = format!("PASS a.test.js\n\n{CLOSING}");
        assert_eq!(read(&text.repeat(2)).counts.unwrap().passed, 10);
        let failed = CLOSING.replace("passed", "failed");
        assert_eq!(read(&format!("{failed}{text}")).verdict, Verdict::Unknown);
        assert_eq!(read(&format!("{text}{failed}")).verdict, Verdict::Unknown);
    }

    #[test]
    fn numbers_that_do_not_add_up_are_none() {
        assert_eq!(read(&CLOSING.replace("5 total", "6 total")).verdict, Verdict::Unknown);
        assert_eq!(read(&CLOSING.replace("Snapshots", "Shots")).verdict, Verdict::Unknown);
        assert_eq!(read("Tests: 5 passed, 5 total\n").verdict, Verdict::Unknown);
    }
}
