//! Files of the user and the client that hold an object, parsed as the client parses them: JSON, and the YAML
//! frontmatter of markdown files.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rutter_contract::javascript::{self, JsonKind, JsonNode};
use rutter_contract::version::Contract;
use serde_json::{Map, Number, Value};

use super::edited_text::EditedText;
use super::frontmatter::{find_frontmatter, parse_frontmatter};
use super::json_mistakes::{JsonMistake, collect_repairs, find_mistakes};
use super::location::{FileLocation, LineIndex};
use super::recorder::{may_have_recorder, remove_recorder};
use super::regular_file::{FileReadError, read_regular_file};
use super::spans::{DocumentSpans, FieldSpan, map_node};

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
    /// The object. Offsets are those of the text.
    pub root: JsonNode,
    /// True if the file held invalid UTF-8, which the client replaces.
    pub replaced: bool,
    /// True if the file began with a byte order mark, which the text lacks.
    pub has_byte_order_mark: bool,
    /// The form of the text.
    pub format: DocumentFormat,
    /// Number of hooks that had the recorder in front of them. The text does not have it.
    pub recorded_hooks: usize,
    /// Byte ranges of all values. Computed on first use for JSON.
    spans: OnceLock<DocumentSpans>,
    lines: OnceLock<LineIndex>,
}

/// The form of the text of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// The whole text is JSON.
    Json,
    /// The text has mistakes for which the client rejects it. The tree is that of the repaired text.
    RepairedJson,
    /// The text is markdown, and its frontmatter is YAML.
    Frontmatter,
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
    /// Byte offset of the fault in the text.
    pub at: usize,
    /// The document after all mistakes are repaired, with offsets of the text as it is. None if a mistake has no certain
    /// repair. The client does not read any of this.
    pub repaired: Option<Box<ClientDocument>>,
    /// The text of the file, without a byte order mark. None if it cannot be read.
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
        /// The mistakes, in the order of the text, up to the first one behind which the text cannot be followed.
        mistakes: Vec<JsonMistake>,
    },
    /// The frontmatter is not YAML. The client treats the file as one without frontmatter.
    NotYaml {
        /// The message of the parser.
        message: String,
    },
    /// The JSON value is not an object.
    NotObject {
        /// Name of its type.
        found: &'static str,
    },
}

impl DocumentFault {
    /// Returns the text of the file, without a byte order mark. Returns None if it cannot be read.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

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
    /// JSON pointer to the object that contains the key.
    pub parent: String,
    /// Byte range of the occurrence that the client forgets, from the key to the end of the value.
    pub first: Range<usize>,
    /// Byte range of the second occurrence.
    pub second: Range<usize>,
}

impl LoadedDocument {
    /// Reads and parses a JSON file.
    pub fn load(path: &Path) -> Self {
        Self::load_with(path, |bytes| Self::parse(path, bytes))
    }

    /// Reads a markdown file and parses its frontmatter.
    pub fn load_frontmatter(path: &Path, contract: Contract) -> Self {
        Self::load_with(path, |bytes| Self::parse_frontmatter(path, bytes, contract))
    }

    fn load_with(path: &Path, parse: impl FnOnce(&[u8]) -> Self) -> Self {
        let unreadable = |kind: DocumentFaultKind| {
            let location = FileLocation::whole_file(path);
            let (repaired, text) = (None, None);
            Self::Void(Box::new(DocumentFault { kind, location, at: 0, repaired, text }))
        };
        match read_regular_file(path, MAX_DOCUMENT_BYTES) {
            Ok(bytes) => parse(&bytes),
            Err(FileReadError::NotRegular) => unreadable(DocumentFaultKind::NotRegular),
            Err(FileReadError::TooLarge) => unreadable(DocumentFaultKind::TooLarge),
            Err(FileReadError::Absent) => match path.symlink_metadata() {
                Ok(_) => unreadable(DocumentFaultKind::DanglingLink),
                Err(_) => Self::Absent,
            },
            Err(FileReadError::Failed(error)) => unreadable(DocumentFaultKind::Unreadable(error)),
        }
    }

