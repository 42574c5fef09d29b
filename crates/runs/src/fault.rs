//! A fault: one failure of a run in the form that is stored and compared with later runs.

use serde::{Deserialize, Serialize};

use crate::Kind;
use crate::clues::Clues;
use crate::report::Failure;
use crate::selection::Failed;
use rutter_redact::Clean;

/// Maximum length of a kept error. Errors differ at their beginning.
const MAX_ERROR_CHARS: usize = 200;

/// One thing that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The test, by the runner's name; a path in it starts at the root of the checkout.
    pub test: Option<Clean>,
    /// The package, crate or file around the test, where its name does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Clean>,
    /// The error, in one line.
    pub error: Clean,
    /// The file it points at, from the root of the checkout.
    pub file: Option<Clean>,
    /// The code did not compile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compile_error: bool,
    /// Its shape; none where there is nothing to go by.
    pub signature: Option<Clean>,
    /// Places and identifiers that it names.
    #[serde(default, skip_serializing_if = "Clues::is_empty")]
    pub clues: Clues,
}

impl Fault {
    /// The failure, as far as it matters for whether a run executed it.
    pub fn failed(&self) -> Failed<'_> {
        Failed {
            test: self.test.as_deref(),
            scope: self.scope.as_deref(),
            file: self.file.as_deref(),
            is_compile_error: self.is_compile_error,
        }
    }

    /// Builds the fault that the store keeps from a failure of a report.
    pub fn new(failure: &Failure, signature: &str, clues: Clues, kind: Kind) -> Self {
        let parts = [failure.error.as_deref(), failure.message.as_deref()];
        let error = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        // First without its secrets, then cut: a half of one would not be recognised.
        let clean = Clean::new(error.lines().next().unwrap_or_default());
        let error: String = clean.chars().take(MAX_ERROR_CHARS).collect();
        let is_typecheck = failure.error.as_deref() == Some("typecheck");
        Self {
            test: failure.test.as_deref().map(Clean::new),
            scope: failure.scope.as_deref().map(Clean::new),
            error: Clean::new(&error),
            file: failure.frame.as_deref().map(Clean::new),
            is_compile_error: failure.test.is_none() && (kind != Kind::Lint || is_typecheck),
            signature: Some(Clean::new(signature)),
            clues,
        }
    }
}
