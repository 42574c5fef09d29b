//! Scanners for readers: rules, amounts, places and errors in the formats of many runners. They use plain string
//! scanning because they run in a hook.

/// Maximum number of failures that are kept of a run. More failures have a common cause, and readers compare the names
/// with each other, which takes too long for a hook.
pub(super) const MAX_FAILURES: usize = 1000;

/// Returns the title of a rule such as `==== title ====`.
pub(super) fn parse_rule_title(line: &str, mark: char) -> Option<&str> {
    let inner = line.trim_start_matches(mark);
    let title = inner.trim_end_matches(mark);
    if inner.len() == line.len() || title.len() == inner.len() {
        return None;
    }
    let title = title.strip_prefix(' ')?.strip_suffix(' ')?;
    (!title.is_empty() && !title.starts_with(mark)).then_some(title)
}

/// Splits `3 passed` into the number and the words after it.
pub(super) fn split_amount(text: &str) -> Option<(u32, &str)> {
    let (number, words) = text.split_once(' ')?;
    Some((number.parse().ok()?, words))
}

/// Parses seconds such as `1.5` to milliseconds.
pub(super) fn parse_seconds(text: &str) -> Option<u64> {
    parse_decimal(text, 1000)
}

/// Parses a plain decimal number, multiplied by `scale` and truncated. Accepts no sign and no exponent.
pub(super) fn parse_decimal(text: &str, scale: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut unit = scale;
    for digit in part.bytes() {
        unit /= 10;
        value = value.checked_add(u64::from(digit - b'0') * unit)?;
    }
    Some(value)
}

/// Splits `package.Name: message`, `Name [CODE]: message` or a bare `Name` into the error's name and message.
///
/// The last part of a name starts with a capital; prose such as `Note that this: …` has blanks before the colon.
pub(super) fn split_error(line: &str) -> Option<(&str, &str)> {
    let end = line
        .find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | '.' | '$')))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let last = name.rsplit('.').next()?;
    if !last.starts_with(|sign: char| sign.is_ascii_uppercase()) || name.starts_with('.') {
        return None;
    }
    let rest = match rest.strip_prefix(" [").and_then(|rest| rest.split_once(']')) {
        Some((code, rest)) if !code.contains(' ') => rest,
        _ => rest,
    };
    if rest.is_empty() {
        return Some((name, ""));
    }
    let message = rest.strip_prefix(':')?;
    (message.is_empty() || message.starts_with(' ')).then(|| (name, message.trim()))
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodePlace<'a> {
    /// The path, as printed.
    pub(super) path: &'a str,
    /// The line, counted from 1; None if it is missing or not a line number.
    pub(super) line: Option<u32>,
}

impl<'a> CodePlace<'a> {
    /// Builds a place from a path and the text of a line number.
    pub(super) fn new(path: &'a str, line: &str) -> Self {
        Self { path, line: line.parse().ok().filter(|line| *line > 0) }
    }
}

/// Parses `path:12` and `path:12:5`. Returns the place and the text after the numbers.
pub(super) fn parse_located_prefix(text: &str) -> Option<(CodePlace<'_>, &str)> {
    let mut from = 0;
    loop {
        let colon = from + text[from..].find(':')?;
        let rest = &text[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && colon > 0 {
            let mut after = &rest[digits..];
            if let Some(more) = after.strip_prefix(':') {
                let column = more.bytes().take_while(u8::is_ascii_digit).count();
                if column > 0 {
                    after = &more[column..];
                }
            }
            return Some((CodePlace::new(&text[..colon], &rest[..digits]), after));
        }
        from = colon + 1;
    }
}

/// Returns true if a file belongs to the project, not to the language or a library.
pub(super) fn is_project_file(path: &str) -> bool {
    const OTHERS: &[&str] = &[
        "site-packages",
        "dist-packages",
        "node_modules",
        "lib/python",
        "\\Lib\\",
        "node:",
        "internal/",
    ];
    !path.starts_with('<') && !OTHERS.iter().any(|other| path.contains(other))
}

/// Splits a text after the number at its start.
pub(super) fn split_number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// Returns the number before a word, in a list such as `1 failed, 2 passed` that `, ` or `; ` separates.
pub(super) fn find_count(list: &str, word: &str) -> Option<u32> {
    list.split([',', ';']).find_map(|part| {
        let (number, rest) = split_number(part.trim())?;
        (rest.trim_start().split(' ').next()? == word).then_some(number)
    })
}

/// Returns the file of `src/lib.rs:19:17`. A Windows drive stays part of the path.
pub(super) fn file_of_place(place: &str) -> Option<&str> {
    self::parse_place(place).map(|place| place.path)
}

/// Parses `src/lib.rs:19:17` at the start of a text. A Windows drive stays part of the path.
pub(super) fn parse_place(text: &str) -> Option<CodePlace<'_>> {
    let mut from = if text.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    while let Some(colon) = text.get(from..)?.find(':').map(|at| at + from) {
        let digits = text[colon + 1..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let path = text.get(..colon).filter(|path| !path.is_empty())?;
            return Some(CodePlace::new(path, &text[colon + 1..colon + 1 + digits]));
        }
        from = colon + 1;
    }
    None
}

