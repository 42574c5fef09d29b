//! Imports rows of another person. They are added and never change an existing row. Rows with effects beyond their
//! project, or with a standing that only a person can give, become proposals that wait for the user.

use rusqlite::{Connection, OptionalExtension as _};

use super::import::{RowImport, RowRefusal, check_key, find_project, import_record};
use super::{ExportRecord, ProjectAlias};
use crate::ghap::{Ghap, GhapStatus, Resolution};
use crate::outcome::Outcome;
use crate::store::projects::{self, Project};
use crate::store::{origins, outcomes, proposals};
use crate::value::{Value, ValueStanding};
use crate::{Clean, Id, Time};

/// Imports one row of another person.
pub(super) fn import_foreign(
    connection: &Connection,
    record: &ExportRecord,
    batch: i64,
    now: Time,
) -> Result<RowImport, RowRefusal> {
    let wait = |record: &ExportRecord| {
        proposals::propose_record(connection, record, batch, now)?;
        Ok(RowImport::Waiting)
    };
    // A project is identified by its key instead.
    if !matches!(record, ExportRecord::Project(_))
        && let Some(id) = record.row_id()
        && is_id_taken(connection, id)?
    {
        return Ok(RowImport::Kept);
    }
    match record {
        ExportRecord::Project(project) => import_foreign_project(connection, project, batch, now),
        ExportRecord::Session(session) => {
            let is_known: bool = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1)")?
                .query_row([&session.client], |row| row.get(0))?;
            if is_known { Ok(RowImport::Kept) } else { import_record(connection, record) }
        }
        ExportRecord::Outcome(outcome) => import_foreign_outcome(connection, outcome),
        // A file may not add GHAPs to the sessions of this machine.
        ExportRecord::Ghap(ghap) if is_own_session(connection, &ghap.session)? => {
            Ok(RowImport::LeftOut)
        }
        ExportRecord::Ghap(ghap) if ghap.status == GhapStatus::Active => {
            // It cannot be continued on this machine.
            let laid_down = Ghap {
                status: GhapStatus::Abandoned,
                resolution: Some(Resolution::abandoned_by_merge(ghap.changed)),
                ..(**ghap).clone()
            };
            import_record(connection, &ExportRecord::Ghap(Box::new(laid_down)))
        }
        // Its GHAP was left out.
        ExportRecord::Experience(experience) if !has_ghap(connection, experience.ghap)? => {
            Ok(RowImport::LeftOut)
        }
        ExportRecord::Memory(memory) if memory.project.is_none() => {
            memory.validate().map_err(|error| RowRefusal::Row(error.to_string()))?;
            wait(record)
        }
        ExportRecord::Value(value) => {
            value.validate().map_err(|error| RowRefusal::Row(error.to_string()))?;
            let unsupported = Value { support: 0, ..value.clone() };
            let record = ExportRecord::Value(unsupported);
            match (value.standing, &value.project) {
                (ValueStanding::Accepted, _) | (_, None) => wait(&record),
                (ValueStanding::Proposed | ValueStanding::Retired, Some(_)) => {
                    import_record(connection, &record)
                }
            }
        }
        // A failure that is open on another machine is not tracked here.
        ExportRecord::CommandEpisode(episode) if episode.variant().is_none() => {
            Ok(RowImport::LeftOut)
        }
        ExportRecord::Episode(episode) if episode.ending.is_none() => Ok(RowImport::LeftOut),
        // Changes belong to open failures, and the effects of rows on another machine do not count here.
        ExportRecord::Change(_) | ExportRecord::Injection(_) => Ok(RowImport::LeftOut),
        ExportRecord::Alias(alias) => {
            check_key(&alias.key)?;
            wait(record)
        }
        ExportRecord::RutterExport { .. }
        | ExportRecord::Ghap(_)
        | ExportRecord::Experience(_)
        | ExportRecord::Memory(_)
        | ExportRecord::Episode(_)
        | ExportRecord::CommandEpisode(_)
        | ExportRecord::Origin(_) => import_record(connection, record),
    }
}

/// Returns true if a session with this name belongs to this machine.
fn is_own_session(connection: &Connection, client: &Clean) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1 AND NOT EXISTS (
                 SELECT 1 FROM origin WHERE origin.row = session.uid AND origin.batch IS NOT NULL))",
        )?
        .query_row([client], |row| row.get(0))
}

fn has_ghap(connection: &Connection, ghap: Id) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM ghap WHERE uid = ?1)")?
        .query_row([ghap], |row| row.get(0))
}

/// Returns true if a row of any kind has this id. Origins are stored by id alone, so a memory with the id of an episode
/// would inherit its origin.
fn is_id_taken(connection: &Connection, id: Id) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM project WHERE uid = ?1) OR EXISTS (SELECT 1 FROM session WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM outcome WHERE uid = ?1) OR EXISTS (SELECT 1 FROM ghap WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM experience WHERE uid = ?1) OR EXISTS (SELECT 1 FROM memory WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM value WHERE uid = ?1) OR EXISTS (SELECT 1 FROM episode WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM command_episode WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM change WHERE uid = ?1) OR EXISTS (SELECT 1 FROM cluster WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM proposal WHERE uid = ?1) OR EXISTS (SELECT 1 FROM import_batch WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM origin WHERE row = ?1)",
        )?
        .query_row([id], |row| row.get(0))
}

/// Imports a project. It is identified by its key alone: an id in a file proves nothing. Its other keys wait for the
/// user, because a key decides which folders read the project's rows.
fn import_foreign_project(
    connection: &Connection,
    project: &Project,
    batch: i64,
    now: Time,
) -> Result<RowImport, RowRefusal> {
    for key in std::iter::once(&project.key).chain(&project.aliases) {
        check_key(key)?;
    }
    let became = if projects::find_by_key(connection, &project.key)?.is_some() {
        RowImport::Kept
    } else {
        let id = if is_id_taken(connection, project.id)? { Id::new(now) } else { project.id };
        let alone = Project { id, aliases: Vec::new(), merged: Vec::new(), ..project.clone() };
        let became = import_record(connection, &ExportRecord::Project(alone))?;
        origins::insert_origin(connection, id, &crate::origin::Origin::default(), Some(batch))?;
        became
    };
    for key in &project.aliases {
        if projects::find_by_key(connection, key)?.is_none() {
            let alias = ProjectAlias { key: key.clone(), project: project.key.clone() };
            proposals::propose_record(connection, &ExportRecord::Alias(alias), batch, now)?;
        }
    }
    Ok(became)
}

/// Imports a run. It is linked to its session only if the session was imported as well: a file may not add runs to the
/// sessions of this machine.
fn import_foreign_outcome(
    connection: &Connection,
    outcome: &Outcome,
) -> Result<RowImport, RowRefusal> {
    let project = find_project(connection, &outcome.project)?;
    let session: Option<i64> = match &outcome.session {
        Some(client) => connection
            .prepare_cached(
                "SELECT session.id FROM session JOIN origin ON origin.row = session.uid
                 WHERE session.client = ?1 AND origin.batch IS NOT NULL",
            )?
            .query_row([client], |row| row.get(0))
            .optional()?,
        None => None,
    };
    let is_added = outcomes::insert_outcome(connection, project, session, outcome)?;
    Ok(if is_added { RowImport::Added } else { RowImport::Kept })
}
