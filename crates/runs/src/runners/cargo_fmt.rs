//! `cargo fmt --check`: `Diff in src/lib.rs:1:` for each place that it would change, and nothing on success.

use super::findings::Findings;
use super::rustc;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace, has_extension};
use crate::{RunKind, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cargo fmt",
    RunKind::Lint,
    &["\nDiff in ", ".rs\n", "\nerror: ", "\nerror[", ": error: ", ": error["],
    read_output,
)
.silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut listed: Vec<&str> = Vec::new();
    let mut is_list = true;
    for line in text.lines().filter(|line| !line.is_empty() && !scan::is_timing(line)) {
        if let Some(place) = line.strip_prefix("Diff in ").and_then(parse_diff_place) {
            findings.add(Some(place), Some("unformatted"), "File would be reformatted");
            is_list = false;
        } else if has_extension(line, "rs") && line.starts_with('/') && !line.contains(' ') {
            listed.push(line);
        } else {
            is_list = false;
        }
    }
    // With `-l` only the files are printed.
    for path in listed.into_iter().filter(|_| is_list) {
        let place = CodePlace { path, line: None };
        findings.add(Some(place), Some("unformatted"), "File would be reformatted");
    }
    let mut report = findings.report();
    if report.failures.is_empty() {
        report.failures = rustc::collect_errors(text.lines());
        if !report.failures.is_empty() {
            report.verdict = Verdict::Failed;
        }
    }
    report
}

/// Parses `src/lib.rs:1:`, or `src/lib.rs at line 1:` of older versions.
fn parse_diff_place(text: &str) -> Option<CodePlace<'_>> {
    let text = text.strip_suffix(':')?;
    match text.rsplit_once(" at line ") {
        Some((path, line)) => Some(CodePlace::new(path, line)),
        None => scan::parse_place(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_all_versions() {
        let expected = Some(CodePlace { path: "src/lib.rs", line: Some(3) });
        assert_eq!(parse_diff_place("src/lib.rs:3:"), expected);
        assert_eq!(parse_diff_place("src/lib.rs at line 3:"), expected);
        assert_eq!(parse_diff_place("src/lib.rs"), None);
    }
}
