//! Hand-made passwords: words with digits or signs, such as `Kastanie9`, `blauwal-trompete-6`, `Tortuga#55`.
//!
//! They look like names of versions, hosts and users. So they count only beside a word for a password or in a
//! sentence about one, and not if the digits belong to a technical word: `argon2`, `eu-west-1`, `user42`.

use super::alphabet::{self, ALNUM, DIGIT, LOWER, UPPER};
use super::randomness::Randomness;
use super::{character_mix, name, other_kind, placeholder, randomness};

/// Lengths of the values that are examined.
const LENGTHS: std::ops::RangeInclusive<usize> = 7..=48;

/// Numbers of characters by class.
struct CharacterCounts {
    lower: usize,
    upper: usize,
    digits: usize,
    /// Signs that do not occur in names.
    signs: usize,
    /// Changes from a small to a capital letter.
    humps: usize,
}

/// Likelihood that a word is a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// A word, a number, a name of code.
    None,
    /// Names of hosts, users and versions look the same: `rotkohl47`, `blue-otter-3`.
    Possible,
    /// Few names look the same: `Winter-Sturm77`, `Fl0wer.Power`.
    Likely,
    /// Names are never written like this: `kiosk!77`, `qfias3z%.MO1lQ`.
    Certain,
}

/// Returns the likelihood that a word of a sentence is a password.
pub(super) fn likeness(value: &[u8]) -> Likeness {
    if value.len() < *LENGTHS.start() || has_name(value) || other_kind::is_key_combination(value) {
        return Likeness::None;
    }
    if is_certainly_random(value) {
        return Likeness::Certain;
    }
    if is_known(value) {
        return Likeness::None;
    }
    let Some(sorts) = sorts(value).filter(|_| LENGTHS.contains(&value.len())) else {
        return Likeness::None;
    };
    let has_digit_and_letters = sorts.digits > 0 && sorts.lower + sorts.upper >= 3;
    let inner = &value[1..value.len() - 1];
    let is_shouted =
        inner.windows(2).any(|two| two[0] == b'!' && alphabet::has_class(two[1], ALNUM));
    let is_address = value.contains(&b'@');
    // `aws-cli#847` refers to an issue.
    let number = value.iter().position(|&byte| byte == b'#').map(|sign| &value[sign + 1..]);
    if sorts.upper == 0 && number.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) {
        return Likeness::None;
    }
    if has_digit_and_letters
        && value.len() >= 8
        && !is_address
        && (is_shouted || sorts.signs > 0 && sorts.upper > 0 && sorts.lower > 0)
        && is_made(value, &sorts)
    {
        return Likeness::Certain;
    }
    let camel = alphabet::has_class(value[0], LOWER) && sorts.humps > 0;
    let leet = leet_digits(value);
    let underscores = value.split(|&byte| byte == b'_').count() - 1;
    let is_mixed = sorts.upper > 0
        && sorts.lower > 1
        && (underscores == 0 || underscores == 1 && value[0].is_ascii_uppercase());
    // Two words with a dot: `Fl0wer.Power`. The extension of a file has small letters.
    let is_dotted =
        value.contains(&b'.') && (other_kind::is_other_kind(value) || sorts.upper == 0 || camel);
    let has_inner_sign = sorts.signs > 0 && !is_address && is_made(value, &sorts);
    if value.len() >= 8
        && has_inner_sign
        && (sorts.digits > 0 || is_shouted && sorts.upper > 0 && sorts.lower > 0)
    {
        return Likeness::Likely;
    }
    if value.len() >= 8
        && has_digit_and_letters
        && !is_dotted
        && (leet > 0 && (sorts.upper > 0 || leet > 1)
            || is_mixed
                && !camel
                && !has_acronym(value)
                && (sorts.humps == 0 || ends_in_number(value)))
    {
        return Likeness::Likely;
    }
    if is_made(value, &sorts) || is_hyphenated(value) { Likeness::Possible } else { Likeness::None }
}