    /// Parses the bytes of a JSON file. The path only names the file in positions.
    pub fn parse(path: &Path, bytes: &[u8]) -> Self {
        let text = DecodedText::new(bytes).without_recorder();
        if text.text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Self::Blank;
        }
        match javascript::parse(&text.text) {
            Ok(root) if matches!(root.kind, JsonKind::Object(_)) => {
                Self::Document(Box::new(text.into_document(path, root, DocumentFormat::Json, None)))
            }
            Ok(root) => {
                let kind = DocumentFaultKind::NotObject { found: root.kind.name() };
                text.into_fault(path, kind, root.at, None)
            }
            Err(error) => {
                let mistakes = find_mistakes(&text.text);
                let repaired = repair_document(path, &text, &mistakes).map(Box::new);
                let kind = DocumentFaultKind::NotJson { expected: error.expected, mistakes };
                text.into_fault(path, kind, error.at, repaired)
            }
        }
    }

    /// Parses the bytes of a markdown file with frontmatter. The path only names the file in positions. A file without
    /// frontmatter is blank.
    pub fn parse_frontmatter(path: &Path, bytes: &[u8], contract: Contract) -> Self {
        let text = DecodedText::new(bytes);
        // Measured: behind a byte order mark, 2.1.197 finds no frontmatter.
        if text.has_byte_order_mark && !contract.has(Contract::NEWEST) {
            return Self::Blank;
        }
        let Some(range) = find_frontmatter(&text.text) else { return Self::Blank };
        match parse_frontmatter(&text.text, &range) {
            Ok(tree) => match &tree.root.kind {
                JsonKind::Null => Self::Blank,
                JsonKind::Object(_) => {
                    let format = DocumentFormat::Frontmatter;
                    let document = text.into_document(path, tree.root, format, Some(tree.spans));
                    Self::Document(Box::new(document))
                }
                kind => {
                    let kind = DocumentFaultKind::NotObject { found: kind.name() };
                    text.into_fault(path, kind, tree.root.at, None)
                }
            },
            Err(error) => {
                let kind = DocumentFaultKind::NotYaml { message: error.message };
                text.into_fault(path, kind, error.at, None)
            }
        }
    }
}

/// The text of a file, decoded as the client does it.
struct DecodedText {
    text: String,
    replaced: bool,
    has_byte_order_mark: bool,
    recorded_hooks: usize,
}

impl DecodedText {
    fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        let stripped = text.strip_prefix('\u{feff}');
        let has_byte_order_mark = stripped.is_some();
        let text = stripped.unwrap_or(&text).to_owned();
        Self { text, replaced, has_byte_order_mark, recorded_hooks: 0 }
    }

    /// Returns the text as it was before the recorder was put in front of its hooks.
    fn without_recorder(self) -> Self {
        if !may_have_recorder(&self.text) {
            return self;
        }
        match remove_recorder(&self.text) {
            Some(removed) => Self { text: removed.text, recorded_hooks: removed.entries, ..self },
            None => self,
        }
    }

    fn into_document(
        self,
        path: &Path,
        root: JsonNode,
        format: DocumentFormat,
        spans: Option<DocumentSpans>,
    ) -> ClientDocument {
        ClientDocument {
            path: path.to_owned(),
            text: self.text,
            root,
            replaced: self.replaced,
            has_byte_order_mark: self.has_byte_order_mark,
            format,
            recorded_hooks: self.recorded_hooks,
            spans: spans.map(OnceLock::from).unwrap_or_default(),
            lines: OnceLock::new(),
        }
    }

    fn into_fault(
        self,
        path: &Path,
        kind: DocumentFaultKind,
        at: usize,
        repaired: Option<Box<ClientDocument>>,
    ) -> LoadedDocument {
        let location = FileLocation::in_text(path, &self.text, at);
        let text = Some(self.text);
        LoadedDocument::Void(Box::new(DocumentFault { kind, location, at, repaired, text }))
    }
}

/// Returns the document after all mistakes are repaired, with the offsets of the text as it is.
fn repair_document(
    path: &Path,
    text: &DecodedText,
    mistakes: &[JsonMistake],
) -> Option<ClientDocument> {
    let edited = EditedText::apply(&text.text, collect_repairs(mistakes)?);
    let root = javascript::parse(&edited.text).ok()?;
    if !matches!(root.kind, JsonKind::Object(_)) {
        return None;
    }
    let map = |at| edited.original_start(at);
    let map_end = |at| edited.original_end(at);
    let spans = DocumentSpans::from_json(&edited.text).map_offsets(map, map_end);
    let copy = DecodedText { text: text.text.clone(), ..*text };
    let format = DocumentFormat::RepairedJson;
    Some(copy.into_document(path, map_node(root, &map), format, Some(spans)))
}

impl ClientDocument {
    /// Returns the position of a byte offset. The first call finds the lines of the text, later ones reuse them.
    pub fn location(&self, at: usize) -> FileLocation {
        let lines = self.lines.get_or_init(|| LineIndex::new(&self.text));
        let position = Some(lines.line_and_column(&self.text, at));
        FileLocation { file: self.path.clone(), position }
    }

    /// Converts a node to a `serde_json` value. Returns Null if serde_json rejects it: it has no lone surrogates and no
    /// numbers out of range.
    pub fn to_json(&self, node: &JsonNode) -> Value {
        if self.format != DocumentFormat::Json {
            return tree_to_json(node);
        }
        let rest = self.text.get(node.at..).unwrap_or_default();
        let length = javascript::parse_first(rest).map_or(0, |(_, end)| end);
        serde_json::from_str(rest.get(..length).unwrap_or_default()).unwrap_or(Value::Null)
    }

    /// Finds keys that occur again in the same object, at any depth, in the order of the text.
    pub fn duplicate_keys(&self) -> Vec<DuplicateKey> {
        let repeated = self.spans().repeated_keys().iter().map(|one| DuplicateKey {
            key: one.key.clone(),
            location: self.location(one.second.start),
            parent: one.parent.clone(),
            first: one.first.clone(),
            second: one.second.clone(),
        });
        repeated.collect()
    }

