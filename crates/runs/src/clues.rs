//! Clues of a failure: places in the project's files, and identifiers. A change that touches them is likely the fix.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::place::RunPlace;
use super::report::ReportedFailure;
use super::scan;
use rutter_redact::Clean;

/// Maximum number of places kept for one failure.
const MAX_PLACES: usize = 8;
/// Maximum number of words kept for one failure.
const MAX_WORDS: usize = 48;
/// Maximum number of output lines that belong to one failure.
const MAX_BLOCK_LINES: usize = 60;
/// Minimum length of an identifier; shorter ones are not informative.
const MIN_WORD_CHARS: usize = 3;
/// Maximum length of an identifier; longer words are data.
const MAX_WORD_BYTES: usize = 80;
/// Maximum length of one failure's text that is searched.
const MAX_BLOCK_BYTES: usize = 6_000;

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClueLine {
    /// The file, relative to the root of the checkout.
    pub file: Clean,
    /// The line.
    pub line: u32,
}

/// The places and identifiers that a failure names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clues {
    /// Places, in the order of the output.
    #[serde(default)]
    pub places: Vec<ClueLine>,
    /// Identifiers of the error itself and of the test's name.
    #[serde(default)]
    pub named: Vec<Clean>,
    /// Identifiers near the error: in the traceback, in the source of the test.
    #[serde(default)]
    pub near: Vec<Clean>,
}

impl Clues {
    /// Returns true if it has neither places nor identifiers.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.named.is_empty() && self.near.is_empty()
    }

    /// Collects the clues of a failure from the output of its run. `others` are all failures of the run.
    pub fn collect(
        text: &str,
        failure: &ReportedFailure,
        others: &[ReportedFailure],
        place: &RunPlace<'_>,
    ) -> Self {
        let block = Clean::new(&failure_block(text, failure, others));
        let mut clues = Self::default();
        if let (Some(frame), Some(line)) = (&failure.frame, failure.line) {
            clues.places.push(ClueLine { file: Clean::new(frame), line });
        }
        for line in block.lines() {
            if let Some((file, number)) = parse_file_and_line(line)
                && scan::is_project_file(file)
                && clues.places.len() < MAX_PLACES
            {
                let found =
                    ClueLine { file: Clean::new(&place.path_from_root(file)), line: number };
                // A compile error is in one file; the next lines may belong to another error.
                let is_elsewhere = failure.test.is_none()
                    && failure.frame.as_deref().is_some_and(|frame| frame != found.file.as_str());
                if !is_elsewhere && !clues.places.contains(&found) {
                    clues.places.push(found);
                }
            }
        }
        let mut named = ClueWords::default();
        if let Some(test) = &failure.test {
            let words = words_of_name(test);
            // `test_name` is about `name`, which is otherwise dropped as a common word.
            named.add_even_common(&words[0]);
            for word in &words[1..] {
                named.add(word);
            }
        }
        for text in [&failure.error, &failure.message].into_iter().flatten() {
            named.add_text(&Clean::new(text));
        }
        let mut near = ClueWords::default();
        near.add_text(&block);
        near.list.retain(|word| !named.list.contains(word));
        clues.named = named.into_list(MAX_WORDS / 2);
        clues.near = near.into_list(MAX_WORDS);
        clues
    }

    /// Adds the identifiers in the source of the test: it calls the code that it tests.
    pub fn add_test_source(&mut self, source: &str) {
        let mut words = ClueWords::default();
        words.add_text(&Clean::new(source));
        for word in words.into_list(MAX_WORDS) {
            if self.near.len() < 2 * MAX_WORDS
                && !self.named.contains(&word)
                && !self.near.contains(&word)
            {
                self.near.push(word);
            }
        }
    }
}

/// Returns the last part of a test's name, which is its name in the source file.
pub fn own_name(test: &str) -> &str {
    // `test_x (tests.test_a.A.test_x)` begins with it; `tests/a.py::A::test_x[1]`, `a::tests::x` and `tests.a.A.test_x`
    // end with it. A title of several words is kept whole.
    let test = test.split(" (").next().unwrap_or(test);
    let test = test.split('[').next().unwrap_or(test);
    let test = test.rsplit("::").next().unwrap_or(test);
    let test = test.rsplit(" > ").next().unwrap_or(test).trim();
    let test = test.split('/').next().filter(|first| first.starts_with("Test")).unwrap_or(test);
    if test.contains(' ') { test } else { test.rsplit('.').next().unwrap_or(test) }
}