/// Returns true if a value is random, and neither a path nor a list nor a name with a version.
fn is_certainly_random(value: &[u8]) -> bool {
    let is_code = |byte: &u8| matches!(byte, b'/' | b',' | b'*' | b':');
    let is_version =
        value.len() < 12 && value[0].is_ascii_alphabetic() && has_technical_number(value);
    randomness::measure(value) == Randomness::Certain
        && !other_kind::is_other_kind(value)
        && !placeholder::is_placeholder(value)
        && !value.iter().any(is_code)
        && (!value.contains(&b'.') || value.iter().any(u8::is_ascii_uppercase))
        && !is_version
}

/// Returns true for three or more words with a capital after the first one: `grauer-Otter-springt`.
fn is_hyphenated(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| matches!(byte, b'-' | b'_' | b'.'));
    let is_word = |part: &[u8]| {
        part.len() > 2
            && part[1..].iter().all(|&byte| alphabet::has_class(byte, LOWER) || byte >= 128)
    };
    let (mut count, mut capitals) = (0, 0);
    let are_words = parts.all(|part| {
        capitals += usize::from(
            count > 0 && alphabet::has_class(part.first().copied().unwrap_or(b'-'), UPPER),
        );
        count += 1;
        is_word(part)
    });
    are_words && count >= 3 && (1..count).contains(&capitals) && value[0].is_ascii_lowercase()
}

/// Returns true if a value ends in two or more digits.
fn ends_in_number(value: &[u8]) -> bool {
    matches!(value, [.., a, b] if a.is_ascii_digit() && b.is_ascii_digit())
}

/// Returns true for `name=value`.
fn has_name(value: &[u8]) -> bool {
    let sign = value.iter().position(|byte| matches!(byte, b'=' | b':'));
    sign.is_some_and(|sign| {
        sign > 0 && sign + 1 < value.len() && character_mix::is_wordy(&value[..sign])
    })
}

/// Returns true if two capitals are side by side, as in names of products and methods: `Okta-SSO2`.
fn has_acronym(value: &[u8]) -> bool {
    value
        .windows(2)
        .any(|two| alphabet::has_class(two[0], UPPER) && alphabet::has_class(two[1], UPPER))
}

/// Returns the number of digits that stand for letters: `Fl0wer`, `Tr0ub4dor`. Words such as `log4j` are shorter.
fn leet_digits(value: &[u8]) -> usize {
    let is_leet = |three: &&[u8]| {
        alphabet::has_class(three[0], LOWER | UPPER)
            && matches!(three[1], b'0' | b'1' | b'3' | b'4' | b'5' | b'7')
            && alphabet::has_class(three[2], LOWER)
    };
    value.windows(3).filter(is_leet).count()
}

