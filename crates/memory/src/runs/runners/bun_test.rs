//! Bun's test runner: a file and its tests, each failure told before its name, then a block of numbers and
//! `Ran 7 tests across 2 files.`, set apart by an empty line. Names are `file > describe > test`, or the file alone.

use std::collections::HashSet;

use super::stack::Stack;
use super::tally;
use crate::runs::report::{Failure, Report, Runner};
use crate::runs::{Counts, Kind, Verdict, scan};

pub(super) static RUNNER: Runner = Runner {
    name: "bun test",
    kind: Kind::Test,
    tells: &[
        " across ",
        "\nBailed out after ",
        "\n(fail) ",
        "\n✗ ",
        "\n# Unhandled error between tests",
    ],
    read,
};

/// What marks a test, without and with colour.
const FAILED: [&str; 2] = ["(fail) ", "✗ "];
const PASSED: [&str; 4] = ["(pass) ", "(skip) ", "✓ ", "» "];

#[derive(Default)]
struct Reading<'a> {
    file: Option<&'a str>,
    stack: Stack,
    failures: Vec<Failure>,
    names: HashSet<String>,
    /// Failures from here on belong to the run being read.
    from: usize,
    outside: bool,
    counts: Option<Counts>,
    duration: Option<u64>,
    bailed: bool,
}

fn read(text: &str) -> Report {
    let mut reading = Reading::default();
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        if above.is_empty()
            && let Some((counts, milliseconds, more)) = closing(line, lines.clone())
        {
            reading.close(counts, milliseconds);
            lines.nth(more - 1);
        } else {
            reading.take(line, above);
        }
        above = line;
    }
    reading.report()
}

/// The numbers that start with this line, the time, and how many lines follow.
fn closing<'a>(
    first: &'a str,
    rest: impl Iterator<Item = &'a str>,
) -> Option<(Counts, Option<u64>, usize)> {
    let mut counts = Counts::default();
    let mut errors = 0;
    scan::amount(first.trim_start()).filter(|(_, word)| *word == "pass")?;
    for (more, line) in std::iter::once(first).chain(rest).enumerate() {
        if let Some(ran) = line.strip_prefix("Ran ") {
            let (number, words) = scan::amount(ran)?;
            let (across, time) = words.split_once(" across ")?;
            let time = time.rsplit_once('[')?.1.strip_suffix(']')?;
            let milliseconds = match time.strip_suffix("ms") {
                Some(time) => scan::decimal(time, 1),
                None => time.strip_suffix('s').and_then(scan::seconds),
            };
            let adds_up = across.starts_with("test") && tally::all(counts) == number;
            counts.failed = counts.failed.max(errors);
            return adds_up.then_some((counts, milliseconds, more));
        }
        let (number, word) = scan::amount(line.trim_start())?;
        match word {
            "pass" => counts.passed = number,
            "fail" => counts.failed = number,
            "skip" | "todo" => counts.skipped = counts.skipped.checked_add(number)?,
            "error" | "errors" => errors = number,
            "expect() calls" | "filtered out" => {}
            _ if word.starts_with("snapshots") => {}
            _ => return None,
        }
    }
    None
}

impl<'a> Reading<'a> {
    fn take(&mut self, line: &'a str, above: &str) {
        if let Some(name) = FAILED.iter().find_map(|mark| line.strip_prefix(mark)) {
            let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
            self.fail(self.file.map_or(name.to_owned(), |file| format!("{file} > {name}")));
        } else if PASSED.iter().any(|mark| line.starts_with(mark)) {
            self.stack = Stack::default();
        } else if line == "# Unhandled error between tests" {
            (self.outside, self.stack) = (true, Stack::default());
        } else if self.outside && line.starts_with("------") && !self.stack.is_empty() {
            self.outside = false;
            let name = self.file.unwrap_or("between tests").to_owned();
            self.fail(name);
        } else if let Some(file) = line.strip_suffix(':').filter(|_| above.is_empty()) {
            self.file = Some(file).filter(|file| !file.starts_with(' '));
        } else if let Some(why) = line.strip_prefix("  ^ ") {
            if let Some(failure) = self.failures.last_mut() {
                failure.message.get_or_insert_with(|| why.to_owned());
            }
        } else if line.starts_with("Bailed out after ") {
            self.bailed = true;
        } else if let Some(message) = line.strip_prefix("error: ") {
            self.stack = Stack::default();
            self.stack.say(message);
            self.stack.name("error");
        } else if line.starts_with("      at ")
            || scan::error(line).is_some_and(|(_, message)| !message.is_empty())
        {
            self.stack.take(line);
        }
    }

    fn fail(&mut self, name: String) {
        let stack = std::mem::take(&mut self.stack);
        // Long runs repeat their failures at the end.
        if self.failures.len() < scan::MOST && self.names.insert(name.clone()) {
            self.failures.push(stack.failure(Some(name)));
        }
    }

    fn close(&mut self, counts: Counts, milliseconds: Option<u64>) {
        if counts.failed == 0 {
            // What looked like failures was printed by tests.
            self.failures.truncate(self.from);
        }
        self.from = self.failures.len();
        self.file = None;
        tally::add(self.counts.get_or_insert_default(), counts);
        tally::add_time(&mut self.duration, milliseconds);
    }

    fn report(self) -> Report {
        let Self { counts, mut failures, duration, bailed, from, file, .. } = self;
        if file.is_none() && !bailed {
            // Without a file above and numbers below, it was printed by a test.
            failures.truncate(from);
        }
        let sums = counts.unwrap_or_default();
        let verdict = if bailed || sums.failed > 0 || !failures.is_empty() {
            Verdict::Failed
        } else if sums.passed > 0 {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        Report { verdict, counts, failures, duration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_add_up_and_stand_apart() {
        let block = " 2 pass\n 0 fail\nRan 2 tests across 1 file. [5.00ms]\n";
        assert_eq!(read(block).verdict, Verdict::Passed);
        assert_eq!(read(&format!("text\n{block}")).verdict, Verdict::Unknown);
        assert_eq!(read(&block.replace("Ran 2", "Ran 3")).verdict, Verdict::Unknown);
        assert_eq!(read(" 2 pass\n 0 fail\n").verdict, Verdict::Unknown);
    }
}
