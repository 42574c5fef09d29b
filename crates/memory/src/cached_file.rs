//! Reads small files without waiting for a disk.

use std::path::Path;

/// The result of reading a file without waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CachedFile {
    /// The file does not exist.
    Missing,
    /// The file is not in the kernel's caches, is no file, is too large, or cannot be read without waiting.
    Unknown,
    /// The content of the file.
    Found(CachedContent),
}

/// The content of a file that was read without waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedContent {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The user who owns the file.
    pub owner: u32,
    /// Seconds since the epoch at which the file was changed.
    pub modified_seconds: i64,
}

/// Reads a file of at most `most` bytes if the kernel has it in its caches. A link is followed only if `follows_links`.
#[cfg(target_os = "linux")]
pub fn read_cached(path: &Path, most: usize, follows_links: bool) -> CachedFile {
    use std::io::IoSliceMut;

    use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    // Without the time of access: to write it, the disk may be needed.
    let mut flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOATIME | OFlags::NOCTTY;
    if !follows_links {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return CachedFile::Missing,
        Err(_) => return CachedFile::Unknown,
    };
    let Ok(found) = fstat(&file) else { return CachedFile::Unknown };
    let size = usize::try_from(found.st_size).unwrap_or(usize::MAX);
    if !FileType::from_raw_mode(found.st_mode).is_file() || size > most {
        return CachedFile::Unknown;
    }
    let mut bytes = vec![0; size];
    let read = preadv2(&file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT);
    if read.is_ok_and(|read| read == size) {
        let (owner, modified_seconds) = (found.st_uid, found.st_mtime);
        CachedFile::Found(CachedContent { bytes, owner, modified_seconds })
    } else {
        CachedFile::Unknown
    }
}

/// Reads a file without waiting. This system cannot do that.
#[cfg(not(target_os = "linux"))]
pub fn read_cached(_: &Path, _: usize, _: bool) -> CachedFile {
    CachedFile::Unknown
}
