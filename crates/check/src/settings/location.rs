//! Positions in files.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// A file, or a position in a file.
///
/// The text form is `path:line:column`, which terminals and editors follow. It is one line: each control character of
/// the path becomes a replacement character, because a newline in the name of a folder must not start a new line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The file.
    pub file: PathBuf,
    /// Line and column, both from 1. None for the file as a whole.
    pub position: Option<(usize, usize)>,
}

impl FileLocation {
    /// Creates the location of a file as a whole.
    pub fn whole_file(file: &Path) -> Self {
        Self { file: file.to_owned(), position: None }
    }

    /// Creates the location of a byte offset in the text of a file.
    pub fn in_text(file: &Path, text: &str, at: usize) -> Self {
        Self { file: file.to_owned(), position: Some(line_and_column(text, at)) }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file.to_string_lossy().replace(char::is_control, "\u{fffd}"))?;
        match self.position {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

impl Serialize for FileLocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the line and column of a byte offset, both from 1, with columns in characters, as editors count.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// The lines of a text, for many positions in it.
#[derive(Debug, Clone)]
pub struct LineIndex {
    /// Offsets at which lines start.
    starts: Vec<usize>,
}

impl LineIndex {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let after = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { starts: std::iter::once(0).chain(after).collect() }
    }

    /// Returns the line and column of a byte offset in the same text, as [`line_and_column`] does. Takes time for the
    /// length of one line only.
    pub fn line_and_column(&self, text: &str, at: usize) -> (usize, usize) {
        let at = if text.is_char_boundary(at) { at } else { text.len() };
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied();
        let before = text.get(start.unwrap_or_default()..at).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_is_one_line() {
        let location = FileLocation::in_text(Path::new("/a\nb"), "x\ny", 2);
        assert_eq!(location.to_string(), "/a\u{fffd}b:2:1");
        assert_eq!(FileLocation::whole_file(Path::new("/a")).to_string(), "/a");
    }

    #[test]
    fn counts_lines_and_columns() {
        assert_eq!(line_and_column("", 0), (1, 1));
        assert_eq!(line_and_column("a\r\nßc", 3 + 2), (2, 2));
        assert_eq!(line_and_column("a\n", 2), (2, 1));
    }

    #[test]
    fn line_index_agrees_with_counting() {
        for text in ["", "a", "a\n", "\n\nß\r\nx", "ß\nßß"] {
            let lines = LineIndex::new(text);
            for at in 0..=text.len() + 1 {
                let expected = line_and_column(text, at);
                assert_eq!(lines.line_and_column(text, at), expected, "{text:?} {at}");
            }
        }
    }
}
