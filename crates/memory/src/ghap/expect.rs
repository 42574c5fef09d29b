//! What a prediction can be held against: the outcome it expects, and of which run.
//!
//! An agent may say both when it starts; mostly it says them in its prediction, in prose. This reads the prose, and
//! says later whether a run is the one that was meant. Whoever is in doubt here says no: an outcome that does not fit
//! is merely no evidence, one that is made to fit teaches something false.
//!
//! # What is expected
//!
//! [`derive()`] looks for a phrase that says how a run ends ("should pass", "no longer fails", "0 failures"), and
//! else expects a pass. Prose is cut into clauses; in each the strongest phrase counts, turned around by its negation.
//! Between clauses:
//!
//! - the one that names the target wins, then one that names any run ("the tests", `cargo build`), then the first;
//! - what holds *after* the change wins over the rest; what holds *before* it, or is given as a reason, loses to it;
//! - conditions ("if it fails", "otherwise") are no predictions;
//! - some tests that fail are a run that fails, however many pass.
//!
//! # Of what
//!
//! The target is the most specific thing named: a test, then a command in backticks, then a bare command, then a
//! source file; the first of its kind. The prediction is asked before the action, unless all it names is a file.
//!
//! # What fits
//!
//! | Target | An outcome fits, if |
//! |---|---|
//! | none | always; its kind is for the caller to look at |
//! | a command | the same command ran: its words in their order, with other flags but nothing that narrows it |
//! | a test | it is among the failing tests; where none are listed, if the command names it or runs everything |
//! | a file | the command names it or a folder around it, or runs everything |
//!
//! Commands are seen through `cd x &&`, variables, `timeout`, `uv run`, `npx`, `python -m` and the like. "Everything"
//! is a runner of the same language without a filter, and for a test it must be a runner of tests.

pub(crate) mod command;
mod names;
mod phrases;
mod target;
#[cfg(test)]
mod tests;
mod words;

use command::Run;
use names::Name;
use rutter_redact::choice;

choice! {
    /// How a run is expected to end.
    Expects, "expectation" {
        /// Green.
        Pass = "pass",
        /// Red.
        Fail = "fail",
    }
}

impl Expects {
    const fn turned(self) -> Self {
        match self {
            Self::Pass => Self::Fail,
            Self::Fail => Self::Pass,
        }
    }
}

/// What a prediction can be held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// How the run should end; [`Expects::Pass`] where nothing says so.
    pub expects: Expects,
    /// The command, test or file that the prediction is about.
    pub target: Option<String>,
    /// Whether anything testable was named: a phrase that says how a run ends, or a target.
    pub testable: bool,
}

/// Reads what a prediction expects, and of which run.
pub fn derive(prediction: &str, action: &str) -> Derived {
    let predicted = words::read(prediction);
    let target = target::find(&predicted, &words::read(action));
    let expects = phrases::verdict(&predicted, target.as_deref());
    Derived {
        expects: expects.unwrap_or(Expects::Pass),
        testable: expects.is_some() || target.is_some(),
        target,
    }
}

/// Whether an outcome's command, or the tests that failed in it, are what the target names.
pub fn fits(target: Option<&str>, command: &str, tests: &[impl AsRef<str>]) -> bool {
    let Some(target) = target.map(str::trim).filter(|target| !target.is_empty()) else {
        return true;
    };
    let runs = command::parse_runs(command);
    match names::classify(target) {
        Name::Test => {
            if tests.is_empty() {
                runs.iter().any(|run| run.includes_test(target))
            } else {
                let target = names::parts(target);
                tests.iter().any(|failed| names::is_within(&target, &names::parts(failed.as_ref())))
            }
        }
        Name::File => runs.iter().any(|run| run.includes_file(target)),
        Name::Other => {
            let wanted = command::parse_runs(target);
            let meant = wanted.iter().rfind(|run| run.is_known()).or(wanted.last());
            meant.is_some_and(|meant: &Run| runs.iter().any(|run| run.is_the_same_as(meant)))
        }
    }
}
