//! Black with `--check`: `would reformat a.py` for each file, and a last line that counts them.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "black",
    RunKind::Lint,
    &["\nwould reformat ", " would be ", " left unchanged.", "\nerror: cannot ", " reformatted."],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines().peekable();
    let mut is_done = false;
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("would reformat ") {
            let place = CodePlace { path, line: None };
            findings.add(Some(place), Some("unformatted"), "File would be reformatted");
        } else if let Some(place) = line.strip_prefix("error: cannot parse: ") {
            // The line of code, a caret and the reason follow.
            let below = lines.clone().take(3).find_map(|line| line.strip_prefix("ParseError: "));
            findings.add(scan::parse_place(place), Some("cannot parse"), below.unwrap_or(place));
        } else if let Some((place, message)) = parse_old_error(line) {
            findings.add(Some(place), Some("cannot parse"), message);
        } else if line.starts_with("All done! ") {
            is_done = true;
        } else if let Some(is_fine) = parse_summary(line) {
            findings.bad |= !is_fine;
            findings.good |= is_fine && is_done;
        }
    }
    findings.report()
}

/// Parses `error: cannot format /p/a.py: Cannot parse: 2:4: return 1`, the form before version 24.
fn parse_old_error(line: &str) -> Option<(CodePlace<'_>, &str)> {
    let (path, message) = line.strip_prefix("error: cannot format ")?.split_once(": ")?;
    let numbers = message.rsplit_once("annot parse").map_or("", |(_, rest)| rest);
    let numbers = numbers.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    Some((CodePlace::new(path, numbers.split(':').next().unwrap_or_default()), message))
}

/// Parses `2 files would be reformatted, 1 file would be left unchanged.` Returns true if no file would change or fail.
fn parse_summary(line: &str) -> Option<bool> {
    let parts = line.strip_suffix('.')?.split(", ");
    let mut is_fine = true;
    for part in parts {
        let (number, words) = scan::split_amount(part)?;
        let words = words.strip_prefix("files ").or_else(|| words.strip_prefix("file "))?;
        match words {
            "would be left unchanged" | "left unchanged" | "reformatted" => {}
            "would be reformatted" | "would fail to reformat" | "failed to reformat" => {
                is_fine &= number == 0;
            }
            _ => return None,
        }
    }
    Some(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn last_line_shows_failures() {
        let verdict = |text| read_output(text).verdict;
        assert_eq!(
            verdict("2 files would be reformatted, 1 file would be left unchanged.\n"),
            Verdict::Failed
        );
        assert_eq!(verdict("1 file would be left unchanged.\n"), Verdict::Unknown);
        assert_eq!(verdict("All done! \n1 file would be left unchanged.\n"), Verdict::Passed);
        assert_eq!(verdict("1 file would be reformatted\n"), Verdict::Unknown);
    }

    #[test]
    fn older_versions_name_the_place_last() {
        let report = read_output("error: cannot format /p/a.py: Cannot parse: 2:4:     return 1\n");
        assert_eq!(report.failures[0].frame.as_deref(), Some("/p/a.py"));
        assert_eq!(report.failures[0].line, Some(2));
    }
}
