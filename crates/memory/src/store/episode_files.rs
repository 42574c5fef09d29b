//! Which files the failures of a project are about, and what is known about a file that a prompt names.

use rusqlite::{Connection, params};

use super::{StoreError, episodes};
use crate::Id;
use crate::episode::{files_of, is_same_file};

/// Fixed failures of one file name that are looked at, the newest.
const LOOKED_AT: u32 = 32;
/// Notes the files of an episode, in place of those that were noted before.
pub(super) fn refresh(connection: &Connection, row: Id) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM episode_file WHERE episode = ?1")?.execute([row])?;
    let Some(episode) = episodes::select(connection, "WHERE episode.uid = ?1", [row])?.pop() else {
        return Ok(());
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO episode_file (project, name, episode, path)
         SELECT project, ?2, uid, ?3 FROM episode WHERE uid = ?1 ON CONFLICT DO NOTHING",
    )?;
    for path in files_of(&episode) {
        insert.execute(params![row, file_name(path), path])?;
    }
    Ok(())
}

/// The newest fixed failures about a file that ends so, the newest last, each with the file's path.
pub(super) fn fixed_in(
    connection: &Connection,
    project: i64,
    typed: &str,
) -> Result<Vec<(String, Id)>, StoreError> {
    let mut rows = connection.prepare_cached(
        "SELECT path, episode FROM episode_file WHERE project = ?1 AND name = ?2 ORDER BY episode DESC LIMIT ?3",
    )?;
    let rows = rows.query_map(params![project, file_name(typed), LOOKED_AT], |row| {
        Ok((row.get::<_, String>(0)?, row.get(1)?))
    })?;
    let mut found: Vec<(String, Id)> = rows.collect::<Result<_, _>>()?;
    found.retain(|(path, _)| is_same_file(typed, path));
    found.reverse();
    Ok(found)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
