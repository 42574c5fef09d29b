//! gofmt with `-l` or `-d`: the files that it would change, and nothing on success.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace, has_extension};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("gofmt", RunKind::Lint, &[".go\n", ".go:"], read_output).silent_on_success();

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut listed: Vec<&str> = Vec::new();
    let mut is_list = true;
    for line in text.lines().filter(|line| !line.is_empty() && !scan::is_timing(line)) {
        if let Some(path) = line.strip_prefix("diff ").and_then(parse_diff_header) {
            add_unformatted(&mut findings, path);
            is_list = false;
        } else if let Some((place, message)) = parse_syntax_error(line) {
            findings.add(Some(place), Some("syntax error"), message);
        } else if has_extension(line, "go") && !line.contains([' ', '\t', ':']) {
            listed.push(line);
        } else {
            is_list = false;
        }
    }
    // File names among other output are not a list.
    if is_list {
        for path in listed {
            add_unformatted(&mut findings, path);
        }
    }
    findings.report()
}

fn add_unformatted(findings: &mut Findings, path: &str) {
    let place = CodePlace { path, line: None };
    findings.add(Some(place), Some("unformatted"), "File would be reformatted");
}

/// Parses the path of `b/b.go.orig b/b.go`; before Go 1.17 the second is a temporary file.
fn parse_diff_header(files: &str) -> Option<&str> {
    let (original, path) = files.split_once(' ')?;
    (original.strip_suffix(".orig") == Some(path) && has_extension(path, "go")).then_some(path)
}

/// Parses `a.go:3:6: expected 'IDENT', found '{'`.
fn parse_syntax_error(line: &str) -> Option<(CodePlace<'_>, &str)> {
    let (place, rest) = scan::parse_located_prefix(line)?;
    let message = rest.strip_prefix(": ").filter(|message| message.starts_with("expected "))?;
    (has_extension(place.path, "go") && !place.path.contains(' ')).then_some((place, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn list_has_nothing_else() {
        assert_eq!(read_output("b/b.go\nc.go\n").failures.len(), 2);
        assert_eq!(read_output("b/b.go\nand c.go\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("").verdict, Verdict::Unknown);
    }
}
