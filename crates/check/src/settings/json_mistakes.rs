//! Mistakes of a text that is almost JSON, and the edits that repair them.
//!
//! The client rejects such a text as a whole. This module only says what the author probably meant; it never decides if
//! the client reads a file.

use std::ops::Range;

use rutter_contract::javascript;

use super::edited_text::TextEdit;

/// A mistake of a text that should be JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonMistake {
    /// The kind of mistake.
    pub kind: JsonMistakeKind,
    /// Byte range of the mistake. Empty if something is missing there.
    pub range: Range<usize>,
    /// The range to replace and its new text. None if the repair is not certain.
    pub repair: Option<(Range<usize>, String)>,
}

/// A kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonMistakeKind {
    /// A comment: `// …` or `/* … */`.
    Comment,
    /// A comma without a value after it.
    ExtraComma,
    /// No comma between two values.
    MissingComma,
    /// A string in single quotes.
    SingleQuotes,
    /// A key without quotes.
    UnquotedKey,
    /// A word of another language: `True`, `None`, `undefined`.
    UnknownWord,
    /// A control character in a string, such as a tab or the end of a line.
    ControlCharacter,
    /// A quote in a string without a backslash before it, which ends the string.
    UnescapedQuote,
    /// A bracket, brace or string that is never closed. The mistake is at the end of the text.
    Unclosed {
        /// Byte offset of the opening sign.
        opened: usize,
    },
    /// Text after the end of the value.
    TextAfterEnd,
    /// Any other mistake.
    Other,
}

/// Finds the mistakes of a text that is not JSON. Ends at the first mistake behind which the text cannot be followed.
pub(super) fn find_mistakes(text: &str) -> Vec<JsonMistake> {
    let mut scanner =
        MistakeScanner { text, bytes: text.as_bytes(), at: 0, open: Vec::new(), found: Vec::new() };
    // None: the scanner has recorded the mistake at which it stopped.
    let _ = scanner.scan_text();
    scanner.found
}

/// Returns the edits that repair all mistakes. Returns None if one of them has no certain repair.
pub(super) fn collect_repairs(mistakes: &[JsonMistake]) -> Option<Vec<TextEdit>> {
    if mistakes.is_empty() {
        return None;
    }
    mistakes.iter().map(|mistake| mistake.repair.clone()).collect()
}

struct MistakeScanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The closing bytes of the open containers, with the offsets of their opening ones.
    open: Vec<(u8, usize)>,
    found: Vec<JsonMistake>,
}

/// The part of the text that must follow.
#[derive(Clone, Copy)]
enum ExpectedPart {
    /// A value.
    Value,
    /// A value or key, or the end of the container. The offset is that of the comma before it, if there is one.
    ItemOrEnd(Option<usize>),
    /// A comma, or the end of the container or text.
    Separator,
}

