//! Names of secrets in other languages: `mot de passe`, `contraseña`, `jeton`, `Schlüssel`.
//!
//! Text with such a name is prose in a language with unknown grammar. The first word after the name that is not
//! written like a word is the secret.

use super::alphabet::{self, NEWLINE, QUOTE, SPACE};
use super::{Finding, character_mix, handmade, other_kind, placeholder, randomness};

/// Number of words after a name that are examined.
const MAX_WORDS: usize = 10;
/// Longest text that counts as a word.
const MAX_WORD_BYTES: usize = 16;
/// Length of text after a name that is examined.
const MAX_BYTES: usize = 160;

/// Returns the secret after the word from `at` to `end` if the word is a name in another language.
#[inline]
pub(super) fn secret(text: &[u8], at: usize, end: usize, done: usize) -> Option<Finding> {
    if end - at > 12 || LENGTHS[usize::from(text[at] & 31)] & (1 << (end - at)) == 0 {
        return None;
    }
    let kind = kind(text, at, end, done)?;
    value(text, end, done, kind)
}

/// For every first letter, the lengths of the names that begin with it.
static LENGTHS: [u16; 32] = lengths();

const fn lengths() -> [u16; 32] {
    let names = [
        (b'p', 5),
        (b'm', 3),
        (b'c', 8),
        (b'c', 10),
        (b'c', 5),
        (b's', 5),
        (b'p', 8),
        (b'k', 8),
        (b'z', 12),
        (b'w', 10),
        (b'j', 5),
        (b'z', 11),
        (b's', 4),
        (b'l', 1),
        (b'h', 3),
        (b'c', 2),
    ];
    let mut table = [0; 32];
    let mut at = 0;
    while at < names.len() {
        table[(names[at].0 & 31) as usize] |= 1 << names[at].1;
        at += 1;
    }
    table
}

/// Returns the secret after a name in another script. The name begins at `at`.
pub(super) fn other_script(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let names = ["пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호"];
    let name = names.iter().find(|name| alphabet::starts(text, at, name.as_bytes()))?;
    value(text, at + name.len(), done, "password")
}

/// Returns the first text after the name that is not written like a word. The name ends at `end`.
fn value(text: &[u8], end: usize, done: usize, kind: &'static str) -> Option<Finding> {
    let limit = text.len().min(end + MAX_BYTES);
    let parts = |byte: u8| {
        alphabet::has_class(byte, SPACE | QUOTE) || matches!(byte, b':' | b'=' | b'(' | 0xab | 0xc2)
    };
    let mut start = end;
    // The rest of the name.
    while start < limit && text[start] >= 128 {
        start += 1;
    }
    start = alphabet::run(text, start, alphabet::LETTER);
    for _ in 0..MAX_WORDS {
        // 0xab and 0xc2 also occur within longer characters. A value begins with a whole character.
        while start < limit && (parts(text[start]) || text[start] & 0xc0 == 0x80) {
            start += 1;
        }
        let over = |&byte: &u8| alphabet::has_class(byte, SPACE | NEWLINE | QUOTE);
        let length = text.get(start..limit)?.iter().position(over);
        // A value that continues beyond the limit is not cut.
        let stop = start + length.or((limit == text.len()).then_some(limit - start))?;
        let mut last = stop;
        while last > start && matches!(text[last - 1], b'.' | b',' | b';' | b')' | b':') {
            last -= 1;
        }
        let value = &text[start..last];
        let linked = || is_linked(&text[end..start]) && handmade::is_handmade(value);
        let made = || {
            linked()
                && value.len() >= 8
                && (kind == "password" || handmade::is_surely_handmade(value))
        };
        if (is_no_word(value) || made()) && start >= done {
            return Some(Finding { start, end: last, kind });
        }
        // Another sentence, another line, a URL.
        let over = last < stop && text[stop - 1] == b'.'
            || text.get(stop).is_none_or(|&byte| alphabet::has_class(byte, NEWLINE))
            || value.windows(3).any(|part| part == b"://");
        if over {
            return None;
        }
        // Skipped text is not read again, and this may be a secret by another rule.
        if value.len() >= MAX_WORD_BYTES || is_code(value) {
            return None;
        }
        start = stop;
    }
    None
}

