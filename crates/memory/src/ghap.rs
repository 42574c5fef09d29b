//! GHAP: a goal, the hypothesis behind it, the action it leads to, and what that is predicted to do.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::outcome::{Kind, Outcome, Verdict};
use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

pub mod expect;
mod vocabulary;

pub use vocabulary::{Cause, Domain, Status, Strategy, Tier};

use expect::Expects;

/// A goal and what is believed about the way there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ghap {
    /// Its identity.
    pub id: Id,
    /// The project it is about.
    pub project: ProjectKey,
    /// The session it belongs to, by the client's name for it.
    pub session: Clean,
    /// The agent it belongs to; none is the main one.
    pub agent: Option<Clean>,
    /// What kind of work it is.
    pub domain: Domain,
    /// How it is gone about.
    pub strategy: Strategy,
    /// What is wanted.
    pub goal: Clean,
    /// What is believed.
    pub hypothesis: Clean,
    /// What is done about it.
    pub action: Clean,
    /// What will be seen if the belief is right.
    pub prediction: Clean,
    /// What a run must say for the prediction to come true.
    pub expects: Expects,
    /// The command, test or file that such a run is about.
    pub target: Option<Clean>,
    /// What of the two the author said, rather than the words of the prediction.
    pub stated: Stated,
    /// Whether any run could tell.
    pub testable: bool,
    /// How sure the author is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Since when the prediction, and what it is held against, stand as they do. A run before that is no evidence.
    pub predicted: Time,
    /// Earlier beliefs, oldest first.
    pub revisions: Vec<Revision>,
    /// Remarks on the way, oldest first.
    pub notes: Vec<Note>,
    /// Where it is in its life.
    pub status: Status,
    /// How it ended.
    pub resolution: Option<Resolution>,
    /// When it was started.
    pub created: Time,
    /// When it last changed.
    pub changed: Time,
}

choice! {
    /// What a run says about a prediction.
    Told, "what a run says of a prediction" {
        /// It came true.
        Matches = "matches",
        /// It did not.
        Contradicts = "contradicts",
        /// It did not, but less is wrong than before.
        Partial = "partial",
    }
}

/// What the author said about the run to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// What it must say.
    pub expects: bool,
    /// What it is about.
    pub target: bool,
}

/// A belief that was given up for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// When it was given up.
    pub at: Time,
    /// What was believed.
    pub hypothesis: Clean,
    /// What was done.
    pub action: Clean,
    /// What was predicted.
    pub prediction: Clean,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// When it was made.
    pub at: Time,
    /// What it says.
    pub text: Clean,
}

/// How a GHAP ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    /// When.
    pub at: Time,
    /// What happened; for one that was given up, why.
    pub result: Clean,
    /// What was not expected.
    pub surprise: Option<Clean>,
    /// Why it came otherwise.
    pub root_cause: Option<RootCause>,
    /// What to do next time.
    pub lesson: Option<Lesson>,
    /// How well it is founded.
    pub tier: Tier,
    /// The run behind it.
    pub evidence: Option<Evidence>,
}

impl Resolution {
    /// What two places that became one leave of the older of their active GHAPs.
    pub(crate) const LAID_DOWN: &'static str =
        "its place was joined with another that had a younger active GHAP";

    pub(crate) fn laid_down(at: Time) -> Self {
        Self {
            at,
            result: Clean::new(Self::LAID_DOWN),
            surprise: None,
            root_cause: None,
            lesson: None,
            tier: Tier::Abandoned,
            evidence: None,
        }
    }
}

/// Why a prediction failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootCause {
    /// Of which kind.
    pub category: Cause,
    /// In words.
    pub text: Clean,
}

/// What to take along. At least one of the two is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// What did it in the end.
    pub what_worked: Option<Clean>,
    /// What to remember.
    pub takeaway: Option<Clean>,
}

/// A captured run that was looked at when the GHAP was resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Which; it may have been forgotten since.
    pub outcome: Option<Id>,
    /// Whether it says the same as the one who resolved. Only then the tier is gold.
    pub supports: bool,
}

/// What is needed to start one.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// What kind of work it is.
    pub domain: Domain,
    /// How it is gone about.
    pub strategy: Strategy,
    /// What is wanted.
    pub goal: &'a str,
    /// What is believed.
    pub hypothesis: &'a str,
    /// What is done about it.
    pub action: &'a str,
    /// What will be seen.
    pub prediction: &'a str,
    /// What a run must say; else the prediction's words decide.
    pub expects: Option<Expects>,
    /// What the run is about; else the prediction's words decide.
    pub target: Option<&'a str>,
    /// How sure, from 0 to 1.
    pub confidence: Option<f64>,
}