    /// Returns the byte range of a value.
    pub fn value_range(&self, node: &JsonNode) -> Range<usize> {
        self.spans().value_range(node.at)
    }

    /// Returns the fields of an object with their byte ranges, in order and including duplicate keys. Empty for other
    /// values. The fields that an alias or merge key of YAML adds are those of its anchor, and have no ranges here.
    pub fn field_spans(&self, object: &JsonNode) -> &[FieldSpan] {
        match object.kind {
            JsonKind::Object(_) => self.spans().fields(object.at),
            _ => &[],
        }
    }

    fn spans(&self) -> &DocumentSpans {
        self.spans.get_or_init(|| DocumentSpans::from_json(&self.text))
    }
}

fn tree_to_json(node: &JsonNode) -> Value {
    match &node.kind {
        JsonKind::Null => Value::Null,
        JsonKind::Bool(flag) => Value::Bool(*flag),
        JsonKind::Number(number) => number.parse::<Number>().map_or(Value::Null, Value::Number),
        JsonKind::Text(text) => Value::String(text.clone()),
        JsonKind::List(items) => Value::Array(items.iter().map(tree_to_json).collect()),
        JsonKind::Object(members) => {
            let members = members.iter().map(|(key, node)| (key.clone(), tree_to_json(node)));
            Value::Object(members.collect::<Map<_, _>>())
        }
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
            .map(|one| format!("{}/{} {}", one.parent, one.key, one.location))
            .collect();
        assert_eq!(found, ["/env/b /s.json:2:1", "/x/c /s.json:2:19", "/a /s.json:2:26"]);
    }

    #[test]
    fn blank_text_and_byte_order_mark() {
        assert!(matches!(parse(b" \r\n\t"), LoadedDocument::Blank));
        assert!(matches!(parse("\u{feff}{}".as_bytes()), LoadedDocument::Document(_)));
        let LoadedDocument::Document(document) = parse(b"{\"a\": \"\xff\"}") else { panic!() };
        assert!(document.replaced);
    }

    #[test]
    fn repaired_document_keeps_offsets() {
        let text = "{ // note\n  hooks: {'Stop': [1,],}\n  \"b\": \"x\"}";
        let LoadedDocument::Void(fault) = parse(text.as_bytes()) else { panic!() };
        let DocumentFaultKind::NotJson { mistakes, .. } = &fault.kind else { panic!() };
        assert_eq!(mistakes.len(), 6, "{mistakes:?}");
        let document = fault.repaired.as_deref().unwrap();
        assert_eq!(document.format, DocumentFormat::RepairedJson);
        assert_eq!((document.text.as_str(), fault.text()), (text, Some(text)));
        let stop = document.root.pointer("/hooks/Stop").unwrap();
        assert_eq!(&text[document.value_range(stop)], "[1,]");
        let hooks = document.root.get("hooks").unwrap();
        let [field] = document.field_spans(hooks) else { panic!() };
        assert_eq!(&text[field.key_range.clone()], "'Stop'");
        assert_eq!(document.location(stop.at).to_string(), "/s.json:2:19");
        assert_eq!(document.to_json(&document.root)["b"], "x");
        let LoadedDocument::Void(fault) = parse(b"{\"a\": ") else { panic!() };
        assert!(fault.repaired.is_none());
    }

    #[test]
    fn frontmatter_has_offsets_in_file() {
        let parse = |text: &str, version| {
            let contract = Contract::for_client(version);
            LoadedDocument::parse_frontmatter(Path::new("/a.md"), text.as_bytes(), contract)
        };
        let [older, newer] = Contract::MEASURED;
        let text = "---\nname: é\nhooks:\n  Stop: []\n---\nbody";
        let LoadedDocument::Document(document) = parse(text, newer) else { panic!() };
        let stop = document.root.pointer("/hooks/Stop").unwrap();
        assert_eq!(document.location(stop.at).to_string(), "/a.md:4:9");
        assert_eq!(&document.text[document.value_range(stop)], "[]");
        assert_eq!(document.to_json(&document.root)["hooks"]["Stop"], Value::Array(Vec::new()));
        let marked = format!("\u{feff}{text}");
        assert!(matches!(parse(&marked, newer), LoadedDocument::Document(_)));
        assert!(matches!(parse(&marked, older), LoadedDocument::Blank));
        assert!(matches!(parse("no frontmatter", newer), LoadedDocument::Blank));
        let LoadedDocument::Void(fault) = parse("---\na:\n  - *\n---\n", newer) else { panic!() };
        assert!(matches!(fault.kind, DocumentFaultKind::NotYaml { .. }));
        assert_eq!(fault.location.position.unwrap().0, 3);
        let LoadedDocument::Void(fault) = parse("---\n- a\n---\n", newer) else { panic!() };
        assert!(matches!(fault.kind, DocumentFaultKind::NotObject { found: "array" }));
    }
}
