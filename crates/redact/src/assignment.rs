//! Assignments (`NAME=value`) in all spellings: shell, YAML, JSON, TOML, code, XML, URL queries.
//!
//! The scan stops at a separator. The text before it is the name, the text after it the value. Both are examined
//! within a fixed distance, so that no text makes this slow.

use super::alphabet::{self, ALNUM, NAME, NEWLINE, QUOTE, SPACE, UPPER};
use super::name::{self, NameClass, SecretName};
use super::value::{self, ValueContext};
use super::value_span::{ValueForm, ValueSpan};
use super::{
    Finding, character_mix, handmade, header, placeholder, prefix, randomness, token_shape,
    value_span,
};

/// The name before a separator.
struct NameSpan<'a> {
    name: &'a [u8],
    start: usize,
    quoted: bool,
    /// Number of blanks between name and separator.
    blanks: usize,
}

/// Returns the secret value of the assignment with the separator at `at`.
pub(super) fn secret(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let after = operator(text, at)?;
    let left = name_span(text, at, done)?;
    let literal = text[done..left.start].ends_with(b"--from-literal=");
    if !name::may_matter(left.name) && !literal {
        return None;
    }
    let colon = text[at] == b':';
    if let Some(found) = header::credentials(text, left.name, after) {
        return Some(found);
    }
    // `${PASSWORD:-…}` is a default of the shell, `AWS::Key` a type, and `arn:…:secret:x` a path.
    let before = &text[done..left.start];
    if before.ends_with(b"${") || before.ends_with(b"::") || colon && before.ends_with(b":") {
        return None;
    }
    let query = left.start > 0 && matches!(text[left.start - 1], b'?' | b'&' | b'#' | b';');
    let given = literal.then_some(SecretName { class: NameClass::Perhaps, kind: "secret" });
    let name = classify_name(text, &left, query, done).or(given)?;
    let right = value_span(text, after, left.blanks > 0, colon)?;
    // `PASSWORD= next` is an empty value and the next word.
    let spaced = alphabet::is_at(text, after, SPACE | NEWLINE);
    let empty = !colon && left.blanks == 0 && spaced && right.form != ValueForm::Quoted;
    let end = joined_end(text, right);
    if right.end <= right.start || right.start < done || empty {
        return None;
    }
    let value = &text[right.start..right.end];
    if value[0] == b'=' && (value.len() < 8 || character_mix::is_wordy(value)) {
        return None;
    }
    // The value of a header is a literal, although a blank is before it.
    let header = colon && left.name.len() > 2 && left.name[..2].eq_ignore_ascii_case(b"x-");
    let form = if header && right.form == ValueForm::Loose { ValueForm::Tight } else { right.form };
    let site = ValueContext {
        form,
        shouted: is_shouted(left.name),
        sentence: right.form == ValueForm::Loose && goes_on(text, right.end),
        argument: right.form == ValueForm::Tight && is_argument(text, &left, right.end),
    };
    if colon && left.blanks > 0 && right.form != ValueForm::Quoted {
        return None;
    }
    // On the line after a colon, only a whole line that looks like a key counts.
    let below = text[after..right.start].iter().any(|&byte| alphabet::has_class(byte, NEWLINE));
    let looks_random = || match name.class {
        NameClass::Password | NameClass::Phrase => {
            value.len() >= 8 && !character_mix::is_wordy(value) || handmade::is_handmade(value)
        }
        NameClass::Secret => character_mix::is_random(value),
        NameClass::Pin => value::is_pin(value),
        NameClass::Perhaps => false,
    };
    if below && (site.sentence || !looks_random()) {
        return None;
    }
    let known = prefix::token(text, right.start)
        .or_else(|| token_shape::token(text, right.start, alphabet::run(text, right.start, ALNUM)))
        .filter(|found| found.start == right.start && found.end >= right.end);
    if known.is_some() {
        return known;
    }
    if let Some(found) = bracketed(text, right.start, name) {
        return Some(found);
    }
    let declared = left.quoted || is_declared(text, left.start, right.end);
    // `private key: x` does not declare a variable.
    let two_words = matches!(left.name, b"key" | b"Key") && colon;
    let code = right.form != ValueForm::Quoted && declared && !two_words;
    // `pw` abbreviates other words too: `pw=chromium`.
    let is_word = || {
        value.iter().all(|&byte| alphabet::has_class(byte, alphabet::LETTER | alphabet::UNDERSCORE))
    };
    let brief = left.name.eq_ignore_ascii_case(b"pw") && form == ValueForm::Tight && is_word();
    let secret = !code
        && (!brief || randomness::is_likely_random(value))
        && value::is_secret(value, name, site);
    secret.then(|| Finding { start: right.start, end: end.max(right.whole(text)), kind: name.kind })
}

