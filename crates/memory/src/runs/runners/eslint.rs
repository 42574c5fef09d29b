//! ESLint in its default form: a file, its findings indented below, and `✖ 4 problems (3 errors, 1 warning)`.
//!
//! Warnings alone do not fail a run, unless they are too many, which is told later and elsewhere; so they are unknown.

use super::findings::Findings;
use crate::runs::report::{Report, Runner};
use crate::runs::{Kind, scan};

pub(super) static RUNNER: Runner = Runner { name: "eslint", kind: Kind::Lint, tells: &[], read };

fn read(text: &str) -> Report {
    let mut findings = Findings::default();
    let mut file = None;
    let mut above = "";
    for line in text.lines() {
        if let Some((rule, message)) = file.and_then(|_| finding(line)) {
            findings.add(file, rule, message);
        } else if let Some(errors) = problems(line) {
            findings.bad |= errors > 0;
            file = None;
        } else if line.starts_with("ESLint found too many warnings") {
            findings.bad = true;
        } else if above.is_empty() && !line.is_empty() && !line.starts_with(' ') {
            file = Some(line);
        } else if line.is_empty() {
            file = None;
        }
        above = line;
    }
    findings.report()
}

/// The rule and the message of `  1:7  error  'x' is not defined  no-undef`. What cannot be parsed breaks no rule.
fn finding(line: &str) -> Option<(Option<&str>, &str)> {
    let (place, rest) = line.strip_prefix("  ")?.trim_start().split_once(' ')?;
    let (row, column) = place.split_once(':')?;
    if row.parse::<u32>().is_err() || column.parse::<u32>().is_err() {
        return None;
    }
    let text = rest.trim_start().strip_prefix("error ")?.trim();
    if let Some(message) = text.strip_prefix("Parsing error: ") {
        return Some((Some("Parsing error"), message));
    }
    Some(text.rsplit_once("  ").map_or((None, text), |(message, rule)| (Some(rule), message)))
}

/// How many errors the last line tells of.
fn problems(line: &str) -> Option<u32> {
    let (number, words) = scan::amount(line.strip_prefix("✖ ")?)?;
    let (_, errors) = words.strip_suffix(')')?.split_once('(')?;
    let (errors, words) = scan::amount(errors)?;
    (number >= errors && words.starts_with("error")).then_some(errors)
}
