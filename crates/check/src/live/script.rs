//! The script of the model's turns.

use serde_json::Value;

/// A content block of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// A tool call. The server generates its id.
    Call {
        /// The tool.
        tool: String,
        /// The tool's input.
        input: Value,
    },
}

/// A response of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelTurn {
    /// Blocks, in order. If one is a call, the model waits for results.
    Content(Vec<ContentBlock>),
    /// An HTTP error with the messages API's error body.
    Failure {
        /// The status, for example 529.
        status: u16,
        /// `error.type`, for example `overloaded_error`.
        kind: String,
        /// `error.message`.
        message: String,
    },
}

impl ModelTurn {
    /// Creates a response of text only, which ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(vec![ContentBlock::Text(text.into())])
    }

    /// Creates a response with a single tool call.
    pub fn call(tool: impl Into<String>, input: Value) -> Self {
        Self::Content(vec![ContentBlock::Call { tool: tool.into(), input }])
    }

    /// Creates a failure of the service.
    pub fn fails(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failure { status, kind: kind.into(), message: message.into() }
    }
}

/// The turns of the main thread, and those of each subagent.
///
/// A thread without remaining turns responds with `done`, or with the turn of [`ModelScript::then_always`]. Requests
/// without tools (titles, summaries) are not part of the conversation: they get `ok` and use up no turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelScript {
    pub(super) main: Vec<ModelTurn>,
    pub(super) subagents: Vec<(String, Vec<ModelTurn>)>,
    pub(super) last: ModelTurn,
}

impl Default for ModelScript {
    fn default() -> Self {
        Self { main: Vec::new(), subagents: Vec::new(), last: ModelTurn::text("done") }
    }
}

impl ModelScript {
    /// Creates a script with these turns for the main thread.
    pub fn new(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        Self { main: turns.into_iter().collect(), ..Self::default() }
    }

    /// Sets the response of every thread after its last turn.
    #[must_use]
    pub fn then_always(mut self, turn: ModelTurn) -> Self {
        self.last = turn;
        self
    }

    /// Adds the turns of a subagent: a thread with `marker` in its user messages. Put the marker into
    /// the prompt of the call that starts it, and nowhere else.
    #[must_use]
    pub fn subagent(
        mut self,
        marker: impl Into<String>,
        turns: impl IntoIterator<Item = ModelTurn>,
    ) -> Self {
        self.subagents.push((marker.into(), turns.into_iter().collect()));
        self
    }
}
