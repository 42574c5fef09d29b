//! Reads a file with a size limit and without blocking.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Maximum size of a configuration file in bytes. Hooks parse it: the worst 64 KiB take about 5 ms, and real files have
/// about two KiB.
pub const MAX_CONFIG_FILE_BYTES: u64 = 64 * 1024;

/// Name of the project file, in the root of the checkout.
pub const PROJECT_FILE: &str = ".rutter.toml";

/// The reason why a file was not read, and advice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConfigFileError {
    pub(super) what: String,
    pub(super) advice: &'static str,
}

/// Reads a file. Returns None if it does not exist.
///
/// A link in a checkout can lead to a pipe or a terminal, which would block a hook, so only regular files are read.
pub(super) fn read_config_file(path: &Path) -> Result<Option<Vec<u8>>, ConfigFileError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let unread = |what: String, advice| Err(ConfigFileError { what, advice });
    let mend = "make it readable, or remove it";
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => {
            return unread(format!("cannot be read: {}", std::io::Error::from(error)), mend);
        }
    };
    let mut bytes = Vec::new();
    match file.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            return unread("is not a file".to_owned(), "replace it with a file, or remove it");
        }
        Ok(metadata) if metadata.len() > MAX_CONFIG_FILE_BYTES => return too_long_error(),
        Ok(metadata) => bytes.reserve_exact(usize::try_from(metadata.len() + 1).unwrap_or(0)),
        Err(error) => return unread(format!("cannot be read: {error}"), mend),
    }
    // The file may have grown since.
    if let Err(error) = file.take(MAX_CONFIG_FILE_BYTES + 1).read_to_end(&mut bytes) {
        return unread(format!("cannot be read: {error}"), mend);
    }
    if bytes.len() as u64 > MAX_CONFIG_FILE_BYTES { too_long_error() } else { Ok(Some(bytes)) }
}

fn too_long_error() -> Result<Option<Vec<u8>>, ConfigFileError> {
    Err(ConfigFileError {
        what: format!("is larger than {} KiB, and is not read", MAX_CONFIG_FILE_BYTES / 1024),
        advice: "shorten it",
    })
}
