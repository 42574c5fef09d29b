//! Passwords as arguments of well-known programs: `curl -u a:b`, `mysql -pX`, `sshpass -p X`.
//!
//! A short flag means something else in every program, so the program must be named on the same line.

use super::alphabet::{self, BLANK, QUOTE, SPACE};
use super::value_span::ValueForm;
use super::{
    Finding, character_mix, handmade, name, other_kind, placeholder, prefix, randomness, value_span,
};

mod programs;

pub(super) use programs::Programs;

/// The position of the secret in the argument of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagArgument {
    /// The whole argument, after a blank.
    Next,
    /// The whole argument, without a blank.
    Joined,
    /// The whole argument, with or without a blank.
    Either,
    /// The part after the colon in `user:password`.
    AfterColon,
    /// The part after the percent sign in `user%password`.
    AfterPercent,
    /// The part after the comma in `user,password`.
    AfterComma,
}

/// Flags, the programs that have them, and the positions of their secrets.
static FLAGS: &[(&str, Programs, FlagArgument)] = &[
    ("-u", Programs::from_names(&["curl"]), FlagArgument::AfterColon),
    ("--user", Programs::from_names(&["curl"]), FlagArgument::AfterColon),
    ("-U", Programs::from_names(&["curl"]), FlagArgument::AfterColon),
    ("--proxy-user", Programs::from_names(&["curl"]), FlagArgument::AfterColon),
    ("-a", Programs::from_names(&["http", "https"]), FlagArgument::AfterColon),
    ("--auth", Programs::from_names(&["http", "https"]), FlagArgument::AfterColon),
    ("-A", Programs::from_names(&["snmpwalk", "snmpget"]), FlagArgument::Next),
    ("-X", Programs::from_names(&["snmpwalk", "snmpget"]), FlagArgument::Next),
    ("-p", Programs::from_names(&["useradd", "usermod"]), FlagArgument::Next),
    (
        "-p",
        Programs::from_names(&[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mariadb",
            "7z",
            "7za",
            "rar",
            "unrar",
        ]),
        FlagArgument::Joined,
    ),
    (
        "-p",
        Programs::from_names(&[
            "sshpass",
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
        ]),
        FlagArgument::Either,
    ),
    (
        "-p",
        Programs::from_names(&[
            "login",
            "twine",
            "rabbitmqadmin",
            "snowsql",
            "cqlsh",
            "beeline",
            "psexec",
            "cypher-shell",
        ]),
        FlagArgument::Next,
    ),
    ("-P", Programs::from_names(&["unzip", "zip"]), FlagArgument::Either),
    (
        "-P",
        Programs::from_names(&[
            "sqlcmd",
            "bcp",
            "tsql",
            "mosquitto_pub",
            "mosquitto_sub",
            "ipmitool",
        ]),
        FlagArgument::Next,
    ),
    ("-a", Programs::from_names(&["redis-cli"]), FlagArgument::Next),
    ("-U", Programs::from_names(&["smbclient", "rpcclient", "winexe"]), FlagArgument::AfterPercent),
    (
        "-w",
        Programs::from_names(&[
            "ldapsearch",
            "ldapmodify",
            "ldapadd",
            "ldapwhoami",
            "ldapdelete",
            "ldappasswd",
            "kadmin",
        ]),
        FlagArgument::Next,
    ),
    ("-s", Programs::from_names(&["ldappasswd"]), FlagArgument::Next),
    ("-u", Programs::from_names(&["lftp"]), FlagArgument::AfterComma),
    ("-N", Programs::from_names(&["ssh-keygen"]), FlagArgument::Next),
    ("-k", Programs::from_names(&["enc"]), FlagArgument::Next),
    ("-P", Programs::from_names(&["ssh-keygen"]), FlagArgument::Next),
    ("--user", Programs::from_names(&["etcdctl"]), FlagArgument::AfterColon),
    ("-t", Programs::from_names(&["codecov"]), FlagArgument::Next),
    ("--body", Programs::from_names(&["secret"]), FlagArgument::Next),
    ("-b", Programs::from_names(&["secret"]), FlagArgument::Next),
];

