//! Private keys in text armour: PEM, OpenSSH and PGP blocks, PuTTY files.
//!
//! A block may be cut (`head -3 key.pem`), indented, numbered, prefixed by a diff's `+`, or a JSON string with
//! literal `\n`. With an end line, everything up to it is removed; without one, every line that can be key material.

use super::alphabet::{self, ALNUM, BASE64, BLANK, NAME, QUOTE, SPACE, UPPER};
use super::{Finding, character_mix};

const KIND: &str = "private-key";
const BEGIN: &[u8] = b"-----BEGIN ";

/// Longest label: `PGP PRIVATE KEY BLOCK` is 21, with room for unknown ones.
const MAX_LABEL_BYTES: usize = 64;

/// Maximum distance of an end line: a key of 16,384 bits takes 13 KB.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// Shortest body. A begin line alone mentions a key and holds none.
const MIN_BODY_BYTES: usize = 16;

/// Returns the block with the begin line at `at`.
pub(super) fn block(text: &[u8], at: usize) -> Option<Finding> {
    if !alphabet::starts(text, at, BEGIN) {
        return None;
    }
    let label_start = at + BEGIN.len();
    let window = text.get(label_start..text.len().min(label_start + MAX_LABEL_BYTES))?;
    let label_len = window.windows(5).position(|five| five == b"-----")?;
    let label = &window[..label_len];
    let plain = |&byte: &u8| alphabet::has_class(byte, UPPER | SPACE | ALNUM);
    if !label.iter().all(plain) || !label.windows(11).any(|part| part == b"PRIVATE KEY") {
        return None;
    }
    let body = label_start + label_len + 5;
    let (material, cut) = body_end(text, body);
    // A block from a terminal may have blanks for line ends; its end line proves that it is a key.
    let first = skip_margin(text, body);
    let begun =
        material >= MIN_BODY_BYTES || alphabet::run(text, first, BASE64) - first >= MIN_BODY_BYTES;
    let end = match end_line(text, body) {
        Some(end) if begun => end,
        None if material >= MIN_BODY_BYTES => cut,
        _ => return None,
    };
    Some(Finding { start: at, end, kind: KIND })
}

/// Returns the end of the end line if the next dashes after the body form one.
fn end_line(text: &[u8], body: usize) -> Option<usize> {
    // Key material has no five dashes in a row, so the first ones end the block or belong to other text.
    let rest = text.get(body..text.len().min(body + MAX_BLOCK_BYTES))?;
    let dashes = body + rest.windows(5).position(|five| five == b"-----")?;
    if !alphabet::starts(text, dashes, b"-----END ") {
        return None;
    }
    let label = dashes + 9;
    let window = text.get(label..text.len().min(label + MAX_LABEL_BYTES))?;
    let length = window.windows(5).position(|five| five == b"-----");
    Some(length.map_or_else(|| alphabet::run(text, label, ALNUM | SPACE), |at| label + at + 5))
}

/// Returns the number of bytes of key material that follow, and their end.
fn body_end(text: &[u8], body: usize) -> (usize, usize) {
    let (mut material, mut end, mut at) = (0, body, body);
    while at < text.len() {
        let line = skip_margin(text, at);
        let stop = alphabet::run(text, line, BASE64);
        let header = header_line(text, line);
        if let Some(after) = header {
            at = after;
            end = after;
            continue;
        }
        // A line of a key has only characters of its alphabet; a word of a sentence is followed by a blank and a word.
        if stop == line
            || !ends_line(text, stop)
            || (stop - line < 8 && !last_of_body(text, line, stop))
        {
            break;
        }
        material += stop - line;
        end = stop;
        at = stop;
    }
    (material, end)
}

/// Skips the margin of a line: line ends real and escaped, indentation, a diff's sign, a line number.
fn skip_margin(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let escape = alphabet::escape(text, at);
        let sign = matches!(text.get(at), Some(b'+' | b'-' | b'>' | b'|' | b'#' | b'*'))
            && !alphabet::starts(text, at, b"-----")
            && at > 0
            && alphabet::has_class(text[at - 1], BLANK);
        if escape > 0 {
            at += escape;
        } else if alphabet::is_at(text, at, BLANK | QUOTE) || sign || text.get(at) == Some(&b'\\') {
            at += 1;
        } else if let Some(after) = line_number(text, at) {
            at = after;
        } else {
            return at;
        }
    }
}

/// Returns the end of a number or a time before a line, as viewers and logs print it: `  12\t`, `12:`,
/// `2026-11-15T12:20:13Z `.
fn line_number(text: &[u8], at: usize) -> Option<usize> {
    let clock = alphabet::DIGIT | alphabet::DASH | alphabet::COLON | alphabet::DOT;
    let time = alphabet::run(text, at, clock | UPPER);
    let stamped = (10..40).contains(&(time - at)) && text[at..time].contains(&b':');
    if stamped && text.get(time) == Some(&b' ') {
        return Some(time + 1);
    }
    let end = alphabet::run(text, at, alphabet::DIGIT);
    let numbered = end > at && end - at < 7 && at > 0 && alphabet::has_class(text[at - 1], BLANK);
    (numbered && matches!(text.get(end), Some(b'\t' | b':' | b'|'))).then_some(end + 1)
}

/// Returns the end of a header inside a block, such as `Proc-Type: 4,ENCRYPTED`.
fn header_line(text: &[u8], at: usize) -> Option<usize> {
    let known: [&[u8]; 6] =
        [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];
    let word = known.into_iter().find(|word| alphabet::starts(text, at, word))?;
    let from = at + word.len();
    let rest = &text[from..text.len().min(from + 128)];
    let length = rest.iter().position(|&byte| matches!(byte, b'\n' | b'\\' | b'"'));
    // A header without a visible end does not count, so that the block is not cut within a character.
    length.map(|length| from + length)
}

