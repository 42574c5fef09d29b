//! Whether a name says that its value is a secret, and how surely.

use super::alphabet::{self, LOWER, UPPER};

mod ends;
mod words;

pub(super) use ends::{ends, may_end, may_matter};

use words::{is_suffix, opens, opens_nothing};

/// How much a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// A password: whatever is written down for it is one, words included.
    Password,
    /// Words that together are the secret: a mnemonic, a passphrase.
    Phrase,
    /// A token, secret or key: the value must not look like a name.
    Secret,
    /// Something that may hold a key: the value must look random.
    Perhaps,
    /// A number that is typed in: six digits or more.
    Pin,
}

/// What a name says, and what its value is called when it is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) says: Says,
    pub(super) kind: &'static str,
}

/// Longest name that is looked at; of a longer one its end.
pub(super) const LONGEST: usize = 64;

/// Reads a name: `DB_PASSWORD`, `apiKey`, `spring.mail.password`, `X-Api-Key`.
pub(super) fn read(name: &[u8]) -> Option<Name> {
    let mut buffer = [0; 2 * LONGEST];
    let words = split(name, &mut buffer);
    let mut rest = words;
    loop {
        let (before, last) = last_word(rest);
        if last.is_empty() {
            return None;
        }
        if let Some(found) = judge(before, last) {
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

/// What the last word says, given those before it.
fn judge(before: &[u8], last: &[u8]) -> Option<Name> {
    let name = |says, kind| Some(Name { says, kind });
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
        return name(Says::Password, "password");
    }
    if ends_with_any(last, &["passphrase", "mnemonic", "seedphrase", "seedwords"])
        || matches!(last, b"phrase" | b"words")
            && matches!(previous, b"seed" | b"recovery" | b"backup")
    {
        return name(Says::Phrase, "passphrase");
    }
    if matches!(last, b"pass" | b"pw" | b"psw" | b"sshpass") {
        let says =
            if previous.is_empty() && last == b"pass" { Says::Secret } else { Says::Password };
        return name(says, "password");
    }
    let public = matches!(previous, b"public" | b"pub" | b"key")
        && before.windows(3).any(|part| part == b"pub");
    if last.ends_with(b"token") {
        return if public { None } else { name(Says::Secret, "token") };
    }
    if last.ends_with(b"secret") {
        return name(Says::Secret, "secret");
    }
    if matches!(last, b"credential" | b"credentials" | b"creds" | b"cred" | b"dockerconfigjson") {
        return name(Says::Secret, "secret");
    }
    if last == b"seed" {
        return name(Says::Perhaps, "secret");
    }
    if matches!(last, b"pin" | b"pincode" | b"puk") || last == b"code" && previous == b"pin" {
        return name(Says::Pin, "pin");
    }
    if last == b"id" && previous == b"secret" {
        return name(Says::Perhaps, "secret");
    }
    if last == b"id" && previous == b"session" {
        return name(Says::Perhaps, "token");
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
        return name(Says::Secret, "key");
    }
    if last == b"keys" && opens(previous) {
        return name(Says::Perhaps, "key");
    }
    if last == b"key" {
        return match previous {
            b"wifi" | b"wlan" | b"fi" | b"preshared" => name(Says::Password, "password"),
            b"shared" if before.ends_with(b"pre_shared_") => name(Says::Password, "password"),
            _ if opens_nothing(previous) => None,
            _ if opens(previous) => name(Says::Secret, "key"),
            _ => name(Says::Perhaps, "key"),
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
        return name(Says::Perhaps, "token");
    }
    None
}

/// Lower-case words with `_` between them.
fn split<'a>(name: &[u8], buffer: &'a mut [u8; 2 * LONGEST]) -> &'a [u8] {
    let name = &name[name.len().saturating_sub(LONGEST)..];
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

/// The last word, and all before it.
fn last_word(words: &[u8]) -> (&[u8], &[u8]) {
    let end = words.iter().rposition(|&byte| byte != b'_').map_or(0, |at| at + 1);
    let start = words[..end].iter().rposition(|&byte| byte == b'_').map_or(0, |at| at + 1);
    (&words[..start], &words[start..end])
}

fn ends_with_any(word: &[u8], ends: &[&str]) -> bool {
    ends.iter().any(|end| word.ends_with(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_hold() {
        for (name, says) in [
            ("DB_PASSWORD", Says::Password),
            ("spring.mail.password", Says::Password),
            ("pgpassword", Says::Password),
            ("SmtpPwd", Says::Password),
            ("ansible_become_pass", Says::Password),
            ("MNEMONIC", Says::Phrase),
            ("apiKey", Says::Secret),
            ("X-Api-Key", Says::Secret),
            ("AWS_SECRET_ACCESS_KEY", Says::Secret),
            ("SECRET_KEY_BASE", Says::Secret),
            ("APIToken2", Says::Secret),
            ("clientSecret", Says::Secret),
            ("client-key-data", Says::Secret),
            ("NOTION_KEY", Says::Perhaps),
        ] {
            assert_eq!(read(name.as_bytes()).map(|name| name.says), Some(says), "{name}");
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
            assert_eq!(read(name.as_bytes()), None, "{name}");
        }
    }
}