impl MistakeScanner<'_> {
    fn scan_text(&mut self) -> Option<()> {
        let mut expected = ExpectedPart::Value;
        loop {
            let previous_end = self.at;
            self.skip_space()?;
            let in_object = self.open.last().is_some_and(|(closes, _)| *closes == b'}');
            expected = match (expected, self.peek()) {
                (ExpectedPart::Value, Some(b'{' | b'[')) => self.open_container(),
                (ExpectedPart::Value, _) => self.scan_scalar()?,
                (ExpectedPart::ItemOrEnd(comma), Some(b'}' | b']')) => {
                    if let Some(comma) = comma {
                        self.add_removal(JsonMistakeKind::ExtraComma, comma..comma + 1);
                    }
                    self.close_container()?
                }
                (ExpectedPart::ItemOrEnd(_), Some(b',')) => {
                    self.at += 1;
                    self.add_removal(JsonMistakeKind::ExtraComma, self.at - 1..self.at);
                    expected
                }
                (ExpectedPart::ItemOrEnd(_), _) if in_object => self.scan_key()?,
                (ExpectedPart::ItemOrEnd(_), _) => {
                    expected = ExpectedPart::Value;
                    continue;
                }
                (ExpectedPart::Separator, byte) => match byte {
                    None if self.open.is_empty() => return Some(()),
                    Some(_) if self.open.is_empty() => {
                        return self.stop(JsonMistakeKind::TextAfterEnd, self.at..self.text.len());
                    }
                    Some(b',') => {
                        self.at += 1;
                        ExpectedPart::ItemOrEnd(Some(self.at - 1))
                    }
                    Some(b'}' | b']') => self.close_container()?,
                    Some(byte) if self.follows_quote(previous_end) && !can_start_value(byte) => {
                        let quote = self.at - 1..self.at;
                        return self.stop(JsonMistakeKind::UnescapedQuote, quote);
                    }
                    Some(byte) if can_start_item(byte, in_object) => {
                        let range = previous_end..previous_end;
                        let repair = Some((range.clone(), ",".to_owned()));
                        let kind = JsonMistakeKind::MissingComma;
                        self.found.push(JsonMistake { kind, range, repair });
                        if in_object { self.scan_key()? } else { ExpectedPart::Value }
                    }
                    _ => return self.stop_here(),
                },
            };
        }
    }

    /// Returns true if a string ends directly before the current byte.
    fn follows_quote(&self, previous_end: usize) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| self.bytes.get(before));
        previous_end == self.at && before == Some(&b'"')
    }

    fn open_container(&mut self) -> ExpectedPart {
        let closes = if self.peek() == Some(b'{') { b'}' } else { b']' };
        self.open.push((closes, self.at));
        self.at += 1;
        ExpectedPart::ItemOrEnd(None)
    }

    fn close_container(&mut self) -> Option<ExpectedPart> {
        if self.open.last().map(|(closes, _)| *closes) != self.peek() {
            return self.stop_here();
        }
        self.open.pop();
        self.at += 1;
        Some(ExpectedPart::Separator)
    }

    fn scan_key(&mut self) -> Option<ExpectedPart> {
        match self.peek() {
            Some(b'"') => self.scan_string()?,
            Some(b'\'') => self.scan_single_quoted()?,
            Some(byte) if is_word_byte(byte) => {
                let range = self.scan_word();
                let repair = self.text.get(range.clone()).map(quote_text);
                let repair = repair.map(|text| (range.clone(), text));
                let kind = JsonMistakeKind::UnquotedKey;
                self.found.push(JsonMistake { kind, range, repair });
            }
            _ => return self.stop_here(),
        }
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return self.stop_here();
        }
        self.at += 1;
        Some(ExpectedPart::Value)
    }

    fn scan_scalar(&mut self) -> Option<ExpectedPart> {
        match self.peek() {
            Some(b'"') => self.scan_string()?,
            Some(b'\'') => self.scan_single_quoted()?,
            Some(byte) if is_word_byte(byte) || matches!(byte, b'-' | b'+' | b'.') => {
                let range = self.scan_word();
                let word = self.text.get(range.clone()).unwrap_or_default();
                if javascript::parse(word).is_err() {
                    let meant = match word {
                        "True" | "TRUE" => Some("true"),
                        "False" | "FALSE" => Some("false"),
                        "None" | "Null" | "NULL" | "nil" | "undefined" => Some("null"),
                        _ => None,
                    };
                    let repair = meant.map(|meant| (range.clone(), meant.to_owned()));
                    let kind = JsonMistakeKind::UnknownWord;
                    self.found.push(JsonMistake { kind, range, repair });
                }
            }
            _ => return self.stop_here(),
        }
        Some(ExpectedPart::Separator)
    }

    fn scan_word(&mut self) -> Range<usize> {
        let start = self.at;
        let is_part = |byte: u8| is_word_byte(byte) || matches!(byte, b'-' | b'+' | b'.');
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        start..self.at
    }

    fn scan_string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\t') => {
                    let range = self.at..self.at + 1;
                    let repair = Some((range.clone(), "\\t".to_owned()));
                    let kind = JsonMistakeKind::ControlCharacter;
                    self.found.push(JsonMistake { kind, range, repair });
                    self.at += 1;
                }
                // A string ends on its line: the closing quote is missing, or the line end was meant as `\n`.
                Some(b'\n' | b'\r') => {
                    return self.stop(JsonMistakeKind::ControlCharacter, self.at..self.at + 1);
                }
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return self.stop_unclosed(start),
            }
        }
        self.at += 1;
        Some(())
    }

    fn scan_single_quoted(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let mut inner = String::from("\"");
        loop {
            let from = self.at;
            match self.peek() {
                Some(b'\'') => break,
                Some(b'\n' | b'\r') | None => {
                    return self.stop(JsonMistakeKind::SingleQuotes, start..self.at);
                }
                Some(b'"') => {
                    inner.push_str("\\\"");
                    self.at += 1;
                }
                Some(b'\\') if self.bytes.get(self.at + 1) == Some(&b'\'') => {
                    inner.push('\'');
                    self.at += 2;
                }
                Some(byte) => {
                    // A backslash may be the last character.
                    self.at = (self.at + 1 + usize::from(byte == b'\\')).min(self.text.len());
                    while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                    inner.push_str(self.text.get(from..self.at).unwrap_or_default());
                }
            }
        }
        self.at += 1;
        inner.push('"');
        let range = start..self.at;
        let repair = javascript::parse(&inner).is_ok().then(|| (range.clone(), inner));
        self.found.push(JsonMistake { kind: JsonMistakeKind::SingleQuotes, range, repair });
        Some(())
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Option<()> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    let length = rest.iter().position(|byte| *byte == b'\n');
                    self.add_comment(self.at + length.unwrap_or(rest.len()));
                }
                [b'/', b'*', ..] => {
                    let inside = rest.get(2..).unwrap_or_default();
                    let Some(length) = inside.windows(2).position(|pair| pair == b"*/") else {
                        return self.stop(JsonMistakeKind::Comment, self.at..self.text.len());
                    };
                    self.add_comment(self.at + length + 4);
                }
                _ => return Some(()),
            }
        }
    }

    /// Adds the comment that ends at an offset. The repair of a comment on a line of its own removes the line.
    fn add_comment(&mut self, end: usize) {
        let start = self.at;
        self.at = end;
        let mut end = end;
        while self.bytes.get(end - 1) == Some(&b'\r') {
            end -= 1;
        }
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let alone = before.get(line..).is_some_and(|text| text.trim().is_empty());
        let after = self.text.get(end..).unwrap_or_default();
        let rest = after.trim_start_matches([' ', '\t', '\r']);
        let kind = JsonMistakeKind::Comment;
        let removed = if alone && rest.starts_with('\n') {
            line..self.text.len() - rest.len() + 1
        } else if rest.is_empty() || rest.starts_with('\n') {
            before.trim_end_matches([' ', '\t']).len()..end
        } else {
            start..end
        };
        // The line may be gone already, for example with another comment.
        let taken = self.found.iter().rev().filter_map(|one| one.repair.as_ref());
        let free = taken.map(|(range, _)| range.end).max().unwrap_or_default();
        let removed = removed.start.max(free.min(start))..removed.end;
        self.found.push(JsonMistake {
            kind,
            range: start..end,
            repair: Some((removed, String::new())),
        });
    }

    fn add_removal(&mut self, kind: JsonMistakeKind, range: Range<usize>) {
        let repair = Some((range.clone(), String::new()));
        self.found.push(JsonMistake { kind, range, repair });
    }

    /// Records a mistake behind which the text cannot be followed.
    fn stop<T>(&mut self, kind: JsonMistakeKind, range: Range<usize>) -> Option<T> {
        self.found.push(JsonMistake { kind, range, repair: None });
        None
    }

    /// Records that the text ends before the sign at `opened` is closed.
    fn stop_unclosed<T>(&mut self, opened: usize) -> Option<T> {
        let end = self.text.trim_end().len();
        self.stop(JsonMistakeKind::Unclosed { opened }, end..end)
    }

    fn stop_here<T>(&mut self) -> Option<T> {
        let Some(character) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            let start = self.open.last().map_or(self.at, |(_, start)| *start);
            return self.stop_unclosed(start);
        };
        self.stop(JsonMistakeKind::Other, self.at..self.at + character.len_utf8())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// Returns true if a byte can start a key or an element.
