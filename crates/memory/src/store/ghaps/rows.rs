//! Database rows of GHAPs, with their revisions and notes.

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::ghap::{
    Ghap, GhapLesson, GhapNote, GhapStatus, Resolution, ResolutionEvidence, Revision, RootCause,
    StatedParts, Tier,
};
use crate::store::tables::{list_to_json, read_list};
use crate::store::{StoreError, StoreResult};
use crate::{Clean, Id};

pub(crate) const SELECT: &str =
    "SELECT ghap.*, project.key AS project_key, session.client AS session_client,
         outcome.uid AS outcome_uid
     FROM ghap JOIN project ON project.id = ghap.project JOIN session ON session.id = ghap.session
     LEFT JOIN outcome ON outcome.id = ghap.outcome";

pub(crate) fn load_ghap(connection: &Connection, id: Id) -> StoreResult<Ghap> {
    find_ghap(connection, "WHERE ghap.uid = ?1", &[&id])?
        .ok_or_else(|| StoreError::NotFound { what: "GHAP", id: id.into() })
}

pub(crate) fn find_ghap(
    connection: &Connection,
    rest: &str,
    params: &[&dyn ToSql],
) -> StoreResult<Option<Ghap>> {
    let mut ghap = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    Ok(ghap.query_row(params, |row| read_full_ghap(connection, row)).optional()?)
}

/// Returns the GHAPs of a query that pass `keep`, without revisions and notes.
pub(crate) fn select_ghaps(
    connection: &Connection,
    rest: &str,
    params: &[&dyn ToSql],
    mut keep: impl FnMut(&Ghap) -> StoreResult<bool>,
    limit: Option<usize>,
) -> StoreResult<Vec<Ghap>> {
    let mut ghaps = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    let mut rows = ghaps.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()?
        && limit.is_none_or(|limit| found.len() < limit)
    {
        let ghap = read_ghap(row)?;
        if keep(&ghap)? {
            found.push(ghap);
        }
    }
    Ok(found)
}

