//! Compound commands of shell text: `if`, `case`, `[[ … ]]`, functions, and the redirections behind them.

use super::{BlockKind, BranchTest, ListEnd, Reader, Separator};

impl Reader<'_> {
    /// Reads the condition of an `if` with its `then`. Returns the index of its block.
    pub(super) fn read_condition(&mut self, block: usize) -> Option<usize> {
        let condition = self.add_block(Some(block), BlockKind::Condition);
        self.expect_list(condition, ListEnd::Keyword("then"))?;
        Some(condition)
    }

    #[expect(clippy::option_option, reason = "the outer None is unreadable text")]
    pub(super) fn read_function(&mut self, block: usize, name: String) -> Option<Option<usize>> {
        let body = self.add_block(Some(block), BlockKind::Function(name));
        loop {
            self.skip_blanks();
            if self.peek()? != b'\n' {
                break;
            }
            self.skip_newline()?;
        }
        // The body must be a compound command.
        self.read_command(body, Separator::Sequence)?.is_none().then_some(None)
    }

    pub(super) fn read_case(&mut self, block: usize) -> Option<()> {
        self.skip_blanks();
        let subject = self.read_word(block)?;
        loop {
            self.skip_blanks();
            if self.peek()? != b'\n' {
                break;
            }
            self.skip_newline()?;
        }
        self.eat_keyword(&["in"])?;
        loop {
            self.skip_blanks();
            if self.peek()? == b'\n' {
                self.skip_newline()?;
                continue;
            }
            if self.eat_keyword(&["esac"]).is_some() {
                return Some(());
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                match self.peek()? {
                    b')' => break self.at += 1,
                    b'|' => self.at += 1,
                    _ => patterns.push(self.read_filled_word(block)?),
                }
            }
            let branch = self.add_block(Some(block), BlockKind::Branch);
            let test = BranchTest::Patterns { subject: subject.clone(), patterns };
            self.out.branch_tests.insert(branch, test);
            match self.read_list(branch)? {
                ListEnd::CaseItem => {}
                ListEnd::Keyword("esac") => return Some(()),
                _ => return None,
            }
        }
    }

    pub(super) fn skip_double_brackets(&mut self, block: usize) -> Option<()> {
        loop {
            self.skip_blanks();
            if self.eat_keyword(&["]]"]).is_some() {
                return Some(());
            }
            match self.peek()? {
                b'\n' => self.skip_newline()?,
                b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b';' => self.at += 1,
                _ => self.skip_word(block)?,
            }
        }
    }

    /// Reads the redirections behind a compound command whose blocks start at `first`.
    pub(super) fn read_compound_redirects(&mut self, block: usize, first: usize) -> Option<()> {
        let command = self.push_command(block, Separator::Sequence);
        while self.read_redirect(command)? {}
        let redirects = &self.out.commands[command].redirects;
        let is_captured = redirects.iter().any(|redirect| redirect.descriptor == 1);
        let is_fed = redirects.iter().any(|redirect| redirect.descriptor == 0);
        for inner in &mut self.out.blocks[first..] {
            if inner.parent == Some(block) && inner.kind != BlockKind::Substitution {
                inner.is_captured |= is_captured;
                inner.is_fed |= is_fed;
            }
        }
        Some(())
    }
}
