//! Rows from elsewhere: held to what a command would hold them to, and joined with those that are here.

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

/// A line that is longer holds no row of ours: it would be a run with a million failing tests.
const LINE: u64 = 64 * 1024 * 1024;

/// What became of the rows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Imported {
    /// Were not here.
    pub added: usize,
    /// Were here, older.
    pub updated: usize,
    /// Were here, the same or newer.
    pub kept: usize,
    /// Wait for a person: `rutter review`.
    pub waiting: usize,
    /// Are of no use here: what another machine has shown, and what it was in the middle of.
    pub left_out: usize,
}

/// Why a file was not taken. Nothing of it was.
#[derive(Debug, Error)]
pub enum ImportError {
    /// A line is wrong.
    #[error("line {line}: {why}; nothing was imported")]
    Line {
        /// Which, from 1.
        line: usize,
        /// Why. Never quotes the line.
        why: String,
    },
    /// It cannot be read.
    #[error("the file cannot be read: {0}; nothing was imported")]
    Read(std::io::Error),
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The rows of a file, with their lines.
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

/// What serde says, without the value it found: that may be anybody's text.
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

/// What became of a row.
pub(crate) enum Became {
    Added,
    Updated,
    Kept,
    Waiting,
    LeftOut,
}

/// Why a row is not taken.
pub(crate) enum Refused {
    /// It is wrong.
    Row(String),
    /// The store cannot.
    Store(StoreError),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => {
                Self::Row("it contradicts a row that is here already".to_owned())
            }
            Some(_) => Self::Store(error.into()),
            // Not what SQLite says, but what cannot even be said to it.
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

/// Takes one row in.
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
            // Nobody knows here when it left the context; so nothing is made of it.
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

/// Lets a project be known by another key, unless another project is.
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

/// Refuses a key that no folder and no remote could have.
pub(super) fn check_key(key: &ProjectKey) -> Result<(), Refused> {
    if key.as_str().is_empty() || key.as_str().chars().any(char::is_control) {
        return Err(Refused::Row(
            "a key of a project is empty or holds control characters".to_owned(),
        ));
    }
    Ok(())
}

/// A project that is known here by its strongest key is the same one, whatever its id; and so is one that has the id
/// and got a stronger key since.
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
        // What a place is called here is for this machine to say.
        connection
            .prepare_cached(
                "INSERT INTO project_alias (key, project, merged) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key, row, project.merged.contains(key)])?;
    }
    Ok(became)
}

/// What changed last about a project stays.
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

/// Of two sights of one session each says what the other cannot know, so everything is joined by what is more.
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
    // Two machines may each have an active one in the same place.
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
    // What it left follows it.
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

/// Another GHAP that is active where this one would be.
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
    // Its tier is its GHAP's, which may have been resolved otherwise here, and later.
    let added = connection
        .prepare_cached(
            "INSERT INTO experience (uid, project, ghap, tier, created)
             SELECT ?1, ?2, id, tier, ?4 FROM ghap WHERE id = ?3 ON CONFLICT DO NOTHING",
        )?
        .execute(params![experience.id, project, ghap, experience.created])?;
    Ok(if added == 1 { Became::Added } else { Became::Kept })
}

/// Of two sights of one episode the one with more to tell stays: what has ended does not open again.
fn import_episode(connection: &Connection, episode: &Episode) -> Result<Became, Refused> {
    let project = project_of(connection, &episode.project)?;
    match episodes::standing(connection, episode.id)? {
        Some(ours) if ours >= episodes::standing_of(episode) => Ok(Became::Kept),
        ours => {
            // Two machines may each follow the same failure in the same place.
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

/// Its cluster may be unknown here; then whoever brings clusters up to date finds one that it fits.
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
