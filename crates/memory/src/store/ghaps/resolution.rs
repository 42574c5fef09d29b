//! Resolution of GHAPs: the agent's claim, and the run that supports or contradicts it.

use rusqlite::{Connection, params};

use super::ResolvedGhap;
use super::derived_phrases::derive_phrases;
use super::rows::load_ghap;
use crate::applies_when::validate_phrases;
use crate::ghap::{
    self, Ghap, GhapError, GhapLesson, GhapResolve, GhapStatus, ResolutionEvidence, RootCause,
};
use crate::outcome::Outcome;
use crate::store::tables::list_to_json;
use crate::store::{StoreError, StoreResult, origins, outcomes};
use crate::{Clean, Id, Limit, Time};

/// The texts of a resolution, validated before anything is written.
pub(super) struct CheckedResolution {
    status: GhapStatus,
    result: Clean,
    surprise: Option<Clean>,
    root_cause: Option<RootCause>,
    lesson: Option<GhapLesson>,
    applies_when: Vec<Clean>,
}

impl CheckedResolution {
    pub(super) fn validate(resolve: &GhapResolve<'_>) -> Result<Self, GhapError> {
        if resolve.status == GhapStatus::Active {
            return Err(GhapError::StillActive);
        }
        let long = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Long)).transpose()
        };
        let root_cause = match resolve.root_cause {
            Some((category, text)) => Some(RootCause {
                category,
                text: Clean::within(text, "the root cause", Limit::Long)?,
            }),
            None => None,
        };
        let surprise = long(resolve.surprise, "the surprise")?;
        let (what_worked, takeaway) =
            (long(resolve.what_worked, "what worked")?, long(resolve.takeaway, "the takeaway")?);
        ghap::check_lesson_fields(resolve.status, surprise.is_some(), root_cause.is_some())?;
        Ok(Self {
            status: resolve.status,
            result: Clean::within(resolve.result, "the result", Limit::Long)?,
            surprise,
            root_cause,
            lesson: (what_worked.is_some() || takeaway.is_some())
                .then_some(GhapLesson { what_worked, takeaway }),
            applies_when: validate_phrases(resolve.applies_when)?,
        })
    }
}

