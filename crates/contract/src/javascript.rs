//! JavaScript's definitions of white space and JSON.
//!
//! The client trims with `String.prototype.trim` and parses with `JSON.parse`. serde_json is stricter: it
//! rejects lone surrogates, numbers beyond `f64`, and nesting deeper than 128 levels. The client accepts
//! answers with all three, so verdicts need this parser.

use std::collections::HashMap;
use std::fmt;

/// Depth to which the tree is kept. Deeper values are parsed and checked, but only their kind is kept: no
/// field of the contract is nearly as deep, and dropping a tree of unlimited depth would overflow the stack.
const MAX_KEPT_DEPTH: usize = 16;

/// Returns true if `String.prototype.trim` removes the character. Rust's definition differs in two places:
/// the byte order mark is white space here, U+0085 is not.
pub fn is_white_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// Trims like `String.prototype.trim`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// A value as `JSON.parse` returns it, with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonNode {
    /// The type and content of the value.
    pub kind: JsonKind,
    /// The byte offset of its start in the text.
    pub at: usize,
}

/// The type and content of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written: no rule depends on its value.
    Number(String),
    /// A string; a lone surrogate becomes U+FFFD, which has the same length in UTF-16.
    Text(String),
    /// An array.
    List(Vec<JsonNode>),
    /// An object with unique keys in order; of duplicate keys the last value counts.
    Object(Vec<(String, JsonNode)>),
}

