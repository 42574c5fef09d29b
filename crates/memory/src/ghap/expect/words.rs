//! Splits prose into words, with the places where a clause may end.

/// The separator between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordGap {
    Space,
    Comma,
    /// The end of a sentence, a colon, a dash.
    Stop,
    /// `red -> green`
    Arrow,
}

/// A word, or a span in backticks.
#[derive(Debug, Clone)]
pub(super) struct ProseWord {
    /// The word as written, without the punctuation around it.
    pub(super) text: String,
    /// In lower case, with straight apostrophes.
    pub(super) lower: String,
    /// True for a span in backticks.
    pub(super) code: bool,
    pub(super) gap: WordGap,
}

impl ProseWord {
    pub(super) fn is(&self, lower: &str) -> bool {
        self.lower == lower && !self.code
    }

    pub(super) fn is_any(&self, list: &[&str]) -> bool {
        !self.code && list.contains(&self.lower.as_str())
    }
}

/// Splits a text into words.
pub(super) fn split_prose(text: &str) -> Vec<ProseWord> {
    let mut reader = ProseReader { words: Vec::new(), gap: WordGap::Stop };
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let (before, span) = (&rest[..open], &rest[open + ticks..]);
        reader.read_prose(before);
        match span.find(&"`".repeat(ticks)) {
            Some(close) => {
                reader.push(span[..close].trim(), true);
                rest = span[close..].trim_start_matches('`');
            }
            None => rest = span,
        }
    }
    reader.read_prose(rest);
    reader.words
}

struct ProseReader {
    words: Vec<ProseWord>,
    gap: WordGap,
}

impl ProseReader {
    fn push(&mut self, text: &str, code: bool) {
        if text.is_empty() {
            return;
        }
        let lower = text.to_lowercase().replace('’', "'");
        self.words.push(ProseWord { text: text.to_owned(), lower, code, gap: self.gap });
        self.gap = WordGap::Space;
    }

    fn widen_gap(&mut self, gap: WordGap) {
        self.gap = self.gap.max(gap);
    }

    fn read_prose(&mut self, text: &str) {
        for chunk in text.split_whitespace() {
            match chunk {
                "->" | "=>" | "-->" => self.widen_gap(WordGap::Arrow),
                "-" | "--" => self.widen_gap(WordGap::Stop),
                _ => self.read_chunk(chunk),
            }
        }
    }

    /// Splits text between blanks at dashes and arrows, which may have no blanks around them.
    fn read_chunk(&mut self, chunk: &str) {
        let mut rest = chunk;
        while let Some(at) = rest.find(['—', '–', '→', '⇒']) {
            let sign = rest[at..].chars().next().unwrap_or_default();
            self.read_word(&rest[..at]);
            self.widen_gap(if matches!(sign, '—' | '–') {
                WordGap::Stop
            } else {
                WordGap::Arrow
            });
            rest = &rest[at + sign.len_utf8()..];
        }
        self.read_word(rest);
    }

    fn read_word(&mut self, raw: &str) {
        let text = raw.trim_start_matches(['(', '[', '{', '"', '\'', '“', '‘', '*']);
        if raw.len() > text.len() && raw.contains(['(', '[']) {
            self.widen_gap(WordGap::Comma);
        }
        // `./...` names every package below; `test_x()` names the test.
        let end = |c: char| ",.;:!?)]}\"'”’*…".contains(c);
        let word = if text.ends_with("/...") { text } else { text.trim_end_matches(end) };
        let word = word.strip_suffix('(').unwrap_or(word);
        self.push(word, false);
        let tail = &text[word.len()..];
        if tail.contains(['.', ';', ':', '!', '?', '…']) {
            self.widen_gap(WordGap::Stop);
        } else if tail.contains([',', ')', ']']) && !tail.starts_with("()") {
            self.widen_gap(WordGap::Comma);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mark = |gap| match gap {
            WordGap::Space => " ",
            WordGap::Comma => ", ",
            WordGap::Stop => "| ",
            WordGap::Arrow => "> ",
        };
        let word = |word: ProseWord| format!("{}{}", mark(word.gap), word.text);
        split_prose(text).into_iter().map(word).collect()
    }

    #[test]
    fn splits_at_punctuation_outside_code() {
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
