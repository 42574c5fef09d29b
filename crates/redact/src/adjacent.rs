//! Values next to their name without `=` or `:` between them: `--password X`, `ENV TOKEN x`, `PASSWORD 'x'`,
//! `"password", "x"`, `the password is x`, a cell of a table.

use super::alphabet::{self, ALNUM, BLANK, NAME, NEWLINE, QUOTE, SPACE};
use super::name::{self, NameClass, SecretName};
use super::randomness::Randomness;
use super::value::{self, ValueContext};
use super::value_span::{ValueForm, ValueSpan};
use super::{
    Finding, assignment, character_mix, handmade, header, other_kind, placeholder, prefix,
    randomness, value_span,
};

pub(super) mod link;

use link::find_linked_value;

/// Returns the secret after the word that ends at `end`, if the word ends the name of a secret.
pub(super) fn value_after_name(text: &[u8], end: usize, done: usize) -> Option<Finding> {
    let floor = end.saturating_sub(name::MAX_NAME_BYTES).max(done);
    // `the password's X`.
    let possessive = usize::from(alphabet::starts(text, end, b"'s ")) * 2;
    if !alphabet::is_at(text, end + possessive, SPACE) {
        return None;
    }
    // A placeholder, or a list.
    if text.get(end + 1) == Some(&b'[') {
        return None;
    }
    let start = alphabet::run_back(text, end, NAME, end - floor);
    let mut word = &text[start..end];
    // `the API key is …`: a name of two words.
    if word.eq_ignore_ascii_case(b"key") && start > floor {
        let first = alphabet::run_back(text, start - 1, NAME, start - 1 - floor);
        word = &text[first..end];
    }
    let mut named = name::classify(word)?;
    if word.eq_ignore_ascii_case(b"pass") && assignment::has_user(text, start, done) {
        named.class = NameClass::Password;
    }
    let gap = alphabet::run(text, end + possessive, SPACE);
    if gap - end > 40 {
        return None;
    }
    let flag = word[0] == b'-';
    let shouted = !word.iter().any(u8::is_ascii_lowercase);
    if matches!(text.get(gap), Some(b'"' | b'\'')) {
        return quoted(text, gap, named, flag);
    }
    if let Some(found) = announced(text, gap, named) {
        return Some(found);
    }
    let is_pin_here = named.class == NameClass::Pin && alphabet::is_at(text, gap, alphabet::DIGIT);
    let (from, linked) = if is_pin_here { (gap, false) } else { find_linked_value(text, gap) };
    if matches!(text.get(from), Some(b'"' | b'\'' | b'`')) {
        return quoted_in_sentence(text, from, named, linked);
    }
    let from = if text.get(gap) == Some(&b'|') && shouted {
        alphabet::run(text, gap + 1, SPACE)
    } else {
        link::after_quote(text, from)
    };
    let span = ValueSpan::bare(text, from, ValueForm::Tight);
    let value = text.get(from..span.end).filter(|value| {
        !value.is_empty()
            && (value[0] != b'-' || !flag && character_mix::is_signed(value) && value[1] != b'-')
    })?;
    if let Some(known) = prefix::token(text, from) {
        return Some(known);
    }
    let bare = BareValue { text, word, word_start: start, name: named, shouted, value, span };
    let taken = if flag {
        is_flag_value(text, value, named, span.end)
    } else if named.class == NameClass::Pin {
        value::is_pin(value) || (linked || shouted) && value::is_short_pin(value)
    } else if linked {
        bare.is_secret_after_verb()
    } else {
        bare.is_secret_after_name()
    };
    let constant = value.contains(&b'_')
        && !value.iter().any(|&byte| byte.is_ascii_lowercase() || byte == b'-');
    let sane = taken
        && !placeholder::is_placeholder(value)
        && !other_kind::is_version(value)
        && (!linked || !constant || character_mix::is_signed(value));
    sane.then(|| Finding { start: from, end: span.whole(text), kind: named.kind })
}

/// A value without quotes, and the name before it.
struct BareValue<'a> {
    text: &'a [u8],
    word: &'a [u8],
    /// Position of the last part of the name.
    word_start: usize,
    name: SecretName,
    /// True if the name has no small letters.
    shouted: bool,
    value: &'a [u8],
    span: ValueSpan,
}

