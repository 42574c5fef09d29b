//! A file that somebody asked for: whole, or as it was before.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::Failure;

/// Writes beside and renames, so that what fails half-way leaves what was there alone.
pub(crate) fn write<T>(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let refuse =
        |error: io::Error| Failure::Refused(format!("cannot write {}: {error}", path.display()));
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A pipe or a device is written to, not replaced.
    if path.exists() && !path.is_file() {
        let mut out =
            BufWriter::new(std::fs::OpenOptions::new().write(true).open(path).map_err(refuse)?);
        let written = content(&mut out)?;
        out.flush().map_err(refuse)?;
        return Ok(written);
    }
    // Asked for first, because the error of the temporary file would name that one.
    std::fs::metadata(folder).map_err(refuse)?;
    let beside = tempfile::NamedTempFile::new_in(folder).map_err(refuse)?;
    let mut out = BufWriter::new(beside);
    let written = content(&mut out)?;
    let beside = out.into_inner().map_err(|error| refuse(error.into_error()))?;
    beside.as_file().sync_all().map_err(refuse)?;
    beside.persist(path).map_err(|error| refuse(error.error))?;
    Ok(written)
}