impl JsonKind {
    /// Returns the type's name in the client's messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl JsonNode {
    /// Returns a member of an object.
    pub fn get(&self, key: &str) -> Option<&JsonNode> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// Returns the members of an object; empty for other values.
    pub fn members(&self) -> &[(String, JsonNode)] {
        match &self.kind {
            JsonKind::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the object without the member at a JSON pointer.
    #[must_use]
    pub fn without(mut self, path: &str) -> JsonNode {
        if let (JsonKind::Object(members), Some(rest)) = (&mut self.kind, path.strip_prefix('/')) {
            let (key, deeper) = rest
                .split_once('/')
                .map_or((rest, None), |(key, _)| (key, Some(&rest[key.len()..])));
            let key = key.replace("~1", "/").replace("~0", "~");
            match deeper {
                None => members.retain(|(name, _)| *name != key),
                Some(deeper) => {
                    for (_, node) in members.iter_mut().filter(|(name, _)| *name == key) {
                        let inner =
                            std::mem::replace(node, JsonNode { kind: JsonKind::Null, at: 0 });
                        *node = inner.without(deeper);
                    }
                }
            }
        }
        self
    }

    /// Returns the value at a JSON pointer.
    pub fn pointer(&self, path: &str) -> Option<&JsonNode> {
        path.split('/').skip(1).try_fold(self, |node, key| match &node.kind {
            JsonKind::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => node.get(&key.replace("~1", "/").replace("~0", "~")),
        })
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            JsonKind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A JSON syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonSyntaxError {
    /// The byte offset of the error.
    pub at: usize,
    /// The expected token.
    pub expected: &'static str,
}

impl fmt::Display for JsonSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected {}", self.at, self.expected)
    }
}

/// Parses like `JSON.parse`.
pub fn parse(text: &str) -> Result<JsonNode, JsonSyntaxError> {
    let mut reader = JsonParser { text, bytes: text.as_bytes(), at: 0 };
    let node = reader.value()?;
    reader.skip_space();
    if reader.at < reader.bytes.len() { reader.fail("the end") } else { Ok(node) }
}

/// Parses the first value of a text that may continue after it; returns the value and its end.
pub fn parse_first(text: &str) -> Result<(JsonNode, usize), JsonSyntaxError> {
    let mut reader = JsonParser { text, bytes: text.as_bytes(), at: 0 };
    let node = reader.value()?;
    Ok((node, reader.at))
}

struct JsonParser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

/// A container that is being parsed. Below the kept depth it stays empty.
enum OpenContainer {
    List(Vec<JsonNode>),
    Object(ObjectMembers, String),
}

/// The members of an object that is being parsed.
#[derive(Default)]
struct ObjectMembers {
    list: Vec<(String, JsonNode)>,
    /// Positions of the keys; filled only if there are too many keys for a linear search.
    index: HashMap<String, usize>,
}

impl ObjectMembers {
    /// Number of keys up to which a linear search is used.
    const MAX_LINEAR_SEARCH_KEYS: usize = 16;

    /// Sets a member like an assignment: an existing key keeps its position and gets the new value.
    fn insert(&mut self, key: String, node: JsonNode) {
        let many = self.list.len() > Self::MAX_LINEAR_SEARCH_KEYS;
        if many && self.index.is_empty() {
            let places = self.list.iter().enumerate().map(|(at, (key, _))| (key.clone(), at));
            self.index = places.collect();
        }
        let place = if many {
            self.index.get(&key).copied()
        } else {
            self.list.iter().position(|(name, _)| *name == key)
        };
        if let Some(place) = place {
            self.list[place].1 = node;
            return;
        }
        if many {
            self.index.insert(key.clone(), self.list.len());
        }
        self.list.push((key, node));
    }
}

impl JsonParser<'_> {
    /// Parses with an explicit stack, so that deep nesting cannot overflow the call stack.
    fn value(&mut self) -> Result<JsonNode, JsonSyntaxError> {
        let mut open: Vec<(OpenContainer, usize)> = Vec::new();
        loop {
            self.skip_space();
            let start = self.at;
            let mut value = match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.consume_byte(b'}') {
                        JsonKind::Object(Vec::new())
                    } else {
                        let key = self.key()?;
                        open.push((OpenContainer::Object(ObjectMembers::default(), key), start));
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.consume_byte(b']') {
                        JsonKind::List(Vec::new())
                    } else {
                        open.push((OpenContainer::List(Vec::new()), start));
                        continue;
                    }
                }
                Some(b'"') => JsonKind::Text(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.parse_literal("true", JsonKind::Bool(true))?,
                Some(b'f') => self.parse_literal("false", JsonKind::Bool(false))?,
                Some(b'n') => self.parse_literal("null", JsonKind::Null)?,
                _ => return self.fail("a value"),
            };
            let mut at = start;
            // Add the value to its container, and close the containers that end here.
            loop {
                let depth = open.len();
                let Some((container, _)) = open.last_mut() else {
                    return Ok(JsonNode { kind: value, at });
                };
                let node = JsonNode { kind: value, at };
                match container {
                    OpenContainer::List(items) if depth <= MAX_KEPT_DEPTH => items.push(node),
                    OpenContainer::Object(members, key) if depth <= MAX_KEPT_DEPTH => {
                        members.insert(std::mem::take(key), node);
                    }
                    OpenContainer::List(_) | OpenContainer::Object(..) => {}
                }
                self.skip_space();
                let closes = if matches!(container, OpenContainer::List(_)) { b']' } else { b'}' };
                if self.consume_byte(b',') {
                    if let OpenContainer::Object(_, key) = container {
                        self.skip_space();
                        *key = self.key()?;
                    }
                    break;
                }
                if !self.consume_byte(closes) {
                    return self.fail("`,` or the end of the array or object");
                }
                let Some((container, start)) = open.pop() else { break };
                (value, at) = match container {
                    OpenContainer::List(items) => (JsonKind::List(items), start),
                    OpenContainer::Object(members, _) => (JsonKind::Object(members.list), start),
                };
            }
        }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, JsonSyntaxError> {
        Err(JsonSyntaxError { at: self.at, expected })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn consume_byte(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn parse_literal(
        &mut self,
        word: &'static str,
        kind: JsonKind,
    ) -> Result<JsonKind, JsonSyntaxError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(kind);
        }
        self.fail(word)
    }

    fn digits(&mut self) -> bool {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > from
    }

    fn number(&mut self) -> Result<JsonKind, JsonSyntaxError> {
        let from = self.at;
        self.consume_byte(b'-');
        // A leading zero is the whole integer part.
        if !self.consume_byte(b'0') && !self.digits() {
            return self.fail("a digit");
        }
        if self.consume_byte(b'.') && !self.digits() {
            return self.fail("a digit");
        }
        if self.consume_byte(b'e') || self.consume_byte(b'E') {
            let _ = self.consume_byte(b'+') || self.consume_byte(b'-');
            if !self.digits() {
                return self.fail("a digit");
            }
        }
        Ok(JsonKind::Number(self.text[from..self.at].to_owned()))
    }

    fn key(&mut self) -> Result<String, JsonSyntaxError> {
        if self.peek() != Some(b'"') {
            return self.fail("a key in double quotes");
        }
        let key = self.string()?;
        self.skip_space();
        if self.consume_byte(b':') { Ok(key) } else { self.fail("`:`") }
    }

    fn string(&mut self) -> Result<String, JsonSyntaxError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return self.fail("no control character in a string"),
                None => return self.fail("the end of the string"),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), JsonSyntaxError> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b @ (b'"' | b'\\' | b'/')) => char::from(b),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let unit = self.parse_utf16_escape()?;
                out.push(self.character(unit));
                return Ok(());
            }
            _ => return self.fail("an escape that JSON knows"),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// Returns the character of a UTF-16 unit; consumes the second half of a surrogate pair if it follows.
    fn character(&mut self, unit: u16) -> char {
        let after_first = self.at;
        if (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.parse_utf16_escape().ok();
            let pair = second.and_then(|second| char::decode_utf16([unit, second]).next()?.ok());
            if let Some(pair) = pair {
                return pair;
            }
            // Not the other half: parse it again as a separate unit.
            self.at = after_first;
        }
        char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn parse_utf16_escape(&mut self) -> Result<u16, JsonSyntaxError> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            return self.fail("four hexadecimal digits");
        };
        self.at += 4;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_json_that_serde_rejects() {
        let lone = parse(r#"{"a":"\ud800x"}"#).unwrap();
        assert_eq!(lone.get("a").unwrap().text(), Some("\u{fffd}x"));
        assert!(parse("1e999").is_ok());
        assert!(parse(&format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))).is_ok());
        assert!(parse(&"{\"a\":".repeat(200_000)).is_err());
    }

    #[test]
    fn rejects_invalid_json() {
        for text in [
            "",
            "{",
            "}",
            "{}}",
            "{,}",
            "{\"a\":1,}",
            "[1,]",
            "{'a':1}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "NaN",
            "Infinity",
            "tru",
            "\"a",
            "\"a\nb\"",
            "\"a\tb\"",
            r#""\x""#,
            r#""\u12""#,
            "{} {}",
            "/**/{}",
            "{\"a\":1} x",
            "\u{a0}{}",
            "{\"a\" 1}",
            "+1",
            r#""\u00é9""#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn last_duplicate_key_counts() {
        let node = parse(r#"{"a":1,"b":2,"a":"x"}"#).unwrap();
        assert_eq!(node.get("a").unwrap().text(), Some("x"));
        assert_eq!(node.members().len(), 2);
    }

    #[test]
    fn decodes_surrogate_pairs() {
        let text = |json: &str| parse(json).unwrap().text().unwrap().to_owned();
        assert_eq!(text(r#""\ud83d\ude00""#), "😀");
        assert_eq!(text(r#""\ud83d\u0041""#), "\u{fffd}A");
        assert_eq!(text(r#""\ude00\ud83d""#), "\u{fffd}\u{fffd}");
        assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "\u{fffd}😀");
    }

    #[test]
    fn trims_javascript_white_space() {
        assert_eq!(trim("\u{feff}\u{a0}\u{2028}\u{3000}\u{b}x\u{1680}\u{202f}"), "x");
        assert_eq!(trim("\u{85}x"), "\u{85}x");
        assert_eq!(trim("\u{200b}x"), "\u{200b}x");
    }

    #[test]
    fn many_keys_parse_in_linear_time() {
        let keys: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect();
        let node = parse(&format!("{{{},\"k7\":true}}", keys.join(","))).unwrap();
        assert_eq!(node.members().len(), 200_000);
        assert_eq!(node.members()[7].1.kind, JsonKind::Bool(true));
    }

    #[test]
    fn parse_first_returns_end() {
        let (node, end) = parse_first("{\"a\":\"}\"} and more }").unwrap();
        assert_eq!((node.members().len(), end), (1, 9));
        assert!(parse_first("{\"a\":").is_err());
    }

    #[test]
    fn without_removes_member() {
        let node = parse(r#"{"a":{"b":1,"c":2},"d":3}"#).unwrap();
        assert_eq!(node.clone().without("/a/b").pointer("/a").unwrap().members().len(), 1);
        assert_eq!(node.clone().without("/d").members().len(), 1);
        assert_eq!(node.clone().without("/x/y"), node);
    }

    #[test]
    fn positions_are_byte_offsets() {
        let node = parse("{\"é\": [true]}").unwrap();
        assert_eq!(node.get("é").unwrap().at, 7);
    }
}
