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
const TERMINAL_SIZE: Winsize = Winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };

/// The beginnings of the blocks to draw, in order: the whole output is too long for the README.
const SHOWN_BLOCKS: [&str; 9] = [
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
struct StyledSpan {
    style: SpanStyle,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpanStyle {
    Plain,
    Strong,
    Faint,
    Rutter,
    Good,
    Bad,
}

type StyledRow = Vec<StyledSpan>;

/// Runs the demo and draws it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let shown = capture_demo(&binary)?;
    let blocks = parse_blocks(&shown)?;
    let mut rows: Vec<StyledRow> = Vec::new();
    let mut rest = &blocks[..];
    for start in SHOWN_BLOCKS {
        let found = rest.iter().position(|block| block_text(block).starts_with(start));
        let at = found.with_context(|| format!("the demo shows nothing that begins: {start}"))?;
        if !rows.is_empty() {
            rows.push(StyledRow::new());
        }
        if at > 0 && !rows.is_empty() {
            rows.push(vec![StyledSpan {
                style: SpanStyle::Faint,
                text: format!("        {OMISSION_MARK}"),
            }]);
            rows.push(StyledRow::new());
        }
        rows.extend_from_slice(&rest[at]);
        rest = &rest[at + 1..];
    }
    let path = root.join("docs/demo.svg");
    crate::files::replace_file(&path, draw::render_svg(&rows).as_bytes())
        .with_context(|| path.display().to_string())
}

/// The mark for omitted blocks.
const OMISSION_MARK: &str = "⋮";

/// Runs the demo on a pseudo-terminal and returns its output.
fn capture_demo(binary: &Path) -> Result<String> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs: OwnedFd = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
    tcsetwinsize(&theirs, TERMINAL_SIZE)?;
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
fn parse_blocks(shown: &str) -> Result<Vec<Vec<StyledRow>>> {
    let rows: Vec<StyledRow> = shown.lines().map(parse_row).collect::<Result<_>>()?;
    Ok(rows
        .split(Vec::is_empty)
        .filter(|block| !block.is_empty())
        .map(<[StyledRow]>::to_vec)
        .collect())
}

fn block_text(block: &[StyledRow]) -> String {
    let rows = block.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect());
    rows.collect::<Vec<String>>().join("\n")
}

/// Parses a row with its colour codes. The demo uses few styles, one at a time.
fn parse_row(line: &str) -> Result<StyledRow> {
    let mut row = StyledRow::new();
    for (number, part) in line.split("\x1b[").enumerate() {
        let (code, text) = match number {
            0 => ("0", part),
            _ => part.split_once('m').context("a sequence that is no colour")?,
        };
        let look = match code {
            "0" => SpanStyle::Plain,
            "1" => SpanStyle::Strong,
            "2" => SpanStyle::Faint,
            "31" => SpanStyle::Bad,
            "32" => SpanStyle::Good,
            "36" => SpanStyle::Rutter,
            other => anyhow::bail!("the picture has no look for {other}"),
        };
        if !text.is_empty() {
            row.push(StyledSpan { style: look, text: text.to_owned() });
        }
    }
    Ok(row)
}

/// Escapes a text for XML.
fn escape_xml(text: &str) -> String {
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
    fn parses_terminal_output() {
        let span = |look, text: &str| StyledSpan { style: look, text: text.to_owned() };
        let shown = "\x1b[36mrutter  \x1b[0m\x1b[2mStop 1 ms\x1b[0m\n        a < b\n\nnext\n";
        let expected = vec![
            vec![
                vec![span(SpanStyle::Rutter, "rutter  "), span(SpanStyle::Faint, "Stop 1 ms")],
                vec![span(SpanStyle::Plain, "        a < b")],
            ],
            vec![vec![span(SpanStyle::Plain, "next")]],
        ];
        assert_eq!(parse_blocks(shown).unwrap(), expected);
        assert!(parse_blocks("\x1b[45mx").is_err());
        assert!(draw::render_svg(&expected[0]).contains("a &lt; b"));
    }
}
