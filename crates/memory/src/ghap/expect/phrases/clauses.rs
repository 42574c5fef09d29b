//! Splits a prediction into clauses, and finds their relations.

use crate::ghap::expect::words::{Gap, Word};

/// The time of a statement, relative to the planned change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Before,
    Open,
    After,
}

/// A part of a sentence with at most one statement.
pub(super) struct Clause<'a> {
    pub(super) words: &'a [Word],
    pub(super) time: Time,
    /// "if …", "otherwise …": not a prediction.
    pub(super) condition: bool,
    /// "because …".
    pub(super) reason: bool,
    /// True if it continues the previous clause.
    pub(super) joined: bool,
}

impl Clause<'_> {
    /// Returns true if the clause contains the target.
    pub(super) fn names(&self, target: &str) -> bool {
        let texts: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        texts.join(" ").contains(target)
    }
}

/// Words that start a clause.
const JOINTS: &[&str] = &[
    "and",
    "but",
    "then",
    "while",
    "whereas",
    "yet",
    "so",
    "because",
    "since",
    "if",
    "unless",
    "otherwise",
    "although",
    "though",
    "else",
    "however",
];

/// Splits a prediction into clauses.
pub(super) fn of(words: &[Word]) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let (mut condition, mut reason) = (false, false);
    // "Before the fix," also sets the time of the clause after the comma.
    let mut carried = Time::Open;
    let mut start = 0;
    while start < words.len() {
        let first = &words[start];
        let joint = if first.is_any(JOINTS) { first.lower.as_str() } else { "" };
        let goes_on = joint == "and" && first.gap == Gap::Space;
        condition =
            matches!(joint, "if" | "unless" | "otherwise" | "else") || (condition && goes_on);
        reason = matches!(joint, "because" | "since") || (reason && goes_on);
        let from = start + usize::from(!joint.is_empty());
        let ends = |at: &usize| words[*at].gap != Gap::Space || words[*at].is_any(JOINTS);
        let end = (from.max(start + 1)..words.len()).find(ends).unwrap_or(words.len());
        let part = &words[from..end];
        let mut time = time_of(part);
        if joint == "then" || first.gap == Gap::Arrow {
            time = Time::After;
            for earlier in clauses.iter_mut().filter(|_| first.gap == Gap::Arrow) {
                earlier.time = Time::Before;
            }
        } else if time == Time::Open && !reason && first.gap <= Gap::Comma {
            time = carried;
        }
        carried = if part.len() <= 5 && starts_a_frame(part) { time_of(part) } else { Time::Open };
        let otherwise = part.iter().any(|word| word.is("otherwise"));
        clauses.push(Clause {
            words: part,
            time,
            condition: condition || otherwise,
            reason,
            joined: first.gap != Gap::Stop || joint == "then",
        });
        start = end;
    }
    clauses
}

fn starts_a_frame(words: &[Word]) -> bool {
    let frames = [
        "before",
        "after",
        "once",
        "without",
        "with",
        "currently",
        "initially",
        "afterwards",
        "first",
        "now",
        "on",
    ];
    words.first().is_some_and(|word| word.is_any(&frames))
}

fn time_of(words: &[Word]) -> Time {
    let has = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    let pair = |one: &[&str], two: &[&str]| {
        words.windows(2).any(|pair| pair[0].is_any(one) && pair[1].is_any(two))
    };
    let change = ["the", "my", "this", "that", "it", "our"];
    let verbs = ["fail", "fails", "pass", "passes"];
    if has(&["after", "afterwards", "once", "finally"])
        || pair(&["with"], &["the", "my", "this"]) && has(&["fix", "patch"])
    {
        Time::After
    } else if has(&["before", "until", "currently", "initially", "originally"])
        || pair(&["on"], &["main", "master", "trunk"])
        || pair(&["at"], &["first"])
        || pair(&["first"], &verbs)
        || pair(&verbs, &["first"])
        || (pair(&["without"], &change) && !has(&["errors", "error", "failures"]))
    {
        Time::Before
    } else {
        Time::Open
    }
}
