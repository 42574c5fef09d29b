//! `cargo fmt --check`: `Diff in src/lib.rs:1:` for each place that it would change, and nothing on success.

use super::findings::Findings;
use super::rustc;
use crate::report::{Report, Runner};
use crate::scan::{self, Place, has_extension};
use crate::{Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "cargo fmt",
    kind: Kind::Lint,
    tells: &["\nDiff in ", ".rs\n", "\nerror: ", "\nerror[", ": error: ", ": error["],
    silent_on_success: true,
    read: read_output,
};

fn read_output(text: &str) -> Report {
    let mut findings = Findings::default();
    let mut listed: Vec<&str> = Vec::new();
    let mut is_list = true;
    for line in text.lines().filter(|line| !line.is_empty() && !scan::is_timing(line)) {
        if let Some(place) = line.strip_prefix("Diff in ").and_then(place) {
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
        let place = Place { path, line: None };
        findings.add(Some(place), Some("unformatted"), "File would be reformatted");
    }
    let mut report = findings.report();
    if report.failures.is_empty() {
        report.failures = rustc::errors(text.lines());
        if !report.failures.is_empty() {
            report.verdict = Verdict::Failed;
        }
    }
    report
}

/// Parses `src/lib.rs:1:`, or `src/lib.rs at line 1:` of older versions.
fn place(text: &str) -> Option<Place<'_>> {
    let text = text.strip_suffix(':')?;
    match text.rsplit_once(" at line ") {
        Some((path, line)) => Some(Place::new(path, line)),
        None => scan::place(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_all_versions() {
        let expected = Some(Place { path: "src/lib.rs", line: Some(3) });
        assert_eq!(place("src/lib.rs:3:"), expected);
        assert_eq!(place("src/lib.rs at line 3:"), expected);
        assert_eq!(place("src/lib.rs"), None);
    }
}
