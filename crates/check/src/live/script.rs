//! What the model will say.

use serde_json::Value;

/// One block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words.
    Text(String),
    /// A tool call. Its id is made by the server.
    Call {
        /// The tool.
        tool: String,
        /// Its input.
        input: Value,
    },
}

/// One answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Blocks, in order. With a call among them the model waits for results.
    Says(Vec<Block>),
    /// An HTTP error with the messages API's error body.
    Fails {
        /// The status, for example 529.
        status: u16,
        /// `error.type`, for example `overloaded_error`.
        kind: String,
        /// `error.message`.
        message: String,
    },
}

impl Turn {
    /// Words and nothing else: the end of a turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Says(vec![Block::Text(text.into())])
    }

    /// One tool call.
    pub fn call(tool: impl Into<String>, input: Value) -> Self {
        Self::Says(vec![Block::Call { tool: tool.into(), input }])
    }

    /// A failure of the service.
    pub fn fails(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Fails { status, kind: kind.into(), message: message.into() }
    }
}

/// The turns of the main thread, and those of each subagent.
///
/// A thread that has said all its turns says `done`, or what [`Script::ever_after`] is given. Requests that offer no tools (titles, summaries)
/// are none of the conversation: they get `ok` and use up no turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(super) main: Vec<Turn>,
    pub(super) subagents: Vec<(String, Vec<Turn>)>,
    pub(super) last: Turn,
}

impl Default for Script {
    fn default() -> Self {
        Self { main: Vec::new(), subagents: Vec::new(), last: Turn::text("done") }
    }
}

impl Script {
    /// A main thread that says these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { main: turns.into_iter().collect(), ..Self::default() }
    }

    /// What every thread says when its turns are used up.
    #[must_use]
    pub fn ever_after(mut self, turn: Turn) -> Self {
        self.last = turn;
        self
    }

    /// Adds the turns of a subagent: a thread whose user messages hold `marker`. Put the marker into
    /// the prompt of the call that starts it, and nowhere else.
    #[must_use]
    pub fn subagent(
        mut self,
        marker: impl Into<String>,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        self.subagents.push((marker.into(), turns.into_iter().collect()));
        self
    }
}