/// Returns the lines of an output that belong to one failure.
fn failure_block(text: &str, failure: &ReportedFailure, others: &[ReportedFailure]) -> String {
    let marker = failure.test.as_deref().map(own_name).or(failure.message.as_deref());
    let Some(marker) = marker.filter(|marker| marker.len() >= MIN_WORD_CHARS) else {
        return String::new();
    };
    let other_markers: Vec<&str> = others
        .iter()
        .filter_map(|other| other.test.as_deref().map(own_name))
        .filter(|other| {
            *other != marker && other.len() >= MIN_WORD_CHARS && !other.contains(marker)
        })
        .collect();
    let mut block = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.contains(marker) || block.len() > MAX_BLOCK_BYTES {
            continue;
        }
        push_line(&mut block, line);
        let rest = lines.clone().take(MAX_BLOCK_LINES);
        for line in rest {
            let ends = other_markers.iter().any(|other| line.contains(other)) || is_summary(line);
            if ends || block.len() > MAX_BLOCK_BYTES {
                break;
            }
            lines.next();
            push_line(&mut block, line);
        }
    }
    block
}

fn push_line(block: &mut String, line: &str) {
    let end = line.floor_char_boundary(400);
    block.push_str(&line[..end]);
    block.push('\n');
}

/// Returns true if a line belongs to the whole run.
fn is_summary(line: &str) -> bool {
    line.starts_with("=====")
        || line.starts_with("test result:")
        || line.starts_with("Tests: ")
        || line.starts_with("ok  \t")
        || line.starts_with("FAIL\t")
        || line.trim_start().starts_with("Test Files ")
}

/// Returns the file and the line in `path.ext:12`, `path.ext(12,3)` and `File "path", line 12`.
fn parse_file_and_line(line: &str) -> Option<(&str, u32)> {
    if let Some((_, rest)) = line.split_once("File \"")
        && let Some((file, rest)) = rest.split_once("\", line ")
    {
        return Some((file, scan::split_number(rest)?.0));
    }
    let mut from = 0;
    while let Some(at) = line[from..].find([':', '(']).map(|at| at + from) {
        from = at + 1;
        let Some((number, _)) = scan::split_number(&line[at + 1..]) else { continue };
        let start = line[..at]
            .rfind([' ', '\t', '(', '"', '\'', '[', '`', '='])
            .map_or(0, |start| start + 1);
        let file = line[start..at].trim_start_matches("file://");
        let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_file = (1..=6).contains(&extension.len())
            && extension.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_file && !file.contains("://") {
            return Some((file, number));
        }
    }
    None
}

/// Returns the identifiers in a test's name: `test_apply_discount` is about `apply_discount`.
fn words_of_name(test: &str) -> Vec<String> {
    let name = own_name(test);
    let mut words = Vec::new();
    let bare = name
        .strip_prefix("test_")
        .or_else(|| name.strip_prefix("Test_"))
        .or_else(|| name.strip_prefix("Test").filter(|rest| rest.starts_with(char::is_uppercase)))
        .unwrap_or(name);
    words.push(bare.to_owned());
    // `TestTruncateRunes_Empty` is about `TruncateRunes`; a title of several words gives each of them.
    words.extend(bare.split(|sign: char| !(sign.is_alphanumeric())).map(str::to_owned));
    // A class or suite around it: `TestCart`, `cart`.
    for part in test.split("::").chain(test.split(" > ")) {
        if !part.contains(['/', '.', ' ']) && part != name {
            words.push(part.trim_start_matches("Test").to_owned());
        }
    }
    words
}

/// Words that every failure contains, in alphabetical order.
#[rustfmt::skip]
const COMMON_WORDS: &[&str] = &[
    "and", "anonymous", "any", "args", "array", "assert", "assertion", "assertionerror", "async", "await", "bool",
    "break", "but", "byte", "call", "calls", "case", "catch", "class", "console", "const", "continue", "def",
    "describe", "doctest", "does", "else", "end", "enum", "equal", "equals", "err", "error", "errorf", "errors",
    "except", "exception", "exit", "expect", "expected", "export", "fail", "failed", "failing", "failure", "failures",
    "false", "fatal", "fatalf", "file", "finally", "float", "for", "found", "from", "func", "function", "get",
    "goroutine", "got", "has", "have", "home", "http", "impl", "import", "info", "int", "interface", "internal",
    "into", "invalid", "its", "key", "last", "left", "len", "let", "lib", "line", "list", "log", "logf", "main",
    "match", "message", "mod", "module", "modules", "most", "must", "name", "new", "nil", "node", "nodejs", "none",
    "not", "note", "null", "object", "only", "other", "package", "panic", "panicked", "parent", "pass", "passed",
    "print", "println", "private", "processticksandrejections", "promise", "pub", "public", "pytest", "python",
    "raise", "received", "recent", "require", "result", "return", "returned", "returns", "right", "run", "running",
    "runtime", "self", "set", "should", "signal", "some", "src", "stack", "stderr", "stdout", "str", "string",
    "struct", "suite", "super", "test", "testing", "tests", "that", "the", "then", "this", "thread", "throw", "time",
    "tobe", "toequal", "trace", "traceback", "true", "try", "type", "undefined", "unittest", "unknown", "unwrap",
    "usage", "use", "usr", "value", "values", "var", "vec", "void", "want", "warning", "was", "when", "where",
    "while", "with", "you", "your",
];

