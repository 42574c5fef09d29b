//! oxlint: `  x eslint(no-debugger): …` with `,-[src/a.js:1:1]` below, and `Found 1 warning and 2 errors.` at the end.
//!
//! Warnings alone do not fail a run, unless `--deny-warnings` is given, which the text does not show.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "oxlint",
    RunKind::Lint,
    &["\nFound ", ",-[", "╭─[", " [Error/"],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    // An error before its place.
    let mut open: Option<(Option<&str>, &str)> = None;
    for line in text.lines() {
        if let Some(message) = parse_marked(line) {
            open = Some(match split_rule(message) {
                Some((rule, message)) => (Some(rule), message),
                None => (None, message),
            });
        } else if let Some(place) = parse_frame_place(line) {
            if let Some((rule, message)) = open.take() {
                findings.add(Some(place), rule, message);
            }
        } else if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((message, rule)) = parse_unix_form(rest)
        {
            findings.add(Some(place), Some(rule), message);
        } else if let Some((warnings, errors)) = line.strip_prefix("Found ").and_then(parse_totals)
        {
            findings.bad |= errors > 0;
            findings.good |= errors == 0 && warnings == 0;
        }
    }
    findings.report()
}

/// Parses the message of `  x eslint(no-debugger): …`. The mark depends on the terminal's support for Unicode.
fn parse_marked(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ")?;
    ["x ", "× ", "✖ "].iter().find_map(|mark| text.strip_prefix(mark))
}

/// Splits `eslint(no-debugger): message`. A syntax error has no rule.
fn split_rule(message: &str) -> Option<(&str, &str)> {
    let (rule, rest) = message.split_once("): ")?;
    let (plugin, name) = rule.split_once('(')?;
    let is_plain = !plugin.contains(' ') && !name.contains(' ');
    is_plain.then(|| (&message[..=rule.len()], rest))
}

/// Parses `   ,-[src/a.js:1:1]`.
fn parse_frame_place(line: &str) -> Option<scan::CodePlace<'_>> {
    let text = line.trim_start();
    let place = text.strip_prefix(",-[").or_else(|| text.strip_prefix("╭─["))?;
    scan::parse_located_prefix(place)
        .filter(|(_, rest)| rest.starts_with(']'))
        .map(|(place, _)| place)
}

/// Parses `: Message [Error/eslint(no-debugger)]`, the text after the place in the unix form.
fn parse_unix_form(rest: &str) -> Option<(&str, &str)> {
    rest.strip_prefix(": ")?.strip_suffix(']')?.rsplit_once(" [Error/")
}

/// Parses the numbers of `1 warning and 2 errors.`
fn parse_totals(found: &str) -> Option<(u32, u32)> {
    let (warnings, rest) = scan::split_amount(found)?;
    let rest = rest.strip_prefix("warnings and ").or_else(|| rest.strip_prefix("warning and "))?;
    let (errors, word) = scan::split_amount(rest)?;
    matches!(word, "error." | "errors.").then_some((warnings, errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_stand_before_the_message() {
        assert_eq!(split_rule("eslint(no-x): a: b"), Some(("eslint(no-x)", "a: b")));
        assert_eq!(split_rule("Unexpected token"), None);
        assert_eq!(split_rule("Expected f(x): y"), None);
        assert_eq!(parse_totals("1 warning and 2 errors."), Some((1, 2)));
        assert_eq!(parse_totals("2 errors."), None);
    }
}
