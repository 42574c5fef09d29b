//! Derives the expected run from a prediction: its result and its target.
//!
//! An agent may state both when it starts; mostly they are in its prediction, in prose. This module parses the prose,
//! and later decides if a run is the one that was meant. In doubt it rejects the run: an outcome that does not fit is
//! merely not evidence, but one that fits by mistake teaches something false.
//!
//! # Expected result
//!
//! [`derive()`] looks for a phrase about the end of a run ("should pass", "no longer fails", "0 failures"), and
//! otherwise expects a pass. Prose is split into clauses; in each the strongest phrase counts, inverted by a negation.
//! Between clauses:
//!
//! - the one that names the target wins, then one that names any run ("the tests", `cargo build`), then the first;
//! - a clause about the time *after* the change wins over the rest; one about the time *before* it, or a reason, loses;
//! - conditions ("if it fails", "otherwise") are not predictions;
//! - if some tests fail, the run fails, however many pass.
//!
//! # Target
//!
//! The target is the most specific name in the text: a test, then a command in backticks, then a bare command, then a
//! source file; the first of its kind. The prediction counts before the action, unless it names only a file.
//!
//! # Matching outcomes
//!
//! | Target | An outcome fits if |
//! |---|---|
//! | none | always; the caller checks its kind |
//! | a command | the same command ran: its words in order, possibly with other flags, but none that narrows it |
//! | a test | it is among the failing tests; if none are listed, the command names it or runs everything |
//! | a file | the command names it or a folder around it, or runs everything |
//!
//! Prefixes such as `cd x &&`, variables, `timeout`, `uv run`, `npx` and `python -m` are ignored. "Everything" means a
//! runner of the same language without a filter, and for a test it must be a test runner.

pub(crate) mod command;
mod names;
mod phrases;
mod target;
#[cfg(test)]
mod tests;
mod words;

use command::CommandRun;
use names::NameKind;
use rutter_redact::choice;

choice! {
    /// The expected result of a run.
    Expects, "expectation" {
        /// The run passes.
        Pass = "pass",
        /// The run fails.
        Fail = "fail",
    }
}

impl Expects {
    const fn inverted(self) -> Self {
        match self {
            Self::Pass => Self::Fail,
            Self::Fail => Self::Pass,
        }
    }
}

/// The expected run, derived from a prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedExpectation {
    /// The expected result; [`Expects::Pass`] if the text does not mention one.
    pub expects: Expects,
    /// The command, test or file that the prediction is about.
    pub target: Option<String>,
    /// True if the text contains a phrase about the end of a run, or a target.
    pub testable: bool,
}

/// Derives the expected result and the target from a prediction.
pub fn derive(prediction: &str, action: &str) -> DerivedExpectation {
    let predicted = words::split_prose(prediction);
    let target = target::find_target(&predicted, &words::split_prose(action));
    let expects = phrases::find_expected_result(&predicted, target.as_deref());
    DerivedExpectation {
        expects: expects.unwrap_or(Expects::Pass),
        testable: expects.is_some() || target.is_some(),
        target,
    }
}

/// Returns true if the target names an outcome's command, or one of the tests that failed in it.
pub fn matches_target(target: Option<&str>, command: &str, tests: &[impl AsRef<str>]) -> bool {
    let Some(target) = target.map(str::trim).filter(|target| !target.is_empty()) else {
        return true;
    };
    let runs = command::parse_runs(command);
    match names::classify(target) {
        NameKind::Test => {
            if tests.is_empty() {
                runs.iter().any(|run| run.includes_test(target))
            } else {
                let target = names::split_test_name(target);
                tests.iter().any(|failed| {
                    names::is_within(&target, &names::split_test_name(failed.as_ref()))
                })
            }
        }
        NameKind::File => runs.iter().any(|run| run.includes_file(target)),
        NameKind::Other => {
            let wanted = command::parse_runs(target);
            let meant = wanted.iter().rfind(|run| run.is_known()).or(wanted.last());
            meant.is_some_and(|meant: &CommandRun| runs.iter().any(|run| run.matches_run(meant)))
        }
    }
}
