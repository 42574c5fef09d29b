//! A run as the store takes it: the outcome, and its failures one by one.

use serde::{Deserialize, Serialize};

use super::clues::Clues;
use super::place::{RunPlace, binary_of, with_package};
use super::read::Reading;
use super::report::Failure;
use super::selection::{Coverage, Failed, Selection, is_file};
use super::{Counts, Kind, signature};
use crate::outcome::Outcome;
use crate::{Clean, checksum};

/// Maximum number of failures followed from one run. More than that have one cause.
const MAX_FAULTS: usize = 8;
/// Maximum length of a kept error. Errors differ at their beginning.
const MAX_ERROR_CHARS: usize = 200;

/// One captured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its outcome as a whole.
    pub outcome: Outcome,
    /// Its selection; none where the command line does not tell.
    pub selection: Option<Selection>,
    /// Further selections, where one line starts the same runner several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_selections: Vec<Selection>,
    /// The failures.
    pub faults: Vec<Fault>,
    /// Everything that failed is among the faults.
    pub whole: bool,
    /// The tests that the output names as passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<TestKey>,
}

/// Checksums that stand for a test: of its name, of its scope, and of the scope without its package; 0 is no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestKey(u64, u64, u64);

impl TestKey {
    fn new(test: &str, scope: Option<&str>) -> Self {
        let sum = |scope: &str| checksum::of(scope.as_bytes());
        let binary = scope.map(binary_of);
        Self(checksum::of(test.as_bytes()), scope.map_or(0, sum), binary.map_or(0, sum))
    }

    /// Returns true if both can be the same test, as in [`same_scope`](super::place::same_scope).
    fn matches(self, other: Self) -> bool {
        let Self(test, scope, binary) = self;
        let is_short = scope == binary;
        let is_other_short = other.1 == other.2;
        test == other.0
            && (scope == 0
                || other.1 == 0
                || scope == other.1
                || (is_short != is_other_short && binary == other.2))
    }
}

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

impl From<Outcome> for Run {
    /// A run of which no more is known.
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            selection: None,
            more_selections: Vec::new(),
            faults: Vec::new(),
            whole: false,
            passed: Vec::new(),
        }
    }
}

impl Run {
    /// Puts a reading together with its outcome. `folder` is where the line was typed, `text` what it printed.
    pub fn new(outcome: Outcome, reading: &Reading, place: &RunPlace<'_>, text: &str) -> Self {
        let mut selections: Vec<Selection> = reading
            .invocations
            .iter()
            .map(|invocation| Selection::new(invocation, place))
            .collect();
        let package =
            reading.invocations.iter().find_map(|invocation| invocation.package.as_deref());
        let mut failures = reading.failures.clone();
        let folder = selections.first().map(|selection| selection.folder.to_string());
        let named = RunPlace { folder: folder.as_deref().unwrap_or(place.folder), ..*place };
        // A script may enter a folder before it runs anything.
        let tests = failures.iter().filter_map(|failure| failure.test.as_deref());
        let files = failures.iter().filter_map(|failure| failure.frame.as_deref());
        let tests = tests.chain(reading.passed.iter().map(|passed| passed.test.as_str()));
        let tests = tests.chain(files.filter(|file| file.contains('/')));
        let entered = named.folder_that_has(tests);
        let place = RunPlace { folder: entered.as_deref().unwrap_or(named.folder), ..named };
        let crate_name = selections.first().and_then(|selection| selection.package.clone());
        let name_crate = |scope: &mut Option<String>| {
            if let (Some(scope), Some(package)) = (scope.as_mut(), &crate_name) {
                *scope = with_package(scope, package);
            }
        };
        for failure in &mut failures {
            name_crate(&mut failure.scope);
        }
        // A test of Rust has its crate for a scope, or none.
        let is_cargo = selections.first().is_some_and(Selection::is_cargo);
        place.qualify(&mut failures, package, is_cargo);
        let mut found: Vec<(String, &Failure)> = failures
            .iter()
            .filter_map(|failure| Some((signature::of_failure(failure)?, failure)))
            .collect();
        // The order of the output is chance; the same failures must be the same ones again.
        let key =
            |one: &(String, &Failure)| (one.0.clone(), one.1.test.clone(), one.1.scope.clone());
        found.sort_by_cached_key(key);
        found.dedup_by_key(|one| key(one));
        // Of those that were only counted the names are not known: `tail` has cut them off.
        let named = |counts: Counts| counts.failed as usize <= reading.failures.len();
        let whole =
            reading.is_whole && found.len() <= MAX_FAULTS && reading.counts.is_none_or(named);
        found.truncate(MAX_FAULTS);
        let faults = found
            .into_iter()
            .map(|(signature, failure)| {
                let clues = Clues::collect(text, failure, &failures, &place);
                Fault::new(failure, &signature, clues, reading.kind)
            })
            .collect();
        let mut passed = reading.passed.clone();
        for one in &mut passed {
            name_crate(&mut one.scope);
        }
        place.qualify_passed(&mut passed, package, is_cargo);
        let passed =
            passed.iter().map(|one| TestKey::new(&one.test, one.scope.as_deref())).collect();
        let more_selections = selections.split_off(selections.len().min(1));
        Self { outcome, selection: selections.pop(), more_selections, faults, whole, passed }
    }

    /// Everything that it was asked for.
    pub fn selections(&self) -> impl Iterator<Item = &Selection> {
        self.selection.iter().chain(&self.more_selections)
    }

    /// Returns true if the output names a test as passed.
    pub fn names_as_passed(&self, failed: &Failed<'_>) -> bool {
        let Some(test) = failed.test else { return false };
        let key = TestKey::new(test, failed.scope);
        self.passed.iter().any(|passed| passed.matches(key))
    }

    /// Returns true if this run must have executed what failed in a run that was asked for `asked` and counted `before`.
    pub fn executed(&self, asked: &Selection, failed: &Failed<'_>, before: Option<Counts>) -> bool {
        if self.names_as_passed(failed) {
            return true;
        }
        let counts = self.outcome.counts;
        // A list of all that passed, and the test is not in it.
        let listed = counts
            .is_some_and(|counts| counts.passed as usize == self.passed.len() && counts.passed > 0);
        let is_single = failed.test.is_some_and(|test| !is_file(test));
        if listed && is_single && self.outcome.verdict == super::Verdict::Passed {
            return false;
        }
        let total = |counts: Counts| counts.passed + counts.failed + counts.skipped;
        self.selections().any(|selection| match selection.covers(asked, failed) {
            Coverage::No => false,
            Coverage::Yes => true,
            Coverage::IfNoMoreSkipped => counts.is_none_or(|now| {
                let before = before.map_or(0, |before| before.skipped);
                now.skipped <= before && now.passed > 0
            }),
            Coverage::IfNoneSkipped => counts.is_none_or(|counts| counts.skipped == 0),
            Coverage::IfSomePassed => counts.is_some_and(|counts| counts.passed > 0),
            Coverage::IfAsMany => counts.zip(before).is_none_or(|(now, before)| {
                total(now) >= total(before) && now.skipped <= before.skipped
            }),
        })
    }
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

    fn new(failure: &Failure, signature: &str, clues: Clues, kind: Kind) -> Self {
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
