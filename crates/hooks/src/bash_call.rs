//! From what the client tells a hook about a Bash call to what a run printed.
//!
//! The client hands a hook neither the exit status nor the whole text: a success has no status, a failure has it in its
//! first line, and both are cut, each in its own way. What is said here was seen on 2.1.325 and 2.1.197; the live suite
//! holds the client to it.

use std::borrow::Cow;

use rutter_contract::input::Wire;

use rutter_runs::command_line::CommandLine;
use rutter_runs::found::find_runs;
use rutter_runs::read::{NO_RUN, Seen};

mod persisted;

/// How many bytes of an output the client reads back, unless it is told otherwise.
pub const WINDOW: usize = 30_000;

/// The most that `BASH_MAX_OUTPUT_LENGTH` can ask for.
const WIDEST: usize = 150_000;

/// The client takes blanks off the end of what it read back: so much less than the window may still be a full one.
const BLANKS: usize = 64;

/// A Bash call that has ended, as the client tells a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// The command line.
    pub command: Cow<'a, str>,
    /// The exit status of the line; none where the client took one that is not 0 for a success.
    pub exit: Option<i32>,
    /// What it printed, both streams as they came.
    pub output: Cow<'a, [u8]>,
    /// Whether some of what it printed is missing.
    pub cut: bool,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
}

impl<'a> Call<'a> {
    /// The command of a Bash call that has ended; none for every other payload. Nothing else is decoded.
    pub fn command(wire: &Wire<'a>) -> Option<Cow<'a, str>> {
        // One that was written by hand may leave the event to the command line.
        let ended = wire
            .hook_event_name()
            .is_none_or(|event| matches!(&*event, "PostToolUse" | "PostToolUseFailure"));
        if !ended || wire.text("tool_name")? != "Bash" {
            return None;
        }
        Self::typed(wire)
    }

    /// The command that was typed, before or after it ran.
    pub(crate) fn typed(wire: &Wire<'a>) -> Option<Cow<'a, str>> {
        Wire::parse(wire.raw("tool_input")?.as_bytes()).ok()?.text("command")
    }

    /// A Bash call that ran tests, a build or a check to its end; or why there is no outcome in it. None for a payload
    /// that is no Bash call, or is not as the client writes them.
    ///
    /// `window` is how many bytes the client reads back: [`WINDOW`], or what [`window`] makes of its environment.
    pub fn of(wire: &Wire<'a>, window: usize) -> Option<Result<Self, &'static str>> {
        let command = Self::command(wire)?;
        if find_runs(&CommandLine::parse(&command)).is_empty() {
            return Some(Err(NO_RUN));
        }
        Self::of_any(wire, window)
    }

    /// The same of any command.
    pub fn of_any(wire: &Wire<'a>, window: usize) -> Option<Result<Self, &'static str>> {
        let command = Self::command(wire)?;
        let succeeds = match wire.hook_event_name() {
            Some(event) => event == "PostToolUse",
            None => wire.raw("tool_response").is_some(),
        };
        let ended = if succeeds {
            succeeded(&Wire::parse(wire.raw("tool_response")?.as_bytes()).ok()?, window)?
        } else if is_true(wire, "is_interrupt") {
            Err(INTERRUPTED)
        } else {
            failed(wire.text("error")?, window)
        };
        let duration = wire.raw("duration_ms").and_then(whole);
        Some(ended.map(|Ended { exit, output, cut }| Self { command, exit, output, cut, duration }))
    }

    /// What there is to read of it.
    pub fn seen(&self) -> Seen<'_> {
        Seen { exit: self.exit, output: &self.output, cut: self.cut }
    }
}

/// How many bytes the client reads back, by its variable `BASH_MAX_OUTPUT_LENGTH`, which a hook inherits. The setting
/// `bashOutputMaxChars` does the same, and no hook is told of it.
pub fn window(variable: Option<&str>) -> usize {
    let digits = variable.unwrap_or_default().trim();
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse::<usize>() {
        Ok(0) | Err(_) => WINDOW,
        Ok(bytes) => bytes.min(WIDEST),
    }
}

const INTERRUPTED: &str = "the user interrupted it";
const BACKGROUND: &str = "it went on in the background";
const TIME_OUT: &str = "the client ended it when its time was up";
const KILLED: &str = "the client ended it";
const REFUSED: &str = "the client could not run it";

/// How a call ended.
struct Ended<'a> {
    exit: Option<i32>,
    output: Cow<'a, [u8]>,
    cut: bool,
}

/// A call that the client takes for a success.
fn succeeded<'a>(response: &Wire<'a>, window: usize) -> Option<Result<Ended<'a>, &'static str>> {
    if is_true(response, "interrupted") {
        return Some(Err(INTERRUPTED));
    }
    // Asked for, by the user's key, or since the time was up: all the same, and what it printed so far is no end.
    if response.text("backgroundTaskId").is_some() {
        return Some(Err(BACKGROUND));
    }
    // `grep`, `diff`, `find` and `test` at the end of a line may exit with 1 and be no failure. Whose 1 it was, nobody
    // knows: `pytest && grep …`, and a pipe under `pipefail`, pass on the run's own.
    let meant = response.text("returnCodeInterpretation").is_some_and(|words| !words.is_empty());
    let exit = if meant { None } else { Some(0) };
    if let Some(path) = response.text("persistedOutputPath") {
        let size = response.raw("persistedOutputSize").and_then(whole);
        if let Some(kept) = persisted::read(&path, size) {
            return Some(Ok(Ended { exit, output: Cow::Owned(kept.text), cut: kept.cut }));
        }
        let output = bytes(response.text("stdout")?);
        return Some(Ok(Ended { exit, output, cut: true }));
    }
    let output = response.text("stdout")?;
    // Without a file it is whole, unless the file could not be written.
    let cut = output.len() >= window || says_cut(&output);
    let output = bytes(with_notes(output, response.text("stderr").as_deref().unwrap_or_default()));
    Some(Ok(Ended { exit, output, cut }))
}

/// Both streams come as one; what stands apart is the client's own, but for a client that keeps them apart.
fn with_notes<'a>(output: Cow<'a, str>, notes: &str) -> Cow<'a, str> {
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

