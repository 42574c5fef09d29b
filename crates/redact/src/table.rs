//! Table columns that are named like secrets: output of psql and mysql, Markdown tables, comma-separated lists.

use super::alphabet::{self, BLANK, SPACE};
use super::name::{self, NameClass, SecretName};
use super::{Finding, character_mix, handmade, placeholder, randomness};

/// Longest header and longest cell that are examined.
const MAX_CELL_BYTES: usize = 320;

/// Columns with secrets, one bit each, and the sign between columns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Table {
    columns: u32,
    parting: u8,
    /// The column of the current line.
    column: u32,
}

impl Table {
    /// Ends the line from `line` to the line end at `at`.
    pub(super) fn line(&mut self, text: &[u8], line: usize, at: usize) {
        self.column = 0;
        let next = text.get(at + 1).copied().unwrap_or(b'\n');
        if self.columns > 0 && !is_rule(text, at + 1) {
            let rest = &text[at + 1..text.len().min(at + 1 + MAX_CELL_BYTES)];
            let row =
                rest.iter().take_while(|&&byte| byte != b'\n').any(|&byte| byte == self.parting);
            if next == b'\n' || !row {
                *self = Self::default();
            }
            return;
        }
        if self.columns > 0 || at - line > MAX_CELL_BYTES || at < line + 3 {
            return;
        }
        let parting = if is_rule(text, at + 1) { b'|' } else { b',' };
        let header = &text[line..at];
        let list = || {
            header.iter().all(|&byte| {
                byte == b',' || byte == b'\r' || alphabet::has_class(byte, alphabet::WORD)
            })
        };
        if !header.contains(&parting) || parting == b',' && !list() {
            return;
        }
        let cells = header.split(|&byte| byte == parting).take(32).enumerate();
        let named = cells.filter(|(_, cell)| names_secret(cell.trim_ascii()));
        self.columns = named.fold(0, |columns, (column, _)| columns | 1 << column);
        self.parting = parting;
    }

    /// Returns the cell after the sign at `at` if its column holds secrets.
    pub(super) fn cell(&mut self, text: &[u8], at: usize, done: usize) -> Option<Finding> {
        if self.columns == 0 {
            return None;
        }
        if text[at] == self.parting {
            self.column += 1;
        } else if text[at] != b'\n' {
            return None;
        }
        if self.column > 31 || self.columns & (1 << self.column) == 0 {
            return None;
        }
        let start = alphabet::run(text, at + 1, SPACE | alphabet::QUOTE);
        let window = &text[start.min(text.len())..text.len().min(start + MAX_CELL_BYTES)];
        let over =
            |&byte: &u8| byte == self.parting || alphabet::has_class(byte, BLANK | alphabet::QUOTE);
        let length = window
            .iter()
            .position(over)
            .or((start + window.len() == text.len()).then_some(window.len()))?;
        let value = &window[..length];
        let secret = start >= done
            && (character_mix::is_random(value)
                || randomness::is_likely_random(value)
                || handmade::is_surely_handmade(value))
            && !placeholder::is_placeholder(value)
            && !value.contains(&b'/');
        secret.then_some(Finding { start, end: start + length, kind: "secret" })
    }
}

fn names_secret(cell: &[u8]) -> bool {
    let cell = cell.strip_prefix(b"`").and_then(|cell| cell.strip_suffix(b"`")).unwrap_or(cell);
    let short = cell.len() <= 40
        && cell.iter().all(|&byte| alphabet::has_class(byte, alphabet::NAME | SPACE));
    let named = || {
        matches!(
            name::classify(cell),
            Some(SecretName { class: NameClass::Password | NameClass::Secret, .. })
        )
    };
    short && named()
}

/// Returns true if the line at `at` is the rule below a header: `----+----`, `|---|---|`.
fn is_rule(text: &[u8], at: usize) -> bool {
    let window = &text[at.min(text.len())..text.len().min(at + 24)];
    let line = window.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.len() >= 3
        && line.windows(3).any(|part| part == b"---")
        && line.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b' ' | b'\r'))
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn columns_and_blocks() {
        let hex = "8a7d0c3fe5b94a1290ffab34c1d2e7f68a7d0c3f";
        for text in [
            format!("id,api_token\n1,{hex}\n2,{hex}\n"),
            format!(" id | api_token\n----+----------\n  1 | {hex}\n"),
            format!("secrets:\n  hook: {hex}\n"),
            format!("tokens = {{ agent = \"{hex}\" }}"),
        ] {
            assert!(!redact(&text).contains(hex), "{text}");
        }
        for text in [
            format!("id,commit\n1,{hex}\n"),
            format!(" token | commit\n-------+------\n       | {hex}\n"),
            format!("tokens = {{ id = \"{hex}\" }}"),
        ] {
            assert_eq!(redact(&text), text);
        }
    }
}
