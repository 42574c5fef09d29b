//! Headers that carry credentials: `Authorization`, `Proxy-Authorization`, `Cookie`, and a bare `Bearer …`.

use super::Finding;
use super::alphabet::{self, NAME, NEWLINE, QUOTE, SPACE, URL64};
use super::name::{NameClass, SecretName};
use super::{character_mix, placeholder};

/// Authentication schemes before credentials.
static SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "api-token",
    "digest",
    "negotiate",
    "ssws",
    "hmac",
    "key",
    "jwt",
    "oauth",
    "aws4-hmac-sha256",
    "sharedkey",
    "genie-key",
    "bot",
    "private-token",
    "signature",
];

/// Returns the credentials of the header `name`. Its value begins at `after`.
pub(super) fn credentials(text: &[u8], name: &[u8], after: usize) -> Option<Finding> {
    let named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    if named("authorization") || named("proxy-authorization") || named("http.extraheader") {
        return authorization(text, after);
    }
    if named("cookie") || named("set-cookie") {
        return cookie(text, after, named("set-cookie"));
    }
    None
}

/// Returns the credentials of an `Authorization` header.
pub(super) fn authorization(text: &[u8], after: usize) -> Option<Finding> {
    let mut at = after;
    while at < after + 8 && alphabet::is_at(text, at, SPACE | QUOTE)
        || text.get(at) == Some(&b'\\')
        || at == after && text.get(at) == Some(&b'[')
    {
        at += 1;
    }
    if matches!(text.get(at), Some(b'f' | b'b' | b'$')) && alphabet::is_at(text, at + 1, QUOTE) {
        at += 2;
    }
    let word = alphabet::run(text, at, NAME);
    let scheme = &text[at..word];
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
        let end = credential_end(text, at);
        return (end > at && character_mix::is_random(&text[at..end])).then_some(finding(
            at,
            end,
            "authorization",
        ));
    }
    let start = alphabet::run(text, word, SPACE);
    let end = credential_end(text, start);
    let value = &text[start..end];
    let long = start > word && value.len() >= 6 && !placeholder::is_placeholder(value);
    let list = scheme.eq_ignore_ascii_case(b"digest")
        || scheme.starts_with(b"AWS4")
        || scheme == b"Signature";
    // `Authorization: Bearer token` is a description: credentials are not a word.
    let encoded = scheme.eq_ignore_ascii_case(b"basic") && is_encoded(value);
    if !long || !list && !encoded && character_mix::is_wordy(value) {
        return None;
    }
    let end = if list { value_end(text, start, false) } else { end };
    Some(finding(start, end, "authorization"))
}

/// Returns true for base64 rather than a word: a capital follows a small letter.
fn is_encoded(value: &[u8]) -> bool {
    let hump = |two: &[u8]| {
        alphabet::has_class(two[0], alphabet::LOWER) && alphabet::has_class(two[1], alphabet::UPPER)
    };
    value.len() >= 8 && value.windows(2).any(hump)
}

/// Returns the credentials after `Bearer …` or `Basic …` without a header name. The word is from `at` to `end`.
pub(super) fn bare_scheme(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let word = &text[at..end];
    let least = if word.eq_ignore_ascii_case(b"bearer") {
        16
    } else if word == b"Basic" {
        20
    } else {
        return None;
    };
    let start = alphabet::run(text, end, SPACE);
    let stop = credential_end(text, start);
    let value = &text[start..stop];
    let credentials = start > end
        && value.len() >= least
        && !placeholder::is_placeholder(value)
        && character_mix::is_random(value);
    credentials.then_some(finding(start, stop, "authorization"))
}

/// Returns all cookies of a request, or the cookie value of a response.
fn cookie(text: &[u8], after: usize, set: bool) -> Option<Finding> {
    let start = alphabet::run(text, after, SPACE);
    let name = alphabet::run(text, start, NAME);
    let value = name + 1;
    if name == start || text.get(name) != Some(&b'=') {
        return None;
    }
    let end = value_end(text, value, set);
    let long = end - value >= 8 && !placeholder::is_placeholder(&text[value..end]);
    long.then_some(finding(if set { value } else { start }, end, "cookie"))
}

/// Returns the name `"d"` of a JSON Web Key, which holds the private half. The name is at `start`.
pub(super) fn jwk(text: &[u8], start: usize, word: &[u8]) -> Option<SecretName> {
    let value = alphabet::run(text, start + 1, QUOTE | SPACE | alphabet::COLON);
    if word != b"d" || alphabet::run(text, value, URL64) - value < 40 {
        return None;
    }
    let near = &text[start.saturating_sub(512)..start];
    let key = near.windows(5).any(|part| part == b"\"kty\"");
    key.then_some(SecretName { class: NameClass::Perhaps, kind: "private-key" })
}

/// Returns the end of a credential without blanks.
fn credential_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while end < text.len() {
        let byte = text[end];
        let inside =
            alphabet::has_class(byte, URL64 | alphabet::BASE64 | alphabet::DOT | alphabet::TILDE)
                || matches!(byte, b':' | b'@' | b'%' | b'!' | b'*');
        if !inside {
            break;
        }
        end += 1;
    }
    while end > start && matches!(text[end - 1], b'.' | b':') {
        end -= 1;
    }
    let begins = alphabet::is_at(text, start, URL64 | alphabet::PLUS_SLASH)
        && alphabet::is_at(text, start + 1, URL64 | alphabet::PLUS_SLASH);
    if begins { end } else { start }
}

/// Returns the end of the line or the string around a header, or of its first part.
fn value_end(text: &[u8], start: usize, first_part: bool) -> usize {
    let mut end = start;
    while end < text.len() {
        let byte = text[end];
        let over = alphabet::has_class(byte, NEWLINE | QUOTE)
            || byte == b';' && first_part
            || byte == b'\\' && alphabet::escape(text, end) > 0;
        if over {
            break;
        }
        end += 1;
    }
    while end > start && alphabet::has_class(text[end - 1], SPACE) {
        end -= 1;
    }
    end
}

fn finding(start: usize, end: usize, kind: &'static str) -> Finding {
    Finding { start, end, kind }
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn removes_credentials_keeps_header() {
        for (text, left) in [
            (
                "Authorization: Bearer k3Xw9QzA1b2C3d4E5f6",
                "Authorization: Bearer [redacted:authorization]",
            ),
            ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted:authorization]"),
            ("Cookie: a=b; sid=k3Xw9QzA1b2C3", "Cookie: [redacted:cookie]"),
            ("Set-Cookie: sid=k3Xw9QzA1b2C3; Path=/", "Set-Cookie: sid=[redacted:cookie]; Path=/"),
            (
                "-H \"Authorization: token 8a7d0c3fe5b9\"",
                "-H \"Authorization: token [redacted:authorization]\"",
            ),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in
            ["authorization: required", "Authorization: Bearer <token>", "Set-Cookie: a=; Path=/"]
        {
            assert_eq!(redact(text), text);
        }
    }
}
