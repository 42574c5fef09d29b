//! A name in a tag and its value after it: `<password>x</password>`, a property list, a multipart form.

use super::Finding;
use super::alphabet::{self, BLANK, NAME};
use super::extent::Right;
use super::name::{self, Name};
use super::value::{self, Form, Site};

/// `<password>x</password>`: the `>` is at `at`.
pub(super) fn element(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let start = alphabet::run_back(text, at, NAME, (at - done).min(name::LONGEST));
    if start == at || start <= done || text[start - 1] != b'<' {
        return None;
    }
    let named = if &text[start..at] == b"string" {
        property(text, start - 1, done)?
    } else {
        name::read(&text[start..at])?
    };
    let window = &text[at + 1..text.len().min(at + 513)];
    let length = window.iter().position(|&byte| byte == b'<')?;
    if window.get(length + 1) != Some(&b'/') {
        return None;
    }
    let value = &window[..length];
    let site = Site::plain(Form::Quoted);
    let found = Finding { start: at + 1, end: at + 1 + length, kind: named.kind };
    (length > 0 && value::is_secret(value, named, site)).then_some(found)
}

/// The name of a property list's string, whose tag begins at `tag`: `<key>APIKey</key>` before it.
fn property(text: &[u8], tag: usize, done: usize) -> Option<Name> {
    let end = alphabet::run_back(text, tag, BLANK, (tag - done).min(40));
    let close =
        end.checked_sub(6).filter(|&close| close >= done && &text[close..end] == b"</key>")?;
    let start = alphabet::run_back(text, close, NAME, (close - done).min(name::LONGEST));
    name::read(&text[start..close])
}

/// A field of a multipart form: `name="password"`, an empty line, the value. The `=` is at `at`.
pub(super) fn form_field(text: &[u8], at: usize) -> Option<Finding> {
    if at < 4 || &text[at - 4..at] != b"name" || text.get(at + 1) != Some(&b'"') {
        return None;
    }
    let end = alphabet::run(text, at + 2, NAME);
    let named = name::read(&text[at + 2..end])?;
    let before = &text[at.saturating_sub(16)..at - 4];
    if !before.windows(9).any(|part| part.eq_ignore_ascii_case(b"form-data")) {
        return None;
    }
    let from = alphabet::run(text, end + 1, BLANK);
    let lines: usize =
        text.get(end + 1..from)?.iter().map(|&byte| usize::from(byte == b'\n')).sum();
    let right = Right::bare(text, from, Form::Tight);
    let site = Site::plain(Form::Tight);
    let value = text.get(from..right.end)?;
    let secret = lines == 2 && !value.is_empty() && value::is_secret(value, named, site);
    secret.then(|| Finding { start: from, end: right.whole(text), kind: named.kind })
}
