//! Values near words for secrets: the row below a header, the line below a command, a literal among the arguments of
//! a login.
//!
//! There are too many such places for a rule each. Instead, a word such as `password` or `login` marks the text
//! after it for some length, and a free-standing [random](super::randomness) value in that text is a secret,
//! regardless of the text between them. Hexadecimal hashes and UUIDs are kept: too many of them near such words are
//! not secrets.

mod block;
mod command;
mod other;
mod words;

pub(super) use block::{block_end, block_value};
pub(super) use command::{here_string, piped, printed};
pub(super) use words::{FAR_REACH_BYTES, is_log_in, reach_bytes};

pub(super) use other::has_other_name;
use other::is_resource;

use super::alphabet::{self, ALNUM, BLANK, END, LOWER, NAME, QUOTE};
use super::other_kind::{is_other_kind, is_sign};
use super::randomness::{self, Randomness};
use super::value_span::{ValueForm, ValueSpan};
use super::{Finding, character_mix, handmade, placeholder, prefix};

/// Longest quoted value that is examined.
const MAX_QUOTED_BYTES: usize = 160;

/// Returns the free-standing random value around the word at `at`.
pub(super) fn value(text: &[u8], at: usize, word: usize, done: usize) -> Option<Finding> {
    // Most words are short or have only small letters, and only a separator follows them.
    let next = text.get(word).copied().unwrap_or(b' ');
    let over = alphabet::has_class(next, END)
        || matches!(next, b'=' | b':' | b'(' | b'.' | b'_' | b'-' | b'/');
    let plain = || text[at + 1..word].iter().all(|&byte| alphabet::has_class(byte, LOWER));
    // `Wollmaus-Tango77` begins like a word.
    let over = over
        && !(next == b'-'
            && alphabet::has_class(text[at], alphabet::UPPER)
            && alphabet::is_at(text, word + 1, ALNUM));
    if over && (word - at < 8 && alphabet::has_class(next, END) || word - at > 2 && plain()) {
        return None;
    }
    let floor = at.saturating_sub(4).max(done);
    let signs = text[floor..at].iter().rev().take_while(|byte| is_sign(**byte)).count();
    let opening = text[floor..at]
        .iter()
        .rposition(|&byte| alphabet::has_class(byte, QUOTE | BLANK))
        .map(|at| floor + at);
    // A quoted value may begin with any sign.
    let quoted = opening.filter(|&open| alphabet::has_class(text[open], QUOTE));
    let start = quoted.map_or(at - signs, |open| open + 1);
    let last = if start > done { text[start - 1] } else { b' ' };
    let end = if quoted.is_some() {
        let window = &text[start..text.len().min(start + MAX_QUOTED_BYTES)];
        start
            + window.iter().position(|&byte| {
                byte == last || byte == b'\\' || alphabet::has_class(byte, BLANK)
            })?
    } else {
        let opens = alphabet::has_class(last, BLANK)
            || matches!(
                last,
                b'=' | b':' | b'<' | b'>' | b'(' | b',' | b'[' | b']' | b'|' | b';' | b'{' | b'}'
            );
        if !opens {
            return inside(text, start, word, last, done);
        }
        word_end(text, start, last).unwrap_or_else(|| bare_end(text, start))
    };
    let value = &text[start..end];
    let chosen = handmade::is_surely_handmade(value) && is_login_part(text, start, last, done);
    if end - start < 12 && !chosen
        || !closes(text, end, last)
        || prefix::token(text, start).is_some()
    {
        return None;
    }
    let secret = (chosen || randomness::is_likely_random(value))
        && !is_other_kind(value)
        && !placeholder::is_placeholder(value)
        && !has_other_name(text, start, done)
        && (last != b':' || !is_resource(text, start, done));
    // Behind a blank, the rest of the word belongs to the value; in a list, the next comma ends it.
    let joined = quoted.is_none() && alphabet::has_class(last, BLANK);
    let whole = || {
        if joined {
            end.max(ValueSpan::bare(text, start, ValueForm::Loose).whole(text))
        } else {
            end
        }
    };
    secret.then(|| Finding { start, end: whole(), kind: "secret" })
}

