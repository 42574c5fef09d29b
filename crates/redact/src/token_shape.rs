//! Tokens with a known shape and no prefix.

use super::Finding;
use super::alphabet::{self, ALNUM, BASE64, DIGIT, DOT, HEX, LETTER, TILDE, URL64};
use super::{character_mix, handmade, placeholder, randomness};

/// Returns the token of the word from `at` to `end`.
pub(super) fn token(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let length = end - at;
    let next = text.get(end).copied().unwrap_or(b' ');
    if !matches!(next, b'.' | b'-' | b'_' | b':' | b'|') {
        return None;
    }
    let found = |end: usize, kind| Some(Finding { start: at, end, kind });
    match (length, next) {
        (3.., b'.' | b'-' | b'_') if alphabet::starts(text, at, b"eyJ") => jwt(text, at),
        (1, b'.') if text[at] == b's' => {
            let stop = alphabet::run(text, end + 1, ALNUM);
            let body = &text[end + 1..stop];
            let token = body.len() == 24 && character_mix::is_random(body);
            if token { found(stop, "vault-token") } else { None }
        }
        (11, b':') if alphabet::starts(text, end, b":APA91b") => {
            found(alphabet::run(text, end + 1, URL64), "firebase-key")
        }
        (8..=16, b':') => telegram(text, at, end).or_else(|| asana(text, at, end)),
        (15 | 16, b'|') if alphabet::run(text, at, DIGIT) == end => {
            let stop = alphabet::run(text, end + 1, URL64);
            let body = &text[end + 1..stop];
            let token = (27..=40).contains(&body.len()) && character_mix::is_random(body);
            if token { found(stop, "facebook-token") } else { None }
        }
        (2, b'_') if alphabet::starts(text, at, b"pk_") => clickup(text, at),
        (14, b'.') if alphabet::starts(text, end, b".atlasv1.") => {
            let stop = alphabet::run(text, end + 9, URL64);
            if stop - end > 40 { found(stop, "terraform-token") } else { None }
        }
        (17, b'.') if alphabet::starts(text, at, b"pat") => {
            let stop = alphabet::run(text, end + 1, HEX);
            if stop - end > 60 { found(stop, "airtable-token") } else { None }
        }
        (22..=28, b'.') if matches!(text[at], b'M' | b'N' | b'O') => {
            let middle = alphabet::run(text, end + 1, URL64);
            let stop = alphabet::run(text, middle + 1, URL64);
            let parted = (5..=7).contains(&(middle - end - 1)) && text.get(middle) == Some(&b'.');
            if parted && stop - middle > 24 { found(stop, "discord-token") } else { None }
        }
        (32, b'-') if alphabet::run(text, at, HEX) == end => mail_key(text, at, end),
        (6, b'_') => {
            let stop = alphabet::run(text, end + 1, ALNUM);
            let key = stop - end == 30 && alphabet::starts(text, stop, b"_mmk");
            if key { found(stop + 4, "maxmind-key") } else { None }
        }
        _ => None,
    }
}

/// Returns a JSON Web Token, which may be cut after the start of its second part.
fn jwt(text: &[u8], at: usize) -> Option<Finding> {
    let head = alphabet::run(text, at, URL64);
    if head - at < 12 || text.get(head) != Some(&b'.') {
        return None;
    }
    let claims = alphabet::run(text, head + 1, URL64);
    // Encrypted tokens have five parts; the second may be empty.
    if claims - head < 10 && text.get(claims) != Some(&b'.') {
        return None;
    }
    let (mut end, mut dot) = (claims, claims);
    while text.get(dot) == Some(&b'.') {
        let part = alphabet::run(text, dot + 1, URL64);
        if part > dot + 1 {
            end = part;
        } else if text.get(part) != Some(&b'.') {
            break;
        }
        dot = part;
    }
    let long = end - at > 36 && !placeholder::is_filler(&text[head + 1..end]);
    long.then_some(Finding { start: at, end, kind: "jwt" })
}

