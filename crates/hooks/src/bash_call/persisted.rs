//! The file in which the client stores an output that is too long for a payload.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use rustix::fs::{Mode, OFlags, open};

/// Number of bytes that are read from the end of the file, which has the summary.
const TAIL_BYTES: u64 = 256 * 1024;
/// Number of bytes that are read from the start of a file that is not read whole; the start shows which tests ran.
const HEAD_BYTES: u64 = 32 * 1024;

/// The part of an output that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PersistedOutput {
    pub(super) text: Vec<u8>,
    /// True if the output was longer.
    pub(super) cut: bool,
}

/// Reads the whole file, or its first and last lines. Returns None if it is not a regular file or cannot be read
/// without blocking.
///
/// `size` is the length of the output. The client stores at most a few gigabytes.
pub(super) fn read_persisted(path: &str, size: Option<u64>) -> Option<PersistedOutput> {
    // A pipe under this path must not block the hook, and the client never creates a link.
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let length = metadata.len();
    let mut text = Vec::new();
    if length <= HEAD_BYTES + TAIL_BYTES {
        file.take(HEAD_BYTES + TAIL_BYTES).read_to_end(&mut text).ok()?;
        let cut = size.is_none_or(|size| size != text.len() as u64);
        return Some(PersistedOutput { text, cut });
    }
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut text).ok()?;
    let end_of_line = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text.truncate(end_of_line);
    file.seek(SeekFrom::Start(length - TAIL_BYTES)).ok()?;
    let mut tail = Vec::with_capacity(usize::try_from(TAIL_BYTES).ok()?);
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let line = tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1);
    text.extend_from_slice(&tail[line..]);
    Some(PersistedOutput { text, cut: true })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn temp_file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn read_file(file: &tempfile::NamedTempFile, size: Option<u64>) -> Option<PersistedOutput> {
        read_persisted(file.path().to_str().unwrap(), size)
    }

    fn numbered_lines(count: usize) -> String {
        (0..count).fold(String::new(), |text, number| text + &format!("line {number:06}\n"))
    }

    #[test]
    fn short_file_is_read_whole() {
        let text = numbered_lines(10_000);
        let kept = read_file(&temp_file(&text), Some(text.len() as u64)).unwrap();
        assert_eq!((kept.text == text.as_bytes(), kept.cut), (true, false));
    }

    #[test]
    fn size_mismatch_means_cut() {
        let text = numbered_lines(10);
        assert!(read_file(&temp_file(&text), Some(text.len() as u64 + 1)).unwrap().cut);
        assert!(read_file(&temp_file(&text), None).unwrap().cut);
    }

    #[test]
    fn long_file_keeps_both_ends() {
        let text = numbered_lines(100_000);
        let kept = read_file(&temp_file(&text), Some(text.len() as u64)).unwrap();
        assert!(kept.cut);
        assert!(kept.text.len() as u64 <= HEAD_BYTES + TAIL_BYTES, "{}", kept.text.len());
        let kept = String::from_utf8(kept.text).unwrap();
        assert!(kept.starts_with("line 000000\n") && kept.ends_with("line 099999\n"));
        assert!(kept.lines().all(|line| line.len() == "line 000000".len()), "half a line");
        // One endless line has no complete line at either end.
        let endless = "x".repeat(400_000);
        assert_eq!(
            read_file(&temp_file(&endless), None),
            Some(PersistedOutput { text: Vec::new(), cut: true })
        );
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(read_persisted(&at("missing"), Some(1)), None);
        assert_eq!(read_persisted(&at(""), Some(1)), None);
        assert_eq!(read_persisted("", Some(1)), None);
        assert_eq!(read_persisted("a\0b", Some(1)), None);
        assert_eq!(read_persisted("/dev/zero", Some(1)), None);
        // The pipe has no writer: a blocking open would wait forever.
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(read_persisted(&at("pipe"), Some(1)), None);
        std::os::unix::fs::symlink(temp_file("x").path(), at("link")).unwrap();
        assert_eq!(read_persisted(&at("link"), Some(1)), None);
    }
}
