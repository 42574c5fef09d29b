//! JSON files of the user and the client, parsed as the client parses them.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rutter_contract::javascript::{self, JsonKind, JsonNode};
use serde_json::Value;

use super::file::{FileReadError, read_regular_file};
use super::location::FileLocation;
use super::outline::JsonOutline;

/// Largest file that is read. The client's own state can have some megabytes; hand-written files are smaller.
pub const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file as text. Returns None if it cannot be read or is not UTF-8.
pub(super) fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_regular_file(path, MAX_DOCUMENT_BYTES).ok()?).ok()
}

/// A parsed file that holds an object.
#[derive(Debug)]
pub struct ClientDocument {
    /// Path of the file.
    pub path: PathBuf,
    /// The text without a byte order mark.
    pub text: String,
    /// The object.
    pub root: JsonNode,
    /// True if the file held invalid UTF-8, which the client replaces.
    pub replaced: bool,
}

/// The result of reading a file.
#[derive(Debug)]
pub enum LoadedDocument {
    /// The path does not exist.
    Absent,
    /// The file is blank, which the client treats as no settings.
    Blank,
    /// The client ignores the file.
    Void(Box<DocumentFault>),
    /// The file holds an object.
    Document(Box<ClientDocument>),
}

/// The reason for which the client ignores a file, and its position.
#[derive(Debug)]
pub struct DocumentFault {
    /// The reason.
    pub kind: DocumentFaultKind,
    /// Position of the fault, or the file as a whole if it cannot be read.
    pub location: FileLocation,
    /// The text of the file. None if it cannot be read.
    text: Option<String>,
}

/// A reason for which the client ignores a file.
#[derive(Debug)]
pub enum DocumentFaultKind {
    /// The path is a pipe, a folder or a device.
    NotRegular,
    /// The file is larger than [`MAX_DOCUMENT_BYTES`].
    TooLarge,
    /// The path is a symbolic link without a target.
    DanglingLink,
    /// The system refused to read the file.
    Unreadable(io::Error),
    /// The text is not JSON.
    NotJson {
        /// The token that the parser expected.
        expected: &'static str,
    },
    /// The JSON value is not an object.
    NotObject {
        /// Name of its type.
        found: &'static str,
    },
}

impl DocumentFault {
    /// Returns true if the text of the file contains a word. The client ignores the file, but its author may have meant
    /// something by it.
    pub fn mentions(&self, word: &str) -> bool {
        self.text.as_ref().is_some_and(|text| text.contains(word))
    }
}

/// A key that occurs a second time in an object. The client forgets the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// Position of the second occurrence.
    pub location: FileLocation,
}

impl LoadedDocument {
    /// Reads and parses a file.
    pub fn load(path: &Path) -> Self {
        let unreadable = |kind: DocumentFaultKind| {
            let location = FileLocation::whole_file(path);
            Self::Void(Box::new(DocumentFault { kind, location, text: None }))
        };
        match read_regular_file(path, MAX_DOCUMENT_BYTES) {
            Ok(bytes) => Self::parse(path, &bytes),
            Err(FileReadError::NotRegular) => unreadable(DocumentFaultKind::NotRegular),
            Err(FileReadError::TooLarge) => unreadable(DocumentFaultKind::TooLarge),
            Err(FileReadError::Absent) => match path.symlink_metadata() {
                Ok(_) => unreadable(DocumentFaultKind::DanglingLink),
                Err(_) => Self::Absent,
            },
            Err(FileReadError::Failed(error)) => unreadable(DocumentFaultKind::Unreadable(error)),
        }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Self::Blank;
        }
        let (kind, at) = match javascript::parse(&text) {
            Ok(root) if matches!(root.kind, JsonKind::Object(_)) => {
                let path = path.to_owned();
                return Self::Document(Box::new(ClientDocument { path, text, root, replaced }));
            }
            Ok(root) => (DocumentFaultKind::NotObject { found: root.kind.name() }, root.at),
            Err(error) => (DocumentFaultKind::NotJson { expected: error.expected }, error.at),
        };
        let location = FileLocation::in_text(path, &text, at);
        Self::Void(Box::new(DocumentFault { kind, location, text: Some(text) }))
    }
}

impl ClientDocument {
    /// Returns the position of a byte offset.
    pub fn location(&self, at: usize) -> FileLocation {
        FileLocation::in_text(&self.path, &self.text, at)
    }

    /// Converts a node to a `serde_json` value. Returns Null if serde_json rejects it: it has no lone surrogates and no
    /// numbers out of range.
    pub fn to_json(&self, node: &JsonNode) -> Value {
        serde_json::from_str(self.text.get(self.node_range(node)).unwrap_or_default())
            .unwrap_or(Value::Null)
    }

    /// Finds duplicate keys in the root, in `hooks` and in `env`.
    pub fn duplicate_keys(&self) -> Vec<DuplicateKey> {
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
                    found.push(DuplicateKey { key, location: self.location(item.range.start) });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> LoadedDocument {
        LoadedDocument::parse(Path::new("/s.json"), text)
    }

    #[test]
    fn reports_position_of_faults() {
        let LoadedDocument::Void(fault) = parse(b"{\n  \"rutter\": 1,}") else { panic!() };
        assert!(matches!(fault.kind, DocumentFaultKind::NotJson { .. }));
        assert_eq!(fault.location.to_string(), "/s.json:2:15");
        assert!(fault.mentions("rutter") && !fault.mentions("other"));
        let LoadedDocument::Void(fault) = parse(b"\n [1]") else { panic!() };
        assert!(matches!(fault.kind, DocumentFaultKind::NotObject { found: "array" }));
        assert_eq!(fault.location.to_string(), "/s.json:2:2");
    }

    #[test]
    fn finds_duplicate_keys() {
        let text = "{\"a\":1,\"env\":{\"b\":1,\n\"b\":2},\"x\":{\"c\":1,\"c\":1},\"a\":2}";
        let LoadedDocument::Document(document) = parse(text.as_bytes()) else { panic!() };
        let found: Vec<String> = document
            .duplicate_keys()
            .iter()
            .map(|DuplicateKey { key, location }| format!("{key} {location}"))
            .collect();
        assert_eq!(found, ["a /s.json:2:26", "b /s.json:2:1"]);
    }

    #[test]
    fn blank_text_and_byte_order_mark() {
        assert!(matches!(parse(b" \r\n\t"), LoadedDocument::Blank));
        assert!(matches!(parse("\u{feff}{}".as_bytes()), LoadedDocument::Document(_)));
        let LoadedDocument::Document(document) = parse(b"{\"a\": \"\xff\"}") else { panic!() };
        assert!(document.replaced);
    }
}
