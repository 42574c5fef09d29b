//! RuboCop: `a.rb:3:5: W: Lint/UselessAssignment: …`, and `2 files inspected, 10 offenses detected` at the end.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "rubocop",
    RunKind::Lint,
    &[" inspected, ", ": C: ", ": W: ", ": E: ", ": F: ", "\n== "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut file = None;
    for line in text.lines() {
        if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((cop, message)) = rest.strip_prefix(": ").and_then(parse_offense)
            && !place.path.contains(' ')
        {
            findings.add(Some(place), Some(cop), message);
        } else if let Some(path) =
            line.strip_prefix("== ").and_then(|rest| rest.strip_suffix(" =="))
        {
            file = Some(path);
        } else if let Some((row, rest)) = parse_listed(line)
            && let Some((cop, message)) = split_cop(rest)
            && let Some(path) = file
        {
            findings.add(Some(CodePlace { path, line: Some(row) }), Some(cop), message);
        } else if let Some((detected, corrected)) = parse_summary(line) {
            findings.bad |= detected > corrected;
            findings.good |= detected == 0;
        }
    }
    findings.report()
}

/// Parses `W: [Correctable] Lint/UselessAssignment: Useless assignment.` into cop and message.
fn parse_offense(text: &str) -> Option<(&str, &str)> {
    let (severity, rest) = text.split_once(": ")?;
    matches!(severity, "I" | "R" | "C" | "W" | "E" | "F").then_some(())?;
    split_cop(rest)
}

/// Splits cop and message. Returns None for an offense that was corrected.
fn split_cop(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("[Correctable] ").unwrap_or(text);
    let (cop, message) = text.split_once(": ")?;
    (cop.contains('/') && !cop.contains([' ', '['])).then_some((cop, message))
}

/// Parses the line number of `W:  3:  5: Lint/UselessAssignment: …`, the form below the name of a file.
fn parse_listed(line: &str) -> Option<(u32, &str)> {
    let (severity, rest) = line.split_once(':')?;
    matches!(severity, "I" | "R" | "C" | "W" | "E" | "F").then_some(())?;
    let (row, rest) = scan::split_number(rest.trim_start())?;
    let (_, rest) = scan::split_number(rest.strip_prefix(':')?.trim_start())?;
    Some((row, rest.strip_prefix(": ")?))
}

/// Parses the numbers of `2 files inspected, 10 offenses detected, 4 offenses corrected`; None without files.
fn parse_summary(line: &str) -> Option<(u32, u32)> {
    let mut parts = line.split(", ");
    let (files, word) = scan::split_amount(parts.next()?)?;
    if !matches!(word, "files inspected" | "file inspected") || files == 0 {
        return None;
    }
    let first = parts.next()?;
    if first == "no offenses detected" {
        return Some((0, 0));
    }
    let (detected, word) = scan::split_amount(first)?;
    let corrected = parts.find_map(|part| {
        scan::split_amount(part)
            .filter(|(_, word)| word.ends_with(" corrected"))
            .map(|(number, _)| number)
    });
    word.ends_with(" detected").then_some((detected, corrected.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_offenses_do_not_fail() {
        assert_eq!(
            parse_summary("2 files inspected, 3 offenses detected, 3 offenses corrected"),
            Some((3, 3))
        );
        assert_eq!(parse_summary("1 file inspected, no offenses detected"), Some((0, 0)));
        assert_eq!(parse_summary("0 files inspected, no offenses detected"), None);
        assert_eq!(parse_offense("C: [Corrected] Style/A: x"), None);
        assert_eq!(parse_offense("C: [Correctable] Style/A: x: y"), Some(("Style/A", "x: y")));
    }
}
