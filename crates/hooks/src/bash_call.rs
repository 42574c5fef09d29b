//! Decoding of a Bash call from a hook payload.
//!
//! The client passes neither the exit status nor the whole output: a success has no status, a failure has it in its
//! first line, and both are truncated in different ways. The behaviour described here was observed on 2.1.325 and
//! 2.1.197; the live suite checks it.

use std::borrow::Cow;

use rutter_contract::input::RawPayload;

use rutter_runs::command_line::CommandLine;
use rutter_runs::read::{CapturedOutput, NO_RUN};
use rutter_runs::run_finder::find_runs;

mod persisted;

/// Default number of bytes of an output that the client reads back.
pub const DEFAULT_WINDOW_BYTES: usize = 30_000;

/// Maximum that the client accepts in `BASH_MAX_OUTPUT_LENGTH`.
const MAX_WINDOW_BYTES: usize = 150_000;

/// Tolerance below the window within which an output counts as truncated: the client trims trailing whitespace after
/// it has read the output back.
const WINDOW_TOLERANCE_BYTES: usize = 64;

/// A finished Bash call, from the payload of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashCall<'a> {
    /// The command line.
    pub command: Cow<'a, str>,
    /// The exit status of the line; None if the client reports a status other than 0 as a success.
    pub exit: Option<i32>,
    /// Both output streams, interleaved as printed.
    pub output: Cow<'a, [u8]>,
    /// True if a part of the output is missing.
    pub cut: bool,
    /// The duration in milliseconds.
    pub duration: Option<u64>,
}

impl<'a> BashCall<'a> {
    /// Returns the command of a finished Bash call; None for every other payload. Decodes no other field.
    pub fn finished_command(wire: &RawPayload<'a>) -> Option<Cow<'a, str>> {
        // A handwritten payload may lack the event, which is then an argument of the program.
        let ended = wire
            .hook_event_name()
            .is_none_or(|event| matches!(&*event, "PostToolUse" | "PostToolUseFailure"));
        if !ended || wire.text("tool_name")? != "Bash" {
            return None;
        }
        Self::command_text(wire)
    }

    /// Returns the command of the payload, before or after it ran.
    pub(crate) fn command_text(wire: &RawPayload<'a>) -> Option<Cow<'a, str>> {
        RawPayload::parse(wire.raw("tool_input")?.as_bytes()).ok()?.text("command")
    }

    /// Decodes a Bash call that ran tests, a build or a check to its end, or returns the reason why it has no outcome.
    /// Returns None if the payload is not from a Bash call or is malformed.
    ///
    /// `window` is the number of bytes that the client reads back: [`DEFAULT_WINDOW_BYTES`], or the result of [`output_window`].
    pub fn parse_run(wire: &RawPayload<'a>, window: usize) -> Option<Result<Self, &'static str>> {
        let command = Self::finished_command(wire)?;
        if find_runs(&CommandLine::parse(&command)).is_empty() {
            return Some(Err(NO_RUN));
        }
        Self::parse(wire, window)
    }

    /// Decodes a Bash call with any command.
    pub fn parse(wire: &RawPayload<'a>, window: usize) -> Option<Result<Self, &'static str>> {
        let command = Self::finished_command(wire)?;
        let succeeds = match wire.hook_event_name() {
            Some(event) => event == "PostToolUse",
            None => wire.raw("tool_response").is_some(),
        };
        let ended = if succeeds {
            parse_success(&RawPayload::parse(wire.raw("tool_response")?.as_bytes()).ok()?, window)?
        } else if is_field_true(wire, "is_interrupt") {
            Err(INTERRUPTED)
        } else {
            parse_failure(wire.text("error")?, window)
        };
        let duration = wire.raw("duration_ms").and_then(parse_integer_part);
        Some(ended.map(|BashCallResult { exit, output, cut }| Self {
            command,
            exit,
            output,
            cut,
            duration,
        }))
    }

    /// Returns the part of the call that readers of test output need.
    pub fn captured_output(&self) -> CapturedOutput<'_> {
        CapturedOutput { exit: self.exit, output: &self.output, cut: self.cut }
    }
}

/// Returns the number of bytes that the client reads back, from its variable `BASH_MAX_OUTPUT_LENGTH`, which a hook
/// inherits. The setting `bashOutputMaxChars` has the same effect, but hooks cannot see it.
pub fn output_window(variable: Option<&str>) -> usize {
    let digits = variable.unwrap_or_default().trim();
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse::<usize>() {
        Ok(0) | Err(_) => DEFAULT_WINDOW_BYTES,
        Ok(bytes) => bytes.min(MAX_WINDOW_BYTES),
    }
}

const INTERRUPTED: &str = "the user interrupted it";
const BACKGROUND: &str = "it went on in the background";
const TIME_OUT: &str = "the client ended it when its time was up";
const KILLED: &str = "the client ended it";
const REFUSED: &str = "the client could not run it";

/// The result of a call.
struct BashCallResult<'a> {
    exit: Option<i32>,
    output: Cow<'a, [u8]>,
    cut: bool,
}

/// Decodes a call that the client reports as a success.
fn parse_success<'a>(
    response: &RawPayload<'a>,
    window: usize,
) -> Option<Result<BashCallResult<'a>, &'static str>> {
    if is_field_true(response, "interrupted") {
        return Some(Err(INTERRUPTED));
    }
    // Moved to the background on request, by the user's key, or on timeout: in all cases the output is incomplete.
    if response.text("backgroundTaskId").is_some() {
        return Some(Err(BACKGROUND));
    }
    // The client does not count an exit status of 1 as a failure if the line ends in `grep`, `diff`, `find` or `test`.
    // The status may still be the test run's: `pytest && grep …` passes it on, and so does a pipe under `pipefail`.
    let meant = response.text("returnCodeInterpretation").is_some_and(|words| !words.is_empty());
    let exit = if meant { None } else { Some(0) };
    if let Some(path) = response.text("persistedOutputPath") {
        let size = response.raw("persistedOutputSize").and_then(parse_integer_part);
        if let Some(kept) = persisted::read_persisted(&path, size) {
            return Some(Ok(BashCallResult { exit, output: Cow::Owned(kept.text), cut: kept.cut }));
        }
        let output = into_bytes(response.text("stdout")?);
        return Some(Ok(BashCallResult { exit, output, cut: true }));
    }
    let output = response.text("stdout")?;
    // Without a file the output is complete, unless the client could not write the file.
    let cut = output.len() >= window || is_cut_message(&output);
    let output =
        into_bytes(append_stderr(output, response.text("stderr").as_deref().unwrap_or_default()));
    Some(Ok(BashCallResult { exit, output, cut }))
}

/// Appends the lines of `stderr`. The client merges both streams into stdout and uses `stderr` for its own notes, which
/// are left out; other clients may keep the streams apart.
fn append_stderr<'a>(output: Cow<'a, str>, notes: &str) -> Cow<'a, str> {
    let mut own = notes
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("Shell cwd was reset to "))
        .peekable();
    if own.peek().is_none() {
        return output;
    }
    let mut text = output.into_owned();
    for line in own {
        text.push('\n');
        text.push_str(line);
    }
    Cow::Owned(text)
}