/// Returns true if a line end, a quote or the end of the text follows.
fn ends_line(text: &[u8], at: usize) -> bool {
    let at = alphabet::run(text, at, SPACE);
    match text.get(at) {
        None | Some(b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`' | b',' | b'<') => true,
        Some(_) => alphabet::starts(text, at, b"-----") || alphabet::starts(text, at, b"..."),
    }
}

/// Returns true if a short line ends a body: it is padded, the text ends, or it is a checksum (`=abcd`).
fn last_of_body(text: &[u8], start: usize, stop: usize) -> bool {
    let padded = text[start..stop].contains(&b'=');
    padded || stop == text.len() || alphabet::starts(text, skip_margin(text, stop), b"-----")
}

/// Returns the lines of a key before the end line at `at` if its begin line is missing: `tail -5 key.pem`.
pub(super) fn tail(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let label = at + b"-----END ".len();
    if !alphabet::starts(text, at, b"-----END ") {
        return None;
    }
    let window = text.get(label..text.len().min(label + MAX_LABEL_BYTES))?;
    let label_len = window.windows(5).position(|five| five == b"-----")?;
    if !window[..label_len].windows(11).any(|part| part == b"PRIVATE KEY") {
        return None;
    }
    let floor = at.saturating_sub(MAX_BLOCK_BYTES).max(done);
    let (mut start, mut material) = (at, 0);
    loop {
        let line_end = before_margin(text, start, floor);
        let line = alphabet::run_back(text, line_end, BASE64, line_end - floor);
        // The margin of a viewer is not part of the key, and the walk ends only at a word.
        let is_line = line_end < start
            && line_end - line >= 8
            && (line == floor || !alphabet::has_class(text[line - 1], NAME));
        if !is_line {
            break;
        }
        material += line_end - line;
        start = line;
    }
    let end = label + label_len + 5;
    (material >= MIN_BODY_BYTES && start < at).then_some(Finding { start, end, kind: KIND })
}

/// Skips back over the margin between two lines: line ends real and escaped, indentation, quotes, a diff's sign.
fn before_margin(text: &[u8], end: usize, floor: usize) -> usize {
    let mut at = end;
    while at > floor {
        let byte = text[at - 1];
        let is_escaped = matches!(byte, b'n' | b'r') && at - 1 > floor && text[at - 2] == b'\\';
        if is_escaped {
            at -= 2;
        } else if alphabet::has_class(byte, BLANK | QUOTE)
            || matches!(byte, b'\\' | b',')
            || matches!(byte, b'+' | b'-' | b'>' | b'|')
                && at - 1 > floor
                && alphabet::has_class(text[at - 2], BLANK)
        {
            at -= 1;
        } else {
            break;
        }
    }
    at
}

/// Returns true if a line can belong to the body of a key. After another such line (`is_inside`) it may be the short
/// last one.
pub fn is_key_line(line: &str, is_inside: bool) -> bool {
    let quotes = ['"', '\'', '`', ',', '\\', '+', '|', '>', ';', ' ', '\t', '\r'];
    let line = line.trim_matches(quotes);
    let line = line.strip_suffix("\\n").unwrap_or(line).as_bytes();
    let is_base64 = line.iter().all(|&byte| alphabet::has_class(byte, BASE64));
    let is_hex = line.iter().all(|&byte| alphabet::has_class(byte, alphabet::HEX));
    let is_long = (60..=80).contains(&line.len());
    is_base64
        && !is_hex
        && (is_long && character_mix::is_random(line)
            || is_inside && (8..60).contains(&line.len()) && !character_mix::is_wordy(line))
}

/// Returns the private part of a PuTTY key file. Its first words are at `at`.
pub(super) fn putty(text: &[u8], at: usize) -> Option<Finding> {
    let word = b"Private-Lines:";
    if !alphabet::starts(text, at, word) {
        return None;
    }
    let start = alphabet::run(text, at + word.len(), SPACE | alphabet::DIGIT);
    let (material, end) = body_end(text, start);
    let from = skip_margin(text, start);
    (material >= MIN_BODY_BYTES && from < end).then_some(Finding { start: from, end, kind: KIND })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    const LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";

    #[test]
    fn blocks_of_all_kinds() {
        for label in
            ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
        {
            let block =
                format!("a\n-----BEGIN {label}-----\n{LINE}\n{LINE}\n-----END {label}-----\nb");
            assert_eq!(redact(&block), "a\n[redacted:private-key]\nb", "{label}");
            let cut = format!("a\n-----BEGIN {label}-----\n{LINE}\n{LINE}\n$ ls -la");
            assert_eq!(redact(&cut), "a\n[redacted:private-key]\n$ ls -la", "{label}");
            let json = block.replace('\n', "\\n");
            assert_eq!(redact(&json), "a\\n[redacted:private-key]\\nb", "{label}");
        }
    }

    #[test]
    fn mentions_and_public_keys_stay() {
        for text in [
            "-----BEGIN PRIVATE KEY-----",
            "looks for \"-----BEGIN RSA PRIVATE KEY-----\" in a line",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        ] {
            assert_eq!(redact(text), text);
        }
        let certificate = format!("-----BEGIN CERTIFICATE-----\n{LINE}\n-----END CERTIFICATE-----");
        assert_eq!(redact(&certificate), certificate);
    }
}
