//! The files of an episode.

use super::Episode;
use crate::change::ChangeKind;

/// Returns the files of an episode: the place of the failure, the file of its test, and the files changed by the fix.
pub fn files_of_episode(episode: &Episode) -> impl Iterator<Item = &str> {
    let test = episode.test.as_deref().and_then(|test| test.split_once("::")).map(|(file, _)| file);
    let fix = episode.ending.iter().flat_map(|ending| &ending.fix);
    let edits =
        fix.filter(|change| change.kind == ChangeKind::Edit).map(|change| change.name.as_str());
    let failed = episode.file.as_deref().into_iter().chain(test.filter(|file| has_extension(file)));
    failed.chain(edits)
}

/// Returns true if a typed path and a path from the root can be the same file: one is a suffix of the other, in whole
/// parts.
pub fn is_same_file(typed: &str, file: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    !typed.is_empty() && !file.is_empty() && (ends(file, typed) || ends(typed, file))
}

/// Returns true if the last part of a path is a file name with an extension.
pub fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=10).contains(&extension.len())
            && extension.chars().all(|sign| sign.is_ascii_alphanumeric())
            && extension.chars().any(|sign| sign.is_ascii_alphabetic())
    })
}
