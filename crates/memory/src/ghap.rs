//! GHAP: a goal, the hypothesis behind it, the action that follows, and the predicted result.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::applies_when::{PhraseError, validate_phrases};
use crate::outcome::{Outcome, RunKind, Verdict};
use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

pub mod expect;
mod vocabulary;

pub use vocabulary::{CauseCategory, Domain, GhapStatus, Strategy, Tier};

use expect::Expects;

/// A goal and the beliefs about the way to reach it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ghap {
    /// Id of the row.
    pub id: Id,
    /// The project it is about.
    pub project: ProjectKey,
    /// The client's name for the session.
    pub session: Clean,
    /// The agent it belongs to; None for the main agent.
    pub agent: Option<Clean>,
    /// The kind of work.
    pub domain: Domain,
    /// The approach.
    pub strategy: Strategy,
    /// The goal.
    pub goal: Clean,
    /// The belief.
    pub hypothesis: Clean,
    /// The action that follows from the belief.
    pub action: Clean,
    /// The observation that is expected if the belief is right.
    pub prediction: Clean,
    /// The result of a run that makes the prediction true.
    pub expects: Expects,
    /// The command, test or file that the run is about.
    pub target: Option<Clean>,
    /// Marks which of the two fields above the author stated; the others are derived from the prediction.
    pub stated: StatedParts,
    /// True if a run can show the result.
    pub testable: bool,
    /// Confidence of the author, from 0 to 1.
    pub confidence: Option<f64>,
    /// Time of the last change to the prediction, expected result or target. An earlier run is not evidence.
    pub predicted: Time,
    /// Earlier beliefs, oldest first.
    pub revisions: Vec<Revision>,
    /// Notes, oldest first.
    pub notes: Vec<GhapNote>,
    /// The current status.
    pub status: GhapStatus,
    /// The resolution, once it has ended.
    pub resolution: Option<Resolution>,
    /// Time when it was started.
    pub created: Time,
    /// Time of the last change.
    pub changed: Time,
}

choice! {
    /// The result of comparing a run with a prediction.
    PredictionVerdict, "what a run says of a prediction" {
        /// The prediction came true.
        Matches = "matches",
        /// The prediction did not come true.
        Contradicts = "contradicts",
        /// The prediction did not come true, but fewer tests fail than before.
        Partial = "partial",
    }
}

/// Marks which parts of the expected run the author stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedParts {
    /// True if the author stated the expected result.
    pub expects: bool,
    /// True if the author stated the target.
    pub target: bool,
}

/// A belief that was replaced by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// Time when it was replaced.
    pub at: Time,
    /// The old belief.
    pub hypothesis: Clean,
    /// The old action.
    pub action: Clean,
    /// The old prediction.
    pub prediction: Clean,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GhapNote {
    /// Time when it was written.
    pub at: Time,
    /// The text.
    pub text: Clean,
}

/// The end of a GHAP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    /// Time of the end.
    pub at: Time,
    /// The actual result; for an abandoned GHAP, the reason.
    pub result: Clean,
    /// The unexpected part of the result.
    pub surprise: Option<Clean>,
    /// The reason why the prediction failed.
    pub root_cause: Option<RootCause>,
    /// Advice for the next time.
    pub lesson: Option<GhapLesson>,
    /// When it applies, in the words of a user who needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies_when: Vec<Clean>,
    /// True if nobody wrote `applies_when`: it has the errors of the run that is the evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_derived_phrases: bool,
    /// Quality of its evidence.
    pub tier: Tier,
    /// The run that is the evidence.
    pub evidence: Option<ResolutionEvidence>,
}

impl Resolution {
    /// Result of the older of two active GHAPs after their places were joined.
    pub(crate) const MERGED_RESULT: &'static str =
        "its project was merged with one that had a newer active GHAP";

    pub(crate) fn abandoned_by_merge(at: Time) -> Self {
        Self {
            at,
            result: Clean::new(Self::MERGED_RESULT),
            surprise: None,
            root_cause: None,
            lesson: None,
            applies_when: Vec::new(),
            has_derived_phrases: false,
            tier: Tier::Abandoned,
            evidence: None,
        }
    }
}

/// The reason why a prediction failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootCause {
    /// The kind of reason.
    pub category: CauseCategory,
    /// The reason in words.
    pub text: Clean,
}

/// The lesson of a GHAP. At least one field is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GhapLesson {
    /// The step that worked in the end.
    pub what_worked: Option<Clean>,
    /// The text to remember.
    pub takeaway: Option<Clean>,
}

