//! The PostToolUse hook for edits: records the changed lines while a failure is open in the same checkout.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent};
use rutter_memory::change::{Change, Hunk, PatchPart, PatchedFile, redact_patch};
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::spool;
use rutter_memory::{Clean, Id};

/// Maximum size of a file that is read from disk to redact a patch.
const MAX_FILE_BYTES: u64 = 512 * 1024;

/// The fields of `tool_response` that are read.
#[derive(Deserialize)]
struct EditResponse<'a> {
    #[serde(borrow, rename = "filePath", alias = "notebook_path")]
    file: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "structuredPatch", default)]
    patch: Option<Vec<StructuredPatchPart<'a>>>,
    /// The whole file before the edit.
    #[serde(borrow, rename = "originalFile", default)]
    original: Option<Cow<'a, str>>,
    /// `create` or `update`.
    #[serde(borrow, rename = "type", default)]
    kind: Option<Cow<'a, str>>,
    /// The text of a new file.
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    old_source: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    new_source: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct StructuredPatchPart<'a> {
    #[serde(rename = "oldStart", default)]
    old_start: u32,
    #[serde(rename = "newStart", default)]
    new_start: u32,
    #[serde(borrow, default)]
    lines: Vec<Cow<'a, str>>,
}

impl<'a> From<StructuredPatchPart<'a>> for PatchPart<'a> {
    fn from(StructuredPatchPart { old_start, new_start, lines }: StructuredPatchPart<'a>) -> Self {
        Self { old_start, new_start, lines }
    }
}

pub(super) fn handle_edit_result(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let call = HookCall::open(event, env);
    let Some(mut call) = call.filter(|call| call.config.privacy.capture_patches) else { return };
    // Most edits are made while no failure is open, and need no action.
    if !spool::has_drainable_entries(&call.env.files) {
        let place = call.place.clone();
        match call.store() {
            Ok(store) if matches!(store.has_open_episode(&place), Ok(false)) => return,
            _ => {}
        }
    }
    let Some(response) = event.wire.raw("tool_response") else { return };
    match serde_json::from_str(response) {
        Ok::<EditResponse<'_>, _>(response) => {
            let file = response.file.as_deref().and_then(|file| Path::new(file).parent());
            if file.is_some_and(|folder| call.is_excluded(folder)) {
                return;
            }
            if let Some(change) = parse_change(response, &call) {
                let id = Id::new(call.env.now);
                call.record(vec![EntryKind::Changed(id, change)], result);
            }
        }
        // Only the position: serde's message may quote the payload.
        Err(error) => result.errors.push(Clean::new(&format!(
            "an edit could not be read: line {} column {} of `tool_response`",
            error.line(),
            error.column()
        ))),
    }
}

fn parse_change(response: EditResponse<'_>, call: &HookCall) -> Option<Change> {
    let path = PathBuf::from(&*response.file?);
    let file = path_in_checkout(&call.located.root, &path)?;
    let parts: Vec<PatchPart<'_>> =
        response.patch.into_iter().flatten().map(PatchPart::from).collect();
    let original = response.original.as_deref().unwrap_or_default();
    // The file is read from disk only if the payload does not contain it.
    let current =
        if original.is_empty() && !parts.is_empty() { read_edited_file(&path) } else { None };
    let patched = match &current {
        _ if !original.is_empty() => PatchedFile::Before(original),
        Some(current) => PatchedFile::After(current),
        None => PatchedFile::Unknown,
    };
    let redacted = redact_patch(&parts, patched);
    let mut hunks: Vec<Hunk> = parts
        .iter()
        .zip(&redacted)
        .flat_map(|(part, lines)| {
            Hunk::parse(lines.iter().map(String::as_str), part.old_start, part.new_start)
        })
        .map(|hunk| hunk.locate(original, true, &file))
        .collect();
    if hunks.is_empty() {
        // A file that was rewritten without a change.
        if response.kind.as_deref() == Some("update") {
            return None;
        }
        // The whole text is redacted before it is split into hunks.
        let new = Clean::by_line(&response.new_source.or(response.content).unwrap_or_default());
        hunks = match response.old_source {
            Some(old) => Hunk::diff(&Clean::by_line(&old), &new),
            None => Hunk::new_file(&new),
        };
    }
    let change = Change::from_edit(&file, &hunks, call.env.now);
    (!change.patch.is_empty()).then_some(change)
}

/// Reads a regular file of at most [`MAX_FILE_BYTES`].
pub(super) fn read_edited_file(path: &Path) -> Option<String> {
    let metadata = path.symlink_metadata().ok()?;
    // Other kinds of files could block the hook.
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns a file's path relative to the root; None if it is outside of the root or in `.git`.
pub(super) fn path_in_checkout(root: &Path, file: &Path) -> Option<String> {
    let inside = if let Ok(inside) = file.strip_prefix(root) {
        inside.to_owned()
    } else {
        // The client may use another path to the same folder.
        let folder = file.parent()?.canonicalize().ok()?;
        PathBuf::from(folder.strip_prefix(root).ok()?).join(file.file_name()?)
    };
    (!inside.starts_with(".git")).then(|| inside.to_string_lossy().into_owned())
}
