//! `<private>…</private>`: regions that a user has marked as private.
//!
//! The whole region is removed, with its tags. A region without a closing tag reaches to the end of the text: a user
//! who forgot the tag did not mean to publish the rest.

use super::Finding;
use super::alphabet::{self, SPACE};

const KIND: &str = "private";

/// Returns the outermost regions.
pub(super) fn regions(text: &str) -> impl Iterator<Item = Finding> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (start, mut at) = opening(text, from)?;
        let mut depth = 1;
        while depth > 0 {
            let Some((after, closes)) = either(text, at) else {
                from = text.len();
                return Some(Finding { start, end: text.len(), kind: KIND });
            };
            depth = if closes { depth - 1 } else { depth + 1 };
            at = after;
        }
        from = at;
        Some(Finding { start, end: at, kind: KIND })
    })
}

/// Returns the start and the end of the next opening tag.
fn opening(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        at += text.get(at..)?.find('<')?;
        if let Some(end) = tag(text.as_bytes(), at, false) {
            return Some((at, end));
        }
        at += 1;
    }
}

/// Returns the end of the next tag, and true if it is a closing one.
fn either(text: &str, from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    loop {
        at += text.get(at..)?.find('<')?;
        for closes in [false, true] {
            if let Some(end) = tag(text.as_bytes(), at, closes) {
                return Some((end, closes));
            }
        }
        at += 1;
    }
}

/// Returns the end of the tag that begins at `at`.
fn tag(text: &[u8], at: usize, closing: bool) -> Option<usize> {
    let word: &[u8] = if closing { b"</private" } else { b"<private" };
    if !alphabet::starts_any_case(text, at, word) {
        return None;
    }
    let end =
        (at + word.len()..=at + word.len() + 8).find(|&end| !alphabet::is_at(text, end, SPACE))?;
    // Between backticks, the tag is only mentioned. Without this check, documentation of it would lose the rest of
    // its text.
    let mention = at > 0 && text[at - 1] == b'`' && text.get(end + 1) == Some(&b'`');
    (text.get(end) == Some(&b'>') && !mention).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn regions_go_whole() {
        for (text, left) in [
            ("a <private>b</private> c", "a [redacted:private] c"),
            ("a <PRIVATE >b\nc", "a [redacted:private]"),
            ("<private>a<private>b</private>c</private>d", "[redacted:private]d"),
            ("</private> a <private>b</Private>", "</private> a [redacted:private]"),
            ("`<private>` hides text", "`<private>` hides text"),
            ("<privateKey/> <private-notes>", "<privateKey/> <private-notes>"),
            ("<private>é</private><private>", "[redacted:private][redacted:private]"),
        ] {
            assert_eq!(redact(text), left);
        }
    }
}
