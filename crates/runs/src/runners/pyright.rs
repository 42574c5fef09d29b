//! Pyright: `  /p/a.py:2:12 - error: …`, optionally more lines, `(reportReturnType)` at their end, and a line of
//! numbers.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("pyright", RunKind::Typecheck, &[" - error: ", " warning"], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut open: Option<(CodePlace<'_>, &str)> = None;
    for line in text.lines() {
        let found = line.strip_prefix("  ").and_then(scan::parse_located_prefix);
        let found = found.and_then(|(place, rest)| Some((place, rest.strip_prefix(" - ")?)));
        // Continuation lines of a message have deeper indentation, with other whitespace characters.
        if let Some((place, message)) = open.filter(|_| found.is_none() && line.starts_with("  ")) {
            if let Some((_, rule)) = split_rule(line) {
                findings.add(Some(place), Some(rule), message);
                open = None;
            }
            continue;
        }
        if let Some((place, message)) = open.take() {
            findings.add(Some(place), None, message);
        }
        if let Some((place, said)) = found
            && let Some(message) = said.strip_prefix("error: ")
        {
            match split_rule(message) {
                Some((message, rule)) => findings.add(Some(place), Some(rule), message),
                None => open = Some((place, message)),
            }
        } else if let Some(errors) = parse_error_count(line) {
            findings.bad |= errors > 0;
            findings.good |= errors == 0;
        }
    }
    if let Some((place, message)) = open {
        findings.add(Some(place), None, message);
    }
    findings.report()
}

/// Splits a message from the rule in brackets at its end.
fn split_rule(text: &str) -> Option<(&str, &str)> {
    let (message, rule) = text.strip_suffix(')')?.rsplit_once(" (")?;
    rule.starts_with("report").then_some((message, rule))
}

/// Parses the number of errors in `1 error, 0 warnings, 0 informations`.
fn parse_error_count(line: &str) -> Option<u32> {
    let mut parts = line.trim_end().split(", ").map(scan::split_amount);
    let (errors, word) = parts.next()??;
    let warnings = parts.next()??.1.starts_with("warning");
    let notes = parts.next()??.1.starts_with("information");
    (word.starts_with("error") && warnings && notes && parts.next().is_none()).then_some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_whole_line() {
        assert_eq!(parse_error_count("0 errors, 0 warnings, 0 informations "), Some(0));
        assert_eq!(parse_error_count("1 error, 0 warnings, 0 informations"), Some(1));
        for line in ["0 errors", "0 errors, 0 warnings", "so 0 errors, 0 warnings, 0 informations"]
        {
            assert_eq!(parse_error_count(line), None, "{line}");
        }
    }
}
