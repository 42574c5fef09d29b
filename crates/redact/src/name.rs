//! Names of secrets: classifies a name by the kind of value it announces.

use super::alphabet::{self, LOWER, UPPER};

mod ends;
mod words;

pub(super) use ends::{may_end, may_matter, pair_table};

use words::{is_suffix, opens, opens_nothing};

/// The kind of value that a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameClass {
    /// A password: any value is one, words included.
    Password,
    /// A secret made of words: a mnemonic, a passphrase.
    Phrase,
    /// A token, secret or key: the value must not look like a name.
    Secret,
    /// Possibly a key: the value must look random.
    Perhaps,
    /// A number to type in: six digits or more.
    Pin,
}

/// The class of a name, and the kind that a placeholder of its value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretName {
    pub(super) class: NameClass,
    pub(super) kind: &'static str,
}

/// Length of the end of a name that is examined.
pub(super) const MAX_NAME_BYTES: usize = 64;

/// Classifies a name: `DB_PASSWORD`, `apiKey`, `spring.mail.password`, `X-Api-Key`.
pub(super) fn classify(name: &[u8]) -> Option<SecretName> {
    let mut buffer = [0; 2 * MAX_NAME_BYTES];
    let words = split(name, &mut buffer);
    let mut rest = words;
    loop {
        let (before, last) = last_word(rest);
        if last.is_empty() {
            return None;
        }
        if let Some(found) = classify_last_word(before, last) {
            return Some(found);
        }
        // `KEY_2`, `PASSWORD_V4`.
        let number = last.strip_prefix(b"v").unwrap_or(last).iter().all(u8::is_ascii_digit);
        if !number && !is_suffix(last) {
            return None;
        }
        rest = before;
    }
}

/// Classifies a name by its last word and the words before it.
fn classify_last_word(before: &[u8], last: &[u8]) -> Option<SecretName> {
    let name = |class, kind| Some(SecretName { class, kind });
    let (_, previous) = last_word(before);
    let last =
        &last[..last.len() - last.iter().rev().take_while(|byte| byte.is_ascii_digit()).count()];
    if ends_with_any(
        last,
        &[
            "password",
            "passwd",
            "passwort",
            "kennwort",
            "pwd",
            "storepass",
            "requirepass",
            "masterauth",
            "psk",
            "keypass",
            "passcode",
        ],
    ) {
        return name(NameClass::Password, "password");
    }
    if ends_with_any(last, &["passphrase", "mnemonic", "seedphrase", "seedwords"])
        || matches!(last, b"phrase" | b"words")
            && matches!(previous, b"seed" | b"recovery" | b"backup")
    {
        return name(NameClass::Phrase, "passphrase");
    }
    if matches!(last, b"pass" | b"pw" | b"psw" | b"sshpass") {
        let class = if previous.is_empty() && last == b"pass" {
            NameClass::Secret
        } else {
            NameClass::Password
        };
        return name(class, "password");
    }
    let public = matches!(previous, b"public" | b"pub" | b"key")
        && before.windows(3).any(|part| part == b"pub");
    if last.ends_with(b"token") {
        return if public { None } else { name(NameClass::Secret, "token") };
    }
    if last.ends_with(b"secret") {
        return name(NameClass::Secret, "secret");
    }
    if matches!(last, b"credential" | b"credentials" | b"creds" | b"cred" | b"dockerconfigjson") {
        return name(NameClass::Secret, "secret");
    }
    if last == b"seed" {
        return name(NameClass::Perhaps, "secret");
    }
    if matches!(last, b"pin" | b"pincode" | b"puk") || last == b"code" && previous == b"pin" {
        return name(NameClass::Pin, "pin");
    }
    if last == b"id" && previous == b"secret" {
        return name(NameClass::Perhaps, "secret");
    }
    if last == b"id" && previous == b"session" {
        return name(NameClass::Perhaps, "token");
    }
    if ends_with_any(
        last,
        &[
            "apikey",
            "secretkey",
            "privatekey",
            "privkey",
            "accesskey",
            "authkey",
            "appkey",
            "accountkey",
        ],
    ) {
        return name(NameClass::Secret, "key");
    }
    if last == b"keys" && opens(previous) {
        return name(NameClass::Perhaps, "key");
    }
    if last == b"key" {
        return match previous {
            b"wifi" | b"wlan" | b"fi" | b"preshared" => name(NameClass::Password, "password"),
            b"shared" if before.ends_with(b"pre_shared_") => name(NameClass::Password, "password"),
            _ if opens_nothing(previous) => None,
            _ if opens(previous) => name(NameClass::Secret, "key"),
            _ => name(NameClass::Perhaps, "key"),
        };
    }
    if matches!(
        last,
        b"auth"
            | b"salt"
            | b"jwt"
            | b"bearer"
            | b"session"
            | b"sessionid"
            | b"sid"
            | b"cookie"
            | b"authorization"
            | b"login"
            | b"oauth"
            | b"pat"
            | b"totp"
    ) {
        return name(NameClass::Perhaps, "token");
    }
    None
}

