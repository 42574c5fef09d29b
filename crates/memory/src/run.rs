//! A captured run for the store: the outcome and its individual failures.

use serde::{Deserialize, Serialize};

use rutter_redact::checksum;
use rutter_runs::clues::Clues;
pub use rutter_runs::fault::RunFault;
use rutter_runs::place::{RunPlace, test_binary, with_package};
use rutter_runs::read::ParsedOutcome;
use rutter_runs::report::ReportedFailure;
use rutter_runs::selection::{Coverage, FailedTest, TestSelection, is_file};
use rutter_runs::{TestCounts, Verdict, signature};

use crate::outcome::Outcome;

/// Maximum number of failures that are tracked per run. More than that have one cause.
const MAX_FAULTS: usize = 8;

/// A captured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturedRun {
    /// The outcome of the whole run.
    pub outcome: Outcome,
    /// The selected tests; None if the command line does not show them.
    pub selection: Option<TestSelection>,
    /// Further selections, if one line starts the same runner several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_selections: Vec<TestSelection>,
    /// The failures.
    pub faults: Vec<RunFault>,
    /// True if the faults include everything that failed.
    pub whole: bool,
    /// The tests that the output names as passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<TestKey>,
}

/// Checksums that identify a test: of its name, of its scope, and of the scope without its package; 0 means no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestKey(u64, u64, u64);

impl TestKey {
    fn new(test: &str, scope: Option<&str>) -> Self {
        let sum = |scope: &str| checksum::fnv1a(scope.as_bytes());
        let binary = scope.map(test_binary);
        Self(checksum::fnv1a(test.as_bytes()), scope.map_or(0, sum), binary.map_or(0, sum))
    }

    /// Returns true if both can be the same test, as in [`same_scope`](rutter_runs::place::same_scope).
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

impl From<Outcome> for CapturedRun {
    /// Creates a run without further details.
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

impl CapturedRun {
    /// Combines a parsed output with its outcome. `place` contains the folder of the command line, `text` is its
    /// output.
    pub fn new(
        outcome: Outcome,
        reading: &ParsedOutcome,
        place: &RunPlace<'_>,
        text: &str,
    ) -> Self {
        let mut selections: Vec<TestSelection> = reading
            .invocations
            .iter()
            .map(|invocation| TestSelection::new(invocation, place))
            .collect();
        let package =
            reading.invocations.iter().find_map(|invocation| invocation.package.as_deref());
        let mut failures = reading.failures.clone();
        let folder = selections.first().map(|selection| selection.folder.to_string());
        let named = RunPlace { folder: folder.as_deref().unwrap_or(place.folder), ..*place };
        // A script may change the folder before it runs tests.
        let tests = failures.iter().filter_map(|failure| failure.test.as_deref());
        let files = failures.iter().filter_map(|failure| failure.frame.as_deref());
        let tests = tests.chain(reading.passed.iter().map(|passed| passed.test.as_str()));
        let tests = tests.chain(files.filter(|file| file.contains('/')));
        let entered = named.find_run_folder(tests);
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
        // The scope of a Rust test is its crate, if it has one.
        let is_cargo = selections.first().is_some_and(TestSelection::is_cargo);
        place.qualify(&mut failures, package, is_cargo);
        let mut found: Vec<(String, &ReportedFailure)> = failures
            .iter()
            .filter_map(|failure| Some((signature::failure_signature(failure)?, failure)))
            .collect();
        // The order of the output is random; the same failures must give the same faults.
        let key = |one: &(String, &ReportedFailure)| {
            (one.0.clone(), one.1.test.clone(), one.1.scope.clone())
        };
        found.sort_by_cached_key(key);
        found.dedup_by_key(|one| key(one));
        // If fewer failures are named than counted, some names are unknown: `tail` cut them off.
        let named = |counts: TestCounts| counts.failed as usize <= reading.failures.len();
        let whole =
            reading.is_whole && found.len() <= MAX_FAULTS && reading.counts.is_none_or(named);
        found.truncate(MAX_FAULTS);
        let faults = found
            .into_iter()
            .map(|(signature, failure)| {
                let clues = Clues::collect(text, failure, &failures, &place);
                RunFault::new(failure, &signature, clues, reading.kind)
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

    /// Returns all selections of the run.
    pub fn selections(&self) -> impl Iterator<Item = &TestSelection> {
        self.selection.iter().chain(&self.more_selections)
    }

    /// Returns true if the output names a test as passed.
    pub fn names_as_passed(&self, failed: &FailedTest<'_>) -> bool {
        let Some(test) = failed.test else { return false };
        let key = TestKey::new(test, failed.scope);
        self.passed.iter().any(|passed| passed.matches(key))
    }

    /// Returns true if this run must have executed the test that failed in a run with the selection `asked` and the
    /// counts `before`.
    pub fn must_have_executed(
        &self,
        asked: &TestSelection,
        failed: &FailedTest<'_>,
        before: Option<TestCounts>,
    ) -> bool {
        if self.names_as_passed(failed) {
            return true;
        }
        let counts = self.outcome.counts;
        // The output lists every passed test, and the test is not in the list.
        let listed = counts
            .is_some_and(|counts| counts.passed as usize == self.passed.len() && counts.passed > 0);
        let is_single = failed.test.is_some_and(|test| !is_file(test));
        if listed && is_single && self.outcome.verdict == Verdict::Passed {
            return false;
        }
        let total = |counts: TestCounts| counts.passed + counts.failed + counts.skipped;
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
