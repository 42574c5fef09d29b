//! A reader for shell text: simple commands, their words and redirections, and the blocks around them.
//!
//! It reads what a rule needs and gives up on the rest: [`parse_shell`] returns None for text that it cannot read to
//! the end. It expands nothing and does not read the text inside backquotes.

use std::collections::BTreeMap;
use std::ops::Range;

mod compound;
mod word;

pub(super) use word::{Part, Quote, Word, name_length};

/// Depth of nested constructs at which the reader gives up.
const MAX_DEPTH: usize = 60;

/// Shell text as a list of simple commands, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct ShellText {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) blocks: Vec<Block>,
    /// The tests of branches, by the index of the block.
    pub(super) branch_tests: BTreeMap<usize, BranchTest>,
    /// True if a part was not read: backquotes, or substitutions inside `${…}`.
    pub(super) has_unread_parts: bool,
    /// Every expansion of a variable outside here-documents.
    pub(super) variables: Vec<VariableUse>,
    /// Constructs that a POSIX shell does not have.
    pub(super) bash_syntax: Vec<(Range<usize>, BashConstruct)>,
}

/// A construct of bash that other shells, such as dash, reject or read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BashConstruct {
    /// `[[ … ]]`
    DoubleBrackets,
    /// `<<< text`
    HereString,
    /// `<(…)` or `>(…)`
    ProcessSubstitution,
    /// `&> file`: another shell starts the command in the background.
    RedirectBoth,
    /// `|&`
    PipeBoth,
    /// `name=(…)`
    Array,
    /// `source`
    Source,
    /// `set -o pipefail`
    Pipefail,
    /// `((…))`
    Arithmetic,
    /// `function name`
    FunctionKeyword,
    /// `${name//a/b}`, `${name^^}`, `${name,,}` or `${name:1:2}`
    Expansion,
}

impl BashConstruct {
    /// Returns the construct as an author writes it.
    pub const fn description(self) -> &'static str {
        match self {
            Self::DoubleBrackets => "`[[ … ]]`",
            Self::HereString => "`<<<`",
            Self::ProcessSubstitution => "`<( … )`",
            Self::RedirectBoth => "`&>`",
            Self::PipeBoth => "`|&`",
            Self::Array => "an array",
            Self::Source => "`source`",
            Self::Pipefail => "`pipefail`",
            Self::Arithmetic => "`(( … ))`",
            Self::FunctionKeyword => "`function`",
            Self::Expansion => "this expansion of a variable",
        }
    }
}

/// An expansion of a variable.
#[derive(Debug)]
pub(super) struct VariableUse {
    pub(super) name: String,
    pub(super) range: Range<usize>,
    pub(super) modifier: String,
}

/// A list of commands between two delimiters.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) parent: Option<usize>,
    pub(super) kind: BlockKind,
    /// True if the output does not go where the output of the surrounding block goes.
    pub(super) is_captured: bool,
    /// True if the input is not the input of the surrounding block.
    pub(super) is_fed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    Root,
    Substitution,
    Group,
    Subshell,
    /// The condition, a branch or the body of `if`, `case` or a loop.
    Branch,
    /// The condition of `if` or of a loop.
    Condition,
    Function(String),
}

/// The test that leads into a branch.
#[derive(Debug)]
pub(super) enum BranchTest {
    /// The word of a `case` and the patterns of the branch.
    Patterns { subject: Word, patterns: Vec<Word> },
    /// The condition of an `if`: the index of its block.
    Condition(usize),
}

/// A program call or an assignment.
#[derive(Debug)]
pub(super) struct SimpleCommand {
    pub(super) range: Range<usize>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) block: usize,
    pub(super) before: Separator,
    pub(super) after: Separator,
}

#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// None for an array or an element of one.
    pub(super) value: Option<Word>,
}

#[derive(Debug)]
pub(super) struct Redirect {
    /// The redirected descriptor.
    pub(super) descriptor: u32,
    pub(super) operator: &'static str,
    pub(super) target: Word,
    pub(super) heredoc: Option<Heredoc>,
}

#[derive(Debug, Clone)]
pub(super) struct Heredoc {
    pub(super) body: Range<usize>,
    /// True if the delimiter is quoted, so that nothing in the body is expanded.
    pub(super) is_literal: bool,
}

/// The operator between two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// Start, end, newline or `;`.
    Sequence,
    Pipe,
    And,
    Or,
    Background,
}

impl SimpleCommand {
    /// Returns the name of the program, if it is literal.
    pub(super) fn name(&self) -> Option<String> {
        self.words.first()?.literal()
    }

    /// Returns the redirection of a descriptor.
    pub(super) fn redirect(&self, descriptor: u32) -> Option<&Redirect> {
        self.redirects.iter().rev().find(|redirect| {
            redirect.descriptor == descriptor || (descriptor > 0 && redirect.operator == "&>")
        })
    }
}

