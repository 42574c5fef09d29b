//! Passwords that a person made up: words with digits or signs, such as `Kastanie9`, `blauwal-trompete-6`, `Tortuga#55`.
//!
//! They read like names of versions, hosts and users. So they count only right beside a word that names a password, and not
//! when the digits belong to a technical word: `argon2`, `eu-west-1`, `user42`.

use super::alphabet::{self, ALNUM, DIGIT, LOWER, UPPER};
use super::{drawn, heat, placeholder, value};

/// Lengths of the values that are looked at.
const LENGTHS: std::ops::RangeInclusive<usize> = 7..=48;

/// The sorts of characters of a value.
struct Sorts {
    lower: usize,
    upper: usize,
    digits: usize,
    /// Signs that no name has.
    signs: usize,
    /// Places between a small and a capital letter.
    humps: usize,
}

/// Counts the sorts of a value's characters; `None` if it has one that no such password has.
fn sorts(value: &[u8]) -> Option<Sorts> {
    let mut sorts = Sorts { lower: 0, upper: 0, digits: 0, signs: 0, humps: 0 };
    let mut last = b' ';
    for &byte in value {
        match byte {
            b'0'..=b'9' => sorts.digits += 1,
            b'A'..=b'Z' => {
                sorts.upper += 1;
                sorts.humps += usize::from(alphabet::is(last, LOWER));
            }
            b'a'..=b'z' | 128.. => sorts.lower += 1,
            b'-' | b'_' | b'.' => {}
            b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'?' | b'~' | b'@' => {
                sorts.signs += 1;
            }
            _ => return None,
        }
        last = byte;
    }
    Some(sorts)
}

/// Returns true if a value is made of words with digits or signs, and is no name of something technical.
pub(super) fn is_handmade(value: &[u8]) -> bool {
    LENGTHS.contains(&value.len())
        && sorts(value).is_some_and(|sorts| is_made(value, &sorts))
        && !is_known(value)
}

/// Returns true if such a value is not written as a name of code is: it has a sign, two digits, or a capital at its beginning.
pub(super) fn is_surely_handmade(value: &[u8]) -> bool {
    if !(8..=*LENGTHS.end()).contains(&value.len()) {
        return false;
    }
    let Some(sorts) = sorts(value) else { return false };
    let mixed = sorts.upper > 0 && sorts.humps == 0;
    let sure = sorts.signs > 0 || sorts.digits >= 2 || mixed && sorts.digits > 0;
    sure && is_made(value, &sorts) && !is_known(value)
}

fn is_made(value: &[u8], sorts: &Sorts) -> bool {
    let inner = value.len() - 1;
    // A sign at the end may be the sentence's.
    let signed = sorts.signs > 0
        && value[1..inner].iter().any(|&byte| {
            !alphabet::is(byte, ALNUM) && byte.is_ascii() && !matches!(byte, b'-' | b'_' | b'.')
        });
    let camel = alphabet::is(value[0], LOWER) && sorts.humps > 0;
    // `birnbaum_2023` is one word and a year; `user_2_id` is a name.
    let mut parts = value.split(|&byte| byte == b'_');
    let snake =
        sorts.upper == 0 && parts.nth(1).is_some() && (parts.next().is_some() || sorts.digits < 2);
    let address = value.iter().position(|&byte| byte == b'@').is_some_and(|at| {
        value[at..].contains(&b'.') || at == 0 || value[at..].iter().all(|byte| *byte != b'!')
    });
    let named = camel || snake || value.contains(&b'.') || sorts.lower == 0;
    let plain = sorts.digits > 0 && alphabet::is(value[0], LOWER | UPPER) && !named;
    sorts.lower + sorts.upper >= 4
        && sorts.lower > 0
        && !address
        && (signed && (sorts.digits > 0 || sorts.signs > 1 || sorts.upper > 0) || plain)
}

/// Returns true if a value is known to be something else.
fn is_known(value: &[u8]) -> bool {
    drawn::is_hex(value)
        || heat::is_version(value)
        || placeholder::is(value)
        || value::names_a_secret(value)
        || has_technical_number(value)
}

/// Returns true if the first digits of a value belong to a technical word: `sha256`, `AES-256`, `eu-west-1`.
fn has_technical_number(value: &[u8]) -> bool {
    let Some(digit) = value.iter().position(|&byte| alphabet::is(byte, DIGIT)) else {
        return false;
    };
    let joined = digit > 0 && matches!(value[digit - 1], b'-' | b'_' | b'.' | b'=');
    let end = digit - usize::from(joined);
    let start = value[..end]
        .iter()
        .rposition(|&byte| !alphabet::is(byte, LOWER | UPPER))
        .map_or(0, |at| at + 1);
    let mut lower = [0; 12];
    let Some(lower) = lower.get_mut(..end - start) else { return false };
    lower.copy_from_slice(&value[start..end]);
    lower.make_ascii_lowercase();
    is_technical(lower)
}