/// Returns the token of a Telegram bot, `123456789:AA…`. The number alone is public.
fn telegram(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let number =
        text[at..end].iter().position(|&byte| !alphabet::has_class(byte, LETTER)).unwrap_or(0);
    // In a URL, the number follows `bot` directly.
    let digits = at + number;
    if alphabet::run(text, digits, DIGIT) != end || !alphabet::is_at(text, end + 1, ALNUM) {
        return None;
    }
    let stop = alphabet::run(text, end + 1, URL64);
    let body = &text[end + 1..stop];
    let token = (33..=40).contains(&body.len())
        && body.starts_with(b"A")
        && (character_mix::is_random(body) || randomness::is_likely_random(body));
    token.then_some(Finding { start: digits, end: stop, kind: "telegram-token" })
}

/// Returns an Asana token: `1/` and a user number, a colon, and 32 hexadecimal digits. The number ends at `end`.
fn asana(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let stop = alphabet::run(text, end + 1, HEX);
    let token = at >= 2
        && matches!(&text[at - 2..at], b"0/" | b"1/" | b"2/")
        && alphabet::run(text, at, DIGIT) == end
        && stop - end - 1 == 32;
    token.then_some(Finding { start: end + 1, end: stop, kind: "asana-token" })
}

/// Returns a ClickUp token: `pk_`, a user number, and 32 capitals and digits.
fn clickup(text: &[u8], at: usize) -> Option<Finding> {
    let number = alphabet::run(text, at + 3, DIGIT);
    let stop = alphabet::run(text, number + 1, ALNUM);
    let token = number > at + 3 && text.get(number) == Some(&b'_') && stop - number >= 30;
    (token && character_mix::is_random(&text[number + 1..stop])).then_some(Finding {
        start: at,
        end: stop,
        kind: "clickup-token",
    })
}

/// Returns an Azure key. New keys have a fixed middle; the word from `at` to `end` is long enough for one.
pub(super) fn azure_key(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let word = &text[at..end.min(at + 160)];
    let key = word.windows(5).any(|part| part == b"JQQJ9") && character_mix::is_random(word);
    key.then_some(Finding { start: at, end, kind: "azure-secret" })
}

/// Returns a key of Mailgun (`<32>-<8>-<8>`) or Mailchimp (`<32>-us14`).
fn mail_key(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    if alphabet::starts(text, end, b"-us") {
        let stop = alphabet::run(text, end + 3, DIGIT);
        let key = (1..=2).contains(&(stop - end - 3)) && !alphabet::is_at(text, stop, ALNUM);
        return key.then_some(Finding { start: at, end: stop, kind: "mailchimp-key" });
    }
    let middle = alphabet::run(text, end + 1, HEX);
    let stop = alphabet::run(text, middle + 1, HEX);
    let key = middle - end == 9 && text.get(middle) == Some(&b'-') && stop - middle == 9;
    (key && !alphabet::is_at(text, stop, URL64)).then_some(Finding {
        start: at,
        end: stop,
        kind: "mailgun-key",
    })
}

/// Returns the Azure client secret around the `~` at `at`: three characters, a digit, `Q~`, and 31 or more.
pub(super) fn azure(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let start = at.checked_sub(5).filter(|&start| start >= done)?;
    let head = text[at - 1] == b'Q'
        && alphabet::has_class(text[at - 2], DIGIT)
        && text[start..at - 2].iter().all(|&byte| alphabet::has_class(byte, URL64 | TILDE | DOT));
    let end = alphabet::run(text, at + 1, URL64 | TILDE | DOT);
    (head && end - at > 31).then_some(Finding { start, end, kind: "azure-secret" })
}

/// Returns forty characters after an AWS key id that ended at `id`, on the same line or the next.
pub(super) fn aws_secret(text: &[u8], at: usize, id: usize) -> Option<Finding> {
    let start = alphabet::run_back(text, at, BASE64, at.min(40));
    if at - id > 120 || start < id {
        return None;
    }
    let end = alphabet::run(text, start, BASE64);
    let secret = end - start == 40 && character_mix::is_random(&text[start..end]);
    secret.then_some(Finding { start, end, kind: "aws-secret" })
}

/// Returns the password hash at the `$` at `at`: an offline attack away from the password.
pub(super) fn crypt(text: &[u8], at: usize) -> Option<Finding> {
    let known: [&[u8]; 8] =
        [b"$2a$", b"$2b$", b"$2y$", b"$5$", b"$6$", b"$y$", b"$apr1$", b"$argon2"];
    if !known.iter().any(|begin| alphabet::starts(text, at, begin)) {
        return None;
    }
    let mut end = at;
    while end < text.len()
        && (alphabet::has_class(text[end], BASE64 | DOT) || matches!(text[end], b'$' | b','))
    {
        end += 1;
    }
    (end - at >= 34).then_some(Finding { start: at, end, kind: "password-hash" })
}

