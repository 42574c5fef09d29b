//! Normalises the path of an address.

use super::place;

/// Splits a path into parts with uniform encoding: only characters that need it are encoded.
pub(super) fn normalized_segments(path: &str) -> Vec<String> {
    let mut spelled = String::with_capacity(path.len());
    let mut bytes = path.as_bytes();
    while let [byte, rest @ ..] = bytes {
        let (byte, encoded, rest) = match split_escape(bytes) {
            Some((byte, rest)) => (byte, true, rest),
            None => (*byte, false, rest),
        };
        bytes = rest;
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if unreserved || (!encoded && b"/!$&'()*+,;=:".contains(&byte)) {
            spelled.push(char::from(byte));
        } else {
            place::percent_encode(&[byte], &mut spelled);
        }
    }
    let mut segments: Vec<String> = Vec::new();
    for segment in spelled.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment.to_owned()),
        }
    }
    segments
}

/// Removes all `.git` suffixes from the end.
pub(super) fn strip_git_suffix(mut segments: Vec<String>, fold: bool) -> Vec<String> {
    while let Some(mut last) = segments.pop() {
        let end = last.len().saturating_sub(4);
        let suffix = last.get(end..).is_some_and(|suffix| {
            suffix == ".git" || (fold && suffix.eq_ignore_ascii_case(".git"))
        });
        if suffix {
            last.truncate(end);
        }
        match last.as_str() {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ if suffix => segments.push(last),
            _ => {
                segments.push(last);
                break;
            }
        }
    }
    segments
}

/// Returns the byte of a leading `%XX`, and the rest.
fn split_escape(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, rest @ ..] = bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(*high)? << 4 | digit(*low)?, rest))
}

/// Decodes each `%XX` in a text.
pub(super) fn percent_decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        let (byte, rest) = split_escape(bytes).unwrap_or((*byte, rest));
        decoded.push(byte);
        bytes = rest;
    }
    decoded
}
