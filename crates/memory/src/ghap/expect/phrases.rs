//! Finds phrases about the result of a run.

mod clauses;
mod context;
// Long word lists; one word per line would be unreadable.
#[rustfmt::skip]
mod lists;

use super::Expects;
use super::target::names_a_run;
use super::words::Word;
use clauses::{Clause, Time};
use context::{count_before, is_negation, is_part, is_set_aside, negations};
use lists::{
    APPEARS, BE, COLOUR_VERBS, COLOURED, COMPOUND, GONE, HANDED, MODALS, NOTHING, NOUNS, RUNS,
};

/// Returns the result that the words of a prediction expect; `None` if they do not mention one.
pub(super) fn verdict(words: &[Word], target: Option<&str>) -> Option<Expects> {
    let mut best: Option<(i32, Expects)> = None;
    let (mut ran_before, mut named_before) = (false, false);
    for clause in clauses::of(words) {
        let found = strongest(&clause);
        // "pytest fails now, but passes later": the second clause has no subject.
        let elliptic = found.is_some_and(|phrase| phrase.at <= 2);
        let goes_on = elliptic && clause.joined;
        let ran = clause.words.iter().any(is_run) || (ran_before && goes_on);
        let named = target.is_some_and(|target| clause.names(target)) || (named_before && goes_on);
        (ran_before, named_before) = (ran, named);
        let Some(phrase) = found.filter(|_| !clause.condition) else { continue };
        let mut weight = phrase.strength + if ran { 4 } else { 0 };
        weight += match clause.time {
            Time::Before => -6,
            Time::Open => 0,
            Time::After => 2,
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
struct Phrase {
    expects: Expects,
    strength: i32,
    at: usize,
}

fn is_run(word: &Word) -> bool {
    word.is_any(RUNS) || names_a_run(word)
}

/// Returns the phrase of a clause that counts: the strongest, of equal ones the first.
fn strongest(clause: &Clause<'_>) -> Option<Phrase> {
    let mut best: Option<Phrase> = None;
    for at in 0..clause.words.len() {
        let Some(phrase) = phrase_at(clause.words, at) else { continue };
        if best.is_none_or(|other| other.strength < phrase.strength) {
            best = Some(phrase);
        }
    }
    best
}

fn phrase_at(words: &[Word], at: usize) -> Option<Phrase> {
    let (expects, strength) = said_at(words, at)?;
    if is_set_aside(words, at) {
        return None;
    }
    let counted = count_before(words, at);
    let (expects, strength) = match counted {
        Some(0) => (expects.turned(), strength + 1),
        // One failure among many passes is a failed run.
        Some(_) if expects == Expects::Fail => (expects, 8),
        Some(_) if is_part(words, at) => (Expects::Fail, 8),
        _ => (expects, strength),
    };
    let turned = counted != Some(0) && negations(words, at) % 2 == 1;
    // A negated noun is clearer than a plain one.
    let strength = if turned && strength < 3 { 3 } else { strength };
    Some(Phrase { expects: if turned { expects.turned() } else { expects }, strength, at })
}

/// Returns the result that a word means by itself, and its strength: 3 for a verb, less for a noun.
fn said_at(words: &[Word], at: usize) -> Option<(Expects, i32)> {
    use Expects::{Fail, Pass};
    let word = words.get(at).filter(|word| !word.code)?;
    let before = at.checked_sub(1).map(|before| &words[before]);
    let next = words.get(at + 1);
    let next_is = |list: &[&str]| next.is_some_and(|next| next.is_any(list));
    let after_being = before.is_some_and(|before| before.is_any(BE) || is_negation(before));
    let negated = negations(words, at) > 0;
    let said = match word.lower.as_str() {
        "pass" | "passes" | "passed" => (!hands_over(words, at)).then_some((Pass, 3))?,
        "passing" | "succeeding" | "compiling" => {
            let subject = before.is_some_and(|before| {
                is_run(before) || before.is_any(&["to", "all", "it", "them"])
            });
            ((after_being || subject) && !describes(words, at)).then_some((Pass, 3))?
        }
        "succeed" | "succeeds" | "succeeded" | "success" | "successful" | "successfully"
        | "error-free" | "warning-free" | "typecheck" | "typechecks" | "type-check"
        | "type-checks" => (Pass, 3),
        "compile" | "compiles" | "compiled" => {
            (!next_is(COMPOUND) && !next_is(NOUNS)).then_some((Pass, 3))?
        }
        "build" => {
            let verb = before.is_some_and(|before| before.is_any(MODALS) || is_negation(before));
            (verb && !next_is(&["a", "an", "up", "on"])).then_some((Pass, 3))?
        }
        "builds" => (!next_is(&["a", "an", "the", "up", "on"])).then_some((Pass, 3))?,
        "green" | "red" => {
            let from = at.saturating_sub(3);
            let verb = words[from..at].iter().any(|word| word.is_any(COLOUR_VERBS) || is_run(word));
            let painted = words.iter().any(|word| word.is_any(COLOURED));
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
            (!vague && !describes(words, at)).then_some((Fail, 3))?
        }
        "break" | "breaks" | "broke" | "complain" | "complains" => {
            (negated || words.iter().any(is_run)).then_some((Fail, 3))?
        }
        "crash" | "crashes" | "panic" | "panics" | "hang" | "hangs" | "abort" | "aborts" => {
            let noun = before.is_some_and(|before| {
                before.is_any(&["the", "a", "same", "this", "that", "any", "no"])
            });
            if noun { (noun_of(words, at)?, 2) } else { (Fail, 3) }
        }
        "times" | "time" | "errors" if next_is(&["out"]) => (Fail, 3),
        "exit" | "exits" | "exited" => (exit_status(&words[at + 1..])?, 3),
        noun if is_failure(noun) && !next_is(COMPOUND) => (noun_of(words, at)?, 2),
        _ => return None,
    };
    Some(said)
}

/// Returns true for nouns that name a failure: "errors", `ImportError`.
fn is_failure(lower: &str) -> bool {
    NOUNS.contains(&lower) || ["error", "exception"].iter().any(|end| lower.ends_with(end))
}

/// Returns true if "pass" means to hand over: "pass the token to the handler", but not "pass the whole suite".
fn hands_over(words: &[Word], at: usize) -> bool {
    let Some(next) = words.get(at + 1) else { return false };
    let object =
        next.is_any(HANDED) || next.text.starts_with('-') || (next.code && !names_a_run(next));
    let meant = |word: &Word| is_run(word) || word.is_any(&["time", "try", "attempt"]);
    object && !words[at + 1..].iter().take(5).any(meant)
}

/// Returns true if the word only describes a test: "the failing test".
fn describes(words: &[Word], at: usize) -> bool {
    let next = words.get(at + 1);
    let of_what = next.is_some_and(|next| {
        is_run(next) || next.is_any(&["case", "assertion", "example", "change", "changes", "ones"])
    });
    let before = at.checked_sub(1).map(|before| &words[before]);
    let said = before
        .is_some_and(|before| before.is_any(BE) || before.is_any(NOTHING) || is_negation(before));
    of_what && !said && count_before(words, at).is_none()
}

/// Returns the result that the mention of an error means: the error is gone, it appears, or neither.
fn noun_of(words: &[Word], at: usize) -> Option<Expects> {
    if negations(words, at) > 0 || count_before(words, at) == Some(0) {
        return Some(Expects::Fail);
    }
    let has = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    let away = words
        .windows(2)
        .any(|pair| pair[0].is_any(&["go", "goes", "going", "went"]) && pair[1].is("away"));
    if has(GONE) || away {
        return Some(Expects::Pass);
    }
    // Warnings and regressions count only if they are negated.
    let failure = !words[at].is_any(&["warning", "warnings", "regression", "regressions"]);
    let there = has(APPEARS) || count_before(words, at).is_some() || words.iter().any(is_run);
    (failure && there).then_some(Expects::Fail)
}

/// Parses the rest of `exits with code 0`.
fn exit_status(rest: &[Word]) -> Option<Expects> {
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
