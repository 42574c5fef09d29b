//! A Python traceback as the interpreter prints it, which several runners show.

use crate::runs::report::Failure;
use crate::runs::scan;

/// What the lines of a traceback said so far. The last exception of a chain is the one that got out.
#[derive(Debug, Default)]
pub(super) struct Traceback {
    error: Option<String>,
    message: Option<String>,
    frame: Option<String>,
    open: bool,
}

impl Traceback {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("Traceback (most recent call last)") {
            self.open = true;
            self.frame = None;
        } else if let Some(path) = file(line) {
            self.open = true;
            if scan::own(path) {
                self.frame = Some(path.to_owned());
            }
        } else if self.open
            && let Some((error, message)) = scan::error(line)
        {
            self.open = false;
            self.error = Some(error.to_owned());
            self.message = Some(message.to_owned());
        }
    }

    /// The failure it tells of.
    pub(super) fn failure(self, test: Option<String>) -> Failure {
        Failure {
            test,
            error: self.error,
            message: self.message,
            frame: self.frame,
            ..Failure::default()
        }
    }
}

/// The path in `  File "path", line 3, in name`.
pub(super) fn file(line: &str) -> Option<&str> {
    let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
    rest.starts_with(", line ").then_some(path)
}

/// The failure of an interpreter that died, if it says so in this line. It speaks into whatever line was being written,
/// then leaves one empty, then lists threads; the innermost call comes first.
pub(super) fn fatal<'a>(line: &str, mut rest: impl Iterator<Item = &'a str>) -> Option<Failure> {
    const SAYS: &str = "Fatal Python error: ";
    let said = &line[line.find(SAYS)? + SAYS.len()..];
    if !rest.next()?.is_empty() || !rest.next()?.contains("hread 0x") {
        return None;
    }
    let frame = rest.take(100).filter_map(file).find(|path| scan::own(path));
    Some(Failure {
        test: None,
        error: Some("Fatal Python error".to_owned()),
        message: Some(said.to_owned()),
        frame: frame.map(str::to_owned),
        ..Failure::default()
    })
}
