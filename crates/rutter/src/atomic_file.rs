//! Writes output files atomically: the file has its complete new content, or its old content.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use rutter_memory::quote::PathLine as _;

use crate::{CommandError, CommandResult};

/// Writes a temporary file in the same folder and renames it, so that a failure leaves the old file intact.
pub(crate) fn write_atomically<T>(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> CommandResult<T>,
) -> CommandResult<T> {
    let refuse = |error: io::Error| {
        CommandError::Refused(format!("cannot write {}: {error}", path.to_line()))
    };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Pipes and devices are written to directly. A rename would replace them.
    if path.exists() && !path.is_file() {
        let mut out =
            BufWriter::new(std::fs::OpenOptions::new().write(true).open(path).map_err(refuse)?);
        let written = content(&mut out)?;
        out.flush().map_err(refuse)?;
        return Ok(written);
    }
    // Checked first, because an error of the temporary file would name the temporary file.
    std::fs::metadata(folder).map_err(refuse)?;
    let beside = tempfile::NamedTempFile::new_in(folder).map_err(refuse)?;
    let mut out = BufWriter::new(beside);
    let written = content(&mut out)?;
    let beside = out.into_inner().map_err(|error| refuse(error.into_error()))?;
    beside.as_file().sync_all().map_err(refuse)?;
    beside.persist(path).map_err(|error| refuse(error.error))?;
    Ok(written)
}
