//! Compares output shown in a page with real output, without the parts that differ in every run.

use std::collections::BTreeMap;

/// A line with placeholders for varying parts, and its ids.
#[derive(Debug)]
struct MaskedLine {
    plain: String,
    ids: Vec<String>,
}

/// A map from ids in the page to real ids.
#[derive(Default)]
pub(super) struct IdMap(BTreeMap<String, String>);

impl IdMap {
    /// Replaces the ids of the page by real ones. Fails with the first unknown id.
    pub(super) fn translate(&self, command: &str) -> Result<String, String> {
        let mut out = String::new();
        for part in split_parts(command) {
            match part {
                TextPart::Id(id) => out += self.0.get(id).ok_or_else(|| id.to_owned())?,
                TextPart::Other(text) | TextPart::Varying(text, _) => out += text,
            }
        }
        Ok(out)
    }

    fn record(&mut self, page: &str, here: &str) -> Result<(), String> {
        let known = self.0.entry(page.to_owned()).or_insert_with(|| here.to_owned());
        if known == here {
            return Ok(());
        }
        Err(format!("{page} was {known} above and is {here} here"))
    }
}

/// Compares the lines of a page with real output. A line with only `…` stands for any number of lines.
pub(super) fn compare(shown: &[&str], printed: &str, ids: &mut IdMap) -> Result<(), String> {
    let trimmed = |lines: Vec<&str>| -> Vec<MaskedLine> {
        let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        lines[..end].iter().map(|line| MaskedLine::parse(line)).collect()
    };
    let (shown, printed) = (trimmed(shown.to_vec()), trimmed(printed.lines().collect()));
    let Some(pairs) = align_lines(&shown, &printed) else {
        let text = |lines: &[MaskedLine]| -> String {
            lines.iter().flat_map(|line| ["    ", &line.plain, "\n"]).collect()
        };
        return Err(format!(
            "prints something else. The page:\n{}here:\n{}",
            text(&shown),
            text(&printed)
        ));
    };
    let pairs = pairs.into_iter().flat_map(|(page, here)| page.ids.iter().zip(&here.ids));
    pairs.into_iter().try_for_each(|(page, here)| ids.record(page, here))
}

/// Compares like [`compare`], but ignores line breaks.
pub(super) fn compare_words(shown: &[&str], said: &str, ids: &mut IdMap) -> Result<(), String> {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    compare(&[&flat(&shown.join(" "))], &flat(said), ids)
}

fn align_lines<'a>(
    shown: &'a [MaskedLine],
    printed: &'a [MaskedLine],
) -> Option<Vec<(&'a MaskedLine, &'a MaskedLine)>> {
    match shown.split_first() {
        None => printed.is_empty().then(Vec::new),
        Some((first, rest)) if first.plain.trim() == "…" => {
            (0..=printed.len()).find_map(|skipped| align_lines(rest, &printed[skipped..]))
        }
        Some((first, rest)) => {
            let (here, left) = printed.split_first()?;
            let mut pairs =
                (first.plain == here.plain).then(|| align_lines(rest, left)).flatten()?;
            pairs.push((first, here));
            Some(pairs)
        }
    }
}

impl MaskedLine {
    fn parse(line: &str) -> Self {
        let (mut plain, mut ids) = (String::new(), Vec::new());
        for part in split_parts(line.trim_end()) {
            match part {
                TextPart::Id(id) => {
                    ids.push(id.to_owned());
                    plain += "[id]";
                }
                TextPart::Varying(_, name) => plain += name,
                TextPart::Other(text) => plain += text,
            }
        }
        // The width of a column depends on its longest path.
        while plain.contains("   ") {
            plain = plain.replace("   ", "  ");
        }
        Self { plain, ids }
    }
}

enum TextPart<'a> {
    Id(&'a str),
    Varying(&'a str, &'static str),
    Other(&'a str),
}

/// Splits a text into ids, other varying parts and single characters.
fn split_parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut inside_word) = (text, false);
    while let Some(first) = rest.chars().next() {
        let found = if inside_word { None } else { varying_prefix(rest) };
        let (length, part) = match found {
            Some((length, None)) => (length, TextPart::Id(&rest[..length])),
            Some((length, Some(name))) => (length, TextPart::Varying(&rest[..length], name)),
            None => (first.len_utf8(), TextPart::Other(&rest[..first.len_utf8()])),
        };
        inside_word = rest[..length].ends_with(char::is_alphanumeric);
        parts.push(part);
        rest = &rest[length..];
    }
    parts
}

/// Returns length and placeholder of a varying part at the start of a text. An id has no placeholder.
fn varying_prefix(text: &str) -> Option<(usize, Option<&'static str>)> {
    let shaped = |shape: &str| {
        let mut signs = text.chars();
        let fits = shape.chars().all(|wanted| {
            signs.next().is_some_and(|sign| match wanted {
                '0' => sign.is_ascii_digit(),
                'x' => matches!(sign, '0'..='9' | 'a'..='f'),
                _ => sign == wanted,
            })
        });
        let ends = !signs.next().is_some_and(char::is_alphanumeric);
        (fits && ends).then_some(shape.len())
    };
    if let Some(length) = shaped("0000-00-00T00:00:00.000Z") {
        return Some((length, Some("[time]")));
    }
    if let Some(length) = shaped("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Some((length, Some("[uuid]")));
    }
    if let Some(length) = shaped("xxxxxxxx") {
        return Some((length, None));
    }
    if text.starts_with("just now") || text.starts_with("Just now") {
        return Some(("just now".len(), Some("[age]")));
    }
    let digits = text.len()
        - text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.').len();
    let unit = text[digits..].strip_prefix(' ').filter(|_| digits > 0)?;
    for name in ["minute", "hour", "day", "month", "year"] {
        for age in [format!("{name} ago"), format!("{name}s ago")] {
            if unit.starts_with(&age) {
                return Some((digits + 1 + age.len(), Some("[age]")));
            }
        }
    }
    let word = unit.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    match word {
        "ms" | "µs" => Some((digits + 1 + word.len(), Some("[duration]"))),
        "B" | "KiB" | "MiB" => Some((digits + 1 + word.len(), Some("[size]"))),
        _ => None,
    }
}