/// Returns the value after a separator. A literal may be on the next line, or follow an empty one: `x = "" +`.
fn value_span(text: &[u8], after: usize, blanks: bool, colon: bool) -> Option<ValueSpan> {
    let next = alphabet::run(text, after, SPACE);
    let line = alphabet::run(text, next, NEWLINE | SPACE);
    let below = !colon && blanks && alphabet::is_at(text, next, NEWLINE);
    if below && alphabet::is_at(text, line, QUOTE) && line - after <= 40 {
        return value_span::value_after(text, line, false, false);
    }
    let right = value_span::value_after(text, after, blanks || colon, colon)?;
    if right.form == ValueForm::Quoted && right.start == right.end {
        let open = next_literal(text, right.end);
        return open.map_or(Some(right), |open| value_span::value_after(text, open, false, false));
    }
    Some(right)
}

/// Returns the end of a literal and of those concatenated to it: `"x" +` and `"y"` on the next line.
fn joined_end(text: &[u8], right: ValueSpan) -> usize {
    let mut end = right.end;
    if right.form != ValueForm::Quoted {
        return end;
    }
    for _ in 0..8 {
        let Some(open) = next_literal(text, end) else { break };
        let Some(next) = value_span::value_after(text, open, false, false) else { break };
        let value = &text[next.start..next.end];
        if value.is_empty() || character_mix::is_wordy(value) {
            break;
        }
        end = next.end;
    }
    end
}

/// Returns the start of the literal that is concatenated to the one with the closing quote at `end`.
fn next_literal(text: &[u8], end: usize) -> Option<usize> {
    let quote = *text.get(end).filter(|&&byte| alphabet::has_class(byte, QUOTE))?;
    let window = &text[end + 1..text.len().min(end + 48)];
    let gap = window.iter().position(|&byte| {
        !alphabet::has_class(byte, alphabet::BLANK) && !matches!(byte, b'+' | b'\\')
    })?;
    let signed = window[..gap].contains(&b'+') || window[..gap].contains(&b'\\');
    (window[gap] == quote && gap > 0 && signed).then_some(end + 1 + gap)
}

/// Returns the only element of a list at `start`, as Go prints headers: `X-Auth-Token:[X]`.
fn bracketed(text: &[u8], start: usize, name: SecretName) -> Option<Finding> {
    if text.get(start) != Some(&b'[') || placeholder::mark_end(text, start).is_some() {
        return None;
    }
    let end = ValueSpan::bare(text, start + 1, ValueForm::Tight).end;
    let value = &text[start + 1..end];
    let secret = text.get(end) == Some(&b']') && character_mix::is_random(value);
    secret.then_some(Finding { start: start + 1, end, kind: name.kind })
}

/// Returns the end of the separator. Returns `None` for comparisons, paths and parts of URLs.
fn operator(text: &[u8], at: usize) -> Option<usize> {
    let next = text.get(at + 1).copied().unwrap_or(b' ');
    let last = if at > 0 { text[at - 1] } else { b' ' };
    match text[at] {
        b'=' if matches!(last, b'=' | b'!' | b'<' | b'>') => None,
        // `password==7yTIWj6SY` in a properties file: the value begins with the sign.
        b'=' if next == b'=' => {
            let is_value = alphabet::has_class(last, NAME) && alphabet::is_at(text, at + 2, ALNUM);
            is_value.then_some(at + 1)
        }
        b'=' if next == b'>' => Some(at + 2),
        b':' if next == b'=' => Some(at + 2),
        b':' if next == b':' || last == b':' || alphabet::starts(text, at, b"://") => None,
        _ => Some(at + 1),
    }
}

