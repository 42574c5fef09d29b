//! Sessions in the database.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::entry::{EntryArrival, EntryKind, ProjectPlace, SessionEntry};
use super::{Store, StoreError, StoreResult, projects, tables};
use crate::project::ProjectKey;
use crate::session::{Session, SessionProcess, StoredSessionSource};
use crate::{Clean, Id, IdSuffix, Time};

/// A session with the counts of its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Number of captured test runs.
    pub runs: u64,
    /// Number of runs that passed.
    pub passed: u64,
    /// Number of runs that failed.
    pub failed: u64,
    /// Number of GHAPs.
    pub ghaps: u64,
    /// Number of rows that were shown to it.
    pub injections: u64,
}

const COLUMNS: &str = "session.*, project.key AS project_key";
const FROM: &str = "session JOIN project ON project.id = session.project";

/// Records that a session was seen, creates it if it is new, and returns its row. A session that had ended becomes
/// active again if it is seen later, because the client resumes a session under the same name.
pub(crate) fn record_session_seen(
    connection: &Connection,
    entry: &SessionEntry,
    arrival: EntryArrival,
) -> StoreResult<i64> {
    let SessionEntry { client, place, process, at, kind } = entry;
    let (pid, began) =
        (process.map(|process| process.pid), process.and_then(|process| process.began));
    let source = match kind {
        EntryKind::Began(source) => Some(*source),
        _ => None,
    };
    let known: Option<i64> = connection
        .prepare_cached("SELECT id FROM session WHERE client = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        // A session start that arrives at once reopens the session regardless of its time: the clock may have been set
        // back since the end. A late one may be older than the end, and older than the known process.
        let late = arrival == EntryArrival::Late;
        connection
            .prepare_cached(
                "UPDATE session SET seen = max(seen, ?2),
                        ended = CASE WHEN ended < ?2 OR (?3 IS NOT NULL AND NOT ?6) THEN NULL ELSE ended END,
                        source = CASE WHEN ?3 IS NULL OR (?6 AND ?2 < seen) THEN source ELSE ?3 END,
                        process_began =
                            CASE WHEN ?4 IS NULL OR (?6 AND ?2 < seen) THEN process_began ELSE ?5 END,
                        process = CASE WHEN ?4 IS NULL OR (?6 AND ?2 < seen) THEN process ELSE ?4 END
                 WHERE id = ?1",
            )?
            .execute(params![id, at, source, pid, began, late])?;
        return Ok(id);
    }
    let project = projects::ensure_project(connection, place, *at)?;
    connection
        .prepare_cached(
            "INSERT INTO session (uid, client, project, source, started, seen, process, process_began)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
        )?
        .execute(params![
            Id::new(*at),
            client,
            project,
            source.unwrap_or(StoredSessionSource::Startup),
            at,
            pid,
            began
        ])?;
    Ok(connection.last_insert_rowid())
}

pub(crate) fn read_session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let pid: Option<u32> = row.get("process")?;
    let began = row.get("process_began")?;
    Ok(Session {
        id: row.get("uid")?,
        client: row.get("client")?,
        project: row.get("project_key")?,
        source: row.get("source")?,
        started: row.get("started")?,
        seen: row.get("seen")?,
        ended: row.get("ended")?,
        process: pid.map(|pid| SessionProcess { pid, began }),
        cohort: row.get("cohort")?,
        calls: row.get("calls")?,
        refreshed: row.get("refreshed")?,
    })
}

/// Returns the client name of a project's standing session, which holds commands typed outside a client.
pub(crate) fn standing_session_name(project: Id) -> Clean {
    Clean::new(&format!("command-line:{project}"))
}

