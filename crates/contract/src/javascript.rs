//! JavaScript's definitions of white space and JSON.
//!
//! The client trims with `String.prototype.trim` and parses with `JSON.parse`. serde_json is stricter: it
//! rejects lone surrogates, numbers beyond `f64`, and nesting deeper than 128 levels. The client accepts
//! answers with all three, so verdicts need this parser.

use std::collections::HashMap;
use std::fmt;

/// Depth to which the tree is kept. Deeper values are parsed and checked, but only their kind is kept: no
/// field of the contract is nearly as deep, and dropping a tree of unlimited depth would overflow the stack.
const KEPT_DEPTH: usize = 16;

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
pub struct Node {
    /// The type and content of the value.
    pub kind: Kind,
    /// The byte offset of its start in the text.
    pub at: usize,
}

/// The type and content of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written: no rule depends on its value.
    Number(String),
    /// A string; a lone surrogate becomes U+FFFD, which has the same length in UTF-16.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object with unique keys in order; of duplicate keys the last value counts.
    Object(Vec<(String, Node)>),
}

impl Kind {
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

impl Node {
    /// Returns a member of an object.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// Returns the members of an object; empty for other values.
    pub fn members(&self) -> &[(String, Node)] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the object without the member at a JSON pointer.
    #[must_use]
    pub fn without(mut self, path: &str) -> Node {
        if let (Kind::Object(members), Some(rest)) = (&mut self.kind, path.strip_prefix('/')) {
            let (key, deeper) = rest
                .split_once('/')
                .map_or((rest, None), |(key, _)| (key, Some(&rest[key.len()..])));
            let key = key.replace("~1", "/").replace("~0", "~");
            match deeper {
                None => members.retain(|(name, _)| *name != key),
                Some(deeper) => {
                    for (_, node) in members.iter_mut().filter(|(name, _)| *name == key) {
                        let inner = std::mem::replace(node, Node { kind: Kind::Null, at: 0 });
                        *node = inner.without(deeper);
                    }
                }
            }
        }
        self
    }

    /// Returns the value at a JSON pointer.
    pub fn pointer(&self, path: &str) -> Option<&Node> {
        path.split('/').skip(1).try_fold(self, |node, key| match &node.kind {
            Kind::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => node.get(&key.replace("~1", "/").replace("~0", "~")),
        })
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A JSON syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotJson {
    /// The byte offset of the error.
    pub at: usize,
    /// The expected token.
    pub expected: &'static str,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected {}", self.at, self.expected)
    }
}

/// Parses like `JSON.parse`.
pub fn parse(text: &str) -> Result<Node, NotJson> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0 };
    let node = reader.value()?;
    reader.skip_space();
    if reader.at < reader.bytes.len() { reader.fail("the end") } else { Ok(node) }
}

