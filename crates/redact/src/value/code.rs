//! Recognizes code, numbers and paths beside the name of a secret.

use super::ValueContext;
use crate::alphabet::{self, ALNUM, DIGIT, LETTER, WORD};
use crate::value_span::ValueForm;
use crate::{character_mix, handmade, randomness};

/// Returns true for a number in the notation of programs: `0x04`, `8u32`, `1_000`, `15m`.
pub(super) fn is_number(value: &[u8]) -> bool {
    let body = value.strip_prefix(b"0x").unwrap_or(value);
    let digits = alphabet::run(body, 0, alphabet::HEX | alphabet::UNDERSCORE | alphabet::DOT);
    let unit = body.len() - digits;
    alphabet::has_class(value[0], DIGIT)
        && unit <= 4
        && value.len() <= 12
        && (body.len() < value.len() || has_unit(value))
}

/// Returns true for digits with at most a type or a unit after them.
fn has_unit(value: &[u8]) -> bool {
    let digits = alphabet::run(value, 0, DIGIT | alphabet::UNDERSCORE | alphabet::DOT);
    let unit = &value[digits..];
    matches!(
        unit,
        b"u8"
            | b"u16"
            | b"u32"
            | b"u64"
            | b"i8"
            | b"i16"
            | b"i32"
            | b"i64"
            | b"f32"
            | b"f64"
            | b"usize"
    ) || matches!(
        unit,
        b"s" | b"ms" | b"m" | b"h" | b"d" | b"kb" | b"KB" | b"MB" | b"L" | b"px" | b"em" | b"rem"
    )
}

/// Returns true for code: calls, indexing, paths of names, operators.
pub(super) fn is_code(value: &[u8], site: ValueContext) -> bool {
    let head = alphabet::run(value, 0, WORD | alphabet::DOT);
    let call = head > 0 && matches!(value.get(head), Some(b'(' | b'[' | b'{' | b'<'));
    let head_word = &value[..alphabet::run(value, 0, ALNUM)];
    let path = (!randomness::is_likely_random(value) || character_mix::is_wordy(value))
        && !character_mix::is_random(head_word)
        && value.windows(2).any(|two| two == b"::" || two == b"->" || two == b"?.");
    // YAML tags, anchors and aliases are followed by names; a password may begin with these signs too.
    let loose = site.form == ValueForm::Loose
        && character_mix::is_wordy(value)
        && !randomness::is_likely_random(value)
        && matches!(
            value[0],
            b'&' | b'*' | b'!' | b'|' | b'>' | b'@' | b'(' | b'#' | b'/' | b'?' | b':'
        );
    let bare_call = value.ends_with(b"()") || value.windows(2).any(|two| two == b"()");
    // In an environment variable, names joined by dots are a literal.
    let literal = site.shouted && site.form == ValueForm::Tight && !site.argument;
    call || path || loose || bare_call || is_dotted(value, literal)
}

/// Returns true for names joined by dots: `self.config.password`, `var.db_password`.
fn is_dotted(value: &[u8], literal: bool) -> bool {
    let mut parts = 0;
    let names = value.split(|&byte| byte == b'.').all(|part| {
        parts += 1;
        let part = part.strip_suffix(b"!").unwrap_or(part);
        let part = part.strip_suffix(b"?").unwrap_or(part);
        let name = alphabet::is_at(part, 0, LETTER | alphabet::UNDERSCORE | alphabet::DIGIT);
        let short = !literal && part.len() < 12 && !alphabet::is_at(part, 0, DIGIT);
        let plain = short
            || character_mix::is_wordy(part) && !(literal && randomness::has_rare_pairs(part));
        name && alphabet::run(part, 0, WORD) == part.len() && plain
    });
    names && parts > 1
}

/// Returns true for a path: the location of a secret is public.
pub(super) fn is_path(value: &[u8]) -> bool {
    let rooted = value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || value.starts_with(b"/") && !character_mix::is_random(value)
        || value.len() > 3 && value[1] == b':' && value[2] == b'\\';
    let extension = value.iter().rposition(|&byte| byte == b'.').map(|at| &value[at + 1..]);
    let stem = || &value[..value.iter().rposition(|&byte| byte == b'.').unwrap_or(value.len())];
    let file = extension.is_some_and(|end| {
        matches!(
            end,
            b"pem"
                | b"key"
                | b"txt"
                | b"json"
                | b"yaml"
                | b"yml"
                | b"toml"
                | b"env"
                | b"crt"
                | b"p12"
                | b"jks"
        ) && value.iter().all(|&byte| {
            alphabet::has_class(byte, ALNUM) || matches!(byte, b'.' | b'_' | b'-' | b'/')
        })
    });
    // A file may have the name of its secret.
    let is_key = || {
        let data = extension.is_some_and(|end| matches!(end, b"json" | b"yaml" | b"yml" | b"txt"));
        data && stem().len() >= 32 && character_mix::is_random(stem())
            || handmade::is_surely_handmade(stem()) && stem()[0].is_ascii_uppercase()
    };
    rooted || file && !randomness::is_likely_random(stem()) && !is_key()
}
