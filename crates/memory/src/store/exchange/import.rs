//! Imports rows: validates them like the commands do, and merges them with the existing rows.

use std::io::{BufRead, ErrorKind, Read as _};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use serde::Serialize;
use thiserror::Error;

use super::{ProjectAlias, Record, RowOrigin};
use crate::episode::Episode;
use crate::experience::Experience;
use crate::ghap::{Ghap, Resolution, Status};
use crate::memory::Memory;
use crate::project::ProjectKey;
use crate::session::Session;
use crate::store::projects::{self, Project};
use crate::store::{
    StoreError, VERSION, episodes, ghaps, injections, memories, origins, outcomes, values,
};
use crate::value::Value;
use crate::{Clean, Id, Time};

/// Maximum length of a line. A longer one cannot be a valid row: it would be a run with a million failing tests.
const LINE: u64 = 64 * 1024 * 1024;

/// The result of an import, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Imported {
    /// New rows.
    pub added: usize,
    /// Rows that replaced an older version.
    pub updated: usize,
    /// Rows that existed in the same or a newer version.
    pub kept: usize,
    /// Rows that wait for the user: `rutter review`.
    pub waiting: usize,
    /// Rows without use here: those shown on another machine, and its open work.
    pub left_out: usize,
}

/// The reason why a file was not imported. No row of it was.
#[derive(Debug, Error)]
pub enum ImportError {
    /// A line is invalid.
    #[error("line {line}: {why}; nothing was imported")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The reason. Never quotes the line.
        why: String,
    },
    /// The file cannot be read.
    #[error("the file cannot be read: {0}; nothing was imported")]
    Read(std::io::Error),
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the rows of a file, with their line numbers.
pub(super) fn read(
    mut input: impl BufRead,
    mut progress: impl FnMut(u64),
) -> Result<Vec<(usize, Record)>, ImportError> {
    let mut records = Vec::new();
    let (mut line, mut text, mut begun) = (0, String::new(), false);
    loop {
        text.clear();
        line += 1;
        let wrong = |why: String| ImportError::Line { line, why };
        let length = match (&mut input).take(LINE).read_line(&mut text) {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(wrong("it is no UTF-8".into()));
            }
            read => read.map_err(ImportError::Read)? as u64,
        };
        if length == 0 {
            break;
        }
        progress(length);
        if length == LINE {
            return Err(wrong("it is too long for any row".into()));
        }
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text).map_err(|error| wrong(without_value(&error)))? {
            Record::RutterExport { schema } if schema > VERSION => {
                return Err(wrong(format!(
                    "it was exported by a newer rutter (schema {schema}, this one knows {VERSION}); update this one"
                )));
            }
            Record::RutterExport { .. } => begun = true,
            _ if !begun => {
                return Err(wrong(
                    "this is no export of rutter: the first line does not say so".into(),
                ));
            }
            record => records.push((line, record)),
        }
    }
    if begun {
        Ok(records)
    } else {
        Err(ImportError::Line { line: 1, why: "there is nothing in it".into() })
    }
}

/// Returns the message of serde without the value that it found, which may be private text.
fn without_value(error: &serde_json::Error) -> String {
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Eof => return "the line is cut off".to_owned(),
        serde_json::error::Category::Syntax => return format!("no JSON from column {column} on"),
        _ => {}
    }
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match text.split_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid ") => {
            format!("expected {expected} at column {column}")
        }
        _ => Clean::new(text).to_string(),
    }
}

/// The result of importing a row.
pub(crate) enum Became {
    Added,
    Updated,
    Kept,
    Waiting,
    LeftOut,
}

/// The reason why a row was not imported.
pub(crate) enum Refused {
    /// The row is invalid.
    Row(String),
    /// The store returned an error.
    Store(StoreError),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => {
                Self::Row("it contradicts a row that is here already".to_owned())
            }
            Some(_) => Self::Store(error.into()),
            // Not an error of SQLite: rusqlite could not convert a value.
            None => Self::Row("a number in it is out of range".to_owned()),
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Sql(error) => error.into(),
            error => Self::Store(error),
        }
    }
}

