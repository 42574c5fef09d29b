//! The layout of a JSON file: indentation, line ends, byte order mark and final line end. A file that is written back keeps
//! them. Blanks inside a line are not kept.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Indentation of a file that has none to go by.
const DEFAULT_INDENT: &str = "  ";
/// Longest indentation that is taken from a file, in bytes.
const MAX_INDENT_BYTES: usize = 16;

/// The layout of a JSON file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonLayout {
    has_mark: bool,
    has_crlf: bool,
    has_final_line_end: bool,
    /// None if the whole document is on one line.
    indent: Option<String>,
}

impl Default for JsonLayout {
    fn default() -> Self {
        Self {
            has_mark: false,
            has_crlf: false,
            has_final_line_end: true,
            indent: Some(DEFAULT_INDENT.to_owned()),
        }
    }
}

impl JsonLayout {
    /// Detects the layout of a text. Returns it with the text without the byte order mark.
    pub(crate) fn detect(text: &str) -> (Self, &str) {
        let (has_mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(body) => (true, body),
            None => (false, text),
        };
        let inner = body.trim();
        let mut lines = inner.lines().skip(1).peekable();
        let indent = lines.peek().is_some().then(|| {
            let indents = lines.map(|line| &line[..line.len() - line.trim_start().len()]);
            let first = indents.into_iter().find(|indent| !indent.is_empty());
            let first = first.filter(|indent| indent.len() <= MAX_INDENT_BYTES);
            first.unwrap_or(DEFAULT_INDENT).to_owned()
        });
        let layout = Self {
            has_mark,
            has_crlf: body.contains("\r\n"),
            has_final_line_end: body.ends_with('\n'),
            indent,
        };
        (layout, body)
    }

    /// Renders a document in this layout.
    pub(crate) fn render(&self, document: &Value) -> Vec<u8> {
        let mut json = match &self.indent {
            None => document.to_string(),
            Some(indent) => {
                let formatter = PrettyFormatter::with_indent(indent.as_bytes());
                let mut bytes = Vec::new();
                let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
                // A value that was parsed can be written, and so can a vector.
                match document.serialize(&mut serializer) {
                    Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(_) => document.to_string(),
                }
            }
        };
        if self.has_final_line_end {
            json.push('\n');
        }
        if self.has_crlf {
            // Line ends inside of strings are escaped in JSON.
            json = json.replace('\n', "\r\n");
        }
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        [mark, &json].concat().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_kept() {
        for text in [
            "{\n  \"b\": 1,\n  \"a\": []\n}\n",
            "{\n\t\"b\": 1,\n\t\"a\": [\n\t\t1\n\t]\n}",
            "{\r\n    \"b\": \"x\\ny\"\r\n}\r\n",
            "\u{feff}{\n   \"b\": null\n}\n",
            "{\"b\":1,\"a\":[1,2]}",
            "{\"b\":1}\n",
        ] {
            let (layout, body) = JsonLayout::detect(text);
            let document: Value = serde_json::from_str(body).unwrap();
            assert_eq!(String::from_utf8(layout.render(&document)).unwrap(), text, "{text:?}");
        }
    }

    #[test]
    fn absurd_indent_is_not_copied() {
        let text = format!("{{\n{}\"a\": 1\n}}", " ".repeat(5_000));
        let (layout, body) = JsonLayout::detect(&text);
        let document: Value = serde_json::from_str(body).unwrap();
        assert_eq!(layout.render(&document), b"{\n  \"a\": 1\n}");
    }
}
