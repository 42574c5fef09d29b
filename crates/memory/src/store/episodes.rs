//! Episodes in the database: failures from their first run to their fix.

use rusqlite::{Connection, Params, Row, params};

use super::{Store, StoreError, StoreResult, projects, tables};
use crate::change::Change;
use crate::episode::{Episode, EpisodeEnding, EpisodeEndingKind};
use crate::project::ProjectKey;
use crate::{Id, IdSuffix, Time};
use rutter_runs::selection::TestSelection;

mod changes;
mod fix_effects;
mod recall;
mod updates;

pub(crate) use changes::read_change;
pub use recall::RecalledEpisode;
pub(crate) use recall::{recall_episodes, was_fixed_by_agent};
pub(crate) use updates::{
    apply_run, has_open_episode, insert_change, open_episode_files, record_change, retire_episodes,
};

pub(crate) const SELECT: &str = "SELECT episode.*, project.key AS project_key,
            (SELECT uid FROM outcome WHERE outcome.id = episode.first) AS first_uid,
            (SELECT uid FROM outcome WHERE outcome.id = episode.last) AS last_uid,
            (SELECT uid FROM outcome WHERE outcome.id = episode.closed) AS closed_uid
     FROM episode JOIN project ON project.id = episode.project";

pub(crate) fn read_episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    let how: Option<EpisodeEndingKind> = row.get("how")?;
    let fix: String = row.get("fix")?;
    let fix = serde_json::from_str(&fix).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })?;
    let seen = row.get("seen")?;
    let ended: Option<Time> = row.get("ended")?;
    let outcome = row.get("closed_uid")?;
    Ok(Episode {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        root: row.get("root")?,
        selection: TestSelection {
            program: row.get("program")?,
            folder: row.get("folder")?,
            arguments: tables::read_list(row, "arguments")?,
            stops: row.get("stops")?,
            task: row.get("task")?,
            is_partial: row.get("partial")?,
            // Only matters for runs that pass.
            package: None,
        },
        signature: row.get("signature")?,
        test: row.get("test")?,
        error: row.get("error")?,
        scope: row.get("scope")?,
        file: row.get("file")?,
        is_compile_error: row.get("compile_error")?,
        first: row.get("first_uid")?,
        last: row.get("last_uid")?,
        attempts: row.get("attempts")?,
        opened: row.get("opened")?,
        seen,
        gone: row.get("gone")?,
        ending: how.map(|how| EpisodeEnding { how, at: ended.unwrap_or(seen), outcome, fix }),
    })
}

