//! Enough of a shell's syntax to tell its commands apart.

/// How deep `sh -c "…"` is followed.
const DEPTH: usize = 3;

/// The simple commands of a line, as words.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    read(line, DEPTH, &mut all);
    all
}

fn read(line: &str, depth: usize, all: &mut Vec<Vec<String>>) {
    for words in split(line) {
        let script = words
            .iter()
            .position(|word| matches!(word.as_str(), "-c" | "-lc" | "-ec"))
            .filter(|at| {
                let shell = words[..*at].iter().rev().find(|word| !word.starts_with('-'));
                shell.is_some_and(|shell| {
                    ["bash", "sh", "zsh", "dash"].contains(&shell.rsplit('/').next().unwrap_or(""))
                })
            });
        match script.and_then(|at| words.get(at + 1)) {
            Some(script) if depth > 0 => read(script, depth - 1, all),
            _ => all.push(words),
        }
    }
}

/// Cuts a line at what parts commands, and commands at blanks; quotes hold together, redirections are left out.
fn split(line: &str) -> Vec<Vec<String>> {
    let mut cut = Cut::default();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                cut.open = true;
                cut.word.extend(characters.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                cut.open = true;
                while let Some(c) = characters.next().filter(|c| *c != '"') {
                    let escaped =
                        c == '\\' && matches!(characters.peek(), Some('"' | '\\' | '$' | '`'));
                    cut.word.push(if escaped { characters.next().unwrap_or(c) } else { c });
                }
            }
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped) => {
                    cut.open = true;
                    cut.word.push(escaped);
                }
            },
            '>' | '<' => {
                // `2>&1`, `> file`, `2>/dev/null`: neither the number nor the target is an argument.
                if cut.word.chars().all(|c| c.is_ascii_digit() || c == '&') {
                    cut.word.clear();
                    cut.open = false;
                }
                cut.end_word();
                while characters.next_if(|c| matches!(c, '>' | '<' | '&' | ' ' | '|')).is_some() {}
                while characters
                    .next_if(|c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&' | ')'))
                    .is_some()
                {}
            }
            '&' | '|' | ';' | '\n' | '(' | ')' => cut.end_command(),
            '#' if !cut.open => while characters.next_if(|c| *c != '\n').is_some() {},
            blank if blank.is_whitespace() => cut.end_word(),
            plain => {
                cut.open = true;
                cut.word.push(plain);
            }
        }
    }
    cut.end_command();
    cut.commands
}

#[derive(Default)]
struct Cut {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
    /// Whether a word has begun; it may be empty.
    open: bool,
}

impl Cut {
    fn end_word(&mut self) {
        if std::mem::take(&mut self.open) {
            self.words.push(std::mem::take(&mut self.word));
        }
        self.word.clear();
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_as_a_shell_cuts_them() {
        let shown = |line: &str| {
            let commands = commands(line);
            commands.iter().map(|words| words.join("·")).collect::<Vec<_>>().join(" | ")
        };
        assert_eq!(
            shown("cd a && X=1 b 'c d' \"e \\\" f\" 2>&1 | tail -5"),
            "cd·a | X=1·b·c d·e \" f | tail·-5"
        );
        assert_eq!(shown("a > out.txt 2>/dev/null; b &"), "a | b");
        assert_eq!(shown("bash -lc 'cd x && pytest -q'"), "cd·x | pytest·-q");
        assert_eq!(shown("a \\\n  b # c\nd"), "a·b | d");
        assert_eq!(shown("a ''"), "a·");
        assert_eq!(shown("(a; b) || true"), "a | b | true");
        assert_eq!(shown("'open"), "open");
        assert_eq!(shown(""), "");
    }
}
