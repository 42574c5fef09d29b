//! Keys among the arguments of calls that encrypt or sign: `createHmac('sha256', 'x')`, `Fernet(b'x')`.

use super::alphabet::{self, BLANK, NAME, QUOTE};
use super::value_span::ValueForm;
use super::{Finding, character_mix, handmade, other_kind, placeholder, randomness, value_span};

/// Length of text before a literal that is searched for its call.
const MAX_CALL_BYTES: usize = 96;

/// Longest literal that is examined.
const MAX_LITERAL_BYTES: usize = 160;

/// Returns the literal after the `(` or the comma at `at` if its call takes a key.
pub(super) fn key(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let gap = alphabet::run(text, at + 1, BLANK);
    let open = gap + usize::from(matches!(text.get(gap), Some(b'b' | b'r' | b'u' | b'B')));
    let quote = *text.get(open).filter(|&&byte| alphabet::has_class(byte, QUOTE))?;
    if gap - at > 40 {
        return None;
    }
    let window = &text[open + 1..text.len().min(open + 1 + MAX_LITERAL_BYTES)];
    let value = &window
        [..window.iter().position(|&byte| byte == quote || alphabet::has_class(byte, BLANK))?];
    let other: [&[u8]; 4] = [b"sha", b"SHA", b"aes", b"AES"];
    let looks_random = || {
        character_mix::is_random(value)
            || randomness::is_likely_random(value)
            || handmade::is_surely_handmade(value)
    };
    let end = open + 1 + value.len();
    if value.len() < 8
        || text[end] != quote
        || !value.iter().all(u8::is_ascii_graphic)
        || !looks_random()
    {
        return None;
    }
    let call = opening(text, at, done)?;
    let begin = alphabet::run_back(text, call, NAME, (call - done).min(40));
    let secret = takes_key(&text[begin..call])
        && !other.iter().any(|begin| value.starts_with(begin))
        && !other_kind::is_version(value)
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start: open + 1, end, kind: "key" })
}

/// Returns the position of the parenthesis of a call. One of its arguments follows the sign at `at`.
fn opening(text: &[u8], at: usize, done: usize) -> Option<usize> {
    if text[at] == b'(' {
        return Some(at);
    }
    let floor = at.saturating_sub(MAX_CALL_BYTES).max(done);
    let mut depth = 0;
    for (back, &byte) in text[floor..at].iter().enumerate().rev() {
        match byte {
            b'(' if depth == 0 => return Some(floor + back),
            b'(' => depth -= 1,
            b')' => depth += 1,
            b';' => return None,
            _ => {}
        }
    }
    None
}

/// Returns true if a function takes a key.
#[rustfmt::skip]
fn takes_key(name: &[u8]) -> bool {
    let mut lower = [0; 40];
    let lower = &mut lower[..name.len().min(40)];
    lower.copy_from_slice(&name[..lower.len()]);
    lower.make_ascii_lowercase();
    let last = lower.iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1);
    if matches!(
        &lower[last..],
        b"createhmac" | b"createcipheriv" | b"createdecipheriv" | b"createcipher" | b"createdecipher" | b"hash_hmac"
        | b"fernet" | b"multifernet" | b"secretkeyspec" | b"hmacshakeyfor" | b"hmacsha256" | b"hmacsha512" | b"hmacsha1"
        | b"newhmac" | b"hmac" | b"aesgcm" | b"aessiv" | b"chacha20poly1305" | b"secretbox" | b"openssl_encrypt"
        | b"openssl_decrypt" | b"urlsafetimedserializer" | b"urlsafeserializer" | b"timestampsigner" | b"messageverifier"
        | b"messageencryptor" | b"privatekeytoaccount" | b"wallet" | b"newcipher" | b"hexdigest" | b"importkey"
        | b"cookieparser" | b"setsecret" | b"setapikey" | b"setpassword" | b"set_password" | b"newstaticcredentials"
        | b"basicawscredentials" | b"awsbasiccredentials" | b"newstaticcredentialsprovider" | b"hmac_sha256"
        | b"from_secret" | b"signinput"
    ) {
        return true;
    }
    let ends: [&[u8]; 24] = [
        b"hmac.new", b"aes.new", b"des3.new", b"des.new", b"jwt.sign", b"jwt.verify", b"jwt.encode", b"jwt.decode",
        b"aes.encrypt", b"aes.decrypt", b"chacha20.new", b"blowfish.new", b"arc4.new", b"des.encrypt", b"hmac.digest",
        b"bcrypt.hash", b"bcrypt.compare", b"bcrypt.hashpw", b"bcrypt.checkpw", b"argon2.hash", b"password_hash",
        b"check_password", b"make_password", b"bcrypt.hashsync",
    ];
    ends.iter().any(|end| lower.ends_with(end))
}

/// Returns the answer to a password prompt in an expect script: `send "x\r"`. The word `send` ends at `end`.
pub(super) fn expect_answer(text: &[u8], at: usize, end: usize, done: usize) -> Option<Finding> {
    let open = end + usize::from(text.get(end) == Some(&b'('));
    let mut from = alphabet::run(text, open, alphabet::SPACE);
    if alphabet::starts(text, from, b"-- ") {
        from += 3;
    }
    if from == end || !alphabet::is_at(text, from, QUOTE) {
        return None;
    }
    let right = value_span::value_after(text, from, false, false)
        .filter(|right| right.form == ValueForm::Quoted)?;
    let mut end = right.end;
    while end >= right.start + 2 && text[end - 2] == b'\\' && matches!(text[end - 1], b'r' | b'n') {
        end -= 2;
    }
    let value = text.get(right.start..end)?;
    let secret = value.len() >= 5
        && !value.iter().any(|&byte| alphabet::has_class(byte, BLANK))
        && !matches!(value[0], b'$' | b'[' | b'\\')
        && !placeholder::is_placeholder(value);
    (secret && is_asked(text, at, done)).then_some(Finding {
        start: right.start,
        end,
        kind: "password",
    })
}

/// Returns true if the last text before `at` is a password prompt.
fn is_asked(text: &[u8], at: usize, done: usize) -> bool {
    let before = &text[at.saturating_sub(120).max(done)..at];
    let Some(asked) = before.windows(2).rposition(|two| two.eq_ignore_ascii_case(b"ss")) else {
        return false;
    };
    let rest = &before[asked + 2..];
    let word = |word: &[u8]| alphabet::starts_any_case(rest, 0, word);
    (word(b"word") || word(b"phrase")) && !rest.windows(4).any(|part| part == b"send")
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn removes_keys_and_prompt_answers() {
        for (text, left) in [
            ("hmac.new(b\"Rh08i7lHhiOKx9\", m)", "hmac.new(b\"[redacted:key]\", m)"),
            ("jwt.sign({ id: 1 }, 'Rh08i7lHhiOKx9')", "jwt.sign({ id: 1 }, '[redacted:key]')"),
            (
                "expect \"assword:\"\nsend \"swordfish\\r\"",
                "expect \"assword:\"\nsend \"[redacted:password]\\r\"",
            ),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "createHmac('sha256', key).digest('hex')",
            "jwt.sign(claims, 'secret')",
            "createCipheriv('aes-256-gcm', key, iv)",
            "expect \"login:\"\nsend \"deploy9\\r\"",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
