//! Suggestions for misspelled names.

/// Returns the value of the name nearest to `text`, or `None` if no name is near. Case and separators do not count.
pub fn find_nearest<'a, T>(text: &str, names: impl IntoIterator<Item = (&'a str, T)>) -> Option<T> {
    let (_, meant) = near_names(text, names).into_iter().min_by_key(|&(distance, _)| distance)?;
    Some(meant)
}

/// Returns the value of the only name of which `text` is a misspelling: at most two letters differ, and no other name is
/// as near. Case and separators do not count. Narrower than [`find_nearest`], for corrections that nobody reviews.
pub fn find_misspelled<'a, T>(
    text: &str,
    names: impl IntoIterator<Item = (&'a str, T)>,
) -> Option<T> {
    let mut near = near_names(text, names);
    near.sort_by_key(|&(distance, _)| distance);
    let mut near = near.into_iter();
    let (distance, meant) = near.next().filter(|&(distance, _)| distance <= 2)?;
    near.next().is_none_or(|(other, _)| other > distance).then_some(meant)
}

/// Returns the names that are near, each with its distance.
fn near_names<'a, T>(text: &str, names: impl IntoIterator<Item = (&'a str, T)>) -> Vec<(usize, T)> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(text);
    if wanted.is_empty() || wanted.len() > 64 {
        return Vec::new();
    }
    let distances =
        names.into_iter().map(|(name, meant)| (edit_distance(&wanted, &plain(name)), meant));
    // A third of the letters may be wrong; beyond that a suggestion is a guess.
    distances.filter(|(distance, _)| distance * 3 <= wanted.len()).collect()
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
    use super::{find_misspelled, find_nearest};

    #[test]
    fn ignores_case_and_separators() {
        let names = [("token_budget", 1), ("limit", 2)];
        assert_eq!(find_nearest("tokenBudget", names), Some(1));
        assert_eq!(find_nearest("limits", names), Some(2));
        assert_eq!(find_nearest("enabled", names), None);
        assert_eq!(find_nearest::<()>("anything", []), None);
    }

    #[test]
    fn misspellings_are_close_and_unique() {
        let names = [("PreCompact", 1), ("SessionStart", 2), ("SessionEnd", 3)];
        assert_eq!(find_misspelled("pre_compact", names), Some(1));
        assert_eq!(find_misspelled("SesionStrt", names), Some(2));
        for text in ["PreCommit", "SessionStop", "", "Other"] {
            assert_eq!(find_misspelled(text, names), None, "{text}");
        }
        assert_eq!(find_misspelled("prefix", [("prefax", 1), ("prefox", 2)]), None);
    }
}