/// Loads the revisions and notes of GHAPs.
pub(crate) fn load_revisions_and_notes(
    connection: &Connection,
    ghaps: &mut [Ghap],
) -> rusqlite::Result<()> {
    let mut revisions = connection.prepare_cached(
        "SELECT at, hypothesis, action, prediction FROM ghap_revision
         WHERE ghap = (SELECT id FROM ghap WHERE uid = ?1) ORDER BY id",
    )?;
    let mut notes = connection.prepare_cached(
        "SELECT at, text FROM ghap_note WHERE ghap = (SELECT id FROM ghap WHERE uid = ?1) ORDER BY id",
    )?;
    for ghap in ghaps {
        ghap.revisions = revisions
            .query_map([ghap.id], |row| {
                Ok(Revision {
                    at: row.get(0)?,
                    hypothesis: row.get(1)?,
                    action: row.get(2)?,
                    prediction: row.get(3)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        ghap.notes = notes
            .query_map([ghap.id], |row| Ok(GhapNote { at: row.get(0)?, text: row.get(1)? }))?
            .collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Abandons an active GHAP because its project or session was merged with another that has a newer active one.
pub(crate) fn abandon_merged(connection: &Connection, id: Id) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE ghap SET status = ?2, tier = ?3, result = ?4, resolved = changed, changed = changed + 1 WHERE uid = ?1",
        params![id, GhapStatus::Abandoned, Tier::Abandoned, Resolution::MERGED_RESULT],
    )?;
    Ok(())
}

/// A condition for a replaced GHAP whose phrases stay: the new one has none, perhaps because a program wrote it that does
/// not know them, or it has derived ones and the old one has written ones.
const KEEPS_PHRASES: &str = "excluded.applies_when = '[]'
     OR (excluded.phrases_derived AND NOT ghap.phrases_derived AND ghap.applies_when != '[]')";

/// Inserts a GHAP unchanged, or replaces the one with the same id, except that [`KEEPS_PHRASES`].
pub(crate) fn upsert_ghap(
    connection: &Connection,
    project: i64,
    session: i64,
    ghap: &Ghap,
) -> rusqlite::Result<()> {
    let resolution = ghap.resolution.as_ref();
    let cause = resolution.and_then(|resolution| resolution.root_cause.as_ref());
    let lesson = resolution.and_then(|resolution| resolution.lesson.as_ref());
    let evidence = resolution.and_then(|resolution| resolution.evidence);
    let number: i64 = connection
        .prepare_cached(&format!(
            "INSERT INTO ghap (uid, project, session, agent, domain, strategy, goal, hypothesis, action, prediction,
                               expects, target, stated_expects, stated_target, testable, confidence, status, resolved,
                               result, surprise, cause, cause_text, what_worked, takeaway, tier, outcome, supports,
                               created, changed, predicted, applies_when, phrases_derived)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                     ?23, ?24, ?25, (SELECT id FROM outcome WHERE uid = ?26), ?27, ?28, ?29, ?30, ?31, ?32)
             ON CONFLICT (uid) DO UPDATE SET
                 project = excluded.project, session = excluded.session, agent = excluded.agent,
                 domain = excluded.domain, strategy = excluded.strategy, goal = excluded.goal,
                 hypothesis = excluded.hypothesis, action = excluded.action, prediction = excluded.prediction,
                 expects = excluded.expects, target = excluded.target, stated_expects = excluded.stated_expects,
                 stated_target = excluded.stated_target, testable = excluded.testable,
                 confidence = excluded.confidence, status = excluded.status, resolved = excluded.resolved,
                 result = excluded.result, surprise = excluded.surprise, cause = excluded.cause,
                 cause_text = excluded.cause_text, what_worked = excluded.what_worked, takeaway = excluded.takeaway,
                 tier = excluded.tier, outcome = excluded.outcome, supports = excluded.supports,
                 created = excluded.created, changed = excluded.changed, predicted = excluded.predicted,
                 applies_when = iif({KEEPS_PHRASES}, applies_when, excluded.applies_when),
                 phrases_derived = iif({KEEPS_PHRASES}, phrases_derived, excluded.phrases_derived)
             RETURNING id"
        ))?
        .query_row(
            params![
                ghap.id,
                project,
                session,
                ghap.agent.clone().unwrap_or_default(),
                ghap.domain,
                ghap.strategy,
                ghap.goal,
                ghap.hypothesis,
                ghap.action,
                ghap.prediction,
                ghap.expects,
                ghap.target,
                ghap.stated.expects,
                ghap.stated.target,
                ghap.testable,
                ghap.confidence,
                ghap.status,
                resolution.map(|resolution| resolution.at),
                resolution.map(|resolution| &resolution.result),
                resolution.and_then(|resolution| resolution.surprise.as_ref()),
                cause.map(|cause| cause.category),
                cause.map(|cause| &cause.text),
                lesson.and_then(|lesson| lesson.what_worked.as_ref()),
                lesson.and_then(|lesson| lesson.takeaway.as_ref()),
                resolution.map(|resolution| resolution.tier),
                evidence.and_then(|evidence| evidence.outcome),
                evidence.map(|evidence| evidence.supports),
                ghap.created,
                ghap.changed,
                ghap.predicted,
                list_to_json(resolution.map_or(&[], |resolution| &resolution.applies_when)),
                resolution.is_some_and(|resolution| resolution.has_derived_phrases),
            ],
            |row| row.get(0),
        )?;
    for table in ["ghap_revision", "ghap_note"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE ghap = ?1"))?
            .execute([number])?;
    }
    for Revision { at, hypothesis, action, prediction } in &ghap.revisions {
        connection
            .prepare_cached(
                "INSERT INTO ghap_revision (ghap, at, hypothesis, action, prediction) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![number, at, hypothesis, action, prediction])?;
    }
    for GhapNote { at, text } in &ghap.notes {
        connection
            .prepare_cached("INSERT INTO ghap_note (ghap, at, text) VALUES (?1, ?2, ?3)")?
            .execute(params![number, at, text])?;
    }
    Ok(())
}

/// Reads a GHAP with its revisions and notes.
pub(crate) fn read_full_ghap(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Ghap> {
    let mut ghap = [read_ghap(row)?];
    load_revisions_and_notes(connection, &mut ghap)?;
    let [ghap] = ghap;
    Ok(ghap)
}

fn read_ghap(row: &Row<'_>) -> rusqlite::Result<Ghap> {
    let agent: Clean = row.get("agent")?;
    let tier: Option<Tier> = row.get("tier")?;
    let resolution = match tier {
        None => None,
        Some(tier) => Some(Resolution {
            at: row.get("resolved")?,
            result: row.get("result")?,
            surprise: row.get("surprise")?,
            root_cause: match row.get("cause")? {
                Some(category) => Some(RootCause { category, text: row.get("cause_text")? }),
                None => None,
            },
            lesson: match (row.get("what_worked")?, row.get("takeaway")?) {
                (None, None) => None,
                (what_worked, takeaway) => Some(GhapLesson { what_worked, takeaway }),
            },
            applies_when: read_list(row, "applies_when")?,
            has_derived_phrases: row.get("phrases_derived")?,
            tier,
            evidence: match row.get("supports")? {
                Some(supports) => {
                    Some(ResolutionEvidence { outcome: row.get("outcome_uid")?, supports })
                }
                None => None,
            },
        }),
    };
    Ok(Ghap {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        session: row.get("session_client")?,
        agent: (!agent.is_empty()).then_some(agent),
        domain: row.get("domain")?,
        strategy: row.get("strategy")?,
        goal: row.get("goal")?,
        hypothesis: row.get("hypothesis")?,
        action: row.get("action")?,
        prediction: row.get("prediction")?,
        expects: row.get("expects")?,
        target: row.get("target")?,
        stated: StatedParts {
            expects: row.get("stated_expects")?,
            target: row.get("stated_target")?,
        },
        testable: row.get("testable")?,
        confidence: row.get("confidence")?,
        predicted: row.get("predicted")?,
        revisions: Vec::new(),
        notes: Vec::new(),
        status: row.get("status")?,
        resolution,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}
