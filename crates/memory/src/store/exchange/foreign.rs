//! Imports rows of another person. They are added and never change an existing row. Rows with effects beyond their
//! project, or with a standing that only a person can give, become proposals that wait for the user.

use rusqlite::{Connection, OptionalExtension as _};

use super::import::{Became, Refused, check_key, import, project_of};
use super::{ProjectAlias, Record};
use crate::ghap::{Ghap, Resolution, Status};
use crate::outcome::Outcome;
use crate::store::projects::{self, Project};
use crate::store::{origins, outcomes, review};
use crate::value::{Standing, Value};
use crate::{Id, Time};

/// Imports one row of another person.
pub(super) fn admit(
    connection: &Connection,
    record: &Record,
    batch: i64,
    now: Time,
) -> Result<Became, Refused> {
    let wait = |record: &Record| {
        review::propose_record(connection, record, batch, now)?;
        Ok(Became::Waiting)
    };
    // A project is identified by its key instead.
    if !matches!(record, Record::Project(_))
        && let Some(id) = record.row_id()
        && is_taken(connection, id)?
    {
        return Ok(Became::Kept);
    }
    match record {
        Record::Project(project) => admit_project(connection, project, batch, now),
        Record::Session(session) => {
            let is_known: bool = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1)")?
                .query_row([&session.client], |row| row.get(0))?;
            if is_known { Ok(Became::Kept) } else { import(connection, record) }
        }
        Record::Outcome(outcome) => admit_outcome(connection, outcome),
        Record::Ghap(ghap) if ghap.status == Status::Active => {
            // It cannot be continued on this machine.
            let laid_down = Ghap {
                status: Status::Abandoned,
                resolution: Some(Resolution::laid_down(ghap.changed)),
                ..(**ghap).clone()
            };
            import(connection, &Record::Ghap(Box::new(laid_down)))
        }
        Record::Memory(memory) if memory.project.is_none() => {
            memory.check().map_err(|error| Refused::Row(error.to_string()))?;
            wait(record)
        }
        Record::Value(value) => {
            value.check().map_err(|error| Refused::Row(error.to_string()))?;
            let unsupported = Value { support: 0, ..value.clone() };
            let record = Record::Value(unsupported);
            match (value.standing, &value.project) {
                (Standing::Accepted, _) | (_, None) => wait(&record),
                (Standing::Proposed | Standing::Retired, Some(_)) => import(connection, &record),
            }
        }
        // A failure that is open on another machine is not tracked here.
        Record::Episode(episode) if episode.ending.is_none() => Ok(Became::LeftOut),
        // Changes belong to open failures, and the effects of rows on another machine do not count here.
        Record::Change(_) | Record::Injection(_) => Ok(Became::LeftOut),
        Record::Alias(alias) => {
            check_key(&alias.key)?;
            wait(record)
        }
        Record::RutterExport { .. }
        | Record::Ghap(_)
        | Record::Experience(_)
        | Record::Memory(_)
        | Record::Episode(_)
        | Record::Origin(_) => import(connection, record),
    }
}

/// Returns true if a row of any kind has this id. Origins are stored by id alone, so a memory with the id of an episode
/// would inherit its origin.
fn is_taken(connection: &Connection, id: Id) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM project WHERE uid = ?1) OR EXISTS (SELECT 1 FROM session WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM outcome WHERE uid = ?1) OR EXISTS (SELECT 1 FROM ghap WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM experience WHERE uid = ?1) OR EXISTS (SELECT 1 FROM memory WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM value WHERE uid = ?1) OR EXISTS (SELECT 1 FROM episode WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM change WHERE uid = ?1) OR EXISTS (SELECT 1 FROM cluster WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM proposal WHERE uid = ?1) OR EXISTS (SELECT 1 FROM import_batch WHERE uid = ?1)
                 OR EXISTS (SELECT 1 FROM origin WHERE row = ?1)",
        )?
        .query_row([id], |row| row.get(0))
}

/// Imports a project. It is identified by its key alone: an id in a file proves nothing. Its other keys wait for the
/// user, because a key decides which folders read the project's rows.
fn admit_project(
    connection: &Connection,
    project: &Project,
    batch: i64,
    now: Time,
) -> Result<Became, Refused> {
    for key in std::iter::once(&project.key).chain(&project.aliases) {
        check_key(key)?;
    }
    let became = if projects::known_as(connection, &project.key)?.is_some() {
        Became::Kept
    } else {
        let id = if is_taken(connection, project.id)? { Id::new(now) } else { project.id };
        let alone = Project { id, aliases: Vec::new(), merged: Vec::new(), ..project.clone() };
        let became = import(connection, &Record::Project(alone))?;
        origins::insert(connection, id, &crate::origin::Origin::default(), Some(batch))?;
        became
    };
    for key in &project.aliases {
        if projects::known_as(connection, key)?.is_none() {
            let alias = ProjectAlias { key: key.clone(), project: project.key.clone() };
            review::propose_record(connection, &Record::Alias(alias), batch, now)?;
        }
    }
    Ok(became)
}

/// Imports a run. It is linked to its session only if the session was imported as well: a file may not add runs to the
/// sessions of this machine.
fn admit_outcome(connection: &Connection, outcome: &Outcome) -> Result<Became, Refused> {
    let project = project_of(connection, &outcome.project)?;
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
    let is_added = outcomes::insert(connection, project, session, outcome)?;
    Ok(if is_added { Became::Added } else { Became::Kept })
}
