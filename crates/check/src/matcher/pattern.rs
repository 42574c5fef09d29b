//! Matchers that are JavaScript regular expressions without flags.

use regress::Regex;

use super::MatcherKind;
use super::pattern_shape::{
    TYPICAL_VALUE_CHARS, has_repeated_boundary, is_affordable, is_affordable_for_names,
};

/// Length above which a pattern is not evaluated, in bytes.
pub const MAX_PATTERN_BYTES: usize = 2_000;

/// A regular expression that occurs anywhere in a value.
#[derive(Debug, Clone)]
pub struct MatcherPattern {
    text: String,
    regex: Regex,
}

impl MatcherPattern {
    /// Parses the text of a pattern.
    pub(super) fn parse(text: &str) -> MatcherKind {
        if text.len() > MAX_PATTERN_BYTES {
            return MatcherKind::Unjudged { reason: "the pattern is very long" };
        }
        if has_repeated_boundary(text) {
            let reason = "a word boundary cannot be repeated".to_owned();
            return MatcherKind::InvalidPattern { reason };
        }
        match Regex::new(&without_code_point_escapes(text)) {
            Ok(_) if !is_affordable_for_names(text) => {
                MatcherKind::Unjudged { reason: "the pattern may take very long to evaluate" }
            }
            Ok(regex) => MatcherKind::Pattern(Self { text: text.to_owned(), regex }),
            Err(error) => MatcherKind::InvalidPattern { reason: error.text },
        }
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the pattern has a negative assertion or a negated class. The client does not try such patterns on
    /// other names of a call, except a name that the pattern contains.
    pub(super) fn is_negated(&self) -> bool {
        ["(?!", "(?<!", "[^"].iter().any(|start| self.text.contains(start))
    }

    /// Returns true if the pattern occurs in `value`, and `None` if the evaluation may take too long.
    pub fn is_match(&self, value: &str) -> Option<bool> {
        let chars = value.chars().count();
        // Shorter values need no check: `parse` made it for this length.
        let is_short = chars <= TYPICAL_VALUE_CHARS;
        let is_judged = is_short || is_affordable(&self.text, chars);
        is_judged.then(|| self.regex.find(value).is_some())
    }
}

/// Returns the pattern in the form that the engine reads as the client does. Without the `u` flag, `\u{45}` is 45 times
/// the letter `u`; the engine reads a code point.
fn without_code_point_escapes(text: &str) -> String {
    let mut signs = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            plain.push(sign);
            continue;
        }
        match signs.next() {
            Some('u') if signs.peek() == Some(&'{') => plain.push('u'),
            Some(escaped) => plain.extend([sign, escaped]),
            None => plain.push(sign),
        }
    }
    plain
}