/// A captured run that was compared with the prediction when the GHAP was resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolutionEvidence {
    /// The run; None if it was forgotten since.
    pub outcome: Option<Id>,
    /// True if the run agrees with the claimed status. Only then the tier is gold.
    pub supports: bool,
}

/// The input for starting a GHAP.
#[derive(Debug, Clone, Copy)]
pub struct GhapStart<'a> {
    /// The kind of work.
    pub domain: Domain,
    /// The approach.
    pub strategy: Strategy,
    /// The goal.
    pub goal: &'a str,
    /// The belief.
    pub hypothesis: &'a str,
    /// The action that follows from the belief.
    pub action: &'a str,
    /// The expected observation.
    pub prediction: &'a str,
    /// The expected result of the run; derived from the prediction if None.
    pub expects: Option<Expects>,
    /// The target of the run; derived from the prediction if None.
    pub target: Option<&'a str>,
    /// Confidence from 0 to 1.
    pub confidence: Option<f64>,
}

/// Changes to an active GHAP. Fields that are `None` stay.
#[derive(Debug, Clone, Copy, Default)]
pub struct GhapUpdate<'a> {
    /// The belief.
    pub hypothesis: Option<&'a str>,
    /// The action that follows from the belief.
    pub action: Option<&'a str>,
    /// The expected observation.
    pub prediction: Option<&'a str>,
    /// The approach.
    pub strategy: Option<Strategy>,
    /// The expected result of the run.
    pub expects: Option<Expects>,
    /// The target of the run.
    pub target: Option<&'a str>,
    /// Confidence from 0 to 1.
    pub confidence: Option<f64>,
    /// A note to add.
    pub note: Option<&'a str>,
}

/// The input for resolving a GHAP.
#[derive(Debug, Clone, Copy)]
pub struct GhapResolve<'a> {
    /// The final status.
    pub status: GhapStatus,
    /// The actual result.
    pub result: &'a str,
    /// The unexpected part of the result. Required if the prediction failed.
    pub surprise: Option<&'a str>,
    /// The reason why the prediction failed. Required if it did.
    pub root_cause: Option<(CauseCategory, &'a str)>,
    /// The step that worked in the end.
    pub what_worked: Option<&'a str>,
    /// The text to remember.
    pub takeaway: Option<&'a str>,
    /// When it applies, in the words of a user who needs it.
    pub applies_when: &'a [String],
    /// The run that is the evidence; the newest that fits if None.
    pub outcome: Option<Id>,
    /// True to use no run if `outcome` is None.
    pub ignores_other_runs: bool,
}

/// Changes to the lesson of a resolved GHAP. Fields that are `None` stay.
#[derive(Debug, Clone, Copy, Default)]
pub struct LessonEdit<'a> {
    /// The step that worked in the end.
    pub what_worked: Option<&'a str>,
    /// The text to remember.
    pub takeaway: Option<&'a str>,
    /// When it applies, in the words of a user who needs it.
    pub applies_when: Option<&'a [String]>,
}

/// The reason why an operation on a GHAP failed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GhapError {
    /// A text is empty or too long.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The phrases that say when it applies are invalid.
    #[error(transparent)]
    Phrases(#[from] PhraseError),
    /// The confidence is out of range.
    #[error("confidence must be a number from 0 to 1, not {0}")]
    Confidence(f64),
    /// Another GHAP is active.
    #[error("a GHAP is already active: {id} \"{goal}\"; resolve or abandon it first")]
    Active {
        /// The short id.
        id: String,
        /// The goal of the active GHAP.
        goal: Clean,
    },
    /// No GHAP is active.
    #[error("no GHAP is active here; start one with `rutter ghap start`")]
    NoneActive,
    /// The GHAP has already ended.
    #[error("GHAP {id} is already {status}")]
    Ended {
        /// The short id.
        id: String,
        /// The final status.
        status: GhapStatus,
    },
    /// The GHAP is active and has no lesson yet.
    #[error("GHAP {id} is still active; write its lesson with `rutter ghap resolve`")]
    NotEnded {
        /// The short id.
        id: String,
    },
    /// The session of the GHAP is still alive.
    #[error("GHAP {id} belongs to a session that is still running")]
    Alive {
        /// The short id.
        id: String,
    },
    /// The GHAP belongs to another project.
    #[error("GHAP {id} belongs to the project {project}; go to its folder to adopt or abandon it")]
    Elsewhere {
        /// The short id.
        id: String,
        /// The project of the GHAP.
        project: ProjectKey,
    },
    /// The GHAP already belongs to the caller.
    #[error("GHAP {id} already belongs to this session")]
    Own {
        /// The short id.
        id: String,
    },
    /// A falsified GHAP lacks the fields that make it useful.
    #[error("a falsified GHAP needs {missing}")]
    Falsified {
        /// The missing fields.
        missing: &'static str,
    },
    /// The requested final status is `active`.
    #[error("the status must be confirmed, falsified or abandoned")]
    StillActive,
    /// The named run has no relation to the prediction.
    #[error("outcome {id} cannot be the evidence: {why}")]
    NoEvidence {
        /// The short id of the run.
        id: String,
        /// The reason.
        why: &'static str,
    },
    /// The evidence does not justify the tier.
    #[error("its tier is {0}, but its evidence does not support that")]
    Tier(Tier),
    /// The update has no changes.
    #[error("nothing to change; give an option such as `--hypothesis TEXT`")]
    NothingToChange,
}

