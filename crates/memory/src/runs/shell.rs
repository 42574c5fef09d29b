//! Enough of a shell's syntax to tell its commands apart, and what one's end means for the next.

use std::iter::Peekable;
use std::str::Chars;

/// How deep `sh -c "…"` is followed.
const DEPTH: usize = 3;

/// What stands between a command and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joiner {
    /// `&&`: the next runs if this one succeeds.
    And,
    /// `||`: the next runs if this one fails.
    Or,
    /// `|`: the next reads what this one prints.
    Pipe,
    /// `;` or a line break: the next runs whatever happens.
    Then,
    /// `&`: nobody waits for this one.
    Background,
    /// Nothing follows.
    End,
}

/// One simple command, as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
    pub(crate) joiner: Joiner,
}

/// The simple commands of a line.
pub(crate) fn commands(line: &str) -> Vec<Simple> {
    let mut all = Vec::new();
    read(line, DEPTH, &mut all);
    all
}

fn read(line: &str, depth: usize, all: &mut Vec<Simple>) {
    for Simple { words, joiner } in split(line) {
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
            Some(script) if depth > 0 => {
                let before = all.len();
                read(script, depth - 1, all);
                // The script ends as its last command does.
                if let Some(last) = all[before..].last_mut() {
                    last.joiner = joiner;
                }
            }
            _ => all.push(Simple { words, joiner }),
        }
    }
}

/// Cuts a line at what parts commands, and commands at blanks; quotes hold together, redirections are left out.
fn split(line: &str) -> Vec<Simple> {
    let mut cut = Cut::default();
    // Words that end texts which begin on the next line, and are no commands: `cat > file <<EOF`.
    let mut documents: Vec<String> = Vec::new();
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
                let document = character == '<' && is_document(&characters);
                // `2>&1`, `> file`, `2>/dev/null`: neither the number nor the target is an argument.
                if cut.word.chars().all(|c| c.is_ascii_digit() || c == '&') {
                    cut.word.clear();
                    cut.open = false;
                }
                cut.end_word();
                while characters.next_if(|c| matches!(c, '>' | '<' | '&' | ' ' | '|')).is_some() {}
                let mut target = String::new();
                while let Some(c) = characters
                    .next_if(|c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&' | ')'))
                {
                    target.push(c);
                }
                if document && !cut.feeds_a_shell() {
                    let end = target.trim_start_matches('-').replace(['\'', '"', '\\'], "");
                    documents.push(end);
                }
            }
            '\n' if !documents.is_empty() => {
                cut.end_command(Joiner::Then);
                for end in documents.drain(..) {
                    pass_over(&mut characters, &end);
                }
            }
            '&' if characters.next_if_eq(&'&').is_some() => cut.end_command(Joiner::And),
            '&' => cut.end_command(Joiner::Background),
            '|' if characters.next_if_eq(&'|').is_some() => cut.end_command(Joiner::Or),
            '|' => {
                characters.next_if_eq(&'&');
                cut.end_command(Joiner::Pipe);
            }
            ';' | '\n' | '(' | ')' => cut.end_command(Joiner::Then),
            '#' if !cut.open => while characters.next_if(|c| *c != '\n').is_some() {},
            blank if blank.is_whitespace() => cut.end_word(),
            plain => {
                cut.open = true;
                cut.word.push(plain);
            }
        }
    }
    cut.end_command(Joiner::End);
    if let Some(last) = cut.commands.last_mut()
        && last.joiner == Joiner::Then
    {
        last.joiner = Joiner::End;
    }
    cut.commands
}

/// Whether `<` begins `<<EOF`, and not `<<<` or `< file`.
fn is_document(rest: &Peekable<Chars<'_>>) -> bool {
    let mut rest = rest.clone();
    rest.next() == Some('<') && rest.next() != Some('<')
}

/// Reads up to the line that is this word.
fn pass_over(characters: &mut Peekable<Chars<'_>>, end: &str) {
    while characters.peek().is_some() {
        let line: String = characters.by_ref().take_while(|c| *c != '\n').collect();
        if line.trim() == end {
            return;
        }
    }
}

#[derive(Default)]
struct Cut {
    commands: Vec<Simple>,
    words: Vec<String>,
    word: String,
    /// Whether a word has begun; it may be empty.
    open: bool,
}

impl Cut {
    /// Whether what the command reads are commands: `bash <<EOF`.
    fn feeds_a_shell(&self) -> bool {
        self.words.iter().any(|word| {
            ["bash", "sh", "zsh", "dash", "ssh"].contains(&word.rsplit('/').next().unwrap_or(""))
        })
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.open) {
            self.words.push(std::mem::take(&mut self.word));
        }
        self.word.clear();
    }

    fn end_command(&mut self, joiner: Joiner) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        // Behind `)`, `}`, `fi` and `done` stands what follows the command inside.
        let closing = matches!(words.as_slice(), [word] if matches!(word.as_str(), "}" | "fi" | "done" | "esac"));
        if words.is_empty() || closing {
            if let Some(last) = self.commands.last_mut()
                && last.joiner == Joiner::Then
                && !matches!(joiner, Joiner::Then | Joiner::End)
            {
                last.joiner = joiner;
            }
        } else {
            self.commands.push(Simple { words, joiner });
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
            commands.iter().map(|simple| simple.words.join("·")).collect::<Vec<_>>().join(" | ")
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
        assert_eq!(shown("cat > a <<'EOF' && b\npytest\nEOF\nc"), "cat | b | c");
        assert_eq!(shown("cat <<-EOF > a\npytest\n\tEOF\nc <<< d"), "cat | c");
        assert_eq!(shown("bash <<EOF\npytest\nEOF"), "bash | pytest | EOF");
        assert_eq!(shown("cat <<EOF\npytest"), "cat");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn what_follows_a_command_is_known() {
        use Joiner::{And, Background, End, Or, Pipe, Then};
        for (line, expected) in [
            ("a", &[End][..]),
            ("a && b || c; d | e & f", &[And, Or, Then, Pipe, Background, End]),
            ("(a; b) || true", &[Then, Or, End]),
            ("{ a; b; } | tail", &[Then, Pipe, End]),
            ("if a; then b; fi && c", &[Then, And, End]),
            ("bash -c 'a && b' || true", &[And, Or, End]),
            ("a 2>&1 |& tee log\n", &[Pipe, End]),
            ("a;", &[End]),
        ] {
            let joiners: Vec<Joiner> = commands(line).iter().map(|simple| simple.joiner).collect();
            assert_eq!(joiners, expected, "{line}");
        }
    }
}
