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

use super::FileContents;
use super::places::InstalledText;
use rutter_check::text_edit::TextEdit;

/// Maximum number of records; the newest are kept. A record has a few hundred bytes. Without it, `uninstall` still
/// works, but may not restore the exact bytes.
const MAX_RECORDS: usize = 100;

/// The changes of `init` in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallRecord {
    /// Files, folders and content that `init` created.
    pub(crate) made: CreatedItems,
    /// Data for reverting the edits. None if the file already had entries of ours.
    undo: Option<UndoData>,
    /// Folders of a repository in which `init` registered the server that the repository shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) folders: Vec<PathBuf>,
}

/// Files, folders and content that `init` created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreatedItems {
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
    pub(crate) within: AddedContent,
}

/// Content that `init` added to a text, apart from hooks. Containers of hooks need no record: if empty, they mean
/// nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AddedContent {
    /// True if the rules that allow rutter's tools were added.
    pub(crate) rule: bool,
    /// Number of objects and arrays that were created around the rule or the server, from the inside.
    pub(crate) around: usize,
}

impl CreatedItems {
    /// Adds a file that is about to be created, and its missing folders.
    pub(crate) fn with_created_file(self, contents: &FileContents) -> Self {
        let missing = contents.missing_folders();
        Self {
            file: self.file || contents.bytes().is_none(),
            folder: self.folder || missing > 0,
            above: self.above.max(missing.saturating_sub(1)),
            ..self
        }
    }

    /// Adds the content that an installation put into the text.
    pub(crate) fn with_added_content(self, installed: &InstalledText) -> Self {
        let AddedContent { rule, around } = installed.within;
        let within =
            AddedContent { rule: self.within.rule || rule, around: self.within.around.max(around) };
        Self { within, ..self }
    }

