//! Reads files that may be anything: pipes, devices, or larger than expected.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The reason for which a file was not read.
#[derive(Debug)]
pub enum FileReadError {
    /// The path does not exist.
    Absent,
    /// The path is a pipe, a folder or a device.
    NotRegular,
    /// The file is larger than the limit.
    TooLarge,
    /// The system refused.
    Failed(io::Error),
}

/// Reads a regular file of at most `max_bytes`. Does not block on a pipe.
pub fn read_regular_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, FileReadError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileReadError::Absent,
        _ => FileReadError::Failed(error),
    };
    let file =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
    let file = File::from(file);
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileReadError::NotRegular);
    }
    if metadata.len() > max_bytes {
        return Err(FileReadError::TooLarge);
    }
    // One byte more than the file has, so that the end is found without growing the buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max_bytes { Err(FileReadError::TooLarge) } else { Ok(bytes) }
}

/// Returns true if two paths lead to the same file, which need not exist.
pub fn is_same_path(one: &Path, other: &Path) -> bool {
    let settled = |path: &Path| {
        path.canonicalize()
            .ok()
            .or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
    };
    one == other || settled(one).is_some_and(|one| settled(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn reads_regular_files_up_to_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().write_all(b"1234").unwrap();
        assert_eq!(read_regular_file(&path, 4).unwrap(), b"1234");
        assert!(matches!(read_regular_file(&path, 3), Err(FileReadError::TooLarge)));
        assert!(matches!(read_regular_file(folder.path(), 3), Err(FileReadError::NotRegular)));
        let absent = folder.path().join("absent");
        assert!(matches!(read_regular_file(&absent, 3), Err(FileReadError::Absent)));
        assert!(matches!(read_regular_file(&path.join("x"), 3), Err(FileReadError::Failed(_))));
    }

    #[test]
    fn pipe_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(matches!(read_regular_file(&path, 3), Err(FileReadError::NotRegular)));
    }

    #[test]
    fn links_lead_to_same_path() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(is_same_path(&real.join("absent"), &link.join("absent")));
        assert!(!is_same_path(&real.join("absent"), &link.join("other")));
    }
}
