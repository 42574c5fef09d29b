//! Projects, and the keys they are known by.
//!
//! A place has a strongest key and weaker ones. The project that has the strongest is the project of the place. If none has
//! it, the project that *goes by* a weaker one, which means that it has nothing stronger, takes the new key: a folder that
//! became a repository, and a repository that got its first remote, keep their memory.
//!
//! Two projects are never made one here: that takes a person, and `rutter project merge`. Where the strongest key leads to a
//! project, one that goes by a weaker key stays as it is, and [`Store::earlier_projects`] finds it.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use serde::{Deserialize, Serialize};

use super::entry::Place;
use super::{Store, StoreError, ghaps, sessions, tables, values};
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its identity.
    pub id: Id,
    /// Its strongest key.
    pub key: ProjectKey,
    /// Every other key it is known by.
    pub aliases: Vec<ProjectKey>,
    /// Those of them that came from projects which were merged into it.
    pub merged: Vec<ProjectKey>,
    /// What people call it.
    pub name: Clean,
    /// The folder it was last seen in.
    pub root: Clean,
    /// When it was first seen.
    pub created: Time,
    /// When what is said here last changed.
    pub changed: Time,
}

/// A project and how much there is of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProjectSummary {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// How many sessions.
    pub sessions: u64,
    /// How many GHAPs.
    pub ghaps: u64,
    /// How many captured runs.
    pub outcomes: u64,
    /// How many failures that are or were followed.
    pub episodes: u64,
    /// How many memories.
    pub memories: u64,
    /// How many values, also of those that are retired.
    pub values: u64,
}

/// The row of a place's project. Makes one, or gives an earlier project of the place its new key, where needed.
pub(crate) fn row_of(connection: &Connection, place: &Place, now: Time) -> Result<i64, StoreError> {
    let key = &place.key;
    let row = match look_up(connection, place)? {
        None => insert(connection, key, place, now)?,
        Some(Known::ByKey(row)) => row,
        Some(Known::Earlier(row)) => {
            connection.execute(
                "UPDATE project SET key = ?2, changed = ?3 WHERE id = ?1",
                params![row, key, now],
            )?;
            row
        }
    };
    for key in std::iter::once(key).chain(&place.aliases) {
        // A key leads to what stands at its place now. But a project that has no other key keeps it, or nobody could find it.
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

fn insert(
    connection: &Connection,
    key: &ProjectKey,
    place: &Place,
    now: Time,
) -> Result<i64, StoreError> {
    connection.execute(
        "INSERT INTO project (uid, key, name, root, created, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        params![Id::new(now), key, place.name, place.root, now],
    )?;
    Ok(connection.last_insert_rowid())
}

/// The project that has a key.
pub(crate) fn known_as(connection: &Connection, key: &ProjectKey) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT project FROM project_alias WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Whether a project has nothing stronger to go by than this key. One that has is another project, which was at the
/// same place once.
fn goes_by(connection: &Connection, project: i64, key: &ProjectKey) -> Result<bool, StoreError> {
    let own: ProjectKey = connection
        .prepare_cached("SELECT key FROM project WHERE id = ?1")?
        .query_row([project], |row| row.get(0))?;
    Ok(own == *key)
}

/// Whether a key is enough to be taken for a project. The path of a folder is not, where the project has something
/// stronger: the repository that was there is gone, and this is another folder in its place. Unless somebody said that
/// the two belong together.
fn leads_to(connection: &Connection, key: &ProjectKey, project: i64) -> Result<bool, StoreError> {
    let merged: bool = connection
        .prepare_cached("SELECT merged FROM project_alias WHERE key = ?1")?
        .query_row([key], |row| row.get(0))?;
    Ok(merged || !key.is_folder() || goes_by(connection, project, key)?)
}

/// Gives everything of one project to another, keys included.
fn join(connection: &Connection, from: i64, into: i64) -> Result<(), StoreError> {
    join_standing_sessions(connection, from, into)?;
    // The same agent of one session may have an active GHAP in each.
    keep_the_youngest(connection, "project IN (?1, ?2)", "session, agent", params![from, into])?;
    // The same failure may be followed in each.
    connection.execute(
        "UPDATE episode SET how = 'left', ended = seen WHERE how IS NULL AND project = ?1
            AND EXISTS (SELECT 1 FROM episode AS other WHERE other.how IS NULL AND other.project = ?2
                           AND other.root = episode.root AND other.signature = episode.signature
                           AND other.scope IS episode.scope)",
        [from, into],
    )?;
    // Each may have the same command.
    connection.execute("DELETE FROM unfollowed WHERE project = ?1", [from])?;
    for table in tables::OF_PROJECT {
        connection.execute(
            &format!("UPDATE {table} SET project = ?2 WHERE project = ?1"),
            [from, into],
        )?;
    }
    connection.execute("DELETE FROM project WHERE id = ?1", [from])?;
    Ok(())
}

/// Commands that are typed in either place share one session from now on.
fn join_standing_sessions(connection: &Connection, from: i64, into: i64) -> Result<(), StoreError> {
    let name = |project: i64| -> rusqlite::Result<Clean> {
        let id =
            connection
                .query_row("SELECT uid FROM project WHERE id = ?1", [project], |row| row.get(0))?;
        Ok(sessions::standing_name(id))
    };
    let (from, into) = (name(from)?, name(into)?);
    let taken: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1)",
        [&into],
        |row| row.get(0),
    )?;
    if !taken {
        connection
            .execute("UPDATE session SET client = ?2 WHERE client = ?1", params![from, into])?;
        return Ok(());
    }
    let both = "session IN (SELECT id FROM session WHERE client IN (?1, ?2))";
    keep_the_youngest(connection, both, "agent", params![from, into])?;
    for table in ["ghap", "outcome", "injection"] {
        connection.execute(
            &format!(
                "UPDATE {table} SET session = (SELECT id FROM session WHERE client = ?2)
                 WHERE session = (SELECT id FROM session WHERE client = ?1)"
            ),
            params![from, into],
        )?;
    }
    connection.execute("DELETE FROM session WHERE client = ?1", [from])?;
    Ok(())
}

