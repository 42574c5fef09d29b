//! The TypeScript compiler: `a.ts(3,7): error TS2322: …` into a pipe, `a.ts:3:7 - error TS2322: …` when pretty.

use super::findings::Findings;
use crate::runs::report::{Report, Runner};
use crate::runs::{Kind, scan};

pub(super) static RUNNER: Runner = Runner { name: "tsc", kind: Kind::Typecheck, tells: &[], read };

fn read(text: &str) -> Report {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((path, code, message)) = finding(line) {
            findings.add(path, Some(code), message);
        } else if let Some(found) = line.strip_prefix("Found ") {
            findings.bad |= scan::amount(found)
                .is_some_and(|(number, what)| number > 0 && what.starts_with("error"));
        }
    }
    findings.report()
}

/// The path, the code and what it says.
fn finding(line: &str) -> Option<(Option<&str>, &str, &str)> {
    let at = line.find("error TS")?;
    let (code, message) = line[at + "error ".len()..].split_once(": ")?;
    if !code[2..].bytes().all(|byte| byte.is_ascii_digit()) || code.len() == 2 {
        return None;
    }
    let place = &line[..at];
    if place.is_empty() {
        return Some((None, code, message));
    }
    let path = match place.strip_suffix("): ") {
        Some(place) => place.rsplit_once('(')?.0,
        None => scan::located(place.strip_suffix(" - ")?).filter(|(_, rest)| rest.is_empty())?.0,
    };
    (!path.starts_with(' ')).then_some((Some(path), code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_a_place_or_none() {
        let path = |line| finding(line).and_then(|(path, ..)| path);
        assert_eq!(path("src/a (1).ts(2,3): error TS2322: x"), Some("src/a (1).ts"));
        assert_eq!(path("src/a.ts:2:3 - error TS2322: x"), Some("src/a.ts"));
        assert_eq!(finding("error TS5058: x"), Some((None, "TS5058", "x")));
        for line in ["error TS: x", "an error TS1234: x", "  a.ts(1,2): error TS1: x", "error TS12"]
        {
            assert_eq!(finding(line), None, "{line}");
        }
    }
}
