//! Files that are written beside their final name and then renamed. Only their owner can read them, and no symbolic
//! link is followed.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Suffix of a file that is being written to replace another one.
pub const DRAFT_SUFFIX: &str = ".new";

/// Flags of `open` that refuse symbolic links and do not wait for the other end of a pipe.
const PLAIN_ONLY: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Returns the path with a suffix appended to its file name.
pub fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns options to open a file that only its owner may read. No symbolic link is followed.
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(PLAIN_ONLY);
    options
}

/// Removes a file, and succeeds if it does not exist.
pub fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