/// What can change while one is active. What is `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Update<'a> {
    /// What is believed.
    pub hypothesis: Option<&'a str>,
    /// What is done about it.
    pub action: Option<&'a str>,
    /// What will be seen.
    pub prediction: Option<&'a str>,
    /// How it is gone about.
    pub strategy: Option<Strategy>,
    /// What a run must say.
    pub expects: Option<Expects>,
    /// What the run is about.
    pub target: Option<&'a str>,
    /// How sure.
    pub confidence: Option<f64>,
    /// A remark to add.
    pub note: Option<&'a str>,
}

/// What is needed to resolve one.
#[derive(Debug, Clone, Copy)]
pub struct Resolve<'a> {
    /// How it ended.
    pub status: Status,
    /// What happened.
    pub result: &'a str,
    /// What was not expected. Needed where the prediction failed.
    pub surprise: Option<&'a str>,
    /// Why it came otherwise. Needed where the prediction failed.
    pub root_cause: Option<(Cause, &'a str)>,
    /// What did it in the end.
    pub what_worked: Option<&'a str>,
    /// What to remember.
    pub takeaway: Option<&'a str>,
    /// The run that shows it; else the newest that fits.
    pub outcome: Option<Id>,
    /// Whether no run is to be looked for where none is named.
    pub unlooked: bool,
}

/// What cannot be done with a GHAP.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GhapError {
    /// A text is empty or too long.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Confidence is a share.
    #[error("confidence is a number from 0 to 1, not {0}")]
    Confidence(f64),
    /// There is one already.
    #[error("a GHAP is active already: {id} \"{goal}\"; resolve or abandon it first")]
    Active {
        /// Which.
        id: String,
        /// What it wants.
        goal: Clean,
    },
    /// There is none.
    #[error("no GHAP is active here; start one with `rutter ghap start`")]
    NoneActive,
    /// It ended already.
    #[error("GHAP {id} is {status} already")]
    Ended {
        /// Which.
        id: String,
        /// How.
        status: Status,
    },
    /// It has left no lesson yet.
    #[error("GHAP {id} is still active; its lesson is written by `rutter ghap resolve`")]
    NotEnded {
        /// Which.
        id: String,
    },
    /// Somebody works on it.
    #[error("GHAP {id} belongs to a session that is still alive")]
    Alive {
        /// Which.
        id: String,
    },
    /// It is about another project.
    #[error(
        "GHAP {id} belongs to the project {project}; go to its folder to take it over or give it up"
    )]
    Elsewhere {
        /// Which.
        id: String,
        /// Where it belongs.
        project: ProjectKey,
    },
    /// It is the caller's own.
    #[error("GHAP {id} is this session's own already")]
    Own {
        /// Which.
        id: String,
    },
    /// A failed prediction without what makes it worth anything.
    #[error("a falsified GHAP needs {missing}: that is what can be learnt from it")]
    Falsified {
        /// What it needs.
        missing: &'static str,
    },
    /// Active is where it comes from.
    #[error("a GHAP is resolved as confirmed, falsified or abandoned")]
    StillActive,
    /// The run that was named says nothing about the prediction.
    #[error("outcome {id} is no evidence here: {why}")]
    NoEvidence {
        /// Which.
        id: String,
        /// Why.
        why: &'static str,
    },
    /// A tier that its evidence does not bear.
    #[error("it is called {0}, and its evidence does not make it so")]
    Tier(Tier),
    /// Nothing to change.
    #[error("nothing was said to change; name what is new, as `--hypothesis TEXT`")]
    NothingToChange,
}

/// Checks a confidence.
pub fn confidence(value: f64) -> Result<f64, GhapError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(GhapError::Confidence(value)) }
}

/// What the prediction can be held against: what was stated, and the words for the rest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expectation {
    pub(crate) expects: Expects,
    pub(crate) target: Option<Clean>,
    pub(crate) stated: Stated,
    pub(crate) testable: bool,
}

impl Expectation {
    pub(crate) fn of(
        prediction: &str,
        action: &str,
        expects: Option<Expects>,
        target: Option<Clean>,
    ) -> Self {
        let derived = expect::derive(prediction, action);
        let stated = Stated { expects: expects.is_some(), target: target.is_some() };
        Self {
            expects: expects.unwrap_or(derived.expects),
            target: target.or_else(|| derived.target.as_deref().map(Clean::new)),
            stated,
            testable: stated.expects || stated.target || derived.testable,
        }
    }
}

