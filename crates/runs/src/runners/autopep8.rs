//! autopep8 with `--diff`: a diff for each file that it would change, and nothing on success.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::CodePlace;

pub(super) static RUNNER: OutputReader =
    OutputReader::new("autopep8", RunKind::Lint, &["\n--- original/"], read_output)
        .silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("--- original/")
            && lines.peek().and_then(|next| next.strip_prefix("+++ fixed/")) == Some(path)
        {
            let place = CodePlace { path, line: None };
            findings.add(Some(place), Some("unformatted"), "File would be reformatted");
        }
    }
    findings.report()
}
