//! The keys that a jq filter reads from its input.

use super::tokens::{Syntax, TokenKind, Tokens, tokenize};

/// A path that a filter reads from the root, with the alternatives of the same `//` chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilterPath {
    pub(super) path: Vec<String>,
    /// The first key of each alternative.
    pub(super) alternatives: Vec<String>,
}

/// Returns the paths that a filter reads from the root of its input. Empty if the filter is not a list of plain paths.
pub(super) fn read_paths(filter: &str) -> Vec<FilterPath> {
    let Some(tokens) = tokenize(filter, Syntax::Jq) else { return Vec::new() };
    let mut found = Vec::new();
    let end = tokens.tokens.len();
    if read_list(&tokens, 0, end, &mut found).is_none() {
        return Vec::new();
    }
    found
}

/// Reads `chain, chain | anything` between two tokens.
fn read_list(
    tokens: &Tokens<'_>,
    start: usize,
    end: usize,
    found: &mut Vec<FilterPath>,
) -> Option<()> {
    let mut at = start;
    loop {
        at = read_chain(tokens, at, end, found)?;
        if at == end || tokens.is(at, "|") {
            return Some(());
        }
        if !tokens.is(at, ",") {
            return None;
        }
        at += 1;
    }
}

/// Reads `path // path // literal`. Returns the index behind it.
fn read_chain(
    tokens: &Tokens<'_>,
    start: usize,
    end: usize,
    found: &mut Vec<FilterPath>,
) -> Option<usize> {
    let mut paths = Vec::new();
    let mut at = start;
    loop {
        if tokens.is(at, "(") || tokens.is(at, "[") {
            let close = tokens.closing(at)?;
            let mut inner = Vec::new();
            read_list(tokens, at + 1, close, &mut inner)?;
            if tokens.is(at, "(") {
                paths.extend(inner.iter().map(|path| path.path.clone()));
                for path in &inner {
                    let keys = path.alternatives.iter().map(|key| vec![key.clone()]);
                    paths.extend(keys);
                }
            } else {
                found.extend(inner);
            }
            at = close + 1;
        } else if tokens.is(at, ".") {
            let (path, next) = read_path(tokens, at)?;
            at = next;
            paths.push(path);
        } else {
            match tokens.tokens.get(at)?.kind {
                TokenKind::Text { .. } | TokenKind::Number => {}
                TokenKind::Name if is_constant(tokens.text(at)) => {}
                _ => return None,
            }
            at += 1;
        }
        // The tokenizer knows `//` as two signs, and `//=` is no alternative.
        if at < end && tokens.has_sequence(at, &["/", "/"]) {
            at += 2;
        } else {
            break;
        }
    }
    if at > end {
        return None;
    }
    let keys: Vec<String> = paths.iter().filter_map(|path| path.first().cloned()).collect();
    for (index, path) in paths.into_iter().enumerate() {
        if path.is_empty() {
            continue;
        }
        let others = keys.iter().enumerate().filter(|(other, _)| *other != index);
        let alternatives = others.map(|(_, key)| key.clone()).collect();
        found.push(FilterPath { path, alternatives });
    }
    Some(at)
}

fn is_constant(name: &str) -> bool {
    matches!(name, "empty" | "null" | "true" | "false" | "error") || name.starts_with('$')
}

/// Reads `.a.b["c"]?`. Returns the path with the index behind it. An index into an array ends the path.
fn read_path(tokens: &Tokens<'_>, start: usize) -> Option<(Vec<String>, usize)> {
    let mut path = Vec::new();
    let mut at = start;
    let mut is_readable = true;
    loop {
        if tokens.is(at, ".") && tokens.is_name(at + 1) {
            if is_readable {
                path.push(tokens.text(at + 1).to_owned());
            }
            at += 2;
        } else if tokens.is(at, ".") && tokens.plain_text(at + 1).is_some() {
            if is_readable {
                path.push(tokens.plain_text(at + 1)?.to_owned());
            }
            at += 2;
        } else if tokens.is(at, "[") || tokens.has_sequence(at, &[".", "["]) {
            let open = at + usize::from(tokens.is(at, "."));
            let close = tokens.closing(open)?;
            match tokens.plain_text(open + 1) {
                Some(key) if close == open + 2 && is_readable => path.push(key.to_owned()),
                _ => is_readable = false,
            }
            at = close + 1;
        } else if tokens.is(at, "?") {
            at += 1;
        } else if at == start {
            // The identity.
            return Some((path, at + 1));
        } else {
            return Some((path, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_keys(filter: &str) -> Vec<(String, Vec<String>)> {
        read_paths(filter)
            .into_iter()
            .map(|path| (path.path.join("."), path.alternatives))
            .collect()
    }

    fn path(path: &str, alternatives: &[&str]) -> (String, Vec<String>) {
        (path.to_owned(), alternatives.iter().map(|&key| key.to_owned()).collect())
    }

    #[test]
    fn plain_paths_are_read() {
        assert_eq!(first_keys(".tool"), [path("tool", &[])]);
        assert_eq!(
            first_keys(".tool_input.file_path // empty"),
            [path("tool_input.file_path", &[])]
        );
        assert_eq!(first_keys(".[\"tool\"]? | ascii_downcase"), [path("tool", &[])]);
        assert_eq!(first_keys("[.cwd, .tool] | @tsv"), [path("cwd", &[]), path("tool", &[])]);
        assert_eq!(first_keys(".a[0].b"), [path("a", &[])]);
    }

    #[test]
    fn alternatives_are_kept() {
        let expected = [path("tool_name", &["tool"]), path("tool", &["tool_name"])];
        assert_eq!(first_keys(".tool_name // .tool // \"\""), expected);
        assert_eq!(first_keys("(.tool_name // .tool)")[1].0, "tool");
        assert!(first_keys("(.tool_name // .tool)")[1].1.contains(&"tool_name".to_owned()));
    }

    #[test]
    fn other_filters_are_not_read() {
        for filter in [
            "if .tool then 1 else 2 end",
            "{a: .tool}",
            "select(.tool)",
            "..",
            "map(.a)",
            ".a + .b",
            "",
            "(",
        ] {
            assert_eq!(first_keys(filter), [], "{filter}");
        }
    }
}
