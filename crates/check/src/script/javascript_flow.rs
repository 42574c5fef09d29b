//! The order in which the statements of a JavaScript program run, as far as its blocks show it.

use super::exits::says_warning;
use super::tokens::{TokenKind, Tokens};

/// A reader for blocks and conditions.
pub(super) struct FlowReader<'a> {
    pub(super) tokens: &'a Tokens<'a>,
}

/// Calls that test a text for a part of it.
const TEXT_TESTS: [&str; 4] = ["test", "includes", "startsWith", "match"];

impl FlowReader<'_> {
    /// Returns the open brackets around a token, the outermost first.
    fn open_brackets(&self, at: usize) -> Vec<usize> {
        let mut open = Vec::new();
        for index in 0..at {
            if self.tokens.tokens[index].kind != TokenKind::Sign {
                continue;
            }
            match self.tokens.text(index) {
                "(" | "[" | "{" => open.push(index),
                ")" | "]" | "}" => drop(open.pop()),
                _ => {}
            }
        }
        open
    }

    /// Returns the index of the bracket that a closing bracket closes.
    fn opening(&self, close: usize) -> Option<usize> {
        (0..close).rev().find(|open| {
            matches!(self.tokens.text(*open), "(" | "[" | "{")
                && self.tokens.closing(*open) == Some(close)
        })
    }

    /// Returns the keyword in front of the parentheses that end before a token: `if`, `while`, a function name.
    fn keyword_before(&self, at: usize) -> Option<&str> {
        let close = at.checked_sub(1).filter(|close| self.tokens.is(*close, ")"))?;
        let open = self.opening(close)?;
        Some(self.tokens.text(open.checked_sub(1)?))
    }

    /// Returns true if a token begins a statement that is not the only statement of a condition or loop.
    fn is_plain_statement(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        let tokens = self.tokens;
        match tokens.text(before) {
            // The block of a `switch` has several paths.
            "{" => return self.is_block(before) && self.keyword_before(before) != Some("switch"),
            ";" | "}" => return true,
            _ => {}
        }
        let gap = &tokens.source[tokens.tokens[before].range.end..tokens.tokens[at].range.start];
        let is_value = match tokens.tokens[before].kind {
            TokenKind::Sign => tokens.is(before, "]") || tokens.is(before, ")"),
            TokenKind::Name => !matches!(tokens.text(before), "else" | "do" | "return" | "await"),
            _ => true,
        };
        let is_condition = matches!(self.keyword_before(at), Some("if" | "while" | "for" | "with"));
        gap.contains('\n') && is_value && !is_condition
    }

    /// Returns true if a brace opens a block of statements, not an object.
    fn is_block(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1) else { return true };
        matches!(
            self.tokens.text(before),
            ")" | "else" | "try" | "finally" | ";" | "}" | "{" | "=>"
        )
    }

    /// Returns true if the call at `first` has always run when the call at `second` runs.
    pub(super) fn is_always_before(&self, first: usize, second: usize) -> bool {
        let tokens = self.tokens;
        let around = self.open_brackets(first);
        let mut inner = self.open_brackets(second).into_iter();
        let is_common = around.iter().all(|open| inner.next() == Some(*open));
        let in_switch = around.last().is_some_and(|open| {
            tokens.is(*open, "{") && self.keyword_before(*open) == Some("switch")
        });
        let is_branch = |open: usize| {
            tokens.is(open, "{")
                && (open > 0 && matches!(tokens.text(open - 1), "else" | "try")
                    || self.keyword_before(open) == Some("if"))
        };
        first < second
            && is_common
            && !in_switch
            && inner.all(is_branch)
            && self.is_plain_statement(first)
    }

    /// Returns true if the statement before an exit is in the block of an `if` whose condition finds something in the
    /// input of the tool.
    pub(super) fn is_under_input_test(&self, exit: usize) -> bool {
        let tokens = self.tokens;
        let Some(block) = self.open_brackets(exit).pop().filter(|open| tokens.is(*open, "{"))
        else {
            return false;
        };
        let Some(close) = block.checked_sub(1).filter(|_| self.keyword_before(block) == Some("if"))
        else {
            return false;
        };
        let Some(open) = self.opening(close) else { return false };
        let body = &tokens.source[tokens.tokens[block].range.end..tokens.tokens[exit].range.start];
        let is_plain = !(open..close)
            .any(|at| ["!", "!=", "!==", "||", "===", "=="].iter().any(|sign| tokens.is(at, sign)));
        !says_warning(body) && is_plain && (open..close).any(|at| self.is_input_test(at, open))
    }

    /// Returns true for `….test(name)` and `name.includes(…)`, where the name holds a part of the input of the tool.
    fn is_input_test(&self, at: usize, open: usize) -> bool {
        let tokens = self.tokens;
        let is_call = tokens.is(at, ".")
            && TEXT_TESTS.contains(&tokens.text(at + 1))
            && tokens.is(at + 2, "(");
        let name = if tokens.is(at + 1, "test") { at + 3 } else { at.saturating_sub(1) };
        is_call && name > open && tokens.is_name(name) && self.holds_input(tokens.text(name))
    }

    /// Returns true if a variable is declared once, with a value that reads `tool_input`.
    fn holds_input(&self, name: &str) -> bool {
        let tokens = self.tokens;
        let mut declared = (1..tokens.tokens.len()).filter(|at| {
            tokens.is(*at, name)
                && ["const", "let", "var"].iter().any(|word| tokens.is(at - 1, word))
        });
        let Some(first) = declared.next().filter(|at| tokens.is(at + 1, "=")) else { return false };
        let statement = tokens.tokens[first].statement;
        declared.next().is_none()
            && (first + 2..tokens.tokens.len())
                .take_while(|at| tokens.tokens[*at].statement == statement)
                .any(|at| tokens.is(at, "tool_input"))
    }
}

