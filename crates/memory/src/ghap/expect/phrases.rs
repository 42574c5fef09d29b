//! Finds phrases about the result of a run.

mod clauses;
mod context;
// Long word lists; one word per line would be unreadable.
#[rustfmt::skip]
mod lists;

use super::Expects;
use super::target::names_a_run;
use super::words::ProseWord;
use clauses::{Clause, ClauseTime};
use context::{count_before, count_negations, is_contrast, is_negation, is_part_of_count};
use lists::{
    ADJACENT_NEGATIONS, COLOUR_VERBS, COLOURED_THINGS, COMPOUND_TAILS, FAILURE_GONE_WORDS,
    FAILURE_NOUNS, FAILURE_PRESENT_WORDS, HANDED_OVER_WORDS, MODAL_WORDS, RUN_NOUNS, STATE_WORDS,
};

/// Returns the result that the words of a prediction expect; `None` if they do not mention one.
pub(super) fn find_expected_result(words: &[ProseWord], target: Option<&str>) -> Option<Expects> {
    let mut best: Option<(i32, Expects)> = None;
    let (mut ran_before, mut named_before) = (false, false);
    for clause in clauses::split_clauses(words) {
        let found = strongest_phrase(&clause);
        // "pytest fails now, but passes later": the second clause has no subject.
        let elliptic = found.is_some_and(|phrase| phrase.at <= 2);
        let goes_on = elliptic && clause.joined;
        let ran = clause.words.iter().any(is_run) || (ran_before && goes_on);
        let named = target.is_some_and(|target| clause.contains_target(target))
            || (named_before && goes_on);
        (ran_before, named_before) = (ran, named);
        let Some(phrase) = found.filter(|_| !clause.condition) else { continue };
        let mut weight = phrase.strength + if ran { 4 } else { 0 };
        weight += match clause.time {
            ClauseTime::Before => -6,
            ClauseTime::Open => 0,
            ClauseTime::After => 2,
        };
        weight -= if clause.reason { 6 } else { 0 };
        weight += if named { 3 } else { 0 };
        if best.is_none_or(|(other, _)| other < weight) {
            best = Some((weight, phrase.expects));
        }
    }
    best.map(|(_, expects)| expects)
}

/// A phrase about a result.
#[derive(Clone, Copy)]
struct ResultPhrase {
    expects: Expects,
    strength: i32,
    at: usize,
}

fn is_run(word: &ProseWord) -> bool {
    word.is_any(RUN_NOUNS) || names_a_run(word)
}

/// Returns the phrase of a clause that counts: the strongest, of equal ones the first.
fn strongest_phrase(clause: &Clause<'_>) -> Option<ResultPhrase> {
    let mut best: Option<ResultPhrase> = None;
    for at in 0..clause.words.len() {
        let Some(phrase) = phrase_at(clause.words, at) else { continue };
        if best.is_none_or(|other| other.strength < phrase.strength) {
            best = Some(phrase);
        }
    }
    best
}

fn phrase_at(words: &[ProseWord], at: usize) -> Option<ResultPhrase> {
    let (expects, strength) = result_of_word(words, at)?;
    if is_contrast(words, at) {
        return None;
    }
    let counted = count_before(words, at);
    let (expects, strength) = match counted {
        Some(0) => (expects.inverted(), strength + 1),
        // One failure among many passes is a failed run.
        Some(_) if expects == Expects::Fail => (expects, 8),
        Some(_) if is_part_of_count(words, at) => (Expects::Fail, 8),
        _ => (expects, strength),
    };
    let turned = counted != Some(0) && count_negations(words, at) % 2 == 1;
    // A negated noun is clearer than a plain one.
    let strength = if turned && strength < 3 { 3 } else { strength };
    Some(ResultPhrase { expects: if turned { expects.inverted() } else { expects }, strength, at })
}

