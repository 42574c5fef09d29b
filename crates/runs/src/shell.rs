//! A parser for the part of shell syntax that separates commands.
//!
//! It splits a line into simple commands with their words, redirections and here-documents, and keeps the operators
//! between them. It expands nothing: variables, globs and arithmetic stay as typed.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum depth to which `sh -c "…"`, `$(…)` and here-documents for a shell are followed.
const MAX_DEPTH: usize = 4;

/// The operator between a command and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joiner {
    /// `&&`: the next one runs if this one succeeds.
    And,
    /// `||`: the next one runs if this one fails.
    Or,
    /// `|`: the next one reads the output of this one.
    Pipe,
    /// `;` or a line break: the next one runs in any case.
    Then,
    /// `&`: the shell does not wait for this one.
    Background,
    /// `$(…)`: the output of this one becomes words of the next one.
    Substitution,
    /// The end of the line.
    End,
}

/// A redirection of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The stream that is redirected.
    pub stream: RedirectedStream,
    /// The other end.
    pub target: RedirectionTarget,
}

/// The stream of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectedStream {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// Standard output and standard error, `&>`.
    Both,
    /// Any other descriptor.
    Other,
}

/// The other end of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectionTarget {
    /// A file, overwritten.
    File(String),
    /// A file, appended to.
    Append(String),
    /// Another descriptor: `2>&1`.
    Descriptor(String),
    /// The text of a here-document or here-string.
    Text(String),
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words, without quotes, including variable assignments in front.
    pub words: Vec<String>,
    /// The redirections, in order.
    pub redirections: Vec<Redirection>,
    /// The operator before the next command.
    pub joiner: Joiner,
    /// Number of subshells, `(…)`, open around it.
    pub subshells: u16,
}

/// Parses a line into its simple commands, in typed order.
pub fn parse_commands(line: &str) -> Vec<SimpleCommand> {
    parse_nested(line, MAX_DEPTH)
}

fn parse_nested(line: &str, depth: usize) -> Vec<SimpleCommand> {
    let mut parser = ShellParser::new(line.chars().peekable(), depth);
    parser.parse_list(false);
    parser.commands
}

struct ShellParser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
    commands: Vec<SimpleCommand>,
    words: Vec<String>,
    redirections: Vec<Redirection>,
    word: String,
    /// True if a word has begun, which may be empty.
    in_word: bool,
    subshells: u16,
    /// Here-documents that begin on the next line: index of the redirection, and the word that ends the text.
    documents: Vec<(usize, String)>,
}

impl<'a> ShellParser<'a> {
    fn new(rest: Peekable<Chars<'a>>, depth: usize) -> Self {
        Self {
            rest,
            depth,
            commands: Vec::new(),
            words: Vec::new(),
            redirections: Vec::new(),
            word: String::new(),
            in_word: false,
            subshells: 0,
            documents: Vec::new(),
        }
    }