/// Returns the rows of the session that a command acts for, and of its project. The session is that of the client, or
/// else the standing session of the project.
pub(crate) fn find_acting_session(
    connection: &Connection,
    client: Option<&Clean>,
    place: &ProjectPlace,
    now: Time,
) -> StoreResult<(i64, i64)> {
    let project = projects::ensure_project(connection, place, now)?;
    let (client, kind) = if let Some(client) = client {
        (client.clone(), EntryKind::Seen)
    } else {
        let id: Id =
            connection
                .query_row("SELECT uid FROM project WHERE id = ?1", [project], |row| row.get(0))?;
        (standing_session_name(id), EntryKind::Began(StoredSessionSource::CommandLine))
    };
    let entry = SessionEntry { client, place: place.clone(), process: None, at: now, kind };
    let session = record_session_seen(connection, &entry, EntryArrival::AtOnce)?;
    Ok((session, project))
}

pub(crate) fn find_session(connection: &Connection, client: &str) -> StoreResult<Option<Session>> {
    let query = format!("SELECT {COLUMNS} FROM {FROM} WHERE client = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([client], read_session).optional()?)
}

impl Store {
    /// Ties a session without hooks to the process of its server, so that the session is over when the process ends.
    pub fn bind_session_to_process(
        &mut self,
        client: &Clean,
        place: &ProjectPlace,
        process: SessionProcess,
        now: Time,
    ) -> StoreResult {
        let entry = SessionEntry {
            client: client.clone(),
            place: place.clone(),
            process: Some(process),
            at: now,
            kind: EntryKind::Began(StoredSessionSource::Server),
        };
        self.write(|transaction| {
            record_session_seen(transaction, &entry, EntryArrival::AtOnce).map(drop)
        })
    }

    /// Returns a session by the client's name for it.
    pub fn session(&self, client: &str) -> StoreResult<Option<Session>> {
        find_session(&self.connection, client)
    }

    /// Returns the session that a user names by the client's name for it or by a unique end of its id.
    pub fn session_named(&self, name: &str) -> StoreResult<SessionSummary> {
        let mut found = self.select_summaries("WHERE session.client = ?1", [name])?;
        if let Some(session) = found.pop() {
            return Ok(session);
        }
        let unknown = || StoreError::NoSession(Clean::new(name).to_string());
        let id: IdSuffix = name.parse().map_err(|_| unknown())?;
        let id = match tables::ids_with_suffix(&self.connection, "session", &id)?.as_slice() {
            [one] => *one,
            [] => return Err(unknown()),
            several => return Err(StoreError::Ambiguous { id, count: several.len() }),
        };
        self.select_summaries("WHERE session.uid = ?1", [id])?.pop().ok_or_else(unknown)
    }

    /// Returns the sessions of one project or of all, the last seen first.
    pub fn sessions(
        &self,
        project: Option<&ProjectKey>,
        limit: usize,
    ) -> StoreResult<Vec<SessionSummary>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.select_summaries(
            "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY session.seen DESC, session.id DESC LIMIT ?2",
            params![project, limit],
        )
    }

    fn select_summaries(
        &self,
        rest: &str,
        params: impl rusqlite::Params,
    ) -> StoreResult<Vec<SessionSummary>> {
        let query = format!(
            "SELECT {COLUMNS},
                    (SELECT count(*) FROM outcome WHERE session = session.id AND verdict = 'passed') AS passed,
                    (SELECT count(*) FROM outcome WHERE session = session.id AND verdict = 'failed') AS failed,
                    (SELECT count(*) FROM outcome WHERE session = session.id) AS runs,
                    (SELECT count(*) FROM ghap WHERE session = session.id) AS ghaps,
                    (SELECT count(*) FROM injection WHERE session = session.id) AS injections
             FROM {FROM} {rest}"
        );
        let mut sessions = self.connection.prepare(&query)?;
        let found = sessions.query_map(params, |row| {
            Ok(SessionSummary {
                session: read_session(row)?,
                runs: row.get("runs")?,
                passed: row.get("passed")?,
                failed: row.get("failed")?,
                ghaps: row.get("ghaps")?,
                injections: row.get("injections")?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
