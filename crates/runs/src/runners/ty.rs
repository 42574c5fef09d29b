//! ty: `error[invalid-return-type]: …` with ` --> a.py:5:12` below, or in the concise form a single line.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "ty",
    RunKind::Typecheck,
    &["\nerror[", ": error[", "All checks passed!"],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut open = None;
    let mut is_empty = false;
    for line in text.lines() {
        if let Some((rule, message)) = parse_diagnostic(line) {
            open = Some((rule, message));
        } else if let Some(place) = line.trim_start().strip_prefix("--> ") {
            // `deno lint` has the same form.
            let place = scan::parse_place(place).filter(|place| place.path.contains(".py"));
            if let (Some((rule, message)), Some(place)) = (open.take(), place) {
                findings.add(Some(place), Some(rule), message);
            }
        } else if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((rule, message)) = rest.strip_prefix(": ").and_then(parse_concise)
        {
            findings.add(Some(place), Some(rule), message);
        } else if line == "All checks passed!" {
            findings.good = true;
        } else if line.starts_with("WARN No python files found ") {
            is_empty = true;
        }
    }
    findings.good &= !is_empty;
    findings.report()
}

/// Parses `error[invalid-return-type]: Return type does not match returned value`.
fn parse_diagnostic(line: &str) -> Option<(&str, &str)> {
    let (rule, message) = line.strip_prefix("error[")?.split_once("]: ")?;
    is_rule(rule).then_some((rule, message))
}

/// Parses `error[invalid-return-type] Return type does not match`, the text after the place in the concise form.
fn parse_concise(rest: &str) -> Option<(&str, &str)> {
    let (rule, message) = rest.strip_prefix("error[")?.split_once("] ")?;
    is_rule(rule).then_some((rule, message))
}

/// Returns true for words in lower case. The codes of rustc are a letter and digits.
fn is_rule(rule: &str) -> bool {
    !rule.is_empty() && rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_words() {
        assert_eq!(parse_diagnostic("error[a-b]: c"), Some(("a-b", "c")));
        assert_eq!(parse_diagnostic("error[E0308]: mismatched types"), None);
        assert_eq!(parse_diagnostic("warning[a-b]: c"), None);
        assert_eq!(parse_concise("error[a-b] c"), Some(("a-b", "c")));
    }
}
