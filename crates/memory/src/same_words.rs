//! Comparison of texts by their words.

/// Returns true if two texts have the same words in the same order. Case, spaces and punctuation make no difference.
pub(crate) fn has_same_words(one: &str, other: &str) -> bool {
    let words = |text: &'_ str| -> Vec<String> {
        let words = text.split(|sign: char| !sign.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    // Most texts differ in their first letter or digit.
    let first = |text: &str| {
        let letter = text.chars().find(|sign| sign.is_alphanumeric());
        letter.map(|sign| sign.to_lowercase().to_string())
    };
    match (first(one), first(other)) {
        // Texts without words are compared by their other characters.
        (None, None) => one.trim() == other.trim(),
        (one_first, other_first) => one_first == other_first && words(one) == words(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_words_only() {
        for (one, other, expected) in [
            ("Use tabs, not spaces.", "use  tabs not\nSPACES", true),
            ("Use `pnpm`", "use pnpm!", true),
            ("Use tabs, not spaces", "Use spaces, not tabs", false),
            ("Use tabs", "Use tabs here", false),
            ("Python 3.12", "Python 312", false),
            ("naïve Größe", "NAÏVE größe", true),
            ("++", "++ ", true),
            ("++", "--", false),
            ("++", "a", false),
        ] {
            assert_eq!(has_same_words(one, other), expected, "{one}: {other}");
        }
    }
}
