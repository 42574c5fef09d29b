//! CMake: `CMake Error at CMakeLists.txt:4 (find_package):` with the reason below when it configures, and the output of
//! Ninja or make when it builds.

use super::findings::Findings;
use super::{make, ninja};
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};
use crate::{RunKind, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cmake",
    RunKind::Build,
    &[
        "\nCMake Error",
        "-- Build files have been written to: ",
        "-- Configuring incomplete",
        "ninja: ",
        "\nFAILED: ",
        "make: ",
        "]: *** ",
        "\nmake[",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(place) =
            line.strip_prefix("CMake Error at ").or_else(|| line.strip_prefix("CMake Error in "))
        {
            let reason = lines.clone().take(4).map(str::trim).find(|line| !line.is_empty());
            let (place, command) = split_command(place.trim_end_matches(':'));
            findings.add(place, command, reason.unwrap_or("CMake Error"));
        } else if let Some(message) = line.strip_prefix("CMake Error: ") {
            findings.add(None, None, message);
        } else if line.starts_with("-- Configuring incomplete, errors occurred!") {
            findings.bad = true;
        } else if line.starts_with("-- Build files have been written to: ") {
            findings.good = true;
        }
    }
    let report = findings.report();
    if report.verdict != Verdict::Unknown {
        return report;
    }
    [ninja::RUNNER.read, make::RUNNER.read]
        .into_iter()
        .map(|read| read(text))
        .find(OutputReport::is_known)
        .unwrap_or_else(OutputReport::unknown)
}

/// Splits `CMakeLists.txt:4 (find_package)`.
fn split_command(text: &str) -> (Option<CodePlace<'_>>, Option<&str>) {
    let (place, command) = match text.split_once(" (") {
        Some((place, command)) => (place, command.strip_suffix(')')),
        None => (text, None),
    };
    let unnumbered = CodePlace { path: place, line: None };
    (Some(scan::parse_place(place).unwrap_or(unnumbered)), command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_and_command_of_an_error() {
        let place = CodePlace { path: "CMakeLists.txt", line: Some(4) };
        assert_eq!(
            split_command("CMakeLists.txt:4 (find_package)"),
            (Some(place), Some("find_package"))
        );
        assert_eq!(split_command("CMakeLists.txt:4"), (Some(place), None));
    }
}
