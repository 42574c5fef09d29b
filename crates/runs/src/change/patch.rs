//! Redaction of a patch in the context of its file.
//!
//! A patch shows three lines around a change. The first line of a private key may be farther away, and the name of a
//! value on an unchanged line. So the file before and the file after are redacted, and the lines of the patch are taken
//! from those texts. A patch without its file is redacted together with its context lines; in that case, lines that
//! look like the inside of a key are redacted too.

use std::borrow::Cow;

use rutter_redact::Clean;
use rutter_redact::is_key_line;

/// Maximum size of a file that is redacted as a whole. In a longer one only the neighbourhood of a change is redacted.
const MAX_WHOLE_BYTES: usize = 64 * 1024;
/// Size of the neighbourhood on either side of a change; large enough for the longest private key.
const NEIGHBOURHOOD_BYTES: usize = 16 * 1024;
/// Replacement for a line of key material.
pub(super) const KEY_MARK: &str = "[redacted:private-key]";

/// A piece of a patch.
#[derive(Debug)]
pub struct PatchPart<'a> {
    /// The first line in the old file, counted from 1; 0 if unknown.
    pub old_start: u32,
    /// The first line in the new file.
    pub new_start: u32,
    /// The lines: `-` is removed, `+` is added, anything else is context.
    pub lines: Vec<Cow<'a, str>>,
}

/// The text of the file that a patch belongs to.
#[derive(Debug, Clone, Copy)]
pub enum PatchedFile<'a> {
    /// The file before the patch.
    Before(&'a str),
    /// The file after the patch.
    After(&'a str),
    /// Neither is known.
    Unknown,
}

/// Redacts the lines of a patch, part by part.
pub fn redact_patch(parts: &[PatchPart<'_>], file: PatchedFile<'_>) -> Vec<Vec<String>> {
    let (before, after) = match file {
        PatchedFile::Before(text) => {
            let before: Vec<&str> = text.split('\n').collect();
            let after = apply_patch(&before, parts, PatchSide::Old);
            (Some(before), after)
        }
        PatchedFile::After(text) => {
            let after: Vec<&str> = text.split('\n').collect();
            (apply_patch(&after, parts, PatchSide::New), Some(after))
        }
        PatchedFile::Unknown => (None, None),
    };
    match before.zip(after) {
        Some((before, after)) => {
            let (before, after) = (FileView::new(before), FileView::new(after));
            parts.iter().map(|part| part.redacted_in(&before, &after)).collect()
        }
        None => parts.iter().map(PatchPart::redacted_alone).collect(),
    }
}

/// Replaces lines of key material without a visible header.
fn hide_key_lines(lines: &mut [String]) {
    let has_public_header =
        lines.iter().any(|line| line.contains("-----BEGIN ") && !line.contains("PRIVATE"));
    if has_public_header {
        return;
    }
    let mut is_inside = false;
    for line in lines {
        is_inside = is_key_line(line, is_inside);
        if is_inside {
            KEY_MARK.clone_into(line);
        }
    }
}

/// The side of a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatchSide {
    Old,
    New,
}

impl PatchSide {
    /// Returns the sign of the lines that only this side has.
    fn sign(self) -> u8 {
        match self {
            Self::Old => b'-',
            Self::New => b'+',
        }
    }
}

impl PatchPart<'_> {
    /// Returns the index of its first line on one side of the file.
    fn start(&self, side: PatchSide) -> usize {
        let line = match side {
            PatchSide::Old => self.old_start,
            PatchSide::New => self.new_start,
        };
        usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX)
    }

    /// Returns the lines of one side, without their signs.
    fn side(&self, side: PatchSide) -> Vec<&str> {
        let other = if side == PatchSide::Old { b'+' } else { b'-' };
        self.lines.iter().filter_map(|line| line_content(line, other)).collect()
    }

    fn redacted_in(&self, before: &FileView<'_>, after: &FileView<'_>) -> Vec<String> {
        let old =
            before.redacted_lines(self.start(PatchSide::Old), self.side(PatchSide::Old).len());
        let new = after.redacted_lines(self.start(PatchSide::New), self.side(PatchSide::New).len());
        self.with_lines(&old, &new)
    }

    fn redacted_alone(&self) -> Vec<String> {
        let redacted = |side| {
            let text = self.side(side).join("\n");
            let mut lines: Vec<String> =
                Clean::by_line(&text).split('\n').map(str::to_owned).collect();
            hide_key_lines(&mut lines);
            lines
        };
        self.with_lines(&redacted(PatchSide::Old), &redacted(PatchSide::New))
    }

    /// Returns the lines with their signs, each with the redacted text from its side.
    fn with_lines(&self, old: &[String], new: &[String]) -> Vec<String> {
        let (mut old, mut new) = (old.iter(), new.iter());
        let mut lines: Vec<String> = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let redacted = match line.as_bytes().first() {
                Some(b'\\') => None,
                Some(b'-') => old.next(),
                Some(b'+') => new.next(),
                _ => {
                    new.next();
                    old.next()
                }
            };
            let (sign, own) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let own = match redacted {
                Some(redacted) if redacted.trim() == own.trim() => own.to_owned(),
                // The client may show a line with other leading blanks than the file has.
                Some(redacted) => {
                    let margin = own.len() - own.trim_start().len();
                    format!("{}{}", &own[..margin], redacted.trim_start())
                }
                None => own.to_owned(),
            };
            lines.push(format!("{sign}{own}"));
        }
        lines
    }
}