impl BareValue<'_> {
    /// Returns true for the secret in `the password is X`.
    fn is_secret_after_verb(&self) -> bool {
        let value = self.value;
        match self.name.class {
            _ if is_made_for(value, self.name, true) => true,
            NameClass::Password if self.word.ends_with(b"code") => {
                value::is_short_pin(value) || value::is_pin(value)
            }
            NameClass::Perhaps => {
                value.len() >= 16 && randomness::measure(value) == Randomness::Certain
            }
            NameClass::Password if character_mix::is_signed(value) || is_number(value) => true,
            _ => value.len() >= 8 && is_bare_secret(value),
        }
    }

    /// Returns true for the secret in `ENV TOKEN X`.
    fn is_secret_after_name(&self) -> bool {
        let value = self.value;
        let ends_here = || ends_here(self.text, self.span.end);
        match self.name.class {
            _ if is_made_for(value, self.name, false) => true,
            NameClass::Password if self.word.ends_with(b"code") && value::is_pin(value) => true,
            NameClass::Password if is_number(value) && ends_here() => true,
            NameClass::Password | NameClass::Phrase => {
                let sure = character_mix::is_signed(value) || is_mixed(value) || ends_here();
                value.len() >= 8 && is_bare_secret(value) && sure
            }
            NameClass::Secret => {
                character_mix::is_random(value)
                    && (self.shouted || ends_here() || is_whole_key(value))
                    || is_in_groups(value)
                    || is_whole_hex(value)
            }
            NameClass::Perhaps if self.word.eq_ignore_ascii_case(b"pat") => {
                value.len() >= 20 && character_mix::is_random(value)
            }
            NameClass::Perhaps => {
                let length = self.span.whole(self.text) - self.span.start;
                self.shouted && character_mix::is_random(value)
                    || self.name.kind == "key"
                        && is_cipher_key(self.text, self.word_start, value, length)
            }
            NameClass::Pin => false,
        }
    }
}

/// Returns the quoted value in a sentence: `the password is "x"`. `linked` is true with a verb before it.
fn quoted_in_sentence(text: &[u8], from: usize, name: SecretName, linked: bool) -> Option<Finding> {
    let found = quoted(text, from, name, false)?;
    let value = &text[found.start..found.end];
    let sure = is_bare_secret(value) && (linked || !value.iter().all(u8::is_ascii_alphabetic))
        || is_made_for(value, name, linked)
        || linked && name.class == NameClass::Password && is_uncommon_word(value);
    sure.then_some(found)
}

/// Returns true if a value is a hand-made password and the name announces one. With a verb between them, less is
/// needed.
fn is_made_for(value: &[u8], name: SecretName, linked: bool) -> bool {
    match name.class {
        NameClass::Password | NameClass::Phrase if linked => handmade::is_handmade(value),
        NameClass::Password | NameClass::Phrase => handmade::is_surely_handmade(value),
        NameClass::Secret if name.kind == "password" => handmade::is_surely_handmade(value),
        NameClass::Secret if linked && name.kind == "secret" => {
            value.len() >= 10 && handmade::is_surely_handmade(value)
        }
        _ => false,
    }
}

/// Returns true for a word that does not describe a password: `mondfinsternis`, but not `required`.
fn is_uncommon_word(value: &[u8]) -> bool {
    let ends: [&[u8]; 14] = [
        b"ed", b"ing", b"ect", b"able", b"ible", b"ent", b"ary", b"less", b"word", b"ive", b"al",
        b"ful", b"ous", b"ly",
    ];
    value.len() >= 8
        && value.iter().all(u8::is_ascii_lowercase)
        && !ends.iter().any(|end| value.ends_with(end))
        && !placeholder::is_placeholder(value)
        && !name::names_a_secret(value)
}

/// Returns true if a value has capitals, small letters and digits.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_lowercase)
}

/// Returns true for eight digits or more that are not filler.
fn is_number(value: &[u8]) -> bool {
    (8..=32).contains(&value.len())
        && value.iter().all(u8::is_ascii_digit)
        && !placeholder::is_filler(value)
}

/// Returns true if the form of a value alone makes it a key: 32 hexadecimal digits or more, or a random value.
fn is_whole_key(value: &[u8]) -> bool {
    is_whole_hex(value) || randomness::is_likely_random(value) && !other_kind::is_other_kind(value)
}