    /// Returns the number of folders to remove together with the file.
    pub(crate) fn folder_count(self) -> usize {
        if self.folder { 1 + self.above } else { 0 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UndoData {
    before: TextChecksum,
    after: TextChecksum,
    spans: Vec<AddedSpan>,
}

/// The position of our text, and the whitespace that it replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AddedSpan {
    at: usize,
    length: usize,
    blanks: String,
}

/// A checksum of a text. FNV-1a is enough, because users do not forge their own settings, and unlike the standard
/// library's hashers it is the same in every version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TextChecksum(String);

impl TextChecksum {
    fn new_checksum(bytes: &[u8]) -> Self {
        let sum = rutter_memory::checksum::fnv1a(bytes);
        Self(format!("{sum:016x}-{}", bytes.len()))
    }
}

impl InstallRecord {
    /// Creates the record of an installation in a text.
    pub(crate) fn new(before: &str, installed: &InstalledText, made: CreatedItems) -> Self {
        let undo = installed.edits.as_ref().map(|edits| UndoData {
            before: TextChecksum::new_checksum(before.as_bytes()),
            after: TextChecksum::new_checksum(installed.text.as_bytes()),
            spans: added_spans(before, edits),
        });
        Self { made, undo, folders: Vec::new() }
    }

    /// Creates the record of a file that belongs to rutter as a whole.
    pub(crate) fn for_whole_file(text: &str, made: CreatedItems) -> Self {
        let undo = UndoData {
            before: TextChecksum::new_checksum(b""),
            after: TextChecksum::new_checksum(text.as_bytes()),
            spans: vec![AddedSpan { at: 0, length: text.len(), blanks: String::new() }],
        };
        Self { made, undo: Some(undo), folders: Vec::new() }
    }

    /// Returns the original text if this one is unchanged since `init`.
    pub(crate) fn undo(&self, text: &str) -> Option<String> {
        let UndoData { before, after, spans } = self.undo.as_ref()?;
        if TextChecksum::new_checksum(text.as_bytes()) != *after {
            return None;
        }
        let mut text = text.to_owned();
        for AddedSpan { at, length, blanks } in spans.iter().rev() {
            let range = *at..at.checked_add(*length)?;
            text.get(range.clone())?;
            text.replace_range(range, blanks);
        }
        (TextChecksum::new_checksum(text.as_bytes()) == *before).then_some(text)
    }
}

/// Returns the positions of edits after they are applied.
fn added_spans(before: &str, edits: &[TextEdit]) -> Vec<AddedSpan> {
    let (mut read, mut written) = (0, 0);
    edits
        .iter()
        .map(|edit| {
            let at = written + edit.range.start - read;
            (read, written) = (edit.range.end, at + edit.text.len());
            let blanks = before[edit.range.clone()].to_owned();
            debug_assert!(blanks.trim().is_empty(), "what is kept of a file is blank");
            AddedSpan { at, length: edit.text.len(), blanks }
        })
        .collect()
}

/// The stored records.
pub(crate) struct InstallRecords {
    folder: PathBuf,
}

impl InstallRecords {
    pub(crate) fn in_data_dir(data: &Path) -> Self {
        Self { folder: data.join("backups") }
    }

    /// Locks the records until the file is dropped: two concurrent processes would each revert the other's records.
    pub(crate) fn lock(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let folder = File::open(&self.folder)?;
        folder.lock()?;
        Ok(folder)
    }

    /// Locks the records if their folder exists.
    pub(crate) fn lock_if_exists(&self) -> io::Result<Option<File>> {
        if self.folder.is_dir() { self.lock().map(Some) } else { Ok(None) }
    }

    /// Returns the folder of the records.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads the record of a file, or of a part of a file. Returns None if it is missing or unreadable.
    pub(crate) fn load(&self, target: &Path) -> Option<InstallRecord> {
        serde_json::from_slice(&read_own(&self.record_path(target)).ok()?).ok()
    }

    /// Stores the record, or deletes it if None.
    pub(crate) fn save(&self, target: &Path, record: Option<&InstallRecord>) -> io::Result<()> {
        let path = self.record_path(target);
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
        self.remove_oldest()
    }

    fn record_path(&self, target: &Path) -> PathBuf {
        self.folder
            .join(format!("{}.json", TextChecksum::new_checksum(target.as_os_str().as_bytes()).0))
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed the file, which then needs no pruning.
            if let Ok(time) = entry.metadata().and_then(|metadata| metadata.modified()) {
                files.push((time, entry.path()));
            }
        }
        files.sort();
        for (_, path) in files.iter().rev().skip(MAX_RECORDS) {
            drop(fs::remove_file(path));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_record(made: bool) -> InstallRecord {
        let made = CreatedItems { file: made, folder: made, ..CreatedItems::default() };
        InstallRecord { made, undo: None, folders: Vec::new() }
    }

    #[test]
    fn keeps_newest_records() {
        let folder = tempfile::tempdir().unwrap();
        let records = InstallRecords::in_data_dir(folder.path());
        let path = |number: usize| PathBuf::from(format!("/project/{number}"));
        for number in 0..MAX_RECORDS + 20 {
            records.save(&path(number), Some(&test_record(true))).unwrap();
        }
        assert_eq!(fs::read_dir(&records.folder).unwrap().count(), MAX_RECORDS);
        let last = path(MAX_RECORDS + 19);
        assert_eq!(records.load(&last), Some(test_record(true)));
        records.save(&last, Some(&test_record(false))).unwrap();
        assert_eq!(records.load(&last), Some(test_record(false)));
        fs::File::create(records.record_path(&last)).unwrap().write_all(b"{\"made\"").unwrap();
        assert_eq!(records.load(&last), None);
        records.save(&last, None).unwrap();
        records.save(&last, None).unwrap();
        assert_eq!(records.load(&last), None);
    }

    #[test]
    fn undo_requires_matching_text() {
        let installed = InstalledText {
            text: "{ours}".to_owned(),
            edits: Some(vec![TextEdit { range: 1..2, text: "ours".to_owned() }]),
            within: AddedContent::default(),
        };
        let record = InstallRecord::new("{ }", &installed, CreatedItems::default());
        assert_eq!(record.undo("{ours}").as_deref(), Some("{ }"));
        assert_eq!(record.undo("{Ours}"), None);
        assert_eq!(record.undo(""), None);
        // A record that was tampered with is not applied either.
        let text = serde_json::to_string(&record).unwrap();
        for (from, to) in [("\"at\":1", "\"at\":2"), ("\"at\":1", "\"at\":18446744073709551615")] {
            let record: InstallRecord = serde_json::from_str(&text.replace(from, to)).unwrap();
            assert_eq!(record.undo("{ours}"), None);
        }
    }
}
