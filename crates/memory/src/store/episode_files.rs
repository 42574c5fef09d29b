//! Files of episodes: an index to find the fixed failures about a file that a prompt names.

use rusqlite::{Connection, params};

use super::{StoreResult, episodes};
use crate::Id;
use crate::episode::{files_of_episode, is_same_file};

/// Maximum number of episodes per file name that are examined, the newest.
const MAX_EXAMINED_EPISODES: u32 = 32;
/// Records the files of an episode in place of the earlier ones.
pub(super) fn refresh_episode_files(connection: &Connection, row: Id) -> StoreResult {
    connection.prepare_cached("DELETE FROM episode_file WHERE episode = ?1")?.execute([row])?;
    let Some(episode) =
        episodes::select_episodes(connection, "WHERE episode.uid = ?1", [row])?.pop()
    else {
        return Ok(());
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO episode_file (project, name, episode, path)
         SELECT project, ?2, uid, ?3 FROM episode WHERE uid = ?1 ON CONFLICT DO NOTHING",
    )?;
    for path in files_of_episode(&episode) {
        insert.execute(params![row, file_name(path), path])?;
    }
    Ok(())
}

/// Returns the paths and ids of the newest fixed episodes about a file, the newest last. `typed` is the end of the
/// path.
pub(super) fn find_fixed_in_file(
    connection: &Connection,
    project: i64,
    typed: &str,
) -> StoreResult<Vec<(String, Id)>> {
    let mut rows = connection.prepare_cached(
        "SELECT path, episode FROM episode_file WHERE project = ?1 AND name = ?2 ORDER BY episode DESC LIMIT ?3",
    )?;
    let rows = rows
        .query_map(params![project, file_name(typed), MAX_EXAMINED_EPISODES], |row| {
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