/// Imports one row.
pub(crate) fn import(connection: &Connection, record: &Record) -> Result<Became, Refused> {
    match record {
        Record::RutterExport { .. } => Ok(Became::Kept),
        Record::Project(project) => import_project(connection, project),
        Record::Session(session) => import_session(connection, session),
        Record::Outcome(outcome) => {
            let project = project_of(connection, &outcome.project)?;
            let session = outcome
                .session
                .as_ref()
                .map(|client| session_of(connection, client))
                .transpose()?;
            let added = outcomes::insert(connection, project, session, outcome)?;
            Ok(if added { Became::Added } else { Became::Kept })
        }
        Record::Ghap(ghap) => import_ghap(connection, ghap),
        Record::Experience(experience) => import_experience(connection, experience),
        Record::Memory(memory) => import_memory(connection, memory),
        Record::Value(value) => import_value(connection, value),
        Record::Episode(episode) => import_episode(connection, episode),
        Record::Change(noted) => {
            let project = project_of(connection, &noted.project)?;
            let added =
                episodes::put_change(connection, project, &noted.root, noted.id, &noted.change)?;
            Ok(if added { Became::Added } else { Became::Kept })
        }
        Record::Injection(injection) => {
            let session = session_of(connection, &injection.session)?;
            let added = injections::insert(connection, session, injection)?;
            // It is unknown here when the row left the context, so its effect is not determined.
            connection
                .prepare_cached(
                    "UPDATE injection SET gone = at WHERE uid = ?1 AND effect IS NULL AND gone IS NULL AND ?2",
                )?
                .execute(params![injection.id, added])?;
            Ok(if added { Became::Added } else { Became::Kept })
        }
        Record::Origin(RowOrigin { row, origin }) => {
            origins::insert(connection, *row, origin, None)?;
            Ok(Became::Kept)
        }
        Record::Alias(alias) => import_alias(connection, alias),
    }
}

/// Adds a key to a project, unless another project has it.
fn import_alias(connection: &Connection, alias: &ProjectAlias) -> Result<Became, Refused> {
    check_key(&alias.key)?;
    let project = project_of(connection, &alias.project)?;
    let added = connection
        .prepare_cached(
            "INSERT INTO project_alias (key, project, merged) VALUES (?1, ?2, 1) ON CONFLICT DO NOTHING",
        )?
        .execute(params![alias.key, project])?;
    Ok(if added == 1 { Became::Added } else { Became::Kept })
}

