//! The single pass over a text: at each word and each sign it calls the rules that start there.

use super::alphabet::{self, ALNUM, BLANK, END, QUOTE};
use super::command::{self, Programs};
use super::sentence::Suspect;
use super::table::Table;
use super::{
    Finding, adjacent, assignment, call_argument, file_name, foreign_name, header, login, markup,
    name, pem, percent_encoded, phrase, placeholder, positional, preceding_value, prefix,
    proximity, sentence, token_shape, url,
};

/// Returns the secrets of a text in order, without overlaps.
pub(super) fn findings(text: &[u8]) -> impl Iterator<Item = Finding> + '_ {
    Scan {
        text,
        at: 0,
        taken_end: 0,
        programs: Programs::default(),
        chained_separators: 0,
        aws_key_end: None,
        near_secret_end: 0,
        suspect: Suspect::NOTHING,
        sentence_searched: 0,
        preceding_searched: 0,
        line_start: 0,
        block_end: 0,
        table: Table::default(),
        expected: [None, None],
    }
}

/// The state of the pass.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// End of the last finding.
    taken_end: usize,
    /// Programs that the current command line has named.
    programs: Programs,
    /// Number of separators since the last byte that can end a value.
    chained_separators: usize,
    /// End of the last AWS key id. In a table, the secret after it has no name.
    aws_key_end: Option<usize>,
    /// End of the text that is near a word for a secret.
    near_secret_end: usize,
    /// The sentence about a password, a login or a key.
    suspect: Suspect,
    /// End of the text that [`sentence`] searched for values before their names.
    sentence_searched: usize,
    /// End of the text that [`preceding_value`] searched.
    preceding_searched: usize,
    /// Start of the current line.
    line_start: usize,
    /// End of the current block of secrets.
    block_end: usize,
    /// The table of the current line.
    table: Table,
    /// Secrets among the arguments of the current command, known by their position.
    expected: [Option<Finding>; 2],
}

/// Length of text after a finding that still counts as near a secret: tables have rows.
const ROW_REACH_BYTES: usize = 160;

/// Maximum number of separators in a row that are read as assignments. In an endless `a=b:c=d`, reading the rest from
/// every sign would be slow.
const MAX_CHAINED_SEPARATORS: usize = 16;

impl Iterator for Scan<'_> {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        while let Some(&byte) = self.text.get(self.at) {
            let (found, next) = match self.expected[0] {
                Some(found) if found.start <= self.at => {
                    let expected = found.start == self.at;
                    self.expected = [self.expected[1], None];
                    (expected.then_some(found), self.at)
                }
                _ if alphabet::has_class(byte, ALNUM) => self.word(),
                _ => self.sign(byte),
            };
            let found =
                found.filter(|found| found.start >= self.taken_end && found.start < found.end);
            if let Some(found) = found {
                if found.start < self.near_secret_end {
                    self.near_secret_end = self.near_secret_end.max(found.end + ROW_REACH_BYTES);
                }
                self.taken_end = found.end;
                self.at = found.end;
                // A value before its name: its line is read again.
                self.line_start = self.line_start.min(found.end);
                self.aws_key_end =
                    if found.kind == "aws-key" { Some(found.end) } else { self.aws_key_end };
                return Some(found);
            }
            self.at = next;
        }
        None
    }
}

