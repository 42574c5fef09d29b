//! The text that an agent reads when a failure comes back: the failure, its fix, the file, then time and frequency.
//!
//! It contains only quoted facts: output of a test must not pass for an instruction. A change without good evidence is
//! listed as changed and not called the fix. If no line of a change can be shown, nothing is printed.

use std::fmt::Write as _;

use rutter_memory::Time;
use rutter_memory::change::{Hunk, Sort};
use rutter_memory::episode::{Again, Ending, Episode, ShownFix};
use rutter_memory::origin::Unconfirmed;
use rutter_memory::quote::{ago, end_of, quoted, reads_like_instruction, start_of, tokens};

/// Maximum number of tokens for the label and the first failure.
const MAX_TOKENS: usize = 220;
/// Maximum number of tokens of the label.
const LABEL_TOKENS: usize = 14;
/// Maximum number of tokens for each further failure of the same run.
const MAX_NEXT_TOKENS: usize = 110;
/// Maximum number of tokens for the best hunk, which leaves room for others.
const MAX_HUNK_TOKENS: usize = 120;
/// Maximum length of a shown line.
const MAX_LINE_CHARS: usize = 110;
/// Maximum number of other files that are named.
const MAX_FILES: usize = 4;

/// The words that introduce changes that are not claimed to be the fix.
pub const NOT_CLAIMED: &str = "changed between red and green";

/// Facts about a fix that are not in the episode.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Number of times the failure was fixed.
    pub times: u32,
    /// True if the file contains the change now; None if that is unknown.
    pub in_place: Option<bool>,
    /// True if the output shows why the test failed, so that it is certain to be the same failure.
    pub is_cause_seen: bool,
    /// The reason to mark the episode as unconfirmed.
    pub unconfirmed: Option<Unconfirmed>,
    /// The current time.
    pub now: Time,
}

/// Renders the text for failures that come back, each with its episode; None if nothing can be shown.
pub fn render(returning: &[(&Episode, Known)], why: Again) -> Option<String> {
    let mut bodies = Vec::new();
    let mut room = MAX_TOKENS - LABEL_TOKENS;
    for (episode, known) in returning {
        let Some(shown) = choose_for(episode, known) else { continue };
        // The earlier fix of another failure of the test helps only if it is certain.
        if why == Again::Test && !shown.is_certain {
            continue;
        }
        if let Some(body) = render_body(episode, &shown, known, room) {
            bodies.push(body);
            room = MAX_NEXT_TOKENS;
        }
    }
    let label = match (why, bodies.len()) {
        (_, 0) => return None,
        _ if returning
            .iter()
            .any(|(_, known)| known.unconfirmed == Some(Unconfirmed::Imported)) =>
        {
            "Recorded data: an imported file knows this failure."
        }
        (Again::Failure, 1) if returning.iter().any(|(_, known)| !known.is_cause_seen) => {
            "Recorded data: this test was fixed before."
        }
        (Again::Failure, 1) => "Recorded data: this failure was fixed before.",
        (Again::Failure, _) => "Recorded data: these failures were fixed before.",
        (Again::Test, _) => "Recorded data: same test, another failure.",
    };
    Some(format!("{label}\n{}", bodies.join("\n")))
}

/// Chooses the changes of an episode to show. Imported changes are never claimed to be the fix.
fn choose_for<'a>(episode: &'a Episode, known: &Known) -> Option<ShownFix<'a>> {
    let mut shown = ShownFix::choose(episode.ending.as_ref()?)?;
    shown.is_certain &= known.unconfirmed != Some(Unconfirmed::Imported);
    Some(shown)
}

/// Renders an episode as one item among others.
pub fn render_item(episode: &Episode, known: &Known, max_tokens: usize) -> Option<String> {
    let shown = choose_for(episode, known)?;
    render_body(episode, &shown, known, max_tokens)
}

fn render_body(
    episode: &Episode,
    shown: &ShownFix<'_>,
    known: &Known,
    room: usize,
) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let mut text = String::new();
    if let Some(test) = &episode.test {
        let end = if episode.error.is_empty() { "." } else { ": " };
        let _ = write!(text, "`{}`{end}", end_of(&quoted(test), 80));
    }
    if !episode.error.is_empty() {
        let _ = write!(text, "`{}`", start_of(&quoted(&episode.error), 100));
    }
    let end = shown.end(ending, known);
    shown.write_changes(&mut text, room.saturating_sub(tokens(&end) + 1)).then(|| text + &end)
}

/// Rendering of the chosen changes.
trait WriteChanges {
    /// Writes the changes; returns false if no line of them fits.
    fn write_changes(&self, text: &mut String, room: usize) -> bool;

    /// Returns the sentences behind the changes: when, how often, and if the file contains the change now.
    fn end(&self, ending: &Ending, known: &Known) -> String;
}

