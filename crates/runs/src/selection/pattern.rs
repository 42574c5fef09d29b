//! Matching of name patterns of runners without a regular expression engine, which hooks do not link.
//!
//! Each function returns true if the pattern selects a name, and None if that cannot be decided.

/// Evaluates pytest's `-k`: words joined by `and`, `or`, `not` and brackets, each searched in the test's id without
/// case.
pub(super) fn keywords_match(expression: &str, test: &str) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let name = test.to_lowercase();
    let mut parser = KeywordParser { tokens: &tokens, at: 0, name: &name, depth: 0 };
    let value = parser.parse_or()?;
    (parser.at == tokens.len()).then_some(value)
}

/// Maximum depth of brackets in an expression.
const MAX_BRACKETS: usize = 16;

struct KeywordParser<'a> {
    tokens: &'a [&'a str],
    at: usize,
    name: &'a str,
    depth: usize,
}

impl KeywordParser<'_> {
    fn accept(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn parse_or(&mut self) -> Option<bool> {
        let mut value = self.parse_and()?;
        while self.accept("or") {
            let next = self.parse_and()?;
            value |= next;
        }
        Some(value)
    }

    fn parse_and(&mut self) -> Option<bool> {
        let mut value = self.parse_term()?;
        while self.accept("and") {
            let next = self.parse_term()?;
            value &= next;
        }
        Some(value)
    }

    fn parse_term(&mut self) -> Option<bool> {
        let mut negated = false;
        while self.accept("not") {
            negated = !negated;
        }
        let value = if self.accept("(") {
            self.depth += 1;
            if self.depth > MAX_BRACKETS {
                return None;
            }
            let value = self.parse_or()?;
            if !self.accept(")") {
                return None;
            }
            self.depth -= 1;
            value
        } else {
            let word = *self.tokens.get(self.at)?;
            if matches!(word, ")" | "and" | "or") {
                return None;
            }
            self.at += 1;
            self.name.contains(&word.to_lowercase())
        };
        Some(value != negated)
    }
}

/// Evaluates a simple regular expression: literal text, `^`, `$`, `.*` at an end, and alternatives, optionally in a
/// group.
pub(super) fn regex_matches(pattern: &str, name: &str) -> Option<bool> {
    let (pattern, from_start) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(rest) if !rest.ends_with('\\') => (rest, true),
        _ => (pattern, false),
    };
    let inner = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    // Without a group, `^` and `$` belong to the first and the last alternative alone.
    if inner.is_none() && pattern.contains('|') && (from_start || to_end) {
        return None;
    }
    let mut matched = false;
    for part in inner.unwrap_or(pattern).split('|') {
        let (part, from_start) = match part.strip_prefix(".*") {
            Some(rest) => (rest, false),
            None => (part.strip_prefix('^').unwrap_or(part), from_start || part.starts_with('^')),
        };
        let (part, to_end) = match part.strip_suffix(".*") {
            Some(rest) => (rest, false),
            None => (part.strip_suffix('$').unwrap_or(part), to_end || part.ends_with('$')),
        };
        let literal = literal_text(part)?;
        matched |= match (from_start, to_end) {
            (true, true) => name == literal,
            (true, false) => name.starts_with(&literal),
            (false, true) => name.ends_with(&literal),
            (false, false) => name.contains(&literal),
        };
    }
    Some(matched)
}

/// Evaluates Go's `-run`: one expression for each level of subtests. A subtest runs with its parents.
pub(super) fn go_run_matches(pattern: &str, test: &str) -> Option<bool> {
    let mut levels = test.split('/');
    for part in pattern.split('/') {
        // A pattern for levels below the failing test also runs it, but may match nothing.
        let level = levels.next()?;
        if !regex_matches(&part.replace(' ', "_"), level)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns the text of a pattern; None if it has meta characters.
fn literal_text(pattern: &str) -> Option<String> {
    let mut text = String::with_capacity(pattern.len());
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => {
                let escaped = signs.next()?;
                if escaped.is_alphanumeric() {
                    return None;
                }
                text.push(escaped);
            }
            '*' | '+' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '^' | '$' => return None,
            // A dot taken literally selects fewer names, which is the safe error.
            plain => text.push(plain),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyword_expressions() {
        let test = "tests/test_cart.py::TestCart::test_discount_zero";
        for (expression, expected) in [
            ("discount", Some(true)),
            ("DISCOUNT", Some(true)),
            ("discount and not zero", Some(false)),
            ("total or (discount and zero)", Some(true)),
            ("not slow", Some(true)),
            ("total", Some(false)),
            ("(discount", None),
            ("discount zero", None),
            ("", None),
        ] {
            assert_eq!(keywords_match(expression, test), expected, "{expression}");
        }
        assert_eq!(keywords_match(&"(".repeat(10_000), test), None);
    }

    #[test]
    fn simple_expressions() {
        for (pattern, name, expected) in [
            ("adds", "cart adds items", Some(true)),
            ("^cart adds items$", "cart adds items", Some(true)),
            ("^adds", "cart adds", Some(false)),
            ("^(TestA|TestB)$", "TestB", Some(true)),
            ("TestA|TestB", "TestBig", Some(true)),
            ("^TestA|TestB$", "TestB", None),
            ("Test.*Zero", "TestXZero", None),
            ("cart\\.total", "cart.total", Some(true)),
            ("\\d+", "1", None),
        ] {
            assert_eq!(regex_matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn go_patterns() {
        for (pattern, test, expected) in [
            ("TestCart", "TestCart/empty", Some(true)),
            ("^TestCart$/empty", "TestCart/empty_one", Some(true)),
            ("TestCart/full", "TestCart/empty", Some(false)),
            ("TestCart/empty/x", "TestCart/empty", None),
            ("TestTotal", "TestCart", Some(false)),
        ] {
            assert_eq!(go_run_matches(pattern, test), expected, "{pattern} {test}");
        }
    }
}