impl Scan<'_> {
    /// Applies the rules that start with a sign. Returns the secret, and the position to continue at if there is none.
    fn sign(&mut self, byte: u8) -> (Option<Finding>, usize) {
        let (text, at, done) = (self.text, self.at, self.taken_end);
        if alphabet::has_class(byte, END) {
            self.chained_separators = 0;
        }
        let found = match byte {
            b'=' | b':' if self.chained_separators >= MAX_CHAINED_SEPARATORS => None,
            b'=' | b':' => self.separator(byte),
            b',' => {
                let quoted = at > 0 && alphabet::has_class(text[at - 1], QUOTE);
                let pair = if quoted { adjacent::quoted_pair(text, at, done) } else { None };
                pair.or_else(|| self.table.cell(text, at, done))
                    .or_else(|| call_argument::key(text, at, done))
            }
            b'>' => markup::element(text, at, done),
            b'<' => proximity::here_string(text, at),
            b'-' => pem::block(text, at)
                .or_else(|| pem::tail(text, at, done))
                .or_else(|| command::find_flag_secret(text, at, done, self.programs)),
            b'/' if at > 0 && alphabet::has_class(text[at - 1], BLANK) => {
                command::random_flag_value(text, at, done)
            }
            b'$' => token_shape::crypt(text, at),
            b'~' => token_shape::azure(text, at, done),
            0xd0 | 0xe3 | 0xe5 | 0xeb => foreign_name::other_script(text, at, done),
            b'[' => return (None, placeholder::mark_end(text, at).unwrap_or(at + 1)),
            b'@' => login::at_sign(text, at, done),
            b'(' => login::pair(text, at, done).or_else(|| call_argument::key(text, at, done)),
            b'%' => {
                return (
                    percent_encoded::secret(text, at, done),
                    at + alphabet::escape(text, at).max(1),
                );
            }
            b'\\' | 0x1b => return (None, at + alphabet::escape(text, at).max(1)),
            b'|' => {
                self.programs = Programs::default();
                self.table.cell(text, at, done).or_else(|| proximity::piped(text, at, done))
            }
            b';' => {
                self.programs = Programs::default();
                None
            }
            // A backslash at the end continues a command on the next line.
            b'\n' => {
                if at == 0 || text[at - 1] != b'\\' {
                    self.programs = Programs::default();
                }
                let line = std::mem::replace(&mut self.line_start, at + 1);
                self.table.line(text, line.max(done), at);
                let near_secret_end = at < self.near_secret_end;
                let printed = if near_secret_end {
                    proximity::printed(text, line.max(done), at)
                } else {
                    None
                };
                printed.or_else(|| self.table.cell(text, at, done))
            }
            _ => None,
        };
        (found, at + 1)
    }

    /// Returns the secret of an assignment, a URL or a header.
    fn separator(&mut self, byte: u8) -> Option<Finding> {
        let (text, at, done) = (self.text, self.at, self.taken_end);
        self.chained_separators += 1;
        if byte == b'=' {
            return assignment::secret(text, at, done);
        }
        if text.get(at + 1) == Some(&b'/') && alphabet::starts(text, at, b"://") {
            return url::secret(text, at);
        }
        token_shape::colon(text, at)
            .or_else(|| command::openssl_password(text, at, done))
            .or_else(|| assignment::secret(text, at, done))
    }

    /// Applies the rules that start with a word. Returns the secret, and the position to continue at if there is none.
    fn word(&mut self) -> (Option<Finding>, usize) {
        let (text, at) = (self.text, self.at);
        let end = alphabet::run(text, at, ALNUM);
        if Programs::may_be(text[at], end - at) {
            self.programs.note(text, at, end);
        }
        let found = prefix::token(text, at)
            .or_else(|| file_name::secret(text, at, end, self.taken_end))
            .or_else(|| token_shape::token(text, at, end))
            .or_else(|| if end - at >= 76 { token_shape::azure_key(text, at, end) } else { None })
            .or_else(|| token_shape::aws_secret(text, at, self.aws_key_end?))
            .or_else(|| keyword(text, at, end, self.taken_end))
            .or_else(|| {
                if at < self.block_end {
                    proximity::block_value(text, at, self.taken_end)
                } else {
                    None
                }
            })
            .or_else(|| {
                if at < self.near_secret_end {
                    proximity::value(text, at, end, self.taken_end)
                } else {
                    None
                }
            });
        let found = found.or_else(|| {
            if at < self.suspect.end {
                sentence::value(text, at, end, self.taken_end, self.suspect)
            } else {
                None
            }
        });
        let found = match sentence::suspect(text, at, end, self.suspect) {
            None => found,
            Some(suspect) => {
                let from = self.sentence_searched.max(self.taken_end);
                self.sentence_searched = at.max(self.sentence_searched);
                self.suspect = self.suspect.extend(at, suspect);
                found.or_else(|| sentence::value_before(text, at, from, suspect))
            }
        };
        // The text is already marked as near a secret for long enough.
        let reach = if end + ROW_REACH_BYTES < self.near_secret_end {
            0
        } else {
            proximity::reach_bytes(text, at, end)
        };
        let found = if reach > 0 { found.or_else(|| self.preceding(at, reach)) } else { found };
        if reach > 0 {
            self.near_secret_end = self.near_secret_end.max(end + reach);
        }
        if at >= self.block_end {
            self.block_end = proximity::block_end(text, at, end).unwrap_or(self.block_end);
        }
        let expected = positional::expected_arguments(text, at, end);
        if expected[0].is_some() {
            self.expected = expected;
        }
        (found, end)
    }
}

impl Scan<'_> {
    /// Returns the value before the word at `at` that names it. No text is searched twice.
    fn preceding(&mut self, at: usize, reach: usize) -> Option<Finding> {
        let text = self.text;
        if reach < proximity::FAR_REACH_BYTES {
            return None;
        }
        let from = self.preceding_searched.max(self.taken_end);
        self.preceding_searched = at.max(self.preceding_searched);
        preceding_value::find(text, at, from)
    }
}

/// Returns the secret after a word that announces one: a scheme, a statement, a program, or the name of a value.
fn keyword(text: &[u8], at: usize, end: usize, done: usize) -> Option<Finding> {
    let word = &text[at..end];
    match (word[0] | 32, word.len()) {
        (b'b', 5 | 6) => header::bare_scheme(text, at, end),
        (b'b', 2) | (b's', 12) => adjacent::statement(text, at, end),
        (b'h', 8) if word == b"htpasswd" => command::find_htpasswd_password(text, end),
        (b'o', 3) if matches!(word, b"OTP" | b"otp") => phrase::one_time(text, end),
        (b'r', 4) if word == b"rand" => command::find_generated_secret(text, at, end),
        (b'p', 5) | (b'h', 3) | (b'u', 7) | (b'g', 6) => {
            command::find_generated_secret(text, at, end)
        }
        (b's', 4 | 8) if matches!(word, b"send" | b"sendline") => {
            call_argument::expect_answer(text, at, end, done)
        }
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
        if named { adjacent::value_after_name(text, end, done) } else { None }
    })
    .or_else(|| foreign_name::secret(text, at, end, done))
}
