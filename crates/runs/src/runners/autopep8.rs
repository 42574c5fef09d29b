//! autopep8 with `--diff`: a diff for each file that it would change, and nothing on success.

use super::findings::Findings;
use crate::Kind;
use crate::report::{Report, Runner};
use crate::scan::Place;

pub(super) static RUNNER: Runner = Runner {
    name: "autopep8",
    kind: Kind::Lint,
    tells: &["\n--- original/"],
    silent_on_success: true,
    read: read_output,
};

fn read_output(text: &str) -> Report {
    let mut findings = Findings::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("--- original/")
            && lines.peek().and_then(|next| next.strip_prefix("+++ fixed/")) == Some(path)
        {
            let place = Place { path, line: None };
            findings.add(Some(place), Some("unformatted"), "File would be reformatted");
        }
    }
    findings.report()
}
