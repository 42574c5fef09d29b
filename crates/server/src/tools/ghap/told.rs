//! What the tools of GHAPs give.
//!
//! The client shows a model what is structured, not the text beside it. So a list has of each what is needed to choose one,
//! and one that was asked for by its id is whole.

use std::fmt::Write as _;

use rutter_memory::Clean;
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome;
use rutter_memory::quote::field;
use schemars::JsonSchema;
use serde::Serialize;

use crate::tools::{LINE, cut, quoted, short};

/// What is worked on now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Started {
    pub(super) ok: bool,
    pub(super) id: String,
    /// What a run must say for the prediction to come true.
    pub(super) expects: String,
    /// Of which command, test or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    /// Whether any run could tell.
    pub(super) testable: bool,
    /// How often the belief has changed.
    pub(super) revisions: usize,
    /// What to do so that a run can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

/// How it ended.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Resolved {
    pub(super) ok: bool,
    pub(super) id: String,
    pub(super) status: String,
    pub(super) tier: String,
    /// The captured run it was held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
    /// Why it has that tier.
    pub(super) why: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Outcome {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) verdict: String,
}

impl From<&outcome::Outcome> for Outcome {
    fn from(outcome: &outcome::Outcome) -> Self {
        Self {
            id: outcome.id.to_string(),
            command: cut(&outcome.command, LINE),
            verdict: outcome.verdict.to_string(),
        }
    }
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    pub(super) has_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) active: Option<Whole>,
    /// The one that was asked for by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ghap: Option<Whole>,
    /// Active, and their session is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) orphans: Vec<Brief>,
    /// A list that was asked for, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) entries: Vec<Brief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
}

/// One of many.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Brief {
    id: String,
    status: String,
    domain: String,
    goal: String,
    /// What it taught.
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    /// What happened, where it taught nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

impl From<&Ghap> for Brief {
    fn from(ghap: &Ghap) -> Self {
        let ended = ghap.resolution.as_ref();
        let takeaway = ended
            .and_then(|ended| ended.lesson.as_ref())
            .and_then(|lesson| lesson.takeaway.as_ref())
            .map(|takeaway| cut(takeaway, LINE));
        let result = ended.map(|ended| cut(&ended.result, LINE)).filter(|_| takeaway.is_none());
        Self {
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            goal: cut(&ghap.goal, LINE),
            takeaway,
            result,
        }
    }
}

impl Brief {
    /// On one line.
    pub(super) fn line(&self) -> String {
        let said = self.takeaway.as_ref().or(self.result.as_ref());
        let said = said.map_or_else(String::new, |said| format!(" — {}", quoted(said)));
        format!("{} {}: {}{said}", short(&self.id), self.status, quoted(&self.goal))
    }
}

/// One, with all that is known of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Whole {
    id: String,
    status: String,
    domain: String,
    strategy: String,
    goal: String,
    hypothesis: String,
    action: String,
    prediction: String,
    /// What a run must say for the prediction to come true.
    expects: String,
    /// Of which command, test or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Whether any run could tell.
    testable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    revisions: Vec<Revision>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_cause: Option<RootCause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_worked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    /// The captured run that it was held against when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Revision {
    hypothesis: String,
    action: String,
    prediction: String,
}

#[derive(Serialize, JsonSchema)]
struct RootCause {
    category: String,
    description: String,
}

impl Whole {
    /// `run` is the one that it was held against when it ended.
    pub(super) fn new(ghap: &Ghap, run: Option<&outcome::Outcome>) -> Self {
        let ended = ghap.resolution.as_ref();
        let lesson = ended.and_then(|ended| ended.lesson.as_ref());
        let text = |text: &Clean| field(text);
        Self {
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            strategy: ghap.strategy.to_string(),
            goal: text(&ghap.goal),
            hypothesis: text(&ghap.hypothesis),
            action: text(&ghap.action),
            prediction: text(&ghap.prediction),
            expects: ghap.expects.to_string(),
            target: ghap.target.as_ref().map(text),
            testable: ghap.testable,
            confidence: ghap.confidence,
            revisions: ghap
                .revisions
                .iter()
                .map(|old| Revision {
                    hypothesis: text(&old.hypothesis),
                    action: text(&old.action),
                    prediction: text(&old.prediction),
                })
                .collect(),
            notes: ghap.notes.iter().map(|note| text(&note.text)).collect(),
            result: ended.map(|ended| text(&ended.result)),
            surprise: ended.and_then(|ended| ended.surprise.as_ref()).map(text),
            root_cause: ended.and_then(|ended| ended.root_cause.as_ref()).map(|cause| RootCause {
                category: cause.category.to_string(),
                description: text(&cause.text),
            }),
            what_worked: lesson.and_then(|lesson| lesson.what_worked.as_ref()).map(text),
            takeaway: lesson.and_then(|lesson| lesson.takeaway.as_ref()).map(text),
            tier: ended.map(|ended| ended.tier.to_string()),
            outcome: run.map(Outcome::from),
            created: ghap.created.to_string(),
            ended: ended.map(|ended| ended.at.to_string()),
            origin: None,
        }
    }

    /// On a few lines.
    pub(super) fn lines(&self) -> String {
        let mut text = format!(
            "{} {} ({}, {}): {}\nhypothesis: {}\naction: {}\nprediction: {}",
            short(&self.id),
            self.status,
            self.domain,
            self.strategy,
            self.goal,
            self.hypothesis,
            self.action,
            self.prediction
        );
        for (name, what) in
            [("result", &self.result), ("surprise", &self.surprise), ("takeaway", &self.takeaway)]
        {
            if let Some(what) = what {
                let _ = write!(text, "\n{name}: {what}");
            }
        }
        if let Some(Outcome { id, verdict, command }) = &self.outcome {
            let _ = write!(text, "\nrun: {} {verdict}, {command}", short(id));
        }
        text
    }
}
