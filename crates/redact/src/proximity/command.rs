//! Secrets in the input and output of commands.

use super::MAX_QUOTED_BYTES;
use crate::alphabet::{self, BLANK, NEWLINE, QUOTE, SPACE};
use crate::other_kind::is_other_kind;
use crate::{Finding, character_mix, handmade, placeholder, randomness};

/// Returns the literal in `echo X | program`: input has no name. The `|`, or the end of `<<< X`, is at `at`.
pub(crate) fn piped(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let found = echoed(text, at, done)?;
    let literal = &text[found.start..found.end];
    let stop = found.end;
    // `user:password`, the input of chpasswd.
    let part = literal.iter().position(|&byte| byte == b':').map_or(0, |at| at + 1);
    let value = &literal[part..];
    let start = stop - value.len();
    let next = alphabet::run(text, at + 1, SPACE);
    let decoder: [&[u8]; 5] = [b"base64", b"openssl base64", b"xxd", b"jq", b"basenc"];
    let data = decoder.iter().any(|word| alphabet::starts(text, next, word));
    let looks_random = || randomness::is_likely_random(value) && !is_other_kind(value);
    let literal = value.len() >= 4 && !value.iter().any(|&byte| matches!(byte, b'$' | b'(' | b'/'));
    let secret = !data
        && (looks_random() || literal && is_asked(text, next))
        && !placeholder::is_placeholder(value);
    (secret && start >= done).then_some(Finding { start, end: stop, kind: "secret" })
}

/// Returns the literal in `program <<< X`. The first of the signs is at `at`.
pub(crate) fn here_string(text: &[u8], at: usize) -> Option<Finding> {
    let alone = at == 0 || text[at - 1] != b'<';
    if !alone || !alphabet::starts(text, at, b"<<<") || text.get(at + 3) == Some(&b'<') {
        return None;
    }
    let from = alphabet::run(text, at + 3, SPACE);
    let start = from + usize::from(alphabet::is_at(text, from, QUOTE));
    let window = &text[start.min(text.len())..text.len().min(start + MAX_QUOTED_BYTES)];
    let length = window
        .iter()
        .position(|&byte| alphabet::has_class(byte, BLANK | QUOTE))
        .or((start + window.len() == text.len()).then_some(window.len()))?;
    let value = &window[..length];
    let made = || handmade::is_handmade(value) && is_asked(text, line_start(text, at));
    let secret = (randomness::is_likely_random(value) && !is_other_kind(value) || made())
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: start + length, kind: "secret" })
}

/// Returns the start of the command around the sign at `at`, at most 96 bytes back.
fn line_start(text: &[u8], at: usize) -> usize {
    let floor = at.saturating_sub(96);
    let parts = |byte: &u8| matches!(byte, b'\n' | b'|' | b';' | b'&');
    floor + text[floor..at].iter().rposition(parts).map_or(0, |part| part + 1)
}

/// Returns the last literal of the `echo` before the sign at `at`.
fn echoed(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let floor = at.saturating_sub(MAX_QUOTED_BYTES).max(done);
    let line = floor
        + text[floor..at]
            .iter()
            .rposition(|&byte| matches!(byte, b'\n' | b'|' | b';' | b'&'))
            .map_or(0, |at| at + 1);
    let words: [&[u8]; 3] = [b"echo ", b"printf ", b"print "];
    let verb = words.iter().find_map(|word| {
        text[line..at].windows(word.len()).position(|part| part == *word).map(|at| at + word.len())
    })?;
    let end = alphabet::run_back(text, at, SPACE, at - line);
    let quote = end > line && alphabet::has_class(text[end - 1], QUOTE);
    let stop = if quote { end - 1 } else { end };
    let inner = text.get(line + verb..stop)?;
    let from = inner
        .iter()
        .rposition(|&byte| alphabet::has_class(byte, BLANK | QUOTE))
        .map_or(0, |at| at + 1);
    let start = line + verb + from;
    (start >= done && start < stop).then_some(Finding { start, end: stop, kind: "secret" })
}

/// Returns true if the command at `at` reads a password from its input.
fn is_asked(text: &[u8], at: usize) -> bool {
    let window = &text[at.min(text.len())..text.len().min(at + 120)];
    let line = window.split(|&byte| matches!(byte, b'\n' | b'|' | b';')).next().unwrap_or_default();
    let known: [&[u8]; 14] = [
        b"smbpasswd ",
        b"passwd ",
        b"op signin",
        b"createuser ",
        b"read -r PASS",
        b"read -s ",
        b"password-stdin",
        b"chpasswd",
        b"passwd --stdin",
        b"sudo -S ",
        b"--with-token",
        b"cryptsetup ",
        b"pass insert",
        b"--passphrase-fd 0",
    ];
    known.iter().any(|word| line.windows(word.len()).any(|part| part == *word))
}

/// Returns the output of a command that names a secret: a line with a single value, which may be a hash. The
/// command's line is from `line` to the line end at `at`.
pub(crate) fn printed(text: &[u8], line: usize, at: usize) -> Option<Finding> {
    let command = &text[line..at];
    let prompts: [&[u8]; 4] = [b"$ ", b"# ", b"% ", b"> "];
    if command.len() > 200 || !prompts.iter().any(|prompt| command.starts_with(prompt)) {
        return None;
    }
    // These commands print hashes.
    let hashes: [&[u8]; 5] = [b"git ", b"sum", b"hash", b"digest", b"sha"];
    if hashes.iter().any(|word| command.windows(word.len()).any(|part| part == *word)) {
        return None;
    }
    let start = at + 1;
    let window = &text[start..text.len().min(start + MAX_QUOTED_BYTES)];
    let length =
        window.iter().position(|&byte| alphabet::has_class(byte, BLANK)).unwrap_or(window.len());
    let value = &window[..length];
    let alone = text.get(start + length).is_none_or(|&byte| alphabet::has_class(byte, NEWLINE));
    let secret = alone
        && (character_mix::is_random(value) || randomness::is_likely_random(value))
        && !is_other_kind(value)
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: start + length, kind: "secret" })
}