/// Returns the name before the separator at `at`.
fn name_span(text: &[u8], at: usize, done: usize) -> Option<NameSpan<'_>> {
    let floor = at.saturating_sub(160).max(done);
    let mut end = at;
    if text[at] == b'=' && end > floor && matches!(text[end - 1], b':' | b'?' | b'+') {
        end -= 1;
    }
    let blanks_end = end;
    end = alphabet::run_back(text, end, SPACE, (end - floor).min(40));
    let blanks = blanks_end - end;
    end = before_colour(text, end, floor);
    if end > floor && matches!(text[end - 1], b'?' | b'!') {
        end -= 1;
    }
    // `**Password**: x`.
    if text[floor..end].ends_with(b"**") {
        end -= 2;
    }
    let mut quoted = false;
    if end > floor && text[end - 1] == b']' {
        end = before_bracket(text, end, floor);
    }
    while end > floor && (alphabet::has_class(text[end - 1], QUOTE) || text[end - 1] == b'\\') {
        quoted = true;
        end -= 1;
    }
    let start = alphabet::run_back(text, end, NAME, (end - floor).min(name::MAX_NAME_BYTES));
    (start < end).then_some(NameSpan { name: &text[start..end], start, quoted, blanks })
}

/// Skips back over the bracket that ends at `end`: only the sign of an index, but all of a prompt's default (`Key
/// [None]:`).
fn before_bracket(text: &[u8], end: usize, floor: usize) -> usize {
    let near = end.saturating_sub(24).max(floor);
    let open = text[near..end].iter().rposition(|&byte| byte == b'[').map(|open| near + open);
    let prompt = open.filter(|&open| open > floor && text[open - 1] == b' ');
    prompt.map_or(end - 1, |open| open - 1)
}

/// Skips back over the terminal colour that ends at `end`.
fn before_colour(text: &[u8], end: usize, floor: usize) -> usize {
    let near = end.saturating_sub(12).max(floor);
    let escape = text[near..end].iter().rposition(|&byte| byte == 0x1b).map(|at| near + at);
    escape.filter(|&at| at + alphabet::escape(text, at) == end).unwrap_or(end)
}

/// Classifies the name before a separator.
fn classify_name(text: &[u8], left: &NameSpan<'_>, query: bool, done: usize) -> Option<SecretName> {
    // The letter of a literal `\n` is attached to an unquoted name.
    let mut word = left.name;
    if left.start > 0 && text[left.start - 1] == b'\\' && matches!(word[0], b'n' | b'r' | b't') {
        word = &word[1..];
    }
    // So is the code of an escaped ampersand: `\u0026api_key=…`.
    if left.start > 0 && text[left.start - 1] == b'\\' && word.len() > 5 && word.starts_with(b"u00")
    {
        word = &word[5..];
    }
    if query && word.eq_ignore_ascii_case(b"code") {
        return Some(SecretName { class: NameClass::Perhaps, kind: "code" });
    }
    if query && is_signature(word) {
        return Some(SecretName { class: NameClass::Secret, kind: "signature" });
    }
    let named = name::classify(word).map(|name| match name.class {
        NameClass::Secret
            if word.eq_ignore_ascii_case(b"pass") && has_user(text, left.start, done) =>
        {
            SecretName { class: NameClass::Password, ..name }
        }
        _ => name,
    });
    if named.is_some_and(|name| name.class != NameClass::Perhaps) || left.quoted {
        let floor = left.start.saturating_sub(80).max(done);
        return named
            .or_else(|| header::jwk(text, left.start, word))
            .or_else(|| attribute(text, word, left.start, floor));
    }
    let floor = left.start.saturating_sub(80).max(done);
    let before = alphabet::run_back(text, left.start, SPACE, left.start - floor);
    // `apiKey: string = …`, `API_KEY: &str = …`: the name is before its type.
    if let Some(typed) = typed(text, word, left.start, floor) {
        return Some(typed);
    }
    // `api key: …`, `Secret Key: …`: a name of two words.
    let two_words = before < left.start;
    // `Unseal Key 1: …`: a number follows the name.
    if two_words && word.len() < 3 && word.iter().all(u8::is_ascii_digit) {
        let start = alphabet::run_back(text, before, NAME | SPACE, (before - floor).min(32));
        return name::classify(&text[start..before]);
    }
    if two_words && matches!(word, b"key" | b"Key" | b"KEY" | b"phrase" | b"Phrase") {
        let start = alphabet::run_back(text, before, NAME, before - floor);
        if start < before {
            return name::classify(&text[start..left.start + word.len()]);
        }
    }
    named.or_else(|| attribute(text, word, left.start, floor))
}