/// Returns true if nothing, a verb or a sign is right before a value.
fn is_linked(between: &[u8]) -> bool {
    let between = between.trim_ascii_end();
    let between = between.strip_suffix("\u{ab}".as_bytes()).unwrap_or(between).trim_ascii_end();
    let verbs = [
        " ist", " lautet", " est", " es", " è", " é", " is", ":", "=", "(", " /", "\"", "'", "`",
        "„", "\u{201c}",
    ];
    !between.iter().any(|&byte| alphabet::has_class(byte, SPACE))
        || verbs.iter().any(|verb| between.ends_with(verb.as_bytes()))
}

/// Returns the kind of secret that a word names. Returns `None` for other words.
fn kind(text: &[u8], at: usize, end: usize, done: usize) -> Option<&'static str> {
    let word = &text[at..end];
    let is = |known: &[u8]| word.eq_ignore_ascii_case(known);
    let goes_on = |rest: &str| alphabet::starts(text, end, rest.as_bytes());
    match (word[0] | 32, word.len()) {
        (b'p', 5) if is(b"passe") && text[done..at].ends_with(b"ot de ") => Some("password"),
        (b'm', 3) if is(b"mdp") => Some("password"),
        (b'c', 8) if is(b"contrase") && goes_on("ña") => Some("password"),
        (b'c', 10) if is(b"contrasena") => Some("password"),
        (b'c', 5) if is(b"clave") || is(b"chave") => Some("key"),
        (b's', 5) if is(b"senha") => Some("password"),
        (b'p', 8) if is(b"passwort") => Some("password"),
        (b'k', 8) if is(b"kennwort") => Some("password"),
        (b'z', 12) if is(b"zugangsdaten") => Some("password"),
        (b'w', 10) if is(b"wachtwoord") => Some("password"),
        (b'j', 5) if is(b"jeton") => Some("token"),
        (b's', 4) if is(b"schl") && goes_on("üssel") => Some("key"),
        (b'z', 11) if is(b"zugangsschl") && goes_on("üssel") => Some("key"),
        (b'l', 1) if goes_on("ösenord") => Some("password"),
        (b'h', 3) if is(b"has") && goes_on("ło") => Some("password"),
        (b'c', 2) if is(b"cl") && goes_on("é ") => Some("key"),
        _ => None,
    }
}

/// Returns true if a word contains signs of program code.
fn is_code(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b'/' | b'(' | b'[' | b'{' | b'<'))
}

/// Returns true if a value mixes letters with digits or signs, unlike a word.
fn is_no_word(value: &[u8]) -> bool {
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    // Letters with accents are letters.
    if !value.is_ascii() && !mixed {
        return false;
    }
    let odd = character_mix::is_signed(value)
        || mixed && !character_mix::is_wordy(value)
        || character_mix::is_random(value)
        || randomness::is_likely_random(value);
    value.len() >= 8
        && odd
        && !is_code(value)
        && (randomness::is_likely_random(value)
            || character_mix::is_random(value)
            || !handmade::has_technical_number(value))
        && !other_kind::is_version(value)
        && !placeholder::is_placeholder(value)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn names_in_other_languages() {
        for text in [
            "Le mot de passe de la base est Mirabelle?19bleu, merci",
            "La contraseña del usuario es Mirabelle?19bleu;",
            "le jeton d'accès Mirabelle?19bleu expire",
            "Der Schlüssel lautet \"Mirabelle?19bleu\".",
        ] {
            let left = redact(text);
            assert!(!left.contains("19bleu"), "{left}");
        }
        for text in [
            "Le mot de passe est obligatoire depuis la version 2.1",
            "La contraseña debe tener 12 caracteres",
            "clave primaria de la tabla usuarios_2024",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
