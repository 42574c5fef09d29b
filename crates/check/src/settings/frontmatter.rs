//! The frontmatter of markdown files: the YAML between two lines of `---` at the start of skills, agents and commands.
//!
//! Measured on clients 2.1.325 and 2.1.197: the block ends at the next `---` on a line of its own or not, YAML that
//! cannot be parsed is parsed again with some values in quotes and with spaces instead of tabs, and the file counts as
//! one without frontmatter if that fails too. The exact form of the fence and of the quotes was read in the code of
//! 2.1.325.

use std::ops::Range;

use rutter_contract::javascript::is_white_space;

use super::edited_text::{EditedText, TextEdit};
use super::spans::map_node;
use super::yaml::{YamlError, YamlTree, parse_yaml};

/// The line that opens the frontmatter, and the mark that closes it.
const FENCE: &str = "---";
/// Characters for which the client puts a value into quotes.
const QUOTED_CHARACTERS: &[char] =
    &['{', '}', '[', ']', '*', '&', '#', '!', '|', '>', '%', '@', '`'];

/// Returns the range of the YAML in a text. Returns None if the text has no frontmatter.
pub(super) fn find_frontmatter(text: &str) -> Option<Range<usize>> {
    let rest = text.strip_prefix(FENCE)?;
    let space = rest.len() - rest.trim_start_matches(is_white_space).len();
    let line_end = rest.get(..space)?.rfind('\n')?;
    let start = FENCE.len() + line_end + 1;
    let length = text.get(start..)?.find(FENCE)?;
    Some(start..start + length)
}

/// Parses the frontmatter at a range of a text. Offsets in the result are those of the text.
pub(super) fn parse_frontmatter(text: &str, range: &Range<usize>) -> Result<YamlTree, YamlError> {
    let block = text.get(range.clone()).unwrap_or_default();
    let first = match parse_yaml(block) {
        Ok(tree) => return Ok(move_tree(tree, |at| range.start + at, |at| range.start + at)),
        Err(error) => YamlError { at: range.start + error.at, ..error },
    };
    let edited = EditedText::apply(block, lenient_edits(block));
    match parse_yaml(&edited.text) {
        Ok(tree) => Ok(move_tree(
            tree,
            |at| range.start + edited.original_start(at),
            |at| range.start + edited.original_end(at),
        )),
        Err(_) => Err(first),
    }
}

fn move_tree(
    tree: YamlTree,
    map: impl Fn(usize) -> usize,
    map_end: impl Fn(usize) -> usize,
) -> YamlTree {
    YamlTree { root: map_node(tree.root, &map), spans: tree.spans.map_offsets(&map, map_end) }
}

/// Returns the edits that the client makes before it parses a block again.
fn lenient_edits(block: &str) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    let mut start = 0;
    for line in block.split('\n') {
        if let Some(value) = find_quotable_value(line) {
            let (from, to) = (start + value.start, start + value.end);
            edits.push((from..from, "\"".to_owned()));
            let special = line.get(value).unwrap_or_default().match_indices(['\\', '"']);
            edits.extend(special.map(|(at, _)| (from + at..from + at, "\\".to_owned())));
            edits.push((to..to, "\"".to_owned()));
        }
        let tabs = line.len() - line.trim_start_matches('\t').len();
        edits.extend((0..tabs).map(|tab| (start + tab..start + tab + 1, "  ".to_owned())));
        start += line.len() + 1;
    }
    edits
}

/// Returns the range of the value of a line that the client puts into quotes.
fn find_quotable_value(line: &str) -> Option<Range<usize>> {
    let is_key = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-');
    let key = line.len() - line.trim_start_matches(is_key).len();
    let rest = line.get(key..)?.strip_prefix(':').filter(|_| key > 0)?;
    let value = rest.trim_start_matches(is_white_space);
    // The client's pattern has no line ends, so it leaves lines with a carriage return alone.
    if value.is_empty()
        || value.len() == rest.len()
        || value.contains(['\r', '\u{2028}', '\u{2029}'])
    {
        return None;
    }
    let in_quotes = |quote| value.starts_with(quote) && value.ends_with(quote);
    if in_quotes('"') || in_quotes('\'') {
        return None;
    }
    if value.starts_with('[') && value.ends_with(']') && parse_yaml(value).is_ok() {
        return None;
    }
    let needs_quotes = value.contains(QUOTED_CHARACTERS) || value.contains(": ");
    needs_quotes.then(|| line.len() - value.len()..line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Option<&str> {
        find_frontmatter(text).map(|range| &text[range])
    }

    #[test]
    fn finds_block_like_client() {
        assert_eq!(block("---\na: 1\n---\nbody"), Some("a: 1\n"));
        assert_eq!(block("---  \r\n\r\n  a: 1\r\n---"), Some("  a: 1\r\n"));
        assert_eq!(block("---\n---\n"), Some(""));
        assert_eq!(block("---\nx: a---b\n---\n"), Some("x: a"), "the mark need not be a line");
        for text in ["", "a", "\n---\na: 1\n---\n", "---\na: 1\n", "--- a: 1 ---", "---a\n---"] {
            assert_eq!(block(text), None, "{text}");
        }
    }

    #[test]
    fn second_attempt_quotes_values_and_replaces_tabs() {
        for text in [
            "---\ndescription: use: it\nhooks:\n  é: x\n---\n",
            "---\nx: [1\nhooks:\n  é: x\n---\n",
            "---\nx: a \"b\": \\c\nhooks:\n\té: x\n---\n",
        ] {
            let tree = parse_frontmatter(text, &find_frontmatter(text).unwrap()).unwrap();
            let node = tree.root.pointer("/hooks/é").unwrap();
            assert_eq!(&text[tree.spans.value_range(node.at)], "x", "{text}");
        }
        let text = "---\nx: a \"b\": \\c\n---\n";
        let tree = parse_frontmatter(text, &find_frontmatter(text).unwrap()).unwrap();
        assert_eq!(tree.root.get("x").unwrap().text(), Some("a \"b\": \\c"));
    }

    #[test]
    fn errors_have_positions_in_file() {
        let text = "---\nname: x\nhooks:\n  - a: *\n---\n";
        let error = parse_frontmatter(text, &find_frontmatter(text).unwrap()).unwrap_err();
        assert!(error.at > text.find("hooks").unwrap() && error.at < text.len(), "{error:?}");
    }
}