/// A call that the client takes for a failure: `Exit code 1`, and what it printed below it.
fn failed(error: Cow<'_, str>, window: usize) -> Result<Ended<'_>, &'static str> {
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
    if let Some(left) = without_cuts(text) {
        return Ok(Ended { exit: Some(exit), output: Cow::Owned(left.into_bytes()), cut: true });
    }
    // Of characters of three bytes there are so few in the window that the mark is not needed.
    let cut = text.len() + BLANKS >= window || says_cut(text);
    let output = match error {
        Cow::Borrowed(error) => Cow::Borrowed(&error.as_bytes()[start..]),
        Cow::Owned(mut error) => {
            error.drain(..start);
            Cow::Owned(error.into_bytes())
        }
    };
    Ok(Ended { exit: Some(exit), output, cut })
}

/// The lines of a text that are left where the client took its middle out; none where it did not. It cuts within lines,
/// and half a line may say what the whole does not: `15 failed` and `5 failed`.
fn without_cuts(text: &str) -> Option<String> {
    let mut parts = at_mark(text);
    parts?;
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = parts {
        left.push_str(&before[..before.rfind('\n').map_or(0, |end| end + 1)]);
        rest = after.split_once('\n').map_or("", |(_, rest)| rest);
        parts = at_mark(rest);
    }
    left.push_str(rest);
    Some(left)
}

/// What stands before and behind the client's mark, `... [20012 characters truncated] ...` on a line between empty ones.
fn at_mark(text: &str) -> Option<(&str, &str)> {
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

/// Whether the client puts into words that there was more. None of these was seen yet: they stand in its code, for a disk
/// that is full, and behind switches that are off.
fn says_cut(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "Output too large (",
        "Output exceeded the ",
        "Disk full: ",
        "Disk quota used up: ",
        "<bash output unavailable: ",
    ];
    WORDS.iter().any(|words| text.starts_with(words))
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn is_true(wire: &Wire<'_>, key: &str) -> bool {
    wire.raw(key) == Some("true")
}

/// The whole part of a number.
fn whole(raw: &str) -> Option<u64> {
    raw.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests;