/// Returns true if the value at `start` is the second part of a login, or a literal for a login field:
/// `credentials: ada:X`, `fill('#password', 'X')`.
fn is_login_part(text: &[u8], start: usize, last: u8, done: usize) -> bool {
    let floor = start.saturating_sub(96).max(done);
    let window = &text[floor..start.saturating_sub(1).max(floor)];
    let has = |window: &[u8], words: &[&str]| {
        words.iter().any(|word| {
            window.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        })
    };
    if alphabet::has_class(last, QUOTE) {
        let before = window.trim_ascii_end();
        let given = before.ends_with(b"(")
            || before.ends_with(b",")
            || before.ends_with(b"with:")
            || before.ends_with(b"got");
        return given && has(window, &["assw", "pwd", "credential", "login("]);
    }
    let line = window.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = &line[line.len().saturating_sub(64)..];
    if last == b'[' {
        return has(line, &["password", "pwd"]);
    }
    let linked = match last {
        b':' => {
            let user = alphabet::run_back(text, start - 1, NAME, (start - 1 - done).min(32));
            let free = user == done || alphabet::has_class(text[user - 1], BLANK | QUOTE);
            user + 1 < start - 1 && free
        }
        _ => false,
    };
    linked && has(line, &["log in", "logged in", "sign in", "login", "cred", "auth"])
}

/// Returns a random part of a path, of a replacement or of a test's parameters: `bob/X`, `s/old/X/`, `[bob-X]`.
fn inside(text: &[u8], start: usize, word: usize, last: u8, done: usize) -> Option<Finding> {
    let value = &text[start..word];
    let free = text
        .get(word)
        .is_none_or(|&byte| alphabet::has_class(byte, END) || matches!(byte, b'/' | b'.'));
    let before = &text[start.saturating_sub(24).max(done)..start];
    let joined = match last {
        b'/' => {
            // In encoded data, a slash is a character like any other.
            let part = alphabet::run_back(text, start - 1, NAME, (start - 1 - done).min(40));
            let user = &text[part..start - 1];
            let pair = part == done || alphabet::has_class(text[part - 1], BLANK);
            let named = user.len() > 1
                && character_mix::is_wordy(user)
                && !is_other_kind(user)
                && !is_encoded(text, part, done);
            if named
                && pair
                && free
                && is_login_part(text, start, b':', done)
                && handmade::is_surely_handmade(value)
            {
                return Some(Finding { start, end: word, kind: "password" });
            }
            named && value.len() >= if pair { 10 } else { 20 }
        }
        b'-' => {
            let parameter = before.contains(&b'[') && text.get(word) == Some(&b']');
            let file = before.contains(&b'/') && text.get(word) == Some(&b'.');
            value.len() >= 12 && (parameter || file)
        }
        _ => false,
    };
    let secret = free
        && joined
        && randomness::measure(value) == Randomness::Certain
        && value.iter().any(u8::is_ascii_digit)
        && !is_other_kind(value)
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: word, kind: "secret" })
}

/// Returns true if the word around `at` is a digest or a public key in base64, where a slash is a character.
fn is_encoded(text: &[u8], at: usize, done: usize) -> bool {
    let start =
        alphabet::run_back(text, at, alphabet::BASE64 | alphabet::DASH, (at - done).min(160));
    is_other_kind(&text[start..at])
}

/// Returns the length of a window that ends with the text. A value that continues beyond its window is not cut.
fn ends_text(text: &[u8], start: usize, window: &[u8]) -> Option<usize> {
    (start + window.len() == text.len()).then_some(window.len())
}

