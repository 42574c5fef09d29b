//! The one pass: from word to word and sign to sign, each asking the rules that begin with it.

use super::alphabet::{self, ALNUM, BLANK, END, QUOTE};
use super::command::{self, Programs};
use super::sentence::Suspect;
use super::table::Table;
use super::{
    Finding, assign, before, call, encoded, foreign, header, heat, joined, login, markup, name,
    pem, phrase, place, placeholder, prefix, sentence, shape, spaced, url,
};

/// Every secret, in order and apart from each other.
pub(super) fn findings(text: &[u8]) -> impl Iterator<Item = Finding> + '_ {
    Scan {
        text,
        at: 0,
        done: 0,
        programs: Programs::default(),
        chain: 0,
        aws: None,
        warm: 0,
        suspect: Suspect::NOTHING,
        searched: 0,
        looked: 0,
        line: 0,
        hot: 0,
        table: Table::default(),
        awaited: [None, None],
    }
}

/// How far the pass has come.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// What lies before is taken.
    done: usize,
    /// What the current command line has named.
    programs: Programs,
    /// Separators since the last byte that can end a value.
    chain: usize,
    /// Where the last key id of AWS ended; its secret has no name of its own in a table.
    aws: Option<usize>,
    /// Up to here a word before speaks of secrets.
    warm: usize,
    /// The sentence that speaks of a password, a login or a key.
    suspect: Suspect,
    /// End of the text that was searched for values before the word that names them.
    searched: usize,
    /// Up to here values were looked for that stand before their names.
    looked: usize,
    /// Where the line begins.
    line: usize,
    /// Up to here stands a block of secrets.
    hot: usize,
    /// The table that the line belongs to.
    table: Table,
    /// What the current command's arguments hold, by their place.
    awaited: [Option<Finding>; 2],
}

/// How far a value that was taken keeps the text after it warm: tables have rows.
const STAYS: usize = 160;

/// How many separators in a row may each have a name and a value: `a=b:c=d` without end is no assignment, and
/// to look at the rest of it from every sign would be slow.
const CHAIN: usize = 16;

impl Iterator for Scan<'_> {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        while let Some(&byte) = self.text.get(self.at) {
            let (found, next) = match self.awaited[0] {
                Some(found) if found.start <= self.at => {
                    let awaited = found.start == self.at;
                    self.awaited = [self.awaited[1], None];
                    (awaited.then_some(found), self.at)
                }
                _ if alphabet::is(byte, ALNUM) => self.word(),
                _ => self.sign(byte),
            };
            let found = found.filter(|found| found.start >= self.done && found.start < found.end);
            if let Some(found) = found {
                if found.start < self.warm {
                    self.warm = self.warm.max(found.end + STAYS);
                }
                self.done = found.end;
                self.at = found.end;
                // A value that stands before its name: its line is read again.
                self.line = self.line.min(found.end);
                self.aws = if found.kind == "aws-key" { Some(found.end) } else { self.aws };
                return Some(found);
            }
            self.at = next;
        }
        None
    }
}

