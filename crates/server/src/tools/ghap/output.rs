//! Output types of the GHAP tools.
//!
//! The client shows a model the structured answer, not the text. So an entry of a list has only what is needed to
//! choose one, and a GHAP that is requested by id is complete.

use std::fmt::Write as _;

use rutter_memory::Clean;
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome;
use rutter_memory::quote::format_field;
use schemars::JsonSchema;
use serde::Serialize;

use crate::tools::{MAX_LINE_CHARS, quote_passage, short_id, spaced_mark, truncate_chars};

/// The answer of `start_ghap`, `update_ghap` and `adopt_ghap`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GhapAnswer {
    pub(super) ok: bool,
    pub(super) id: String,
    /// Result of a run that makes the prediction true.
    pub(super) expects: String,
    /// The command, test or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    /// True if a run can test it.
    pub(super) testable: bool,
    /// Number of earlier versions.
    pub(super) revisions: usize,
    /// Advice to make it testable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

/// The answer of `resolve_ghap`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResolveGhapAnswer {
    pub(super) ok: bool,
    pub(super) id: String,
    pub(super) status: String,
    pub(super) tier: String,
    /// The captured run compared with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<RunSummary>,
    /// Reason for the tier.
    pub(super) why: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RunSummary {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) verdict: String,
}

impl From<&outcome::Outcome> for RunSummary {
    fn from(outcome: &outcome::Outcome) -> Self {
        Self {
            id: outcome.id.to_string(),
            command: format_field(&truncate_chars(&outcome.command, MAX_LINE_CHARS)),
            verdict: outcome.verdict.to_string(),
        }
    }
}

/// The answer of `get_ghap`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GetGhapAnswer {
    pub(super) has_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) active: Option<GhapDetails>,
    /// The GHAP requested by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ghap: Option<GhapDetails>,
    /// Active GHAPs of ended sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) orphans: Vec<GhapBrief>,
    /// The requested list, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) entries: Vec<GhapBrief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
}

/// A GHAP in brief.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GhapBrief {
    id: String,
    status: String,
    domain: String,
    goal: String,
    /// The lesson.
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    /// The result, if it has no takeaway.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unconfirmed: Option<String>,
}

impl From<&Ghap> for GhapBrief {
    fn from(ghap: &Ghap) -> Self {
        let ended = ghap.resolution.as_ref();
        let takeaway = ended
            .and_then(|ended| ended.lesson.as_ref())
            .and_then(|lesson| lesson.takeaway.as_ref())
            .map(|takeaway| truncate_chars(takeaway, MAX_LINE_CHARS));
        let result = ended
            .map(|ended| truncate_chars(&ended.result, MAX_LINE_CHARS))
            .filter(|_| takeaway.is_none());
        Self {
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            goal: truncate_chars(&ghap.goal, MAX_LINE_CHARS),
            takeaway,
            result,
            unconfirmed: None,
        }
    }
}

impl GhapBrief {
    /// Formats it as one line.
    pub(super) fn line(&self) -> String {
        let said = self.takeaway.as_ref().or(self.result.as_ref());
        let said = said.map_or_else(String::new, |said| format!(" — {}", quote_passage(said)));
        let (goal, mark) = (quote_passage(&self.goal), spaced_mark(self.unconfirmed.as_deref()));
        format!("{} {}: {goal}{said}{mark}", short_id(&self.id), self.status)
    }
}

/// A complete GHAP.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GhapDetails {
    id: String,
    status: String,
    domain: String,
    strategy: String,
    goal: String,
    hypothesis: String,
    action: String,
    prediction: String,
    /// Result of a run that makes the prediction true.
    expects: String,
    /// The command, test or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// True if a run can test it.
    testable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    revisions: Vec<RevisionEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_cause: Option<RootCauseEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_worked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    applies_when: Vec<String>,
    /// Errors of the run; set if nobody wrote `applies_when`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    run_errors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    /// The captured run compared with it when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<RunSummary>,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// The origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unconfirmed: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RevisionEntry {
    hypothesis: String,
    action: String,
    prediction: String,
}

#[derive(Serialize, JsonSchema)]
struct RootCauseEntry {
    category: String,
    description: String,
}

impl GhapDetails {
    /// `run` is the captured run that was compared with the prediction when the GHAP ended.
    pub(super) fn new(ghap: &Ghap, run: Option<&outcome::Outcome>) -> Self {
        let ended = ghap.resolution.as_ref();
        let lesson = ended.and_then(|ended| ended.lesson.as_ref());
        let text = |text: &Clean| format_field(text);
        let phrases = |derived: bool| {
            let ended = ended.filter(|ended| ended.has_derived_phrases == derived);
            ended.map_or_else(Vec::new, |ended| ended.applies_when.iter().map(text).collect())
        };
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
                .map(|old| RevisionEntry {
                    hypothesis: text(&old.hypothesis),
                    action: text(&old.action),
                    prediction: text(&old.prediction),
                })
                .collect(),
            notes: ghap.notes.iter().map(|note| text(&note.text)).collect(),
            result: ended.map(|ended| text(&ended.result)),
            surprise: ended.and_then(|ended| ended.surprise.as_ref()).map(text),
            root_cause: ended.and_then(|ended| ended.root_cause.as_ref()).map(|cause| {
                RootCauseEntry {
                    category: cause.category.to_string(),
                    description: text(&cause.text),
                }
            }),
            what_worked: lesson.and_then(|lesson| lesson.what_worked.as_ref()).map(text),
            takeaway: lesson.and_then(|lesson| lesson.takeaway.as_ref()).map(text),
            applies_when: phrases(false),
            run_errors: phrases(true),
            tier: ended.map(|ended| ended.tier.to_string()),
            outcome: run.map(RunSummary::from),
            created: ghap.created.to_string(),
            ended: ended.map(|ended| ended.at.to_string()),
            origin: None,
            unconfirmed: None,
        }
    }

    /// Formats it as a few lines.
    pub(super) fn lines(&self) -> String {
        let mut text = format!(
            "{} {}{} ({}, {}): {}\nhypothesis: {}\naction: {}\nprediction: {}",
            short_id(&self.id),
            self.status,
            spaced_mark(self.unconfirmed.as_deref()),
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
        if let Some(RunSummary { id, verdict, command }) = &self.outcome {
            let _ = write!(text, "\nrun: {} {verdict}, {command}", short_id(id));
        }
        text
    }
}
