//! The exits of shell text and the messages in front of them.

use std::ops::Range;

use super::super::exits::{ExitFacts, ExitLiteral, mentions_decision, says_denied, says_warning};
use super::super::shell::{BlockKind, Redirect, Word};
use super::ShellReader;

impl ShellReader<'_> {
    pub(super) fn find_exits(&self, can_deny: bool) -> ExitFacts {
        let mut facts = ExitFacts { has_denial: can_deny, ..ExitFacts::default() };
        let shebang = self.text.lines().next().unwrap_or_default();
        facts.sets_errexit = shebang.starts_with("#!")
            && shebang.split_ascii_whitespace().skip(1).any(is_errexit_option);
        let input_variables = self.input_variables();
        for (index, command) in self.shell.commands.iter().enumerate() {
            match command.name().as_deref() {
                Some("set") => {
                    let words: Vec<String> =
                        command.words[1..].iter().filter_map(Word::literal).collect();
                    facts.sets_errexit |= words
                        .iter()
                        .take_while(|word| *word != "--")
                        .any(|word| is_errexit_option(word) || word == "errexit");
                }
                Some("trap") => facts.has_trap = true,
                Some("exit") => {
                    let is_inner = self.shell.blocks_around(command).any(|block| {
                        matches!(block.kind, BlockKind::Substitution | BlockKind::Subshell)
                    });
                    if is_inner {
                        continue;
                    }
                    let code = command.words.get(1).and_then(Word::literal);
                    match code.and_then(|code| code.parse().ok()) {
                        Some(code) => {
                            let reason = self.stderr_text_before(index);
                            let says_denied = reason
                                .as_ref()
                                .is_some_and(|range| says_denied(&self.text[range.clone()]));
                            let tests_input = reason
                                .as_ref()
                                .is_some_and(|range| !says_warning(&self.text[range.clone()]))
                                && !mentions_decision(self.text)
                                && self.is_under_input_test(command, &input_variables);
                            let range = command.range.clone();
                            facts.exits.push(ExitLiteral {
                                range,
                                code,
                                reason,
                                says_denied,
                                tests_input,
                            });
                        }
                        None => facts.has_computed_exit = true,
                    }
                }
                Some("exec") if command.words.len() > 1 => facts.has_computed_exit = true,
                _ => {}
            }
        }
        // A script that never exits with 0 may be no guard.
        if !facts.has_exit(0) {
            facts.exits.iter_mut().for_each(|exit| exit.tests_input = false);
        }
        facts
    }

    /// Returns the command directly before another one in the same block, if it writes to stderr.
    fn stderr_text_before(&self, index: usize) -> Option<Range<usize>> {
        let command = &self.shell.commands[index];
        let previous = self.shell.commands[..index]
            .iter()
            .rev()
            .find(|previous| previous.block == command.block)?;
        let writes = matches!(previous.name().as_deref(), Some("echo" | "printf" | "cat"))
            && previous.redirect(1).is_some_and(Redirect::is_to_stderr);
        writes.then(|| {
            let heredoc = previous.redirect(0).and_then(|redirect| redirect.heredoc.as_ref());
            let end = heredoc.map_or(previous.range.end, |heredoc| heredoc.body.end);
            previous.range.start..end
        })
    }
}

fn is_errexit_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        letters.contains('e') && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
    })
}
