//! Decides if the text beside a secret's name is the secret, or code, a type, or a sentence about it.

use super::alphabet::{self, BLANK, DIGIT, LETTER, LOWER, UPPER, WORD};
use super::name::{NameClass, SecretName, names_a_secret};
use super::randomness::Randomness;
use super::value_span::ValueForm;
use super::{character_mix, handmade, phrase, placeholder, randomness};

mod code;

use code::{is_code, is_number, is_path};

/// The context of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueContext {
    pub(super) form: ValueForm,
    /// True if the name is in capitals, like variables of an environment.
    pub(super) shouted: bool,
    /// True if more words follow on the line.
    pub(super) sentence: bool,
    /// True for an argument of a call: `login(password=value)`.
    pub(super) argument: bool,
}

impl ValueContext {
    /// Returns a context without any hints.
    pub(super) const fn plain(form: ValueForm) -> Self {
        Self { form, shouted: false, sentence: false, argument: false }
    }
}

/// Returns true if a value beside the name of a secret is the secret.
pub(super) fn is_secret(value: &[u8], name: SecretName, site: ValueContext) -> bool {
    if name.class == NameClass::Pin {
        return is_pin(value)
            || (site.form == ValueForm::Quoted || site.shouted) && is_short_pin(value);
    }
    if name.class == NameClass::Perhaps && (!is_random(value) || is_locator(value, name)) {
        return false;
    }
    if is_address(value) || value.starts_with(b"data:") && value.contains(&b',') {
        return false;
    }
    // `String!` and `string?` are types as `string` is.
    let asserted = site.form == ValueForm::Loose && matches!(value.last(), Some(b'!' | b'?'));
    if asserted && placeholder::is_placeholder(&value[..value.len() - 1]) {
        return false;
    }
    // A list, an index or a placeholder. This check is early, because a text full of placeholders calls it for each
    // of them.
    if site.form != ValueForm::Quoted && value.first() == Some(&b'[') {
        return false;
    }
    if value.is_empty() || placeholder::is_placeholder(value) || is_path(value) {
        return false;
    }
    let spaced = value.iter().any(|&byte| alphabet::has_class(byte, BLANK));
    if site.form != ValueForm::Quoted && (is_number(value) || is_code(value, site)) {
        return false;
    }
    match name.class {
        NameClass::Phrase if spaced => site.form == ValueForm::Quoted && value.len() >= 8,
        _ if spaced => name.class == NameClass::Password && phrase::is_phrase(value),
        NameClass::Password | NameClass::Phrase => is_password(value, site),
        NameClass::Secret => is_key(value, name, site),
        NameClass::Perhaps => true,
        NameClass::Pin => false,
    }
}

/// Returns true if a value is random by its character classes or by its letter pairs.
fn is_random(value: &[u8]) -> bool {
    character_mix::is_random(value)
        || value.len() >= 20 && randomness::measure(value) == Randomness::Certain
}

/// Returns true for six to twelve digits.
pub(super) fn is_pin(value: &[u8]) -> bool {
    (6..=12).contains(&value.len())
        && value.iter().all(|&byte| alphabet::has_class(byte, DIGIT))
        && !placeholder::is_filler(value)
}

/// Returns true for four or five digits, the length of card and door PINs, except for the most common ones.
pub(super) fn is_short_pin(value: &[u8]) -> bool {
    matches!(value.len(), 4 | 5)
        && value.iter().all(|&byte| alphabet::has_class(byte, DIGIT))
        && !placeholder::is_filler(value)
        && !matches!(value, b"1234" | b"12345" | b"4321" | b"54321")
}

/// Returns true for a UUID, a path or words before a hash: the values of a `key` or a `session` that identifies
/// something.
fn is_locator(value: &[u8], name: SecretName) -> bool {
    let uuid =
        value.len() == 36 && value[8] == b'-' && value[23] == b'-' && randomness::is_hex(value);
    let mut parts = value.split(|byte| matches!(byte, b'-' | b'/' | b'_' | b'.'));
    let plain = |part: &[u8]| {
        (2..16).contains(&part.len())
            && part[1..].iter().all(|&byte| alphabet::has_class(byte, LOWER | DIGIT))
    };
    let words = parts.by_ref().take(2).all(|part| plain(part) && character_mix::is_wordy(part));
    uuid && name.kind != "secret" || words && parts.next().is_some()
}