impl Scan<'_> {
    /// What begins with a sign, and where to go on when nothing does.
    fn sign(&mut self, byte: u8) -> (Option<Finding>, usize) {
        let (text, at, done) = (self.text, self.at, self.done);
        if alphabet::is(byte, END) {
            self.chain = 0;
        }
        let found = match byte {
            b'=' | b':' if self.chain >= CHAIN => None,
            b'=' | b':' => self.separator(byte),
            b',' => {
                let quoted = at > 0 && alphabet::is(text[at - 1], QUOTE);
                let pair = if quoted { spaced::pair(text, at, done) } else { None };
                pair.or_else(|| self.table.cell(text, at, done))
                    .or_else(|| call::key(text, at, done))
            }
            b'>' => markup::element(text, at, done),
            b'<' => heat::here_string(text, at),
            b'-' => pem::block(text, at)
                .or_else(|| pem::tail(text, at, done))
                .or_else(|| command::flag(text, at, done, self.programs)),
            b'/' if at > 0 && alphabet::is(text[at - 1], BLANK) => command::any(text, at, done),
            b'$' => shape::crypt(text, at),
            b'~' => shape::azure(text, at, done),
            0xd0 | 0xe3 | 0xe5 | 0xeb => foreign::other_script(text, at, done),
            b'[' => return (None, placeholder::mark_end(text, at).unwrap_or(at + 1)),
            b'@' => login::at_sign(text, at, done),
            b'(' => login::pair(text, at, done).or_else(|| call::key(text, at, done)),
            b'%' => {
                return (encoded::secret(text, at, done), at + alphabet::escape(text, at).max(1));
            }
            b'\\' | 0x1b => return (None, at + alphabet::escape(text, at).max(1)),
            b'|' => {
                self.programs = Programs::default();
                self.table.cell(text, at, done).or_else(|| heat::piped(text, at, done))
            }
            b';' => {
                self.programs = Programs::default();
                None
            }
            // A backslash at the end carries a command on to the next line.
            b'\n' => {
                if at == 0 || text[at - 1] != b'\\' {
                    self.programs = Programs::default();
                }
                let line = std::mem::replace(&mut self.line, at + 1);
                self.table.line(text, line.max(done), at);
                let warm = at < self.warm;
                let printed = if warm { heat::printed(text, line.max(done), at) } else { None };
                printed.or_else(|| self.table.cell(text, at, done))
            }
            _ => None,
        };
        (found, at + 1)
    }

    /// What an assignment, a URL or a header holds.
    fn separator(&mut self, byte: u8) -> Option<Finding> {
        let (text, at, done) = (self.text, self.at, self.done);
        self.chain += 1;
        if byte == b'=' {
            return assign::secret(text, at, done);
        }
        if text.get(at + 1) == Some(&b'/') && alphabet::starts(text, at, b"://") {
            return url::secret(text, at);
        }
        shape::colon(text, at)
            .or_else(|| command::source(text, at, done))
            .or_else(|| assign::secret(text, at, done))
    }

    /// What begins with a word, and where to go on when nothing does.
    fn word(&mut self) -> (Option<Finding>, usize) {
        let (text, at) = (self.text, self.at);
        let end = alphabet::run(text, at, ALNUM);
        if Programs::may_be(text[at], end - at) {
            self.programs.note(text, at, end);
        }
        let found = prefix::token(text, at)
            .or_else(|| joined::secret(text, at, end, self.done))
            .or_else(|| shape::token(text, at, end))
            .or_else(|| if end - at >= 76 { shape::azure_key(text, at, end) } else { None })
            .or_else(|| shape::aws_secret(text, at, self.aws?))
            .or_else(|| keyword(text, at, end, self.done))
            .or_else(|| if at < self.hot { heat::listed(text, at, self.done) } else { None })
            .or_else(|| if at < self.warm { heat::value(text, at, end, self.done) } else { None });
        let found = found.or_else(|| {
            if at < self.suspect.end {
                sentence::value(text, at, end, self.done, self.suspect)
            } else {
                None
            }
        });
        let found = match sentence::suspect(text, at, end, self.suspect) {
            None => found,
            Some(suspect) => {
                let from = self.searched.max(self.done);
                self.searched = at.max(self.searched);
                self.suspect = self.suspect.extend(at, suspect);
                found.or_else(|| sentence::value_before(text, at, from, suspect))
            }
        };
        // Where it is warm for long enough already there is nothing to ask.
        let reach = if end + STAYS < self.warm { 0 } else { heat::reach(text, at, end) };
        let found = if reach > 0 { found.or_else(|| self.before(at, reach)) } else { found };
        if reach > 0 {
            self.warm = self.warm.max(end + reach);
        }
        if at >= self.hot {
            self.hot = heat::block(text, at, end).unwrap_or(self.hot);
        }
        let awaited = place::awaited(text, at, end);
        if awaited[0].is_some() {
            self.awaited = awaited;
        }
        (found, end)
    }
}

impl Scan<'_> {
    /// The value that the word at `at` names and that stands before it. Nothing is looked at twice.
    fn before(&mut self, at: usize, reach: usize) -> Option<Finding> {
        let text = self.text;
        if reach < heat::FAR {
            return None;
        }
        let from = self.looked.max(self.done);
        self.looked = at.max(self.looked);
        before::value(text, at, from)
    }
}

/// What a word announces: a scheme, a statement, a program, or a value after its name.
fn keyword(text: &[u8], at: usize, end: usize, done: usize) -> Option<Finding> {
    let word = &text[at..end];
    match (word[0] | 32, word.len()) {
        (b'b', 5 | 6) => header::bare_scheme(text, at, end),
        (b'b', 2) | (b's', 12) => spaced::statement(text, at, end),
        (b'h', 8) if word == b"htpasswd" => command::htpasswd(text, end),
        (b'o', 3) if matches!(word, b"OTP" | b"otp") => phrase::one_time(text, end),
        (b'r', 4) if word == b"rand" => command::generated(text, at, end),
        (b'p', 5) | (b'h', 3) | (b'u', 7) | (b'g', 6) => command::generated(text, at, end),
        (b's', 4 | 8) if matches!(word, b"send" | b"sendline") => call::sent(text, at, end, done),
        (b'p', 7) if word == b"Private" => pem::putty(text, at),
        (b'r', 4) if word.eq_ignore_ascii_case(b"root") => login::beside_user(text, end, done),
        (b'a', 5) if word.eq_ignore_ascii_case(b"admin") => login::beside_user(text, end, done),
        (b'h', 5) | (b'd', 7) if matches!(word, b"hooks" | b"discord") => url::webhook(text, at),
        (b'c', 4 | 5) => phrase::codes(text, at, end),
        (b'p', 6 | 8 | 10) | (b'm', 8) | (b'w', 5) | (b's', 10) => {
            phrase::after_name(text, at, end)
        }
        _ => None,
    }
    .or_else(|| {
        let named = name::may_end(word) || matches!(word, b"pw" | b"PW");
        if named { spaced::after_word(text, end, done) } else { None }
    })
    .or_else(|| foreign::secret(text, at, end, done))
}
