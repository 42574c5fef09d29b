//! JSON files of the user and the client, parsed as the client parses them.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rutter_contract::javascript::{self, Kind, Node};
use serde_json::Value;

use super::codes;
use super::finding::{Finding, Place, named};
use crate::install::{Outline, position};
use crate::ui::size;

/// Largest file that is read. The client's own state can have some megabytes; hand-written files are smaller.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The reason for which a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The path does not exist.
    Absent,
    /// A pipe, a folder, a device.
    NoFile,
    /// The file is larger than [`LONGEST`].
    Long,
    Failed(io::Error),
}

/// Reads a regular file. Does not block on a pipe, and stops at [`LONGEST`] bytes.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Unread> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Unread::Absent,
        _ => Unread::Failed(error),
    };
    let file =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
    let file = File::from(file);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Unread::NoFile);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST { Err(Unread::Long) } else { Ok(bytes) }
}

/// Reads a file as text. Returns None if it cannot be read or is not UTF-8.
pub(crate) fn text(path: &Path) -> Option<String> {
    String::from_utf8(bytes(path).ok()?).ok()
}

/// A parsed file that holds an object.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) root: Node,
    /// True if the file held invalid UTF-8, which the client replaces.
    pub(crate) replaced: bool,
}

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum Reading {
    /// The path does not exist.
    Absent,
    /// The file is blank, which the client treats as no settings.
    Blank,
    /// The client ignores the file.
    Void {
        finding: Box<Finding>,
        /// True if the text mentions rutter.
        speaks_of_us: bool,
    },
    /// The file holds an object.
    Document(Box<Document>),
}

impl Reading {
    pub(crate) fn of(path: &Path) -> Self {
        let unreadable = |what: &str| Self::Void {
            finding: Box::new(
                Finding::new(&codes::SETTINGS_UNREADABLE, what).at(Place::file(path)),
            ),
            speaks_of_us: false,
        };
        let bytes = match bytes(path) {
            Ok(bytes) => bytes,
            Err(Unread::NoFile) => return unreadable("this is no file"),
            Err(Unread::Long) => {
                return unreadable(&format!("this has more than {}", size(LONGEST)));
            }
            Err(Unread::Absent) => {
                return match path.symlink_metadata() {
                    Ok(_) => unreadable("this is a link that leads nowhere"),
                    Err(_) => Self::Absent,
                };
            }
            Err(Unread::Failed(error)) => {
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
        let void = |finding: Finding, at: usize| Self::Void {
            finding: Box::new(finding.at(place(path, &text, at))),
            speaks_of_us: text.contains("rutter"),
        };
        let root = match javascript::parse(&text) {
            Ok(root) => root,
            Err(error) => {
                let what = format!(
                    "this is not JSON: expected {}; the client skips the whole file",
                    error.expected
                );
                return void(Finding::new(&codes::SETTINGS_NOT_JSON, what), error.at);
            }
        };
        if !matches!(root.kind, Kind::Object(_)) {
            let what = format!(
                "settings are an object, and this is {}; the client skips the whole file",
                root.kind.name()
            );
            return void(Finding::new(&codes::SETTINGS_NOT_OBJECT, what), root.at);
        }
        Self::Document(Box::new(Document { path: path.to_owned(), text, root, replaced }))
    }
}

impl Document {
    /// Returns the line and column of a byte offset.
    pub(crate) fn place(&self, at: usize) -> Place {
        place(&self.path, &self.text, at)
    }

    /// Converts a node to a `serde_json` value. Returns Null if serde_json rejects it, which does not happen to our
    /// entries.
    pub(crate) fn value(&self, node: &Node) -> Value {
        serde_json::from_str(self.text.get(self.range(node)).unwrap_or_default())
            .unwrap_or(Value::Null)
    }

    /// Finds duplicate keys in the root, in `hooks` and in `env`.
    pub(crate) fn doubles(&self) -> Vec<Finding> {
        let Ok((outline, _)) = Outline::read(&self.text) else { return Vec::new() };
        let inner = ["hooks", "env"].into_iter().filter_map(|key| self.root.get(key));
        let mut found = Vec::new();
        for object in std::iter::once(&self.root).chain(inner) {
            if !matches!(object.kind, Kind::Object(_)) {
                continue;
            }
            let mut seen: Vec<String> = Vec::new();
            for item in outline.items(&self.range(object)) {
                let Some(key) = item.key else { continue };
                if seen.contains(&key) {
                    let what = format!(
                        "`{}` stands here a second time, and the client forgets the first",
                        named(&key)
                    );
                    let finding = Finding::new(&codes::SETTINGS_KEY_TWICE, what);
                    found.push(finding.at(self.place(item.range.start)));
                } else {
                    seen.push(key);
                }
            }
        }
        found
    }

    fn range(&self, node: &Node) -> Range<usize> {
        let rest = self.text.get(node.at..).unwrap_or_default();
        let length = javascript::parse_first(rest).map_or(0, |(_, end)| end);
        node.at..node.at + length
    }
}

fn place(path: &Path, text: &str, at: usize) -> Place {
    Place { file: path.to_owned(), position: Some(position(text, at)) }
}
