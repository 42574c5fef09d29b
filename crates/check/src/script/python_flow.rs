//! The exits of a Python program: the tests in front of them, and functions that return the exit code.

use std::collections::BTreeSet;

use super::program::ProgramReader;
use super::python_names::{PayloadNames, find_payload_names, read_key};
use super::tokens::{TokenKind, Tokens};

/// A reader for the conditions and functions of a program.
pub(super) struct PythonFlow<'a> {
    tokens: &'a Tokens<'a>,
    names: PayloadNames<'a>,
    /// The variables that hold a value of `tool_input`.
    values: BTreeSet<&'a str>,
}

/// Functions that search a text for a pattern.
const SEARCH_CALLS: [&str; 6] =
    ["search", "match", "fullmatch", "findall", "fnmatch", "fnmatchcase"];

/// Words and signs that may turn a test around.
const NEGATIVE_SIGNS: [&str; 11] =
    ["not", "is", "==", "!=", "<", ">", "<=", ">=", "or", "if", "lambda"];

impl<'a> PythonFlow<'a> {
    pub(super) fn new(tokens: &'a Tokens<'a>) -> Self {
        let names = find_payload_names(tokens);
        let program = ProgramReader { tokens };
        let is_value = |at: usize| is_input_value(tokens, &names, at);
        let values = program
            .names_holding(|at| is_value(at) || program.is_whole_value(at, &["\"\""]))
            .into_iter()
            .filter(|name| program.is_assigned(name, is_value))
            .collect();
        Self { tokens, names, values }
    }

    /// Returns the codes of `exit(name())`, each with the index of its `return`. None if the argument between two tokens is
    /// not the call of a function that returns only literal codes, or if the program reads no payload.
    pub(super) fn returned_codes(&self, start: usize, end: usize) -> Option<Vec<(usize, i32)>> {
        let tokens = self.tokens;
        if self.names.payloads.is_empty()
            || !tokens.is_name(start)
            || !tokens.has_sequence(start + 1, &["(", ")"])
            || start + 3 != end
        {
            return None;
        }
        let name = tokens.text(start);
        let mut definitions =
            (0..tokens.tokens.len()).filter(|at| tokens.has_sequence(*at, &["def", name, "("]));
        let definition = definitions.next().filter(|_| definitions.next().is_none())?;
        // A decorator or `async` in front changes the result.
        let is_plain = definition == 0
            || tokens.tokens[definition - 1].statement != tokens.tokens[definition].statement
                && !self.follows_decorator(definition);
        if !is_plain {
            return None;
        }
        let (statement, indent) =
            (tokens.tokens[definition].statement, tokens.tokens[definition].indent);
        let body = (definition..tokens.tokens.len())
            .skip_while(|at| tokens.tokens[*at].statement == statement)
            .take_while(|at| tokens.tokens[*at].indent > indent);
        let mut codes = Vec::new();
        for at in body {
            match tokens.text(at) {
                "return" if self.is_statement_end(at) => {}
                "return" if self.is_statement_end(at + 1) => {
                    codes.push((at, tokens.text(at + 1).parse().ok()?));
                }
                "return" | "def" | "lambda" | "class" | "yield" | "finally" => return None,
                _ => {}
            }
        }
        Some(codes)
    }

    fn follows_decorator(&self, at: usize) -> bool {
        let tokens = &self.tokens.tokens;
        let Some(before) = at.checked_sub(1) else { return false };
        let statement = tokens[before].statement;
        tokens
            .iter()
            .position(|token| token.statement == statement)
            .is_some_and(|first| self.tokens.is(first, "@"))
    }

    fn is_statement_end(&self, at: usize) -> bool {
        let tokens = &self.tokens.tokens;
        tokens.get(at + 1).is_none_or(|next| next.statement != tokens[at].statement)
    }

