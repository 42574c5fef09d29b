//! Splits a prediction into clauses, and finds their relations.

use crate::ghap::expect::words::{ProseWord, WordGap};

/// The time of a statement, relative to the planned change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClauseTime {
    Before,
    Open,
    After,
}

/// A part of a sentence with at most one statement.
pub(super) struct Clause<'a> {
    pub(super) words: &'a [ProseWord],
    pub(super) time: ClauseTime,
    /// "if …", "otherwise …": not a prediction.
    pub(super) condition: bool,
    /// "because …".
    pub(super) reason: bool,
    /// True if it continues the previous clause.
    pub(super) joined: bool,
}

impl Clause<'_> {
    /// Returns true if the clause contains the target.
    pub(super) fn contains_target(&self, target: &str) -> bool {
        let texts: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        texts.join(" ").contains(target)
    }
}

/// Words that start a clause.
const CLAUSE_STARTERS: &[&str] = &[
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
pub(super) fn split_clauses(words: &[ProseWord]) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let (mut condition, mut reason) = (false, false);
    // "Before the fix," also sets the time of the clause after the comma.
    let mut carried = ClauseTime::Open;
    let mut start = 0;
    while start < words.len() {
        let first = &words[start];
        let joint = if first.is_any(CLAUSE_STARTERS) { first.lower.as_str() } else { "" };
        let goes_on = joint == "and" && first.gap == WordGap::Space;
        condition =
            matches!(joint, "if" | "unless" | "otherwise" | "else") || (condition && goes_on);
        reason = matches!(joint, "because" | "since") || (reason && goes_on);
        let from = start + usize::from(!joint.is_empty());
        let ends =
            |at: &usize| words[*at].gap != WordGap::Space || words[*at].is_any(CLAUSE_STARTERS);
        let end = (from.max(start + 1)..words.len()).find(ends).unwrap_or(words.len());
        let part = &words[from..end];
        let mut time = find_clause_time(part);
        if joint == "then" || first.gap == WordGap::Arrow {
            time = ClauseTime::After;
            for earlier in clauses.iter_mut().filter(|_| first.gap == WordGap::Arrow) {
                earlier.time = ClauseTime::Before;
            }
        } else if time == ClauseTime::Open && !reason && first.gap <= WordGap::Comma {
            time = carried;
        }
        carried = if part.len() <= 5 && starts_with_time_word(part) {
            find_clause_time(part)
        } else {
            ClauseTime::Open
        };
        let otherwise = part.iter().any(|word| word.is("otherwise"));
        clauses.push(Clause {
            words: part,
            time,
            condition: condition || otherwise,
            reason,
            joined: first.gap != WordGap::Stop || joint == "then",
        });
        start = end;
    }
    clauses
}

fn starts_with_time_word(words: &[ProseWord]) -> bool {
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

fn find_clause_time(words: &[ProseWord]) -> ClauseTime {
    let has = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    let pair = |one: &[&str], two: &[&str]| {
        words.windows(2).any(|pair| pair[0].is_any(one) && pair[1].is_any(two))
    };
    let change = ["the", "my", "this", "that", "it", "our"];
    let verbs = ["fail", "fails", "pass", "passes"];
    if has(&["after", "afterwards", "once", "finally"])
        || pair(&["with"], &["the", "my", "this"]) && has(&["fix", "patch"])
    {
        ClauseTime::After
    } else if has(&["before", "until", "currently", "initially", "originally"])
        || pair(&["on"], &["main", "master", "trunk"])
        || pair(&["at"], &["first"])
        || pair(&["first"], &verbs)
        || pair(&verbs, &["first"])
        || (pair(&["without"], &change) && !has(&["errors", "error", "failures"]))
    {
        ClauseTime::Before
    } else {
        ClauseTime::Open
    }
}
