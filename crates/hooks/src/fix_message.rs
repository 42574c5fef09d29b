//! The text that an agent reads when a failure comes back: the failure, its fix, the file, then time and frequency.
//!
//! It contains only quoted facts: output of a test must not pass for an instruction. A change without good evidence is
//! listed as changed and not called the fix. If no line of a change can be shown, nothing is printed.

use std::fmt::Write as _;

use rutter_memory::Time;
use rutter_memory::change::{Change, ChangeKind, Hunk};
use rutter_memory::episode::{Episode, EpisodeEnding, RecurrenceKind, ShownFix};
use rutter_memory::origin::UnconfirmedReason;
use rutter_memory::quote::{
    escape_quotation, estimate_tokens, format_age, reads_like_instruction, truncate_end,
    truncate_start,
};

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
pub struct FixFacts {
    /// Number of times the failure was fixed.
    pub times: u32,
    /// True if the file contains the change now; None if that is unknown.
    pub in_place: Option<bool>,
    /// True if the output shows why the test failed, so that it is certain to be the same failure.
    pub is_cause_seen: bool,
    /// The reason to mark the episode as unconfirmed.
    pub unconfirmed: Option<UnconfirmedReason>,
    /// The current time.
    pub now: Time,
}

/// Renders the text for failures that come back, each with its episode; None if nothing can be shown.
pub fn render_fix_message(
    returning: &[(&Episode, FixFacts)],
    why: RecurrenceKind,
) -> Option<String> {
    let mut bodies = Vec::new();
    let mut room = MAX_TOKENS - LABEL_TOKENS;
    for (episode, known) in returning {
        let Some(shown) = choose_shown_fix(episode, known) else { continue };
        // The earlier fix of another failure of the test helps only if it is certain.
        if why == RecurrenceKind::Test && !shown.is_certain {
            continue;
        }
        if let Some(body) = render_fix_body(episode, &shown, known, room) {
            bodies.push(body);
            room = MAX_NEXT_TOKENS;
        }
    }
    let label = match (why, bodies.len()) {
        (_, 0) => return None,
        _ if returning
            .iter()
            .any(|(_, known)| known.unconfirmed == Some(UnconfirmedReason::Imported)) =>
        {
            "Recorded data: this failure is in an imported file."
        }
        (RecurrenceKind::Failure, 1) if returning.iter().any(|(_, known)| !known.is_cause_seen) => {
            "Recorded data: this test was fixed before."
        }
        (RecurrenceKind::Failure, 1) => "Recorded data: this failure was fixed before.",
        (RecurrenceKind::Failure, _) => "Recorded data: these failures were fixed before.",
        (RecurrenceKind::Test, _) => "Recorded data: same test, another failure.",
    };
    Some(format!("{label}\n{}", bodies.join("\n")))
}

/// Chooses the changes of an episode to show. Imported changes are never claimed to be the fix.
fn choose_shown_fix<'a>(episode: &'a Episode, known: &FixFacts) -> Option<ShownFix<'a>> {
    let mut shown = ShownFix::choose(episode.ending.as_ref()?)?;
    shown.is_certain &= known.unconfirmed != Some(UnconfirmedReason::Imported);
    Some(shown)
}

/// Renders an episode as one item among others.
pub fn render_fix_item(episode: &Episode, known: &FixFacts, max_tokens: usize) -> Option<String> {
    let shown = choose_shown_fix(episode, known)?;
    render_fix_body(episode, &shown, known, max_tokens)
}

fn render_fix_body(
    episode: &Episode,
    shown: &ShownFix<'_>,
    known: &FixFacts,
    room: usize,
) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let mut text = String::new();
    if let Some(test) = &episode.test {
        let end = if episode.error.is_empty() { "." } else { ": " };
        let _ = write!(text, "`{}`{end}", truncate_start(&escape_quotation(test), 80));
    }
    if !episode.error.is_empty() {
        let _ = write!(text, "`{}`", truncate_end(&escape_quotation(&episode.error), 100));
    }
    let end = shown.closing_sentences(ending, known);
    shown
        .write_changes(&mut text, room.saturating_sub(estimate_tokens(&end) + 1))
        .then(|| text + &end)
}

