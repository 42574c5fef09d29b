//! A run as the memory takes it: the outcome, and what failed in it one by one.

use serde::{Deserialize, Serialize};

use super::read::Reading;
use super::report::Failure;
use super::selection::Selection;
use super::{Counts, signature};
use crate::Clean;
use crate::outcome::Outcome;

/// How many failures of one run are followed. Whoever has more has one reason for them.
const FOLLOWED: usize = 8;
/// How long an error may be: what tells it apart stands at its beginning.
const ERROR: usize = 200;

/// One captured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What it said as a whole.
    pub outcome: Outcome,
    /// What it was asked for; none where its command line says nothing.
    pub selection: Option<Selection>,
    /// What failed.
    pub faults: Vec<Fault>,
    /// Whether everything that failed is among them.
    pub whole: bool,
}

/// One thing that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The test, by the runner's name.
    pub test: Option<Clean>,
    /// What it said, in one line.
    pub error: Clean,
    /// The file it points at.
    pub file: Option<Clean>,
    /// Its shape; none in a text that was cut.
    pub signature: Option<Clean>,
}

impl From<Outcome> for Run {
    /// A run of which no more is known.
    fn from(outcome: Outcome) -> Self {
        Self { outcome, selection: None, faults: Vec::new(), whole: false }
    }
}

impl Run {
    /// What was read of a run, and what it was asked for.
    pub fn new(outcome: Outcome, reading: &Reading, selection: Option<Selection>) -> Self {
        let mut found: Vec<(String, &Failure)> = reading
            .failures
            .iter()
            .filter_map(|failure| Some((signature::one(failure)?, failure)))
            .collect();
        // The order of the output is chance; the same failures must be the same ones again.
        let key = |one: &(String, &Failure)| (one.0.clone(), one.1.test.clone());
        found.sort_by_cached_key(key);
        found.dedup_by_key(|one| key(one));
        // Of those that were only counted nobody knows the names: `tail` has cut them off.
        let named = |counts: Counts| counts.failed as usize <= reading.failures.len();
        let whole = reading.whole && found.len() <= FOLLOWED && reading.counts.is_none_or(named);
        found.truncate(FOLLOWED);
        let faults = found
            .into_iter()
            .map(|(signature, failure)| Fault::of(failure, (!reading.cut).then_some(&signature)))
            .collect();
        Self { outcome, selection, faults, whole }
    }
}

impl Fault {
    fn of(failure: &Failure, signature: Option<&String>) -> Self {
        let parts = [failure.error.as_deref(), failure.message.as_deref()];
        let error = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        // First without its secrets, then cut: half of one would be nobody's.
        let clean = Clean::new(error.lines().next().unwrap_or_default());
        let error: String = clean.chars().take(ERROR).collect();
        Self {
            test: failure.test.as_deref().map(Clean::new),
            error: Clean::new(&error),
            file: failure.frame.as_deref().map(Clean::new),
            signature: signature.map(|signature| Clean::new(signature)),
        }
    }
}