    /// Parses commands up to the end, or up to the `)` that closes a substitution.
    fn parse_list(&mut self, in_substitution: bool) {
        let mut open = 0_u32;
        while let Some(sign) = self.rest.next() {
            match sign {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => self.backticks(),
                '$' if self.rest.peek() == Some(&'\'') => {
                    self.rest.next();
                    self.single_quoted();
                }
                '$' if self.rest.peek() == Some(&'(') => {
                    self.rest.next();
                    self.substitution();
                }
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped),
                },
                '>' | '<' => self.redirection(sign),
                '&' if self.rest.peek() == Some(&'>') => {
                    self.end_word();
                    self.rest.next();
                    self.redirect_to(RedirectedStream::Both);
                }
                '&' if self.rest.next_if_eq(&'&').is_some() => self.end_command(Joiner::And),
                '&' => self.end_command(Joiner::Background),
                '|' if self.rest.next_if_eq(&'|').is_some() => self.end_command(Joiner::Or),
                '|' => {
                    if self.rest.next_if_eq(&'&').is_some() {
                        let target = RedirectionTarget::Descriptor("1".to_owned());
                        self.redirections
                            .push(Redirection { stream: RedirectedStream::Error, target });
                    }
                    self.end_command(Joiner::Pipe);
                }
                '\n' => {
                    self.end_command(Joiner::Then);
                    self.read_documents();
                }
                ';' => self.end_command(Joiner::Then),
                '(' => {
                    self.end_command(Joiner::Then);
                    self.subshells += 1;
                    open += 1;
                }
                ')' => {
                    self.end_command(Joiner::Then);
                    if in_substitution && open == 0 {
                        return;
                    }
                    self.subshells = self.subshells.saturating_sub(1);
                    open = open.saturating_sub(1);
                }
                '#' if !self.in_word => while self.rest.next_if(|sign| *sign != '\n').is_some() {},
                blank if blank.is_whitespace() => self.end_word(),
                plain => self.push(plain),
            }
        }
        self.end_command(Joiner::End);
        if let Some(last) = self.commands.last_mut()
            && last.joiner == Joiner::Then
        {
            last.joiner = Joiner::End;
        }
    }

    fn push(&mut self, sign: char) {
        self.in_word = true;
        self.word.push(sign);
    }

    fn single_quoted(&mut self) {
        self.in_word = true;
        self.word.extend(self.rest.by_ref().take_while(|sign| *sign != '\''));
    }

    fn double_quoted(&mut self) {
        self.in_word = true;
        while let Some(sign) = self.rest.next() {
            match sign {
                '"' => return,
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => self.word.push(escaped),
                    Some(other) => self.word.extend(['\\', other]),
                },
                '$' if self.rest.peek() == Some(&'(') => {
                    self.rest.next();
                    self.substitution();
                }
                '`' => self.backticks(),
                plain => self.word.push(plain),
            }
        }
    }

    fn backticks(&mut self) {
        self.in_word = true;
        let inner: String = self.rest.by_ref().take_while(|sign| *sign != '`').collect();
        if self.depth > 0 {
            let commands = parse_nested(&inner, self.depth - 1);
            self.take_substituted(commands);
        }
        self.word.push_str("$()");
    }

    /// Parses `$(…)` after its opening. `$((…))` is arithmetic and is skipped.
    fn substitution(&mut self) {
        self.in_word = true;
        self.word.push_str("$()");
        let arithmetic = self.rest.peek() == Some(&'(');
        if self.depth == 0 {
            // At the maximum depth, which bounds the recursion, the text is skipped.
            let mut open = 1_u32;
            for sign in self.rest.by_ref() {
                match sign {
                    '(' => open += 1,
                    ')' => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    return;
                }
            }
            return;
        }
        let rest = std::mem::replace(&mut self.rest, "".chars().peekable());
        let mut inner = ShellParser::new(rest, self.depth - 1);
        inner.parse_list(true);
        self.rest = inner.rest;
        if !arithmetic {
            self.take_substituted(inner.commands);
        }
    }

    fn take_substituted(&mut self, mut commands: Vec<SimpleCommand>) {
        if let Some(last) = commands.last_mut() {
            last.joiner = Joiner::Substitution;
        }
        for command in &mut commands {
            // A `cd` in a substitution does not last.
            command.subshells += self.subshells + 1;
        }
        self.commands.append(&mut commands);
    }

    fn redirection(&mut self, sign: char) {
        let number = self.word.parse::<u32>().ok().filter(|_| self.in_word);
        if number.is_some() {
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        if self.rest.peek() == Some(&'(') {
            // `<(…)`: its commands run, and their output goes elsewhere.
            self.rest.next();
            self.substitution();
            self.end_word();
            return;
        }
        let stream = match (number, sign) {
            (Some(0), _) | (None, '<') => RedirectedStream::Input,
            (Some(1) | None, _) => RedirectedStream::Output,
            (Some(2), _) => RedirectedStream::Error,
            _ => RedirectedStream::Other,
        };
        if sign == '<' && self.rest.next_if_eq(&'<').is_some() {
            if self.rest.next_if_eq(&'<').is_some() {
                let text = self.target_word();
                self.redirections
                    .push(Redirection { stream, target: RedirectionTarget::Text(text) });
            } else {
                self.rest.next_if_eq(&'-');
                let end = self.target_word();
                self.documents.push((self.redirections.len(), end));
                self.redirections
                    .push(Redirection { stream, target: RedirectionTarget::Text(String::new()) });
            }
            return;
        }
        self.redirect_to(stream);
    }

    /// Parses the rest of a redirection after its first sign.
    fn redirect_to(&mut self, stream: RedirectedStream) {
        let append = self.rest.next_if_eq(&'>').is_some();
        self.rest.next_if(|sign| matches!(sign, '|' | '<'));
        let duplicate = self.rest.next_if_eq(&'&').is_some();
        let target = self.target_word();
        let is_number = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit());
        let (stream, target) = match (duplicate, append) {
            (true, _) if is_number || target == "-" => {
                (stream, RedirectionTarget::Descriptor(target))
            }
            (true, _) => (RedirectedStream::Both, RedirectionTarget::File(target)),
            (false, true) => (stream, RedirectionTarget::Append(target)),
            (false, false) => (stream, RedirectionTarget::File(target)),
        };
        self.redirections.push(Redirection { stream, target });
    }

    /// Parses the word after a redirection, without its quotes.
    fn target_word(&mut self) -> String {
        while self.rest.next_if(|sign| *sign == ' ' || *sign == '\t').is_some() {}
        let mut target = String::new();
        while let Some(sign) = self.rest.next_if(|sign| {
            !sign.is_whitespace() && !matches!(sign, ';' | '|' | '&' | ')' | '(' | '<' | '>')
        }) {
            match sign {
                '\'' | '"' => {
                    target.extend(self.rest.by_ref().take_while(|next| *next != sign));
                }
                '\\' => target.extend(self.rest.next()),
                plain => target.push(plain),
            }
        }
        target
    }

    /// Reads the texts of here-documents, which begin after a line break. The text for a shell is parsed as commands.
    fn read_documents(&mut self) {
        for (number, end) in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            while self.rest.peek().is_some() {
                let line: String = self.rest.by_ref().take_while(|sign| *sign != '\n').collect();
                if line.trim() == end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            // The command is the last one with an empty text at this index; a pipe may follow it in the line.
            let owner = self.commands.iter_mut().rev().find(|command| {
                matches!(
                    command.redirections.get(number),
                    Some(Redirection { target: RedirectionTarget::Text(known), .. }) if known.is_empty()
                )
            });
            let Some(owner) = owner else { continue };
            if self.depth > 0 && owner.words.iter().any(|word| is_shell(word) || word == "ssh") {
                let inner = parse_nested(&text, self.depth - 1);
                self.commands.extend(inner);
            } else {
                owner.redirections[number].target = RedirectionTarget::Text(text);
            }
        }
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.in_word) {
            self.words.push(std::mem::take(&mut self.word));
        }
        self.word.clear();
    }

    fn end_command(&mut self, joiner: Joiner) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let redirections = std::mem::take(&mut self.redirections);
        // An operator after `)`, `}`, `fi` or `done` belongs to the last command inside.
        let closes = matches!(words.as_slice(), [word] if matches!(word.as_str(), "}" | "fi" | "done" | "esac"));
        if words.is_empty() || closes {
            if let Some(last) = self.commands.last_mut() {
                if last.joiner == Joiner::Then && !matches!(joiner, Joiner::Then | Joiner::End) {
                    last.joiner = joiner;
                }
                last.redirections.extend(redirections);
            }
            return;
        }
        let script = inline_script(&words).filter(|_| self.depth > 0);
        if let Some(script) = script {
            let mut inner = parse_nested(script, self.depth - 1);
            if let Some(last) = inner.last_mut() {
                // A script has the exit status of its last command.
                last.joiner = joiner;
                last.redirections.extend(redirections);
            }
            for command in &mut inner {
                command.subshells += self.subshells + 1;
            }
            self.commands.append(&mut inner);
        } else {
            let subshells = self.subshells;
            self.commands.push(SimpleCommand { words, redirections, joiner, subshells });
        }
    }
}

