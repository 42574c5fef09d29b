//! Answers that are not JSON.

use super::{Answer, HookOutput, SpeaksPlainly, fit};
use crate::table::TEXT_LIMIT_UNITS;

/// Prefix for a text that starts like JSON: the client would parse it as an answer and drop it.
const NOT_JSON: &str = "Text: ";

impl<E: SpeaksPlainly> HookOutput<E> {
    /// Returns the text itself as the answer: context for the model, or instructions for the compaction.
    pub fn plain(text: &str) -> Answer {
        // Trim like the client to check the character that it will see first.
        let text = crate::javascript::trim(text);
        let stdout = if text.starts_with('{') {
            fit(&format!("{NOT_JSON}{text}"), TEXT_LIMIT_UNITS).into_owned()
        } else {
            fit(text, TEXT_LIMIT_UNITS).into_owned()
        };
        Answer { stdout, ..Answer::default() }
    }
}
