//! Patterns of files, such as `src/**/*.{ts,tsx}`: `**` stands for any folders, `*` and `?` for signs of one name, braces for
//! alternatives. Other signs stand for themselves.

/// Number of alternatives that the braces of a pattern may have together.
const MAX_ALTERNATIVES: usize = 256;

/// Returns true if a text is a pattern rather than a path.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '{'])
}

/// Returns the patterns that a pattern with braces stands for. A brace without an end, or without a comma, stands for itself.
pub(crate) fn expand_braces(pattern: &str) -> Vec<String> {
    let mut expanded = Vec::new();
    let mut waiting = vec![(pattern.to_owned(), 0)];
    while let Some((text, from)) = waiting.pop() {
        let Some((open, close, commas)) = find_braces(&text, from) else {
            expanded.push(text);
            continue;
        };
        if waiting.len() + expanded.len() + commas.len() >= MAX_ALTERNATIVES {
            return vec![pattern.to_owned()];
        }
        let (before, after) = (&text[..open], &text[close + 1..]);
        let starts = std::iter::once(open).chain(commas.iter().copied());
        let ends = commas.iter().copied().chain([close]);
        for (start, end) in starts.zip(ends) {
            waiting.push((format!("{before}{}{after}", &text[start + 1..end]), open));
        }
    }
    expanded.reverse();
    expanded
}

/// Finds the first braces with a comma: the positions of the braces and of the commas between them.
fn find_braces(text: &str, from: usize) -> Option<(usize, usize, Vec<usize>)> {
    let bytes = text.as_bytes();
    let opens = (from..bytes.len()).filter(|at| bytes[*at] == b'{');
    for open in opens {
        let (mut depth, mut commas) = (0_usize, Vec::new());
        for (at, byte) in bytes.iter().enumerate().skip(open) {
            match byte {
                b'{' => depth += 1,
                b',' if depth == 1 => commas.push(at),
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                if !commas.is_empty() {
                    return Some((open, at, commas));
                }
                break;
            }
        }
    }
    None
}

/// Returns true if a path matches a pattern without braces. Both are relative and separated by `/`.
pub(crate) fn matches_pattern(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    matches_sequence(&pattern, &path, |part| *part == "**", |part, name| matches_name(part, name))
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches_sequence(&pattern, &name, |sign| *sign == '*', |a, b| *a == '?' || a == b)
}

/// Compares two sequences, in which a wildcard of the first stands for any items of the second. Only the last wildcard is
/// ever tried again, so the cost is the product of the lengths at most.
fn matches_sequence<T>(
    pattern: &[T],
    items: &[T],
    is_wildcard: impl Fn(&T) -> bool,
    matches: impl Fn(&T, &T) -> bool,
) -> bool {
    let (mut at, mut item) = (0, 0);
    // The wildcard to which the comparison goes back, and the first item after those that it stands for.
    let mut back: Option<(usize, usize)> = None;
    while item < items.len() {
        if at < pattern.len() && is_wildcard(&pattern[at]) {
            back = Some((at, item));
            at += 1;
        } else if at < pattern.len() && matches(&pattern[at], &items[item]) {
            at += 1;
            item += 1;
        } else if let Some((wildcard, taken)) = back {
            back = Some((wildcard, taken + 1));
            at = wildcard + 1;
            item = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_wildcard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/x/y/a.rs", true),
            ("src/**/*.rs", "lib/a.rs", false),
            ("src/*.rs", "src/x/a.rs", false),
            ("**", "a/b/c", true),
            ("**/a?.ts", "x/ab.ts", true),
            ("**/a?.ts", "x/a.ts", false),
            ("src/**", "src", true),
            ("a*b*c", "aXbXbXc", true),
            ("a[1].ts", "a[1].ts", true),
        ] {
            assert_eq!(matches_pattern(pattern, path), expected, "{pattern} {path}");
        }
        let many = "**/".repeat(200) + "x";
        assert!(!matches_pattern(&many, &"a/".repeat(500)));
    }

    #[test]
    fn braces_are_expanded() {
        assert_eq!(expand_braces("a/*.{ts,tsx}"), ["a/*.ts", "a/*.tsx"]);
        assert_eq!(expand_braces("{a,{b,c}}/{d,e}").len(), 6);
        for plain in ["a{b}c", "a{b,c", "a}b{", "{}", "plain"] {
            assert_eq!(expand_braces(plain), [plain]);
        }
        let bomb = "{a,b}".repeat(40);
        assert_eq!(expand_braces(&bomb), [bomb]);
    }
}
