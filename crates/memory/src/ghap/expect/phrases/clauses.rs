//! Clauses of a prediction, and what they are to each other.

use crate::ghap::expect::words::{Gap, Word};

/// When something holds, seen from the change that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Before,
    Open,
    After,
}

/// A part of a sentence that can say one thing.
pub(super) struct Clause<'a> {
    pub(super) words: &'a [Word],
    pub(super) time: Time,
    /// "if …", "otherwise …": no prediction.
    pub(super) condition: bool,
    /// "because …".
    pub(super) reason: bool,
    /// Whether it goes on from the one before it.
    pub(super) joined: bool,
}

impl Clause<'_> {
    /// Whether the target stands in it.
    pub(super) fn names(&self, target: &str) -> bool {
        let texts: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        texts.join(" ").contains(target)
    }
}

/// Words that begin a clause.
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

/// Cuts a prediction into clauses.
pub(super) fn of(words: &[Word]) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let (mut condition, mut reason) = (false, false);
    // What "Before the fix," says of the clause behind the comma.
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
