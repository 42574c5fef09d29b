//! Whether two sentences about the same thing say the opposite.

/// Words that turn a sentence round.
const TURNS: [&str; 22] = [
    "not", "no", "never", "don't", "dont", "doesn't", "cannot", "can't", "avoid", "without",
    "stop", "instead", "refuse", "forbid", "skip", "against", "neither", "nor", "rather", "remove",
    "drop", "disable",
];

fn turns(text: &str) -> usize {
    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '\''))
        .filter(|word| TURNS.contains(&word.to_lowercase().as_str()))
        .count()
}

/// Whether one of two sentences is turned round and the other is not. Nobody understands them: it is worth a remark, never a
/// refusal.
pub(crate) fn opposed(one: &str, other: &str) -> bool {
    (turns(one) % 2) != (turns(other) % 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_makes_the_difference() {
        assert!(opposed("mock the payment client", "never mock the payment client"));
        assert!(opposed("Avoid sleeps in tests", "use sleeps in tests"));
        assert!(!opposed("never mock", "do not mock"));
        assert!(!opposed("pin dependencies", "commit the lock file"));
    }
}