/// Returns true for 32 hexadecimal digits or more, except for an account address.
fn is_whole_hex(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let address = digits.len() < value.len() && digits.len() == 40;
    digits.len() >= 32
        && randomness::is_hex(digits)
        && !address
        && digits.iter().any(u8::is_ascii_alphabetic)
        && digits.iter().any(u8::is_ascii_digit)
        && !placeholder::is_filler(digits)
}

/// Returns true for four or more groups of capitals and digits with the same length: `CF6GV-UZ7GD-P3VY7-YYJSU`.
pub(super) fn is_in_groups(value: &[u8]) -> bool {
    let first = value.iter().position(|&byte| byte == b'-').unwrap_or_default();
    let mut count = 0;
    let groups = value.split(|&byte| byte == b'-').all(|group| {
        count += 1;
        group.len() == first
            && group
                .iter()
                .all(|&byte| alphabet::has_class(byte, alphabet::UPPER | alphabet::DIGIT))
    });
    // `123456-654321-…` is the recovery key of an encrypted disk.
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    groups && count >= 4 && (4..=8).contains(&first) && (letters || first == 6)
}

/// Returns true if the value in `decrypt with key X` has 256 bits or is random.
fn is_cipher_key(text: &[u8], start: usize, value: &[u8], length: usize) -> bool {
    if value.len() >= 12
        && randomness::measure(value) == Randomness::Certain
        && !other_kind::is_other_kind(value)
    {
        return true;
    }
    let before = &text[start.saturating_sub(48)..start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    length == 64
        && character_mix::is_random(value)
        && line.windows(5).any(|part| part.eq_ignore_ascii_case(b"crypt"))
}

/// Returns the value that fills the line below `Use this password to go on:`.
fn announced(text: &[u8], gap: usize, name: SecretName) -> Option<Finding> {
    let line = text[gap..text.len().min(gap + 64)].iter().position(|&byte| byte == b'\n')? + gap;
    let end = alphabet::run_back(text, line, BLANK, line - gap);
    let prose = |byte: &u8| alphabet::has_class(*byte, alphabet::LETTER | SPACE) || *byte == b',';
    if end <= gap + 1 || text[end - 1] != b':' || !text[gap..end - 1].iter().all(prose) {
        return None;
    }
    let start = alphabet::run(text, line, BLANK);
    let span = ValueSpan::bare(text, start, ValueForm::Tight);
    let value = text.get(start..span.end)?;
    let stop = span.whole(text);
    let alone = text.get(stop).is_none_or(|&byte| alphabet::has_class(byte, NEWLINE));
    let secret = name.class != NameClass::Perhaps
        && alone
        && start - line <= 8
        && (character_mix::is_random(value) || randomness::is_likely_random(value))
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: stop, kind: name.kind })
}

/// Returns true for the value of a long flag, unless `--password` is followed by a sentence.
fn is_flag_value(text: &[u8], value: &[u8], name: SecretName, end: usize) -> bool {
    let next = alphabet::run(text, end, SPACE);
    let sentence = next > end
        && alphabet::is_at(text, next, ALNUM)
        && character_mix::is_wordy(value)
        && !handmade::is_surely_handmade(value);
    let site = ValueContext::plain(ValueForm::Tight);
    // `-Password (ConvertTo-…)`: a call.
    if value[0] == b'(' {
        return false;
    }
    if name.class == NameClass::Pin && value::is_short_pin(value) {
        return true;
    }
    let name = if name.class == NameClass::Perhaps {
        SecretName { class: NameClass::Secret, ..name }
    } else {
        name
    };
    !sentence && value::is_secret(value, name, site)
}

/// Returns true if a value is neither a word nor a call nor a path.
fn is_bare_secret(value: &[u8]) -> bool {
    let code = value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'/' | b'{'));
    !code
        && (!character_mix::is_wordy(value) || randomness::is_likely_random(value))
        && value.iter().any(u8::is_ascii_alphabetic)
}

/// Returns true if the line, the cell or the clause ends at `at`.
fn ends_here(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None => true,
        Some(&byte)
            if alphabet::has_class(byte, NEWLINE)
                || matches!(
                    byte,
                    b'\\' | b'"' | b'\'' | b'|' | b',' | b'.' | b'`' | b':' | b';' | b')'
                ) =>
        {
            true
        }
        Some(_) => {
            let next = alphabet::run(text, at, SPACE);
            next > at
                && (next == text.len()
                    || alphabet::is_at(text, next, NEWLINE | alphabet::DASH)
                    || matches!(text[next], b'|' | b'#' | b'&' | b'>'))
        }
    }
}

