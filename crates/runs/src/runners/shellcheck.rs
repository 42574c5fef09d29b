//! ShellCheck: `In a.sh line 2:`, the line, and below it a caret with `SC2045 (error): …`; nothing on success.
//!
//! Every finding fails the run, even a note.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("shellcheck", RunKind::Lint, &[" SC", "[SC"], read_output)
        .silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut place = None;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("In ").and_then(|rest| rest.strip_suffix(':')) {
            place = heading.rsplit_once(" line ").map(|(path, line)| CodePlace::new(path, line));
        } else if let Some((code, message)) = parse_finding(line) {
            findings.add(place, Some(code), message);
        } else if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((message, code)) = parse_gcc_form(rest)
        {
            findings.add(Some(place), Some(code), message);
        }
    }
    findings.report()
}

/// Parses `         ^---------^ SC2045 (error): Iterating over ls output is fragile.`
fn parse_finding(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('^')?;
    let rest = rest.trim_start_matches(['-', '^']).strip_prefix(' ')?;
    let (code, rest) = rest.split_once(" (")?;
    let (level, message) = rest.split_once("): ")?;
    let is_level = matches!(level, "error" | "warning" | "info" | "style");
    (is_code(code) && is_level).then_some((code, message))
}

/// Parses `: warning: Use 'cd ... || exit'. [SC2164]`, the text after the place in the form of gcc.
fn parse_gcc_form(rest: &str) -> Option<(&str, &str)> {
    let (_, message) = rest.strip_prefix(": ")?.split_once(": ")?;
    let (message, code) = message.strip_suffix(']')?.rsplit_once(" [")?;
    is_code(code).then_some((message, code))
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("SC").is_some_and(|digits| digits.len() == 4 && digits.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_behind_a_caret() {
        assert_eq!(parse_finding("   ^-- SC2086 (info): Quote."), Some(("SC2086", "Quote.")));
        assert_eq!(parse_finding("^---^ SC2164 (warning): Use it."), Some(("SC2164", "Use it.")));
        assert_eq!(parse_finding("  https://www.shellcheck.net/wiki/SC2045 -- Iterating"), None);
        assert_eq!(parse_gcc_form(": note: Quote. [SC2086]"), Some(("Quote.", "SC2086")));
    }
}
