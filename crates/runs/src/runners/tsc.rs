//! The TypeScript compiler: `a.ts(3,7): error TS2322: …` into a pipe, `a.ts:3:7 - error TS2322: …` in the pretty form.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("tsc", RunKind::Typecheck, &["error TS", "\nFound "], read_output)
        .silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((place, code, message)) = parse_finding(line) {
            findings.add(place, Some(code), message);
        } else if let Some(found) = line.strip_prefix("Found ") {
            findings.bad |= is_error_summary(found);
        }
    }
    findings.report()
}

/// Returns true for `2 errors in the same file, starting at: a.ts:3`. mypy ends in brackets:
/// `(checked 2 source files)`.
fn is_error_summary(found: &str) -> bool {
    scan::split_amount(found).is_some_and(|(number, what)| {
        let errors = what.starts_with("error in ") || what.starts_with("errors in ");
        number > 0 && errors && !what.ends_with(')')
    })
}

/// Parses a finding into place, code and message.
pub(super) fn parse_finding(line: &str) -> Option<(Option<CodePlace<'_>>, &str, &str)> {
    let at = line.find("error TS")?;
    let (code, message) = line[at + "error ".len()..].split_once(": ")?;
    if !code[2..].bytes().all(|byte| byte.is_ascii_digit()) || code.len() == 2 {
        return None;
    }
    let place = &line[..at];
    if place.is_empty() {
        return Some((None, code, message));
    }
    let place = match place.strip_suffix("): ") {
        Some(place) => {
            let (path, numbers) = place.rsplit_once('(')?;
            CodePlace::new(path, numbers.split(',').next()?)
        }
        None => {
            scan::parse_located_prefix(place.strip_suffix(" - ")?)
                .filter(|(_, rest)| rest.is_empty())?
                .0
        }
    };
    (!place.path.starts_with(' ')).then_some((Some(place), code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_a_place_or_none() {
        let place = |line| parse_finding(line).and_then(|(place, ..)| place);
        let at = |path| Some(CodePlace { path, line: Some(2) });
        assert_eq!(place("src/a (1).ts(2,3): error TS2322: x"), at("src/a (1).ts"));
        assert_eq!(place("src/a.ts:2:3 - error TS2322: x"), at("src/a.ts"));
        assert_eq!(parse_finding("error TS5058: x"), Some((None, "TS5058", "x")));
        for line in ["error TS: x", "an error TS1234: x", "  a.ts(1,2): error TS1: x", "error TS12"]
        {
            assert_eq!(parse_finding(line), None, "{line}");
        }
    }
}
