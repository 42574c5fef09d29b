//! The text that an agent reads when a command fails as it failed before: what worked then, and how often it failed.
//!
//! It contains only quoted facts, in one line.

use rutter_memory::Time;
use rutter_memory::command_episode::CommandDifference;
use rutter_memory::origin::UnconfirmedReason;
use rutter_memory::quote::{format_age, quote_in_backticks, reads_like_instruction};
use rutter_memory::store::CommandLesson;

/// Maximum number of tokens of the quoted command.
const COMMAND_TOKENS: usize = 60;
/// Maximum number of tokens of a quoted part or error.
const PART_TOKENS: usize = 24;

/// Renders a lesson; None if its texts must not be quoted.
pub(super) fn render_command_lesson(lesson: &CommandLesson, now: Time) -> Option<String> {
    let episode = &lesson.episode;
    let ending = episode.ending.as_ref()?;
    let variant = ending.variant.as_ref()?;
    let CommandDifference { removed, added, folder, before } = &variant.difference;
    let mut quoted = removed.iter().chain(added).chain(folder).chain(before);
    if reads_like_instruction(&variant.command)
        || reads_like_instruction(&episode.error)
        || quoted.any(|text| reads_like_instruction(text))
    {
        return None;
    }
    let label = match lesson.unconfirmed {
        Some(UnconfirmedReason::Imported) => "Recorded data, from an imported file:",
        _ => "Recorded data:",
    };
    let mark = match lesson.unconfirmed {
        Some(reason @ UnconfirmedReason::OtherCheckout) => format!(" {}", reason.mark_text()),
        _ => String::new(),
    };
    let times = match lesson.failures {
        0 | 1 => String::new(),
        times => format!("{times} times, last "),
    };
    Some(format!(
        "{label} {} failed here before with {} ({times}{}). It worked {}: {}{mark}.",
        quote_in_backticks(&episode.program, PART_TOKENS),
        quote_in_backticks(&episode.error, PART_TOKENS),
        format_age(episode.seen, now),
        describe_difference(&variant.difference),
        quote_in_backticks(&variant.command, COMMAND_TOKENS),
    ))
}

/// Returns the difference in words: `with … instead of …`.
fn describe_difference(difference: &CommandDifference) -> String {
    let list = |parts: &[rutter_memory::Clean]| {
        let parts = parts.iter().map(|part| quote_in_backticks(part, PART_TOKENS));
        parts.collect::<Vec<_>>().join(" and ")
    };
    let CommandDifference { removed, added, folder, before } = difference;
    if let Some(before) = before {
        return format!("after {}", quote_in_backticks(before, COMMAND_TOKENS));
    }
    if let Some(folder) = folder {
        let folder = if folder.is_empty() { "." } else { folder.as_str() };
        return format!("in {}", quote_in_backticks(folder, PART_TOKENS));
    }
    match (removed.is_empty(), added.is_empty()) {
        (true, _) => format!("with {}", list(added)),
        (false, true) => format!("without {}", list(removed)),
        // The place in the path says enough; the command is shown.
        (false, false) if added.iter().chain(removed).any(|part| part.contains('#')) => {
            "in another form".to_owned()
        }
        (false, false) => format!("with {} instead of {}", list(added), list(removed)),
    }
}
