//! Words before a phrase that change its meaning.

use super::lists::{ADJACENT_NEGATIONS, FILLERS, NEGATIONS};
use crate::ghap::expect::words::ProseWord;

/// Returns true if a phrase is only a contrast: "instead of failing", "from red to green", "fewer failures".
pub(super) fn is_contrast(words: &[ProseWord], at: usize) -> bool {
    let before = &words[..at];
    let near = &before[before.len().saturating_sub(4)..];
    let instead = near.windows(2).any(|pair| {
        (pair[0].is("instead") && pair[1].is("of")) || (pair[0].is("rather") && pair[1].is("than"))
    });
    let away_from =
        near.iter().any(|word| word.is("from")) && words[at + 1..].iter().any(|word| word.is("to"));
    let fewer = near.iter().rev().take(3).any(|word| word.is_any(&["fewer", "less"]));
    // In "fails to compile" the result is in "fails"; "from failing to passing" does not count here.
    let failed_to = !near.iter().any(|word| word.is("from"))
        && near.windows(2).any(|pair| {
            pair[0].is_any(&["fail", "fails", "failed", "failing"]) && pair[1].is("to")
        });
    instead || away_from || fewer || failed_to
}

/// Returns the number before a phrase: 3 in "3 tests failed".
pub(super) fn count_before(words: &[ProseWord], at: usize) -> Option<u64> {
    let mut before = words[..at].iter().rev();
    let word = before.by_ref().take(4).find(|word| !word.is_any(FILLERS))?;
    match word.lower.as_str() {
        "zero" => Some(0),
        // The first number of "4/5".
        number => number.split('/').next()?.parse().ok(),
    }
}

/// Returns true if the number before a phrase is a part of a larger one: "3 of 5 tests", "4/5".
pub(super) fn is_part_of_count(words: &[ProseWord], at: usize) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    words[at.saturating_sub(6)..at].iter().enumerate().any(|(place, word)| {
        let rest = &words[at.saturating_sub(6) + place + 1..at];
        let (part, whole) = match word.lower.split_once('/') {
            Some((part, whole)) => (number(part), number(whole)),
            None if rest.first().is_some_and(|next| next.is_any(&["of", "out"])) => {
                (number(&word.lower), rest.iter().find_map(|word| number(&word.lower)))
            }
            None => (None, None),
        };
        part.zip(whole).is_some_and(|(part, whole)| part < whole)
    })
}

pub(super) fn is_negation(word: &ProseWord) -> bool {
    !word.code && (word.lower.ends_with("n't") || NEGATIONS.contains(&word.lower.as_str()))
}

/// Counts the negations before a phrase.
pub(super) fn count_negations(words: &[ProseWord], at: usize) -> usize {
    let mut found = 0;
    let mut filled = true;
    for (distance, place) in (0..at).rev().enumerate().take(7) {
        let word = &words[place];
        if word.is("longer") && place > 0 && words[place - 1].is("no") {
            // Counted here, so the "no" before it is not counted again.
            return found + 1;
        }
        // Words before another verb belong to that verb.
        if word.is_any(&["fail", "fails", "pass", "passes", "compile", "compiles", "succeeds"]) {
            break;
        }
        let only = words[place + 1].is_any(&["only", "just", "because"]);
        let denied = distance < 6 && is_negation(word) && !only;
        let stopped = distance < 2 && word.is_any(&["stop", "stops", "stopped", "stopping"]);
        let missing = word.is_any(ADJACENT_NEGATIONS)
            && (filled || word.is_any(&["none", "nothing", "neither"]));
        found += usize::from(denied || stopped || missing);
        filled &= word.is_any(FILLERS);
    }
    found
}
