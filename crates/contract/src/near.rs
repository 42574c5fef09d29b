//! Suggestions for misspelled names.

/// Returns the value of the name nearest to `text`, or `None` if no name is near. Case and separators do not count.
pub fn find_nearest<'a, T>(text: &str, names: impl IntoIterator<Item = (&'a str, T)>) -> Option<T> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(text);
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    let (distance, meant) = names
        .into_iter()
        .map(|(name, meant)| (edit_distance(&wanted, &plain(name)), meant))
        .min_by_key(|&(distance, _)| distance)?;
    // A third of the letters may be wrong; beyond that a suggestion is a guess.
    (distance * 3 <= wanted.len()).then_some(meant)
}

/// Returns the Levenshtein distance, counted in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::find_nearest;

    #[test]
    fn ignores_case_and_separators() {
        let names = [("token_budget", 1), ("limit", 2)];
        assert_eq!(find_nearest("tokenBudget", names), Some(1));
        assert_eq!(find_nearest("limits", names), Some(2));
        assert_eq!(find_nearest("enabled", names), None);
        assert_eq!(find_nearest::<()>("anything", []), None);
    }
}
