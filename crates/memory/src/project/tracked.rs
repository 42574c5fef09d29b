//! Reads git's index: the number of changed tracked files, and the main language.
//!
//! The index is parsed here, because starting git takes longer than a hook has. A file counts as changed if its size or
//! its modification time differs from the index, or if it is gone. git checks the same first and then also reads the
//! file, so it may report fewer. Untracked and staged files are not counted.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::place;
use super::repository::find_index;

/// Maximum size of an index.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// Maximum size of an index that is only searched for names.
const MAX_SEARCHED_BYTES: u64 = 8 << 20;
/// Maximum number of files that are checked on disk; with more, nothing is counted.
const MAX_FILES: usize = 3_000;
/// Maximum total length of all file names. In version 4 a name repeats a part of the previous one, so they can be much
/// longer than the index.
const MAX_NAME_BYTES: usize = 16 << 20;
/// The bits of an entry's flags that have the length of its name, all set for a longer one.
const MAX_FLAG_LENGTH: u16 = 0x0fff;
/// Bytes of an index before its entries.
const HEADER_BYTES: usize = 12;
/// Longest entry of an index: names are shorter than the paths that a system allows.
const MAX_ENTRY_BYTES: usize = 8 * 1024;
/// Bytes of an index that are in memory at a time while it is searched.
const CHUNK_BYTES: usize = 128 * 1024;
/// Bytes of an entry before its name, without the hash.
const ENTRY_BYTES: usize = 42;

/// Facts about a work tree that are available without starting git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkTreeSurvey {
    /// Number of tracked files that differ from the index by size or time; None if unknown.
    pub changed: Option<usize>,
    /// The language of most source files.
    pub language: Option<&'static str>,
}

impl WorkTreeSurvey {
    /// Reads the index of a work tree. Without one, the language is that of the build file in the folder.
    pub fn inspect(root: &Path) -> Self {
        let Some(index) = GitIndex::read(root) else {
            return Self { changed: None, language: language_of_build_file(root) };
        };
        let changed = (index.whole && index.entries.len() <= MAX_FILES)
            .then(|| index.entries.iter().filter(|entry| entry.is_changed(root)).count());
        Self { changed, language: index.main_language().or_else(|| language_of_build_file(root)) }
    }
}

/// Returns up to `most` tracked files that differ from the index by size or time, relative to the root of the checkout.
/// Deleted files are not included.
pub fn changed_files(root: &Path, most: usize) -> Vec<String> {
    let Some(index) = GitIndex::read(root) else { return Vec::new() };
    let there = |entry: &&GitIndexEntry| {
        root.join(place::path_from_bytes(&entry.path)).symlink_metadata().is_ok()
    };
    index
        .entries
        .iter()
        .take(MAX_FILES)
        .filter(|entry| entry.is_changed(root))
        .filter(there)
        .filter_map(|entry| String::from_utf8(entry.path.clone()).ok())
        .take(most)
        .collect()
}

/// Returns up to `most` tracked files with one of these names, ignoring extensions, relative to the root of the
/// checkout.
pub fn files_named(root: &Path, stems: &[&str], most: usize) -> Vec<String> {
    let Some((path, hash)) = find_index(root) else { return Vec::new() };
    let Some(file) = place::open_regular_file(&path, MAX_SEARCHED_BYTES) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    let visited = visit_paths(file, hash, CHUNK_BYTES, |path| {
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let stem = last.iter().position(|byte| *byte == b'.').map(|dot| &last[..dot]);
        let is_named = stem.is_some_and(|stem| stems.iter().any(|known| known.as_bytes() == stem));
        if is_named && named.len() < most {
            named.extend(str::from_utf8(path).map(str::to_owned));
        }
    });
    if visited.is_some() { named } else { Vec::new() }
}

struct GitIndex {
    entries: Vec<GitIndexEntry>,
    /// True if all entries are in this file: a split index has most of them in another one.
    whole: bool,
}

/// A tracked file.
struct GitIndexEntry {
    path: Vec<u8>,
    seconds: u32,
    nanoseconds: u32,
    size: u32,
    /// True if git would check it: not a submodule, and not marked as unchanged or skipped.
    is_watched: bool,
}

impl GitIndex {
    fn read(root: &Path) -> Option<Self> {
        let (path, hash) = find_index(root)?;
        Self::parse(&place::read_regular_file(&path, MAX_INDEX_BYTES)?, hash)
    }

    /// Parses an index of version 2, 3 or 4 with hashes of this length.
    fn parse(bytes: &[u8], hash: usize) -> Option<Self> {
        let mut entries: Vec<GitIndexEntry> = Vec::new();
        let end = visit_entries(bytes, hash, |entry, path| {
            entries.push(GitIndexEntry { path: path.to_owned(), ..entry });
        })?;
        Some(Self { entries, whole: bytes.get(end..end + 4)? != b"link" })
    }

