//! What is said when a failure comes back: the test, the error, the file and the lines that turned it green, how often and
//! when. Facts, in at most eighty tokens, and quoted: text out of a test's output must not pass for anybody's words.

use std::fmt::Write as _;

use super::{Ending, Episode};
use crate::Time;
use crate::change::{Change, Sort};

/// How much may be said.
const TOKENS: usize = 80;

/// Why an episode is brought up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The same failure.
    Failure,
    /// The same test, in another way.
    Test,
}

/// About how many tokens a text is: four letters each, and one for every letter that is not ASCII.
pub fn tokens(text: &str) -> usize {
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii.div_ceil(4) + (text.chars().count() - ascii)
}

/// What is said of an episode that was fixed; none of one that was not. `times` is how often it was fixed, `in_place`
/// whether the file still has what was changed, as far as that could be seen.
pub fn said(
    episode: &Episode,
    why: Again,
    times: u32,
    in_place: Option<bool>,
    now: Time,
) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let first = ending.fix.first()?;
    let mut text = match why {
        Again::Failure => format!("Seen before and fixed {}", ago(ending, now)),
        Again::Test => format!("Same test, another failure, fixed {}", ago(ending, now)),
    };
    if times > 1 {
        let _ = write!(text, " ({times} times)");
    }
    text.push_str(": ");
    if let Some(test) = &episode.test {
        let end = if episode.error.is_empty() { "." } else { ", " };
        let _ = write!(text, "`{}`{end}", end_of(&quoted(test), 52));
    }
    if !episode.error.is_empty() {
        let _ = write!(text, "`{}`.", start_of(&quoted(&episode.error), 56));
    }
    let more = match ending.fix.len() - 1 {
        0 => String::new(),
        1 => " (+1 change)".to_owned(),
        others => format!(" (+{others} changes)"),
    };
    match first.sort {
        Sort::Command => {
            let _ =
                write!(text, " Turned green by `{}`{more}.", start_of(&quoted(&first.name), 76));
        }
        Sort::Edit => {
            let _ = write!(
                text,
                " Turned green by this in `{}`{more}:",
                end_of(&quoted(&first.name), 44)
            );
        }
    }
    let state = match (first.sort, in_place) {
        (Sort::Edit, Some(true)) => "\nThe file still has it.",
        (Sort::Edit, Some(false)) => "\nThe file no longer has it.",
        _ => "",
    };
    lines(&mut text, first, TOKENS.saturating_sub(tokens(state)));
    text.push_str(state);
    Some(text)
}

/// As many lines of the change as there is room for, each quoted.
fn lines(text: &mut String, change: &Change, room: usize) {
    let all: Vec<&str> = change.patch.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    let blank = all
        .iter()
        .filter(|line| !line[1..].trim().is_empty())
        .map(|line| line[1..].len() - line[1..].trim_start().len())
        .min()
        .unwrap_or(0);
    // Of the lines that went and came both should be seen: what came matters more.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| {
        let of_sign =
            all[..*at].iter().filter(|line| line.as_bytes()[0] == all[*at].as_bytes()[0]).count();
        (of_sign, all[*at].starts_with('-'))
    });
    let mut taken = Vec::new();
    let mut used = tokens(text) + 1;
    for at in order {
        let sign = &all[at][..1];
        let rest = all[at][1..].get(blank..).unwrap_or_else(|| all[at][1..].trim_start());
        if rest.trim().is_empty() {
            continue;
        }
        let line = format!("\n> {sign}{}", start_of(&quoted(rest), 76));
        let cost = tokens(&line) + 1;
        if used + cost > room {
            break;
        }
        used += cost;
        taken.push((at, line));
    }
    taken.sort();
    for (_, line) in taken {
        text.push_str(&line);
    }
}

/// When, as people say it.
fn ago(ending: &Ending, now: Time) -> String {
    let minutes = now.since(ending.at).as_secs() / 60;
    let (number, unit) = match minutes {
        0 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        1_440..86_400 => (minutes / 1_440, "day"),
        86_400..1_051_200 => (minutes / 43_200, "month"),
        _ => (minutes / 525_600, "year"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

/// The beginning of a text, in one line of at most so many quarters of a token.
fn start_of(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end();
    cut(line, line.chars(), most).map_or_else(|| line.to_owned(), |kept| kept + "…")
}

/// The end of a name: that is what tells it apart.
fn end_of(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    cut(line, line.chars().rev(), most).map_or_else(
        || line.to_owned(),
        |kept| std::iter::once('…').chain(kept.chars().rev()).collect(),
    )
}

/// The first signs that have room beside the mark of a cut; none where all have.
fn cut(whole: &str, signs: impl Iterator<Item = char>, most: usize) -> Option<String> {
    let cost = |sign: char| if sign.is_ascii() { 1 } else { 4 };
    if whole.chars().map(cost).sum::<usize>() <= most {
        return None;
    }
    let mut left = most - 4;
    Some(
        signs
            .take_while(|sign| {
                let room = cost(*sign) <= left;
                left = left.saturating_sub(cost(*sign));
                room
            })
            .collect(),
    )
}

/// Text that can neither end its quotation nor pass for markup of the client, nor turn the writing around.
fn quoted(text: &str) -> String {
    text.chars()
        .filter(|sign| {
            // What nobody sees, or what breaks a line or turns it around; by tags whole sentences can be hidden.
            !sign.is_control()
                && !matches!(sign, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
        })
        .map(|sign| if sign == '`' { '\'' } else { sign })
        .collect::<String>()
        .replace("</", "‹/")
        .replace("<system", "‹system")
}

#[cfg(test)]
mod tests;