/// Rendering of the chosen changes.
trait WriteChanges {
    /// Writes the changes; returns false if no line of them fits.
    fn write_changes(&self, text: &mut String, room: usize) -> bool;

    /// Writes the names of the other changed files, if they fit.
    fn write_other_files(&self, text: &mut String, room: usize);

    /// Returns the sentences after the changes: when, how often, and if the file contains the change now.
    fn closing_sentences(&self, ending: &EpisodeEnding, known: &FixFacts) -> String;
}

impl WriteChanges for ShownFix<'_> {
    fn write_changes(&self, text: &mut String, room: usize) -> bool {
        let mut any = false;
        let mut last_file = "";
        for (number, change) in self.changes.iter().enumerate() {
            any |= match change.kind {
                _ if reads_like_instruction(&change.name) => {
                    text.push_str(HIDDEN_CHANGE);
                    true
                }
                ChangeKind::Invocation => {
                    write_invocation(text, &change.name, self.is_certain);
                    true
                }
                ChangeKind::Command => {
                    write_command(text, &change.name, self.is_certain);
                    true
                }
                ChangeKind::Edit => {
                    let file = change.name.as_str();
                    let heading = (file != last_file).then_some((self.is_certain, number));
                    let written = write_edit(text, change, heading, room);
                    if written {
                        last_file = file;
                    }
                    written
                }
            };
        }
        if any {
            self.write_other_files(text, room);
        }
        any
    }

    fn write_other_files(&self, text: &mut String, room: usize) {
        let others: Vec<_> =
            self.others.iter().filter(|file| !reads_like_instruction(file)).collect();
        if others.is_empty() {
            return;
        }
        let names: Vec<String> = others
            .iter()
            .take(MAX_FILES)
            .map(|file| format!("`{}`", truncate_start(&escape_quotation(file), 48)))
            .collect();
        let more = others.len().saturating_sub(MAX_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let line = format!("\nAlso changed: {}{more}.", names.join(", "));
        if estimate_tokens(text) + estimate_tokens(&line) <= room {
            text.push_str(&line);
        }
    }

    fn closing_sentences(&self, ending: &EpisodeEnding, known: &FixFacts) -> String {
        let mut end = format!("\n{}", capitalized(&format_age(ending.at, known.now)));
        if known.times > 1 {
            let _ = write!(end, ", fixed {} times", known.times);
        }
        if let Some(unconfirmed) = known.unconfirmed {
            let _ = write!(end, " {}", unconfirmed.mark_text());
        }
        end.push('.');
        let is_edit = self.changes.first().is_some_and(|change| change.kind == ChangeKind::Edit);
        match known.in_place.filter(|_| is_edit) {
            Some(true) => end.push_str(" The file has this change now."),
            Some(false) => end.push_str(" This change is not in the file now."),
            None => {}
        }
        end
    }
}

/// Writes the difference between the failing and the passing command line.
fn write_invocation(text: &mut String, difference: &str, is_certain: bool) {
    let difference = quote_typed_parts(&truncate_end(&escape_quotation(difference), 120));
    let _ = if is_certain {
        write!(text, "\nIt passed when run {difference}.")
    } else {
        write!(text, "\nThe command {NOT_CLAIMED}: it passed {difference}.")
    };
}

/// Writes a command that was run between the failing and the passing run.
fn write_command(text: &mut String, command: &str, is_certain: bool) {
    let command = truncate_end(&escape_quotation(command), 120);
    let _ = if is_certain {
        write!(text, "\nFixed by `{command}`.")
    } else {
        write!(text, "\nA command ran between red and green: `{command}`.")
    };
}

