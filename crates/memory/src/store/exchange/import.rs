//! Imports rows: validates them like the commands do, and merges them with the existing rows.

use std::io::{BufRead, ErrorKind, Read as _};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use serde::Serialize;
use thiserror::Error;

use super::{ExportRecord, ProjectAlias, RowOrigin};
use crate::episode::Episode;
use crate::experience::Experience;
use crate::ghap::{Ghap, GhapStatus, Resolution};
use crate::memory::Memory;
use crate::project::ProjectKey;
use crate::session::Session;
use crate::store::projects::{self, Project};
use crate::store::{
    SCHEMA_VERSION, StoreError, command_episodes, episodes, ghaps, injections, memories, origins,
    outcomes, values,
};
use crate::value::Value;
use crate::{Clean, Id, Time};

/// Maximum length of a line. A longer one cannot be a valid row: it would be a run with a million failing tests.
const MAX_IMPORT_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The result of an import, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
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
pub(super) fn read_records(
    mut input: impl BufRead,
    mut progress: impl FnMut(u64),
) -> Result<Vec<(usize, ExportRecord)>, ImportError> {
    let mut records = Vec::new();
    let (mut line, mut text, mut begun) = (0, String::new(), false);
    loop {
        text.clear();
        line += 1;
        let wrong = |why: String| ImportError::Line { line, why };
        let length = match (&mut input).take(MAX_IMPORT_LINE_BYTES).read_line(&mut text) {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(wrong("it is not UTF-8".into()));
            }
            read => read.map_err(ImportError::Read)? as u64,
        };
        if length == 0 {
            break;
        }
        progress(length);
        if length == MAX_IMPORT_LINE_BYTES {
            return Err(wrong("it is longer than any row".into()));
        }
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text).map_err(|error| wrong(describe_json_error(&error)))? {
            ExportRecord::RutterExport { schema } if schema > SCHEMA_VERSION => {
                return Err(wrong(format!(
                    "a newer rutter exported it (schema {schema}, this version supports \
                     {SCHEMA_VERSION}); update rutter"
                )));
            }
            ExportRecord::RutterExport { .. } => begun = true,
            _ if !begun => {
                return Err(wrong(
                    "this is not an export of rutter: the first line is not its header".into(),
                ));
            }
            record => records.push((line, record)),
        }
    }
    if begun { Ok(records) } else { Err(ImportError::Line { line: 1, why: "it is empty".into() }) }
}

/// Returns the message of serde without the value that it found, which may be private text.
fn describe_json_error(error: &serde_json::Error) -> String {
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Eof => return "the line is cut off".to_owned(),
        serde_json::error::Category::Syntax => return format!("not JSON from column {column}"),
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
pub(crate) enum RowImport {
    Added,
    Updated,
    Kept,
    Waiting,
    LeftOut,
}

/// The reason why a row was not imported.
pub(crate) enum RowRefusal {
    /// The row is invalid.
    Row(String),
    /// The store returned an error.
    Store(StoreError),
}

impl From<rusqlite::Error> for RowRefusal {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => {
                Self::Row("it contradicts an existing row".to_owned())
            }
            Some(_) => Self::Store(error.into()),
            // Not an error of SQLite: rusqlite could not convert a value.
            None => Self::Row("a number in it is out of range".to_owned()),
        }
    }
}

impl From<StoreError> for RowRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Sql(error) => error.into(),
            error => Self::Store(error),
        }
    }
}

/// Imports one row.
pub(crate) fn import_record(
    connection: &Connection,
    record: &ExportRecord,
) -> Result<RowImport, RowRefusal> {
    match record {
        ExportRecord::RutterExport { .. } => Ok(RowImport::Kept),
        ExportRecord::Project(project) => import_project(connection, project),
        ExportRecord::Session(session) => import_session(connection, session),
        ExportRecord::Outcome(outcome) => {
            let project = find_project(connection, &outcome.project)?;
            let session = outcome
                .session
                .as_ref()
                .map(|client| find_session(connection, client))
                .transpose()?;
            let added = outcomes::insert_outcome(connection, project, session, outcome)?;
            Ok(if added { RowImport::Added } else { RowImport::Kept })
        }
        ExportRecord::Ghap(ghap) => import_ghap(connection, ghap),
        ExportRecord::Experience(experience) => import_experience(connection, experience),
        ExportRecord::Memory(memory) => import_memory(connection, memory),
        ExportRecord::Value(value) => import_value(connection, value),
        ExportRecord::Episode(episode) => import_episode(connection, episode),
        ExportRecord::CommandEpisode(episode) => {
            let project = find_project(connection, &episode.project)?;
            Ok(match command_episodes::upsert_command_episode(connection, project, episode)? {
                Some(true) => RowImport::Added,
                Some(false) => RowImport::Updated,
                None => RowImport::Kept,
            })
        }
        ExportRecord::Change(noted) => {
            let project = find_project(connection, &noted.project)?;
            let added =
                episodes::insert_change(connection, project, &noted.root, noted.id, &noted.change)?;
            Ok(if added { RowImport::Added } else { RowImport::Kept })
        }
        ExportRecord::Injection(injection) => {
            let session = find_session(connection, &injection.session)?;
            let added = injections::insert_injection(connection, session, injection)?;
            // It is unknown here when the row left the context, so its effect is not determined.
            connection
                .prepare_cached(
                    "UPDATE injection SET gone = at WHERE uid = ?1 AND effect IS NULL AND gone IS NULL AND ?2",
                )?
                .execute(params![injection.id, added])?;
            Ok(if added { RowImport::Added } else { RowImport::Kept })
        }
        ExportRecord::Origin(RowOrigin { row, origin }) => {
            origins::insert_origin(connection, *row, origin, None)?;
            Ok(RowImport::Kept)
        }
        ExportRecord::Alias(alias) => import_alias(connection, alias),
    }
}