/// Validates a confidence.
pub fn validate_confidence(value: f64) -> Result<f64, GhapError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(GhapError::Confidence(value)) }
}

/// The run that a prediction is compared with: the stated parts, and for the others those derived from the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expectation {
    pub(crate) expects: Expects,
    pub(crate) target: Option<Clean>,
    pub(crate) stated: StatedParts,
    pub(crate) testable: bool,
}

impl Expectation {
    pub(crate) fn from_prediction(
        prediction: &str,
        action: &str,
        expects: Option<Expects>,
        target: Option<Clean>,
    ) -> Self {
        let derived = expect::derive(prediction, action);
        let stated = StatedParts { expects: expects.is_some(), target: target.is_some() };
        Self {
            expects: expects.unwrap_or(derived.expects),
            target: target.or_else(|| derived.target.as_deref().map(Clean::new)),
            stated,
            testable: stated.expects || stated.target || derived.testable,
        }
    }
}

impl Ghap {
    /// Returns true if a run makes the prediction true, false if it contradicts it, or the reason why the run is
    /// unrelated.
    pub fn compare(&self, outcome: &Outcome) -> Result<bool, &'static str> {
        if !self.testable {
            return Err("the prediction names no result that a run can show");
        }
        if outcome.project != self.project {
            return Err("it ran in another project");
        }
        if outcome.session.as_ref().is_some_and(|session| *session != self.session) {
            return Err("it ran in another session");
        }
        if outcome.at < self.predicted {
            return Err("it ran before the prediction was made");
        }
        if self.target.is_none() && !expected_run_kinds(&self.prediction).contains(&outcome.kind) {
            return Err("it is not the kind of run that the prediction is about");
        }
        if !expect::matches_target(self.target.as_deref(), &outcome.command, &outcome.failing) {
            return Err("the prediction is about another command");
        }
        match outcome.verdict {
            Verdict::Unknown => Err("its result is unknown"),
            Verdict::Passed => Ok(self.expects == Expects::Pass),
            Verdict::Failed => Ok(self.expects == Expects::Fail),
        }
    }

    /// Validates an imported GHAP like the commands do.
    pub fn validate(&self) -> Result<(), GhapError> {
        let mut short = vec![(&self.goal, "the goal")];
        let triples =
            self.revisions.iter().map(|old| (&old.hypothesis, &old.action, &old.prediction));
        for (hypothesis, action, prediction) in
            triples.chain([(&self.hypothesis, &self.action, &self.prediction)])
        {
            short.extend([
                (hypothesis, "the hypothesis"),
                (action, "the action"),
                (prediction, "the prediction"),
            ]);
        }
        short.extend(self.target.as_ref().map(|target| (target, "the target")));
        let mut long: Vec<(&Clean, &'static str)> =
            self.notes.iter().map(|note| (&note.text, "a note")).collect();
        if let Some(resolution) = &self.resolution {
            let lesson = resolution.lesson.as_ref();
            validate_phrases(&resolution.applies_when)?;
            long.push((&resolution.result, "the result"));
            long.extend(resolution.surprise.as_ref().map(|text| (text, "the surprise")));
            long.extend(
                resolution.root_cause.as_ref().map(|cause| (&cause.text, "the root cause")),
            );
            long.extend(
                lesson
                    .and_then(|lesson| lesson.what_worked.as_ref())
                    .map(|text| (text, "what worked")),
            );
            long.extend(
                lesson
                    .and_then(|lesson| lesson.takeaway.as_ref())
                    .map(|text| (text, "the takeaway")),
            );
        }
        for (texts, limit) in [(short, Limit::Short), (long, Limit::Long)] {
            for (text, what) in texts {
                Clean::within(text, what, limit)?;
            }
        }
        self.confidence.map(validate_confidence).transpose()?;
        match (self.status, &self.resolution) {
            (GhapStatus::Active, None) => Ok(()),
            (GhapStatus::Active, Some(_)) | (_, None) => Err(GhapError::StillActive),
            // The tier follows from the evidence; a file cannot claim a better one.
            (status, Some(resolution))
                if resolution.tier != evidence_tier(status, self.testable, resolution.evidence) =>
            {
                Err(GhapError::Tier(resolution.tier))
            }
            (status, Some(resolution)) => check_lesson_fields(
                status,
                resolution.surprise.is_some(),
                resolution.root_cause.is_some(),
            ),
        }
    }
}

