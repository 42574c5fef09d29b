//! Atomic file writes.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces `path` in one step: a reader sees the old text or the new one, never a part.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create_new(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Report the first error, not that of the cleanup.
        drop(fs::remove_file(&temporary));
    }
    written
}
