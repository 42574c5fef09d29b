//! From text to the terms that are indexed and searched: the same for documents and queries.
//!
//! An identifier is its parts, stemmed like any other word, and itself: `parse_header` is found by "parse the header" and,
//! better, by `parse_header`. Paths, test names and versions are identifiers too.

use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};

use super::words;

/// A term is not longer: what is, is no word that anybody would ask for.
const LONGEST: usize = 64;

/// Words that say how a sentence is built, not what it is about; sorted. Without them the search for an ordinary sentence finds
/// a twelfth more of what it should.
#[rustfmt::skip]
const BUILDING: &[&str] = &[
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

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// How it is indexed.
    pub text: String,
    /// Whether it is an identifier as a whole, whose parts are terms beside it.
    pub whole: bool,
}

/// The terms of a text, in its order.
pub fn terms(text: &str) -> Vec<Term> {
    of_words(text.split(is_outside))
}

/// Every term of a text once, sorted. Of a long one that is faster than to sort what [`terms`] finds: most words were there
/// before.
pub fn distinct(text: &str) -> Vec<Term> {
    let mut seen = HashSet::new();
    let mut found = of_words(text.split(is_outside).filter(|raw| seen.insert(*raw)));
    found.sort_unstable();
    found.dedup();
    found
}

fn of_words<'t>(words: impl Iterator<Item = &'t str>) -> Vec<Term> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = Vec::new();
    for raw in words {
        let raw = raw.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let raw = raw.trim_end_matches('_');
        if raw.is_empty() {
            continue;
        }
        let parts: Vec<&str> = words::parts(raw).collect();
        let several = parts.len() > 1;
        for part in parts {
            push_part(part, &stemmer, &mut found);
        }
        let whole = raw.trim_start_matches('_').to_lowercase();
        if several && whole.len() <= LONGEST && is_identifier(raw) {
            found.push(Term { text: whole, whole: true });
        }
    }
    found
}

/// Signs that may not stand inside of an identifier.
fn is_outside(sign: char) -> bool {
    !(sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | '/' | ':' | '\\' | '@' | '$'))
}

/// Whether a word with several parts is a name, rather than two words that somebody joined: `read-only` and `and/or` are
/// prose, `read_only`, `readOnly`, `src/read.rs` and `a::b` are not.
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
        // Writing without blanks: two signs at a time.
        let signs: Vec<char> = lower.chars().collect();
        let pairs = signs.windows(2).map(|pair| pair.iter().collect::<String>());
        let one = (signs.len() == 1).then(|| lower.clone());
        found.extend(pairs.chain(one).map(|text| Term { text, whole: false }));
        return;
    }
    // A letter or digit alone says nothing.
    if lower.chars().count() < 2
        || lower.len() > LONGEST
        || BUILDING.binary_search(&&*lower).is_ok()
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

/// Whether words of this writing stand without blanks between them.
fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{0e00}'..='\u{0e7f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        terms(text)
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
    fn what_builds_sentences_is_sorted() {
        assert!(BUILDING.is_sorted());
    }

    proptest! {
        #[test]
        fn each_once_is_the_same_sorted(text in "([a-cA-C_.]{1,3}|the| |\\PC){0,60}") {
            let mut expected = terms(&text);
            expected.sort();
            expected.dedup();
            prop_assert_eq!(distinct(&text), expected);
        }

        #[test]
        fn any_text_has_terms_of_bounded_length_and_no_blanks(text in "\\PC{0,200}") {
            for term in terms(&text) {
                prop_assert!(!term.text.is_empty() && term.text.len() <= 4 * LONGEST);
                prop_assert!(!term.text.contains(char::is_whitespace));
            }
        }
    }
}
