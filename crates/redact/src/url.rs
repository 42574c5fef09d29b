//! Credentials inside URLs: `scheme://user:password@host`, and webhooks with a secret path.

use super::alphabet::{self, ALNUM, BLANK, DASH, DIGIT, DOT, PLUS_SLASH, QUOTE, URL64};
use super::{Finding, character_mix, placeholder, prefix};

/// Longest part before the host that is examined.
const MAX_USERINFO_BYTES: usize = 512;

/// Returns the secret of the URL with the `://` at `at`.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Finding> {
    let start = at + 3;
    if at == 0 || !alphabet::has_class(text[at - 1], ALNUM) {
        return None;
    }
    userinfo(text, start).or_else(|| webhook(text, start))
}

/// Returns the password between `:` and `@`, or a token alone before `@`.
fn userinfo(text: &[u8], start: usize) -> Option<Finding> {
    let window = &text[start..text.len().min(start + MAX_USERINFO_BYTES)];
    let over = |byte: u8| {
        alphabet::has_class(byte, BLANK | QUOTE) || matches!(byte, b'<' | b'>' | b'\\' | 0x1b)
    };
    let path = |byte: u8| matches!(byte, b'/' | b'?' | b'#');
    let slash = window.iter().position(|&byte| over(byte) || path(byte)).unwrap_or(window.len());
    let colon = window[..slash].iter().position(|&byte| byte == b':');
    let at = window[..slash].iter().rposition(|&byte| byte == b'@').or_else(|| {
        // A password may hold a raw slash; a port may not.
        let colon = colon.filter(|_| window.get(slash).is_some_and(|&byte| path(byte)))?;
        let port = window[colon + 1..slash].iter().all(|&byte| alphabet::has_class(byte, DIGIT));
        let near = window.get(slash..window.len().min(slash + 48)).filter(|_| !port)?;
        let near = near.split(|&byte| over(byte)).next()?;
        let at = slash + near.iter().position(|&byte| byte == b'@')?;
        alphabet::is_at(window, at + 1, ALNUM).then_some(at)
    })?;
    let Some(colon) = colon.filter(|&colon| colon < at) else {
        let user = &window[..at];
        let token = user.len() >= 16 && character_mix::is_random(user);
        if let Some(known) = prefix::token(text, start) {
            return Some(known);
        }
        return token.then_some(Finding { start, end: start + at, kind: "token" });
    };
    let (user, password) = (&window[..colon], &window[colon + 1..at]);
    // Some services take the key as the user: `https://KEY:x-oauth-basic@host`.
    if user.len() >= 16 && character_mix::is_random(user) {
        return Some(Finding { start, end: start + at, kind: "password" });
    }
    if password.is_empty()
        || placeholder::is_placeholder(password)
        || user == password && user.len() < 12
    {
        return None;
    }
    Some(Finding { start: start + colon + 1, end: start + at, kind: "password" })
}

/// Hosts with secret paths, and the part of the path before the secret.
static WEBHOOKS: &[(&str, &str)] = &[
    ("hooks.slack.com", "/services/"),
    ("hooks.slack.com", "/workflows/"),
    ("hooks.slack.com", "/triggers/"),
    ("discord.com", "/api/webhooks/"),
    ("discordapp.com", "/api/webhooks/"),
    ("webhook.office.com", "/webhookb2/"),
    ("hooks.zapier.com", "/hooks/catch/"),
    ("maker.ifttt.com", "/with/key/"),
    ("chat.googleapis.com", "/v1/spaces/"),
    ("conda.anaconda.org", "/t/"),
];

/// Returns the path of a webhook. Its host begins at `start`.
pub(super) fn webhook(text: &[u8], start: usize) -> Option<Finding> {
    let host = alphabet::run(text, start, ALNUM | DOT | DASH);
    let (_, path) = WEBHOOKS.iter().find(|(known, path)| {
        text[start..host].ends_with(known.as_bytes())
            && alphabet::starts(text, host, path.as_bytes())
    })?;
    let from = host + path.len();
    let mut end = alphabet::run(text, from, URL64 | PLUS_SLASH | DOT);
    while end > from && text.get(end) == Some(&b'@') {
        end = alphabet::run(text, end + 1, URL64 | PLUS_SLASH | DOT);
    }
    while end > from && text[end - 1] == b'.' {
        end -= 1;
    }
    let long = end - from >= 20 && !character_mix::is_wordy(&text[from..end]);
    long.then_some(Finding { start: from, end, kind: "webhook" })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn passwords_go_and_urls_stay() {
        for (text, left) in [
            ("postgres://app:k3Xw9Qz@db/x", "postgres://app:[redacted:password]@db/x"),
            ("redis://:k3Xw9Qz@cache:6379/0", "redis://:[redacted:password]@cache:6379/0"),
            ("mysql://root:p@ss:w0rd@h/x", "mysql://root:[redacted:password]@h/x"),
            ("pg://a:b/c#d@host/x", "pg://a:[redacted:password]@host/x"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "https://medium.com/@someone/x",
            "http://localhost:3000/@vite/client",
            "ssh://git@github.com:22/acme/x.git",
            "postgres://user:password@localhost/x",
            "postgres://${U}:${P}@h/x",
            "amqp://guest:guest@mq",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