/// Parses the first value of a text that may continue after it; returns the value and its end.
pub fn parse_first(text: &str) -> Result<(Node, usize), NotJson> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0 };
    let node = reader.value()?;
    Ok((node, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

/// A container that is being parsed. Below the kept depth it stays empty.
enum Open {
    List(Vec<Node>),
    Object(Members, String),
}

/// The members of an object that is being parsed.
#[derive(Default)]
struct Members {
    list: Vec<(String, Node)>,
    /// Positions of the keys; filled only if there are too many keys for a linear search.
    index: HashMap<String, usize>,
}

impl Members {
    /// Number of keys up to which a linear search is used.
    const FEW: usize = 16;

    /// Sets a member like an assignment: an existing key keeps its position and gets the new value.
    fn insert(&mut self, key: String, node: Node) {
        let many = self.list.len() > Self::FEW;
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

impl Reader<'_> {
    /// Parses with an explicit stack, so that deep nesting cannot overflow the call stack.
    fn value(&mut self) -> Result<Node, NotJson> {
        let mut open: Vec<(Open, usize)> = Vec::new();
        loop {
            self.skip_space();
            let start = self.at;
            let mut value = match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.take(b'}') {
                        Kind::Object(Vec::new())
                    } else {
                        let key = self.key()?;
                        open.push((Open::Object(Members::default(), key), start));
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.take(b']') {
                        Kind::List(Vec::new())
                    } else {
                        open.push((Open::List(Vec::new()), start));
                        continue;
                    }
                }
                Some(b'"') => Kind::Text(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true", Kind::Bool(true))?,
                Some(b'f') => self.word("false", Kind::Bool(false))?,
                Some(b'n') => self.word("null", Kind::Null)?,
                _ => return self.fail("a value"),
            };
            let mut at = start;
            // Add the value to its container, and close the containers that end here.
            loop {
                let depth = open.len();
                let Some((container, _)) = open.last_mut() else {
                    return Ok(Node { kind: value, at });
                };
                let node = Node { kind: value, at };
                match container {
                    Open::List(items) if depth <= KEPT_DEPTH => items.push(node),
                    Open::Object(members, key) if depth <= KEPT_DEPTH => {
                        members.insert(std::mem::take(key), node);
                    }
                    Open::List(_) | Open::Object(..) => {}
                }
                self.skip_space();
                let closes = if matches!(container, Open::List(_)) { b']' } else { b'}' };
                if self.take(b',') {
                    if let Open::Object(_, key) = container {
                        self.skip_space();
                        *key = self.key()?;
                    }
                    break;
                }
                if !self.take(closes) {
                    return self.fail("`,` or the end of the array or object");
                }
                let Some((container, start)) = open.pop() else { break };
                (value, at) = match container {
                    Open::List(items) => (Kind::List(items), start),
                    Open::Object(members, _) => (Kind::Object(members.list), start),
                };
            }
        }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, NotJson> {
        Err(NotJson { at: self.at, expected })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &'static str, kind: Kind) -> Result<Kind, NotJson> {
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

    fn number(&mut self) -> Result<Kind, NotJson> {
        let from = self.at;
        self.take(b'-');
        // A leading zero is the whole integer part.
        if !self.take(b'0') && !self.digits() {
            return self.fail("a digit");
        }
        if self.take(b'.') && !self.digits() {
            return self.fail("a digit");
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            if !self.digits() {
                return self.fail("a digit");
            }
        }
        Ok(Kind::Number(self.text[from..self.at].to_owned()))
    }

    fn key(&mut self) -> Result<String, NotJson> {
        if self.peek() != Some(b'"') {
            return self.fail("a key in double quotes");
        }
        let key = self.string()?;
        self.skip_space();
        if self.take(b':') { Ok(key) } else { self.fail("`:`") }
    }

    fn string(&mut self) -> Result<String, NotJson> {
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

    fn escape(&mut self, out: &mut String) -> Result<(), NotJson> {
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
                let unit = self.unit()?;
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
            let second = self.unit().ok();
            let pair = second.and_then(|second| char::decode_utf16([unit, second]).next()?.ok());
            if let Some(pair) = pair {
                return pair;
            }
            // Not the other half: parse it again as a separate unit.
            self.at = after_first;
        }
        char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn unit(&mut self) -> Result<u16, NotJson> {
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
    fn reads_what_the_client_reads_and_serde_does_not() {
        let lone = parse(r#"{"a":"\ud800x"}"#).unwrap();
        assert_eq!(lone.get("a").unwrap().text(), Some("\u{fffd}x"));
        assert!(parse("1e999").is_ok());
        assert!(parse(&format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))).is_ok());
        assert!(parse(&"{\"a\":".repeat(200_000)).is_err());
    }

    #[test]
    fn refuses_what_the_client_refuses() {
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
    fn the_last_of_two_keys_counts() {
        let node = parse(r#"{"a":1,"b":2,"a":"x"}"#).unwrap();
        assert_eq!(node.get("a").unwrap().text(), Some("x"));
        assert_eq!(node.members().len(), 2);
    }

    #[test]
    fn pairs_of_surrogates_are_one_character() {
        let text = |json: &str| parse(json).unwrap().text().unwrap().to_owned();
        assert_eq!(text(r#""\ud83d\ude00""#), "😀");
        assert_eq!(text(r#""\ud83d\u0041""#), "\u{fffd}A");
        assert_eq!(text(r#""\ude00\ud83d""#), "\u{fffd}\u{fffd}");
        assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "\u{fffd}😀");
    }

    #[test]
    fn white_space_is_javascripts() {
        assert_eq!(trim("\u{feff}\u{a0}\u{2028}\u{3000}\u{b}x\u{1680}\u{202f}"), "x");
        assert_eq!(trim("\u{85}x"), "\u{85}x");
        assert_eq!(trim("\u{200b}x"), "\u{200b}x");
    }

    #[test]
    fn many_keys_take_no_longer_each() {
        let keys: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect();
        let node = parse(&format!("{{{},\"k7\":true}}", keys.join(","))).unwrap();
        assert_eq!(node.members().len(), 200_000);
        assert_eq!(node.members()[7].1.kind, Kind::Bool(true));
    }

    #[test]
    fn the_first_value_ends_where_it_ends() {
        let (node, end) = parse_first("{\"a\":\"}\"} and more }").unwrap();
        assert_eq!((node.members().len(), end), (1, 9));
        assert!(parse_first("{\"a\":").is_err());
    }

    #[test]
    fn a_member_can_be_taken_out() {
        let node = parse(r#"{"a":{"b":1,"c":2},"d":3}"#).unwrap();
        assert_eq!(node.clone().without("/a/b").pointer("/a").unwrap().members().len(), 1);
        assert_eq!(node.clone().without("/d").members().len(), 1);
        assert_eq!(node.clone().without("/x/y"), node);
    }

    #[test]
    fn places_are_bytes_of_the_text() {
        let node = parse("{\"é\": [true]}").unwrap();
        assert_eq!(node.get("é").unwrap().at, 7);
    }
}
