//! mypy: `a.py:2: error: … [return-value]`, then `Found 1 error in …` or `Success: no issues found in …`.

use super::findings::Findings;
use crate::report::{OutputReader, OutputReport};
use crate::{RunKind, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "mypy",
    RunKind::Typecheck,
    &[": error: ", "\nFound ", "\nSuccess: no issues found in "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some(message) = rest.strip_prefix(": error: ")
            && place.path.contains(".py")
            && !place.path.contains(' ')
        {
            if let Some((message, code)) = split_code(message) {
                findings.add(Some(place), Some(code), message);
            } else {
                // Pretty output is wrapped, often before the code.
                let code = lines.clone().next().and_then(split_code).map(|(_, code)| code);
                findings.add(Some(place), code, message);
            }
        } else if let Some(found) = line.strip_prefix("Found ") {
            findings.bad |= is_error_summary(found);
        } else if let Some(found) = line.strip_prefix("Success: no issues found in ") {
            findings.good |=
                scan::split_amount(found).is_some_and(|(_, what)| what.starts_with("source file"));
        }
    }
    findings.report()
}

/// Splits a message from the code in brackets at its end.
fn split_code(text: &str) -> Option<(&str, &str)> {
    let (message, code) = text.strip_suffix(']')?.rsplit_once('[')?;
    let fits = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (fits && !code.is_empty()).then_some((message, code))
}

/// Returns true for `3 errors in 2 files (checked 2 source files)`.
fn is_error_summary(found: &str) -> bool {
    scan::split_amount(found).is_some_and(|(number, what)| {
        number > 0 && what.starts_with("error") && what.contains(" in ") && what.ends_with(')')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn notes_are_no_errors() {
        assert_eq!(read_output("a.py:1: note: x\n").verdict, Verdict::Unknown);
        let both = "a.py:1: note: x\nSuccess: no issues found in 2 source files\n";
        assert_eq!(read_output(both).verdict, Verdict::Passed);
        assert_eq!(read_output("Success: no issues found in time\n").verdict, Verdict::Unknown);
    }
}
