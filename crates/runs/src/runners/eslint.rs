//! ESLint in its default form: a file, its findings indented below, and `✖ 4 problems (3 errors, 1 warning)`.
//!
//! Warnings alone do not fail a run, unless there are too many, which a later message reports; so they are unknown.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "eslint",
    RunKind::Lint,
    &["  error  ", " problem", "ESLint found too many warnings"],
    read_output,
)
.silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut file = None;
    let mut above = "";
    // Stylelint prints the same summary.
    let mut is_stylelint = false;
    for line in text.lines() {
        if let Some((row, rule, message)) = parse_finding(line)
            && (file.is_some() || rule.is_some())
        {
            // `grep error` keeps the findings and drops the files.
            let place = file.map(|path| CodePlace { path, line: Some(row) });
            findings.add(place, rule, message);
        } else if let Some(errors) = parse_error_count(line) {
            findings.bad |= errors > 0 && !is_stylelint;
            file = None;
        } else if line.starts_with("ESLint found too many warnings") {
            findings.bad = true;
        } else if above.is_empty() && !line.is_empty() && !line.starts_with(' ') {
            file = Some(line);
        } else if line.is_empty() {
            file = None;
        }
        is_stylelint |= line.starts_with("  ") && line.contains("  ✖  ");
        above = line;
    }
    findings.report()
}

/// Parses `  1:7  error  'x' is not defined  no-undef` into line, rule and message. A parsing error has no rule.
fn parse_finding(line: &str) -> Option<(u32, Option<&str>, &str)> {
    let (place, rest) = line.strip_prefix("  ")?.trim_start().split_once(' ')?;
    let (row, column) = place.split_once(':')?;
    let row = row.parse().ok()?;
    column.parse::<u32>().ok()?;
    let text = rest.trim_start().strip_prefix("error  ")?.trim();
    if let Some(message) = text.strip_prefix("Parsing error: ") {
        return Some((row, Some("Parsing error"), message));
    }
    let (message, rule) =
        text.rsplit_once("  ").map_or((text, None), |(message, rule)| (message, Some(rule)));
    Some((row, rule, message))
}

/// Parses the number of errors in the last line.
fn parse_error_count(line: &str) -> Option<u32> {
    let (number, words) = scan::split_amount(line.strip_prefix("✖ ")?)?;
    let (_, errors) = words.strip_suffix(')')?.split_once('(')?;
    let (errors, words) = scan::split_amount(errors)?;
    (number >= errors && words.starts_with("error")).then_some(errors)
}
