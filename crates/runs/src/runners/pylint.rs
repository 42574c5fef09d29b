//! Pylint: `shop/a.py:8:15: E0602: Undefined variable 'itms' (undefined-variable)`, and a rating at the end.
//!
//! Every message, even a convention, makes the exit status differ from 0, unless `--fail-under` is given, which the
//! text does not show.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "pylint",
    RunKind::Lint,
    &["\nYour code has been rated at ", ": E", ": F", ": W", ": C", ": R", ": ["],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((place, symbol, message)) = parse_finding(line) {
            findings.add(Some(place), Some(symbol), message);
        } else if let Some(rating) = line.strip_prefix("Your code has been rated at ") {
            // A rating below 10 means that there are messages, which may be cut off.
            findings.good |= rating.starts_with("10.00/10");
        }
    }
    findings.report()
}

/// Parses a finding in the default or in the parseable form into place, symbol and message.
fn parse_finding(line: &str) -> Option<(CodePlace<'_>, &str, &str)> {
    let (place, rest) =
        scan::parse_located_prefix(line).filter(|(place, _)| !place.path.contains(' '))?;
    let rest = rest.strip_prefix(": ")?;
    if let Some(rest) = rest.strip_prefix('[') {
        // `[E0602(undefined-variable), total] Undefined variable 'itms'`
        let (code, message) = rest.split_once("] ")?;
        let (code, symbol) = code.split_once('(')?;
        let (symbol, _) = symbol.split_once(')')?;
        return is_code(code).then_some((place, symbol, message));
    }
    let (code, rest) = rest.split_once(": ")?;
    let (message, symbol) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    (is_code(code) && !symbol.contains(' ')).then_some((place, symbol, message))
}

/// Returns true for a letter and four digits: `E0602`.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['C', 'R', 'W', 'E', 'F', 'I']);
    digits
        .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_need_code_and_symbol() {
        let parse = |line| {
            parse_finding(line).map(|(place, symbol, message)| (place.line, symbol, message))
        };
        let line = "shop/a.py:8:15: E0602: Undefined variable 'x' (undefined-variable)";
        assert_eq!(parse(line), Some((Some(8), "undefined-variable", "Undefined variable 'x'")));
        let line = "shop/a.py:8: [E0602(undefined-variable), total] Undefined variable 'x'";
        assert_eq!(parse(line), Some((Some(8), "undefined-variable", "Undefined variable 'x'")));
        for line in
            ["a.py:1:1: E302 expected", "a.py:1: error: x (y)", "see a.py:1:1: E0602: x (y)"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
