//! Secrets known by their position on a command line: `rabbitmqctl add_user app X`, `composer config HOST X`.
//!
//! A command announces the positions of its secrets; the scan takes each one when it arrives there, so that it skips
//! no text between them.

use super::alphabet::{self, NAME, QUOTE, SPACE};
use super::{Finding, character_mix, handmade, other_kind, placeholder, randomness};

/// Maximum distance of an argument from its command.
const MAX_LINE_BYTES: usize = 320;

/// The number of an argument without counting flags. `RandomNth` and `Pair` require a random value.
#[derive(Clone, Copy)]
enum Position {
    Nth(usize),
    RandomNth(usize),
    /// The random value of a `name=value`.
    Pair(usize),
    /// The last argument, after at least one other.
    Last,
}

use Position::{Last, Nth, Pair, RandomNth};

/// The start of a command line, and the positions of its secrets.
type Row = (&'static [u8], &'static [Position]);

/// Returns the commands that end with a word.
fn commands(word: &[u8]) -> &'static [Row] {
    match word {
        b"set" => &[
            (b"mc alias set", &[RandomNth(3), Nth(4)]),
            (b"dotnet user-secrets set", &[RandomNth(2)]),
            (b"aws configure set", &[Last]),
            (b"keyring set", &[RandomNth(3)]),
        ],
        b"add" => &[(b"mc config host add", &[RandomNth(3), Nth(4)])],
        b"user" => &[
            (b"rabbitmqctl add_user", &[Nth(2)]),
            (b"rabbitmqctl authenticate_user", &[Nth(2)]),
            (b"net user", &[RandomNth(2)]),
            (b"ftp> user", &[Nth(2)]),
        ],
        b"password" => {
            &[(b"rabbitmqctl change_password", &[Nth(2)]), (b"drush user:password", &[Nth(2)])]
        }
        b"nb" | b"b" => &[(b"mosquitto_passwd -b", &[Nth(3)])],
        b"passphrase" => &[(b"wpa_passphrase", &[Nth(2)])],
        b"login" => &[
            (b"vault login", &[RandomNth(1)]),
            (b"cargo login", &[RandomNth(1)]),
            (b"bw login", &[Nth(2)]),
            (b"wandb login", &[RandomNth(1)]),
        ],
        b"auth" => &[(b"snyk auth", &[RandomNth(1)])],
        b"authtoken" => &[(b"ngrok authtoken", &[RandomNth(1)])],
        b"setapikey" => &[(b"nuget setapikey", &[RandomNth(1)])],
        b"install" => &[(b"cloudflared service install", &[RandomNth(1)])],
        b"token" => &[(b"activate-refresh-token", &[RandomNth(2)])],
        b"unlock" => &[(b"bw unlock", &[Nth(1)])],
        b"passwd" => &[(b"openssl passwd", &[Last, RandomNth(1)])],
        b"mkpasswd" => &[(b"mkpasswd", &[RandomNth(1)])],
        b"use" => &[(b"net use", &[RandomNth(2), RandomNth(3)])],
        b"smbclient" => &[(b"smbclient", &[RandomNth(2)])],
        b"PASS" => {
            &[(b"quote PASS", &[Nth(1)]), (b"---> PASS", &[Nth(1)]), (b"C: PASS", &[Nth(1)])]
        }
        b"AUTH" => &[
            (b"> AUTH", &[RandomNth(1), RandomNth(2)]),
            (b"redis-cli AUTH", &[RandomNth(1), RandomNth(2)]),
        ],
        b"put" => &[(b"kv put", &[Pair(2), Pair(3)])],
        b"patch" => &[(b"kv patch", &[Pair(2), Pair(3)])],
        b"write" => &[(b"vault write", &[Pair(2), Pair(3)])],
        b"encrypt" => &[(b"qpdf --encrypt", &[RandomNth(1), RandomNth(2)])],
        b"config" => &[
            (b"composer config", &[Last]),
            (b"bundle config", &[Last]),
            (b"bundler config", &[Last]),
            (b"poetry config", &[Last]),
            (b"pip config", &[Last]),
            (b"pip3 config", &[Last]),
            (b"npm config", &[Last]),
            (b"pnpm config", &[Last]),
            (b"yarn config", &[Last]),
            (b"conda config", &[Last]),
            (b"luarocks config", &[Last]),
            (b"nuget config", &[Last]),
        ],
        _ => &[],
    }
}

