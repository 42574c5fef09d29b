//! Words that mark the text after them as near a secret.

use crate::alphabet::{self, NAME, NEWLINE, SPACE};
use crate::name::{self, NameClass};

/// Length of text that a word for a secret marks.
pub(crate) const FAR_REACH_BYTES: usize = 256;

/// Length of text that a word for a login marks, at most to the end of its line.
const NEAR_REACH_BYTES: usize = 96;

/// Last two letters of every such word. They dismiss most other words.
static ENDS: [u32; 32] = name::pair_table(
    b"rd ds wd se et ts en ns al ls sk de rt ie me ey ys th te ct on es ac sn in li tp do pw ha er id gn ss",
);

/// Returns the length of text that the word from `at` to `end` marks, or 0.
pub(crate) fn reach_bytes(text: &[u8], at: usize, end: usize) -> usize {
    let word = &text[at..end];
    let [.., a, b] = *word else { return 0 };
    if word.len() == 13 && word.eq_ignore_ascii_case(b"authenticated") {
        return NEAR_REACH_BYTES;
    }
    if ENDS[usize::from(a & 31)] & (1 << (b & 31)) == 0 || word.len() > 40 {
        return 0;
    }
    let mut lower = [0; 40];
    let lower = &mut lower[..word.len()];
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    let ends = |known: &[&str]| known.iter().any(|known| lower.ends_with(known.as_bytes()));
    let (last, before) = (lower[lower.len() - 1], lower[lower.len() - 2]);
    let far = match (before, last) {
        (b'r', b'd') => ends(&["password"]),
        (b'd', b's') => ends(&["passwords", "creds"]),
        (b'w', b'd') => ends(&["passwd", "pwd"]),
        (b's', b'e') => ends(&["passphrase"]),
        (b'e', b't') => ends(&["secret"]),
        (b't', b's') => ends(&["secrets"]),
        (b'e', b'n') => ends(&["token"]),
        (b'n', b's') => ends(&["tokens"]),
        (b'a', b'l') => ends(&["credential"]),
        (b'l', b's') => ends(&["credentials"]),
        (b's', b'k') => &*lower == b"mask" || ends(&["psk"]),
        (b'd', b'e') => ends(&["passcode"]),
        (b'r', b't') => ends(&["passwort", "kennwort", "wachtwoord"]),
        (b'i', b'e') => ends(&["cookie"]),
        (b'm', b'e') => ends(&["keyname"]),
        (b'e', b'y') => ends(&["privkey", "apikey", "secretkey"]) || is_key(text, end),
        (b'y', b's') => ends(&["apikeys"]) || is_key(text, end - 1),
        _ => false,
    };
    if far {
        return FAR_REACH_BYTES;
    }
    // `echo $DB_PASS` prints its value on the next line.
    let asked = ends(&["pass"]) || matches!(&*lower, b"pw" | b"otp" | b"totp");
    let near =
        asked || is_near(lower) || ends(&["sessionid"]) || lower == b"in" && is_log_in(text, at);
    // A call marks its arguments, also on other lines.
    if near && text.get(end) == Some(&b'(') {
        return NEAR_REACH_BYTES;
    }
    let line = || {
        text[end..]
            .iter()
            .take(NEAR_REACH_BYTES)
            .position(|&byte| alphabet::has_class(byte, NEWLINE))
    };
    if near { line().map_or(NEAR_REACH_BYTES, |line| line + usize::from(asked)) } else { 0 }
}

/// Returns true for `log in` and `sign in`, in two words.
pub(crate) fn is_log_in(text: &[u8], at: usize) -> bool {
    if alphabet::starts(text, at, b"in touch") {
        return false;
    }
    let before = &text[at.saturating_sub(8)..at];
    let words: [&[u8]; 14] = [
        b"log ",
        b"Log ",
        b"logs ",
        b"logged ",
        b"logging ",
        b"sign ",
        b"Sign ",
        b"signs ",
        b"signed ",
        b"signing ",
        b"Logged ",
        b"got ",
        b"get ",
        b"Got ",
    ];
    words.iter().any(|word| before.ends_with(word))
}

/// Returns true for words of logins and signatures that do not name the secret.
#[rustfmt::skip]
fn is_near(word: &[u8]) -> bool {
    matches!(
        word,
        b"auth" | b"authenticate" | b"authenticates" | b"basicauth" | b"connect" | b"connection" | b"construct" | b"contrase" | b"cookies"
        | b"createhmac" | b"dsn" | b"getconnection" | b"hmac" | b"login" | b"logon" | b"mysqli" | b"otp" | b"passe" | b"pdo"
        | b"pw" | b"senha" | b"session" | b"setuser" | b"sid" | b"sign" | b"sudo" | b"totp" | b"user" | b"username"
    )
}

/// Returns true if the words before the `key` that ends at `end` make it a credential.
fn is_key(text: &[u8], end: usize) -> bool {
    let start = alphabet::run_back(text, end, NAME | SPACE, end.min(24));
    name::classify(&text[start..end]).is_some_and(|name| name.class == NameClass::Secret)
}
