//! pre-commit: a line per hook, `ruff......Failed`, and below a failed hook its id and its output.
//!
//! The output of a hook is read by the reader of its tool, if there is one; the id of the hook is the scope. Failed
//! hooks may come before passed ones, and nothing sums up, so a tail never shows a pass.

use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan;
use crate::{RunKind, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "pre-commit",
    RunKind::Lint,
    &["...Failed\n", "\n- hook id: ", "\nAn error has occurred: "],
    read_output,
);

/// Maximum number of hooks with output that is read. The search for the reader takes time, which a hook of the client
/// does not have.
const MAX_HOOKS_READ: usize = 12;

/// A hook that failed.
struct FailedHook<'a> {
    name: &'a str,
    id: Option<&'a str>,
    is_modified: bool,
    output: Vec<&'a str>,
}

fn read_output(text: &str) -> OutputReport {
    let mut hooks: Vec<FailedHook<'_>> = Vec::new();
    let mut is_open = false;
    let mut broken = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((name, is_failed)) = parse_result(line) {
            is_open = is_failed;
            if is_failed {
                hooks.push(FailedHook::new(name));
            }
        } else if let Some(id) = line.strip_prefix("- hook id: ") {
            if !is_open {
                // The line of the hook is cut off.
                hooks.push(FailedHook::new(id));
                is_open = true;
            }
            if let Some(hook) = hooks.last_mut() {
                hook.id = Some(id);
            }
        } else if let Some(error) = line.strip_prefix("An error has occurred: ") {
            let (error, message) = scan::split_error(error).unwrap_or(("Error", error));
            let last = lines.clone().take_while(|line| line.starts_with("==")).last();
            let message = if message.is_empty() { last.unwrap_or_default() } else { message };
            broken = Some((error, message.trim_start_matches(['=', '>', ' '])));
        } else if let Some(hook) = hooks.last_mut().filter(|_| is_open) {
            match line {
                "- files were modified by this hook" => hook.is_modified = true,
                _ if line.starts_with("- exit code: ") || line.starts_with("- duration: ") => {}
                _ => hook.output.push(line),
            }
        }
    }
    let mut failures: Vec<ReportedFailure> = Vec::new();
    for (number, hook) in hooks.iter().enumerate() {
        let found = if number < MAX_HOOKS_READ { hook.read_output() } else { Vec::new() };
        if found.is_empty() {
            failures.push(hook.failure());
        } else {
            failures.extend(found);
        }
    }
    failures.truncate(scan::MAX_FAILURES);
    failures.extend(broken.map(|(error, message)| ReportedFailure {
        error: Some(error.to_owned()),
        message: Some(message.to_owned()),
        ..ReportedFailure::default()
    }));
    let verdict = if failures.is_empty() { Verdict::Unknown } else { Verdict::Failed };
    OutputReport { verdict, failures, ..OutputReport::unknown() }
}

impl<'a> FailedHook<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, id: None, is_modified: false, output: Vec::new() }
    }

    /// Returns the id, with which a user runs the hook alone, or the name if the id is cut off.
    fn id_or_name(&self) -> String {
        self.id.unwrap_or(self.name).to_owned()
    }

    /// Reads the output of the tool behind the hook. Returns an empty list if no reader understands it.
    fn read_output(&self) -> Vec<ReportedFailure> {
        let output = self.output.join("\n");
        let readers = super::select_readers(&output).into_iter();
        let found = readers
            .filter(|runner| runner.name != RUNNER.name)
            .map(|runner| (runner.read)(&output))
            .find(|report| report.verdict == Verdict::Failed && !report.failures.is_empty());
        let failures = found.map(|report| report.failures).unwrap_or_default();
        failures
            .into_iter()
            .map(|failure| ReportedFailure { scope: Some(self.id_or_name()), ..failure })
            .collect()
    }

    /// Builds the failure of the hook itself, from the first line of its output.
    fn failure(&self) -> ReportedFailure {
        let first = self.output.iter().map(|line| line.trim()).find(|line| !line.is_empty());
        let message =
            if self.is_modified { Some("files were modified by this hook") } else { first };
        ReportedFailure {
            error: Some(self.id_or_name()),
            scope: Some(self.id_or_name()),
            message: message.map(str::to_owned),
            ..ReportedFailure::default()
        }
    }
}

/// Parses `ruff.....Failed` and `ruff....(no files to check)Skipped`. Returns the name, and true if it failed.
fn parse_result(line: &str) -> Option<(&str, bool)> {
    let (rest, is_failed) = if let Some(rest) = line.strip_suffix("Failed") {
        (rest, true)
    } else {
        (line.strip_suffix("Passed").or_else(|| line.strip_suffix("Skipped"))?, false)
    };
    let rest = rest.strip_suffix("(no files to check)").unwrap_or(rest);
    let name = rest.trim_end_matches('.');
    (rest.len() - name.len() >= 3 && !name.is_empty()).then_some((name, is_failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_lines_are_parsed() {
        assert_eq!(parse_result("check yaml.......Passed"), Some(("check yaml", false)));
        assert_eq!(parse_result("ruff.......(no files to check)Skipped"), Some(("ruff", false)));
        assert_eq!(parse_result("ruff.......Failed"), Some(("ruff", true)));
        assert_eq!(parse_result("It Failed"), None);
        assert_eq!(parse_result("...Failed"), None);
    }

    #[test]
    fn partial_passes_are_unknown() {
        assert_eq!(read_output("mypy......Passed\nruff......Passed\n").verdict, Verdict::Unknown);
    }
}