/// Writes the hunks of an edit that fit. `heading` is given unless the text names the file already: true if the change is
/// the fix, and the number of the change. Returns false, and writes nothing, if no line fits.
fn write_edit(
    text: &mut String,
    change: &Change,
    heading: Option<(bool, usize)>,
    room: usize,
) -> bool {
    let before = text.len();
    if let Some(heading) = heading {
        let file = truncate_start(&escape_quotation(&change.name), 80);
        let _ = match heading {
            (true, 0) => write!(text, "\nFixed in `{file}`:"),
            (true, _) => write!(text, "\nand in `{file}`:"),
            (false, _) => write!(text, "\nIn `{file}`, {NOT_CLAIMED}:"),
        };
    }
    let limit = room.min(estimate_tokens(text) + MAX_HUNK_TOKENS);
    let hunks = change.hunks();
    if has_instruction(&hunks) {
        text.push_str(" its lines are not shown because they read like instructions.");
        return true;
    }
    let mut is_written = false;
    for hunk in hunks {
        is_written |= write_hunk(text, &hunk, limit);
    }
    if !is_written {
        text.truncate(before);
    }
    is_written
}

/// Returns true if a line of a change, two or three lines after each other, or the line that names its section reads like
/// instructions to a model. Such a change is named and not shown.
pub(crate) fn has_instruction(hunks: &[Hunk]) -> bool {
    let spans_lines = |lines: &[String]| {
        let spans = |count: usize| {
            lines.windows(count).any(|lines| reads_like_instruction(&lines.join(" ")))
        };
        spans(2) || spans(3)
    };
    hunks.iter().any(|hunk| {
        hunk.lines().any(reads_like_instruction)
            || reads_like_instruction(&hunk.section)
            || spans_lines(&hunk.removed)
            || spans_lines(&hunk.added)
    })
}

/// Stands for a command or a file whose name reads like instructions.
const HIDDEN_CHANGE: &str = "\nA change is not shown because it reads like instructions.";

/// Words that begin a part of a difference, as [`Change::from_invocation`] gets it.
const DIFFERENCE_WORDS: [&str; 4] = ["with ", "without ", "through ", "in "];

/// Puts backticks around the typed parts of a difference such as `with A=1, through uv run`. Typed text may contain commas
/// too, so a part begins only at a word of [`DIFFERENCE_WORDS`], and everything else is inside of backticks.
fn quote_typed_parts(difference: &str) -> String {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for piece in difference.split(", ") {
        let word = DIFFERENCE_WORDS.iter().find(|word| piece.starts_with(**word));
        match (word, parts.last_mut()) {
            (Some(word), _) => parts.push((word, piece[word.len()..].to_owned())),
            (None, Some((_, typed))) => {
                typed.push_str(", ");
                typed.push_str(piece);
            }
            (None, None) => parts.push(("", piece.to_owned())),
        }
    }
    parts.iter().map(|(word, typed)| format!("{word}`{typed}`")).collect::<Vec<_>>().join(", ")
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
        section = format!("\n> @@ {}", truncate_end(&escape_quotation(&hunk.section), 80));
    }
    let mut used = estimate_tokens(text) + estimate_tokens(&section) + 1;
    let mut taken: Vec<(bool, usize, String)> = Vec::new();
    let total = order.len();
    for (is_added, at) in order {
        let (line, other) =
            if is_added { (added[at], removed.get(at)) } else { (removed[at], added.get(at)) };
        let shown = cut_around_difference(line, other.copied(), indent);
        let line = format!("\n> {}{shown}", if is_added { '+' } else { '-' });
        let cost = estimate_tokens(&line) + 1;
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
fn cut_around_difference(line: &str, other: Option<&str>, indent: usize) -> String {
    let line = escape_quotation(line.get(indent..).unwrap_or(line.trim_start()));
    let line = line.trim_end();
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let other =
        other.map(|other| escape_quotation(other.get(indent..).unwrap_or(other.trim_start())));
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
