//! A fault: one failure of a run in the form that is stored and compared with later runs.

use serde::{Deserialize, Serialize};

use crate::RunKind;
use crate::clues::Clues;
use crate::report::ReportedFailure;
use crate::selection::FailedTest;
use rutter_redact::Clean;

/// Maximum length of a stored error. Errors differ at their start.
const MAX_ERROR_CHARS: usize = 200;

/// A failure of a run, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFault {
    /// The test, by the runner's name; a path in it is relative to the root of the checkout.
    pub test: Option<Clean>,
    /// The package, crate or file around the test, if its name does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Clean>,
    /// The error, in one line.
    pub error: Clean,
    /// The file of the error, relative to the root of the checkout.
    pub file: Option<Clean>,
    /// True if the code did not compile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compile_error: bool,
    /// The signature; None if the failure has too little text for one.
    pub signature: Option<Clean>,
    /// The places and identifiers that the failure names.
    #[serde(default, skip_serializing_if = "Clues::is_empty")]
    pub clues: Clues,
}

impl RunFault {
    /// Returns the parts of the failure that decide if a later run covers it.
    pub fn as_failed_test(&self) -> FailedTest<'_> {
        FailedTest {
            test: self.test.as_deref(),
            scope: self.scope.as_deref(),
            file: self.file.as_deref(),
            is_compile_error: self.is_compile_error,
        }
    }

    /// Builds the stored fault from a failure of a report.
    pub fn new(failure: &ReportedFailure, signature: &str, clues: Clues, kind: RunKind) -> Self {
        let parts = [failure.error.as_deref(), failure.message.as_deref()];
        let error = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        // Redacted before it is cut, as half of a secret would not be recognised.
        let clean = Clean::new(error.lines().next().unwrap_or_default());
        let error: String = clean.chars().take(MAX_ERROR_CHARS).collect();
        let is_typecheck = failure.error.as_deref() == Some("typecheck");
        Self {
            test: failure.test.as_deref().map(Clean::new),
            scope: failure.scope.as_deref().map(Clean::new),
            error: Clean::new(&error),
            file: failure.frame.as_deref().map(Clean::new),
            is_compile_error: failure.test.is_none() && (kind != RunKind::Lint || is_typecheck),
            signature: Some(Clean::new(signature)),
            clues,
        }
    }
}
