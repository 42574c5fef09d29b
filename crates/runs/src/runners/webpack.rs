//! webpack: `ERROR in ./src/a.js 1:6` with the reason below, and `webpack 5.1.2 compiled successfully in 3 ms` at the
//! end.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("webpack", RunKind::Build, &["\nERROR in ", "webpack "], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(place) = line.strip_prefix("ERROR in ") {
            let said = lines.clone().next().unwrap_or_default();
            let (rule, message) =
                said.split_once(": ").map_or((None, said), |(rule, message)| (Some(rule), message));
            // `./src/a.js 1:6-12`; the numbers are missing if the whole module is wrong.
            let (path, at) = place.split_once(' ').unwrap_or((place, ""));
            let place = CodePlace::new(path, at.split(':').next().unwrap_or_default());
            findings.add(Some(place), rule, message);
        } else if let Some(how) = parse_compiled(line) {
            let good = how.starts_with("successfully") || parse_error_count(how) == Some(0);
            findings.good |= good;
            findings.bad |= !good;
        }
    }
    findings.report()
}

/// Returns the result: `successfully in 3 ms`, `with 1 error in 3 ms`. The name of a configuration may precede it.
fn parse_compiled(line: &str) -> Option<&str> {
    let at = line.find("webpack ")?;
    if at > 0 && !line[..at].ends_with('(') {
        return None;
    }
    let (version, how) = line[at + "webpack ".len()..].split_once(" compiled ")?;
    let version = version.trim_end_matches(')');
    let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_version && how.ends_with(" ms")).then_some(how)
}

/// Parses the number of errors in `with 1 warning in 3 ms` and `with 2 errors and 1 warning in 3 ms`.
fn parse_error_count(how: &str) -> Option<u32> {
    let (number, words) = scan::split_amount(how.strip_prefix("with ")?)?;
    Some(if words.starts_with("warning") { 0 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn warnings_do_not_fail() {
        let verdict = |text| read_output(text).verdict;
        assert_eq!(verdict("webpack 5.1.2 compiled with 1 warning in 3 ms\n"), Verdict::Passed);
        assert_eq!(verdict("app (webpack 5.1.2) compiled successfully in 3 ms\n"), Verdict::Passed);
        let both = "webpack 5.1.2 compiled with 2 errors and 1 warning in 3 ms\n";
        assert_eq!(verdict(both), Verdict::Failed);
        assert_eq!(verdict("my webpack 5.1.2 compiled successfully in 3 ms\n"), Verdict::Unknown);
    }
}
