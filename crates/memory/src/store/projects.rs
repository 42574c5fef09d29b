//! Projects and their keys.
//!
//! A place has a strongest key and weaker ones. The project with the strongest key is the project of the place. If no
//! project has it, a project that has one of the weaker keys as its *main* key, and therefore nothing stronger, gets
//! the new key: a folder that became a repository, and a repository that got its first remote, keep their memory.
//!
//! This module never merges two projects by itself: the user does, with `rutter project merge`. If the strongest key
//! leads to one project, another with a weaker key as its main key stays separate, and [`Store::earlier_projects`]
//! finds it.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::entry::ProjectPlace;
use super::{Store, StoreError, StoreResult};
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The id.
    pub id: Id,
    /// The main key: the strongest one.
    pub key: ProjectKey,
    /// All other keys.
    pub aliases: Vec<ProjectKey>,
    /// The aliases that came from projects which were merged into this one.
    pub merged: Vec<ProjectKey>,
    /// The display name.
    pub name: Clean,
    /// The folder in which it was last seen.
    pub root: Clean,
    /// The time when it was first seen.
    pub created: Time,
    /// The time of the last change to these fields.
    pub changed: Time,
}

/// A project with the counts of its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProjectSummary {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of GHAPs.
    pub ghaps: u64,
    /// Number of captured test runs.
    pub outcomes: u64,
    /// Number of episodes, open and closed.
    pub episodes: u64,
    /// Number of memories.
    pub memories: u64,
    /// Number of values, including retired ones.
    pub values: u64,
}

/// Returns the row of a place's project. Creates the project, or gives an earlier project of the place its new key, if
/// needed.
pub(crate) fn ensure_project(
    connection: &Connection,
    place: &ProjectPlace,
    now: Time,
) -> StoreResult<i64> {
    let key = &place.key;
    let row = match match_place(connection, place)? {
        None => insert_project(connection, key, place, now)?,
        Some(ProjectMatch::ByKey(row)) => row,
        Some(ProjectMatch::Earlier(row)) => {
            connection.execute(
                "UPDATE project SET key = ?2, changed = ?3 WHERE id = ?1",
                params![row, key, now],
            )?;
            row
        }
    };
    for key in std::iter::once(key).chain(&place.aliases) {
        // A key belongs to the project that is at its place now. But a main key stays with its project, which could not
        // be found otherwise.
        let mut known = connection.prepare_cached(
            "INSERT INTO project_alias (key, project) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET project = excluded.project, merged = 0
             WHERE project != excluded.project
               AND NOT EXISTS (SELECT 1 FROM project WHERE id = project_alias.project AND key = project_alias.key)",
        )?;
        known.execute(params![key, row])?;
    }
    connection
        .prepare_cached("UPDATE project SET root = ?2, name = ?3, changed = ?4 WHERE id = ?1 AND (root, name) != (?2, ?3)")?
        .execute(params![row, place.root, place.name, now])?;
    Ok(row)
}