/// Returns the secrets among the arguments of a command. Its last word is from `at` to `end`.
pub(super) fn expected_arguments(text: &[u8], at: usize, end: usize) -> [Option<Finding>; 2] {
    let rows = commands(&text[at..end]);
    if rows.is_empty() || !alphabet::is_at(text, end, SPACE) {
        return [None, None];
    }
    let command = |row: &&Row| {
        let begin = end.checked_sub(row.0.len());
        let free = |begin: usize| begin == 0 || !alphabet::has_class(text[begin - 1], NAME);
        begin.is_some_and(|begin| &text[begin..end] == row.0 && free(begin))
    };
    let Some((_, places)) = rows.iter().find(command) else { return [None, None] };
    let mut words = [(0, 0); 8];
    let count = arguments(text, end, &mut words);
    let words = &words[..count];
    let taken = |place: &Position| {
        let (start, end) = match *place {
            Nth(nth) | RandomNth(nth) => *words.get(nth - 1)?,
            Pair(nth) => {
                let (start, end) = *words.get(nth - 1)?;
                (start + text[start..end].iter().position(|&byte| byte == b'=')? + 1, end)
            }
            Last => *words.last().filter(|_| count > 1)?,
        };
        let value = &text[start..end];
        let sure = match place {
            Nth(_) => value.len() >= 4 && !matches!(value[0], b'<' | b'[' | b'(' | b'/'),
            RandomNth(_) | Pair(_) | Last => is_key(value),
        };
        let secret = sure
            && !placeholder::is_placeholder(value)
            && !value.windows(3).any(|part| part == b"://");
        secret.then_some(Finding { start, end, kind: "password" })
    };
    let mut found = places.iter().filter_map(taken);
    [found.next(), found.next()]
}

/// Returns true for a value that is neither a name nor a path nor a number. Hexadecimal values are keys here.
fn is_key(value: &[u8]) -> bool {
    let long = value.len() >= 12 && !value.contains(&b'/') && !other_kind::is_version(value);
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    randomness::is_likely_random(value) && !other_kind::is_other_kind(value)
        || character_mix::is_random(value)
            && !value.starts_with(b"/")
            && !other_kind::is_version(value)
        || handmade::is_surely_handmade(value) && value.iter().any(u8::is_ascii_uppercase)
        || long && mixed && !character_mix::is_wordy(value) && !value.contains(&b'.')
}

/// Collects the arguments after `from` without flags. Returns their number.
fn arguments(text: &[u8], from: usize, words: &mut [(usize, usize); 8]) -> usize {
    let limit = text.len().min(from + MAX_LINE_BYTES);
    let (mut at, mut count) = (from, 0);
    while count < words.len() {
        at = alphabet::run(text, at, SPACE);
        if at < limit && alphabet::starts(text, at, b"\\\n") {
            at += 2;
            continue;
        }
        let Some(&first) = text.get(at).filter(|_| at < limit) else { break };
        if alphabet::has_class(first, alphabet::NEWLINE)
            || matches!(first, b'|' | b';' | b'&' | b'#' | b'>')
        {
            break;
        }
        let quote = alphabet::has_class(first, QUOTE);
        let start = at + usize::from(quote);
        let over = |&byte: &u8| {
            byte == b'\n'
                || if quote {
                    byte == first
                } else {
                    alphabet::has_class(byte, alphabet::BLANK | QUOTE) || byte == b';'
                }
        };
        // An argument that continues beyond the limit is not cut.
        let Some(length) = text[start..limit]
            .iter()
            .position(over)
            .or((limit == text.len()).then_some(limit - start))
        else {
            break;
        };
        at = start + length + usize::from(quote);
        if first != b'-' && length > 0 {
            words[count] = (start, start + length);
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn secrets_by_their_place() {
        for (text, left) in [
            ("rabbitmqctl add_user app swordfish9", "rabbitmqctl add_user app [redacted:password]"),
            (
                "composer config -g github-oauth.github.com 8a7d0c3fe5b94a1290ff",
                "composer config -g github-oauth.github.com [redacted:password]",
            ),
            (
                "vault kv put secret/db value=8a7d0c3fe5b94a1290ffab34",
                "vault kv put secret/db value=[redacted:password]",
            ),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "composer config platform.php 8.1.0",
            "bundle config set path vendor/bundle",
            "npm config set registry https://npm.acme.dev/",
            "poetry config virtualenvs.in-project true",
            "rabbitmqctl add_user app $PASSWORD",
            "vault login -method=oidc",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