/// Returns the secret in the argument of the flag at `at`, on a command line that has named `programs`.
pub(super) fn find_flag_secret(
    text: &[u8],
    at: usize,
    done: usize,
    programs: Programs,
) -> Option<Finding> {
    if at > 0 && !alphabet::has_class(text[at - 1], BLANK | QUOTE) {
        return None;
    }
    if programs == Programs::default() {
        return random_flag_value(text, at, done);
    }
    let mut rows = FLAGS.iter().filter(|(_, of, _)| of.meets(programs));
    let row = rows.find(|(flag, ..)| alphabet::starts(text, at, flag.as_bytes()));
    let Some((flag, _, takes)) = row else { return random_flag_value(text, at, done) };
    let mut from = next_item(text, at + flag.len());
    let joined = !alphabet::is_at(text, from, SPACE) && text.get(from) != Some(&b'=');
    let fits = match takes {
        FlagArgument::Next => !joined,
        FlagArgument::Joined => {
            joined
                && text.get(from).is_some_and(|&byte| {
                    byte.is_ascii_graphic() && !matches!(byte, b'-' | b';' | b'&' | b'|' | b'<')
                })
        }
        _ => !(joined && flag.starts_with("--")),
    };
    if !fits {
        return None;
    }
    if !joined {
        from = alphabet::run(text, from + 1, SPACE);
    }
    find_argument_secret(text, from, *takes, done)
}

/// Returns the position of the blank before the next item of a list of arguments: `['curl', '-u', 'bob:X']`.
fn next_item(text: &[u8], end: usize) -> usize {
    let listed = alphabet::is_at(text, end, QUOTE)
        && alphabet::starts(text, end + 1, b", ")
        && text.get(end + 3) == text.get(end);
    if listed { end + 2 } else { end }
}

/// Returns the random value after a short flag of any program: `-p X`, `-pw X`, `/rp X`, `/p:X`. The `-` or `/` is at
/// `at`.
///
/// The program does not matter: no list of programs is complete, and a random value after these letters is almost
/// always a secret.
pub(super) fn random_flag_value(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let slash = text[at] == b'/';
    let end = alphabet::run(text, at + 1, alphabet::LETTER);
    let flag = &text[at + 1..end];
    let known = match flag {
        [one] => matches!(
            one,
            b'a' | b'A'
                | b'k'
                | b'K'
                | b'p'
                | b'P'
                | b'S'
                | b't'
                | b'T'
                | b'w'
                | b'W'
                | b'x'
                | b'X'
        ),
        _ if flag.len() > 16 => false,
        _ if slash => flag.len() < 3 && flag.contains(&b'p') || name::classify(flag).is_some(),
        _ => name::classify(flag).is_some() || flag.ends_with(b"cookie"),
    };
    let from = alphabet::run(text, end, SPACE);
    let from = if slash && text.get(end) == Some(&b':') { end + 1 } else { from };
    if !known || from == end || text.get(end) == Some(&b'=') {
        return None;
    }
    let span = value_span::value_after(text, from, false, false)?;
    let value = text.get(span.start..span.end)?;
    // The middle part of `user:x@host`, the last part of `user:x`.
    let from = value.iter().position(|&byte| byte == b':').map_or(0, |at| at + 1);
    let host = value.iter().rposition(|&byte| byte == b'@').filter(|&at| from > 0 && at > from);
    let value = &value[from..host.unwrap_or(value.len())];
    let start = span.start + from;
    // `/p:X` and `-A user:X` name a password.
    let login = from > 0 && matches!(flag, b"A" | b"a" | b"p");
    let names_password = slash && flag == b"p" || login && !slash;
    let secret = start >= done
        && (randomness::is_likely_random(value)
            || names_password && !value.contains(&b'=') && handmade::is_surely_handmade(value))
        && !other_kind::is_other_kind(value)
        && !placeholder::is_placeholder(value);
    let end = || if host.is_some() { start + value.len() } else { span.whole(text) };
    secret.then(|| Finding { start, end: end(), kind: "password" })
}

