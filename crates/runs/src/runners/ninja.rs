//! Ninja: progress, `FAILED: book.o` with the output of the failed step below, and
//! `ninja: build stopped: subcommand failed.`
//!
//! The last step is printed before its result is known, so by the text only `ninja: no work to do.` is a pass.

use super::diagnostics;
use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("ninja", RunKind::Build, &["ninja: ", "\nFAILED: "], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut others = Findings::default();
    let mut is_ninja = false;
    let mut target = None;
    let mut above = "";
    for line in text.lines() {
        if line.starts_with("ninja: build stopped: ") {
            (findings.bad, is_ninja) = (true, true);
        } else if let Some(message) = line.strip_prefix("ninja: error: ") {
            findings.add(None, Some("ninja"), message);
        } else if line == "ninja: no work to do." {
            findings.good = true;
        } else if let Some(rest) = line.strip_prefix("FAILED: ") {
            // Other programs print this too; ninja prints its progress above it or its own messages below.
            is_ninja |= is_progress(above);
            target = target.or(Some(rest.trim_end()));
        } else if line.starts_with("ninja: ") {
            is_ninja = true;
        } else {
            diagnostics::read_line(&mut others, line);
        }
        above = line;
    }
    if is_ninja {
        findings.bad |= target.is_some();
        findings.append(others);
        if let (Some(target), true) = (target, findings.is_empty()) {
            // The output of the failed step has no known error.
            let target = target.rsplit_once("] ").map_or(target, |(_, target)| target);
            findings.add(None, Some("FAILED"), target);
        }
    }
    findings.report()
}

/// Returns true for `[2/3] Building C object book.c.o`.
fn is_progress(line: &str) -> bool {
    let numbers = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    numbers.and_then(|(numbers, _)| numbers.split_once('/')).is_some_and(|(done, all)| {
        done.trim_start().parse::<u32>().is_ok() && all.parse::<u32>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn failed_line_needs_ninja_output() {
        assert_eq!(read_output("FAILED: git commit\nhint: use -f\n").verdict, Verdict::Unknown);
        let step = "[2/3] Building C object book.c.o\nFAILED: book.c.o \ncc -c book.c\n";
        assert_eq!(read_output(step).verdict, Verdict::Failed);
    }
}