/// Splits a name into lower-case words with `_` between them.
fn split<'a>(name: &[u8], buffer: &'a mut [u8; 2 * MAX_NAME_BYTES]) -> &'a [u8] {
    let name = &name[name.len().saturating_sub(MAX_NAME_BYTES)..];
    let mut length = 0;
    for (at, &byte) in name.iter().enumerate() {
        let upper = alphabet::is(byte, UPPER);
        let after_small = at > 0 && !alphabet::is(name[at - 1], UPPER | alphabet::UNDERSCORE);
        let before_small = alphabet::is_at(name, at + 1, LOWER);
        if upper && at > 0 && (after_small || before_small) {
            buffer[length] = b'_';
            length += 1;
        }
        buffer[length] =
            if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'_' };
        length += 1;
    }
    &buffer[..length]
}

/// Returns the text before the last word, and the last word.
fn last_word(words: &[u8]) -> (&[u8], &[u8]) {
    let end = words.iter().rposition(|&byte| byte != b'_').map_or(0, |at| at + 1);
    let start = words[..end].iter().rposition(|&byte| byte == b'_').map_or(0, |at| at + 1);
    (&words[..start], &words[start..end])
}

fn ends_with_any(word: &[u8], ends: &[&str]) -> bool {
    ends.iter().any(|end| word.ends_with(end.as_bytes()))
}

/// Returns true if a value is itself the name of a secret.
pub(super) fn names_a_secret(value: &[u8]) -> bool {
    let words: [&[u8]; 9] =
        [b"passw", b"pwd", b"secret", b"token", b"key", b"cred", b"auth", b"pass_", b"_pass"];
    let begins = |two: &[u8]| {
        matches!(
            &[two[0] | 32, two[1] | 32],
            b"pa" | b"pw" | b"se" | b"to" | b"ke" | b"cr" | b"au" | b"\x7fp"
        )
    };
    let mut pairs = value.windows(2).enumerate().filter(|(_, two)| begins(two));
    value.len() <= 64
        && value.iter().all(|&byte| alphabet::is(byte, alphabet::NAME | alphabet::SPACE))
        && pairs.any(|(at, _)| words.iter().any(|word| alphabet::starts_any_case(value, at, word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_names() {
        for (name, class) in [
            ("DB_PASSWORD", NameClass::Password),
            ("spring.mail.password", NameClass::Password),
            ("pgpassword", NameClass::Password),
            ("SmtpPwd", NameClass::Password),
            ("ansible_become_pass", NameClass::Password),
            ("MNEMONIC", NameClass::Phrase),
            ("apiKey", NameClass::Secret),
            ("X-Api-Key", NameClass::Secret),
            ("AWS_SECRET_ACCESS_KEY", NameClass::Secret),
            ("SECRET_KEY_BASE", NameClass::Secret),
            ("APIToken2", NameClass::Secret),
            ("clientSecret", NameClass::Secret),
            ("client-key-data", NameClass::Secret),
            ("NOTION_KEY", NameClass::Perhaps),
        ] {
            assert_eq!(classify(name.as_bytes()).map(|name| name.class), Some(class), "{name}");
        }
        for name in [
            "tokens",
            "max_tokens",
            "public_key",
            "publicKeyToken",
            "keyboard",
            "password_policy",
            "tokenizer",
            "secretName",
            "TOKEN_LIMIT",
            "password_hash",
            "compass",
            "author",
            "primaryKey",
            "access",
            "JWT_SECRET_FILE",
            "",
            "_",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