/// Returns the secret within the argument that begins at `from`.
fn find_argument_secret(
    text: &[u8],
    from: usize,
    takes: FlagArgument,
    done: usize,
) -> Option<Finding> {
    let span = value_span::value_after(text, from, false, false)?;
    let (mut start, mut end) = (span.start, span.whole(text));
    let separator = match takes {
        FlagArgument::AfterColon => Some(b':'),
        FlagArgument::AfterPercent => Some(b'%'),
        FlagArgument::AfterComma => Some(b','),
        _ => None,
    };
    if let Some(separator) = separator {
        // The whole word, including commas.
        if span.form != ValueForm::Quoted {
            let over = |byte: &u8| {
                alphabet::has_class(*byte, BLANK | QUOTE)
                    || matches!(byte, b'|' | b';' | b')' | b'\\' | b'<' | b'>')
            };
            end = text[start..].iter().position(over).map_or(text.len(), |at| start + at).max(end);
        }
        let user = text.get(start..end)?;
        // A token may be the user, with nothing after the colon.
        if let Some(token) = prefix::token(text, start) {
            return Some(token);
        }
        let part = user.iter().position(|&byte| byte == separator)?;
        // A key without a known prefix may also be the user.
        if part + 1 == user.len() && part >= 16 && character_mix::is_random(&user[..part]) {
            return Some(Finding { start, end: start + part, kind: "key" });
        }
        start += part + 1;
    }
    let value = text.get(start..end)?;
    let flag = separator.is_none() && value.first() == Some(&b'-');
    let plain = !flag && !value.is_empty() && !placeholder::is_placeholder(value);
    (start >= done && plain && value.len() >= 3).then_some(Finding { start, end, kind: "password" })
}

/// Returns the password in `-passout pass:x` of openssl. The colon is at `at`.
pub(super) fn openssl_password(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let before = &text[at.saturating_sub(14).max(done)..at];
    let flags: [&[u8]; 3] = [b"-pass pass", b"-passin pass", b"-passout pass"];
    if !before.ends_with(b"pass") || !flags.iter().any(|flag| before.ends_with(flag)) {
        return None;
    }
    find_argument_secret(text, at + 1, FlagArgument::Joined, done)
}

/// Returns the password in `htpasswd -nb user password`. The program's name ends at `end`.
pub(super) fn find_htpasswd_password(text: &[u8], end: usize) -> Option<Finding> {
    let (mut at, mut last, mut plain, mut batch) = (end, end, 0, false);
    // Flags, a file, a user and a password.
    for _ in 0..6 {
        at = alphabet::run(text, at, SPACE);
        let word = text.get(at..text.len().min(at + 64))?;
        let length =
            word.iter().position(|&byte| alphabet::has_class(byte, BLANK)).unwrap_or(word.len());
        match word.first() {
            None | Some(b'\n' | b'\r' | b'&' | b'|' | b';' | b'>' | b'<') => break,
            Some(b'-') => batch |= word[..length].contains(&b'b'),
            Some(_) if !batch => return None,
            Some(_) => {
                plain += 1;
                last = at;
            }
        }
        at += length;
    }
    let span = value_span::value_after(text, last, false, false)?;
    let value = text.get(span.start..span.end)?;
    let secret = plain >= 2 && value.len() >= 4 && !placeholder::is_placeholder(value);
    secret.then(|| Finding { start: span.start, end: span.whole(text), kind: "password" })
}

/// Returns the output of a generator on the next line: `openssl rand -base64 32`. The generator's name ends at `end`.
pub(super) fn find_generated_secret(text: &[u8], at: usize, end: usize) -> Option<Finding> {
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
        .position(|&byte| alphabet::has_class(byte, BLANK))
        .map_or(text.len(), |at| line + at);
    let alone = text.get(stop).is_none_or(|&byte| byte == b'\n' || byte == b'\r');
    let value = &text[line..stop];
    (alone && character_mix::is_random(value)).then_some(Finding {
        start: line,
        end: stop,
        kind: "secret",
    })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn arguments_of_programs() {
        for (text, left) in [
            ("curl -u admin:hunter2 http://x", "curl -u admin:[redacted:password] http://x"),
            ("curl -s \\\n  --user 'a:b c-9'", "curl -s \\\n  --user 'a:[redacted:password]'"),
            ("mysql -u root -phunter2 shop", "mysql -u root -p[redacted:password] shop"),
            ("docker login -u ci -p hunter2 x", "docker login -u ci -p [redacted:password] x"),
            ("smbclient //n/s -U 'bob%hunter2'", "smbclient //n/s -U 'bob%[redacted:password]'"),
            ("htpasswd -nb admin hunter2", "htpasswd -nb admin [redacted:password]"),
            ("anything -P QCeMPQ4Gqb1MCs x", "anything -P [redacted:password] x"),
            ("task /ru A\\b /rp LqoagvW2V341Al", "task /ru A\\b /rp [redacted:password]"),
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
            "git log -p 8a7d0c3fe5b94a1290ff",
            "x -t node:20-alpine3.19 -w /srv/app",
            "msbuild /p:Configuration=Release /p:Platform=x64",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