/// Returns the script of `bash -c SCRIPT`, also behind wrappers.
fn inline_script(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word.ends_with('c')
            && word[1..].bytes().all(|byte| byte.is_ascii_lowercase())
    })?;
    let shell = words[..at].iter().rev().find(|word| !word.starts_with('-'))?;
    is_shell(shell).then(|| words.get(at + 1).map(String::as_str))?
}

/// Returns true if a word starts a shell.
pub fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "dash" | "ash" | "ksh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_commands(line: &str) -> String {
        let commands = parse_commands(line);
        commands.iter().map(|command| command.words.join("·")).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn splits_as_a_shell() {
        for (line, expected) in [
            (
                "cd a && X=1 b 'c d' \"e \\\" f\" 2>&1 | tail -5",
                "cd·a | X=1·b·c d·e \" f | tail·-5",
            ),
            ("a > out.txt 2>/dev/null; b &", "a | b"),
            ("bash -lc 'cd x && pytest -q'", "cd·x | pytest·-q"),
            ("a \\\n  b # c\nd", "a·b | d"),
            ("a ''", "a·"),
            ("(a; b) || true", "a | b | true"),
            ("'open", "open"),
            ("cat > a <<'EOF' && b\npytest\nEOF\nc", "cat | b | c"),
            ("cat <<-EOF > a\npytest\n\tEOF\nc <<< d", "cat | c"),
            ("bash <<EOF\npytest\nEOF", "bash | pytest"),
            ("cat <<EOF\npytest", "cat"),
            ("", ""),
            ("out=$(pytest -q 2>&1); echo \"$out\"", "pytest·-q | out=$() | echo·$out"),
            (
                "git commit -m \"$(cat <<'EOF'\nIt's (done)\nEOF\n)\" && b",
                "cat | git·commit·-m·$() | b",
            ),
            ("echo $((1 + 2)) `date`", "date | echo·$()·$()"),
            ("diff <(a x) <(b y)", "a·x | b·y | diff·$()·$()"),
            ("a &> all.log; b >& 2", "a | b"),
        ] {
            assert_eq!(shown_commands(line), expected, "{line}");
        }
    }

    #[test]
    fn joiners_are_kept() {
        use Joiner::{And, Background, End, Or, Pipe, Substitution, Then};
        for (line, expected) in [
            ("a", &[End][..]),
            ("a && b || c; d | e & f", &[And, Or, Then, Pipe, Background, End]),
            ("(a; b) || true", &[Then, Or, End]),
            ("{ a; b; } | tail", &[Then, Pipe, End]),
            ("if a; then b; fi && c", &[Then, And, End]),
            ("bash -c 'a && b' || true", &[And, Or, End]),
            ("a 2>&1 |& tee log\n", &[Pipe, End]),
            ("a;", &[End]),
            ("x=$(a | b) && c", &[Pipe, Substitution, And, End]),
        ] {
            let joiners: Vec<Joiner> =
                parse_commands(line).iter().map(|command| command.joiner).collect();
            assert_eq!(joiners, expected, "{line}");
        }
    }

    #[test]
    fn redirections_are_kept() {
        let of = |line: &str| parse_commands(line).remove(0).redirections;
        let file = |name: &str| RedirectionTarget::File(name.to_owned());
        assert_eq!(
            of("a > out.txt 2>&1 >> 'b c' 2>/dev/null"),
            [
                Redirection { stream: RedirectedStream::Output, target: file("out.txt") },
                Redirection {
                    stream: RedirectedStream::Error,
                    target: RedirectionTarget::Descriptor("1".into())
                },
                Redirection {
                    stream: RedirectedStream::Output,
                    target: RedirectionTarget::Append("b c".into())
                },
                Redirection { stream: RedirectedStream::Error, target: file("/dev/null") },
            ]
        );
        assert_eq!(
            of("a &> x"),
            [Redirection { stream: RedirectedStream::Both, target: file("x") }]
        );
        let text = of("python3 - <<'EOF' | tail\nprint(1)\nEOF").remove(0).target;
        assert_eq!(text, RedirectionTarget::Text("print(1)\n".into()));
        assert_eq!(of("echo 2 > f")[0].target, file("f"));
        assert_eq!(of("(a; b) > f"), []);
        assert_eq!(parse_commands("(a; b) > f")[1].redirections[0].target, file("f"));
    }

    #[test]
    fn subshells_are_counted() {
        let depths: Vec<u16> =
            parse_commands("a; (cd b && c); d").iter().map(|command| command.subshells).collect();
        assert_eq!(depths, [0, 1, 1, 0]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed(line in "[a-z \"'`$(){}<>|&;\\\\\n#=.-]{0,80}|\\PC{0,80}") {
            for command in parse_commands(&line) {
                proptest::prop_assert!(!command.words.is_empty());
            }
        }
    }
}
