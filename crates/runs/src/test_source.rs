//! The source of a failing test: its identifiers name the code under test.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::clues::own_name;
use super::fault::RunFault;
use super::place::has_path;

/// Maximum size of a file that is read.
const MAX_FILE_BYTES: u64 = 512 * 1024;
/// Maximum number of lines read from a test.
const MAX_TEST_LINES: usize = 60;

/// Reads the source of the failed test; None if its file is unknown or does not contain it.
pub fn read_test_source(root: &Path, fault: &RunFault) -> Option<String> {
    let test = fault.test.as_deref()?;
    let file = if has_path(test) {
        let end =
            [" > ", "::"].iter().filter_map(|part| test.find(part)).min().unwrap_or(test.len());
        &test[..end]
    } else {
        fault.file.as_deref()?
    };
    let path = root.join(file);
    let metadata = path.symlink_metadata().ok()?;
    // Other kinds of files could block the reader.
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut source = String::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut source).ok()?;
    definition_body(&source, own_name(test)).map(str::to_owned)
}

/// Returns the lines of a definition, up to the next line with the same or less indentation.
fn definition_body<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if name.len() < 3 {
        return None;
    }
    let mut at = 0;
    let mut found: Option<(usize, usize)> = None;
    let mut lines = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let indent = line.len() - line.trim_start().len();
        match found {
            None if is_test_definition(line, name) => found = Some((start, indent)),
            None => {}
            Some((from, outer)) => {
                lines += 1;
                let closes = matches!(line.trim(), "}" | "});" | ")" | "})" | "end" | "");
                if lines > MAX_TEST_LINES
                    || (indent <= outer && !closes && !line.trim().starts_with(')'))
                {
                    return Some(&text[from..start]);
                }
            }
        }
    }
    found.map(|(from, _)| &text[from..])
}

/// Returns true if a line begins the test: `def test_x(`, `fn total()`, `func TestX(`, `it("adds items"`.
fn is_test_definition(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let word = before
            .trim_end_matches(['(', '"', '\'', '`', ' '])
            .rsplit(|sign: char| !sign.is_alphanumeric())
            .next();
        let whole = !before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_')
            && !after.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_');
        let defining = [
            "def", "fn", "func", "function", "fun", "it", "test", "void", "each", "only", "specify",
        ];
        whole && word.is_some_and(|word| defining.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_end_with_their_definition() {
        let python = "def test_a():\n    x()\n\ndef test_total():\n    c = Cart()\n    assert c.total() == 3\n\ndef test_b():\n    y()\n";
        assert_eq!(definition_body(python, "test_total").unwrap().lines().count(), 4);
        let rust = "    #[test]\n    fn total() {\n        assert_eq!(sum(&[1]), 1);\n    }\n\n    #[test]\n    fn other() {}\n";
        assert!(
            definition_body(rust, "total").unwrap().contains("sum")
                && !definition_body(rust, "total").unwrap().contains("other")
        );
        let js = "describe('cart', () => {\n  it('adds items', () => {\n    expect(add(1)).toBe(2);\n  });\n  it('x', f);\n});\n";
        assert!(definition_body(js, "adds items").unwrap().contains("add(1)"));
        assert_eq!(definition_body(js, "missing"), None);
    }
}
