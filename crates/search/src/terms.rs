//! Splits a text into the terms that are indexed and searched, the same way for documents and queries.
//!
//! An identifier gives its parts, stemmed like any other word, and itself: `parse_header` is found by "parse the
//! header" and, with a higher score, by `parse_header`. Paths, test names and versions are identifiers too.

use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};

use super::words;

/// Maximum length of a term in bytes. A longer one is not a word that a query would contain.
const MAX_TERM_BYTES: usize = 64;

/// Stop words, sorted. Ignoring them lets the search for an ordinary sentence find a twelfth more of the expected
/// documents.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be",
    "because", "been", "before", "being", "both", "but", "by", "can", "could", "couldn", "did", "didn", "do",
    "does", "doesn", "doing", "don", "during", "each", "few", "for", "from", "further", "had", "hadn", "has",
    "hasn", "have", "haven", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "isn", "it", "its", "itself", "just", "ll", "may", "me", "might", "more", "most", "must", "my", "no",
    "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own",
    "re", "same", "shall", "she", "should", "shouldn", "so", "some", "such", "than", "that", "the", "their",
    "theirs", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "us", "ve", "very", "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "won", "would", "wouldn", "you", "your", "yours",
];

/// A term of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The indexed form.
    pub text: String,
    /// True for a whole identifier with parts that are terms as well.
    pub whole: bool,
}

/// Returns the terms of a text, in order.
pub fn extract_terms(text: &str) -> Vec<Term> {
    terms_of_words(text.split(is_term_separator))
}

/// Returns each term of a text once, sorted. For a long text this is faster than sorting the result of [`extract_terms`],
/// because most of its words are repeated.
pub fn extract_distinct(text: &str) -> Vec<Term> {
    let mut seen = HashSet::new();
    let mut found = terms_of_words(text.split(is_term_separator).filter(|raw| seen.insert(*raw)));
    found.sort_unstable();
    found.dedup();
    found
}

fn terms_of_words<'t>(words: impl Iterator<Item = &'t str>) -> Vec<Term> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = Vec::new();
    for raw in words {
        let raw = raw.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let raw = raw.trim_end_matches('_');
        if raw.is_empty() {
            continue;
        }
        let parts: Vec<&str> = words::name_parts(raw).collect();
        let several = parts.len() > 1;
        for part in parts {
            push_part(part, &stemmer, &mut found);
        }
        let whole = raw.trim_start_matches('_').to_lowercase();
        if several && whole.len() <= MAX_TERM_BYTES && is_identifier(raw) {
            found.push(Term { text: whole, whole: true });
        }
    }
    found
}

/// Returns true for characters that cannot be part of an identifier.
fn is_term_separator(sign: char) -> bool {
    !(sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | '/' | ':' | '\\' | '@' | '$'))
}

/// Returns true if a word with several parts is a name and not two joined words: `read-only` and `and/or` are prose,
/// `read_only`, `readOnly`, `src/read.rs` and `a::b` are names.
fn is_identifier(raw: &str) -> bool {
    let humps = raw
        .chars()
        .zip(raw.chars().skip(1))
        .any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    let joined = raw.contains(['-', '/']);
    raw.chars().count() > 2
        && (!joined
            || humps
            || raw.contains(['_', '.', ':', '\\', '@', '$'])
            || raw.matches('/').count() > 1
            || raw.chars().any(|sign| sign.is_ascii_digit()))
}

fn push_part(part: &str, stemmer: &Stemmer, found: &mut Vec<Term>) {
    let lower = part.to_lowercase();
    if lower.chars().any(is_unspaced) {
        // Scripts without spaces: two characters at a time.
        let signs: Vec<char> = lower.chars().collect();
        let pairs = signs.windows(2).map(|pair| pair.iter().collect::<String>());
        let one = (signs.len() == 1).then(|| lower.clone());
        found.extend(pairs.chain(one).map(|text| Term { text, whole: false }));
        return;
    }
    // A single letter or digit carries no information.
    if lower.chars().count() < 2
        || lower.len() > MAX_TERM_BYTES
        || STOP_WORDS.binary_search(&&*lower).is_ok()
    {
        return;
    }
    let text = if lower.is_ascii() && lower.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        stemmer.stem(&lower).into_owned()
    } else {
        lower
    };
    found.push(Term { text, whole: false });
}

/// Returns true for characters of scripts that write words without spaces.
fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{0e00}'..='\u{0e7f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        extract_terms(text)
            .iter()
            .map(|term| if term.whole { format!("[{}]", term.text) } else { term.text.clone() })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn identifiers_are_their_parts_and_themselves() {
        for (text, expected) in [
            ("Fixing the connections", "fix connect"),
            ("parse_header", "pars header [parse_header]"),
            ("parseHTTPHeader2", "pars http header [parsehttpheader2]"),
            ("HTTPServer", "http server [httpserver]"),
            ("src/outcome/read.rs:12", "src outcom read rs 12 [src/outcome/read.rs:12]"),
            (
                "tests/test_a.py::TestB::test_c",
                "test test py test test [tests/test_a.py::testb::test_c]",
            ),
            ("read-only, and/or", "read"),
            ("E0308", "0308 [e0308]"),
            ("v1.2.3", "[v1.2.3]"),
            ("don't 'quote' (this).", "quot"),
            ("_private __init__", "privat init"),
            ("the 日本語 text", "日本 本語 text"),
            ("naïve Straße", "naïve straße"),
            ("a b 1", ""),
            ("...", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    proptest! {
        #[test]
        fn distinct_terms_are_sorted(text in "([a-cA-C_.]{1,3}|the| |\\PC){0,60}") {
            let mut expected = extract_terms(&text);
            expected.sort();
            expected.dedup();
            prop_assert_eq!(extract_distinct(&text), expected);
        }

        #[test]
        fn terms_are_short_and_unspaced(text in "\\PC{0,200}") {
            for term in extract_terms(&text) {
                prop_assert!(!term.text.is_empty() && term.text.len() <= 4 * MAX_TERM_BYTES);
                prop_assert!(!term.text.contains(char::is_whitespace));
            }
        }
    }
}