fn insert_project(
    connection: &Connection,
    key: &ProjectKey,
    place: &ProjectPlace,
    now: Time,
) -> StoreResult<i64> {
    connection.execute(
        "INSERT INTO project (uid, key, name, root, created, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        params![Id::new(now), key, place.name, place.root, now],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Returns the project that has a key.
pub(crate) fn find_by_key(
    connection: &Connection,
    key: &ProjectKey,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT project FROM project_alias WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Returns true if a key is the main key of a project. A project with a stronger main key is a different one that was
/// once at the same place.
fn is_main_key(connection: &Connection, project: i64, key: &ProjectKey) -> StoreResult<bool> {
    let own: ProjectKey = connection
        .prepare_cached("SELECT key FROM project WHERE id = ?1")?
        .query_row([project], |row| row.get(0))?;
    Ok(own == *key)
}

/// Returns true if a key is sufficient to identify a project. A folder path is not, if the project has a stronger key:
/// the repository that was there is gone, and this is a new folder in its place. It is sufficient if the user has
/// merged the two.
fn is_sufficient_key(connection: &Connection, key: &ProjectKey, project: i64) -> StoreResult<bool> {
    let merged: bool = connection
        .prepare_cached("SELECT merged FROM project_alias WHERE key = ?1")?
        .query_row([key], |row| row.get(0))?;
    Ok(merged || !key.is_folder() || is_main_key(connection, project, key)?)
}

pub(crate) fn read_project(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Project> {
    let (number, key): (i64, ProjectKey) = (row.get("id")?, row.get("key")?);
    let mut all = connection.prepare_cached(
        "SELECT key, merged FROM project_alias WHERE project = ?1 AND key != ?2 ORDER BY id",
    )?;
    let all = all
        .query_map(params![number, key], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(ProjectKey, bool)>, _>>()?;
    Ok(Project {
        id: row.get("uid")?,
        key,
        merged: all.iter().filter(|(_, merged)| *merged).map(|(key, _)| key.clone()).collect(),
        aliases: all.into_iter().map(|(key, _)| key).collect(),
        name: row.get("name")?,
        root: row.get("root")?,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}

/// The project of a place, by the key that led to it.
enum ProjectMatch {
    /// By the strongest key of the place.
    ByKey(i64),
    /// By a weaker key that is the project's main key: the place did not have its strongest key yet.
    Earlier(i64),
}

fn match_place(connection: &Connection, place: &ProjectPlace) -> StoreResult<Option<ProjectMatch>> {
    if let Some(row) = find_by_key(connection, &place.key)?
        && is_sufficient_key(connection, &place.key, row)?
    {
        return Ok(Some(ProjectMatch::ByKey(row)));
    }
    for alias in &place.aliases {
        if let Some(row) = find_by_key(connection, alias)?
            && is_main_key(connection, row, alias)?
        {
            return Ok(Some(ProjectMatch::Earlier(row)));
        }
    }
    Ok(None)
}

/// Returns the row of a place's project as [`ensure_project`] would find it, or None if it has no row yet.
pub(crate) fn find_project(
    connection: &Connection,
    place: &ProjectPlace,
) -> StoreResult<Option<i64>> {
    let found = match_place(connection, place)?;
    Ok(found.map(|(ProjectMatch::ByKey(row) | ProjectMatch::Earlier(row))| row))
}

/// Returns the place in which a project was last seen.
pub(super) fn last_place(connection: &Connection, project: i64) -> StoreResult<ProjectPlace> {
    let place = |row: &Row<'_>| {
        let (key, root, name) = (row.get("key")?, row.get("root")?, row.get("name")?);
        Ok(ProjectPlace { key, aliases: Vec::new(), root, name })
    };
    Ok(connection
        .prepare_cached("SELECT key, root, name FROM project WHERE id = ?1")?
        .query_row([project], place)?)
}

/// Returns the main key of a place's project, or the place's strongest key if the project has no row yet.
pub(super) fn project_key(
    connection: &Connection,
    place: &ProjectPlace,
) -> StoreResult<ProjectKey> {
    let Some(row) = find_project(connection, place)? else { return Ok(place.key.clone()) };
    Ok(connection
        .prepare_cached("SELECT key FROM project WHERE id = ?1")?
        .query_row([row], |row| row.get(0))?)
}

impl Store {
    /// Returns the main key of a place's project, or the place's strongest key if the project has no row yet.
    pub fn project_key(&self, place: &ProjectPlace) -> StoreResult<ProjectKey> {
        project_key(&self.connection, place)
    }

    /// Returns the project of a place, or None if it has no row yet.
    pub fn project(&self, place: &ProjectPlace) -> StoreResult<Option<Project>> {
        let Some(row) = find_project(&self.connection, place)? else { return Ok(None) };
        let found =
            self.connection.query_row("SELECT * FROM project WHERE id = ?1", [row], |row| {
                read_project(&self.connection, row)
            })?;
        Ok(Some(found))
    }

    /// Returns other projects that were at a place before: those with one of its keys as main key, and those last seen
    /// in its folder. Their rows are not shown there until the user merges them.
    pub fn earlier_projects(&self, place: &ProjectPlace) -> StoreResult<Vec<ProjectSummary>> {
        let own = find_project(&self.connection, place)?;
        let mut rows = Vec::new();
        for alias in &place.aliases {
            if let Some(row) = find_by_key(&self.connection, alias)?
                && is_main_key(&self.connection, row, alias)?
            {
                rows.push(row);
            }
        }
        let mut seen_here = self.connection.prepare("SELECT id FROM project WHERE root = ?1")?;
        for row in seen_here.query_map([&place.root], |row| row.get(0))? {
            rows.push(row?);
        }
        rows.retain(|row| Some(*row) != own);
        let mut earlier = self.projects()?;
        let mut ids = Vec::new();
        for row in rows {
            let id: Id = self.connection.query_row(
                "SELECT uid FROM project WHERE id = ?1",
                [row],
                |row| row.get(0),
            )?;
            ids.push(id);
        }
        earlier.retain(|summary| ids.contains(&summary.project.id));
        Ok(earlier)
    }

    /// Returns every project, the last seen first.
    pub fn projects(&self) -> StoreResult<Vec<ProjectSummary>> {
        let mut projects = self.connection.prepare(
            "SELECT *,
                 (SELECT count(*) FROM session WHERE project = project.id) AS sessions,
                 (SELECT count(*) FROM ghap WHERE project = project.id) AS ghaps,
                 (SELECT count(*) FROM outcome WHERE project = project.id) AS outcomes,
                 (SELECT count(*) FROM episode WHERE project = project.id) AS episodes,
                 (SELECT count(*) FROM memory WHERE project = project.id) AS memories,
                 (SELECT count(*) FROM value WHERE project = project.id) AS held,
                 (SELECT max(seen) FROM session WHERE project = project.id) AS last
             FROM project ORDER BY last DESC NULLS LAST, id DESC",
        )?;
        let found = projects.query_map([], |row| {
            Ok(ProjectSummary {
                project: read_project(&self.connection, row)?,
                sessions: row.get("sessions")?,
                ghaps: row.get("ghaps")?,
                outcomes: row.get("outcomes")?,
                episodes: row.get("episodes")?,
                memories: row.get("memories")?,
                values: row.get("held")?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns the project that a user names by any key, by the end of its id, or by its name if that is unique.
    pub fn find_project_by_name(&self, name: &str) -> StoreResult<ProjectSummary> {
        let key = ProjectKey::new(name);
        let id = name.parse::<crate::IdSuffix>().ok();
        let mut projects = self.projects()?;
        let by_key = projects.iter().position(|summary| {
            let project = &summary.project;
            project.key == key || project.aliases.contains(&key)
        });
        if let Some(place) = by_key {
            return Ok(projects.swap_remove(place));
        }
        projects.retain(|summary| {
            let project = &summary.project;
            project.name.as_str() == name || id.as_ref().is_some_and(|id| id.matches(project.id))
        });
        match projects.len() {
            1 => Ok(projects.swap_remove(0)),
            0 => Err(StoreError::NoProject(Clean::new(name).to_string())),
            count => Err(StoreError::SeveralProjects { name: Clean::new(name).to_string(), count }),
        }
    }
}