/// Returns true for the address of an account or a contract on a blockchain.
fn is_address(value: &[u8]) -> bool {
    value.len() == 42 && value.starts_with(b"0x") && randomness::is_hex(&value[2..])
}

/// Returns true if a value beside the name of a password is a password.
fn is_password(value: &[u8], site: ValueContext) -> bool {
    let digits = value.iter().all(|&byte| alphabet::has_class(byte, DIGIT));
    let letters = value
        .iter()
        .all(|&byte| alphabet::has_class(byte, WORD) && !alphabet::has_class(byte, DIGIT));
    let literal = match site.form {
        _ if digits => value.len() >= 6 && site.form != ValueForm::Loose,
        _ if value.len() < 4 => false,
        // `"password": "Passwort"` is a label, `password: userPassword` a field.
        ValueForm::Quoted if letters => !is_label(value) && !names_a_secret(value),
        ValueForm::Tight if letters => !names_a_secret(value) && !site.argument,
        ValueForm::Quoted | ValueForm::Tight => {
            !(character_mix::is_wordy(value) && names_a_secret(value))
        }
        ValueForm::Loose if letters => site.shouted && !site.sentence && value.len() >= 6,
        ValueForm::Loose if site.sentence => {
            value.len() >= 8 && !character_mix::is_wordy(value)
                || handmade::is_surely_handmade(value)
        }
        ValueForm::Loose => is_mixed(value) && !names_a_secret(value),
    };
    // A random value is a password regardless of its notation, and so is a passphrase.
    literal || value.len() >= 4 && randomness::is_likely_random(value) || phrase::is_phrase(value)
}

/// Returns true if a value beside the name of a token, secret or key is a secret.
fn is_key(value: &[u8], name: SecretName, site: ValueContext) -> bool {
    let least = if site.form == ValueForm::Loose && name.kind != "password" { 12 } else { 8 };
    let random = if site.form == ValueForm::Loose && value.len() >= 16 {
        character_mix::is_random(value)
    } else {
        !character_mix::is_wordy(value)
    };
    // `oauth2ClientSecret` is the name of the value elsewhere.
    let looks_random = random && (!names_a_secret(value) || character_mix::is_random(value))
        || randomness::is_likely_random(value);
    let is_made = || character_mix::is_signed(value) || handmade::is_surely_handmade(value);
    if name.kind == "password" && is_made() {
        return true;
    }
    // `SECRET_KEY=Kastanie-9-Blatt`.
    let given = site.form == ValueForm::Tight && site.shouted || site.form == ValueForm::Quoted;
    if given && value.len() >= 12 && name.kind != "token" && handmade::is_surely_handmade(value) {
        return true;
    }
    value.len() >= least
        && looks_random
        && value.iter().any(|&byte| alphabet::has_class(byte, LETTER))
        && (!site.sentence || character_mix::is_random(value))
}

/// Returns true for a mixture of character classes that prose does not have.
fn is_mixed(value: &[u8]) -> bool {
    let has = |classes| value.iter().any(|&byte| alphabet::has_class(byte, classes));
    let odd = value
        .iter()
        .any(|&byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'.' | b'-'));
    has(LETTER) && (has(DIGIT) || odd) || has(DIGIT) && odd
}

/// Returns true for a word with a capital and small letters.
fn is_label(value: &[u8]) -> bool {
    alphabet::has_class(value[0], UPPER)
        && value[1..].iter().all(|&byte| alphabet::has_class(byte, LOWER))
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn literals_go_and_code_stays() {
        for (text, left) in [
            ("password=hunter22", "password=[redacted:password]"),
            ("password: \"hunter22\"", "password: \"[redacted:password]\""),
            ("DB_PASSWORD: swordfish", "DB_PASSWORD: [redacted:password]"),
            ("token = \"ab12cd34ef56\"", "token = \"[redacted:token]\""),
            ("MNEMONIC='ripple sunset harvest'", "MNEMONIC='[redacted:passphrase]'"),
            ("PIN password=123456", "PIN password=[redacted:password]"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "password: string",
            "password = os.environ[\"X\"]",
            "token = get_token()",
            "SECRET_KEY=",
            "\"password\": \"Passwort\"",
            "login(password=pwd_input)",
            "password: *alias",
            "secret: app-tls-cert",
            "key_file: /etc/ssl/server.key",
            "password = (sensitive value)",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
