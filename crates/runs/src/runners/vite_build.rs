//! `vite build`: `✓ built in 81ms` for each built part, or `error during build:` and the reason.

use super::findings::Findings;
use crate::report::{OutputReader, OutputReport};
use crate::{RunKind, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "vite build",
    RunKind::Build,
    &["✓ built in ", "\nerror during build:", "\n✗ Build failed in "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut telling = false;
    let mut open: Option<(Option<&str>, &str)> = None;
    for line in text.lines() {
        if line.strip_prefix("✓ built in ").is_some_and(is_time) {
            findings.good = true;
        } else if line == "error during build:" || line.starts_with("✗ Build failed in ") {
            (findings.bad, telling) = (true, true);
        } else if let Some(coded) = line.strip_prefix('[').filter(|_| telling) {
            if let Some((code, message)) = open.take() {
                findings.add(None, code, message);
            }
            open = coded.split_once("] ").map(|(code, message)| (Some(code), message));
        } else if let Some((code, message)) = open {
            // `   ╭─[ src/main.js:1:19 ]`
            let place = line.trim_start().strip_prefix("╭─[ ").and_then(scan::parse_located_prefix);
            if let Some((place, _)) = place {
                findings.add(Some(place), code, message);
                open = None;
            } else if line.trim_start().starts_with("at ") {
                findings.add(None, code, message);
                (open, telling) = (None, false);
            }
        } else if telling && open.is_none() && is_plain(line) {
            // Up to version 7 the error has no code, and the file is in the message.
            open = Some((None, line));
            telling = false;
        }
    }
    if let Some((code, message)) = open {
        findings.add(None, code, message);
    }
    findings.report()
}

/// Returns true if a line can be the error.
fn is_plain(line: &str) -> bool {
    !line.is_empty()
        && !line.starts_with(' ')
        && !line.starts_with("Build failed with ")
        && !line.contains('─')
}

fn is_time(text: &str) -> bool {
    let number = text.strip_suffix("ms").or_else(|| text.strip_suffix('s'));
    number.is_some_and(|number| scan::parse_seconds(number).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn one_part_that_fails_fails_all() {
        assert_eq!(read_output("✓ built in 1.20s\n").verdict, Verdict::Passed);
        let text = "✓ built in 1.20s\nerror during build:\nCould not resolve \"x\"\n";
        assert_eq!(read_output(text).verdict, Verdict::Failed);
        assert_eq!(
            read_output(text).failures[0].message.as_deref(),
            Some("Could not resolve \"x\"")
        );
        assert_eq!(read_output("✓ built in time\n").verdict, Verdict::Unknown);
    }
}