/// Counts the characters of a value by class. Returns `None` if it has one that hand-made passwords do not have.
fn sorts(value: &[u8]) -> Option<CharacterCounts> {
    let mut sorts = CharacterCounts { lower: 0, upper: 0, digits: 0, signs: 0, humps: 0 };
    let mut last = b' ';
    for &byte in value {
        match byte {
            b'0'..=b'9' => sorts.digits += 1,
            b'A'..=b'Z' => {
                sorts.upper += 1;
                sorts.humps += usize::from(alphabet::has_class(last, LOWER));
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

/// Returns true if a value is made of words with digits or signs and is not a technical name.
pub(super) fn is_handmade(value: &[u8]) -> bool {
    LENGTHS.contains(&value.len())
        && sorts(value).is_some_and(|sorts| is_made(value, &sorts))
        && !is_known(value)
}

/// Returns true if such a value is not written like a name in code: it has a sign, two digits, or a capital at the
/// start.
pub(super) fn is_surely_handmade(value: &[u8]) -> bool {
    if !(8..=*LENGTHS.end()).contains(&value.len()) {
        return false;
    }
    let Some(sorts) = sorts(value) else { return false };
    let mixed = sorts.upper > 0 && sorts.humps == 0;
    let sure = sorts.signs > 0 || sorts.digits >= 2 || mixed && sorts.digits > 0;
    sure && is_made(value, &sorts) && !is_known(value)
}

fn is_made(value: &[u8], sorts: &CharacterCounts) -> bool {
    let inner = value.len() - 1;
    // A sign at the end may belong to the sentence.
    let signed = sorts.signs > 0
        && value[1..inner].iter().any(|&byte| {
            !alphabet::has_class(byte, ALNUM)
                && byte.is_ascii()
                && !matches!(byte, b'-' | b'_' | b'.')
        });
    let camel = alphabet::has_class(value[0], LOWER) && sorts.humps > 0;
    // `birnbaum_2023` is one word and a year; `user_2_id` is a name.
    let mut parts = value.split(|&byte| byte == b'_');
    let snake =
        sorts.upper == 0 && parts.nth(1).is_some() && (parts.next().is_some() || sorts.digits < 2);
    let address = value.iter().position(|&byte| byte == b'@').is_some_and(|at| {
        value[at..].contains(&b'.') || at == 0 || value[at..].iter().all(|byte| *byte != b'!')
    });
    let named = camel || snake || value.contains(&b'.') || sorts.lower == 0;
    let plain = sorts.digits > 0 && alphabet::has_class(value[0], LOWER | UPPER) && !named;
    sorts.lower + sorts.upper >= 4
        && sorts.lower > 0
        && !address
        && (signed && (sorts.digits > 0 || sorts.signs > 1 || sorts.upper > 0) || plain)
}

/// Returns true if a value is known to be something else.
fn is_known(value: &[u8]) -> bool {
    randomness::is_hex(value)
        || other_kind::is_version(value)
        || placeholder::is_placeholder(value)
        || name::names_a_secret(value) && !has_animal(value)
        || has_technical_number(value)
}

/// Returns true if the `key` in a value is the end of an ordinary word.
fn has_animal(value: &[u8]) -> bool {
    let words: [&[u8]; 7] =
        [b"monkey", b"donkey", b"turkey", b"hockey", b"whiskey", b"mickey", b"jockey"];
    words.iter().any(|word| value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// Returns true if the first digits of a value belong to a technical word: `sha256`, `AES-256`, `eu-west-1`.
pub(super) fn has_technical_number(value: &[u8]) -> bool {
    let Some(digit) = value.iter().position(|&byte| alphabet::has_class(byte, DIGIT)) else {
        return false;
    };
    // `kiosk!77`: names do not contain this sign.
    if digit > 0
        && !alphabet::has_class(value[digit - 1], alphabet::NAME)
        && value[digit - 1] != b'='
    {
        return false;
    }
    let joined = digit > 0 && matches!(value[digit - 1], b'-' | b'_' | b'.' | b'=');
    let end = digit - usize::from(joined);
    let is_start = |at: &usize| {
        *at == 0
            || !alphabet::has_class(value[at - 1], LOWER | UPPER)
            || alphabet::has_class(value[at - 1], LOWER) && alphabet::has_class(value[*at], UPPER)
    };
    let start = (0..end).rev().find(is_start).unwrap_or(end);
    // The digit of `r3adM0nly` replaces a letter; `zQ8vLp2k` has no words.
    let is_leet = alphabet::is_at(value, start, LOWER)
        && value[start] != b'v'
        && alphabet::is_at(value, digit + 3, LOWER | UPPER);
    let is_inside = start > 0 && alphabet::has_class(value[start - 1], LOWER | UPPER);
    if end - start == 1 && !joined && (is_leet || is_inside) {
        return false;
    }
    let mut lower = [0; 12];
    let Some(lower) = lower.get_mut(..end - start) else { return false };
    lower.copy_from_slice(&value[start..end]);
    lower.make_ascii_lowercase();
    is_technical(lower)
}

/// Returns true for technical words that are followed by numbers.
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
        | b"worker" | b"wpa" | b"x" | b"zone" | b"saml" | b"ldap" | b"eap" | b"ike" | b"ikev" | b"keycloak" | b"vault" | b"n" | b"character" | b"characters" | b"argonid" | b"vitest" | b"typescript" | b"chromium" | b"firefox"
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
