//! Parser for the fenced blocks of a page.

/// A fenced block.
pub(super) struct PageBlock<'a> {
    /// The line number of the opening fence.
    pub(super) line: usize,
    pub(super) language: &'a str,
    pub(super) body: Vec<&'a str>,
    pub(super) mark: Option<BlockMark<'a>>,
}

/// An HTML comment directly before a block, which readers do not see.
#[derive(Clone, Copy)]
pub(super) enum BlockMark<'a> {
    /// The reason why the block cannot be run.
    NotRun(&'a str),
    /// The name of the scene to play before the block runs.
    Scene(&'a str),
    /// The name of a scene. The block shows the context that its last hook gives to the model.
    HookText(&'a str),
}

impl<'a> BlockMark<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (word, text) = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.split_once(": ")?;
        match word {
            "not run" => Some(Self::NotRun(text)),
            "scene" => Some(Self::Scene(text)),
            "said" => Some(Self::HookText(text)),
            _ => None,
        }
    }
}

/// Returns the blocks of a page, or line number and message of the first mistake.
pub(super) fn parse_blocks(text: &str) -> Result<Vec<PageBlock<'_>>, (usize, &'static str)> {
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
            mark = BlockMark::parse(line);
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
        blocks.push(PageBlock { line: number, language, body, mark: mark.take() });
    }
    Ok(blocks)
}
