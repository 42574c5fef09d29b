//! Splits names into parts, the same way for every kind of search.

/// Returns the parts of the names in a text: `parseHTTPHeader_v2` gives `parse`, `HTTP`, `Header`, `v`, `2`.
///
/// White space, `_`, `-`, `.`, `:` and both slashes separate parts and belong to none. Within these a part ends before
/// a capital that follows a small letter, before the last of several capitals if a small letter follows, and between
/// letters and digits. All other characters stay.
pub fn name_parts(text: &str) -> NameParts<'_> {
    NameParts { rest: text }
}

/// The parts of a text, in order; see [`name_parts`].
#[derive(Debug, Clone)]
pub struct NameParts<'a> {
    rest: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Separator,
    Digit,
    Upper,
    Lower,
    Other,
}

impl CharKind {
    fn classify(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '_' | '-' | '.' | ':' | '/' | '\\' | ' ' => Self::Separator,
            '!'..='~' => Self::Other,
            _ if c.is_whitespace() => Self::Separator,
            _ if c.is_numeric() => Self::Digit,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_lowercase() => Self::Lower,
            _ => Self::Other,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower)
    }

    /// Returns true if a part ends between `self` and `now`, given the kind of the character after them.
    fn ends_part(self, now: Self, after: Self) -> bool {
        match (self, now) {
            (_, Self::Separator) | (Self::Lower, Self::Upper) => true,
            (Self::Upper, Self::Upper) => after == Self::Lower,
            (Self::Digit, letter) | (letter, Self::Digit) => letter.is_letter(),
            _ => false,
        }
    }
}

impl<'a> Iterator for NameParts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start_matches(|c| CharKind::classify(c) == CharKind::Separator);
        let mut chars = text.char_indices().map(|(at, c)| (at, CharKind::classify(c)));
        let (_, mut before) = chars.next()?;
        let mut following = chars.clone().map(|(_, kind)| kind).skip(1);
        let end = chars.find_map(|(at, now)| {
            let ends = before.ends_part(now, following.next().unwrap_or(CharKind::Separator));
            before = now;
            ends.then_some(at)
        });
        let (part, rest) = text.split_at(end.unwrap_or(text.len()));
        self.rest = rest;
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn apart(text: &str, expected: &str) {
        assert_eq!(name_parts(text).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn splits_names_at_joints() {
        apart("parseHTTPHeader_v2", "parse HTTP Header v 2");
        apart("XMLHttpRequest", "XML Http Request");
        apart("src/store/spool.rs:177", "src store spool rs 177");
        apart(r"C:\Users\me", "C Users me");
        apart("std::fs::write", "std fs write");
        apart("kebab-case SCREAMING_CASE", "kebab case SCREAMING CASE");
        apart("sha256sum utf8", "sha 256 sum utf 8");
        apart("ΣίσυφοςΆλφα çaVa", "Σίσυφος Άλφα ça Va");
    }

    #[test]
    fn keeps_other_characters() {
        apart("don't c++ C# #42", "don't c++ C# #42");
        apart("東京3号", "東京3号");
        apart("e\u{301}A", "e\u{301}A");
        apart("--__..", "");
        apart("", "");
    }
}
