//! Removes secrets from text before it is stored.
//!
//! [`redact`] replaces secrets by placeholders. [`Clean`] is redacted text; the store, the spool and the log accept
//! no other text. The crate also has the other tools that keep foreign text harmless: removal of terminal escape
//! sequences ([`escape`]), checksums that replace text that must not be stored ([`checksum`]), and closed
//! vocabularies with errors that quote redacted input ([`choice!`]). It depends on no other crate of this workspace.
//!
//! Redaction runs on every tool call, so it is one pass over the bytes with tables made at compile time: it compiles no
//! pattern and builds nothing at start-up.
//!
//! Prefixes and lengths of vendors' tokens follow the rule set of gitleaks (MIT licence). The other rules use the
//! context of a value: its name, its header, its URL, its command. `docs/reference/redaction.md` lists the texts that
//! are removed and the texts that are kept on purpose.
//!
//! ```
//! use rutter_redact::redact;
//!
//! let line = "DATABASE_URL=postgres://app:k3Xw9Qz@db/x";
//! assert_eq!(redact(line), "DATABASE_URL=postgres://app:[redacted:password]@db/x");
//! assert_eq!(redact("password: string"), "password: string");
//! ```

use std::borrow::Cow;

mod adjacent;
mod alphabet;
mod assignment;
mod call_argument;
mod character_mix;
pub mod checksum;
mod choice;
mod clean;
mod command;
pub mod escape;
mod file_name;
mod foreign_name;
mod handmade;
mod header;
mod login;
mod markup;
mod name;
mod other_kind;
mod pem;
mod percent_encoded;
mod phrase;
mod placeholder;
mod positional;
mod preceding_value;
mod prefix;
mod private_region;
mod proximity;
mod randomness;
mod repeat;
mod scan;
mod sentence;
mod table;
mod token_shape;
mod url;
mod value;
mod value_span;

pub use choice::UnknownChoice;
pub use clean::{Clean, Limit, TextError};
pub use pem::is_key_line;

/// The crates that the expansion of [`choice!`] names.
#[doc(hidden)]
pub mod macros {
    #[cfg(feature = "sqlite")]
    pub use rusqlite;
    pub use serde;
}

use repeat::Repeats;

/// The position of a secret, and the kind that its placeholder names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Finding {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// Start of every placeholder.
const PLACEHOLDER_START: &[u8] = b"[redacted:";

/// Replacement of a text that still changes after [`MAX_PASSES`].
const UNSTABLE_TEXT: &str = "[redacted:text]";

/// Maximum number of passes over a text. Two are common, three are rare.
const MAX_PASSES: usize = 6;

/// Returns the text without secrets; borrowed if it has none.
///
/// Total, pure, and linear in the length of the text. It is idempotent: a replacement may put two pieces side by side
/// that form another secret, so passes repeat until nothing changes.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_until_stable(text, LineMode::OnePlaceholder)
}

/// Redacts a text and keeps its number of lines: a secret of several lines gets a placeholder in each line.
/// A line of the result is the redacted form of the line with the same number.
pub fn redact_by_line(text: &str) -> Cow<'_, str> {
    redact_until_stable(text, LineMode::PlaceholderPerLine)
}

/// The replacement of a secret of several lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineMode {
    /// One placeholder for the whole secret.
    OnePlaceholder,
    /// One placeholder in each line.
    PlaceholderPerLine,
}

/// Redacts a text until a further pass changes nothing.
fn redact_until_stable(text: &str, lines: LineMode) -> Cow<'_, str> {
    let Some(mut current) = redact_once(text, lines) else { return Cow::Borrowed(text) };
    for _ in 1..MAX_PASSES {
        match redact_once(&current, lines) {
            Some(next) => current = next,
            None => return Cow::Owned(current),
        }
    }
    // No such text is known. A text that keeps changing is dropped rather than leaked.
    match lines {
        LineMode::OnePlaceholder => Cow::Borrowed(UNSTABLE_TEXT),
        LineMode::PlaceholderPerLine => {
            Cow::Owned(vec![UNSTABLE_TEXT; text.split('\n').count()].join("\n"))
        }
    }
}

/// Makes one pass. Private regions are removed first, so that no rule reads them.
fn redact_once(text: &str, lines: LineMode) -> Option<String> {
    let open = replace_findings(text, private_region::regions(text), lines);
    let rest = open.as_deref().unwrap_or(text);
    let found: Vec<Finding> = scan::findings(rest.as_bytes()).collect();
    if found.is_empty() {
        return open;
    }
    let repeats = Repeats::new(rest.as_bytes(), &found);
    let closed = replace_findings(rest, found.iter().copied(), lines);
    if repeats.is_empty() {
        return closed.or(open);
    }
    let again = closed
        .as_deref()
        .and_then(|closed| replace_findings(closed, repeats.findings(closed.as_bytes()), lines));
    again.or(closed).or(open)
}

/// Replaces every finding. Returns `None` if there are no findings.
fn replace_findings(
    text: &str,
    findings: impl Iterator<Item = Finding>,
    lines: LineMode,
) -> Option<String> {
    let mut out: Option<String> = None;
    let mut done = 0;
    for found in findings {
        debug_assert!(done <= found.start && found.start < found.end, "{found:?} after {done}");
        // Rules end on ASCII bytes or whole characters. A finding that does not is ignored instead of causing a panic.
        let Some(before) = text.get(done..found.start) else { continue };
        let Some(secret) = text.get(found.start..found.end) else { continue };
        let out = out.get_or_insert_with(|| String::with_capacity(text.len() + 32));
        out.push_str(before);
        push_placeholder(out, found.kind);
        if lines == LineMode::PlaceholderPerLine {
            for _ in secret.matches('\n') {
                out.push('\n');
                push_placeholder(out, found.kind);
            }
        }
        done = found.end;
    }
    let mut out = out?;
    out.push_str(text.get(done..).unwrap_or_default());
    Some(out)
}

fn push_placeholder(out: &mut String, kind: &str) {
    out.push_str("[redacted:");
    out.push_str(kind);
    out.push(']');
}

#[cfg(test)]
mod tests;
