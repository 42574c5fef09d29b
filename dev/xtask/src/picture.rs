//! `cargo xtask picture`: draws the output of `rutter demo` as the picture in the README.
//!
//! The demo of a release build runs on a pseudo-terminal, and its output is drawn; no text is typed in by hand. A test
//! of `rutter` compares the picture with the demo's current output.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

mod draw;

/// The size of the terminal; the drawn page has 80 columns.
const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };

/// The beginnings of the blocks to draw, in order: the whole output is too long for the README.
const SHOWN: [&str; 9] = [
    "── Session 1",
    "agent   pytest -q\n        FAILED",
    "agent   rutter ghap resolve",
    "── Session 2",
    "user    Make the settings page",
    "user    Invoices need VAT",
    "Meanwhile a merge",
    "agent   pytest -q\n        FAILED",
    "── In short",
];

/// A text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    look: Look,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Strong,
    Faint,
    Rutter,
    Good,
    Bad,
}

type Row = Vec<Span>;

/// Runs the demo and draws it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let shown = watch(&binary)?;
    let blocks = blocks(&shown)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut rest = &blocks[..];
    for start in SHOWN {
        let found = rest.iter().position(|block| text(block).starts_with(start));
        let at = found.with_context(|| format!("the demo shows nothing that begins: {start}"))?;
        if !rows.is_empty() {
            rows.push(Row::new());
        }
        if at > 0 && !rows.is_empty() {
            rows.push(vec![Span { look: Look::Faint, text: format!("        {CUT}") }]);
            rows.push(Row::new());
        }
        rows.extend_from_slice(&rest[at]);
        rest = &rest[at + 1..];
    }
    let path = root.join("docs/demo.svg");
    crate::files::replace(&path, draw::svg(&rows).as_bytes())
        .with_context(|| path.display().to_string())
}

/// The mark for omitted blocks.
const CUT: &str = "⋮";

/// Runs the demo on a pseudo-terminal and returns its output.
fn watch(binary: &Path) -> Result<String> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs: OwnedFd = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
    tcsetwinsize(&theirs, SIZE)?;
    let mut command = Command::new(binary);
    command
        .args(["demo", "--fast"])
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(theirs);
    let mut child = command.spawn().context("starting the demo")?;
    // Close our copy of the other end; otherwise the read below never ends.
    drop(command);
    let mut bytes = Vec::new();
    // On Linux, reading from a terminal after its other end is closed gives an error instead of end of file.
    drop(File::from(ours).read_to_end(&mut bytes));
    ensure!(child.wait()?.success(), "the demo failed");
    Ok(String::from_utf8(bytes)?.replace('\r', ""))
}

/// Splits rows into blocks at empty rows.
fn blocks(shown: &str) -> Result<Vec<Vec<Row>>> {
    let rows: Vec<Row> = shown.lines().map(row).collect::<Result<_>>()?;
    Ok(rows.split(Vec::is_empty).filter(|block| !block.is_empty()).map(<[Row]>::to_vec).collect())
}

fn text(block: &[Row]) -> String {
    let rows = block.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect());
    rows.collect::<Vec<String>>().join("\n")
}

/// Parses a row with its colour codes. The demo uses few styles, one at a time.
fn row(line: &str) -> Result<Row> {
    let mut row = Row::new();
    for (number, part) in line.split("\x1b[").enumerate() {
        let (code, text) = match number {
            0 => ("0", part),
            _ => part.split_once('m').context("a sequence that is no colour")?,
        };
        let look = match code {
            "0" => Look::Plain,
            "1" => Look::Strong,
            "2" => Look::Faint,
            "31" => Look::Bad,
            "32" => Look::Good,
            "36" => Look::Rutter,
            other => anyhow::bail!("the picture has no look for {other}"),
        };
        if !text.is_empty() {
            row.push(Span { look, text: text.to_owned() });
        }
    }
    Ok(row)
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            sign => {
                let _ = write!(out, "{sign}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_is_sent_becomes_rows() {
        let span = |look, text: &str| Span { look, text: text.to_owned() };
        let shown = "\x1b[36mrutter  \x1b[0m\x1b[2mStop 1 ms\x1b[0m\n        a < b\n\nnext\n";
        let expected = vec![
            vec![
                vec![span(Look::Rutter, "rutter  "), span(Look::Faint, "Stop 1 ms")],
                vec![span(Look::Plain, "        a < b")],
            ],
            vec![vec![span(Look::Plain, "next")]],
        ];
        assert_eq!(blocks(shown).unwrap(), expected);
        assert!(blocks("\x1b[45mx").is_err());
        assert!(draw::svg(&expected[0]).contains("a &lt; b"));
    }
}