/// Of active GHAPs that will belong to one agent of one session, the youngest goes on.
fn keep_the_youngest(
    connection: &Connection,
    of: &str,
    each: &str,
    params: impl Params,
) -> Result<(), StoreError> {
    let older = connection
        .prepare(&format!(
            "SELECT uid FROM ghap WHERE status = 'active' AND {of} AND id NOT IN (
                 SELECT max(id) FROM ghap WHERE status = 'active' AND {of} GROUP BY {each}
             )"
        ))?
        .query_map(params, |row| row.get(0))?
        .collect::<Result<Vec<Id>, _>>()?;
    older.into_iter().try_for_each(|id| Ok(ghaps::lay_down(connection, id)?))
}

pub(crate) fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Project> {
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

/// How a place leads to a project.
enum Known {
    /// By its strongest key.
    ByKey(i64),
    /// By a weaker key, which the project goes by: it is the same place before it had its strongest key.
    Earlier(i64),
}

fn look_up(connection: &Connection, place: &Place) -> Result<Option<Known>, StoreError> {
    if let Some(row) = known_as(connection, &place.key)?
        && leads_to(connection, &place.key, row)?
    {
        return Ok(Some(Known::ByKey(row)));
    }
    for alias in &place.aliases {
        if let Some(row) = known_as(connection, alias)?
            && goes_by(connection, row, alias)?
        {
            return Ok(Some(Known::Earlier(row)));
        }
    }
    Ok(None)
}

/// The row of a place's project, as [`row_of`] would find it; `None` when nothing was ever written about it.
pub(crate) fn find(connection: &Connection, place: &Place) -> Result<Option<i64>, StoreError> {
    let found = look_up(connection, place)?;
    Ok(found.map(|(Known::ByKey(row) | Known::Earlier(row))| row))
}

/// What the project of a place is known by; where nothing was ever written about it, what it would be known by.
pub(super) fn key_of(connection: &Connection, place: &Place) -> Result<ProjectKey, StoreError> {
    let Some(row) = find(connection, place)? else { return Ok(place.key.clone()) };
    Ok(connection
        .prepare_cached("SELECT key FROM project WHERE id = ?1")?
        .query_row([row], |row| row.get(0))?)
}

impl Store {
    /// What the project of a place is known by; where nothing was ever written about it, what it would be known by.
    pub fn project_key(&self, place: &Place) -> Result<ProjectKey, StoreError> {
        key_of(&self.connection, place)
    }

    /// The project of a place; `None` when nothing was ever written about it.
    pub fn project(&self, place: &Place) -> Result<Option<Project>, StoreError> {
        let Some(row) = find(&self.connection, place)? else { return Ok(None) };
        let found =
            self.connection.query_row("SELECT * FROM project WHERE id = ?1", [row], |row| {
                read(&self.connection, row)
            })?;
        Ok(Some(found))
    }

    /// Other projects that were at a place before: those that go by one of its keys, and those that were last seen in its
    /// folder. Nothing of them is shown there until a person merges them.
    pub fn earlier_projects(&self, place: &Place) -> Result<Vec<ProjectSummary>, StoreError> {
        let own = find(&self.connection, place)?;
        let mut rows = Vec::new();
        for alias in &place.aliases {
            if let Some(row) = known_as(&self.connection, alias)?
                && goes_by(&self.connection, row, alias)?
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

    /// Every project, the last one seen first.
    pub fn projects(&self) -> Result<Vec<ProjectSummary>, StoreError> {
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
                project: read(&self.connection, row)?,
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

    /// The one project that a person means: by any key, by its id, or by its name where only one has it.
    pub fn project_named(&self, name: &str) -> Result<ProjectSummary, StoreError> {
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
            project.name.as_str() == name || id.as_ref().is_some_and(|id| id.names(project.id))
        });
        match projects.len() {
            1 => Ok(projects.swap_remove(0)),
            0 => Err(StoreError::NoProject(Clean::new(name).to_string())),
            count => Err(StoreError::SeveralProjects { name: Clean::new(name).to_string(), count }),
        }
    }

    /// Gives everything of one project to another, its keys included, so that both places share from now on.
    pub fn merge_projects(&mut self, from: Id, into: Id) -> Result<(), StoreError> {
        self.write(|transaction| {
            let number = |id: Id| {
                transaction
                    .query_row("SELECT id FROM project WHERE uid = ?1", [id], |row| row.get(0))
            };
            let (from, into): (i64, i64) = (number(from)?, number(into)?);
            if from == into {
                return Ok(());
            }
            transaction
                .execute("UPDATE project_alias SET merged = 1 WHERE project = ?1", [from])?;
            join(transaction, from, into)?;
            values::unite(transaction)
        })
    }
}