/// Returns a line of a patch without its sign; None for lines of the other side, and for `\ No newline at end of file`.
fn line_content(line: &str, other: u8) -> Option<&str> {
    match line.as_bytes().first() {
        Some(b'\\') => None,
        Some(&sign) if sign == other => None,
        Some(_) => line.get(line.chars().next().map_or(0, char::len_utf8)..),
        None => Some(""),
    }
}

/// Returns the other side of a file, given one side; None if the patch does not fit.
fn apply_patch<'a>(
    base: &[&'a str],
    parts: &'a [PatchPart<'_>],
    side: PatchSide,
) -> Option<Vec<&'a str>> {
    let mut made: Vec<&str> = Vec::with_capacity(base.len());
    let mut at = 0;
    for part in parts {
        let start = part.start(side);
        made.extend(base.get(at..start)?);
        at = start;
        for line in &part.lines {
            let sign = line.as_bytes().first().copied().unwrap_or(b' ');
            let is_own = sign == side.sign();
            let is_other = matches!(sign, b'-' | b'+') && !is_own;
            if sign == b'\\' {
                continue;
            }
            let text = line_content(line, b'\\').unwrap_or_default();
            if is_other {
                made.push(text);
                continue;
            }
            if base.get(at)?.trim() != text.trim() {
                return None;
            }
            if !is_own {
                made.extend(base.get(at));
            }
            at += 1;
        }
    }
    made.extend(base.get(at..)?);
    Some(made)
}

/// A file from which lines are redacted together with their surroundings.
struct FileView<'a> {
    lines: Vec<&'a str>,
    /// All lines redacted, if the file is short enough.
    redacted: Option<Vec<String>>,
}

impl<'a> FileView<'a> {
    fn new(lines: Vec<&'a str>) -> Self {
        let size: usize = lines.iter().map(|line| line.len() + 1).sum();
        let redacted = (size <= MAX_WHOLE_BYTES).then(|| redact_lines(&lines));
        Self { lines, redacted }
    }

    /// Returns the redacted form of `count` lines from the index `start` on.
    fn redacted_lines(&self, start: usize, count: usize) -> Vec<String> {
        let end = start.saturating_add(count).min(self.lines.len());
        let start = start.min(end);
        if let Some(lines) = &self.redacted {
            return lines.get(start..end).unwrap_or_default().to_vec();
        }
        let reach = |lines: &mut dyn Iterator<Item = &&str>| {
            let mut size = 0;
            lines
                .take_while(|line| {
                    size += line.len() + 1;
                    size <= NEIGHBOURHOOD_BYTES
                })
                .count()
        };
        let above = reach(&mut self.lines[..start].iter().rev());
        let below = reach(&mut self.lines[end..].iter());
        let lines = redact_lines(&self.lines[start - above..end + below]);
        lines.into_iter().skip(above).take(end - start).collect()
    }
}

