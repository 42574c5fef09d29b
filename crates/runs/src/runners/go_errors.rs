//! Errors of the Go compiler, vet and the module loader, and the places in the project's code.

use crate::Verdict;
use crate::report::{OutputReport, ReportedFailure};
use crate::scan::{self, CodePlace, has_extension, parse_place, split_number};

/// Reads the output of `go build` and `go vet`. Go prints nothing on success, so the text alone never shows a pass.
pub(super) fn read_build_output(text: &str) -> OutputReport {
    let failures = collect_errors(text).list;
    let verdict = if failures.is_empty() { Verdict::Unknown } else { Verdict::Failed };
    OutputReport { verdict, failures, ..OutputReport::unknown() }
}

/// The keywords of [`read_build_output`].
pub(super) const KEYWORDS: &[&str] = &[".go:", "\npackage ", "\timports ", "\ngo: ", "\nvet: "];

/// The errors in a text.
#[derive(Default)]
pub(super) struct GoErrors {
    /// Each error once, in the order of the text.
    pub(super) list: Vec<ReportedFailure>,
    /// True if an error is right below the header of its package, so that it is the compiler's and not printed by a
    /// test.
    pub(super) under_header: bool,
    /// True if the module loader failed before anything was compiled.
    pub(super) is_unloaded: bool,
}

/// Collects the errors of a text.
pub(super) fn collect_errors(text: &str) -> GoErrors {
    let mut found = GoErrors::default();
    // The package of the header above, until its errors end.
    let mut package = None;
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("# ") {
            // `# example.com/ledger [example.com/ledger.test]`
            package = header.split(' ').next().filter(|name| is_package(name));
        } else if let Some(mut failure) =
            parse_error(line).or_else(|| parse_load_error(line, package))
        {
            let is_loader = line.starts_with("go: ");
            found.under_header |= package.is_some() && !is_loader;
            found.is_unloaded |= is_loader || is_loader_error(&failure);
            failure.scope = package.map(str::to_owned);
            let is_same = |other: &ReportedFailure| {
                (&other.message, &other.frame, other.line)
                    == (&failure.message, &failure.frame, failure.line)
            };
            let known = found.list.iter().rev().take(64).any(is_same);
            if !known && found.list.len() < scan::MAX_FAILURES {
                found.list.push(failure);
            }
        } else if !line.starts_with('\t') && line != "too many errors" {
            package = None;
        }
    }
    found
}

/// Returns true for an error that occurs before anything is compiled.
fn is_loader_error(failure: &ReportedFailure) -> bool {
    const STARTS: &[&str] = &[
        "missing go.sum entry ",
        "no required module provides package ",
        "cannot find module ",
        "cannot find package ",
        "build constraints exclude all Go files ",
        "import cycle not allowed",
    ];
    let message = failure.message.as_deref().unwrap_or_default();
    STARTS.iter().any(|start| message.starts_with(start))
        || message.contains(" is not in std ")
        || message.contains(" is not in GOROOT ")
}

/// Returns true for an import path, not for a sentence after `# `.
fn is_package(name: &str) -> bool {
    !name.is_empty() && !name.ends_with([':', '.']) && name.contains(['/', '.'])
        || name == "command-line-arguments"
}

/// Parses `./ledger.go:8:25: undefined: missing`, at the start of its line and with a column, which tests do not print.
fn parse_error(line: &str) -> Option<ReportedFailure> {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let place = parse_place(line).filter(|place| has_extension(place.path, "go"))?;
    let (_, rest) = split_number(line.get(place.path.len() + 1..)?)?;
    let (_, rest) = split_number(rest.strip_prefix(':')?)?;
    let message = rest.strip_prefix(": ").filter(|message| !is_ignored_message(message))?;
    Some(
        ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() }
            .with_place(Some(place)),
    )
}

/// Returns true for messages that do not count: a linter's, which ends in its name, and the line after many errors.
fn is_ignored_message(message: &str) -> bool {
    let linter = message.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    message == "too many errors" || linter.is_some_and(|(_, name)| is_name(name))
}

/// Parses an error of the module loader, which has no file: an import cycle, a broken `go.mod`, or
/// `package example.com/x: build constraints exclude all Go files`.
fn parse_load_error(line: &str, package: Option<&str>) -> Option<ReportedFailure> {
    let message = if let Some(rest) = line.strip_prefix("package ") {
        let (name, message) = rest.split_once(": ")?;
        (is_package(name) || package == Some(name)).then_some(message)?
    } else if let Some(message) = line.strip_prefix("go: ") {
        const BROKEN: &[&str] = &[
            "cannot find ",
            "errors parsing ",
            "updates to go.mod needed",
            "inconsistent vendoring",
            "no such tool ",
            "missing go.sum entry",
        ];
        BROKEN.iter().any(|start| message.starts_with(start)).then_some(message)?
    } else if line.starts_with("\timports ") {
        let (_, message) = line.split_once(": ").filter(|(_, end)| end.ends_with("not allowed"))?;
        message
    } else {
        return None;
    };
    Some(ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() })
}

/// Parses the place of a stack frame. Returns None if it is not in the project's code.
pub(super) fn parse_project_place<'a>(frame: &'a str, root: Option<&str>) -> Option<CodePlace<'a>> {
    let place = parse_place(frame)?;
    let file = place.path;
    let foreign = root.is_some_and(|root| file.starts_with(root))
        || file.contains("/pkg/mod/")
        || file.contains("/vendor/")
        || file == "_testmain.go";
    (!foreign).then_some(place)
}

/// Returns the folder of the standard library if this line of a stack is one of its frames.
pub(super) fn standard_library_root(line: &str) -> Option<&str> {
    let place = line.strip_prefix('\t')?;
    let at = place.find("/src/testing/").or_else(|| place.find("/src/runtime/"))?;
    place.get(..at + "/src/".len())
}
