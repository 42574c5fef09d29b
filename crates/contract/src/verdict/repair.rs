//! Repair of JSON whose strings were pasted together.
//!
//! A script that pastes a path or the output of a command into a string leaves its quotes and line breaks as they are. The
//! string is still readable if a quote that ends it is followed by a sign of the object. Other faults are not repaired.

use crate::javascript::{self, JsonNode};

/// Parses an object after escaping the quotes and control characters inside its strings. Returns None if that is not
/// enough.
pub(super) fn parse_repaired(text: &str) -> Option<JsonNode> {
    let text = javascript::trim(text);
    if !text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let mut repaired = String::with_capacity(text.len() + 16);
    let mut is_inside = false;
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' if !is_inside || ends_string(&text[at + 1..]) => {
                is_inside = !is_inside;
                repaired.push('"');
            }
            '"' => repaired.push_str("\\\""),
            '\\' if is_inside => {
                repaired.push('\\');
                repaired.extend(signs.next().map(|(_, escaped)| escaped));
            }
            '\n' if is_inside => repaired.push_str("\\n"),
            '\r' if is_inside => repaired.push_str("\\r"),
            '\t' if is_inside => repaired.push_str("\\t"),
            _ => repaired.push(sign),
        }
    }
    javascript::parse(&repaired).ok()
}

/// Returns true if the text behind a quote continues the object.
fn ends_string(rest: &str) -> bool {
    let rest = rest.trim_start_matches(javascript::is_white_space);
    match rest.as_bytes().first() {
        Some(b':' | b'}' | b']') | None => true,
        // A comma in a sentence is not followed by a key.
        Some(b',') => {
            rest[1..].trim_start_matches(javascript::is_white_space).starts_with(['"', '{', '['])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> Option<String> {
        parse_repaired(text)?.get("reason")?.text().map(str::to_owned)
    }

    #[test]
    fn pasted_strings_are_repaired() {
        for (text, expected) in [
            (r#"{"reason":"no test of a"b.ts"}"#, r#"no test of a"b.ts"#),
            (r#"{"reason":"say "yes", or "no".","a":1}"#, r#"say "yes", or "no"."#),
            ("{\"reason\":\"one\ntwo\tthree\"}", "one\ntwo\tthree"),
            (r#"{"reason":"a \"b\" c"}"#, r#"a "b" c"#),
        ] {
            assert_eq!(reason(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_faults_stay() {
        for text in [r#"{"reason":"x",}"#, "{'reason': 'x'}", r#"{"reason":"x""#, "{}}", "x"] {
            assert_eq!(reason(text), None, "{text}");
        }
    }
}
