//! `cargo deny check`: `error[banned]: …` with `┌─ deny.toml:4:20` below, and `bans FAILED, licenses ok` at the end.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cargo deny",
    RunKind::Lint,
    &["┌─ ", "\nadvisories ", "\nbans ", "\nlicenses ", "\nsources ", " [ERROR] "],
    read_output,
);

/// The checks in the last line.
const CHECKS: [&str; 4] = ["advisories", "bans", "licenses", "sources"];

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut open = None;
    for line in text.lines() {
        if let Some((code, message)) =
            line.strip_prefix("error[").and_then(|rest| rest.split_once("]: "))
        {
            open = Some((code, message));
        } else if let Some(place) = line.trim_start().strip_prefix("┌─ ") {
            if let Some((code, message)) = open.take() {
                findings.add(scan::parse_place(place), Some(code), message);
            }
        } else if let Some(is_fine) = parse_summary(line) {
            findings.bad |= !is_fine;
            findings.good |= is_fine;
        } else if let Some((date, message)) = line.split_once(" [ERROR] ")
            && date.len() == "2026-11-16 12:41:54".len()
        {
            findings.add(None, Some("cargo deny"), message);
        }
    }
    findings.report()
}

/// Parses a complete `bans FAILED, licenses ok`. Returns true if no check failed.
fn parse_summary(line: &str) -> Option<bool> {
    let mut is_fine = true;
    for part in line.split(", ") {
        let (check, word) = part.split_once(' ')?;
        if !CHECKS.contains(&check) {
            return None;
        }
        is_fine &= match word {
            "ok" => true,
            "FAILED" => false,
            _ => return None,
        };
    }
    Some(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_names_the_checks() {
        assert_eq!(parse_summary("advisories ok, bans ok, licenses ok, sources ok"), Some(true));
        assert_eq!(parse_summary("bans FAILED"), Some(false));
        assert_eq!(parse_summary("tests ok"), None);
        assert_eq!(parse_summary("bans ok so far"), None);
    }
}