/// Words that have numbers.
#[rustfmt::skip]
fn is_technical(word: &[u8]) -> bool {
    matches!(
        word,
        b"" | b"a" | b"account" | b"admin" | b"aes" | b"alpha" | b"alpine" | b"amd" | b"android" | b"ap" | b"api" | b"app" | b"arg"
        | b"argon" | b"arm" | b"attempt" | b"auth" | b"base" | b"bcrypt" | b"beta" | b"bit" | b"bits" | b"blake" | b"box" | b"branch"
        | b"bug" | b"build" | b"byte" | b"bytes" | b"c" | b"case" | b"central" | b"chapter" | b"char" | b"chars" | b"client"
        | b"cluster" | b"col" | b"column" | b"commit" | b"config" | b"crc" | b"curve" | b"cve" | b"day" | b"db" | b"debian" | b"device"
        | b"django" | b"e" | b"east" | b"ec" | b"ecma" | b"ed" | b"env" | b"error" | b"es" | b"eu" | b"f" | b"feature" | b"fedora"
        | b"field" | b"file" | b"fixture" | b"float" | b"foo" | b"gpt" | b"group" | b"h" | b"hmac" | b"host" | b"hour" | b"hours" | b"hs"
        | b"http" | b"i" | b"id" | b"index" | b"input" | b"int" | b"ios" | b"ip" | b"ipv" | b"iso" | b"issue" | b"item" | b"java" | b"jdk"
        | b"job" | b"k" | b"kafka" | b"l" | b"latin" | b"layer" | b"length" | b"level" | b"line" | b"log" | b"macos" | b"max" | b"md"
        | b"member" | b"migration" | b"min" | b"minute" | b"minutes" | b"mode" | b"mongo" | b"mp" | b"mysql" | b"next" | b"node"
        | b"north" | b"oauth" | b"office" | b"openapi" | b"option" | b"order" | b"p" | b"page" | b"param" | b"part" | b"patch" | b"pbkdf"
        | b"pg" | b"phase" | b"php" | b"pkcs" | b"pod" | b"point" | b"port" | b"postgres" | b"postgresql" | b"pr" | b"project" | b"ps"
        | b"python" | b"q" | b"r" | b"rails" | b"rc" | b"react" | b"redis" | b"region" | b"release" | b"replica" | b"request" | b"retry"
        | b"rfc" | b"ripemd" | b"room" | b"round" | b"row" | b"rs" | b"rsa" | b"ruby" | b"run" | b"s" | b"schema" | b"scrypt" | b"secp"
        | b"section" | b"server" | b"service" | b"session" | b"sha" | b"shard" | b"site" | b"slot" | b"south" | b"spring" | b"sprint"
        | b"sql" | b"sqlite" | b"ssl" | b"stage" | b"step" | b"story" | b"svc" | b"swagger" | b"table" | b"task" | b"team" | b"tenant"
        | b"test" | b"testuser" | b"ticket" | b"tier" | b"tls" | b"type" | b"u" | b"ubuntu" | b"uint" | b"unit" | b"us" | b"user" | b"users"
        | b"utf" | b"v" | b"var" | b"varchar" | b"ver" | b"version" | b"vue" | b"web" | b"week" | b"west" | b"win" | b"windows"
        | b"worker" | b"x" | b"zone" | b"character" | b"characters" | b"argonid" | b"vitest" | b"typescript" | b"chromium" | b"firefox"
    )
}

#[cfg(test)]
mod tests {
    use super::{is_handmade, is_surely_handmade};

    #[test]
    fn words_with_digits_and_signs() {
        for value in
            ["Kastanie9", "hopscotch91", "Quokka-Sprung-31", "Tortuga#verde55", "Kastanie9!"]
        {
            assert!(
                is_handmade(value.as_bytes()) && is_surely_handmade(value.as_bytes()),
                "{value}"
            );
        }
        assert!(is_handmade(b"blauwal-trompete-6") && !is_surely_handmade(b"blauwal-trompete-6"));
        for value in [
            "argon2id",
            "eu-west-1",
            "user42abc",
            "PBKDF2-HMAC",
            "base64-encoded",
            "ABC-1234",
            "a1b2c3d4",
            "required",
            "getUserById2",
            "ada@corp1.io",
            "python3.12",
            "2fa-enabled",
            "users_2024",
            "Required!",
            "test-password-1",
        ] {
            assert!(!is_handmade(value.as_bytes()), "{value}");
        }
    }
}