/// Returns the episodes of a query; `rest` follows [`SELECT`].
pub(crate) fn select_episodes(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> StoreResult<Vec<Episode>> {
    let mut episodes = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    Ok(episodes.query_map(params, read_episode)?.collect::<Result<_, _>>()?)
}

/// The progress of an episode, to compare two versions of it: whether it has ended, and when it was last touched.
pub(crate) type EpisodeProgress = (bool, Time);

pub(crate) fn episode_progress(episode: &Episode) -> EpisodeProgress {
    match &episode.ending {
        Some(ending) => (true, ending.at),
        None => (false, episode.gone.unwrap_or(episode.seen).max(episode.seen)),
    }
}

/// Returns the progress of a stored episode.
pub(crate) fn stored_progress(
    connection: &Connection,
    id: Id,
) -> StoreResult<Option<EpisodeProgress>> {
    let found = select_episodes(connection, "WHERE episode.uid = ?1", [id])?.pop();
    Ok(found.as_ref().map(episode_progress))
}

/// Returns another open episode of the same failure in the same checkout, if this one is open.
pub(crate) fn find_open_duplicate(
    connection: &Connection,
    project: i64,
    episode: &Episode,
) -> StoreResult<Option<Episode>> {
    if episode.ending.is_some() {
        return Ok(None);
    }
    let rest = "WHERE episode.project = ?1 AND episode.root = ?2 AND episode.signature = ?3 AND how IS NULL
                   AND episode.uid != ?4 AND episode.scope IS ?5";
    let found = select_episodes(
        connection,
        rest,
        params![project, episode.root, episode.signature, episode.id, episode.scope],
    )?;
    Ok(found.into_iter().next())
}

/// Inserts an episode unchanged, or updates the one with the same id.
pub(crate) fn upsert_episode(
    connection: &Connection,
    project: i64,
    episode: &Episode,
) -> rusqlite::Result<()> {
    let ending = episode.ending.as_ref();
    let fix = ending.map_or_else(|| "[]".to_owned(), |ending| to_json(&ending.fix));
    let TestSelection { program, folder, arguments, stops, task, is_partial, package: _ } =
        &episode.selection;
    connection
        .prepare_cached(
            "INSERT INTO episode (uid, project, root, program, folder, arguments, stops, signature, test, error, file, first,
                                  last, attempts, opened, seen, gone, how, ended, closed, fix, changed, scope, task, partial,
                                  compile_error)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, (SELECT id FROM outcome WHERE uid = ?12),
                     (SELECT id FROM outcome WHERE uid = ?13), ?14, ?15, ?16, ?17, ?18, ?19,
                     (SELECT id FROM outcome WHERE uid = ?20), ?21, ?22, ?23, ?24, ?25, ?26)
             ON CONFLICT (uid) DO UPDATE SET
                 program = excluded.program, folder = excluded.folder, arguments = excluded.arguments,
                 stops = excluded.stops, task = excluded.task, partial = excluded.partial,
                 attempts = excluded.attempts, seen = excluded.seen, gone = excluded.gone, last = excluded.last,
                 how = excluded.how, ended = excluded.ended, closed = excluded.closed, fix = excluded.fix,
                 changed = excluded.changed",
        )?
        .execute(params![
            episode.id,
            project,
            episode.root,
            program,
            folder,
            tables::list_to_json(arguments),
            stops,
            episode.signature,
            episode.test,
            episode.error,
            episode.file,
            episode.first,
            episode.last,
            episode.attempts,
            episode.opened,
            episode.seen,
            episode.gone,
            ending.map(|ending| ending.how),
            ending.map(|ending| ending.at),
            ending.and_then(|ending| ending.outcome),
            fix,
            episode_progress(episode).1,
            episode.scope,
            task,
            is_partial,
            episode.is_compile_error,
        ])?;
    Ok(())
}

/// Returns a value as JSON.
pub(super) fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// A filter for episodes.
#[derive(Debug, Clone, Default)]
pub struct EpisodeFilter {
    /// Only this project.
    pub project: Option<ProjectKey>,
    /// Only open episodes.
    pub open: bool,
    /// Only episodes that ended in this way.
    pub how: Option<EpisodeEndingKind>,
    /// Maximum number, the newest.
    pub limit: Option<usize>,
}

impl Store {
    /// Returns episodes, the last seen first.
    pub fn episodes(&self, filter: &EpisodeFilter) -> StoreResult<Vec<Episode>> {
        let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        select_episodes(
            &self.connection,
            "WHERE (?1 IS NULL OR project.key = ?1) AND (NOT ?2 OR how IS NULL) AND (?3 IS NULL OR how = ?3)
             ORDER BY max(episode.seen, coalesce(ended, 0)) DESC, episode.id DESC LIMIT ?4",
            params![filter.project, filter.open, filter.how, limit],
        )
    }

    /// Returns an episode by its id.
    pub fn episode(&self, id: Id) -> StoreResult<Episode> {
        select_episodes(&self.connection, "WHERE episode.uid = ?1", [id])?
            .pop()
            .ok_or(StoreError::NotFound { what: "episode", id: id.into() })
    }

    /// Returns the episode that a user names by the end of its id.
    pub fn episode_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        tables::find_by_suffix(&self.connection, "episode", "episode", id)
    }

    /// Counts how often the failure of an episode was fixed in its project.
    pub fn times_fixed(&self, episode: &Episode) -> StoreResult<u32> {
        let project = projects::find_by_key(&self.connection, &episode.project)?;
        Ok(self.connection.query_row(
            "SELECT count(*) FROM episode WHERE project = ?1 AND signature = ?2 AND how = 'fixed'",
            params![project, episode.signature],
            |row| row.get(0),
        )?)
    }

    /// Returns the changes in the checkout since an episode was opened.
    pub fn changes_of(&self, episode: &Episode) -> StoreResult<Vec<Change>> {
        match projects::find_by_key(&self.connection, &episode.project)? {
            Some(project) => {
                changes::changes_since(&self.connection, project, &episode.root, episode.opened)
            }
            None => Ok(Vec::new()),
        }
    }
}
