//! What is said when a failure comes back: the test, the error, the file and the lines that turned it green, how often and
//! when. Facts, in at most eighty tokens, and quoted: text out of a test's output must not pass for anybody's words.

use std::fmt::Write as _;

use super::Episode;
use crate::Time;
use crate::change::{Change, Sort};
use crate::quote::{ago, end_of, quoted, start_of, tokens};

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
        Again::Failure => format!("Seen before and fixed {}", ago(ending.at, now)),
        Again::Test => format!("Same test, another failure, fixed {}", ago(ending.at, now)),
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

#[cfg(test)]
mod tests;
