//! Where it is shown: rows that fit, colours where they can be seen, and time to read.

use std::io::{self, Write};
use std::time::Duration;

use super::block::{Ink, Line, Piece};
use crate::ui;

/// What a page is wide, on the widest screen as well: longer lines are hard to read.
const PAGE: usize = 80;
/// Narrower than this the margins would eat the text.
const NARROWEST: usize = 40;
/// Where a terminal has no more columns than this, a row that fills them all would be broken.
const SPARE: usize = 1;

/// How fast a story is told.
pub(super) struct Pace {
    row: Duration,
    /// The most for one block.
    most: Duration,
    /// What is left: however much the hooks say, it is told within a minute.
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

/// Where blocks are shown, one below the other.
pub(super) struct Screen<'a> {
    out: &'a mut dyn Write,
    columns: usize,
    colours: bool,
    pace: Pace,
    /// The time that the last block takes to read.
    pause: Duration,
}

impl<'a> Screen<'a> {
    pub(super) fn new(out: &'a mut dyn Write, terminal: Option<ui::Screen>, pace: Pace) -> Self {
        let columns = terminal
            .map_or(PAGE, |terminal| terminal.columns.saturating_sub(SPARE).clamp(NARROWEST, PAGE));
        let colours = terminal.is_some_and(|terminal| terminal.colours);
        Self { out, columns, colours, pace, pause: Duration::ZERO }
    }

    /// Shows lines that belong together, once there was time to read those before.
    pub(super) fn show(&mut self, block: &[Line]) -> io::Result<()> {
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
        let rows: Vec<Vec<Piece>> =
            block.iter().flat_map(|line| rows(line, self.columns)).collect();
        for row in &rows {
            // In one write, with every colour ended in it: whoever is stopped leaves no colour behind.
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

/// A line in as many rows as it needs, broken between words where there are any.
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

/// How many signs the next row takes.
fn fitting(signs: &[(Ink, char)], room: usize) -> usize {
    if signs.len() <= room {
        return signs.len();
    }
    let text = signs.iter().take_while(|(_, sign)| *sign == ' ').count();
    match signs[..=room].iter().rposition(|(_, sign)| *sign == ' ') {
        Some(space) if space > text => space,
        // A word that is longer than a row.
        _ => room,
    }
}

/// Takes away what nobody sees at the end of a row.
fn trim(row: &mut Vec<Piece>) {
    while let Some((_, text)) = row.last_mut() {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            return;
        }
        row.pop();
    }
}

/// Puts signs behind what a row has, those of one ink together.
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
