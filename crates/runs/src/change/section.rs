//! The definition around a line of a source file, and the check if the line is in a comment.

/// Maximum number of lines searched above a change.
const MAX_LINES_ABOVE: usize = 400;
/// Maximum length of the line of a definition.
const MAX_SECTION_CHARS: usize = 100;

/// Returns the definition around a line of a text: the nearest line above that begins a definition and has less
/// indentation. Lines are counted from 1. A line that begins a definition is its own.
pub(super) fn enclosing_definition(text: &str, line: u32) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let (last, above) = lines.split_last()?;
    let shorten = |line: &str| line.trim().chars().take(MAX_SECTION_CHARS).collect::<String>();
    if is_definition(last) {
        return Some(shorten(last));
    }
    let mut indent = if last.trim().is_empty() { usize::MAX } else { indent_of(last) };
    for line in above.iter().rev().take(MAX_LINES_ABOVE).filter(|line| !line.trim().is_empty()) {
        if indent_of(line) < indent || (indent == 0 && is_definition(line)) {
            if is_definition(line) {
                return Some(shorten(line));
            }
            // A closing brace belongs to a block above the line, not around it.
            if !line.trim().starts_with(['}', ')', ']']) {
                indent = indent_of(line);
            }
        }
        if indent == 0 && !is_definition(line) && line.trim() == "}" {
            return None;
        }
    }
    None
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Words that begin a definition in common languages.
const DEFINITION_WORDS: &[&str] = &[
    "def",
    "class",
    "fn",
    "func",
    "function",
    "fun",
    "impl",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "module",
    "mod",
    "describe(",
    "it(",
    "test(",
    "sub",
    "object",
    "protocol",
    "extension",
    "macro_rules!",
];
/// Words that may precede them.
const DEFINITION_MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "export",
    "default",
    "static",
    "public",
    "private",
    "protected",
    "final",
    "override",
    "abstract",
    "const",
    "unsafe",
    "extern",
    "inline",
    "internal",
    "virtual",
    "data",
    "sealed",
    "open",
];

/// Returns true if a line begins a definition.
pub(super) fn is_definition(line: &str) -> bool {
    let line = line.trim();
    let mut words = line.split_whitespace().skip_while(|word| DEFINITION_MODIFIERS.contains(word));
    let Some(first) = words.next() else { return false };
    if DEFINITION_WORDS.iter().any(|word| {
        if word.ends_with('(') {
            first.starts_with(word)
        } else {
            first == *word || first.starts_with(&format!("{word}<"))
        }
    }) {
        return true;
    }
    // `const total = (items) => {`, `let x = function`
    let is_binding =
        line.starts_with("const ") || line.starts_with("export const ") || line.starts_with("let ");
    if is_binding && (line.contains("=>") || line.contains("function")) {
        return true;
    }
    // A method of a class: `total(items) {`, `public int total(List<Item> items) {`
    let head = line.strip_suffix('{').map(str::trim_end);
    head.is_some_and(|head| {
        let name = head.split('(').next().unwrap_or_default().split_whitespace().next_back();
        head.contains('(')
            && head.ends_with(|sign: char| sign == ')' || sign.is_alphanumeric() || sign == '>')
            && !name.is_some_and(|name| {
                matches!(name, "if" | "for" | "while" | "switch" | "catch" | "match" | "else")
            })
            && !line.starts_with(['}', '.', '(', '"'])
            && !line.contains(" = ")
            && !line.starts_with("return ")
    })
}

/// Returns true if a line is inside a comment or a docstring that began above it.
pub(super) fn is_in_comment(text: &str, line: u32, file: &str) -> bool {
    let above = text.lines().take((line as usize).saturating_sub(1));
    if has_extension(file, &["py", "pyi"]) {
        let mut open: Option<&str> = None;
        for line in above {
            let mut rest = line;
            while let Some((at, quote)) = ["\"\"\"", "'''"]
                .iter()
                .filter(|quote| open.is_none_or(|open| open == **quote))
                .filter_map(|quote| rest.find(quote).map(|at| (at, *quote)))
                .min()
            {
                open = if open.is_some() { None } else { Some(quote) };
                rest = &rest[at + quote.len()..];
            }
        }
        return open.is_some();
    }
    let mut open = false;
    for line in above {
        match (line.rfind("/*"), line.rfind("*/")) {
            (Some(begin), Some(end)) => open = begin > end,
            (Some(_), None) if !line.contains("//*") => open = true,
            (None, Some(_)) => open = false,
            _ => {}
        }
    }
    open
}

pub(super) fn has_extension(file: &str, extensions: &[&str]) -> bool {
    file.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_around_a_line() {
        let python = "import os\n\nclass Cart:\n    def total(self, items):\n        if items:\n            return 1\n        return 0\n\nRATE = 2\n";
        assert_eq!(enclosing_definition(python, 6).as_deref(), Some("def total(self, items):"));
        assert_eq!(enclosing_definition(python, 4).as_deref(), Some("def total(self, items):"));
        assert_eq!(enclosing_definition(python, 1), None);
        let rust = "impl Cart {\n    pub fn total(&self) -> u32 {\n        let x = 1;\n        if x > 0 {\n            return 3;\n        }\n        x\n    }\n}\n\nconst MAX: u32 = 3;\n";
        assert_eq!(enclosing_definition(rust, 5).as_deref(), Some("pub fn total(&self) -> u32 {"));
        assert_eq!(enclosing_definition(rust, 7).as_deref(), Some("pub fn total(&self) -> u32 {"));
        assert_eq!(enclosing_definition(rust, 11), None);
        let go = "func Total(items []int) int {\n\tsum := 0\n\tfor _, i := range items {\n\t\tsum += i\n\t}\n\treturn sum\n}\n";
        assert_eq!(enclosing_definition(go, 4).as_deref(), Some("func Total(items []int) int {"));
        let ts = "export class Cart {\n  total(items: Item[]): number {\n    return items.length;\n  }\n}\nexport const add = (a, b) => {\n  return a + b;\n};\n";
        assert_eq!(enclosing_definition(ts, 3).as_deref(), Some("total(items: Item[]): number {"));
        assert_eq!(enclosing_definition(ts, 7).as_deref(), Some("export const add = (a, b) => {"));
    }

    #[test]
    fn comments_over_several_lines() {
        let python = "def f():\n    \"\"\"Adds.\n\n    More words.\n    \"\"\"\n    return 1\n";
        assert!(is_in_comment(python, 4, "a.py"));
        assert!(!is_in_comment(python, 6, "a.py"));
        let c = "/* one\n * two\n */\nint x;\n";
        assert!(is_in_comment(c, 2, "a.c"));
        assert!(!is_in_comment(c, 4, "a.c"));
    }
}
