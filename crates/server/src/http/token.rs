//! The word by which a client is let in.
//!
//! It is a file, so that a registration outlives the server, and so that who may read the file decides who gets in. It is
//! compared without telling by the time how much of a guess was right.

use std::fmt;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

/// How many random bytes there are in a token of ours.
const BYTES: usize = 32;
/// What a token may have at least and at most, in characters: somebody may bring their own.
const LEAST: usize = 32;
const MOST: usize = 512;

/// A token. It is shown nowhere.
pub(super) struct Token(String);

/// Why there is no token to be had.
#[derive(Debug, thiserror::Error)]
pub enum NoToken {
    /// It can be read by others.
    #[error(
        "others may read {path} (mode {mode:04o}), so it keeps nobody out; type: chmod 600 '{path}'\n\
         If somebody may have seen it, remove it instead: the next start makes another.",
        path = path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// What is in it is no token.
    #[error(
        "{path} holds no token: one line of {LEAST} to {MOST} letters, digits or -._~+/=; remove it, and the next start makes one",
        path = .0.display()
    )]
    Unusable(PathBuf),
    /// It is no plain file.
    #[error("{path} is no plain file; name another with --token-file", path = .0.display())]
    NoFile(PathBuf),
    /// The system refuses.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Token {
    /// The token in a file. Where there is none, one is made.
    pub(super) fn of(path: &Path) -> Result<Self, NoToken> {
        match Self::read(path) {
            Err(NoToken::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                match Self::make(path) {
                    // Another server was quicker.
                    Err(NoToken::Io { source, .. })
                        if source.kind() == io::ErrorKind::AlreadyExists =>
                    {
                        Self::read(path)
                    }
                    made => made,
                }
            }
            read => read,
        }
    }

    /// Reads the token in a file.
    pub(super) fn read(path: &Path) -> Result<Self, NoToken> {
        let failed = |source| NoToken::Io { what: "read", path: path.to_owned(), source };
        // Asked before it is opened: opening a pipe would wait for somebody to write.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(NoToken::NoFile(path.to_owned()));
        }
        let file = File::open(path).map_err(failed)?;
        // Of what was opened, not of what may have taken its place.
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(NoToken::Open { path: path.to_owned(), mode });
        }
        let mut bytes = Vec::new();
        file.take(MOST as u64 + 2).read_to_end(&mut bytes).map_err(failed)?;
        let text = bytes.trim_ascii_end();
        let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        match str::from_utf8(text) {
            Ok(text) if (LEAST..=MOST).contains(&text.len()) && text.bytes().all(|b| fits(&b)) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(NoToken::Unusable(path.to_owned())),
        }
    }

    /// Makes a token and its file: whole, for its owner alone, and never in the place of another.
    fn make(path: &Path) -> Result<Self, NoToken> {
        let failed = |source| NoToken::Io { what: "create", path: path.to_owned(), source };
        let mut random = [0; BYTES];
        getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
        let token = Self(random.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // The end of the name is that of everything that is written beside its place: `tend` removes what a killed process left.
        let mut file = tempfile::Builder::new()
            .prefix("http-token.")
            .suffix(".new")
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| failed(io::Error::from(error.kind())))?;
        writeln!(file, "{}", token.0).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist_noclobber(path).map_err(|error| failed(error.error))?;
        Ok(token)
    }

    /// Returns the value of the header that brings it.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether a request brings it. One that brings two is undecided, and stays out.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return false };
        let Some((scheme, word)) = value.as_bytes().split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && same(word.trim_ascii(), self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Whether two texts are the same. Every byte is looked at, whatever the first ones say; how long a token is, is no secret.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differ =
        one.iter().zip(other).fold(0, |differ, (one, other)| black_box(differ | (one ^ other)));
    one.len() == other.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, value.parse().unwrap())).collect()
    }

    #[test]
    fn one_header_with_the_whole_token_lets_in() {
        let token = Token("abcdef".to_owned());
        for right in ["Bearer abcdef", "bearer abcdef", "BEARER  abcdef "] {
            assert!(token.is_in(&headers(&[right])), "{right}");
        }
        let wrong: [&[&str]; 11] = [
            &[],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["abcdef"],
            &["Basic abcdef"],
            &["Bearer abcde"],
            &["Bearer abcdeg"],
            &["Bearer abcdefg"],
            &["Bearer abcdef", "Bearer abcdef"],
            &["Bearerabcdef"],
        ];
        for values in wrong {
            assert!(!token.is_in(&headers(values)), "{values:?}");
        }
    }

    #[test]
    fn of_two_that_make_it_at_once_both_have_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made: Vec<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| Token::of(&path).unwrap().0)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(made[0].len(), 2 * BYTES);
        assert!(made.iter().all(|token| *token == made[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    }

    #[test]
    fn what_is_shown_of_it_says_nothing() {
        assert_eq!(format!("{:?}", Token("abcdef".to_owned())), "Token(…)");
    }
}