fn changed(connection: &Connection, table: &str, id: Id) -> rusqlite::Result<Option<Time>> {
    connection
        .prepare_cached(&format!("SELECT changed FROM {table} WHERE uid = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()
}

pub(super) fn project_of(connection: &Connection, key: &ProjectKey) -> Result<i64, Refused> {
    projects::known_as(connection, key)?
        .ok_or_else(|| Refused::Row("its project is not in the file before it".to_owned()))
}

pub(super) fn session_of(connection: &Connection, client: &str) -> Result<i64, Refused> {
    let found = connection
        .prepare_cached("SELECT id FROM session WHERE client = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?;
    found.ok_or_else(|| Refused::Row("its session is not in the file before it".to_owned()))
}

/// Returns an error for a key that no folder and no remote could have.
pub(super) fn check_key(key: &ProjectKey) -> Result<(), Refused> {
    if key.as_str().is_empty() || key.as_str().chars().any(char::is_control) {
        return Err(Refused::Row(
            "a key of a project is empty or holds control characters".to_owned(),
        ));
    }
    Ok(())
}

/// Imports a project. It is the same as the existing project with its strongest key, even if the ids differ, or as the
/// one with its id that got a stronger key since.
fn import_project(connection: &Connection, project: &Project) -> Result<Became, Refused> {
    for key in std::iter::once(&project.key).chain(&project.aliases) {
        check_key(key)?;
    }
    let key = &project.key;
    let by_id: Option<i64> = connection
        .query_row("SELECT id FROM project WHERE uid = ?1", [project.id], |row| row.get(0))
        .optional()?;
    let (row, became) = match (projects::known_as(connection, key)?, by_id) {
        (Some(row), _) | (None, Some(row)) => (row, take_over(connection, row, key, project)?),
        (None, None) => {
            connection.execute(
                "INSERT INTO project (uid, key, name, root, created, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![project.id, key, project.name, project.root, project.created, project.changed],
            )?;
            (connection.last_insert_rowid(), Became::Added)
        }
    };
    for key in std::iter::once(&project.key).chain(&project.aliases) {
        // Existing keys stay: this machine decides what its folders are called.
        connection
            .prepare_cached(
                "INSERT INTO project_alias (key, project, merged) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key, row, project.merged.contains(key)])?;
    }
    Ok(became)
}

/// Updates a project if the imported row changed later.
fn take_over(
    connection: &Connection,
    row: i64,
    key: &ProjectKey,
    project: &Project,
) -> rusqlite::Result<Became> {
    let updated = connection.execute(
        "UPDATE project SET key = ?2, name = ?3, root = ?4, changed = ?5 WHERE id = ?1 AND changed < ?5",
        params![row, key, project.name, project.root, project.changed],
    )?;
    Ok(if updated == 1 { Became::Updated } else { Became::Kept })
}

/// Imports a session. Two records of one session each have data that the other lacks, so each field takes the larger
/// value.
fn import_session(connection: &Connection, session: &Session) -> Result<Became, Refused> {
    if session.client.is_empty() {
        return Err(Refused::Row("a session without a name".to_owned()));
    }
    let project = project_of(connection, &session.project)?;
    let process = session.process;
    let inserted = connection
        .prepare_cached(
            "INSERT INTO session (uid, client, project, source, started, seen, ended, process, process_began, cohort, calls,
                                  refreshed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            session.id,
            session.client,
            project,
            session.source,
            session.started,
            session.seen,
            session.ended,
            process.map(|process| process.pid),
            process.and_then(|process| process.began),
            session.cohort,
            session.calls,
            session.refreshed,
        ])?;
    if inserted == 1 {
        return Ok(Became::Added);
    }
    let updated = connection
        .prepare_cached(
            "UPDATE session SET
                 source = CASE WHEN ?2 > seen THEN ?3 ELSE source END,
                 ended = CASE WHEN ?2 > seen THEN ?4 ELSE ended END,
                 cohort = coalesce(cohort, ?5),
                 started = min(started, ?6), seen = max(seen, ?2), calls = max(calls, ?7),
                 refreshed = max(coalesce(refreshed, ?8), coalesce(?8, refreshed))
             WHERE client = ?1 AND (?2 > seen OR ?6 < started OR ?7 > calls OR (cohort IS NULL AND ?5 IS NOT NULL)
                                    OR coalesce(?8 > refreshed, ?8 IS NOT NULL))",
        )?
        .execute(params![
            session.client,
            session.seen,
            session.source,
            session.ended,
            session.cohort,
            session.started,
            session.calls,
            session.refreshed,
        ])?;
    Ok(if updated == 1 { Became::Updated } else { Became::Kept })
}

fn import_ghap(connection: &Connection, ghap: &Ghap) -> Result<Became, Refused> {
    ghap.check().map_err(|error| Refused::Row(error.to_string()))?;
    let project = project_of(connection, &ghap.project)?;
    let session = session_of(connection, &ghap.session)?;
    let ours = changed(connection, "ghap", ghap.id)?;
    if ours.is_some_and(|ours| ours >= ghap.changed) {
        return Ok(Became::Kept);
    }
    // Two machines may each have an active GHAP in the same place.
    match rival(connection, project, session, ghap)? {
        Some((older, created)) if created < ghap.created => ghaps::lay_down(connection, older)?,
        Some(_) => {
            let laid_down = Ghap {
                status: Status::Abandoned,
                resolution: Some(Resolution::laid_down(ghap.changed)),
                ..ghap.clone()
            };
            ghaps::put(connection, project, session, &laid_down)?;
            return Ok(if ours.is_some() { Became::Updated } else { Became::Added });
        }
        None => {}
    }
    ghaps::put(connection, project, session, ghap)?;
    // Its experience gets the same tier.
    connection
        .prepare_cached(
            "UPDATE experience SET tier = ghap.tier FROM ghap
             WHERE ghap.uid = ?1 AND experience.ghap = ghap.id AND ghap.tier IS NOT NULL",
        )?
        .execute([ghap.id])?;
    if ours.is_some() {
        values::follow(connection, ghap.id, ghap.changed)?;
    }
    Ok(if ours.is_some() { Became::Updated } else { Became::Added })
}

/// Returns another GHAP that is active in the same place.
fn rival(
    connection: &Connection,
    project: i64,
    session: i64,
    ghap: &Ghap,
) -> rusqlite::Result<Option<(Id, Time)>> {
    if ghap.status != Status::Active {
        return Ok(None);
    }
    connection
        .prepare_cached(
            "SELECT uid, created FROM ghap
             WHERE status = 'active' AND project = ?1 AND session = ?2 AND agent = ?3 AND uid != ?4",
        )?
        .query_row(
            params![project, session, ghap.agent.clone().unwrap_or_default(), ghap.id],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()
}

fn import_experience(connection: &Connection, experience: &Experience) -> Result<Became, Refused> {
    let project = project_of(connection, &experience.project)?;
    let ghap: Option<i64> = connection
        .prepare_cached("SELECT id FROM ghap WHERE uid = ?1 AND tier IS NOT NULL")?
        .query_row([experience.ghap], |row| row.get(0))
        .optional()?;
    let ghap = ghap.ok_or_else(|| {
        Refused::Row("its GHAP is not in the file before it, or has not ended".to_owned())
    })?;
    // The tier comes from its GHAP, which may have been resolved differently here, and later.
    let added = connection
        .prepare_cached(
            "INSERT INTO experience (uid, project, ghap, tier, created)
             SELECT ?1, ?2, id, tier, ?4 FROM ghap WHERE id = ?3 ON CONFLICT DO NOTHING",
        )?
        .execute(params![experience.id, project, ghap, experience.created])?;
    Ok(if added == 1 { Became::Added } else { Became::Kept })
}

/// Imports an episode. Of two records of one episode the more advanced stays: an ended one does not open again.
fn import_episode(connection: &Connection, episode: &Episode) -> Result<Became, Refused> {
    let project = project_of(connection, &episode.project)?;
    match episodes::standing(connection, episode.id)? {
        Some(ours) if ours >= episodes::standing_of(episode) => Ok(Became::Kept),
        ours => {
            // Two machines may each track the same failure in the same place.
            match episodes::rival(connection, project, episode)? {
                Some(other) if (other.seen, other.id) < (episode.seen, episode.id) => {
                    episodes::put(connection, project, &other.left())?;
                    episodes::put(connection, project, episode)?;
                }
                Some(_) => episodes::put(connection, project, &episode.clone().left())?,
                None => episodes::put(connection, project, episode)?,
            }
            Ok(if ours.is_some() { Became::Updated } else { Became::Added })
        }
    }
}

fn import_memory(connection: &Connection, memory: &Memory) -> Result<Became, Refused> {
    memory.check().map_err(|error| Refused::Row(error.to_string()))?;
    let project = memory.project.as_ref().map(|key| project_of(connection, key)).transpose()?;
    match changed(connection, "memory", memory.id)? {
        Some(ours) if ours >= memory.changed => Ok(Became::Kept),
        Some(_) => {
            memories::put(connection, project, memory)?;
            Ok(Became::Updated)
        }
        None => {
            memories::put(connection, project, memory)?;
            Ok(Became::Added)
        }
    }
}

/// Imports a value. If its cluster is unknown here, the next update of clusters finds one that it fits.
fn import_value(connection: &Connection, value: &Value) -> Result<Became, Refused> {
    value.check().map_err(|error| Refused::Row(error.to_string()))?;
    let project = value.project.as_ref().map(|key| project_of(connection, key)).transpose()?;
    match values::newer(connection, value)? {
        Some(false) => Ok(Became::Kept),
        newer => {
            values::insert(connection, project, value)?;
            Ok(if newer.is_some() { Became::Updated } else { Became::Added })
        }
    }
}