/// Returns the quoted value at `gap`: `PASSWORD 'x'`, `storePassword "x"`, `--password "x"`.
fn quoted(text: &[u8], gap: usize, name: SecretName, flag: bool) -> Option<Finding> {
    let span = value_span::value_after(text, gap, false, false)?;
    let value = text.get(span.start..span.end)?;
    let name = if flag && name.class == NameClass::Perhaps {
        SecretName { class: NameClass::Secret, ..name }
    } else {
        name
    };
    let site = ValueContext::plain(ValueForm::Quoted);
    let found = Finding { start: span.start, end: span.end, kind: name.kind };
    (span.end > span.start && value::is_secret(value, name, site)).then_some(found)
}

/// Returns the value of `IDENTIFIED BY 'x'` and `ConvertTo-SecureString "x"`. The last word ends at `end`.
pub(super) fn statement(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let gap = alphabet::run(text, end, SPACE);
    if gap == end || !matches!(text.get(gap), Some(b'"' | b'\'')) {
        return None;
    }
    let word = &text[at..end];
    let before = &text[at.saturating_sub(11)..at];
    let by = word.eq_ignore_ascii_case(b"by")
        && (before.eq_ignore_ascii_case(b"identified ") || before.ends_with(b"password "));
    let secure = word == b"SecureString" && before.ends_with(b"ConvertTo-");
    (by || secure).then(|| {
        quoted(text, gap, SecretName { class: NameClass::Password, kind: "password" }, false)
    })?
}

/// Returns the value of `set("Authorization", "Bearer …")` and `define('DB_PASSWORD', '…')`. The comma is at `at`.
pub(super) fn quoted_pair(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let close = at
        .checked_sub(1)
        .filter(|&close| close >= done && alphabet::has_class(text[close], QUOTE))?;
    let end = if close > done && text[close - 1] == b'\\' { close - 1 } else { close };
    let start = alphabet::run_back(text, end, NAME, (end - done).min(name::MAX_NAME_BYTES));
    let word = &text[start..end];
    let gap = alphabet::run(text, at + 1, SPACE);
    if word.is_empty() || !(alphabet::is_at(text, gap, QUOTE) || text.get(gap) == Some(&b'\\')) {
        return None;
    }
    if let Some(found) = header::credentials(text, word, gap) {
        return Some(found);
    }
    let named = name::classify(word)?;
    // Only as the first two arguments of a call: a list of names has commas too.
    let before = &text[start.saturating_sub(6).max(done)..start];
    let mut opening = before
        .iter()
        .rev()
        .skip_while(|&&byte| alphabet::has_class(byte, QUOTE | SPACE) || byte == b'\\');
    let call = opening.next() == Some(&b'(');
    let found = quoted(text, gap, named, false)?;
    let value = &text[found.start..found.end];
    if !call && !character_mix::is_random(value) {
        return None;
    }
    let name =
        value.iter().all(u8::is_ascii_alphabetic) && value.len() < 8 || name::names_a_secret(value);
    (!name).then_some(found)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn values_without_a_separator() {
        for (text, left) in [
            ("x --password hunter2 -h db", "x --password [redacted:password] -h db"),
            ("ENV NPM_TOKEN 8a7d0c3fe5b94a1290ff", "ENV NPM_TOKEN [redacted:token]"),
            ("ALTER ROLE a PASSWORD 'hunter2'", "ALTER ROLE a PASSWORD '[redacted:password]'"),
            ("define('DB_PASSWORD', 'hunter2');", "define('DB_PASSWORD', '[redacted:password]');"),
            ("<password>hunter2</password>", "<password>[redacted:password]</password>"),
            ("the password is hunt3r2xY, ok", "the password is [redacted:password], ok"),
            ("| API_TOKEN | 8a7d0c3fe5b94a1290ff |", "| API_TOKEN | [redacted:token] |"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "use the --password flag to log in",
            "the token is invalid or has expired",
            "--token <TOKEN>  Token to use",
            "gpg: using RSA key 8A7D0C3FE5B94A1290FFAB34C1D2E7F68A7D0C3F",
            "<label>Password</label>",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