/// Returns the kinds of runs for a prediction that names no command, test or file. Tests, unless its words mention
/// another kind.
fn expected_run_kinds(prediction: &str) -> &'static [RunKind] {
    let prediction = prediction.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| prediction.contains(word));
    match () {
        () if says(&["test", "spec", "suite"]) => &[RunKind::Test],
        () if says(&["type check", "type-check", "typecheck", "types check"]) => {
            &[RunKind::Typecheck]
        }
        () if says(&["lint", "clippy"]) => &[RunKind::Lint],
        () if says(&["compil", "build", "link"]) => &[RunKind::Build, RunKind::Typecheck],
        () => &[RunKind::Test],
    }
}

/// Returns an error if a falsified GHAP lacks a surprise or a root cause, because only those teach something.
pub(crate) fn check_lesson_fields(
    status: GhapStatus,
    surprise: bool,
    root_cause: bool,
) -> Result<(), GhapError> {
    let missing = match (surprise, root_cause) {
        _ if status != GhapStatus::Falsified => return Ok(()),
        (true, true) => return Ok(()),
        (false, true) => "a surprise",
        (true, false) => "a root cause and its category",
        (false, false) => "a surprise, and a root cause with its category",
    };
    Err(GhapError::Falsified { missing })
}

/// Returns the quality of a resolution's evidence. Only a run makes it gold; a claim does not.
pub(crate) fn evidence_tier(
    status: GhapStatus,
    testable: bool,
    evidence: Option<ResolutionEvidence>,
) -> Tier {
    match (status, evidence) {
        (GhapStatus::Abandoned, _) => Tier::Abandoned,
        (_, Some(ResolutionEvidence { supports: true, .. })) => Tier::Gold,
        _ if testable => Tier::Silver,
        _ => Tier::Bronze,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_make_gold() {
        let evidence = |supports| Some(ResolutionEvidence { outcome: None, supports });
        for (status, testable, evidence, expected) in [
            (GhapStatus::Confirmed, true, None, Tier::Silver),
            (GhapStatus::Confirmed, false, None, Tier::Bronze),
            (GhapStatus::Confirmed, true, evidence(true), Tier::Gold),
            (GhapStatus::Confirmed, true, evidence(false), Tier::Silver),
            (GhapStatus::Falsified, true, evidence(true), Tier::Gold),
            (GhapStatus::Falsified, false, None, Tier::Bronze),
            (GhapStatus::Abandoned, true, evidence(true), Tier::Abandoned),
        ] {
            assert_eq!(
                evidence_tier(status, testable, evidence),
                expected,
                "{status} {testable} {evidence:?}"
            );
        }
    }

    #[test]
    fn prediction_words_select_run_kind() {
        for (prediction, kind) in [
            ("all tests pass", RunKind::Test),
            ("it goes green", RunKind::Test),
            ("the crate compiles", RunKind::Build),
            ("the build of the tests fails", RunKind::Test),
            ("no lint complains", RunKind::Lint),
            ("it type checks", RunKind::Typecheck),
        ] {
            assert_eq!(expected_run_kinds(prediction)[0], kind, "{prediction}");
        }
    }

    #[test]
    fn falsified_needs_surprise_and_cause() {
        assert_eq!(check_lesson_fields(GhapStatus::Confirmed, false, false), Ok(()));
        assert_eq!(check_lesson_fields(GhapStatus::Falsified, true, true), Ok(()));
        for (surprise, cause) in [(true, false), (false, true), (false, false)] {
            assert!(matches!(
                check_lesson_fields(GhapStatus::Falsified, surprise, cause),
                Err(GhapError::Falsified { .. })
            ));
        }
    }
}
