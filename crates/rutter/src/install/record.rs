//! Records of the changes that `init` made to files, so that `uninstall` can revert exactly these.
//!
//! Settings hold tokens, and no secret may be written to the data directory. So a record contains no copy of the file,
//! only the positions and lengths of our text, checksums of the file with and without it, and the whitespace that it
//! replaced. The file name of a record is a checksum of the path. If the checksum of the file does not match, the user
//! has edited it, and our content is removed entry by entry instead.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rutter_memory::data_dir::read_own;
use serde::{Deserialize, Serialize};

use super::Contents;
use super::layout::Edit;
use super::places::Installed;

/// Maximum number of records; the newest are kept. A record has a few hundred bytes. Without it, `uninstall` still
/// works, but may not restore the exact bytes.
const KEPT: usize = 100;

/// The changes of `init` in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Files, folders and content that `init` created.
    pub(crate) made: Made,
    /// Data for reverting the edits. None if the file already had entries of ours.
    undo: Option<Undo>,
    /// Folders of a repository in which `init` registered the server that the repository shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) folders: Vec<PathBuf>,
}

/// Files, folders and content that `init` created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// True if the file was created.
    pub(crate) file: bool,
    /// True if the parent folder of the file was created.
    pub(crate) folder: bool,
    /// Number of created folders above that one.
    #[serde(default)]
    pub(crate) above: usize,
    /// True if git's exclude list was created.
    pub(crate) exclude: bool,
    /// Content that was added to the text.
    #[serde(default)]
    pub(crate) within: Within,
}

/// Content that `init` added to a text, apart from hooks. Containers of hooks need no record: if empty, they mean
/// nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Within {
    /// True if the rules that allow rutter's tools were added.
    pub(crate) rule: bool,
    /// Number of objects and arrays that were created around the rule or the server, from the inside.
    pub(crate) around: usize,
}

impl Made {
    /// Adds a file that is about to be created, and its missing folders.
    pub(crate) fn and(self, contents: &Contents) -> Self {
        let missing = contents.missing_folders();
        Self {
            file: self.file || contents.bytes().is_none(),
            folder: self.folder || missing > 0,
            above: self.above.max(missing.saturating_sub(1)),
            ..self
        }
    }

    /// Adds the content that an installation put into the text.
    pub(crate) fn and_in(self, installed: &Installed) -> Self {
        let Within { rule, around } = installed.within;
        let within =
            Within { rule: self.within.rule || rule, around: self.within.around.max(around) };
        Self { within, ..self }
    }

