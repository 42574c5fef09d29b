//! mypy: `a.py:2: error: … [return-value]`, then `Found 1 error in …` or `Success: no issues found in …`.

use super::findings::Findings;
use crate::report::{Report, Runner};
use crate::{Kind, scan};

pub(super) static RUNNER: Runner = Runner {
    name: "mypy",
    kind: Kind::Typecheck,
    tells: &[": error: ", "\nFound ", "\nSuccess: no issues found in "],
    silent_on_success: false,
    read,
};

fn read(text: &str) -> Report {
    let mut findings = Findings::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((place, rest)) = scan::located(line)
            && let Some(message) = rest.strip_prefix(": error: ")
            && place.path.contains(".py")
            && !place.path.contains(' ')
        {
            if let Some((message, code)) = coded(message) {
                findings.add(Some(place), Some(code), message);
            } else {
                // Pretty output is wrapped, often before the code.
                let code = lines.clone().next().and_then(coded).map(|(_, code)| code);
                findings.add(Some(place), code, message);
            }
        } else if let Some(found) = line.strip_prefix("Found ") {
            findings.bad |= is_found(found);
        } else if let Some(found) = line.strip_prefix("Success: no issues found in ") {
            findings.good |=
                scan::amount(found).is_some_and(|(_, what)| what.starts_with("source file"));
        }
    }
    findings.report()
}

/// Splits a message from the code in brackets at its end.
fn coded(text: &str) -> Option<(&str, &str)> {
    let (message, code) = text.strip_suffix(']')?.rsplit_once('[')?;
    let fits = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (fits && !code.is_empty()).then_some((message, code))
}

/// Returns true for `3 errors in 2 files (checked 2 source files)`.
fn is_found(found: &str) -> bool {
    scan::amount(found).is_some_and(|(number, what)| {
        number > 0 && what.starts_with("error") && what.contains(" in ") && what.ends_with(')')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn notes_are_no_errors() {
        assert_eq!(read("a.py:1: note: x\n").verdict, Verdict::Unknown);
        let both = "a.py:1: note: x\nSuccess: no issues found in 2 source files\n";
        assert_eq!(read(both).verdict, Verdict::Passed);
        assert_eq!(read("Success: no issues found in time\n").verdict, Verdict::Unknown);
    }
}