impl Redirect {
    /// Returns true for `>&2` and `> /dev/stderr`.
    pub(super) fn is_to_stderr(&self) -> bool {
        match (self.operator, self.target.literal().as_deref()) {
            (">&", Some("2")) => true,
            (">" | ">>", Some(target)) => target == "/dev/stderr",
            _ => false,
        }
    }

    /// Returns true for a redirection into `/dev/null`.
    pub(super) fn is_to_null(&self) -> bool {
        self.target.literal().as_deref() == Some("/dev/null")
    }
}

impl ShellText {
    /// Returns the blocks around a command, from the inside out.
    pub(super) fn blocks_around(&self, command: &SimpleCommand) -> impl Iterator<Item = &Block> {
        let mut next = Some(command.block);
        std::iter::from_fn(move || {
            let block = &self.blocks[next?];
            next = block.parent;
            Some(block)
        })
    }

    /// Returns true if a command runs once, in sequence, whenever the text runs to it.
    pub(super) fn is_at_top(&self, command: &SimpleCommand) -> bool {
        self.blocks[command.block].kind == BlockKind::Root
    }
}

/// Reads shell text. Returns None if it cannot be read to the end.
pub(super) fn parse_shell(text: &str) -> Option<ShellText> {
    let mut reader =
        Reader { text, at: 0, depth: 0, pending: Vec::new(), out: ShellText::default() };
    let root = reader.add_block(None, BlockKind::Root);
    let end = reader.read_list(root)?;
    (end == ListEnd::Text && reader.pending.is_empty()).then_some(reader.out)
}

/// The token that ended a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListEnd {
    Text,
    Paren,
    CaseItem,
    Keyword(&'static str),
}

const CLOSING_KEYWORDS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// A here-document whose body starts on the next line: the command, its redirection, and the delimiter.
struct PendingHeredoc {
    command: usize,
    redirect: usize,
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
}

pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    pending: Vec<PendingHeredoc>,
    out: ShellText,
}