/// Returns the result that a word means by itself, and its strength: 3 for a verb, less for a noun.
fn result_of_word(words: &[ProseWord], at: usize) -> Option<(Expects, i32)> {
    use Expects::{Fail, Pass};
    let word = words.get(at).filter(|word| !word.code)?;
    let before = at.checked_sub(1).map(|before| &words[before]);
    let next = words.get(at + 1);
    let next_is = |list: &[&str]| next.is_some_and(|next| next.is_any(list));
    let after_being =
        before.is_some_and(|before| before.is_any(STATE_WORDS) || is_negation(before));
    let negated = count_negations(words, at) > 0;
    let said = match word.lower.as_str() {
        "pass" | "passes" | "passed" => (!means_hand_over(words, at)).then_some((Pass, 3))?,
        "passing" | "succeeding" | "compiling" => {
            let subject = before.is_some_and(|before| {
                is_run(before) || before.is_any(&["to", "all", "it", "them"])
            });
            ((after_being || subject) && !describes_test(words, at)).then_some((Pass, 3))?
        }
        "succeed" | "succeeds" | "succeeded" | "success" | "successful" | "successfully"
        | "error-free" | "warning-free" | "typecheck" | "typechecks" | "type-check"
        | "type-checks" => (Pass, 3),
        "compile" | "compiles" | "compiled" => {
            (!next_is(COMPOUND_TAILS) && !next_is(FAILURE_NOUNS)).then_some((Pass, 3))?
        }
        "build" => {
            let verb =
                before.is_some_and(|before| before.is_any(MODAL_WORDS) || is_negation(before));
            (verb && !next_is(&["a", "an", "up", "on"])).then_some((Pass, 3))?
        }
        "builds" => (!next_is(&["a", "an", "the", "up", "on"])).then_some((Pass, 3))?,
        "green" | "red" => {
            let from = at.saturating_sub(3);
            let verb = words[from..at].iter().any(|word| word.is_any(COLOUR_VERBS) || is_run(word));
            let painted = words.iter().any(|word| word.is_any(COLOURED_THINGS));
            let expects = if word.is("green") { Pass } else { Fail };
            ((verb || words.len() == 1) && !painted).then_some((expects, 3))?
        }
        "clean" | "cleanly" | "ok" => {
            let run = words
                .iter()
                .any(|word| is_run(word) || word.is_any(&["runs", "comes", "exits", "compiles"]));
            (run && !next_is(&["up"])).then_some((Pass, 2))?
        }
        "fail" | "fails" | "unsuccessful" | "unsuccessfully" | "segfault" | "segfaults"
        | "nonzero" | "non-zero" | "panicked" | "crashed" | "reproduces" | "reproduce"
        | "reproduced" => (Fail, 3),
        "failed" | "failing" | "broken" | "crashing" | "panicking" | "breaking" => {
            let vague = word.is_any(&["broken", "breaking"]) && !after_being && !negated;
            (!vague && !describes_test(words, at)).then_some((Fail, 3))?
        }
        "break" | "breaks" | "broke" | "complain" | "complains" => {
            (negated || words.iter().any(is_run)).then_some((Fail, 3))?
        }
        "crash" | "crashes" | "panic" | "panics" | "hang" | "hangs" | "abort" | "aborts" => {
            let noun = before.is_some_and(|before| {
                before.is_any(&["the", "a", "same", "this", "that", "any", "no"])
            });
            if noun { (result_of_noun(words, at)?, 2) } else { (Fail, 3) }
        }
        "times" | "time" | "errors" if next_is(&["out"]) => (Fail, 3),
        "exit" | "exits" | "exited" => (exit_status(&words[at + 1..])?, 3),
        noun if is_failure(noun) && !next_is(COMPOUND_TAILS) => (result_of_noun(words, at)?, 2),
        _ => return None,
    };
    Some(said)
}

/// Returns true for nouns that name a failure: "errors", `ImportError`.
fn is_failure(lower: &str) -> bool {
    FAILURE_NOUNS.contains(&lower) || ["error", "exception"].iter().any(|end| lower.ends_with(end))
}

/// Returns true if "pass" means to hand over: "pass the token to the handler", but not "pass the whole suite".
fn means_hand_over(words: &[ProseWord], at: usize) -> bool {
    let Some(next) = words.get(at + 1) else { return false };
    let object = next.is_any(HANDED_OVER_WORDS)
        || next.text.starts_with('-')
        || (next.code && !names_a_run(next));
    let meant = |word: &ProseWord| is_run(word) || word.is_any(&["time", "try", "attempt"]);
    object && !words[at + 1..].iter().take(5).any(meant)
}

/// Returns true if the word only describes a test: "the failing test".
fn describes_test(words: &[ProseWord], at: usize) -> bool {
    let next = words.get(at + 1);
    let of_what = next.is_some_and(|next| {
        is_run(next) || next.is_any(&["case", "assertion", "example", "change", "changes", "ones"])
    });
    let before = at.checked_sub(1).map(|before| &words[before]);
    let said = before.is_some_and(|before| {
        before.is_any(STATE_WORDS) || before.is_any(ADJACENT_NEGATIONS) || is_negation(before)
    });
    of_what && !said && count_before(words, at).is_none()
}

/// Returns the result that the mention of an error means: the error is gone, it appears, or neither.
fn result_of_noun(words: &[ProseWord], at: usize) -> Option<Expects> {
    if count_negations(words, at) > 0 || count_before(words, at) == Some(0) {
        return Some(Expects::Fail);
    }
    let has = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    let away = words
        .windows(2)
        .any(|pair| pair[0].is_any(&["go", "goes", "going", "went"]) && pair[1].is("away"));
    if has(FAILURE_GONE_WORDS) || away {
        return Some(Expects::Pass);
    }
    // Warnings and regressions count only if they are negated.
    let failure = !words[at].is_any(&["warning", "warnings", "regression", "regressions"]);
    let there =
        has(FAILURE_PRESENT_WORDS) || count_before(words, at).is_some() || words.iter().any(is_run);
    (failure && there).then_some(Expects::Fail)
}

/// Parses the rest of `exits with code 0`.
fn exit_status(rest: &[ProseWord]) -> Option<Expects> {
    let near = rest.iter().take(4);
    for word in near {
        match word.lower.as_str() {
            "0" | "zero" => return Some(Expects::Pass),
            "non-zero" | "nonzero" => return Some(Expects::Fail),
            number if number.parse::<u16>().is_ok() => return Some(Expects::Fail),
            "with" | "code" | "status" | "a" | "exit" | "is" | "of" => {}
            _ => return None,
        }
    }
    None
}
