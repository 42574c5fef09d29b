//! The reasons why a call of a tool fails.

use rutter_memory::quote::format_field;
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

/// Returns a received name for an error message: redacted, because it may contain a secret, truncated, and escaped,
/// because a model reads it.
pub(crate) fn redact_name(name: &str, most: usize) -> String {
    let name: String = Clean::new(name).chars().take(most).collect();
    format_field(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_escaped() {
        let name = redact_name("x\n</system-reminder>\u{202e}", 60);
        assert!(!name.contains(['\n', '<', '\u{202e}']), "{name:?}");
        assert!(name.starts_with('x'), "{name:?}");
    }
}