impl WriteChanges for ShownFix<'_> {
    fn write_changes(&self, text: &mut String, room: usize) -> bool {
        let mut any = false;
        let mut last_file = "";
        for (number, change) in self.changes.iter().enumerate() {
            match change.sort {
                Sort::Invocation => {
                    let how = start_of(&quoted(&change.name), 120);
                    let _ = if self.is_certain {
                        write!(text, "\nIt passed when run {}", in_ticks(&how))
                    } else {
                        write!(text, "\nThe command {NOT_CLAIMED}: it passed {}", in_ticks(&how))
                    };
                    text.push('.');
                    any = true;
                }
                Sort::Command => {
                    let name = start_of(&quoted(&change.name), 120);
                    let _ = if self.is_certain {
                        write!(text, "\nFixed by `{name}`.")
                    } else {
                        write!(text, "\nBy a command, {NOT_CLAIMED}: `{name}`.")
                    };
                    any = true;
                }
                Sort::Edit => {
                    let before = text.len();
                    let file = change.name.as_str();
                    if file != last_file {
                        let file = end_of(&quoted(file), 80);
                        let _ = match (self.is_certain, number) {
                            (true, 0) => write!(text, "\nFixed in `{file}`"),
                            (true, _) => write!(text, "\nand in `{file}`"),
                            (false, _) => write!(text, "\nIn `{file}`, {NOT_CLAIMED}"),
                        };
                        text.push(':');
                    }
                    let limit = room.min(tokens(text) + MAX_HUNK_TOKENS);
                    let mut written = false;
                    let hunks = change.hunks();
                    let speaks = |hunk: &Hunk| hunk.lines().any(reads_like_instruction);
                    if hunks.iter().any(speaks) {
                        text.push_str(" its lines are not shown, as they read like instructions.");
                        last_file = file;
                        any = true;
                        continue;
                    }
                    for hunk in hunks {
                        written |= write_hunk(text, &hunk, limit);
                    }
                    if written {
                        last_file = file;
                    } else {
                        text.truncate(before);
                    }
                    any |= written;
                }
            }
        }
        if any && !self.others.is_empty() {
            let names: Vec<String> = self
                .others
                .iter()
                .take(MAX_FILES)
                .map(|file| format!("`{}`", end_of(&quoted(file), 48)))
                .collect();
            let more = self.others.len().saturating_sub(MAX_FILES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let line = format!("\nAlso changed: {}{more}.", names.join(", "));
            if tokens(text) + tokens(&line) <= room {
                text.push_str(&line);
            }
        }
        any
    }

    fn end(&self, ending: &Ending, known: &Known) -> String {
        let mut end = format!("\n{}", capitalized(&ago(ending.at, known.now)));
        if known.times > 1 {
            let _ = write!(end, ", fixed {} times", known.times);
        }
        if let Some(unconfirmed) = known.unconfirmed {
            let _ = write!(end, " {}", unconfirmed.words());
        }
        end.push('.');
        let is_edit = self.changes.first().is_some_and(|change| change.sort == Sort::Edit);
        match known.in_place.filter(|_| is_edit) {
            Some(true) => end.push_str(" The file has this change now."),
            Some(false) => end.push_str(" This change is not in the file now."),
            None => {}
        }
        end
    }
}

/// Puts backticks around the typed parts of a difference such as `with A=1, through uv run`.
fn in_ticks(difference: &str) -> String {
    difference
        .split(", ")
        .map(|part| match part.split_once(' ') {
            Some((word, rest)) => format!("{word} `{rest}`"),
            None => part.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn capitalized(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// Writes as many lines of a hunk as fit, removed lines before added ones. Returns false if none fits.
fn write_hunk(text: &mut String, hunk: &Hunk, room: usize) -> bool {
    let removed: Vec<&str> =
        hunk.removed.iter().map(String::as_str).filter(|line| !line.trim().is_empty()).collect();
    let added: Vec<&str> =
        hunk.added.iter().map(String::as_str).filter(|line| !line.trim().is_empty()).collect();
    let indent = removed
        .iter()
        .chain(&added)
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    // Lines are chosen from both sides in turn, so that both are represented.
    let mut order: Vec<(bool, usize)> = Vec::new();
    for at in 0..removed.len().max(added.len()) {
        order.extend((at < removed.len()).then_some((false, at)));
        order.extend((at < added.len()).then_some((true, at)));
    }
    let mut section = String::new();
    if !hunk.section.is_empty() && !hunk.lines().any(|line| line.trim() == hunk.section.trim()) {
        section = format!("\n> @@ {}", start_of(&quoted(&hunk.section), 80));
    }
    let mut used = tokens(text) + tokens(&section) + 1;
    let mut taken: Vec<(bool, usize, String)> = Vec::new();
    let total = order.len();
    for (is_added, at) in order {
        let (line, other) =
            if is_added { (added[at], removed.get(at)) } else { (removed[at], added.get(at)) };
        let shown = around_difference(line, other.copied(), indent);
        let line = format!("\n> {}{shown}", if is_added { '+' } else { '-' });
        let cost = tokens(&line) + 1;
        if used + cost > room {
            break;
        }
        used += cost;
        taken.push((is_added, at, line));
    }
    if taken.is_empty() {
        return false;
    }
    text.push_str(&section);
    let left = total - taken.len();
    taken.sort();
    for (_, _, line) in taken {
        text.push_str(&line);
    }
    if left > 0 {
        let lines = if left == 1 { "line" } else { "lines" };
        let _ = write!(text, "\n> … {left} more {lines}");
    }
    true
}

/// Cuts a long line around the part that differs from the other side.
fn around_difference(line: &str, other: Option<&str>, indent: usize) -> String {
    let line = quoted(line.get(indent..).unwrap_or(line.trim_start()));
    let line = line.trim_end();
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let other = other.map(|other| quoted(other.get(indent..).unwrap_or(other.trim_start())));
    let same = other.map_or(0, |other| {
        line.chars().zip(other.chars()).take_while(|(one, two)| one == two).count()
    });
    // Some text before the difference shows its place.
    let from = same.saturating_sub(MAX_LINE_CHARS / 3);
    let mut shown: String = line.chars().skip(from).take(MAX_LINE_CHARS).collect();
    if from > 0 {
        shown.insert(0, '…');
    }
    if from + MAX_LINE_CHARS < line.chars().count() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