fn redact_lines(lines: &[&str]) -> Vec<String> {
    Clean::by_line(&lines.join("\n")).split('\n').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_LINES: [&str; 3] = [
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7xY2kQ9vLmR4t",
        "q7Yh2LpV9sXc4NwBk3Xw9QzA1bT7Rh08i7lHhiOKx9e0IxAiGpwfTFfpEr1CdCVL",
        "xGRfbRs6d7COqfias3zMO1lQf8MEviWXghumAPswTvsVamVMouseWRiqagfMuXab",
    ];

    fn patch_part(old_start: u32, lines: &[&'static str]) -> PatchPart<'static> {
        let lines = lines.iter().map(|line| Cow::Borrowed(*line)).collect();
        PatchPart { old_start, new_start: old_start, lines }
    }

    fn redacted(part: PatchPart<'_>, file: PatchedFile<'_>) -> Vec<String> {
        redact_patch(&[part], file).remove(0)
    }

    #[test]
    fn middle_of_rotated_key_is_redacted() {
        let label = "RSA PRIVATE KEY";
        let [a, b, c] = KEY_LINES;
        let file = format!(
            "-----BEGIN {label}-----\n{a}\n{a}\n{a}\n{a}\n{b}\n{a}\n{a}\n{a}\n-----END {label}-----\n"
        );
        let lines: Vec<Cow<'_, str>> =
            [format!(" {a}"), format!("-{b}"), format!("+{c}"), format!(" {a}")]
                .into_iter()
                .map(Cow::Owned)
                .collect();
        let part = || PatchPart { old_start: 5, new_start: 5, lines: lines.clone() };
        let after = file.replace(b, c);
        let context = format!(" {KEY_MARK}");
        let expected = [context.clone(), format!("-{KEY_MARK}"), format!("+{KEY_MARK}"), context];
        for file in [PatchedFile::Before(&file), PatchedFile::After(&after), PatchedFile::Unknown] {
            assert_eq!(redacted(part(), file), expected);
        }
    }

    #[test]
    fn value_below_unchanged_name_is_redacted() {
        let file = "a: 1\npassword:\n  k3Xw9QzA1bT7\nb: 2\n";
        let lines = [" password:", "-  k3Xw9QzA1bT7", "+  q7Yh2LpV9sXc", " b: 2"];
        let expected = [" password:", "-  [redacted:password]", "+  [redacted:password]", " b: 2"];
        assert_eq!(redacted(patch_part(2, &lines), PatchedFile::Before(file)), expected);
        assert_eq!(redacted(patch_part(2, &lines), PatchedFile::Unknown), expected);
    }

    #[test]
    fn certificates_and_code_stay() {
        let [a, b, _] = KEY_LINES;
        let lines = vec![
            " -----BEGIN CERTIFICATE-----".into(),
            format!("-{a}").into(),
            format!("+{b}").into(),
        ];
        let part = PatchPart { old_start: 1, new_start: 1, lines };
        assert_eq!(
            redacted(part, PatchedFile::Unknown),
            [" -----BEGIN CERTIFICATE-----".to_owned(), format!("-{a}"), format!("+{b}")]
        );
        let code = super::tests::patch_part(0, &["-\tlet x = 1;", "+    let x = 2;"]);
        assert_eq!(redacted(code, PatchedFile::Before("")), ["-\tlet x = 1;", "+    let x = 2;"]);
    }

    #[test]
    fn long_files_are_redacted_nearby() {
        let mut lines = vec!["fn filler() { let nothing = compute_something(1, 2, 3); }"; 2_000];
        lines[1_000] = "password:";
        lines[1_001] = "  k3Xw9QzA1bT7";
        let file = lines.join("\n");
        let part = patch_part(1_002, &["-  k3Xw9QzA1bT7", "+  q7Yh2LpV9sXc"]);
        assert_eq!(
            redacted(part, PatchedFile::Before(&file)),
            ["-  [redacted:password]", "+  [redacted:password]"]
        );
    }
}