#[cfg(test)]
mod tests {
    use crate::script::{ScriptContext, ScriptLanguage, ScriptReport, read_script};

    fn read(text: &str) -> ScriptReport {
        read_script(text, ScriptLanguage::JavaScript, &ScriptContext::default())
    }

    const ANSWER: &str = "console.log(JSON.stringify({decision: 'block', reason: 'x'}));\n";

    #[test]
    fn text_on_the_same_path_is_noise() {
        for before in [
            "console.log('checking');\n",
            "const a = b\nconsole.log('checking')\n",
            "process.stdout.write(`checking ${a}\\n`);\n",
            "if (a) { b(); }\nconsole.log('checking');\n",
        ] {
            let plain = read(&format!("{before}{ANSWER}"));
            assert_eq!(plain.noise.len(), 1, "{before}");
            let nested =
                read(&format!("{before}if (a) {{\n  try {{ {ANSWER} }} catch (e) {{}}\n}}"));
            assert_eq!(nested.noise.len(), 1, "{before}");
        }
    }

    #[test]
    fn text_on_another_path_is_no_noise() {
        for text in [
            format!("if (a) console.log('nothing');\n{ANSWER}"),
            format!("if (a)\n  console.log('nothing')\nelse\n  {ANSWER}"),
            format!("if (a) {{ console.log('nothing'); process.exit(0); }}\n{ANSWER}"),
            format!("function usage() {{ console.log('usage'); }}\n{ANSWER}"),
            format!("console.log('usage');\nfunction answer() {{ {ANSWER} }}"),
            format!("switch (a) {{ case 1: b(); console.log('one'); break; default: {ANSWER} }}"),
            format!("console.error('checking');\n{ANSWER}"),
            format!("console.log('{{}}');\n{ANSWER}"),
            format!("if (a) return console.log('nothing');\n{ANSWER}"),
            format!("{ANSWER}console.log('done');\n"),
        ] {
            let report = read(&text);
            assert!(report.answers.len() == 1 && report.noise.is_empty(), "{text}");
        }
    }

    #[test]
    fn exits_after_a_test_of_the_input_are_known() {
        let script = |condition: &str, message: &str| {
            format!(
                "const command = payload.tool_input?.command || '';\nconst other = 1;\n\
                 if ({condition}) {{\n  console.error('{message}');\n  process.exit(1);\n}}\n"
            )
        };
        let tests = |text: &str| read(text).exits.failed_blocks().count();
        for condition in
            ["/push/.test(command)", "command.includes('push')", "a && command.startsWith('rm')"]
        {
            assert_eq!(tests(&script(condition, "use a branch")), 1, "{condition}");
        }
        for (condition, message) in [
            ("!command", "no command"),
            ("!/ok/.test(command)", "unknown"),
            ("/push/.test(other)", "use a branch"),
            ("command.length > 3", "long"),
            ("/push/.test(command)", "warning: this pushes"),
        ] {
            assert_eq!(tests(&script(condition, message)), 0, "{condition} {message}");
        }
    }
}