/// Adds a key to a project, unless another project has it.
fn import_alias(connection: &Connection, alias: &ProjectAlias) -> Result<RowImport, RowRefusal> {
    check_key(&alias.key)?;
    let project = find_project(connection, &alias.project)?;
    let added = connection
        .prepare_cached(
            "INSERT INTO project_alias (key, project, merged) VALUES (?1, ?2, 1) ON CONFLICT DO NOTHING",
        )?
        .execute(params![alias.key, project])?;
    Ok(if added == 1 { RowImport::Added } else { RowImport::Kept })
}

fn last_change(connection: &Connection, table: &str, id: Id) -> rusqlite::Result<Option<Time>> {
    connection
        .prepare_cached(&format!("SELECT changed FROM {table} WHERE uid = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()
}

pub(super) fn find_project(connection: &Connection, key: &ProjectKey) -> Result<i64, RowRefusal> {
    projects::find_by_key(connection, key)?.ok_or_else(|| {
        RowRefusal::Row("its project does not come before it in the file".to_owned())
    })
}

pub(super) fn find_session(connection: &Connection, client: &str) -> Result<i64, RowRefusal> {
    let found = connection
        .prepare_cached("SELECT id FROM session WHERE client = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?;
    found.ok_or_else(|| {
        RowRefusal::Row("its session does not come before it in the file".to_owned())
    })
}

/// Returns an error for a key that no folder and no remote could have.
pub(super) fn check_key(key: &ProjectKey) -> Result<(), RowRefusal> {
    if key.as_str().is_empty() || key.as_str().chars().any(char::is_control) {
        return Err(RowRefusal::Row(
            "a key of a project is empty or contains control characters".to_owned(),
        ));
    }
    Ok(())
}

/// Imports a project. It is the same as the existing project with its strongest key, even if the ids differ, or as the
/// one with its id that got a stronger key since.
fn import_project(connection: &Connection, project: &Project) -> Result<RowImport, RowRefusal> {
    for key in std::iter::once(&project.key).chain(&project.aliases) {
        check_key(key)?;
    }
    let key = &project.key;
    let by_id: Option<i64> = connection
        .query_row("SELECT id FROM project WHERE uid = ?1", [project.id], |row| row.get(0))
        .optional()?;
    let (row, became) = match (projects::find_by_key(connection, key)?, by_id) {
        (Some(row), _) | (None, Some(row)) => (row, update_project(connection, row, key, project)?),
        (None, None) => {
            connection.execute(
                "INSERT INTO project (uid, key, name, root, created, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![project.id, key, project.name, project.root, project.created, project.changed],
            )?;
            (connection.last_insert_rowid(), RowImport::Added)
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
fn update_project(
    connection: &Connection,
    row: i64,
    key: &ProjectKey,
    project: &Project,
) -> rusqlite::Result<RowImport> {
    let updated = connection.execute(
        "UPDATE project SET key = ?2, name = ?3, root = ?4, changed = ?5 WHERE id = ?1 AND changed < ?5",
        params![row, key, project.name, project.root, project.changed],
    )?;
    Ok(if updated == 1 { RowImport::Updated } else { RowImport::Kept })
}

/// Imports a session. Two records of one session each have data that the other lacks, so each field takes the larger
/// value.
fn import_session(connection: &Connection, session: &Session) -> Result<RowImport, RowRefusal> {
    if session.client.is_empty() {
        return Err(RowRefusal::Row("a session without a name".to_owned()));
    }
    let project = find_project(connection, &session.project)?;
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
        return Ok(RowImport::Added);
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
    Ok(if updated == 1 { RowImport::Updated } else { RowImport::Kept })
}

fn import_ghap(connection: &Connection, ghap: &Ghap) -> Result<RowImport, RowRefusal> {
    ghap.validate().map_err(|error| RowRefusal::Row(error.to_string()))?;
    let project = find_project(connection, &ghap.project)?;
    let session = find_session(connection, &ghap.session)?;
    let ours = last_change(connection, "ghap", ghap.id)?;
    if ours.is_some_and(|ours| ours >= ghap.changed) {
        return Ok(RowImport::Kept);
    }
    // Two machines may each have an active GHAP in the same place.
    match find_active_rival(connection, project, session, ghap)? {
        Some((older, created)) if created < ghap.created => {
            ghaps::abandon_merged(connection, older)?;
        }
        Some(_) => {
            let laid_down = Ghap {
                status: GhapStatus::Abandoned,
                resolution: Some(Resolution::abandoned_by_merge(ghap.changed)),
                ..ghap.clone()
            };
            ghaps::upsert_ghap(connection, project, session, &laid_down)?;
            return Ok(if ours.is_some() { RowImport::Updated } else { RowImport::Added });
        }
        None => {}
    }
    ghaps::upsert_ghap(connection, project, session, ghap)?;
    // Its experience gets the same tier.
    connection
        .prepare_cached(
            "UPDATE experience SET tier = ghap.tier FROM ghap
             WHERE ghap.uid = ?1 AND experience.ghap = ghap.id AND ghap.tier IS NOT NULL",
        )?
        .execute([ghap.id])?;
    if ours.is_some() {
        values::follow_lesson(connection, ghap.id, ghap.changed)?;
    }
    Ok(if ours.is_some() { RowImport::Updated } else { RowImport::Added })
}

/// Returns another GHAP that is active in the same place.
fn find_active_rival(
    connection: &Connection,
    project: i64,
    session: i64,
    ghap: &Ghap,
) -> rusqlite::Result<Option<(Id, Time)>> {
    if ghap.status != GhapStatus::Active {
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

fn import_experience(
    connection: &Connection,
    experience: &Experience,
) -> Result<RowImport, RowRefusal> {
    let project = find_project(connection, &experience.project)?;
    let ghap: Option<i64> = connection
        .prepare_cached("SELECT id FROM ghap WHERE uid = ?1 AND tier IS NOT NULL")?
        .query_row([experience.ghap], |row| row.get(0))
        .optional()?;
    let ghap = ghap.ok_or_else(|| {
        RowRefusal::Row(
            "its GHAP does not come before it in the file, or is not resolved".to_owned(),
        )
    })?;
    // The tier comes from its GHAP, which may have been resolved differently here, and later.
    let added = connection
        .prepare_cached(
            "INSERT INTO experience (uid, project, ghap, tier, created)
             SELECT ?1, ?2, id, tier, ?4 FROM ghap WHERE id = ?3 ON CONFLICT DO NOTHING",
        )?
        .execute(params![experience.id, project, ghap, experience.created])?;
    Ok(if added == 1 { RowImport::Added } else { RowImport::Kept })
}

/// Imports an episode. Of two records of one episode the more advanced stays: an ended one does not open again.
fn import_episode(connection: &Connection, episode: &Episode) -> Result<RowImport, RowRefusal> {
    let project = find_project(connection, &episode.project)?;
    match episodes::stored_progress(connection, episode.id)? {
        Some(ours) if ours >= episodes::episode_progress(episode) => Ok(RowImport::Kept),
        ours => {
            // Two machines may each track the same failure in the same place.
            match episodes::find_open_duplicate(connection, project, episode)? {
                Some(other) if (other.seen, other.id) < (episode.seen, episode.id) => {
                    episodes::upsert_episode(connection, project, &other.end_as_left())?;
                    episodes::upsert_episode(connection, project, episode)?;
                }
                Some(_) => {
                    episodes::upsert_episode(connection, project, &episode.clone().end_as_left())?;
                }
                None => episodes::upsert_episode(connection, project, episode)?,
            }
            Ok(if ours.is_some() { RowImport::Updated } else { RowImport::Added })
        }
    }
}

fn import_memory(connection: &Connection, memory: &Memory) -> Result<RowImport, RowRefusal> {
    memory.validate().map_err(|error| RowRefusal::Row(error.to_string()))?;
    let project = memory.project.as_ref().map(|key| find_project(connection, key)).transpose()?;
    match last_change(connection, "memory", memory.id)? {
        Some(ours) if ours >= memory.changed => Ok(RowImport::Kept),
        Some(_) => {
            memories::upsert_memory(connection, project, memory)?;
            Ok(RowImport::Updated)
        }
        None => {
            memories::upsert_memory(connection, project, memory)?;
            Ok(RowImport::Added)
        }
    }
}

/// Imports a value. If its cluster is unknown here, the next update of clusters finds one that it fits.
fn import_value(connection: &Connection, value: &Value) -> Result<RowImport, RowRefusal> {
    value.validate().map_err(|error| RowRefusal::Row(error.to_string()))?;
    let project = value.project.as_ref().map(|key| find_project(connection, key)).transpose()?;
    match values::is_newer_than_stored(connection, value)? {
        Some(false) => Ok(RowImport::Kept),
        newer => {
            values::upsert_value(connection, project, value)?;
            Ok(if newer.is_some() { RowImport::Updated } else { RowImport::Added })
        }
    }
}