    /// Returns true if the statement of a token is in the block of an `if` whose condition finds something in the input of
    /// the tool.
    pub(super) fn is_under_input_test(&self, at: usize) -> bool {
        let tokens = &self.tokens.tokens;
        let indent = tokens[at].indent;
        let Some(last) = tokens[..at].iter().rposition(|token| token.indent < indent) else {
            return false;
        };
        let statement = tokens[last].statement;
        let first = tokens.iter().position(|token| token.statement == statement).unwrap_or(last);
        let is_condition = self.tokens.is(first, "if") || self.tokens.is(first, "elif");
        is_condition && self.tokens.is(last, ":") && self.is_input_test(first + 1, last)
    }

    /// Returns true if the condition between two tokens holds only if it finds something in the input of the tool.
    fn is_input_test(&self, start: usize, end: usize) -> bool {
        let tokens = self.tokens;
        if tokens.is(start, "(") && tokens.closing(start) == Some(end - 1) {
            return self.is_input_test(start + 1, end - 1);
        }
        self.split(start, end, "or").into_iter().all(|(start, end)| {
            self.split(start, end, "and").into_iter().any(|(start, end)| {
                let is_positive =
                    !(start..end).any(|at| NEGATIVE_SIGNS.iter().any(|sign| tokens.is(at, sign)));
                is_positive && (start..end).any(|at| self.finds_in_input(at, end))
            })
        })
    }

    /// Splits the tokens of a condition at an operator outside brackets.
    fn split(&self, start: usize, end: usize, operator: &str) -> Vec<(usize, usize)> {
        let (mut parts, mut part_start, mut at) = (Vec::new(), start, start);
        while at < end {
            if self.tokens.is(at, operator) {
                parts.push((part_start, at));
                part_start = at + 1;
            }
            let is_open = self.tokens.tokens[at].kind == TokenKind::Sign
                && matches!(self.tokens.text(at), "(" | "[" | "{");
            at = if is_open { self.tokens.closing(at).unwrap_or(end) } else { at } + 1;
        }
        parts.push((part_start, end));
        parts
    }

    /// Returns true for `… in value`, `….search(…, value)` and `value.startswith(…)`.
    fn finds_in_input(&self, at: usize, end: usize) -> bool {
        let tokens = self.tokens;
        if tokens.is(at, "in") {
            // `for part in value` tests nothing.
            return !(at > 1 && tokens.is(at - 2, "for")) && self.is_input(at + 1);
        }
        if tokens.is(at + 1, "(") && SEARCH_CALLS.contains(&tokens.text(at)) {
            let Some(close) = tokens.closing(at + 1).filter(|close| *close < end) else {
                return false;
            };
            return (at + 2..close)
                .any(|at| (tokens.is(at - 1, ",") || tokens.is(at - 1, "(")) && self.is_input(at));
        }
        self.values.iter().any(|name| tokens.is(at, name))
            && (tokens.has_sequence(at + 1, &[".", "startswith", "("])
                || tokens.has_sequence(at + 1, &[".", "endswith", "("]))
    }

    /// Returns true if a value that begins at a token is a part of the input of the tool.
    fn is_input(&self, at: usize) -> bool {
        let is_member = at > 0 && self.tokens.is(at - 1, ".");
        !is_member
            && (self.values.iter().any(|name| self.tokens.is(at, name))
                || is_input_value(self.tokens, &self.names, at))
    }
}

/// Returns true if a value begins with the read of a key of `tool_input`.
fn is_input_value(tokens: &Tokens<'_>, names: &PayloadNames<'_>, at: usize) -> bool {
    if names.inputs.iter().any(|name| tokens.is(at, name)) {
        return read_key(tokens, at, true).is_some();
    }
    names.payloads.iter().any(|name| tokens.is(at, name))
        && read_key(tokens, at, false).is_some_and(|read| read.key == "tool_input")
        && {
            let open = if tokens.is(at + 1, "[") { at + 1 } else { at + 3 };
            // The key behind `tool_input`.
            tokens.closing(open).is_some_and(|close| read_key(tokens, close, true).is_some())
        }
}

#[cfg(test)]
mod tests {
    use crate::script::{ExitFacts, ScriptContext, ScriptLanguage, read_script};

    fn exits(text: &str) -> ExitFacts {
        let report = read_script(text, ScriptLanguage::Python, &ScriptContext::default());
        assert!(report.is_read, "{text}");
        report.exits
    }