/// Returns the end of the word at `start` if the whole word is a value, including its signs.
fn word_end(text: &[u8], start: usize, last: u8) -> Option<usize> {
    let window = &text[start..text.len().min(start + 64)];
    let length = window
        .iter()
        .position(|&byte| alphabet::has_class(byte, END) && byte != b',' && byte != b'&')
        .or_else(|| ends_text(text, start, window))?;
    let word = &window[..length];
    let sign = word.iter().position(|byte| matches!(byte, b'=' | b':' | b'@' | b',' | b'&'))?;
    let (first, rest) = (&word[..sign], &word[sign + 1..]);
    // `name=…`, `user@host.tld`, `a,b` and `x:y` have several parts.
    let parts = character_mix::is_wordy(first) || character_mix::is_wordy(rest) || first.len() < 3;
    let whole = (alphabet::has_class(last, BLANK) || last == b':')
        && !parts
        && randomness::measure(word) == Randomness::Certain;
    whole.then_some(start + length)
}

/// Returns the end of a bare value.
fn bare_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while end < text.len() {
        let byte = text[end];
        let padding = byte == b'='
            && matches!(text.get(end + 1), None | Some(b'=' | b' ' | b'\n' | b'\r' | b'"' | b'\''));
        let inside = alphabet::has_class(
            byte,
            ALNUM | alphabet::PLUS_SLASH | alphabet::DASH | alphabet::UNDERSCORE,
        ) || is_sign(byte)
            || padding;
        if !inside {
            break;
        }
        end += 1;
    }
    while end > start && matches!(text[end - 1], b'.' | b'?' | b'!' | b'*') {
        end -= 1;
    }
    end
}

/// Returns true if a value that begins after `last` may end at `end`.
fn closes(text: &[u8], end: usize, last: u8) -> bool {
    let Some(&byte) = text.get(end) else { return true };
    if alphabet::has_class(last, QUOTE) {
        return byte == last || byte == b'\\';
    }
    let stops = last == b'<' && byte == b'>'
        || matches!(
            byte,
            b'.' | b'!'
                | b'?'
                | b'*'
                | b','
                | b';'
                | b')'
                | b']'
                | b'}'
                | b'<'
                | b'|'
                | b'\\'
                | b'&'
        );
    stops || alphabet::has_class(byte, BLANK | QUOTE)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn removes_values_near_words() {
        for (text, left) in [
            ("email,password\na@b.dev,Rh08i7lHhiOK", "email,password\na@b.dev,[redacted:secret]"),
            ("$ show secret pg\ne0IxAiGpwfTFfpEr\n", "$ show secret pg\n[redacted:secret]\n"),
            (
                "$ show secret pg\n8a7d0c3fe5b94a1290ffab34\n",
                "$ show secret pg\n[redacted:secret]\n",
            ),
            (
                "connect(\"db\", \"app\", \"Rh08i7lHhiOK\")",
                "connect(\"db\", \"app\", \"[redacted:secret]\")",
            ),
            ("echo 'Rh08i7lHhiOK' | unlock", "echo '[redacted:secret]' | unlock"),
            ("login: admin / Harb0ur!x", "login: admin / [redacted:password]"),
            ("sqlplus app/xGRfbRs6d7CO@//db", "sqlplus app/[redacted:password]@//db"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "$ git rev-parse token-branch\n8a7d0c3fe5b94a1290ffab34c1d2e7f68a7d0c3f\n",
            "the token of PBXBuildFile and getUserById2",
            "secret 1.2.3-rc.1+build.8a7d0c3",
            "a token, a call \"toolu_01Rh08i7lHhiOKe0IxAiGp\"",
            "password key SHA256:qL2xVb7Wn0cRt5Yk8Zs3Jd6Hf1Gp9Mv4Aa",
            "connect to jdbc:postgresql://db/app",
            "echo aHVudGVyMmh1bnRlcjI= | base64 -d",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