impl CheckedResolution {
    /// Returns the texts of the GHAP and of its resolution.
    fn said_with(&self, ghap: &Ghap) -> String {
        let lesson = self.lesson.as_ref();
        let texts = [
            Some(&ghap.goal),
            Some(&ghap.hypothesis),
            Some(&ghap.action),
            Some(&ghap.prediction),
            Some(&self.result),
            self.surprise.as_ref(),
            self.root_cause.as_ref().map(|cause| &cause.text),
            lesson.and_then(|lesson| lesson.what_worked.as_ref()),
            lesson.and_then(|lesson| lesson.takeaway.as_ref()),
        ];
        texts.into_iter().flatten().map(Clean::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the run to compare the claim with, and whether the prediction came true: the named run, which must match, or
/// the newest run that matches.
pub(crate) fn find_evidence(
    connection: &Connection,
    ghap: &Ghap,
    named: Option<Id>,
) -> StoreResult<Option<(Outcome, bool)>> {
    if let Some(id) = named {
        let refuse = |why| StoreError::from(GhapError::NoEvidence { id: id.short(), why });
        let outcome = outcomes::select_outcomes(connection, "WHERE outcome.uid = ?1", [id])?.pop();
        let outcome = outcome.ok_or_else(|| refuse("there is no such outcome"))?;
        if origins::is_unconfirmed_import(connection, id)? {
            return Err(refuse("it was imported and not accepted"));
        }
        let came_true = ghap.compare(&outcome).map_err(refuse)?;
        return Ok(Some((outcome, came_true)));
    }
    newest_matching_run(connection, ghap, false)
}

/// Returns the newest run that matches a prediction, and whether it came true. With `own`, only runs of the GHAP's
/// agent count.
pub(crate) fn newest_matching_run(
    connection: &Connection,
    ghap: &Ghap,
    own: bool,
) -> StoreResult<Option<(Outcome, bool)>> {
    // By the time the run ended: a run that was spooled is inserted later.
    let recent = outcomes::select_outcomes(
        connection,
        &format!(
            "WHERE project.key = ?1 AND outcome.at >= ?2 AND (session.client = ?3 OR outcome.session IS NULL)
               AND (NOT ?4 OR outcome.agent IS ?5) AND {}
             ORDER BY outcome.at DESC, outcome.id DESC LIMIT 500",
            origins::own_row_condition("outcome.uid")
        ),
        params![ghap.project, ghap.predicted, ghap.session, own, ghap.agent],
    )?;
    Ok(recent
        .into_iter()
        .find_map(|outcome| ghap.compare(&outcome).ok().map(|came_true| (outcome, came_true))))
}

pub(super) fn write_resolution(
    connection: &Connection,
    ghap: &Ghap,
    ending: &CheckedResolution,
    outcome: Option<(Outcome, bool)>,
    now: Time,
) -> StoreResult<ResolvedGhap> {
    // An abandoned GHAP makes no claim that a run could support.
    let evidence = outcome.as_ref().filter(|_| ending.status != GhapStatus::Abandoned).map(
        |(outcome, came_true)| ResolutionEvidence {
            outcome: Some(outcome.id),
            supports: *came_true == (ending.status == GhapStatus::Confirmed),
        },
    );
    let derived = match evidence.and_then(|evidence| evidence.outcome) {
        Some(outcome) if ending.applies_when.is_empty() => {
            derive_phrases(connection, &ending.said_with(ghap), outcome)?
        }
        _ => Vec::new(),
    };
    let phrases = if derived.is_empty() { &ending.applies_when } else { &derived };
    let tier = ghap::evidence_tier(ending.status, ghap.testable, evidence);
    let (cause, cause_text) =
        ending.root_cause.as_ref().map(|cause| (cause.category, &cause.text)).unzip();
    let lesson = ending.lesson.as_ref();
    let at = now.max(ghap.created);
    connection.execute(
        "UPDATE ghap SET status = ?2, resolved = ?3, result = ?4, surprise = ?5, cause = ?6, cause_text = ?7,
                what_worked = ?8, takeaway = ?9, tier = ?10, supports = ?11,
                outcome = (SELECT id FROM outcome WHERE uid = ?12), changed = max(changed + 1, ?3),
                applies_when = ?13, phrases_derived = ?14
         WHERE uid = ?1",
        params![
            ghap.id,
            ending.status,
            at,
            ending.result,
            ending.surprise,
            cause,
            cause_text,
            lesson.and_then(|lesson| lesson.what_worked.as_ref()),
            lesson.and_then(|lesson| lesson.takeaway.as_ref()),
            tier,
            evidence.map(|evidence| evidence.supports),
            evidence.and_then(|evidence| evidence.outcome),
            list_to_json(phrases),
            !derived.is_empty(),
        ],
    )?;
    // The session may be shown a premortem again.
    connection.execute(
        "UPDATE session SET warned = 0 WHERE id = (SELECT session FROM ghap WHERE uid = ?1)",
        [ghap.id],
    )?;
    connection.execute(
        "INSERT INTO experience (uid, project, ghap, tier, created) SELECT ?2, project, id, ?3, ?4 FROM ghap WHERE uid = ?1",
        params![ghap.id, Id::new(now), tier, at],
    )?;
    Ok(ResolvedGhap {
        ghap: load_ghap(connection, ghap.id)?,
        outcome: evidence.and(outcome).map(|(outcome, _)| outcome),
    })
}

/// Abandons a GHAP for a reason that the program gives.
pub(crate) fn abandon_ghap(
    connection: &Connection,
    ghap: &Ghap,
    reason: &str,
    now: Time,
) -> StoreResult {
    let ending = CheckedResolution {
        status: GhapStatus::Abandoned,
        result: Clean::new(reason),
        surprise: None,
        root_cause: None,
        lesson: None,
        applies_when: Vec::new(),
    };
    write_resolution(connection, ghap, &ending, None, now).map(drop)
}