/// Decodes a call that the client reports as a failure: `Exit code 1`, and the output in the lines below.
fn parse_failure(error: Cow<'_, str>, window: usize) -> Result<BashCallResult<'_>, &'static str> {
    let (first, _) = error.split_once('\n').unwrap_or((&error, ""));
    let Some(exit) = first.strip_prefix("Exit code ").and_then(|code| code.parse().ok()) else {
        return Err(REFUSED);
    };
    let start = error.len().min(first.len() + 1);
    let text = &error[start..];
    match exit {
        _ if text.starts_with("[Request interrupted by user") => return Err(INTERRUPTED),
        143 if text.starts_with("Command timed out after ") => return Err(TIME_OUT),
        137 if text.starts_with("Command killed: ") => return Err(KILLED),
        _ => {}
    }
    if let Some(left) = remove_cut_lines(text) {
        return Ok(BashCallResult {
            exit: Some(exit),
            output: Cow::Owned(left.into_bytes()),
            cut: true,
        });
    }
    // An output of three-byte characters can fill the window with too few characters for the client's mark.
    let cut = text.len() + WINDOW_TOLERANCE_BYTES >= window || is_cut_message(text);
    let output = match error {
        Cow::Borrowed(error) => Cow::Borrowed(&error.as_bytes()[start..]),
        Cow::Owned(mut error) => {
            error.drain(..start);
            Cow::Owned(error.into_bytes())
        }
    };
    Ok(BashCallResult { exit: Some(exit), output, cut })
}

/// Returns the complete lines of a text from which the client cut the middle; None if it did not. The client cuts
/// within lines, and half a line can mislead: `15 failed` becomes `5 failed`.
fn remove_cut_lines(text: &str) -> Option<String> {
    let mut parts = split_at_cut_mark(text);
    parts?;
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = parts {
        left.push_str(&before[..before.rfind('\n').map_or(0, |end| end + 1)]);
        rest = after.split_once('\n').map_or("", |(_, rest)| rest);
        parts = split_at_cut_mark(rest);
    }
    left.push_str(rest);
    Some(left)
}

/// Splits a text at the client's mark, `... [20012 characters truncated] ...` on a line between empty ones.
fn split_at_cut_mark(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("\n\n... [").map(|at| at + from) {
        let number = &text[at + "\n\n... [".len()..];
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let after = number[digits..].strip_prefix(" characters truncated] ...\n\n");
        if let Some(after) = after.filter(|_| digits > 0) {
            return Some((&text[..at], after));
        }
        from = at + 1;
    }
    None
}

/// Returns true if a text starts with one of the client's messages about missing output. None of these was observed
/// yet: they are in the client's code, for a full disk and behind switches that are off.
fn is_cut_message(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "Output too large (",
        "Output exceeded the ",
        "Disk full: ",
        "Disk quota used up: ",
        "<bash output unavailable: ",
    ];
    WORDS.iter().any(|words| text.starts_with(words))
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn is_field_true(wire: &RawPayload<'_>, key: &str) -> bool {
    wire.raw(key) == Some("true")
}

/// Parses the integer part of a number.
fn parse_integer_part(raw: &str) -> Option<u64> {
    raw.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests;
