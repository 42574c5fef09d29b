//! What a command reads and where it writes: results to stdout, remarks to stderr.

use std::io::{self, BufRead, IsTerminal as _, Read as _, Write};

use comfy_table::{ContentArrangement, Table, presets};
use rutter_memory::quote::seen;
use serde::Serialize;

use crate::{Failure, environment};

/// The most that is read from stdin. The client itself would have to hold as much.
pub const STDIN_LIMIT: u64 = 32 * 1024 * 1024;

/// The ends of a command. Results and remarks never mix, so that results can be piped.
pub struct Ui<'a> {
    /// What is piped in.
    pub input: &'a mut dyn BufRead,
    /// Results.
    pub out: &'a mut dyn Write,
    /// Remarks.
    pub err: &'a mut dyn Write,
    /// Whether somebody sits there who can be asked.
    pub terminal: bool,
    /// The terminal that results go to; none where they go elsewhere.
    pub screen: Option<Screen>,
}

/// A terminal that results go to.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// How wide it is.
    pub columns: usize,
    /// Whether it shows colours, and they are wanted.
    pub colours: bool,
}

impl Screen {
    /// What a terminal has that does not say.
    const COLUMNS: usize = 80;

    /// The one that stdout is, if it is one.
    pub fn of_stdout() -> Option<Self> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(&stdout);
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        Some(Self {
            columns: if columns == 0 { Self::COLUMNS } else { columns },
            colours: environment::may_colour(),
        })
    }
}

impl Ui<'_> {
    /// Everything that is piped in, up to [`STDIN_LIMIT`].
    pub fn stdin(&mut self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut limited = (&mut *self.input).take(STDIN_LIMIT + 1);
        limited.read_to_end(&mut bytes).map_err(Failure::Input)?;
        if bytes.len() as u64 > STDIN_LIMIT {
            let mib = STDIN_LIMIT / 1024 / 1024;
            return Err(Failure::Usage(format!(
                "stdin holds more than {mib} MiB; pipe in what one hook printed"
            )));
        }
        Ok(bytes)
    }

    /// One line that is typed in; `None` at the end of the input.
    pub fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut bytes = Vec::new();
        (&mut *self.input)
            .take(STDIN_LIMIT)
            .read_until(b'\n', &mut bytes)
            .map_err(Failure::Input)?;
        Ok((!bytes.is_empty())
            .then(|| String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Prints rows under a heading, without a border.
    pub fn table<const N: usize>(
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

    /// Prints a value for programs.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.out, value).map_err(io::Error::from)?;
        Ok(writeln!(self.out)?)
    }

    /// Tells the user something beside the result.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "note: {text}")
    }
}

/// So many of something.
pub fn count(number: u64, what: &str) -> String {
    // `memory` has many memories, `key` has many keys.
    let stem = what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {what}s"),
    }
}

/// How much room something takes.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// A whole text in one line. Nothing in it can speak to the terminal, or pass for a line of ours.
pub fn one_line(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(|word| seen(word).collect()).collect();
    words.join(" ")
}

/// How much of a text a line of a list shows.
const LINE: usize = 72;

/// The beginning of a text, for a list. Nothing in it can speak to the terminal.
pub fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut signs = seen(line);
    let cut: String = signs.by_ref().take(LINE).collect();
    let is_cut = signs.next().is_some() || line.len() < text.trim_end().len();
    if is_cut { format!("{cut}…") } else { cut }
}