/// Returns the secret after the `:` at `at`: in a line of a `.pgpass`, in the login of an Oracle URL.
pub(super) fn colon(text: &[u8], at: usize) -> Option<Finding> {
    if alphabet::starts(text, at, b":thin:") {
        let user = alphabet::run(text, at + 6, URL64);
        let end =
            text[user..].iter().take(128).position(|&byte| matches!(byte, b'@' | b' ' | b'"'))?
                + user;
        let password = text.get(user + 1..end).filter(|value| !value.is_empty())?;
        let login =
            text[user] == b'/' && text[end] == b'@' && !placeholder::is_placeholder(password);
        return login.then_some(Finding { start: user + 1, end, kind: "password" });
    }
    if alphabet::starts(text, at, b":APA91b") {
        let start = alphabet::run_back(text, at, URL64, at.min(24));
        return Some(Finding {
            start,
            end: alphabet::run(text, at + 1, URL64),
            kind: "firebase-key",
        });
    }
    let port = alphabet::run(text, at + 1, DIGIT);
    if !(4..=5).contains(&(port - at - 1)) || text.get(port) != Some(&b':') {
        return None;
    }
    let host = alphabet::run_back(text, at, alphabet::NAME, at.min(64));
    if host == at
        || host > 0 && !matches!(text[host - 1], b'\n' | b'\t' | b' ' | b'+' | b'\'' | b'"')
    {
        return None;
    }
    let any = usize::from(text.get(port + 1) == Some(&b'*'));
    let database = alphabet::run(text, port + 1 + any, URL64);
    let user = alphabet::run(text, database + 1, URL64);
    let names = database > port + 1 && user > database + 1;
    let parted = text.get(database) == Some(&b':') && text.get(user) == Some(&b':');
    let rest = text.get(user + 1..)?;
    let end = user
        + 1
        + rest
            .iter()
            .take(128)
            .position(|&byte| byte <= b' ' || byte == b'\'' || byte == b'"')
            .unwrap_or(rest.len().min(128));
    let password = &text[(user + 1).min(end)..end];
    let line = names
        && parted
        // An IPv6 address has more colons.
        && !password.contains(&b':')
        && password.len() >= 6
        && !placeholder::is_placeholder(password)
        && (!character_mix::is_wordy(password)
            || randomness::is_likely_random(password)
            || handmade::is_handmade(password));
    line.then_some(Finding { start: user + 1, end, kind: "password" })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn tokens_by_shape() {
        let hex = "8a7d0c3fe5b94a1290ffab34c1d2e7f6";
        for (text, left) in [
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN".to_owned(),
                "[redacted:jwt]",
            ),
            (
                "bot123456789:AAk3Xw9QzA1b2C3d4E5f6G7h8I9j0KlMnOp".to_owned(),
                "bot[redacted:telegram-token]",
            ),
            (format!("{hex}-us14"), "[redacted:mailchimp-key]"),
            (format!("{hex}-8a7d0c3f-e5b94a12"), "[redacted:mailgun-key]"),
            ("abc8Q~k3Xw9QzA1b2C3d4E5f6G7h8I9j0KlMnOpQ".to_owned(), "[redacted:azure-secret]"),
            ("db:5432:app:svc:k3Xw9QzA1b".to_owned(), "db:5432:app:svc:[redacted:password]"),
            (
                "jdbc:oracle:thin:sys/k3Xw9Q@//db".to_owned(),
                "jdbc:oracle:thin:sys/[redacted:password]@//db",
            ),
        ] {
            assert_eq!(redact(&text), left);
        }
        for text in [
            "eyJhbGciOiJIUzI1NiJ9",
            // An earlier version sliced this text backwards.
            "see eyJhbGciOiJIUzI1NiJ9eyJzdWIiOiIxMjM0NTY3ODkwIn0... (cut)",
            "2606:2800:220:1:248:1893:25c8:1946",
            "~/8Q~x",
            "$2y$05$short",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
