//! The bearer token by which a client authenticates.
//!
//! The token is in a file, so that a registration survives a restart of the server, and so that the file's permissions
//! decide who gets access. The comparison takes constant time, so that its duration does not reveal a partly right
//! guess.

use std::fmt;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use rutter_memory::quote::PathLine as _;

/// The number of random bytes in a generated token.
const RANDOM_TOKEN_BYTES: usize = 32;
/// The minimum length of a token, in characters. Users can supply their own.
const MIN_TOKEN_CHARS: usize = 32;
/// The maximum length of a token, in characters.
const MAX_TOKEN_CHARS: usize = 512;

/// A token. Its `Debug` output is redacted.
pub(super) struct AccessToken(String);

/// The reason why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// Other users can read the file.
    #[error(
        "other users can read the token in {path} (mode {mode:04o}); run: chmod 600 \
         '{path}'\nIf another user may have read it, delete the file instead: the next start \
         makes a new token.",
        path = path.to_line()
    )]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
        /// The mode of the file.
        mode: u32,
    },
    /// The file does not contain a valid token.
    #[error(
        "{path} has no valid token: it must be one line of {MIN_TOKEN_CHARS} to \
         {MAX_TOKEN_CHARS} letters, digits or -._~+/=; delete the file, and the next start \
         makes one",
        path = .0.to_line()
    )]
    InvalidToken(PathBuf),
    /// The path is not a regular file.
    #[error("{path} is not a regular file; choose another with --token-file", path = .0.to_line())]
    NotRegularFile(PathBuf),
    /// An I/O operation failed.
    #[error("cannot {what} {path}: {source}", path = path.to_line())]
    Io {
        /// The operation: "read" or "create".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl AccessToken {
    /// Reads the token from a file, or creates both if the file does not exist.
    pub(super) fn load_or_create(path: &Path) -> Result<Self, TokenFileError> {
        match Self::load(path) {
            Err(TokenFileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                match Self::create(path) {
                    // Another server created it first.
                    Err(TokenFileError::Io { source, .. })
                        if source.kind() == io::ErrorKind::AlreadyExists =>
                    {
                        Self::load(path)
                    }
                    made => made,
                }
            }
            read => read,
        }
    }

    /// Reads the token from a file.
    pub(super) fn load(path: &Path) -> Result<Self, TokenFileError> {
        let failed = |source| TokenFileError::Io { what: "read", path: path.to_owned(), source };
        // Checks the type before opening: opening a pipe would block until a writer appears.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(TokenFileError::NotRegularFile(path.to_owned()));
        }
        let file = File::open(path).map_err(failed)?;
        // The mode of the opened file, not of a file that has replaced it since.
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(TokenFileError::ReadableByOthers { path: path.to_owned(), mode });
        }
        let mut bytes = Vec::new();
        file.take(MAX_TOKEN_CHARS as u64 + 2).read_to_end(&mut bytes).map_err(failed)?;
        let text = bytes.trim_ascii_end();
        let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        match str::from_utf8(text) {
            Ok(text)
                if (MIN_TOKEN_CHARS..=MAX_TOKEN_CHARS).contains(&text.len())
                    && text.bytes().all(|b| fits(&b)) =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err(TokenFileError::InvalidToken(path.to_owned())),
        }
    }

    /// Creates a token and its file: atomically, readable by the owner only, and without replacing an existing one.
    fn create(path: &Path) -> Result<Self, TokenFileError> {
        let failed = |source| TokenFileError::Io { what: "create", path: path.to_owned(), source };
        let mut random = [0; RANDOM_TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
        let token = Self(random.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // `rutter maintain` removes files with this suffix that a killed process left.
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

    /// Returns the value of the `Authorization` header.
    pub(super) fn header_value(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns true if a request has the token. A request with two `Authorization` headers is ambiguous and rejected.
    pub(super) fn matches_headers(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return false };
        let Some((scheme, word)) = value.as_bytes().split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ")
            && is_equal_constant_time(word.trim_ascii(), self.0.as_bytes())
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Compares two texts in time that depends on their length only. The length of a token is not secret.
fn is_equal_constant_time(one: &[u8], other: &[u8]) -> bool {
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
    fn accepts_one_header_with_token() {
        let token = AccessToken("abcdef".to_owned());
        for right in ["Bearer abcdef", "bearer abcdef", "BEARER  abcdef "] {
            assert!(token.matches_headers(&headers(&[right])), "{right}");
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
            assert!(!token.matches_headers(&headers(values)), "{values:?}");
        }
    }

    #[test]
    fn concurrent_creation_yields_one_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made: Vec<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| AccessToken::load_or_create(&path).unwrap().0))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(made[0].len(), 2 * RANDOM_TOKEN_BYTES);
        assert!(made.iter().all(|token| *token == made[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    }

    #[test]
    fn debug_output_is_redacted() {
        assert_eq!(format!("{:?}", AccessToken("abcdef".to_owned())), "Token(…)");
    }
}
