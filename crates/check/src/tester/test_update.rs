//! Writes observed answers into the text of a test file, which keeps its comments and its order.

use std::fmt::Write as _;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::test_file::{HookTestFile, ObservedAnswer};

/// The result of updating a test file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdatedTests {
    /// The new text.
    pub text: String,
    /// The changes, one sentence each.
    pub changes: Vec<String>,
    /// Names of tests that could not be updated: their tables are written in a way that the edit does not know.
    pub refused: Vec<String>,
}

/// Replaces the expectations of tests by the observed ones, in the order of the file. None leaves a test as it is.
pub fn update_tests(text: &str, observed: &[Option<ObservedAnswer>]) -> UpdatedTests {
    let mut updated = UpdatedTests { text: text.to_owned(), ..UpdatedTests::default() };
    for (number, observed) in observed.iter().enumerate() {
        for (key, value, shown) in observed.iter().flat_map(expectations) {
            let Some(name) = test_name(&updated.text, number) else { continue };
            let edited = replace_value(&updated.text, number, key, &value);
            match edited.filter(|edited| has_value(edited, number, key, &shown)) {
                Some(edited) => {
                    updated.text = edited;
                    updated.changes.push(format!("{name}: {key} = {value}"));
                }
                None if updated.refused.contains(&name) => {}
                None => updated.refused.push(name),
            }
        }
    }
    updated
}

/// Returns the keys of an answer with their values, as TOML and as a plain text.
fn expectations(observed: &ObservedAnswer) -> Vec<(&'static str, String, String)> {
    let text =
        |key, text: &Option<String>| text.as_ref().map(|text| (key, quote(text), text.clone()));
    let exit = observed.exit.map(|exit| ("exit", exit.to_string(), exit.to_string()));
    [text("verdict", &observed.verdict), text("text", &observed.text), exit]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns a text as a basic string of TOML.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            sign if sign.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(sign));
            }
            sign => quoted.push(sign),
        }
    }
    quoted.push('"');
    quoted
}

fn replace_value(text: &str, number: usize, key: &str, value: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let (place, replacement) = if let Some(span) = find_span(table.get_ref(), number, key) {
        (span, value.to_owned())
    } else {
        // A new line behind that of the event, which every test has.
        let span = find_span(table.get_ref(), number, "event")?;
        let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at);
        (end..end, format!("\n{key} = {value}"))
    };
    let mut edited = text.to_owned();
    edited.replace_range(place, &replacement);
    Some(edited)
}

fn find_value<'a, 'i>(
    table: &'a DeTable<'i>,
    number: usize,
    key: &str,
) -> Option<&'a Spanned<DeValue<'i>>> {
    match table.get("test")?.get_ref() {
        DeValue::Array(tests) => match tests.get(number)?.get_ref() {
            DeValue::Table(test) => test.get(key),
            _ => None,
        },
        _ => None,
    }
}

fn find_span(table: &DeTable<'_>, number: usize, key: &str) -> Option<Range<usize>> {
    find_value(table, number, key).map(Spanned::span)
}

/// Returns true if a text is a test file in which a test has a value.
fn has_value(text: &str, number: usize, key: &str, shown: &str) -> bool {
    let Ok(table) = DeTable::parse(text) else { return false };
    let is_same = match find_value(table.get_ref(), number, key).map(Spanned::get_ref) {
        Some(DeValue::String(found)) => found == shown,
        Some(DeValue::Integer(found)) => found.as_str() == shown,
        _ => false,
    };
    is_same && HookTestFile::parse(text, true).is_ok()
}

fn test_name(text: &str, number: usize) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    match find_value(table.get_ref(), number, "name")?.get_ref() {
        DeValue::String(name) => Some(name.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = r#"# Guards.
command = "./guard" # the hook

[[test]] # first
name = "a"
event = "Stop" # end of the turn
payload = { x = [1, 2] }

[[test]]
name = "b"
verdict = 'blocked' # why
event = "Stop"
text = """
old"""
exit = 2
"#;

    #[test]
    fn comments_and_order_stay() {
        let observed = [
            Some(ObservedAnswer {
                verdict: Some("silent".to_owned()),
                ..ObservedAnswer::default()
            }),
            Some(ObservedAnswer {
                verdict: Some("context".to_owned()),
                text: Some("a \"new\" \\ text\t".to_owned()),
                exit: Some(0),
            }),
        ];
        let updated = update_tests(TESTS, &observed);
        let expected = TESTS
            .replace("# end of the turn\n", "# end of the turn\nverdict = \"silent\"\n")
            .replace("'blocked' # why", "\"context\" # why")
            .replace("\"\"\"\nold\"\"\"", r#""a \"new\" \\ text\u0009""#)
            .replace("exit = 2", "exit = 0");
        assert_eq!(updated.text, expected);
        assert_eq!(updated.changes.len(), 4);
        assert_eq!((&*updated.changes[0], updated.refused.len()), ("a: verdict = \"silent\"", 0));
        assert_eq!(update_tests(TESTS, &[None, None]).text, TESTS);
    }

    #[test]
    fn unusual_tables_are_left_alone() {
        let inline = "command = \"x\"\ntest = [{ name = \"a\", event = \"Stop\" }, { name = \"b\", event = \"Stop\" }]\n";
        let observed = Some(ObservedAnswer {
            verdict: Some("silent".to_owned()),
            ..ObservedAnswer::default()
        });
        let updated = update_tests(inline, &[observed, None]);
        assert_eq!((updated.text.as_str(), updated.refused), (inline, vec!["a".to_owned()]));
    }
}
