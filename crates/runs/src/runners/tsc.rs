//! The TypeScript compiler: `a.ts(3,7): error TS2322: …` into a pipe, `a.ts:3:7 - error TS2322: …` in the pretty form.

use super::findings::Findings;
use crate::Kind;
use crate::report::{Report, Runner};
use crate::scan::{self, Place};

pub(super) static RUNNER: Runner = Runner {
    name: "tsc",
    kind: Kind::Typecheck,
    tells: &["error TS", "\nFound "],
    silent_on_success: true,
    read,
};

fn read(text: &str) -> Report {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((place, code, message)) = finding(line) {
            findings.add(place, Some(code), message);
        } else if let Some(found) = line.strip_prefix("Found ") {
            findings.bad |= is_bad(found);
        }
    }
    findings.report()
}

/// Returns true for `2 errors in the same file, starting at: a.ts:3`. mypy ends in brackets:
/// `(checked 2 source files)`.
fn is_bad(found: &str) -> bool {
    scan::amount(found).is_some_and(|(number, what)| {
        let errors = what.starts_with("error in ") || what.starts_with("errors in ");
        number > 0 && errors && !what.ends_with(')')
    })
}

/// Parses a finding into place, code and message.
pub(super) fn finding(line: &str) -> Option<(Option<Place<'_>>, &str, &str)> {
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
            Place::new(path, numbers.split(',').next()?)
        }
        None => scan::located(place.strip_suffix(" - ")?).filter(|(_, rest)| rest.is_empty())?.0,
    };
    (!place.path.starts_with(' ')).then_some((Some(place), code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_a_place_or_none() {
        let place = |line| finding(line).and_then(|(place, ..)| place);
        let at = |path| Some(Place { path, line: Some(2) });
        assert_eq!(place("src/a (1).ts(2,3): error TS2322: x"), at("src/a (1).ts"));
        assert_eq!(place("src/a.ts:2:3 - error TS2322: x"), at("src/a.ts"));
        assert_eq!(finding("error TS5058: x"), Some((None, "TS5058", "x")));
        for line in ["error TS: x", "an error TS1234: x", "  a.ts(1,2): error TS1: x", "error TS12"]
        {
            assert_eq!(finding(line), None, "{line}");
        }
    }
}
