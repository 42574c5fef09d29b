//! The reasons why a call of a tool fails.

use rutter_memory::{Clean, StoreError};

/// The reason why a call failed, with advice on what to send instead.
#[derive(Debug, thiserror::Error)]
pub enum ToolRefusal {
    /// The tool does not exist.
    #[error("there is no tool `{name}`; the tools are: {tools}")]
    Unknown {
        /// The name in the call, redacted.
        name: String,
        /// The names of all tools.
        tools: String,
    },
    /// The arguments do not fit the tool.
    #[error("{0}")]
    Arguments(String),
    /// The request cannot be carried out.
    #[error("{0}")]
    Refused(String),
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns a received name for an error message: redacted, because it may contain a secret, and truncated.
pub(crate) fn redact_name(name: &str, most: usize) -> String {
    Clean::new(name).chars().take(most).collect()
}
