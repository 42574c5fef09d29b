//! Copies of files before a command runs, compared with the files after it has ended, to find its changes.
//!
//! Made only while a failure is open in the checkout, only for commands that may change files, and only of files that
//! the command names, that the open failures name or that were edited since. The copies are redacted and are removed
//! when the command has ended.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rutter_contract::input::RawPayload;
use serde::{Deserialize, Serialize};

use super::HookCall;
use rutter_memory::change::{Change, GitEffect, Hunk, git_effect, named_files};
use rutter_memory::data_dir::{read_own, write_new};
use rutter_memory::project::{changed_files, files_named};
use rutter_memory::{Clean, Time, checksum};
use rutter_runs::command_line::{CommandFolder, CommandLine};
use rutter_runs::place::tested_unit;

/// Maximum number of files that are compared for one command.
const MAX_FILES: usize = 32;
/// Maximum number of files that are found by the names of failing tests.
const MAX_TESTED_FILES: usize = 12;
/// Maximum size of a file that is compared.
const MAX_FILE_BYTES: u64 = 128 * 1024;
/// Maximum size of all files that are compared for one command.
const MAX_TOTAL_BYTES: u64 = 384 * 1024;

/// The files of a checkout before a command.
#[derive(Debug, Serialize, Deserialize)]
struct Snapshot {
    files: Vec<SnapshotFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SnapshotFile {
    /// Relative to the root of the checkout.
    path: String,
    /// None if the file did not exist.
    text: Option<Clean>,
}

/// Copies the files that a command may change, if a failure is open.
pub(super) fn take_snapshot(wire: &RawPayload<'_>, call: &mut HookCall, line: &CommandLine) {
    let Some(path) = snapshot_path(wire, call) else { return };
    let place = call.place.clone();
    let Ok(store) = call.store() else { return };
    if !matches!(store.has_open_episode(&place), Ok(true)) {
        return;
    }
    let mut paths = named_paths(call, line);
    // Files that are not named: those of the failures, and those that were edited.
    let root = call.located.root.clone();
    let names_file = paths.iter().any(|path| root.join(path).is_file());
    if !names_file || git_effect(line).is_some_and(|undoing| undoing != GitEffect::Unstashes) {
        if let Ok(store) = call.store()
            && let Ok(files) = store.open_episode_files(&place)
        {
            paths.extend(files.iter().map(ToString::to_string));
        }
        // Files of a commit that is reverted do not differ from the index.
        let tested: Vec<String> = paths.iter().map(|file| tested_unit(file).to_owned()).collect();
        let tested: Vec<&str> = tested.iter().map(String::as_str).collect();
        paths.extend(files_named(&root, &tested, MAX_TESTED_FILES));
        paths.extend(changed_files(&root, MAX_FILES));
    }
    let mut seen: Vec<String> = Vec::new();
    paths.retain(|path| {
        let new = !seen.contains(path);
        seen.push(path.clone());
        new
    });
    let mut left = MAX_TOTAL_BYTES;
    let mut files = Vec::new();
    for path in paths.into_iter().take(MAX_FILES) {
        if !may_read(call, &path) {
            continue;
        }
        if let Some(text) = read_redacted(&call.located.root.join(&path), &mut left) {
            files.push(SnapshotFile { path, text });
        }
    }
    if files.is_empty() {
        return;
    }
    if let Ok(bytes) = serde_json::to_vec(&Snapshot { files }) {
        // If the snapshot cannot be written, only the command itself is recorded.
        drop(write_new(&path, &bytes));
    }
}

/// Compares the files with their copies and removes the copies.
pub(super) fn finish_snapshot(
    wire: &RawPayload<'_>,
    call: &HookCall,
    command: &Clean,
    at: Time,
) -> Vec<Change> {
    let Some(path) = snapshot_path(wire, call) else { return Vec::new() };
    let Ok(bytes) = read_own(&path) else { return Vec::new() };
    drop(fs::remove_file(&path));
    let Ok(snapshot) = serde_json::from_slice::<Snapshot>(&bytes) else { return Vec::new() };
    let mut left = MAX_TOTAL_BYTES;
    let mut changes = Vec::new();
    for SnapshotFile { path, text } in snapshot.files {
        // The command may have replaced a folder by a link to one outside of the checkout.
        if !may_read(call, &path) {
            continue;
        }
        let Some(now) = read_redacted(&call.located.root.join(&path), &mut left) else { continue };
        let hunks = match (&text, &now) {
            (Some(before), Some(now)) if before == now => continue,
            (Some(before), Some(now)) => Hunk::diff(before, now)
                .into_iter()
                .map(|hunk| hunk.locate(before, true, &path))
                .collect(),
            (None, Some(now)) => Hunk::new_file(now),
            (Some(before), None) => Hunk::diff(before, ""),
            (None, None) => continue,
        };
        let change = Change::from_edit(&path, &hunks, at);
        if !change.patch.is_empty() {
            changes.push(change.made_by(command));
        }
    }
    changes
}

/// Removes the copies without a comparison.
pub(super) fn discard_snapshot(wire: &RawPayload<'_>, call: &HookCall) {
    if let Some(path) = snapshot_path(wire, call) {
        drop(fs::remove_file(path));
    }
}

/// Returns true if a file may be read: it is in the checkout after links are resolved, and in no excluded folder.
fn may_read(call: &HookCall, path: &str) -> bool {
    let root = &call.located.root;
    let path = root.join(path);
    let Some(folder) = path.parent() else { return false };
    let is_inside = match (folder.canonicalize(), root.canonicalize()) {
        (Ok(folder), Ok(root)) => folder.starts_with(root),
        // A folder that does not exist yet contains no file to read.
        _ => !folder.exists(),
    };
    is_inside && !call.is_excluded(folder)
}

/// Returns the path of the copies for one tool call.
fn snapshot_path(wire: &RawPayload<'_>, call: &HookCall) -> Option<PathBuf> {
    let id = wire.text("tool_use_id").filter(|id| !id.is_empty())?;
    let name = format!("{:016x}", checksum::fnv1a(id.as_bytes()));
    Some(call.env.files.snapshots().join(name))
}

/// Returns the files that a command line names, relative to the root of the checkout, without those outside of it.
fn named_paths(call: &HookCall, line: &CommandLine) -> Vec<String> {
    let root = &call.located.root;
    let mut paths = Vec::new();
    for (folder, name) in named_files(line) {
        let folder = match folder {
            CommandFolder::Absolute(path) => PathBuf::from(path),
            CommandFolder::Relative(path) if !path.starts_with("..") => {
                root.join(&call.folder).join(path)
            }
            _ => root.join(&call.folder),
        };
        let path = if name.starts_with('/') { PathBuf::from(&name) } else { folder.join(&name) };
        let Ok(inside) = path.strip_prefix(root) else { continue };
        let plain = inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !plain || inside.starts_with(".git") {
            continue;
        }
        if name.contains('*') {
            paths.extend(matching_files(root, &path));
            continue;
        }
        paths.push(inside.to_string_lossy().into_owned());
        // A patch file names more files.
        if matches!(inside.extension().and_then(|end| end.to_str()), Some("patch" | "diff")) {
            paths.extend(files_of_patch(&path));
        }
    }
    paths
}

/// Returns the files that match a pattern with one `*` in its last part, relative to the root of the checkout.
fn matching_files(root: &Path, pattern: &Path) -> Vec<String> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let Some((start, end)) = name.split_once('*') else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let fits = |name: &str| {
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    let mut files: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .filter_map(|entry| {
            Some(entry.path().strip_prefix(root).ok()?.to_string_lossy().into_owned())
        })
        .collect();
    files.sort();
    files.truncate(MAX_FILES);
    files
}

fn files_of_patch(path: &Path) -> Vec<String> {
    let mut left = MAX_TOTAL_BYTES;
    let Some(Some(text)) = read_redacted(path, &mut left) else { return Vec::new() };
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")));
    names.map(|name| name.trim().to_owned()).filter(|name| !name.contains("..")).collect()
}

/// Returns the redacted text of a file: `Some(None)` if the file does not exist, None if it cannot or should not be
/// read.
#[expect(clippy::option_option, reason = "no file and no reading are two answers")]
fn read_redacted(path: &Path, left: &mut u64) -> Option<Option<Clean>> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(None),
        Err(_) => return None,
    };
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES || metadata.len() > *left {
        return None;
    }
    *left -= metadata.len();
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(Some(Clean::by_line(&text)))
}