    /// Returns the number of folders to remove together with the file.
    pub(crate) fn folders(self) -> usize {
        if self.folder { 1 + self.above } else { 0 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Undo {
    before: Sum,
    after: Sum,
    spans: Vec<Span>,
}

/// The position of our text, and the whitespace that it replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Span {
    at: usize,
    length: usize,
    blanks: String,
}

/// A checksum of a text. FNV-1a is enough, because users do not forge their own settings, and unlike the standard
/// library's hashers it is the same in every version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sum(String);

impl Sum {
    fn of(bytes: &[u8]) -> Self {
        let sum = rutter_memory::checksum::of(bytes);
        Self(format!("{sum:016x}-{}", bytes.len()))
    }
}

impl Record {
    /// Creates the record of an installation in a text.
    pub(crate) fn new(before: &str, installed: &Installed, made: Made) -> Self {
        let undo = installed.edits.as_ref().map(|edits| Undo {
            before: Sum::of(before.as_bytes()),
            after: Sum::of(installed.text.as_bytes()),
            spans: spans(before, edits),
        });
        Self { made, undo, folders: Vec::new() }
    }

    /// Creates the record of a file that belongs to rutter as a whole.
    pub(crate) fn whole(text: &str, made: Made) -> Self {
        let undo = Undo {
            before: Sum::of(b""),
            after: Sum::of(text.as_bytes()),
            spans: vec![Span { at: 0, length: text.len(), blanks: String::new() }],
        };
        Self { made, undo: Some(undo), folders: Vec::new() }
    }

    /// Returns the original text if this one is unchanged since `init`.
    pub(crate) fn undo(&self, text: &str) -> Option<String> {
        let Undo { before, after, spans } = self.undo.as_ref()?;
        if Sum::of(text.as_bytes()) != *after {
            return None;
        }
        let mut text = text.to_owned();
        for Span { at, length, blanks } in spans.iter().rev() {
            let range = *at..at.checked_add(*length)?;
            text.get(range.clone())?;
            text.replace_range(range, blanks);
        }
        (Sum::of(text.as_bytes()) == *before).then_some(text)
    }
}

/// Returns the positions of edits after they are applied.
fn spans(before: &str, edits: &[Edit]) -> Vec<Span> {
    let (mut read, mut written) = (0, 0);
    edits
        .iter()
        .map(|edit| {
            let at = written + edit.range.start - read;
            (read, written) = (edit.range.end, at + edit.text.len());
            let blanks = before[edit.range.clone()].to_owned();
            debug_assert!(blanks.trim().is_empty(), "what is kept of a file is blank");
            Span { at, length: edit.text.len(), blanks }
        })
        .collect()
}

/// The stored records.
pub(crate) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(crate) fn within(data: &Path) -> Self {
        Self { folder: data.join("backups") }
    }

    /// Locks the records until the file is dropped: two concurrent processes would each revert the other's records.
    pub(crate) fn alone(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let folder = File::open(&self.folder)?;
        folder.lock()?;
        Ok(folder)
    }

    /// Locks the records if their folder exists.
    pub(crate) fn alone_if_there(&self) -> io::Result<Option<File>> {
        if self.folder.is_dir() { self.alone().map(Some) } else { Ok(None) }
    }

    /// Returns the folder of the records.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads the record of a file, or of a part of a file. Returns None if it is missing or unreadable.
    pub(crate) fn get(&self, target: &Path) -> Option<Record> {
        serde_json::from_slice(&read_own(&self.path(target)).ok()?).ok()
    }

    /// Stores the record, or deletes it if None.
    pub(crate) fn set(&self, target: &Path, record: Option<&Record>) -> io::Result<()> {
        let path = self.path(target);
        let Some(record) = record else {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut beside = tempfile::NamedTempFile::new_in(&self.folder)?;
        beside.write_all(&serde_json::to_vec(record)?)?;
        beside.as_file().sync_all()?;
        beside.persist(path)?;
        self.prune()
    }

    fn path(&self, target: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", Sum::of(target.as_os_str().as_bytes()).0))
    }

    fn prune(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed the file, which then needs no pruning.
            if let Ok(time) = entry.metadata().and_then(|metadata| metadata.modified()) {
                files.push((time, entry.path()));
            }
        }
        files.sort();
        for (_, path) in files.iter().rev().skip(KEPT) {
            drop(fs::remove_file(path));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(made: bool) -> Record {
        let made = Made { file: made, folder: made, ..Made::default() };
        Record { made, undo: None, folders: Vec::new() }
    }

    #[test]
    fn the_newest_are_kept_and_a_broken_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::within(folder.path());
        let path = |number: usize| PathBuf::from(format!("/project/{number}"));
        for number in 0..KEPT + 20 {
            records.set(&path(number), Some(&record(true))).unwrap();
        }
        assert_eq!(fs::read_dir(&records.folder).unwrap().count(), KEPT);
        let last = path(KEPT + 19);
        assert_eq!(records.get(&last), Some(record(true)));
        records.set(&last, Some(&record(false))).unwrap();
        assert_eq!(records.get(&last), Some(record(false)));
        fs::File::create(records.path(&last)).unwrap().write_all(b"{\"made\"").unwrap();
        assert_eq!(records.get(&last), None);
        records.set(&last, None).unwrap();
        records.set(&last, None).unwrap();
        assert_eq!(records.get(&last), None);
    }

    #[test]
    fn a_text_that_is_not_the_one_is_not_touched() {
        let installed = Installed {
            text: "{ours}".to_owned(),
            edits: Some(vec![Edit { range: 1..2, text: "ours".to_owned() }]),
            within: Within::default(),
        };
        let record = Record::new("{ }", &installed, Made::default());
        assert_eq!(record.undo("{ours}").as_deref(), Some("{ }"));
        assert_eq!(record.undo("{Ours}"), None);
        assert_eq!(record.undo(""), None);
        // A record that was tampered with is not applied either.
        let text = serde_json::to_string(&record).unwrap();
        for (from, to) in [("\"at\":1", "\"at\":2"), ("\"at\":1", "\"at\":18446744073709551615")] {
            let record: Record = serde_json::from_str(&text.replace(from, to)).unwrap();
            assert_eq!(record.undo("{ours}"), None);
        }
    }
}
