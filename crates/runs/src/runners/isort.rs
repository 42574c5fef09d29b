//! isort with `--check-only`: `ERROR: /p/a.py Imports are incorrectly sorted and/or formatted.`, and nothing on
//! success.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::CodePlace;

/// The text after the path.
const UNSORTED: &str = " Imports are incorrectly sorted and/or formatted.";

pub(super) static RUNNER: OutputReader =
    OutputReader::new("isort", RunKind::Lint, &[UNSORTED], read_output).silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some(path) =
            line.strip_prefix("ERROR: ").and_then(|rest| rest.strip_suffix(UNSORTED))
        {
            let place = CodePlace { path, line: None };
            findings.add(Some(place), Some("unsorted"), UNSORTED.trim_start());
        }
    }
    findings.report()
}
