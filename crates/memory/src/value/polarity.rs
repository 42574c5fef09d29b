//! Guesses if two sentences about the same subject say the opposite.

/// Words that negate a sentence. Only those that hardly ever do anything else.
const NEGATION_WORDS: [&str; 10] =
    ["not", "no", "never", "cannot", "dont", "avoid", "forbid", "forbidden", "neither", "nor"];

/// First words of clauses that only give a time or place.
const CIRCUMSTANCE_WORDS: [&str; 16] = [
    "in", "on", "at", "after", "before", "when", "if", "for", "with", "during", "while", "unless",
    "until", "where", "once", "as",
];

/// Counts the negations in the main clause of a sentence. Later clauses add details: `in a finally block, never behind
/// the last statement`.
fn count_clause_negations(text: &str) -> usize {
    let text = text.trim().to_lowercase().replace('\u{2019}', "'");
    let ends =
        |sign: char| matches!(sign, ',' | ';' | ':' | '.' | '!' | '\n' | '\u{2014}' | '\u{2013}');
    let clauses: Vec<&str> =
        text.split(ends).map(str::trim).filter(|clause| !clause.is_empty()).collect();
    let says_when = |clause: &&&str| {
        clause.split(' ').next().is_some_and(|word| CIRCUMSTANCE_WORDS.contains(&word))
    };
    let main = clauses.iter().find(|clause| !says_when(clause)).or(clauses.first());
    main.copied()
        .unwrap_or_default()
        .split(|sign: char| !(sign.is_alphanumeric() || sign == '\''))
        .take_while(|word| !matches!(*word, "instead" | "rather"))
        .filter(|word| NEGATION_WORDS.contains(word) || word.ends_with("n't"))
        .count()
}

/// Returns true if only one of two sentences is negated. This is a guess without understanding: good enough for a
/// remark, never for a refusal.
pub(crate) fn are_opposed(one: &str, other: &str) -> bool {
    (count_clause_negations(one) % 2) != (count_clause_negations(other) % 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negated_sentences_are_opposed() {
        for (one, other) in [
            ("mock the payment client", "never mock the payment client"),
            ("Avoid sleeps in tests", "use sleeps in tests"),
            ("release it in a finally block", "You shouldn't release it in a finally block"),
            ("release it in a finally block", "Don\u{2019}t release it in a finally block"),
            ("In tests, mock the client", "In tests, never mock the client"),
            ("mock the client", "after an outage, do not mock the client"),
        ] {
            assert!(are_opposed(one, other), "{one} | {other}");
        }
        for (one, other) in [
            ("never mock", "do not mock"),
            ("pin dependencies", "commit the lock file"),
            ("release it in a finally block", "release it in a finally block, never behind it"),
            (
                "release it in a finally block",
                "release it in a finally block instead of not at all",
            ),
            ("stop the server before the migration", "the server is stopped before the migration"),
        ] {
            assert!(!are_opposed(one, other), "{one} | {other}");
        }
    }
}
