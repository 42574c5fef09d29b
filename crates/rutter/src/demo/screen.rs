//! The output of the demo: wrapped rows, colours if the terminal supports them, and pauses for reading.

use std::io::{self, Write};
use std::time::Duration;

use super::block::{Ink, Line, Piece};
use crate::ui;

/// Maximum width in columns, also on wider screens: longer lines are hard to read.
const PAGE: usize = 80;
/// Minimum width in columns. On narrower screens, the margins would leave no room for text.
const NARROWEST: usize = 40;
/// Unused columns at the right edge. Some terminals wrap a row that fills all columns.
const SPARE: usize = 1;

/// The pauses of the demo.
pub(super) struct Pace {
    row: Duration,
    /// Longest pause after one block.
    most: Duration,
    /// Remaining total of pauses, which keeps the demo within a minute for any amount of hook output.
    left: Duration,
}

impl Pace {
    pub(super) const fn none() -> Self {
        Self { row: Duration::ZERO, most: Duration::ZERO, left: Duration::ZERO }
    }

    pub(super) const fn to_read() -> Self {
        Self {
            row: Duration::from_millis(420),
            most: Duration::from_secs(4),
            left: Duration::from_secs(50),
        }
    }

    fn after(&mut self, rows: usize) -> Duration {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let pause = self.row.saturating_mul(rows).min(self.most).min(self.left);
        self.left -= pause;
        pause
    }
}

/// The screen that shows blocks, one below the other.
pub(super) struct Screen<'a> {
    out: &'a mut dyn Write,
    columns: usize,
    colours: bool,
    pace: Pace,
    /// Reading time of the last block.
    pause: Duration,
}

impl<'a> Screen<'a> {
    pub(super) fn new(out: &'a mut dyn Write, terminal: Option<ui::Screen>, pace: Pace) -> Self {
        let columns = terminal
            .map_or(PAGE, |terminal| terminal.columns.saturating_sub(SPARE).clamp(NARROWEST, PAGE));
        let colours = terminal.is_some_and(|terminal| terminal.colours);
        Self { out, columns, colours, pace, pause: Duration::ZERO }
    }

    /// Shows a block of lines, after the reading time of the previous block.
    pub(super) fn show(&mut self, block: &[Line]) -> io::Result<()> {
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
        let rows: Vec<Vec<Piece>> =
            block.iter().flat_map(|line| rows(line, self.columns)).collect();
        for row in &rows {
            // One write per row, with all colours reset in it: an interrupted demo leaves no colour behind.
            let text: String = row.iter().map(|piece| self.written(piece)).collect();
            writeln!(self.out, "{text}")?;
        }
        writeln!(self.out)?;
        self.out.flush()?;
        self.pause = self.pace.after(rows.len());
        Ok(())
    }

    fn written(&self, (ink, text): &Piece) -> String {
        let code = match ink {
            Ink::Plain => 0,
            Ink::Strong => 1,
            Ink::Faint => 2,
            Ink::Bad => 31,
            Ink::Good => 32,
            Ink::Rutter => 36,
        };
        let bare = !self.colours || code == 0 || text.trim().is_empty();
        if bare { text.clone() } else { format!("\x1b[{code}m{text}\x1b[0m") }
    }
}

/// Wraps a line into rows, between words if possible.
fn rows(line: &Line, columns: usize) -> Vec<Vec<Piece>> {
    let width =
        |pieces: &[Piece]| -> usize { pieces.iter().map(|(_, text)| text.chars().count()).sum() };
    let signs: Vec<(Ink, char)> = line
        .text
        .iter()
        .flat_map(|(ink, text)| text.chars().map(move |sign| (*ink, sign)))
        .collect();
    let mut rest = &signs[..];
    let mut rows = Vec::new();
    loop {
        let mut row = if rows.is_empty() { line.first.clone() } else { line.others.clone() };
        let room = columns.saturating_sub(width(&row)).max(1);
        let taken = fitting(rest, room);
        gather(&mut row, &rest[..taken]);
        let space = rest[taken..].iter().take_while(|(_, sign)| *sign == ' ').count();
        rest = &rest[taken + space..];
        if rest.is_empty() && line.ruled {
            let left = columns.saturating_sub(width(&row) + 1);
            row.push((Ink::Faint, format!(" {}", "─".repeat(left))));
        }
        trim(&mut row);
        rows.push(row);
        if rest.is_empty() {
            return rows;
        }
    }
}

/// Returns the number of characters in the next row.
fn fitting(signs: &[(Ink, char)], room: usize) -> usize {
    if signs.len() <= room {
        return signs.len();
    }
    let text = signs.iter().take_while(|(_, sign)| *sign == ' ').count();
    match signs[..=room].iter().rposition(|(_, sign)| *sign == ' ') {
        Some(space) if space > text => space,
        // A word is longer than a row.
        _ => room,
    }
}

/// Removes trailing whitespace from a row.
fn trim(row: &mut Vec<Piece>) {
    while let Some((_, text)) = row.last_mut() {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            return;
        }
        row.pop();
    }
}

/// Appends characters to a row, merged by style.
fn gather(row: &mut Vec<Piece>, signs: &[(Ink, char)]) {
    for run in signs.chunk_by(|one, next| one.0 == next.0) {
        row.push((run[0].0, run.iter().map(|(_, sign)| sign).collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::Who;
    use super::*;

    fn shown(columns: usize, colours: bool, lines: &[Line]) -> String {
        let mut out = Vec::new();
        let terminal = ui::Screen { columns: columns + SPARE, colours };
        Screen::new(&mut out, Some(terminal), Pace::none()).show(lines).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_broken_between_words_and_keep_their_margins() {
        let lines = [
            Line::turn(Who::Agent, vec![(Ink::Plain, "one two three four five six seven".into())]),
            Line::named("goal", Ink::Plain, "one two three four five"),
            Line::read("  > +a_word_that_is_longer_than_any_row_can_be"),
            Line::heading("Session 1"),
        ];
        insta::assert_snapshot!(shown(40, false, &lines), @"
        agent   one two three four five six
                seven
                goal        one two three four
                            five
                │   > +a_word_that_is_longer_tha
                │     n_any_row_can_be
        ── Session 1 ───────────────────────────
        ");
    }

    #[test]
    fn every_row_ends_its_colours() {
        let lines =
            [Line::turn(Who::Rutter, vec![(Ink::Faint, "a word and another word ".repeat(4))])];
        let shown = shown(40, true, &lines);
        assert!(shown.lines().count() > 3, "{shown}");
        for row in shown.lines().filter(|row| !row.is_empty()) {
            assert!(row.ends_with("\x1b[0m"), "{row:?}");
        }
    }

    #[test]
    fn a_story_is_told_within_a_minute() {
        let mut pace = Pace::to_read();
        let all: Duration = (0..1_000).map(|rows| pace.after(rows)).sum();
        assert!(all > Duration::from_secs(40) && all < Duration::from_mins(1), "{all:?}");
    }
}
