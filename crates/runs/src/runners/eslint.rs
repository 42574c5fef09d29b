//! ESLint in its default form: a file, its findings indented below, and `✖ 4 problems (3 errors, 1 warning)`.
//!
//! Warnings alone do not fail a run, unless there are too many, which a later message reports; so they are unknown.

use super::findings::Findings;
use crate::Kind;
use crate::report::{Report, Runner};
use crate::scan::{self, Place};

pub(super) static RUNNER: Runner = Runner {
    name: "eslint",
    kind: Kind::Lint,
    tells: &["  error  ", " problem", "ESLint found too many warnings"],
    silent_on_success: true,
    read,
};

fn read(text: &str) -> Report {
    let mut findings = Findings::default();
    let mut file = None;
    let mut above = "";
    // Stylelint prints the same summary.
    let mut is_stylelint = false;
    for line in text.lines() {
        if let Some((row, rule, message)) = finding(line)
            && (file.is_some() || rule.is_some())
        {
            // `grep error` keeps the findings and drops the files.
            let place = file.map(|path| Place { path, line: Some(row) });
            findings.add(place, rule, message);
        } else if let Some(errors) = problems(line) {
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
fn finding(line: &str) -> Option<(u32, Option<&str>, &str)> {
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
fn problems(line: &str) -> Option<u32> {
    let (number, words) = scan::amount(line.strip_prefix("✖ ")?)?;
    let (_, errors) = words.strip_suffix(')')?.split_once('(')?;
    let (errors, words) = scan::amount(errors)?;
    (number >= errors && words.starts_with("error")).then_some(errors)
}
