//! golangci-lint: `till/till.go:54:23: message (linter)` with the source and a caret below.
//!
//! Version 2 ends in `2 issues:` and a line per linter, or in `0 issues.`; version 1 prints nothing on success.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "golangci-lint",
    RunKind::Lint,
    &[".go:", " issues:\n", "\n0 issues.", "\nlevel=error ", "\nError: can't load config"],
    read_output,
)
.silent_on_success();

/// Maximum number of lines of a message below its place.
const MAX_MESSAGE_LINES: usize = 12;

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    // Places without a linter so far: a message of several lines, or several errors of the type checker.
    let mut open: Vec<(CodePlace<'_>, &str)> = Vec::new();
    let mut lines_below = 0;
    for line in text.lines() {
        if let Some((place, message)) = parse_located(line) {
            let split = split_linter(message);
            open.push((place, split.map_or(message, |(message, _)| message)));
            lines_below = 0;
            if let Some((_, linter)) = split {
                for (place, message) in open.drain(..) {
                    findings.add(Some(place), Some(linter), message);
                }
            }
        } else if !open.is_empty() {
            lines_below += 1;
            // The compiler indents the expected types: `\twant (string, bool)`.
            let is_indented = line.starts_with(['\t', ' ']);
            if let Some((_, linter)) =
                split_linter(line).filter(|(_, linter)| !is_indented || *linter == "typecheck")
            {
                for (place, message) in open.drain(..) {
                    findings.add(Some(place), Some(linter), message);
                }
            } else if lines_below == MAX_MESSAGE_LINES {
                open.clear();
            }
        }
        if let Some((number, words)) = scan::split_amount(line) {
            findings.bad |= words == "issues:" && number > 0;
            findings.good |= line == "0 issues.";
        } else if let Some(message) = line.strip_prefix("level=error msg=") {
            findings.add(None, Some("golangci-lint"), message.trim_matches('"'));
        } else if let Some(message) = line.strip_prefix("Error: can't load config") {
            findings.add(None, Some("can't load config"), message.trim_start_matches([':', ' ']));
        }
    }
    findings.report()
}

/// Parses `till/till.go:54:23: message`. A finding about a whole file or range has no column.
fn parse_located(line: &str) -> Option<(CodePlace<'_>, &str)> {
    if line.starts_with(['\t', ' ']) {
        return None;
    }
    let (place, rest) = scan::parse_located_prefix(line)?;
    let is_go = ["go", "mod"].iter().any(|kind| scan::has_extension(place.path, kind));
    // The type checker prints an empty message before its own.
    let message = rest.strip_prefix(": ").filter(|message| !message.starts_with(": "))?;
    (is_go && !place.path.contains(' ')).then_some((place, message))
}

/// Splits `message (linter)`.
fn split_linter(text: &str) -> Option<(&str, &str)> {
    let (message, linter) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let is_name =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (!linter.is_empty() && linter.bytes().all(is_name)).then_some((message, linter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn findings_end_in_their_linter() {
        let text = "a.go:3:2: ineffectual assignment to err (ineffassign)\n\terr := f()\n\t^\n";
        let report = read_output(text);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].error.as_deref(), Some("ineffassign"));
        assert_eq!(report.failures[0].line, Some(3));
        assert_eq!(read_output("a.go:3:2: undefined: x\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("3 issues:\n* errcheck: 3\n").verdict, Verdict::Failed);
        assert_eq!(read_output("0 issues.\n").verdict, Verdict::Passed);
        assert_eq!(read_output("10 issues.\n").verdict, Verdict::Unknown);
    }

    #[test]
    fn types_are_no_linters() {
        let text = "a.go:3:9: not enough arguments in call to open\n\thave (string)\n\twant (string, bool)";
        assert_eq!(read_output(text).verdict, Verdict::Unknown);
        let report = read_output(&format!("{text} (typecheck)\n"));
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].error.as_deref(), Some("typecheck"));
    }

    #[test]
    fn multiline_message_has_one_place() {
        let text = "a.go:1: 1-20 lines are similar to\n`b.go:1-20` (dupl)\npackage a\n";
        let report = read_output(text);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].message.as_deref(), Some("1-20 lines are similar to"));
    }
}
