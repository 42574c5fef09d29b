//! JSON files of the user and the client, parsed as the client parses them.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rutter_contract::javascript::{self, JsonKind, JsonNode};
use serde_json::Value;

use super::codes;
use super::finding::{DoctorFinding, FileLocation, display_name};
use crate::install::{JsonOutline, line_and_column};
use crate::ui::format_size;

/// Largest file that is read. The client's own state can have some megabytes; hand-written files are smaller.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The reason for which a file was not read.
#[derive(Debug)]
pub(crate) enum FileReadError {
    /// The path does not exist.
    Absent,
    /// A pipe, a folder, a device.
    NoFile,
    /// The file is larger than [`LONGEST`].
    Long,
    Failed(io::Error),
}

/// Reads a regular file. Does not block on a pipe, and stops at [`LONGEST`] bytes.
pub(crate) fn read_regular_file(path: &Path) -> Result<Vec<u8>, FileReadError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileReadError::Absent,
        _ => FileReadError::Failed(error),
    };
    let file =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
    let file = File::from(file);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(FileReadError::NoFile);
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES { Err(FileReadError::Long) } else { Ok(bytes) }
}

/// Reads a file as text. Returns None if it cannot be read or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_regular_file(path).ok()?).ok()
}

/// A parsed file that holds an object.
#[derive(Debug)]
pub(crate) struct ClientDocument {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) root: JsonNode,
    /// True if the file held invalid UTF-8, which the client replaces.
    pub(crate) replaced: bool,
}

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum LoadedDocument {
    /// The path does not exist.
    Absent,
    /// The file is blank, which the client treats as no settings.
    Blank,
    /// The client ignores the file.
    Void {
        finding: Box<DoctorFinding>,
        /// True if the text mentions rutter.
        speaks_of_us: bool,
    },
    /// The file holds an object.
    Document(Box<ClientDocument>),
}

impl LoadedDocument {
    pub(crate) fn load(path: &Path) -> Self {
        let unreadable = |what: &str| Self::Void {
            finding: Box::new(
                DoctorFinding::new(&codes::SETTINGS_UNREADABLE, what)
                    .with_location(FileLocation::whole_file(path)),
            ),
            speaks_of_us: false,
        };
        let bytes = match read_regular_file(path) {
            Ok(bytes) => bytes,
            Err(FileReadError::NoFile) => return unreadable("this is not a file"),
            Err(FileReadError::Long) => {
                return unreadable(&format!(
                    "this is larger than {}",
                    format_size(MAX_DOCUMENT_BYTES)
                ));
            }
            Err(FileReadError::Absent) => {
                return match path.symlink_metadata() {
                    Ok(_) => unreadable("this is a broken symbolic link"),
                    Err(_) => Self::Absent,
                };
            }
            Err(FileReadError::Failed(error)) => {
                return unreadable(&format!("this cannot be read: {error}"));
            }
        };
        Self::parse(path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Self::Blank;
        }
        let void = |finding: DoctorFinding, at: usize| Self::Void {
            finding: Box::new(finding.with_location(file_location(path, &text, at))),
            speaks_of_us: text.contains("rutter"),
        };
        let root = match javascript::parse(&text) {
            Ok(root) => root,
            Err(error) => {
                let what = format!(
                    "this is not JSON: expected {}; the client skips the whole file",
                    error.expected
                );
                return void(DoctorFinding::new(&codes::SETTINGS_NOT_JSON, what), error.at);
            }
        };
        if !matches!(root.kind, JsonKind::Object(_)) {
            let what = format!(
                "settings must be an object, not {}; the client skips the whole file",
                root.kind.name()
            );
            return void(DoctorFinding::new(&codes::SETTINGS_NOT_OBJECT, what), root.at);
        }
        Self::Document(Box::new(ClientDocument { path: path.to_owned(), text, root, replaced }))
    }
}

impl ClientDocument {
    /// Returns the line and column of a byte offset.
    pub(crate) fn location(&self, at: usize) -> FileLocation {
        file_location(&self.path, &self.text, at)
    }

    /// Converts a node to a `serde_json` value. Returns Null if serde_json rejects it, which does not happen to our
    /// entries.
    pub(crate) fn to_json(&self, node: &JsonNode) -> Value {
        serde_json::from_str(self.text.get(self.node_range(node)).unwrap_or_default())
            .unwrap_or(Value::Null)
    }

    /// Finds duplicate keys in the root, in `hooks` and in `env`.
    pub(crate) fn duplicate_keys(&self) -> Vec<DoctorFinding> {
        let Ok((outline, _)) = JsonOutline::parse(&self.text) else { return Vec::new() };
        let inner = ["hooks", "env"].into_iter().filter_map(|key| self.root.get(key));
        let mut found = Vec::new();
        for object in std::iter::once(&self.root).chain(inner) {
            if !matches!(object.kind, JsonKind::Object(_)) {
                continue;
            }
            let mut seen: Vec<String> = Vec::new();
            for item in outline.items(&self.node_range(object)) {
                let Some(key) = item.key else { continue };
                if seen.contains(&key) {
                    let what = format!(
                        "`{}` occurs a second time here, and the client ignores the first",
                        display_name(&key)
                    );
                    let finding = DoctorFinding::new(&codes::SETTINGS_KEY_TWICE, what);
                    found.push(finding.with_location(self.location(item.range.start)));
                } else {
                    seen.push(key);
                }
            }
        }
        found
    }

    fn node_range(&self, node: &JsonNode) -> Range<usize> {
        let rest = self.text.get(node.at..).unwrap_or_default();
        let length = javascript::parse_first(rest).map_or(0, |(_, end)| end);
        node.at..node.at + length
    }
}

fn file_location(path: &Path, text: &str, at: usize) -> FileLocation {
    FileLocation { file: path.to_owned(), position: Some(line_and_column(text, at)) }
}