/// Returns true if a user is named earlier on the line: `user: bob pass: x`.
pub(super) fn has_user(text: &[u8], start: usize, done: usize) -> bool {
    let before = &text[start.saturating_sub(28).max(done)..start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    // One letter dismisses most windows.
    line.windows(4).any(|part| match part[1] | 32 {
        b's' => part[3] | 32 == b'r' && part.eq_ignore_ascii_case(b"user"),
        b'g' => part.eq_ignore_ascii_case(b"ogin"),
        _ => false,
    })
}

/// Returns true for URL parameters that hold a signature.
fn is_signature(word: &[u8]) -> bool {
    let known: [&[u8]; 5] =
        [b"sig", b"signature", b"x-amz-signature", b"x-goog-signature", b"x-amz-credential"];
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns the name of a typed declaration. Its type ends before the separator.
fn typed(text: &[u8], word: &[u8], start: usize, floor: usize) -> Option<SecretName> {
    let types: [&[u8]; 7] = [b"string", b"str", b"text", b"char", b"bytes", b"any", b"final"];
    if !types.iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return None;
    }
    let window = &text[floor..start];
    let plain =
        |byte: &u8| matches!(byte, b'&' | b'\'' | b' ') || alphabet::has_class(*byte, ALNUM);
    let colon = floor + window.iter().rposition(|byte| !plain(byte))?;
    if text[colon] != b':' {
        return None;
    }
    let end = alphabet::run_back(text, colon, SPACE, colon - floor);
    let begin = alphabet::run_back(text, end, NAME, end - floor);
    name::classify(&text[begin..end])
}

/// Returns the name of a `value` that is given elsewhere: `key="SmtpPassword" value="…"`, `variable "db_password" {
/// default = "…" }`, `{"name": "DB_PASSWORD", "value": "…"}`, `- name: DB_PASSWORD` and `value: …` on the next line.
fn attribute(text: &[u8], word: &[u8], start: usize, floor: usize) -> Option<SecretName> {
    if !matches!(word, b"value" | b"default" | b"content" | b"Value" | b"data") {
        return None;
    }
    let between = |byte: &u8| {
        alphabet::has_class(*byte, QUOTE | SPACE | NEWLINE) || matches!(byte, b',' | b'{' | b'\\')
    };
    let end = floor + text[floor..start].iter().rposition(|byte| !between(byte))? + 1;
    let begin = alphabet::run_back(text, end, NAME, end - floor);
    name::classify(&text[begin..end])
}

fn is_shouted(name: &[u8]) -> bool {
    name.iter().any(|&byte| alphabet::has_class(byte, UPPER))
        && !name.iter().any(u8::is_ascii_lowercase)
}

/// Returns true if more follows on the line than a comment or the end of a string or a list.
fn goes_on(text: &[u8], end: usize) -> bool {
    let next = alphabet::run(text, end, SPACE);
    let more = |&byte: &u8| {
        !alphabet::has_class(byte, NEWLINE | QUOTE)
            && !matches!(byte, b'#' | b'\\' | b'|' | b'}' | b')' | b',')
    };
    next > end && text.get(next).is_some_and(more)
}

/// Returns true if a bare value is part of a declaration in code: `const X: TYPE = 1`.
fn is_declared(text: &[u8], start: usize, end: usize) -> bool {
    let before = alphabet::run_back(text, start, SPACE, start.min(8));
    let word = &text[alphabet::run_back(text, before, ALNUM, before.min(16))..before];
    let keyword = matches!(
        word,
        b"pub"
            | b"const"
            | b"static"
            | b"type"
            | b"let"
            | b"var"
            | b"val"
            | b"final"
            | b"public"
            | b"private"
            | b"mut"
            | b"enum"
    );
    let next = alphabet::run(text, end, SPACE);
    let assigned = next > end && text.get(next) == Some(&b'=') && text.get(next + 1) != Some(&b'=');
    before < start && keyword || assigned
}

/// Returns true if an assignment is an argument of a call in code.
fn is_argument(text: &[u8], left: &NameSpan<'_>, end: usize) -> bool {
    let before = alphabet::run_back(text, left.start, SPACE, left.start.min(8));
    let opens = before > 0 && matches!(text[before - 1], b'(' | b',');
    opens && matches!(text.get(end), Some(b')' | b','))
}