impl Ghap {
    /// What a run says about the prediction: whether it came true; or why the run says nothing.
    pub fn compare(&self, outcome: &Outcome) -> Result<bool, &'static str> {
        if !self.testable {
            return Err("nothing that a run could show was predicted");
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
        if self.target.is_none() && !kinds(&self.prediction).contains(&outcome.kind) {
            return Err("it is not the kind of run that the prediction is about");
        }
        if !expect::fits(self.target.as_deref(), &outcome.command, &outcome.failing) {
            return Err("its command is not what the prediction is about");
        }
        match outcome.verdict {
            Verdict::Unknown => Err("it does not say whether it passed"),
            Verdict::Passed => Ok(self.expects == Expects::Pass),
            Verdict::Failed => Ok(self.expects == Expects::Fail),
        }
    }

    /// Holds one from elsewhere to what every command holds to.
    pub fn check(&self) -> Result<(), GhapError> {
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
        self.confidence.map(confidence).transpose()?;
        match (self.status, &self.resolution) {
            (Status::Active, None) => Ok(()),
            (Status::Active, Some(_)) | (_, None) => Err(GhapError::StillActive),
            // A tier is made by evidence, not by a file that says so.
            (status, Some(resolution))
                if resolution.tier != tier(status, self.testable, resolution.evidence) =>
            {
                Err(GhapError::Tier(resolution.tier))
            }
            (status, Some(resolution)) => {
                need_for(status, resolution.surprise.is_some(), resolution.root_cause.is_some())
            }
        }
    }
}

/// Which kinds of run a prediction is about that names no command, test or file. Tests, unless it says otherwise.
fn kinds(prediction: &str) -> &'static [Kind] {
    let prediction = prediction.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| prediction.contains(word));
    match () {
        () if says(&["test", "spec", "suite"]) => &[Kind::Test],
        () if says(&["type check", "type-check", "typecheck", "types check"]) => &[Kind::Typecheck],
        () if says(&["lint", "clippy"]) => &[Kind::Lint],
        () if says(&["compil", "build", "link"]) => &[Kind::Build, Kind::Typecheck],
        () => &[Kind::Test],
    }
}

/// A failed prediction is worth what it teaches.
pub(crate) fn need_for(status: Status, surprise: bool, root_cause: bool) -> Result<(), GhapError> {
    let missing = match (surprise, root_cause) {
        _ if status != Status::Falsified => return Ok(()),
        (true, true) => return Ok(()),
        (false, true) => "a surprise",
        (true, false) => "a root cause and its category",
        (false, false) => "a surprise, and a root cause with its category",
    };
    Err(GhapError::Falsified { missing })
}

/// How well a resolution is founded. Only a run makes gold; nobody's word does.
pub(crate) fn tier(status: Status, testable: bool, evidence: Option<Evidence>) -> Tier {
    match (status, evidence) {
        (Status::Abandoned, _) => Tier::Abandoned,
        (_, Some(Evidence { supports: true, .. })) => Tier::Gold,
        _ if testable => Tier::Silver,
        _ => Tier::Bronze,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_word_makes_gold() {
        let evidence = |supports| Some(Evidence { outcome: None, supports });
        for (status, testable, evidence, expected) in [
            (Status::Confirmed, true, None, Tier::Silver),
            (Status::Confirmed, false, None, Tier::Bronze),
            (Status::Confirmed, true, evidence(true), Tier::Gold),
            (Status::Confirmed, true, evidence(false), Tier::Silver),
            (Status::Falsified, true, evidence(true), Tier::Gold),
            (Status::Falsified, false, None, Tier::Bronze),
            (Status::Abandoned, true, evidence(true), Tier::Abandoned),
        ] {
            assert_eq!(
                tier(status, testable, evidence),
                expected,
                "{status} {testable} {evidence:?}"
            );
        }
    }

    #[test]
    fn a_prediction_without_target_is_about_a_kind_of_run() {
        for (prediction, kind) in [
            ("all tests pass", Kind::Test),
            ("it goes green", Kind::Test),
            ("the crate compiles", Kind::Build),
            ("the build of the tests fails", Kind::Test),
            ("no lint complains", Kind::Lint),
            ("it type checks", Kind::Typecheck),
        ] {
            assert_eq!(kinds(prediction)[0], kind, "{prediction}");
        }
    }

    #[test]
    fn a_failed_prediction_has_to_teach_something() {
        assert_eq!(need_for(Status::Confirmed, false, false), Ok(()));
        assert_eq!(need_for(Status::Falsified, true, true), Ok(()));
        for (surprise, cause) in [(true, false), (false, true), (false, false)] {
            assert!(matches!(
                need_for(Status::Falsified, surprise, cause),
                Err(GhapError::Falsified { .. })
            ));
        }
    }
}