#[derive(Default)]
struct ClueWords {
    list: Vec<String>,
    counts: HashMap<String, u32>,
}

impl ClueWords {
    fn add_text(&mut self, text: &str) {
        for word in text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '$'))
        {
            self.add(word);
        }
    }

    fn add(&mut self, word: &str) {
        let plain = word.trim_matches(['_', '$']).to_lowercase();
        if COMMON_WORDS.binary_search(&plain.as_str()).is_err() {
            self.add_even_common(word);
        }
    }

    /// Adds a word even if it is common.
    fn add_even_common(&mut self, word: &str) {
        let word = word.trim_matches(['_', '$']);
        let is_identifier =
            word.starts_with(char::is_alphabetic) && word.chars().count() >= MIN_WORD_CHARS;
        if !is_identifier || word.len() > MAX_WORD_BYTES {
            return;
        }
        let count = self.counts.entry(word.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            self.list.push(word.to_owned());
        }
    }

    /// Returns the words, first those that look like names in code.
    fn into_list(self, most: usize) -> Vec<Clean> {
        let mut list = self.list;
        list.sort_by_key(|word| !is_code_name(word));
        list.truncate(most);
        list.iter().map(|word| Clean::new(word)).collect()
    }
}

/// Returns true if a word looks like a name in code: `apply_discount`, `TruncateRunes`.
pub fn is_code_name(word: &str) -> bool {
    word.contains('_')
        || word.chars().skip(1).any(char::is_uppercase)
        || word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn failures_name_places_and_identifiers() {
        let text = "=================== FAILURES ===================\n\
            ______ test_apply_discount ______\n\n    def test_apply_discount():\n>       assert apply_discount(100, rate=2) == 80\n\
            E       assert 90 == 80\n\ntests/test_cart.py:12: AssertionError\nshop/cart.py:7: in apply_discount\n\
            ______ test_total ______\nE   TypeError: total() missing 'items'\ntests/test_cart.py:20: TypeError\n\
            =========== short test summary info ===========\n";
        let failure = |name: &str, message: &str| ReportedFailure {
            test: Some(format!("tests/test_cart.py::{name}")),
            message: Some(message.to_owned()),
            ..ReportedFailure::default()
        };
        let all = [
            failure("test_apply_discount", "assert 90 == 80"),
            failure("test_total", "total() missing 'items'"),
        ];
        let place = RunPlace { root: Path::new("/nowhere"), folder: "" };
        let clues = Clues::collect(text, &all[0], &all, &place);
        let shown =
            |words: &[Clean]| words.iter().map(|word| word.as_str().to_owned()).collect::<Vec<_>>();
        assert!(shown(&clues.named).contains(&"apply_discount".to_owned()), "{clues:?}");
        assert!(shown(&clues.near).contains(&"rate".to_owned()), "{clues:?}");
        assert!(!shown(&clues.near).contains(&"items".to_owned()), "{clues:?}");
        let places: Vec<(&str, u32)> =
            clues.places.iter().map(|place| (place.file.as_str(), place.line)).collect();
        assert_eq!(places, [("tests/test_cart.py", 12), ("shop/cart.py", 7)]);
        let clues = Clues::collect(text, &all[1], &all, &place);
        assert!(shown(&clues.named).contains(&"items".to_owned()), "{clues:?}");
        assert_eq!(clues.places[0].line, 20);
    }

    #[test]
    fn places_of_many_forms() {
        for (line, expected) in [
            ("tests/a.py:12: AssertionError", Some(("tests/a.py", 12))),
            ("  File \"/p/a.py\", line 3, in f", Some(("/p/a.py", 3))),
            ("    at f (/p/src/a.ts:3:14)", Some(("/p/src/a.ts", 3))),
            ("a.ts(3,14): error TS2322: no", Some(("a.ts", 3))),
            ("  --> src/lib.rs:8:5", Some(("src/lib.rs", 8))),
            ("panicked at src/lib.rs:5:9:", Some(("src/lib.rs", 5))),
            ("    cart_test.go:89: got 3", Some(("cart_test.go", 89))),
            ("at 12:30:01 it stopped", None),
            ("see http://x.org:80/a", None),
            ("ratio 1.5:2", None),
        ] {
            assert_eq!(parse_file_and_line(line), expected, "{line}");
        }
    }

    #[test]
    fn names_of_tests() {
        for (test, expected) in [
            ("tests/a.py::A::test_x[1]", "test_x"),
            ("cart::tests::total", "total"),
            ("TestTruncate/chinese_longer", "TestTruncate"),
            ("src/a.test.ts > cart > adds items", "adds items"),
            ("test_x (tests.test_a.A.test_x)", "test_x"),
            ("tests.test_a.A.test_x", "test_x"),
        ] {
            assert_eq!(own_name(test), expected, "{test}");
        }
    }
}
