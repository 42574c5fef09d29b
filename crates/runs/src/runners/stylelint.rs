//! Stylelint: a file, its findings indented below with `✖` for an error, and `✖ 4 problems (3 errors, 1 warning)`.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("stylelint", RunKind::Lint, &["  ✖  ", "  ×  "], read_output)
        .silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut file = None;
    let mut above = "";
    for line in text.lines() {
        if let Some((row, rule, message)) = parse_finding(line) {
            let place = file.map(|path| CodePlace { path, line: Some(row) });
            findings.add(place, Some(rule), message);
        } else if above.is_empty() && !line.is_empty() && !line.starts_with(' ') {
            file = Some(line);
        } else if line.is_empty() {
            file = None;
        }
        above = line;
    }
    findings.report()
}

/// Parses `  1:12  ✖  Expected "#FFFFFF" to be "#FFF"  color-hex-length` into line, rule and message.
fn parse_finding(line: &str) -> Option<(u32, &str, &str)> {
    let (row, rest) = scan::split_number(line.strip_prefix(' ')?.trim_start())?;
    let (_, rest) = scan::split_number(rest.strip_prefix(':')?)?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("✖  ").or_else(|| rest.strip_prefix("×  "))?;
    let (message, rule) = rest.trim_end().rsplit_once("  ")?;
    (!rule.contains(' ')).then_some((row, rule, message.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_no_findings() {
        let error = "  1:12  ✖  Expected a to be b   color-hex-length";
        assert_eq!(parse_finding(error), Some((1, "color-hex-length", "Expected a to be b")));
        assert_eq!(parse_finding(&error.replace('✖', "⚠")), None);
        assert_eq!(parse_finding("✖ 2 problems (2 errors, 0 warnings)"), None);
    }
}
