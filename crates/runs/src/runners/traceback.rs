//! A Python traceback, as several runners print it.

use crate::report::ReportedFailure;
use crate::scan::{self, CodePlace};

/// The parts of a traceback read so far. In a chain the last exception counts, as it was not caught.
#[derive(Debug, Default)]
pub(super) struct Traceback {
    error: Option<String>,
    message: Option<String>,
    frame: Option<String>,
    line: Option<u32>,
    open: bool,
}

impl Traceback {
    /// Reads a line.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("Traceback (most recent call last)") {
            self.open = true;
            (self.frame, self.line) = (None, None);
        } else if let Some(place) = parse_frame(line) {
            self.open = true;
            if scan::is_project_file(place.path) {
                self.frame = Some(place.path.to_owned());
                self.line = place.line;
            }
        } else if self.open
            && let Some((error, message)) = scan::split_error(line)
        {
            self.open = false;
            self.error = Some(error.to_owned());
            self.message = Some(message.to_owned());
        }
    }

    /// Builds the failure.
    pub(super) fn failure(self, test: Option<String>) -> ReportedFailure {
        ReportedFailure {
            test,
            error: self.error,
            message: self.message,
            frame: self.frame,
            line: self.line,
            ..ReportedFailure::default()
        }
    }
}

/// Parses `  File "path", line 3, in name`.
pub(super) fn parse_frame(line: &str) -> Option<CodePlace<'_>> {
    let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
    let number = rest.strip_prefix(", line ")?;
    Some(CodePlace::new(path, number.split([',', ' ']).next().unwrap_or_default()))
}

/// Returns the failure of an interpreter crash that begins in this line. The message may be in the middle of any line;
/// an empty line and the threads follow, with the innermost call first.
pub(super) fn parse_fatal_error<'a>(
    line: &str,
    mut rest: impl Iterator<Item = &'a str>,
) -> Option<ReportedFailure> {
    const SAYS: &str = "Fatal Python error: ";
    let said = &line[line.find(SAYS)? + SAYS.len()..];
    if !rest.next()?.is_empty() || !rest.next()?.contains("hread 0x") {
        return None;
    }
    let innermost =
        rest.take(100).filter_map(parse_frame).find(|place| scan::is_project_file(place.path));
    let failure = ReportedFailure {
        error: Some("Fatal Python error".to_owned()),
        message: Some(said.to_owned()),
        ..ReportedFailure::default()
    };
    Some(failure.with_place(innermost))
}
