//! `dotnet build`: errors of the compiler and of MSBuild, and `Build succeeded.` or `Build FAILED.`; the terminal
//! logger of .NET 9 prints `Build succeeded in 2.1s`. Written from the documented forms.

use super::dotnet_test;
use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "dotnet build",
    RunKind::Build,
    &[
        "): error ",
        " : error ",
        "\nBuild FAILED.",
        "\nBuild succeeded",
        "\nBuild failed with ",
        " Error(s)\n",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        if let Some(failure) =
            dotnet_test::parse_compiler_error(line).filter(|failure| failure.test.is_none())
        {
            let place = failure.frame.as_deref().map(|path| CodePlace { path, line: failure.line });
            let message = failure.message.as_deref().unwrap_or_default();
            findings.add_once(place, failure.error.as_deref(), message);
        } else if let Some((place, code, message)) = parse_project_error(line) {
            findings.add_once(place, Some(code), message);
        } else if line == "Build FAILED." || is_terminal_failure(line) {
            findings.bad = true;
        } else if line == "Build succeeded." || is_terminal_success(line) {
            findings.good = true;
        } else if let Some((number, "Error(s)")) = scan::split_amount(line.trim_start()) {
            findings.bad |= number > 0;
        }
    }
    findings.report()
}

/// Parses `/p/Ledger.csproj : error NU1101: Unable to find package Nope. [/p/Ledger.sln]`, which has no line.
fn parse_project_error(line: &str) -> Option<(Option<CodePlace<'_>>, &str, &str)> {
    let (path, rest) = line.split_once(" : error ")?;
    let (code, message) = rest.split_once(": ")?;
    let digits = code.trim_start_matches(|sign: char| sign.is_ascii_uppercase());
    digits.parse::<u32>().ok().filter(|_| digits.len() < code.len())?;
    let message = message.rsplit_once(" [").map_or(message, |(message, _)| message);
    let path = path.trim_start();
    let place = (path.contains(['/', '\\']) || path.contains(".csproj"))
        .then_some(CodePlace { path, line: None });
    Some((place, code, message))
}

/// Returns true for `Build failed with 1 error(s) in 1.2s`.
fn is_terminal_failure(line: &str) -> bool {
    let rest = line.strip_prefix("Build failed with ").and_then(scan::split_amount);
    rest.is_some_and(|(_, words)| words.starts_with("error(s)"))
}

/// Returns true for `Build succeeded in 2.1s` and `Build succeeded with 1 warning(s) in 2.1s`.
fn is_terminal_success(line: &str) -> bool {
    let rest = line.strip_prefix("Build succeeded ");
    rest.and_then(|rest| rest.rsplit_once("in ")).is_some_and(|(_, time)| time.ends_with('s'))
}
