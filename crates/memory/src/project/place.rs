//! Canonical folders, their spelling in keys, and reading of files with a size limit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::quote::PathLine as _;

/// Maximum length of a path in the system; looking further down would only fail, slowly.
const MAX_PATH_BYTES: usize = 4096;

/// Returns the canonical folder of a path. If a part of the path is gone or unreadable, the existing part is resolved
/// and the rest stays as written. For a file, returns its folder.
pub(super) fn canonical_folder(path: &Path) -> PathBuf {
    let given = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // Fails only if the current folder of the process is gone and the path is relative to it.
    let mut there = std::path::absolute(given).unwrap_or_else(|_| PathBuf::from("/"));
    while there.as_os_str().len() > MAX_PATH_BYTES && there.pop() {}
    let mut components: Vec<Component<'_>> = there.components().collect();
    let mut missing = Vec::new();
    let (mut settled, folder) = loop {
        let candidate: PathBuf = components.iter().collect();
        if let Ok(metadata) = candidate.metadata()
            && let Ok(canonical) = candidate.canonicalize()
        {
            break (canonical, metadata.is_dir());
        }
        match components.pop() {
            Some(component) => missing.push(component),
            None => break (PathBuf::from("/"), true),
        }
    };
    if missing.is_empty() && !folder {
        settled.pop();
    }
    for component in missing.iter().rev() {
        match component {
            Component::ParentDir => drop(settled.pop()),
            Component::Normal(name) => settled.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    settled
}

/// Reads a regular file. Returns None if it does not exist or is larger than `limit`. Does not block on a pipe with
/// that name.
pub(super) fn read_regular_file(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let file = open_regular_file(path, limit)?;
    let length = file.metadata().ok()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length + 1).ok()?);
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// Opens a regular file of at most `limit` bytes. Never blocks.
pub(super) fn open_regular_file(path: &Path, limit: u64) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    (found.is_file() && found.len() <= limit).then_some(file)
}

/// Converts the bytes of a path in a file.
pub(super) fn path_from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Spells a path as text, so that different paths have different texts.
pub(super) fn spell_path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '%' || character.is_control() {
                percent_encode(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut text);
            } else {
                text.push(character);
            }
        }
        percent_encode(chunk.invalid(), &mut text);
    }
    text
}

/// Returns the last part of a path, for users.
pub(super) fn last_name(path: &Path) -> String {
    Path::new(path.file_name().unwrap_or(path.as_os_str())).to_line()
}

/// Appends bytes as `%XX`.
pub(super) fn percent_encode(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        text.push('%');
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_unique() {
        let spelled = |bytes: &[u8]| spell_path(path_from_bytes(bytes));
        assert_eq!(spelled(b"/a/\xff"), "/a/%FF");
        assert_eq!(spelled(b"/a/%FF"), "/a/%25FF");
        assert_eq!(spelled(b"/a/\n"), "/a/%0A");
        assert_eq!(spelled("/ä/漢 字".as_bytes()), "/ä/漢 字");
        assert_eq!(spelled("/a/\u{fffd}".as_bytes()), "/a/\u{fffd}");
    }

    #[test]
    fn missing_parts_stay_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(canonical_folder(&real.join("gone/./deep/../er")), real.join("gone/er"));
        assert_eq!(canonical_folder(&real.join("..").join(real.file_name().unwrap())), real);
        assert_eq!(canonical_folder(Path::new("")), std::env::current_dir().unwrap());
    }

    #[test]
    fn resolves_files_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        File::create(real.join("file")).unwrap();
        std::os::unix::fs::symlink(&real, real.join("link")).unwrap();
        assert_eq!(canonical_folder(&real.join("file")), real);
        assert_eq!(canonical_folder(&real.join("link/link/file")), real);
    }

    #[test]
    fn cuts_overlong_paths() {
        let long = PathBuf::from("/x".repeat(100_000));
        assert_eq!(canonical_folder(&long).as_os_str().len(), MAX_PATH_BYTES);
    }

    #[test]
    fn reads_only_small_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::io::Write::write_all(&mut File::create(&file).unwrap(), b"12345").unwrap();
        assert_eq!(read_regular_file(&file, 5).as_deref(), Some(&b"12345"[..]));
        assert_eq!(read_regular_file(&file, 4), None);
        assert_eq!(read_regular_file(folder.path(), 4), None);
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0)
            .unwrap();
        assert_eq!(read_regular_file(&pipe, 4), None);
    }
}
