//! The client's length limit for texts.

use std::borrow::Cow;

/// Returns the length of a text in UTF-16 units, as the client counts it.
pub fn utf16_units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Cuts a text to `limit` UTF-16 units at a character boundary and appends a mark with the full length.
///
/// The client would keep only a preview of a fifth and write the rest to a file, so this cut loses less.
pub fn truncate_to_limit(text: &str, limit: usize) -> Cow<'_, str> {
    // No character takes more UTF-16 units than UTF-8 bytes: short texts need no count.
    if text.len() <= limit || utf16_units(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mark = format!("\n[… cut: the whole text has {} characters]", text.chars().count());
    let Some(room) = limit.checked_sub(utf16_units(&mark)) else {
        return Cow::Owned(prefix_within(text, limit).to_owned());
    };
    Cow::Owned(prefix_within(text, room).to_owned() + &mark)
}

/// Returns the longest prefix of `text` with at most `units` UTF-16 units.
pub(crate) fn prefix_within(text: &str, units: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > units
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_at_limit_is_unchanged() {
        for text in ["a".repeat(10_000), "漢".repeat(10_000), "😀".repeat(5_000)] {
            assert_eq!(truncate_to_limit(&text, 10_000), text);
        }
    }

    #[test]
    fn longer_text_is_cut_and_marked() {
        for text in ["a".repeat(10_001), "漢".repeat(10_001), "😀".repeat(5_001)] {
            let cut = truncate_to_limit(&text, 10_000);
            assert!(utf16_units(&cut) <= 10_000);
            // An emoji that does not fit leaves one unit unused.
            assert!(utf16_units(&cut) >= 9_999);
            assert!(cut.contains(&format!("{} characters", text.chars().count())));
        }
    }

    #[test]
    fn short_limit_omits_mark() {
        assert_eq!(truncate_to_limit("abcdefgh", 3), "abc");
        assert_eq!(truncate_to_limit("😀😀", 3), "😀");
        assert_eq!(truncate_to_limit("abc", 0), "");
    }
}
