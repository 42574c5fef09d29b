//! Which files the failures of a project are about, and what is known about a file that a prompt names.

use rusqlite::{Connection, params};

use super::entry::Place;
use super::{StoreError, effects, episodes, origins, projects};
use crate::context::{Candidate, Section, Source};
use crate::episode::Episode;
use crate::mention::{Mentions, files_of, is_same_file};
use crate::{Id, Time, reference};

/// Fixed failures of one file name that are looked at, the newest.
const LOOKED_AT: u32 = 32;
/// References for one prompt.
pub(crate) const MAX_REFERENCES: usize = 3;

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

/// What is known about the files that a prompt names, one line each: failures that are still open in this checkout, then
/// the last fix. A file name that stands for several files says nothing.
pub(crate) fn references(
    connection: &Connection,
    place: &Place,
    mentions: &Mentions<'_>,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let mut found: Vec<Candidate> = Vec::new();
    if mentions.paths().is_empty() {
        return Ok(found);
    }
    let Some(project) = projects::find(connection, place)? else { return Ok(found) };
    let mut add = |row: Id, text: String| {
        if found.iter().all(|known| known.row != row) {
            let (kind, section) = (Source::Episode, Section::Files);
            found.push(Candidate { row, kind, section, confidence: 1.0, refused: None, text });
        }
    };
    let open = episodes::select(
        connection,
        "WHERE episode.project = ?1 AND episode.root = ?2 AND how IS NULL ORDER BY episode.seen DESC",
        params![project, place.root],
    )?;
    for typed in mentions.paths() {
        let Some(typed) = from_root(typed, &place.root) else { continue };
        let fixed = fixed_in(connection, project, typed)?;
        let paths: Vec<&str> = open
            .iter()
            .flat_map(files_of)
            .filter(|path| is_same_file(typed, path))
            .chain(fixed.iter().map(|(path, _)| path.as_str()))
            .collect();
        let exact = paths.iter().find(|path| **path == typed);
        let only = paths.first().filter(|first| paths.iter().all(|path| path == *first));
        let Some(&path) = exact.or(only) else { continue };
        for episode in open.iter().filter(|episode| files_of(episode).any(|file| file == path)) {
            add(episode.id, reference::open_failure(episode, path, now));
        }
        for (_, row) in fixed.iter().rev().filter(|(fixed, _)| fixed == path) {
            if effects::ever(connection, *row)?.is_harmful()
                || origins::is_unconfirmed_import(connection, *row)?
            {
                continue;
            }
            let episode: Option<Episode> =
                episodes::select(connection, "WHERE episode.uid = ?1", [*row])?.pop();
            if let Some(text) = episode.and_then(|episode| reference::last_fix(&episode, path, now))
            {
                add(*row, text);
                break;
            }
        }
    }
    Ok(found)
}

/// The newest fixed failures about a file that ends so, the newest last, each with the file's path.
fn fixed_in(
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

/// A typed path as a path from the root of the checkout; None for one that leads elsewhere.
fn from_root<'a>(typed: &'a str, root: &str) -> Option<&'a str> {
    if typed.starts_with('/') { typed.strip_prefix(root)?.strip_prefix('/') } else { Some(typed) }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
