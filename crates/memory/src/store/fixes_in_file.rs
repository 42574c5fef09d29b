//! Fixes in a file that an edit must not remove unnoticed.

use rusqlite::{Connection, params};

use super::entry::ProjectPlace;
use super::episodes::{select_episodes, was_fixed_by_agent};
use super::{StoreResult, effects, episode_files, injections, origins};
use crate::episode::{Episode, EpisodeEndingKind};
use crate::{Clean, Time};

/// Returns the fixed episodes with a certain fix in a file, newest first. Leaves out those that the agent knows, because they
/// were shown to it in full or here, or because it fixed them itself; those that are unconfirmed or did harm; and those that came back
/// after the fix, because then it was undone or was not enough.
pub(super) fn fixes_in_file(
    connection: &Connection,
    project: i64,
    place: &ProjectPlace,
    (client, agent): (&str, Option<&Clean>),
    file: &str,
    now: Time,
) -> StoreResult<Vec<Episode>> {
    let mut found = Vec::new();
    for (path, row) in episode_files::find_fixed_in_file(connection, project, file)?.iter().rev() {
        if path != file {
            continue;
        }
        let Some(episode) = select_episodes(connection, "WHERE episode.uid = ?1", [*row])?.pop()
        else {
            continue;
        };
        let Some(ending) = &episode.ending else { continue };
        let has_fix =
            ending.fix.iter().any(|change| change.is_certain && change.name.as_str() == file);
        if ending.how == EpisodeEndingKind::Fixed
            && has_fix
            && !came_back(connection, project, &episode, ending.at)?
            && !injections::is_in_context(connection, client, agent, *row, now)?
            && !injections::was_shown_before_call(connection, client, agent, *row, now)?
            && !was_fixed_by_agent(connection, client, agent, &episode, now)?
            && !effects::total_effects(connection, *row)?.is_harmful()
            && origins::unconfirmed_reason(connection, *row, place)?.is_none()
        {
            found.push(episode);
        }
    }
    Ok(found)
}

/// Returns true if the failure, or another one of its test, was opened after a time.
fn came_back(
    connection: &Connection,
    project: i64,
    episode: &Episode,
    since: Time,
) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM episode WHERE project = ?1 AND opened > ?4 AND signature = ?2)
                 OR EXISTS (SELECT 1 FROM episode WHERE project = ?1 AND opened > ?4 AND test = ?3)",
        )?
        .query_row(params![project, episode.signature, episode.test, since], |row| row.get(0))?)
}
