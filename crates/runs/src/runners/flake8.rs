//! Flake8: `./a.py:1:8: F401 'os' imported but unused`, and nothing on success.

use super::findings::Findings;
use crate::report::{OutputReader, OutputReport};
use crate::{RunKind, scan};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("flake8", RunKind::Lint, &[".py"], read_output).silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((code, message)) =
                rest.strip_prefix(": ").and_then(|rest| rest.split_once(' '))
            && is_code(code)
            && place.path.contains(".py")
            && !place.path.contains(' ')
            && !message.starts_with("[*] ")
        {
            findings.add(Some(place), Some(code), message);
        }
    }
    findings.report()
}

/// Returns true for up to three letters and up to four digits; plugins must use codes of this kind.
fn is_code(text: &str) -> bool {
    let digits = text.trim_start_matches(|sign: char| sign.is_ascii_uppercase());
    let letters = text.len() - digits.len();
    (1..=3).contains(&letters)
        && (1..=4).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn only_findings_fail() {
        assert_eq!(read_output("a.py:1:1: E302 x\n").verdict, Verdict::Failed);
        for text in [
            "",
            "a.py:1:1: note x\n",
            "see a.py:1:1: E302 x\n",
            "a.py:1:1: E302 [*] x\n",
            "E302\n",
            "0\n",
        ] {
            assert_eq!(read_output(text).verdict, Verdict::Unknown, "{text}");
        }
    }
}
