//! Elements with a secret: `<password>x</password>`, `<string name="api_key">x</string>`.

use super::Finding;
use super::alphabet::{self, NAME};
use super::name::{self, SecretName};
use super::value::{self, ValueContext};
use super::value_span::ValueForm;

/// Longest tag that is examined.
const MAX_TAG_BYTES: usize = 240;

/// Returns the secret in `<password>x</password>`, with or without attributes. The `>` is at `at`.
pub(super) fn element(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let floor = at.saturating_sub(MAX_TAG_BYTES).max(done);
    let open = floor + text[floor..at].iter().rposition(|byte| matches!(byte, b'<' | b'>'))?;
    let tag = &text[open + 1..at];
    if text[open] != b'<' || !alphabet::is_at(tag, 0, NAME) || tag.ends_with(b"/") {
        return None;
    }
    let end = alphabet::run(tag, 0, NAME | alphabet::COLON);
    // The part of `wsse:Password` after its namespace.
    let local = tag[..end].iter().rposition(|&byte| byte == b':').map_or(0, |colon| colon + 1);
    let word = &tag[local..end];
    let by_tag = name::classify(word);
    let by_attribute = || attribute(&tag[end..]).map(|named| (named, true));
    let (named, attributed) = by_tag.map(|named| (named, false)).or_else(by_attribute)?;
    let window = &text[at + 1..text.len().min(at + 513)];
    let length = window.iter().position(|&byte| byte == b'<')?;
    if window.get(length + 1) != Some(&b'/') {
        return None;
    }
    let value = &window[..length];
    // A text that is named by an attribute is usually a label in some language.
    let label = attributed && value.iter().all(|&byte| byte.is_ascii_alphabetic() || byte >= 128);
    let site = ValueContext::plain(ValueForm::Quoted);
    let found = Finding { start: at + 1, end: at + 1 + length, kind: named.kind };
    (length > 0 && !label && value::is_secret(value, named, site)).then_some(found)
}

/// Classifies the name in the attributes of a tag: `<string name="api_key">`, `<entry key="db.password">`.
fn attribute(attributes: &[u8]) -> Option<SecretName> {
    let known: [&[u8]; 4] = [b" name=\"", b" key=\"", b" name='", b" key='"];
    let begins = |known: &&[u8]| {
        attributes.windows(known.len()).position(|part| part == *known).map(|at| at + known.len())
    };
    let start = known.iter().find_map(begins)?;
    name::classify(&attributes[start..alphabet::run(attributes, start, NAME)])
}