impl Reader<'_> {
    fn add_block(&mut self, parent: Option<usize>, kind: BlockKind) -> usize {
        let is_captured = kind == BlockKind::Substitution;
        self.out.blocks.push(Block { parent, kind, is_captured, is_fed: false });
        self.out.blocks.len() - 1
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.rest().starts_with("\\\n") => self.at += 2,
                Some(b'#') => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => return,
            }
        }
    }

    /// Skips a newline and the bodies of the here-documents that start behind it.
    fn skip_newline(&mut self) -> Option<()> {
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let body = loop {
                let rest = self.rest();
                if rest.is_empty() {
                    return None;
                }
                let line_length = rest.find('\n').map_or(rest.len(), |end| end + 1);
                let line = rest[..line_length].trim_end_matches(['\n', '\r']);
                let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { line };
                let line_start = self.at;
                let is_end = line == pending.delimiter;
                self.at += line_length;
                if is_end {
                    break start..line_start;
                }
            };
            let command = self.out.commands.get_mut(pending.command)?;
            command.redirects.get_mut(pending.redirect)?.heredoc =
                Some(Heredoc { body, is_literal: pending.is_literal });
        }
        Some(())
    }

    fn read_list(&mut self, block: usize) -> Option<ListEnd> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut before = Separator::Sequence;
        let end = loop {
            self.skip_blanks();
            match self.peek() {
                None => break ListEnd::Text,
                Some(b'\n') => {
                    self.skip_newline()?;
                    continue;
                }
                Some(b')') => {
                    self.at += 1;
                    break ListEnd::Paren;
                }
                Some(b';') => {
                    if self.eat(";;&") || self.eat(";;") || self.eat(";&") {
                        break ListEnd::CaseItem;
                    }
                    self.at += 1;
                    before = Separator::Sequence;
                    continue;
                }
                _ => {}
            }
            if let Some(keyword) = self.eat_keyword(&CLOSING_KEYWORDS) {
                break ListEnd::Keyword(keyword);
            }
            let first_block = self.out.blocks.len();
            let simple = self.read_command(block, before)?;
            let after = self.read_separator()?;
            if let Some(simple) = simple {
                self.out.commands.get_mut(simple)?.after = after;
            } else {
                // The blocks of a compound command: only those directly in this list are its own.
                for index in first_block..self.out.blocks.len() {
                    let new = &mut self.out.blocks[index];
                    if new.parent == Some(block) && new.kind != BlockKind::Substitution {
                        new.is_captured |= after == Separator::Pipe;
                        new.is_fed |= before == Separator::Pipe;
                    }
                }
            }
            before = after;
        };
        self.depth -= 1;
        Some(end)
    }

    fn read_separator(&mut self) -> Option<Separator> {
        self.skip_blanks();
        let separator = if self.eat("||") {
            Separator::Or
        } else if self.eat("&&") {
            Separator::And
        } else if self.rest().starts_with("|&") {
            self.out.bash_syntax.push((self.at..self.at + 2, BashConstruct::PipeBoth));
            self.at += 2;
            Separator::Pipe
        } else if self.eat("|") {
            Separator::Pipe
        } else if self.eat("&") {
            Separator::Background
        } else {
            return match self.peek() {
                None | Some(b'\n' | b';' | b')') => Some(Separator::Sequence),
                _ => None,
            };
        };
        if separator == Separator::Background {
            return Some(separator);
        }
        // A pipeline or a list continues on the next line.
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                break;
            }
            self.skip_newline()?;
        }
        Some(separator)
    }

    /// Returns the keyword at the current position, and goes behind it.
    fn eat_keyword(&mut self, keywords: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let word = &rest[..end.unwrap_or(rest.len())];
        let keyword = keywords.iter().find(|keyword| **keyword == word)?;
        self.at += keyword.len();
        Some(keyword)
    }

    /// Reads a command. Returns the index of a simple command, None for a compound command.
    #[expect(clippy::option_option, reason = "the outer None is unreadable text")]
    fn read_command(&mut self, block: usize, before: Separator) -> Option<Option<usize>> {
        const OPENING: [&str; 11] =
            ["if", "while", "until", "for", "select", "case", "{", "function", "!", "time", "[["];
        self.skip_blanks();
        let start = self.at;
        if self.rest().starts_with("((") {
            let end = self.rest().find("))")?;
            self.at += end + 2;
            self.out.bash_syntax.push((start..self.at, BashConstruct::Arithmetic));
            self.read_compound_redirects(block, self.out.blocks.len())?;
            return Some(None);
        }
        if self.eat("(") {
            let first = self.out.blocks.len();
            let inner = self.add_block(Some(block), BlockKind::Subshell);
            self.expect_list(inner, ListEnd::Paren)?;
            self.read_compound_redirects(block, first)?;
            return Some(None);
        }
        let first = self.out.blocks.len();
        match self.eat_keyword(&OPENING) {
            None => return self.read_simple(block, before),
            Some("!" | "time") => return self.read_command(block, before),
            Some("[[") => {
                self.out.bash_syntax.push((start..self.at, BashConstruct::DoubleBrackets));
                self.skip_double_brackets(block)?;
            }
            Some("{") => {
                let inner = self.add_block(Some(block), BlockKind::Group);
                self.expect_list(inner, ListEnd::Keyword("}"))?;
            }
            Some("function") => {
                self.out.bash_syntax.push((start..self.at, BashConstruct::FunctionKeyword));
                self.skip_blanks();
                let name = self.read_word(block)?.literal()?;
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.eat(")").then_some(())?;
                }
                return self.read_function(block, name);
            }
            Some("if") => {
                let mut condition = Some(self.read_condition(block)?);
                loop {
                    let branch = self.add_block(Some(block), BlockKind::Branch);
                    if let Some(condition) = condition.take() {
                        self.out.branch_tests.insert(branch, BranchTest::Condition(condition));
                    }
                    match self.read_list(branch)? {
                        ListEnd::Keyword("fi") => break,
                        ListEnd::Keyword("else") => {}
                        ListEnd::Keyword("elif") => condition = Some(self.read_condition(block)?),
                        _ => return None,
                    }
                }
            }
            Some("while" | "until") => {
                let condition = self.add_block(Some(block), BlockKind::Condition);
                self.expect_list(condition, ListEnd::Keyword("do"))?;
                let body = self.add_block(Some(block), BlockKind::Branch);
                self.expect_list(body, ListEnd::Keyword("done"))?;
            }
            Some("for" | "select") => {
                self.skip_blanks();
                if self.rest().starts_with("((") {
                    let end = self.rest().find("))")?;
                    self.at += end + 2;
                } else {
                    // The variable and its values.
                    loop {
                        self.skip_blanks();
                        match self.peek()? {
                            b';' | b'\n' => break,
                            _ => self.skip_word(block)?,
                        }
                    }
                }
                let head = self.add_block(Some(block), BlockKind::Branch);
                self.expect_list(head, ListEnd::Keyword("do"))?;
                let body = self.add_block(Some(block), BlockKind::Branch);
                self.expect_list(body, ListEnd::Keyword("done"))?;
            }
            Some("case") => self.read_case(block)?,
            Some(_) => return None,
        }
        self.read_compound_redirects(block, first)?;
        Some(None)
    }

    fn expect_list(&mut self, block: usize, end: ListEnd) -> Option<()> {
        (self.read_list(block)? == end).then_some(())
    }

    /// Skips a word. None if there is none, so that no loop waits for one.
    fn skip_word(&mut self, block: usize) -> Option<()> {
        self.read_filled_word(block).map(drop)
    }

    fn read_filled_word(&mut self, block: usize) -> Option<Word> {
        self.read_word(block).filter(|word| !word.range.is_empty())
    }

    fn push_command(&mut self, block: usize, before: Separator) -> usize {
        self.out.commands.push(SimpleCommand {
            range: self.at..self.at,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            block,
            before,
            after: Separator::Sequence,
        });
        self.out.commands.len() - 1
    }
}
