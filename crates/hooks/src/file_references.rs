//! One-line references to failures in the files that a prompt names.

use rutter_memory::episode::{files_of_episode, is_same_file};
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{StoreError, StoreReader};
use rutter_memory::{Id, Time};

use crate::context::{ContextCandidate, ContextSection, InjectionSource};
use crate::mention::Mentions;
use crate::reference;

/// Maximum number of references for one prompt.
pub(crate) const MAX_REFERENCES: usize = 3;

/// Returns the open failures in this checkout and the last fix of each file that a prompt names, one line each, if the
/// prompt is about them: most prompts name a file for another reason. A file name that matches several files is ignored.
pub(crate) fn find_references(
    reader: StoreReader<'_>,
    place: &ProjectPlace,
    mentions: &Mentions<'_>,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let mut found: Vec<ContextCandidate> = Vec::new();
    if mentions.paths().is_empty() {
        return Ok(found);
    }
    let mut add = |row: Id, text: String| {
        if found.iter().all(|known| known.row != row) {
            let (kind, section) = (InjectionSource::Episode, ContextSection::Files);
            found.push(ContextCandidate {
                row,
                kind,
                section,
                confidence: 1.0,
                refused: None,
                text,
            });
        }
    };
    let open = reader.open_episodes(place)?;
    for typed in mentions.paths() {
        let Some(typed) = relative_to_root(typed, &place.root) else { continue };
        let fixed = reader.fixes_of_file(place, typed)?;
        let paths: Vec<&str> = open
            .iter()
            .flat_map(files_of_episode)
            .filter(|path| is_same_file(typed, path))
            .chain(fixed.iter().map(|(path, _)| path.as_str()))
            .collect();
        let exact = paths.iter().find(|path| **path == typed);
        let only = paths.first().filter(|first| paths.iter().all(|path| path == *first));
        let Some(&path) = exact.or(only) else { continue };
        for episode in
            open.iter().filter(|episode| files_of_episode(episode).any(|file| file == path))
        {
            let is_asked = episode.test.is_some() && mentions.is_about_failing();
            if !is_asked && !mentions.is_about_failure(episode, path) {
                continue;
            }
            add(episode.id, reference::describe_open_failure(episode, path, now));
        }
        for (_, row) in fixed.iter().rev().filter(|(fixed, _)| fixed == path) {
            if reader.effects(*row)?.is_harmful() || reader.is_unconfirmed_import(*row)? {
                continue;
            }
            let episode = reader.episode(*row)?;
            if let Some(text) = episode
                .filter(|episode| mentions.is_about_failure(episode, path))
                .and_then(|episode| reference::describe_last_fix(&episode, path, now))
            {
                let text = match reader.unconfirmed_reason(*row, place)? {
                    Some(unconfirmed) => unconfirmed.append_mark(&text),
                    None => text,
                };
                add(*row, text);
                break;
            }
        }
    }
    Ok(found)
}

/// Returns a typed path relative to the root of the checkout; None if it is outside.
fn relative_to_root<'a>(typed: &'a str, root: &str) -> Option<&'a str> {
    if typed.starts_with('/') { typed.strip_prefix(root)?.strip_prefix('/') } else { Some(typed) }
}
