//! Answers that are not JSON.

use super::{HookAnswer, HookOutput, SpeaksPlainly, truncate_to_limit};
use crate::table::TEXT_LIMIT_UNITS;

/// Prefix for a text that starts like JSON: the client would parse it as an answer and drop it.
const PLAIN_TEXT_PREFIX: &str = "Text: ";

impl<E: SpeaksPlainly> HookOutput<E> {
    /// Returns the text itself as the answer: context for the model, or instructions for the compaction.
    pub fn plain(text: &str) -> HookAnswer {
        // Trim like the client to check the character that it will see first.
        let text = crate::javascript::trim(text);
        let stdout = if text.starts_with('{') {
            truncate_to_limit(&format!("{PLAIN_TEXT_PREFIX}{text}"), TEXT_LIMIT_UNITS).into_owned()
        } else {
            truncate_to_limit(text, TEXT_LIMIT_UNITS).into_owned()
        };
        HookAnswer { stdout, ..HookAnswer::default() }
    }
}
