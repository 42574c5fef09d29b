//! The output of the demo: wrapped rows, colours if the terminal supports them, and pauses for reading.

use std::io::{self, Write};
use std::time::Duration;

use super::line::{DemoLine, StyledText, TextStyle};
use crate::ui;

/// Maximum width in columns, also on wider screens: longer lines are hard to read.
const MAX_COLUMNS: usize = 80;
/// Minimum width in columns. On narrower screens, the margins would leave no room for text.
const MIN_COLUMNS: usize = 40;
/// Unused columns at the right edge. Some terminals wrap a row that fills all columns.
const UNUSED_COLUMNS: usize = 1;

/// The pauses of the demo.
pub(super) struct DemoPace {
    row: Duration,
    /// Longest pause after one block.
    most: Duration,
    /// Remaining total of pauses, which keeps the demo within a minute for any amount of hook output.
    left: Duration,
}

impl DemoPace {
    pub(super) const fn none() -> Self {
        Self { row: Duration::ZERO, most: Duration::ZERO, left: Duration::ZERO }
    }

    pub(super) const fn for_reading() -> Self {
        Self {
            row: Duration::from_millis(420),
            most: Duration::from_secs(4),
            left: Duration::from_secs(50),
        }
    }

    fn pause_after(&mut self, rows: usize) -> Duration {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let pause = self.row.saturating_mul(rows).min(self.most).min(self.left);
        self.left -= pause;
        pause
    }
}

/// The screen that shows blocks, one below the other.
pub(super) struct DemoScreen<'a> {
    out: &'a mut dyn Write,
    columns: usize,
    colours: bool,
    pace: DemoPace,
    /// Reading time of the last block.
    pause: Duration,
}

impl<'a> DemoScreen<'a> {
    pub(super) fn new(
        out: &'a mut dyn Write,
        terminal: Option<ui::Terminal>,
        pace: DemoPace,
    ) -> Self {
        let columns = terminal.map_or(MAX_COLUMNS, |terminal| {
            terminal.columns.saturating_sub(UNUSED_COLUMNS).clamp(MIN_COLUMNS, MAX_COLUMNS)
        });
        let colours = terminal.is_some_and(|terminal| terminal.colours);
        Self { out, columns, colours, pace, pause: Duration::ZERO }
    }

    /// Shows a block of lines, after the reading time of the previous block.
    pub(super) fn show(&mut self, block: &[DemoLine]) -> io::Result<()> {
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
        let rows: Vec<Vec<StyledText>> =
            block.iter().flat_map(|line| wrap_line(line, self.columns)).collect();
        for row in &rows {
            // One write per row, with all colours reset in it: an interrupted demo leaves no colour behind.
            let text: String = row.iter().map(|piece| self.render_piece(piece)).collect();
            writeln!(self.out, "{text}")?;
        }
        writeln!(self.out)?;
        self.out.flush()?;
        self.pause = self.pace.pause_after(rows.len());
        Ok(())
    }

    fn render_piece(&self, (style, text): &StyledText) -> String {
        let code = match style {
            TextStyle::Plain => 0,
            TextStyle::Strong => 1,
            TextStyle::Faint => 2,
            TextStyle::Bad => 31,
            TextStyle::Good => 32,
            TextStyle::Rutter => 36,
        };
        let bare = !self.colours || code == 0 || text.trim().is_empty();
        if bare { text.clone() } else { format!("\x1b[{code}m{text}\x1b[0m") }
    }
}

/// Wraps a line into rows, between words if possible.
fn wrap_line(line: &DemoLine, columns: usize) -> Vec<Vec<StyledText>> {
    let width = |pieces: &[StyledText]| -> usize {
        pieces.iter().map(|(_, text)| text.chars().count()).sum()
    };
    let signs: Vec<(TextStyle, char)> = line
        .text
        .iter()
        .flat_map(|(style, text)| text.chars().map(move |sign| (*style, sign)))
        .collect();
    let mut rest = &signs[..];
    let mut rows = Vec::new();
    loop {
        let mut row = if rows.is_empty() { line.first.clone() } else { line.others.clone() };
        let room = columns.saturating_sub(width(&row)).max(1);
        let taken = fitting_length(rest, room);
        append_characters(&mut row, &rest[..taken]);
        let space = rest[taken..].iter().take_while(|(_, sign)| *sign == ' ').count();
        rest = &rest[taken + space..];
        if rest.is_empty() && line.ruled {
            let left = columns.saturating_sub(width(&row) + 1);
            row.push((TextStyle::Faint, format!(" {}", "─".repeat(left))));
        }
        trim_row(&mut row);
        rows.push(row);
        if rest.is_empty() {
            return rows;
        }
    }
}

/// Returns the number of characters in the next row.
fn fitting_length(signs: &[(TextStyle, char)], room: usize) -> usize {
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
fn trim_row(row: &mut Vec<StyledText>) {
    while let Some((_, text)) = row.last_mut() {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            return;
        }
        row.pop();
    }
}

/// Appends characters to a row, merged by style.
fn append_characters(row: &mut Vec<StyledText>, signs: &[(TextStyle, char)]) {
    for run in signs.chunk_by(|one, next| one.0 == next.0) {
        row.push((run[0].0, run.iter().map(|(_, sign)| sign).collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Actor;
    use super::*;

    fn render_lines(columns: usize, colours: bool, lines: &[DemoLine]) -> String {
        let mut out = Vec::new();
        let terminal = ui::Terminal { columns: columns + UNUSED_COLUMNS, colours };
        DemoScreen::new(&mut out, Some(terminal), DemoPace::none()).show(lines).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn wraps_lines_between_words() {
        let lines = [
            DemoLine::action(
                Actor::Agent,
                vec![(TextStyle::Plain, "one two three four five six seven".into())],
            ),
            DemoLine::named_field("goal", TextStyle::Plain, "one two three four five"),
            DemoLine::agent_text("  > +a_word_that_is_longer_than_any_row_can_be"),
            DemoLine::heading("Session 1"),
        ];
        insta::assert_snapshot!(render_lines(40, false, &lines), @"
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
    fn rows_reset_colours() {
        let lines = [DemoLine::action(
            Actor::Rutter,
            vec![(TextStyle::Faint, "a word and another word ".repeat(4))],
        )];
        let shown = render_lines(40, true, &lines);
        assert!(shown.lines().count() > 3, "{shown}");
        for row in shown.lines().filter(|row| !row.is_empty()) {
            assert!(row.ends_with("\x1b[0m"), "{row:?}");
        }
    }

    #[test]
    fn demo_takes_under_a_minute() {
        let mut pace = DemoPace::for_reading();
        let all: Duration = (0..1_000).map(|rows| pace.pause_after(rows)).sum();
        assert!(all > Duration::from_secs(40) && all < Duration::from_mins(1), "{all:?}");
    }
}