    /// Returns the language of most files; of two with equal counts, the first by name.
    fn main_language(&self) -> Option<&'static str> {
        let mut counts: HashMap<&'static str, usize> = HashMap::new();
        for entry in &self.entries {
            let extension = entry.path.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
            if let Some(language) =
                std::str::from_utf8(extension).ok().and_then(language_of_extension)
            {
                *counts.entry(language).or_default() += 1;
            }
        }
        counts
            .into_iter()
            .max_by(|(one, most), (other, more)| most.cmp(more).then(other.cmp(one)))
            .map(|(language, _)| language)
    }
}

/// Calls `visit` with each entry of an index of version 2, 3 or 4 with hashes of this length: its fields without the path, and
/// the path. Returns the offset behind the last entry, or None if the index cannot be read.
fn visit_entries(
    bytes: &[u8],
    hash: usize,
    mut visit: impl FnMut(GitIndexEntry, &[u8]),
) -> Option<usize> {
    let (mut reader, count) = EntryReader::new(bytes, hash)?;
    let mut at = HEADER_BYTES;
    for _ in 0..count {
        let (entry, length) = reader.read(bytes.get(at..)?)?;
        visit(entry, &reader.path);
        at += length;
    }
    Some(at)
}

/// Calls `visit` with each path of an index file. Only a part of the file is in memory at a time: a hook would spend most of
/// its time on the pages of a large index. Returns None if the index cannot be read to its end.
fn visit_paths(
    mut file: impl Read,
    hash: usize,
    chunk: usize,
    mut visit: impl FnMut(&[u8]),
) -> Option<()> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header).ok()?;
    let (mut reader, count) = EntryReader::new(&header, hash)?;
    let mut buffer = vec![0; chunk];
    let (mut start, mut end, mut is_whole) = (0, 0, false);
    for _ in 0..count {
        if !is_whole && end - start < MAX_ENTRY_BYTES {
            buffer.copy_within(start..end, 0);
            (start, end) = (0, end - start);
            while end < buffer.len() && !is_whole {
                let read = file.read(&mut buffer[end..]).ok()?;
                is_whole = read == 0;
                end += read;
            }
        }
        let (_, length) = reader.read(&buffer[start..end])?;
        visit(&reader.path);
        start = (start + length).min(end);
    }
    Some(())
}

/// Reads the entries of an index one after the other.
struct EntryReader {
    version: u32,
    hash: usize,
    /// The path of the last entry. In version 4, the next one repeats a part of it.
    path: Vec<u8>,
    /// Length of the repeated parts together.
    repeated_bytes: usize,
}

impl EntryReader {
    /// Reads the header. Returns the number of entries too.
    fn new(bytes: &[u8], hash: usize) -> Option<(Self, u32)> {
        let version = read_number(bytes, 4)?;
        if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
            return None;
        }
        let reader = Self { version, hash, path: Vec::new(), repeated_bytes: 0 };
        Some((reader, read_number(bytes, 8)?))
    }

    /// Reads the entry at the start of the bytes. Returns it without its path, and its length.
    fn read(&mut self, bytes: &[u8]) -> Option<(GitIndexEntry, usize)> {
        let flags_at = ENTRY_BYTES - 2 + self.hash;
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = self.version > 2 && flags & 0x4000 != 0;
        let mut name_at = flags_at + 2;
        let mut is_skipped = flags & 0x8000 != 0;
        if is_extended {
            is_skipped |= bytes.get(name_at)? & 0x40 != 0;
            name_at += 2;
        }
        if self.version == 4 {
            let (cut, length) = read_git_varint(bytes.get(name_at..)?)?;
            self.path.truncate(self.path.len().checked_sub(cut)?);
            self.repeated_bytes += self.path.len();
            if self.repeated_bytes > MAX_NAME_BYTES {
                return None;
            }
            name_at += length;
        } else {
            self.path.clear();
        }
        let rest = bytes.get(name_at..)?;
        // The flags have the length of a shorter name; in version 4 that of the whole path.
        let length = usize::from(flags & MAX_FLAG_LENGTH);
        let is_known = self.version < 4
            && flags & MAX_FLAG_LENGTH != MAX_FLAG_LENGTH
            && rest.get(length) == Some(&0);
        let end = if is_known { length } else { rest.iter().position(|byte| *byte == 0)? };
        self.path.extend(&rest[..end]);
        let mode = read_number(bytes, 24)?;
        let entry = GitIndexEntry {
            path: Vec::new(),
            seconds: read_number(bytes, 8)?,
            nanoseconds: read_number(bytes, 12)?,
            size: read_number(bytes, 36)?,
            is_watched: !is_skipped && matches!(mode >> 12, 0o10 | 0o12),
        };
        let length = match self.version {
            4 => name_at + end + 1,
            // Padded to a multiple of eight, with at least one zero.
            _ => (name_at + end + 8) / 8 * 8,
        };
        Some((entry, length))
    }
}