    /// Returns a guard with a condition, a message, and a line that ends the script.
    fn guard(condition: &str, message: &str, exit: &str) -> String {
        format!(
            "data = json.load(sys.stdin)\nti = data.get('tool_input', {{}})\n\
             path = ti.get('file_path', '')\ncommand = data['tool_input']['command']\n\
             name = data.get('tool_name')\nother = load()\nfor part in PARTS:\n    if {condition}:\n        \
             print('{message}', file=sys.stderr)\n        {exit}\n"
        )
    }

    #[test]
    fn exits_after_a_test_of_the_input_are_known() {
        for condition in [
            "part in path",
            "'rm' in command.lower()",
            "re.search(r'rm', command)",
            "PATTERN.search(command)",
            "(path.endswith('.env') or path.startswith('/etc'))",
            "any(p in command for p in PARTS)",
            "'x' in data.get('tool_input', {}).get('content', '')",
            "'push' in command and not clean()",
        ] {
            let text = guard(condition, "use another file", "sys.exit(1)");
            assert_eq!(exits(&text).failed_blocks().count(), 1, "{condition}");
            let known = format!("{text}sys.exit(2)\n");
            assert_eq!(exits(&known).failed_blocks().count(), 0, "{condition}");
        }
    }

    #[test]
    fn other_exits_with_1_are_unknown() {
        for (condition, message) in [
            ("part not in path", "use another file"),
            ("not path", "no path"),
            ("path == ''", "no path"),
            ("path in ('', None)", "no path"),
            ("'x' in name", "use another tool"),
            ("part in other", "use another file"),
            ("part in path or other", "use another file"),
            ("any(x() for p in path)", "use another file"),
            ("part in path", "warning: a lock file"),
        ] {
            let text = guard(condition, message, "sys.exit(1)");
            assert_eq!(exits(&text).exits.len(), 1, "{condition}");
            assert_eq!(exits(&text).failed_blocks().count(), 0, "{condition} {message}");
        }
        let silent = "data = json.load(sys.stdin)\ncommand = data['tool_input']['command']\n\
                      if 'rm' in command:\n    sys.exit(1)\n";
        assert_eq!(exits(silent).failed_blocks().count(), 0);
        let inner =
            guard("part in path", "x", "pass").replace("print", "if run():\n            print");
        assert_eq!(exits(&inner).failed_blocks().count(), 0);
        let parameter = "data = json.load(sys.stdin)\ndef check(command):\n    if 'rm' in command:\n        \
                         print('no', file=sys.stderr)\n        sys.exit(1)\n";
        assert_eq!(exits(parameter).failed_blocks().count(), 0);
        let decides =
            format!("{}show({{'decision': x}})\n", guard("part in path", "no", "sys.exit(1)"));
        assert_eq!(exits(&decides).failed_blocks().count(), 0);
    }

    #[test]
    fn returned_codes_are_exits() {
        let text = "data = json.load(sys.stdin)\ndef main() -> int:\n    if a:\n        print('Blocked: a', file=sys.stderr)\n        \
                    return 1\n    if b:\n        return\n    return 0\n\nsys.exit(main())\n";
        let facts = exits(text);
        assert!(!facts.has_computed_exit && facts.has_exit(0) && facts.has_exit(1));
        let blocks: Vec<&str> =
            facts.failed_blocks().map(|exit| &text[exit.range.clone()]).collect();
        assert_eq!(blocks, ["return 1"]);
        assert!(exits(&text.replace("return 0", "return 2")).has_exit(2));
        for (from, to) in [
            ("return 0", "return code"),
            ("return 0", "return 0 if a else 2"),
            ("return 0", "return inner()"),
            ("main())", "main(a))"),
            ("def main", "@wrap\ndef main"),
            ("def main", "async def main"),
            ("def main", "def main(): return 2\ndef main"),
            ("    return 0", "    def inner():\n        return 0"),
            ("def main", "def other"),
            ("sys.stdin", "file"),
        ] {
            let text = text.replace(from, to);
            let facts = exits(&text);
            assert!(facts.has_computed_exit && facts.failed_blocks().next().is_none(), "{text}");
        }
    }
}
