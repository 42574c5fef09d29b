//! The fenced blocks of a page.

/// A block.
pub(super) struct Block<'a> {
    /// The number of its first line.
    pub(super) line: usize,
    pub(super) language: &'a str,
    pub(super) body: Vec<&'a str>,
    pub(super) mark: Option<Mark<'a>>,
}

/// A comment right before a block, which readers do not see.
#[derive(Clone, Copy)]
pub(super) enum Mark<'a> {
    /// It cannot be run, and why.
    NotRun(&'a str),
    /// What has happened when somebody types it.
    Scene(&'a str),
    /// It is what an agent reads in the end, when this happens.
    Said(&'a str),
}

impl<'a> Mark<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (word, text) = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.split_once(": ")?;
        match word {
            "not run" => Some(Self::NotRun(text)),
            "scene" => Some(Self::Scene(text)),
            "said" => Some(Self::Said(text)),
            _ => None,
        }
    }
}

/// The blocks of a page, or what is wrong with them: the line, and what.
pub(super) fn blocks(text: &str) -> Result<Vec<Block<'_>>, (usize, &'static str)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    let mut mark = None;
    while let Some((line, number)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            if line.trim_start().starts_with("```") {
                return Err((number, "a fence begins its line, or nobody runs it"));
            }
            if mark.is_some() {
                return Err((number - 1, "no block follows this mark"));
            }
            mark = Mark::of(line);
            continue;
        };
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some(("```", _)) => break,
                Some((line, _)) => body.push(line),
                None => return Err((number, "the block is never closed")),
            }
        }
        blocks.push(Block { line: number, language, body, mark: mark.take() });
    }
    Ok(blocks)
}
