//! What several runners' readers look for in a line. Plain scanning: this runs in a hook.

pub(super) use super::scan::seconds as millis;

/// The number at the start of a text, and the rest.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// `1 failed` and the like: the number before a word of a list that `, ` or `; ` separates.
pub(super) fn counted(list: &str, word: &str) -> Option<u32> {
    list.split([',', ';']).find_map(|part| {
        let (number, rest) = number(part.trim())?;
        (rest.trim_start().split(' ').next()? == word).then_some(number)
    })
}

/// The file of `src/lib.rs:19:17`: what stands before the line, with a Windows drive left alone.
pub(super) fn file(place: &str) -> Option<&str> {
    let mut from = if place.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    while let Some(colon) = place.get(from..)?.find(':').map(|at| at + from) {
        if place.as_bytes().get(colon + 1).is_some_and(u8::is_ascii_digit) {
            return place.get(..colon).filter(|file| !file.is_empty());
        }
        from = colon + 1;
    }
    None
}

/// Whether a file's name ends in an extension.
pub(super) fn has_extension(file: &str, extension: &str) -> bool {
    file.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

/// The text of the first pair of quotes.
pub(super) fn quoted(text: &str, quote: char) -> Option<&str> {
    let (_, rest) = text.split_once(quote)?;
    rest.split_once(quote).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(file("src/lib.rs:19:17"), Some("src/lib.rs"));
        assert_eq!(file("./a b.go:3: boom"), Some("./a b.go"));
        assert_eq!(file(r"C:\a\b.rs:1:2"), Some(r"C:\a\b.rs"));
        assert_eq!(file("src/lib.rs"), None);
        assert_eq!(file(":3"), None);
        assert_eq!(file("a:"), None);
    }

    #[test]
    fn counts() {
        assert_eq!(counted("5 passed; 1 failed", "failed"), Some(1));
        assert_eq!(counted("1 passed (1 flaky), 2 timed out", "timed"), Some(2));
        assert_eq!(counted("1 passed", "failed"), None);
    }
}
