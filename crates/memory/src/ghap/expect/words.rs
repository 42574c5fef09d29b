//! Splits prose into words, with the places where a clause may end.

/// The separator between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    Space,
    Comma,
    /// The end of a sentence, a colon, a dash.
    Stop,
    /// `red -> green`
    Arrow,
}

/// A word, or a span in backticks.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// The word as written, without the punctuation around it.
    pub(super) text: String,
    /// In lower case, with straight apostrophes.
    pub(super) lower: String,
    /// True for a span in backticks.
    pub(super) code: bool,
    pub(super) gap: Gap,
}

impl Word {
    pub(super) fn is(&self, lower: &str) -> bool {
        self.lower == lower && !self.code
    }

    pub(super) fn is_any(&self, list: &[&str]) -> bool {
        !self.code && list.contains(&self.lower.as_str())
    }
}

/// Splits a text into words.
pub(super) fn read(text: &str) -> Vec<Word> {
    let mut reader = Reader { words: Vec::new(), gap: Gap::Stop };
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let (before, span) = (&rest[..open], &rest[open + ticks..]);
        reader.prose(before);
        match span.find(&"`".repeat(ticks)) {
            Some(close) => {
                reader.push(span[..close].trim(), true);
                rest = span[close..].trim_start_matches('`');
            }
            None => rest = span,
        }
    }
    reader.prose(rest);
    reader.words
}

struct Reader {
    words: Vec<Word>,
    gap: Gap,
}

impl Reader {
    fn push(&mut self, text: &str, code: bool) {
        if text.is_empty() {
            return;
        }
        let lower = text.to_lowercase().replace('’', "'");
        self.words.push(Word { text: text.to_owned(), lower, code, gap: self.gap });
        self.gap = Gap::Space;
    }

    fn pause(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn prose(&mut self, text: &str) {
        for chunk in text.split_whitespace() {
            match chunk {
                "->" | "=>" | "-->" => self.pause(Gap::Arrow),
                "-" | "--" => self.pause(Gap::Stop),
                _ => self.chunk(chunk),
            }
        }
    }

    /// Splits text between blanks at dashes and arrows, which may have no blanks around them.
    fn chunk(&mut self, chunk: &str) {
        let mut rest = chunk;
        while let Some(at) = rest.find(['—', '–', '→', '⇒']) {
            let sign = rest[at..].chars().next().unwrap_or_default();
            self.word(&rest[..at]);
            self.pause(if matches!(sign, '—' | '–') { Gap::Stop } else { Gap::Arrow });
            rest = &rest[at + sign.len_utf8()..];
        }
        self.word(rest);
    }

    fn word(&mut self, raw: &str) {
        let text = raw.trim_start_matches(['(', '[', '{', '"', '\'', '“', '‘', '*']);
        if raw.len() > text.len() && raw.contains(['(', '[']) {
            self.pause(Gap::Comma);
        }
        // `./...` names every package below; `test_x()` names the test.
        let end = |c: char| ",.;:!?)]}\"'”’*…".contains(c);
        let word = if text.ends_with("/...") { text } else { text.trim_end_matches(end) };
        let word = word.strip_suffix('(').unwrap_or(word);
        self.push(word, false);
        let tail = &text[word.len()..];
        if tail.contains(['.', ';', ':', '!', '?', '…']) {
            self.pause(Gap::Stop);
        } else if tail.contains([',', ')', ']']) && !tail.starts_with("()") {
            self.pause(Gap::Comma);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mark = |gap| match gap {
            Gap::Space => " ",
            Gap::Comma => ", ",
            Gap::Stop => "| ",
            Gap::Arrow => "> ",
        };
        let word = |word: Word| format!("{}{}", mark(word.gap), word.text);
        read(text).into_iter().map(word).collect()
    }

    #[test]
    fn punctuation_is_a_gap_and_code_is_one_word() {
        assert_eq!(
            shown("Then `cargo test -p x`, (maybe) test_foo() in src/a.rs. ok?"),
            "| Then cargo test -p x, maybe, test_foo in src/a.rs| ok"
        );
        assert_eq!(shown("red→green, a -> b - c—d"), "| red> green, a> b| c| d");
        assert_eq!(shown("go test ./... passes"), "| go test ./... passes");
        assert_eq!(shown("```cargo test``` a ` b"), "| cargo test a b");
        assert_eq!(shown("  `` ` "), "");
    }
}
