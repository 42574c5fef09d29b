//! Passwords as arguments of well-known programs: `curl -u a:b`, `mysql -pX`, `sshpass -p X`.
//!
//! A short flag means something else in every program, so the program must be named on the same line.

use super::alphabet::{self, ALNUM, BLANK, QUOTE, SPACE};
use super::{Finding, extent, placeholder, prefix, random};

mod programs;

pub(super) use programs::Programs;

/// How a flag's argument holds its secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// All of the argument, after a blank.
    Next,
    /// All of it, without a blank.
    Joined,
    /// All of it, either way.
    Either,
    /// What follows a colon in `user:password`.
    AfterColon,
    /// What follows a percent sign in `user%password`.
    AfterPercent,
}

/// Flag, the programs that have it, and what it takes.
static FLAGS: &[(&str, Programs, Takes)] = &[
    ("-u", Programs::of(&["curl"]), Takes::AfterColon),
    ("--user", Programs::of(&["curl"]), Takes::AfterColon),
    ("-U", Programs::of(&["curl"]), Takes::AfterColon),
    ("--proxy-user", Programs::of(&["curl"]), Takes::AfterColon),
    ("-a", Programs::of(&["http", "https"]), Takes::AfterColon),
    (
        "-p",
        Programs::of(&["mysql", "mysqldump", "mysqladmin", "mariadb", "7z", "7za"]),
        Takes::Joined,
    ),
    ("-p", Programs::of(&["sshpass", "mongo", "mongosh", "mongodump"]), Takes::Either),
    ("-p", Programs::of(&["login", "twine", "rabbitmqadmin", "snowsql"]), Takes::Next),
    ("-P", Programs::of(&["sqlcmd", "bcp", "unzip", "zip"]), Takes::Next),
    ("-a", Programs::of(&["redis-cli"]), Takes::Next),
    ("-U", Programs::of(&["smbclient"]), Takes::AfterPercent),
    ("-w", Programs::of(&["ldapsearch", "ldapmodify"]), Takes::Next),
    ("-t", Programs::of(&["codecov"]), Takes::Next),
    ("--body", Programs::of(&["secret"]), Takes::Next),
    ("-b", Programs::of(&["secret"]), Takes::Next),
];

/// The secret in the argument of the flag at `at`, on a command line that has named `programs`.
pub(super) fn flag(text: &[u8], at: usize, done: usize, programs: Programs) -> Option<Finding> {
    if programs == Programs::default() || at > 0 && !alphabet::is(text[at - 1], BLANK | QUOTE) {
        return None;
    }
    let mut rows = FLAGS.iter().filter(|(_, of, _)| of.meets(programs));
    let (flag, _, takes) = rows.find(|(flag, ..)| alphabet::starts(text, at, flag.as_bytes()))?;
    let mut from = at + flag.len();
    let joined = !alphabet::is_at(text, from, SPACE) && text.get(from) != Some(&b'=');
    let fits = match takes {
        Takes::Next => !joined,
        Takes::Joined => joined && alphabet::is_at(text, from, ALNUM | QUOTE),
        _ => !(joined && flag.starts_with("--")),
    };
    if !fits {
        return None;
    }
    if !joined {
        from = alphabet::run(text, from + 1, SPACE);
    }
    argument(text, from, *takes, done)
}

/// The secret within the argument that begins at `from`.
fn argument(text: &[u8], from: usize, takes: Takes, done: usize) -> Option<Finding> {
    let right = extent::right(text, from, false, false)?;
    let (mut start, end) = (right.start, right.whole(text));
    let parting = match takes {
        Takes::AfterColon => Some(b':'),
        Takes::AfterPercent => Some(b'%'),
        _ => None,
    };
    if let Some(parting) = parting {
        let user = text.get(start..end)?;
        // A token may stand in the user's place, with nothing after the colon.
        if let Some(token) = prefix::token(text, start) {
            return Some(token);
        }
        start += user.iter().position(|&byte| byte == parting)? + 1;
    }
    let value = text.get(start..end)?;
    let plain = value.first().is_some_and(|&first| first != b'-') && !placeholder::is(value);
    (start >= done && plain && value.len() >= 3).then_some(Finding { start, end, kind: "password" })
}

/// `htpasswd -nb user password`; the word that ends at `end` is the program.
pub(super) fn htpasswd(text: &[u8], end: usize) -> Option<Finding> {
    let (mut at, mut last, mut plain, mut batch) = (end, end, 0, false);
    // Flags, a file, a user and a password; nobody writes more.
    for _ in 0..6 {
        at = alphabet::run(text, at, SPACE);
        let word = text.get(at..text.len().min(at + 64))?;
        let length = word.iter().position(|&byte| alphabet::is(byte, BLANK)).unwrap_or(word.len());
        match word.first() {
            None | Some(b'\n' | b'\r') => break,
            Some(b'-') => batch |= word[..length].contains(&b'b'),
            Some(_) if !batch => return None,
            Some(_) => {
                plain += 1;
                last = at;
            }
        }
        at += length;
    }
    let right = extent::right(text, last, false, false)?;
    let value = text.get(right.start..right.end)?;
    let secret = plain >= 2 && value.len() >= 4 && !placeholder::is(value);
    secret.then(|| Finding { start: right.start, end: right.whole(text), kind: "password" })
}

/// What a generator printed on the line below: `openssl rand -base64 32`. Its last word ends at `end`.
pub(super) fn generated(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let word = &text[at..end];
    let before = &text[at.saturating_sub(8)..at];
    let known = match word {
        b"rand" => before.ends_with(b"openssl "),
        b"pwgen" | b"token_hex" | b"token_urlsafe" => true,
        b"hex" | b"urlsafe" => before.ends_with(b"token_"),
        b"genkey" => before.ends_with(b"wg "),
        _ => false,
    };
    if !known {
        return None;
    }
    let line =
        text[end..text.len().min(end + 120)].iter().position(|&byte| byte == b'\n')? + end + 1;
    let stop = text[line..]
        .iter()
        .take(256)
        .position(|&byte| alphabet::is(byte, BLANK))
        .map_or(text.len(), |at| line + at);
    let alone = text.get(stop).is_none_or(|&byte| byte == b'\n' || byte == b'\r');
    let value = &text[line..stop];
    (alone && random::is_random(value)).then_some(Finding {
        start: line,
        end: stop,
        kind: "secret",
    })
}

#[cfg(test)]
mod tests {
    use crate::redact::redact;

    #[test]
    fn arguments_of_programs() {
        for (text, left) in [
            ("curl -u admin:hunter2 http://x", "curl -u admin:[redacted:password] http://x"),
            ("curl -s \\\n  --user 'a:b c-9'", "curl -s \\\n  --user 'a:[redacted:password]'"),
            ("mysql -u root -phunter2 shop", "mysql -u root -p[redacted:password] shop"),
            ("docker login -u ci -p hunter2 x", "docker login -u ci -p [redacted:password] x"),
            ("smbclient //n/s -U 'bob%hunter2'", "smbclient //n/s -U 'bob%[redacted:password]'"),
            ("htpasswd -nb admin hunter2", "htpasswd -nb admin [redacted:password]"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "docker run -p 8080:80 nginx",
            "mkdir -p src/x",
            "curl -u \"$USER:$PASS\" x",
            "psql -p5433 -U app",
            "cargo test -p rutter-memory",
            "mysql -u root -p shop",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
