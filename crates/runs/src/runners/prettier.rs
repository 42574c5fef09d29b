//! Prettier with `--check`: `[warn] a.js` for each file, and a summary line.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::CodePlace;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "prettier",
    RunKind::Lint,
    &[
        "\nChecking formatting...",
        "Code style issues ",
        "Prettier code style!",
        "checking code style in ",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    // Any program may print such lines. They count only together with a line that only Prettier prints.
    let mut unformatted: Vec<&str> = Vec::new();
    let mut broken: Vec<(CodePlace<'_>, &str, &str)> = Vec::new();
    let (mut is_prettier, mut is_refused, mut is_fine) = (false, false, false);
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("[warn] ") {
            if said.starts_with("Code style issues ") {
                (findings.bad, is_prettier) = (true, true);
            } else if !said.contains(": ") {
                unformatted.push(said);
            }
        } else if let Some(said) = line.strip_prefix("[error] ") {
            broken.extend(parse_syntax_error(said));
            is_refused |= said.starts_with("No files matching ") || said.starts_with("No parser ");
        } else if line == "All matched files use Prettier code style!" {
            is_fine = true;
        } else if line.starts_with("Error occurred when checking code style in ") {
            (findings.bad, is_prettier) = (true, true);
        } else if line == "Checking formatting..." {
            is_prettier = true;
        }
    }
    if is_prettier {
        for (place, error, message) in broken {
            findings.add(Some(place), Some(error), message);
        }
        for path in unformatted {
            let place = CodePlace { path, line: None };
            findings.add(Some(place), Some("unformatted"), "File is not formatted");
        }
    }
    findings.good = is_fine && !is_refused;
    findings.report()
}

/// Parses `a.js: SyntaxError: Unexpected token (1:7)` into place, error and message.
fn parse_syntax_error(said: &str) -> Option<(CodePlace<'_>, &str, &str)> {
    let (path, rest) = said.split_once(": ")?;
    let (error, message) = rest.split_once(": ")?;
    let is_error = error.ends_with("Error") && !error.contains(' ');
    let (message, numbers) = message.strip_suffix(')')?.rsplit_once(" (")?;
    let (line, _) = numbers.split_once(':')?;
    is_error.then(|| (CodePlace::new(path, line), error, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn warnings_of_others_are_none() {
        assert_eq!(read_output("[warn] a.js\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("Checking formatting...\n[warn] a.js\n").failures.len(), 1);
        let last = "[warn] Code style issues found in 2 files. Run Prettier with --write to fix.\n";
        assert_eq!(read_output(last).verdict, Verdict::Failed);
    }
}