/// Reads a number of four bytes at an offset.
fn read_number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl GitIndexEntry {
    fn is_changed(&self, root: &Path) -> bool {
        if !self.is_watched {
            return false;
        }
        let Ok(found) = root.join(place::path_from_bytes(&self.path)).symlink_metadata() else {
            return true;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "as git keeps them"
        )]
        let (seconds, nanoseconds, size) =
            (found.mtime() as u32, found.mtime_nsec() as u32, found.size() as u32);
        let is_other_time = seconds != self.seconds
            || (self.nanoseconds != 0 && nanoseconds != 0 && nanoseconds != self.nanoseconds);
        // git writes a size of 0 for a file that it has to check again because it changed in the same moment.
        is_other_time || (size != self.size && self.size != 0)
    }
}

/// Reads a variable-length number in git's encoding. Returns it and its length.
fn read_git_varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        value = value.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

fn language_of_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "rs" => "Rust",
        "py" => "Python",
        "ts" | "tsx" | "mts" | "cts" => "TypeScript",
        "js" | "jsx" | "mjs" | "cjs" => "JavaScript",
        "go" => "Go",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "scala" => "Scala",
        "rb" => "Ruby",
        "php" => "PHP",
        "cs" => "C#",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => "C++",
        "swift" => "Swift",
        "dart" => "Dart",
        "ex" | "exs" => "Elixir",
        "hs" => "Haskell",
        "ml" | "mli" => "OCaml",
        "lua" => "Lua",
        "zig" => "Zig",
        "vue" => "Vue",
        "svelte" => "Svelte",
        "sh" | "bash" => "Shell",
        _ => return None,
    })
}

fn language_of_build_file(root: &Path) -> Option<&'static str> {
    const BUILD_FILES: [(&str, &str); 14] = [
        ("Cargo.toml", "Rust"),
        ("pyproject.toml", "Python"),
        ("setup.py", "Python"),
        ("requirements.txt", "Python"),
        ("tsconfig.json", "TypeScript"),
        ("package.json", "JavaScript"),
        ("go.mod", "Go"),
        ("build.gradle.kts", "Kotlin"),
        ("pom.xml", "Java"),
        ("build.gradle", "Java"),
        ("Gemfile", "Ruby"),
        ("composer.json", "PHP"),
        ("mix.exs", "Elixir"),
        ("Package.swift", "Swift"),
    ];
    BUILD_FILES.iter().find(|(file, _)| root.join(file).is_file()).map(|(_, language)| *language)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn reads_numbers_as_git_writes_them() {
        for (bytes, expected) in [
            (&[0x05][..], Some((5, 1))),
            (&[0x80, 0x00], Some((128, 2))),
            (&[0x81, 0x00], Some((256, 2))),
            (&[0x80], None),
        ] {
            assert_eq!(read_git_varint(bytes), expected);
        }
    }

    #[test]
    fn finds_modified_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let done = Command::new("git").current_dir(root).args(arguments).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        fs::create_dir(root.join("src")).unwrap();
        for file in ["a.txt", "gone.txt", "src/b.txt", "src/longer_name.txt"] {
            fs::write(root.join(file), "one\n").unwrap();
        }
        git(&["add", "."]);
        assert_eq!(changed_files(root, 10), [""; 0]);
        fs::write(root.join("src/b.txt"), "one and more\n").unwrap();
        fs::remove_file(root.join("gone.txt")).unwrap();
        assert_eq!(changed_files(root, 10), ["src/b.txt"]);
        assert_eq!(changed_files(root, 0), [""; 0]);
        assert_eq!(files_named(root, &["b", "a"], 10), ["a.txt", "src/b.txt"]);
        assert_eq!(files_named(root, &["longer"], 10), [""; 0]);
    }

    #[test]
    fn chunks_have_the_same_paths() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            assert!(
                git.args(arguments).current_dir(folder.path()).output().unwrap().status.success()
            );
        };
        git(&["init", "-q"]);
        for number in 0..3_000 {
            let name = format!("folder{}/{}{number}.py", number % 7, "x".repeat(number % 90));
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::File::create(path).unwrap();
        }
        git(&["add", "."]);
        for version in ["2", "3", "4"] {
            git(&["update-index", "--index-version", version]);
            let bytes = std::fs::read(folder.path().join(".git/index")).unwrap();
            let (mut whole, mut chunked) = (Vec::new(), Vec::new());
            visit_entries(&bytes, 20, |_, path| whole.push(path.to_owned())).unwrap();
            visit_paths(&bytes[..], 20, MAX_ENTRY_BYTES + 100, |path| {
                chunked.push(path.to_owned());
            })
            .unwrap();
            assert_eq!((whole.len(), &whole), (3_000, &chunked), "version {version}");
            for cut in [0, 11, 12, 100, bytes.len() / 2] {
                assert!(visit_paths(&bytes[..cut], 20, CHUNK_BYTES, |_| {}).is_none(), "{cut}");
            }
        }
    }

    #[test]
    fn broken_index_is_none() {
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x05", b"DIRC\0\0\0\x09\0\0\0\0"] {
            assert!(GitIndex::parse(bytes, 20).is_none());
        }
    }
}