/// Returns true if a line is output of `time`: that of zsh, of bash, or of GNU time.
pub(super) fn is_timing(line: &str) -> bool {
    let is_bash = |name: &str| {
        let rest = line.strip_prefix(name).and_then(|rest| rest.strip_prefix('\t'));
        rest.is_some_and(|time| time.ends_with('s') && time.contains('m'))
    };
    (line.ends_with(" total") && line.contains("s user ") && line.contains("% cpu "))
        || is_bash("real")
        || is_bash("user")
        || is_bash("sys")
        || (line.contains("elapsed ") && line.contains("maxresident)k"))
        || line.ends_with("pagefaults 0swaps")
}

/// Returns true if a file has an extension.
pub(super) fn has_extension(file: &str, extension: &str) -> bool {
    file.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

/// Returns the text in the first pair of quotes.
pub(super) fn first_quoted(text: &str, quote: char) -> Option<&str> {
    let (_, rest) = text.split_once(quote)?;
    rest.split_once(quote).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_a_title_between_marks() {
        assert_eq!(parse_rule_title("==== a = b ====", '='), Some("a = b"));
        for line in ["====", "=== ===", "==== a", "a ====", "====a====", "", "_ _ _ _ "] {
            assert_eq!(parse_rule_title(line, '='), None, "{line}");
        }
        assert_eq!(parse_rule_title("_ _ _ _", '_'), None);
    }

    #[test]
    fn errors_are_names() {
        assert_eq!(split_error("ValueError: bad: x"), Some(("ValueError", "bad: x")));
        assert_eq!(split_error("shop.Empty"), Some(("shop.Empty", "")));
        let node = split_error("AssertionError [ERR_ASSERTION]: 1 == 2");
        assert_eq!(node, Some(("AssertionError", "1 == 2")));
        for line in ["note: x", "Now this: y", "", "a.b: c", "C:\\x", "Error at x", "::"] {
            assert_eq!(split_error(line), None, "{line}");
        }
    }

    #[test]
    fn places_end_in_numbers() {
        let place = |path, line| CodePlace { path, line };
        assert_eq!(
            parse_located_prefix("a/b.py:12: in x"),
            Some((place("a/b.py", Some(12)), ": in x"))
        );
        assert_eq!(parse_located_prefix("C:\\a.js:3:14)"), Some((place("C:\\a.js", Some(3)), ")")));
        assert_eq!(parse_located_prefix("a:99999999999"), Some((place("a", None), "")));
        assert_eq!(parse_located_prefix(":3"), None);
        assert_eq!(parse_located_prefix("a: b:"), None);
    }

    #[test]
    fn decimals_are_only_digits() {
        assert_eq!(parse_seconds("0.06"), Some(60));
        assert_eq!(parse_seconds("75.3"), Some(75_300));
        assert_eq!(parse_decimal("12.75", 1), Some(12));
        for text in ["", ".", "1.", "-1", "1e3", "NaN", "99999999999999999999"] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
    }

    #[test]
    fn files_stand_before_their_lines() {
        assert_eq!(file_of_place("src/lib.rs:19:17"), Some("src/lib.rs"));
        assert_eq!(file_of_place("./a b.go:3: boom"), Some("./a b.go"));
        assert_eq!(file_of_place(r"C:\a\b.rs:1:2"), Some(r"C:\a\b.rs"));
        assert_eq!(file_of_place("src/lib.rs"), None);
        assert_eq!(file_of_place(":3"), None);
        assert_eq!(file_of_place("a:"), None);
    }

    #[test]
    fn counts_stand_before_their_words() {
        assert_eq!(find_count("5 passed; 1 failed", "failed"), Some(1));
        assert_eq!(find_count("1 passed (1 flaky), 2 timed out", "timed"), Some(2));
        assert_eq!(find_count("1 passed", "failed"), None);
    }
}