fn can_start_item(byte: u8, in_object: bool) -> bool {
    let common = matches!(byte, b'"' | b'\'') || is_word_byte(byte);
    common || (!in_object && matches!(byte, b'{' | b'[' | b'-'))
}

/// Returns true if a byte can start a value or a comment, and is not part of a word.
fn can_start_value(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'{' | b'[' | b'/')
}

/// Returns true for the bytes of a word: letters, digits, `_` and `$`, and everything outside ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

fn quote_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::edited_text::EditedText;
    use super::*;

    /// Returns each mistake with its text, and the repaired text.
    fn found(text: &str) -> (Vec<(JsonMistakeKind, &str)>, Option<String>) {
        let mistakes = find_mistakes(text);
        let repaired = collect_repairs(&mistakes).map(|edits| EditedText::apply(text, edits).text);
        (mistakes.iter().map(|one| (one.kind, &text[one.range.clone()])).collect(), repaired)
    }

    #[test]
    fn repairs_each_kind() {
        use JsonMistakeKind as K;
        for (text, mistakes, repaired) in [
            (
                "{ // a\r\n  // b\n \"x\": 1 /* c */, \"y\": 2 // d\n}",
                vec![
                    (K::Comment, "// a"),
                    (K::Comment, "// b"),
                    (K::Comment, "/* c */"),
                    (K::Comment, "// d"),
                ],
                "{\r\n \"x\": 1 , \"y\": 2\n}",
            ),
            (
                "{\"a\": [1, 2, ], }",
                vec![(K::ExtraComma, ","), (K::ExtraComma, ",")],
                "{\"a\": [1, 2 ] }",
            ),
            ("[1,,2]", vec![(K::ExtraComma, ",")], "[1,2]"),
            (
                "{'a': 'it\\'s \"b\"'}",
                vec![(K::SingleQuotes, "'a'"), (K::SingleQuotes, "'it\\'s \"b\"'")],
                "{\"a\": \"it's \\\"b\\\"\"}",
            ),
            (
                "{\"a\": 1\n\"b\": [1 2]}",
                vec![(K::MissingComma, ""), (K::MissingComma, "")],
                "{\"a\": 1,\n\"b\": [1, 2]}",
            ),
            (
                "{hooks: 1, $é: 2}",
                vec![(K::UnquotedKey, "hooks"), (K::UnquotedKey, "$é")],
                "{\"hooks\": 1, \"$é\": 2}",
            ),
            (
                "[True, None]",
                vec![(K::UnknownWord, "True"), (K::UnknownWord, "None")],
                "[true, null]",
            ),
            ("[\"a\tb\"]", vec![(K::ControlCharacter, "\t")], "[\"a\\tb\"]"),
        ] {
            assert_eq!(found(text), (mistakes, Some(repaired.to_owned())), "{text}");
            assert!(javascript::parse(repaired).is_ok(), "{repaired}");
        }
    }

    #[test]
    fn uncertain_mistakes_have_no_repair() {
        use JsonMistakeKind as K;
        for (text, last) in [
            ("{\"a\": [1\n", (K::Unclosed { opened: 6 }, "")),
            ("{\"a\": {}", (K::Unclosed { opened: 0 }, "")),
            ("{\"a", (K::Unclosed { opened: 1 }, "")),
            ("{} {}", (K::TextAfterEnd, "{}")),
            ("{\"a\" 1}", (K::Other, "1")),
            ("[1}", (K::Other, "}")),
            ("{\"a\": \"node \"$X/y\" z\"}", (K::UnescapedQuote, "\"")),
            ("{\"a\": \"x\n\"}", (K::ControlCharacter, "\n")),
            ("[.5]", (K::UnknownWord, ".5")),
            ("[1, /* x", (K::Comment, "/* x")),
        ] {
            let (mistakes, repaired) = found(text);
            assert_eq!((mistakes.last(), repaired), (Some(&last), None), "{text}");
        }
    }

    #[test]
    fn comments_on_one_line_do_not_overlap() {
        let text = "{\n /* a */ /* b */ // c\n \"x\": 1}\n// end";
        let (mistakes, repaired) = found(text);
        assert_eq!(mistakes.len(), 4);
        assert!(javascript::parse(&repaired.unwrap()).is_ok());
    }
}
