//! Input and output of a command: results go to stdout, remarks to stderr.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, Read as _, Write};

use comfy_table::{ContentArrangement, Table, presets};
use rutter_memory::quote::{sanitize_line, visible_chars};
use serde::Serialize;

use crate::{CommandError, CommandResult};

/// Largest input that is read from stdin. The client itself would have to hold as much.
pub const MAX_STDIN_BYTES: u64 = 32 * 1024 * 1024;

/// The streams of a command. Results and remarks are separate, so that results can be piped.
pub struct Ui<'a> {
    /// Standard input.
    pub input: &'a mut dyn BufRead,
    /// Stream for results.
    pub out: &'a mut dyn Write,
    /// Stream for remarks and questions.
    pub err: &'a mut dyn Write,
    /// True if a user is present who can answer questions.
    pub terminal: bool,
    /// The terminal that shows the results. None if stdout is redirected.
    pub screen: Option<Terminal>,
}

/// Properties of the terminal that shows the results.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Width in columns.
    pub columns: usize,
    /// True if the terminal supports colours and the user has not disabled them.
    pub colours: bool,
}

impl Terminal {
    /// Width of a terminal that does not report its width.
    pub(crate) const DEFAULT_COLUMNS: usize = 80;
}

impl Ui<'_> {
    /// Reads all of stdin, up to [`MAX_STDIN_BYTES`].
    pub fn read_stdin(&mut self) -> CommandResult<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut limited = (&mut *self.input).take(MAX_STDIN_BYTES + 1);
        limited.read_to_end(&mut bytes).map_err(CommandError::Input)?;
        if bytes.len() as u64 > MAX_STDIN_BYTES {
            let mib = MAX_STDIN_BYTES / 1024 / 1024;
            return Err(CommandError::Usage(format!(
                "stdin has more than {mib} MiB; pipe in the output of one hook"
            )));
        }
        Ok(bytes)
    }

    /// Reads one line from stdin. Returns `None` at the end of the input.
    pub fn read_line(&mut self) -> CommandResult<Option<String>> {
        let mut bytes = Vec::new();
        (&mut *self.input)
            .take(MAX_STDIN_BYTES)
            .read_until(b'\n', &mut bytes)
            .map_err(CommandError::Input)?;
        Ok((!bytes.is_empty())
            .then(|| String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Prints rows under a heading, without a border.
    pub fn print_table<const N: usize>(
        &mut self,
        head: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(head);
        for row in rows {
            table.add_row(row);
        }
        table.lines().try_for_each(|line| writeln!(self.out, "{}", line.trim()))
    }

    /// Prints a value as JSON. Characters that are not printed as they are become `\u` escapes, so a program reads the
    /// same texts.
    pub fn print_json(&mut self, value: &impl Serialize) -> CommandResult {
        let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        for line in json.lines() {
            writeln!(self.out, "{}", escape_json_line(line))?;
        }
        Ok(())
    }

    /// Prints a note to stderr.
    pub fn print_note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "note: {text}")
    }
}

/// Replaces the characters of a line of JSON that could control a terminal, hide, or pass for markup of the client by
/// `\u` escapes. They occur only inside of strings.
fn escape_json_line(line: &str) -> Cow<'_, str> {
    if sanitize_line(line, false) == line {
        return line.into();
    }
    let mut escaped = String::with_capacity(line.len());
    for sign in line.chars() {
        let mut bytes = [0; 4];
        let whole: &str = sign.encode_utf8(&mut bytes);
        if sign == '<' || sanitize_line(whole, false) != *whole {
            for unit in sign.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(sign);
        }
    }
    escaped.into()
}

/// Formats a number with a singular or plural noun.
pub fn format_count(number: u64, what: &str) -> String {
    // The plural of `memory` is memories, the plural of `key` is keys.
    let stem = what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {what}s"),
    }
}

/// Formats a size in bytes.
pub fn format_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// Returns a whole text as one line, without control characters, so that it cannot imitate a line of our output.
pub fn one_line(text: &str) -> String {
    let words: Vec<String> =
        text.split_whitespace().map(|word| visible_chars(word).collect()).collect();
    words.join(" ")
}

/// Characters of a text that a line of a list shows.
const LIST_LINE_CHARS: usize = 72;

/// Returns the beginning of a text for a list, without control characters.
pub fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut signs = visible_chars(line);
    let cut: String = signs.by_ref().take(LIST_LINE_CHARS).collect();
    let is_cut = signs.next().is_some() || line.len() < text.trim_end().len();
    if is_cut { format!("{cut}…") } else { cut }
}
