//! The line before an edit that removes the lines of an earlier fix.
//!
//! It says only what is recorded. The edit is made either way, and the agent reads the line together with its result.

use std::path::Path;

use rutter_contract::input::RawPayload;
use rutter_memory::Id;
use rutter_memory::episode::Episode;
use rutter_memory::quote::{format_age, reads_like_instruction};

use super::{HookCall, HookResult};
use crate::edit_input::EditInput;
use crate::edit_result::{path_in_checkout, read_edited_file};
use crate::reference::{describe_failure, quote_path};

/// Returns the earlier fix whose lines an edit removes, as its row and the line to show.
pub(crate) fn find_removed_fix(
    wire: &RawPayload<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<(Id, String)> {
    let edit = EditInput::parse(wire)?;
    let path = Path::new(&*edit.file);
    let file = path_in_checkout(&call.located.root, path)?;
    if path.parent().is_none_or(|folder| call.is_excluded(folder)) {
        return None;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.env.now;
    let store = call.store().ok()?;
    let fixes = store.fixes_in_file(&place, &client, agent.as_ref(), &file, now);
    let fixes = result.ok_or_log("fixes", fixes)?;
    if fixes.is_empty() {
        return None;
    }
    // The client edits with plain line ends, and writes the file's own.
    let before = read_edited_file(path)?.replace("\r\n", "\n");
    let after = edit.apply(&before)?;
    let removed = fixes.iter().find(|fix| fix.is_fix_removed(&file, &before, &after))?;
    let text = describe_removal(removed, &file, &format_age(removed.ending.as_ref()?.at, now))?;
    Some((removed.id, text))
}

/// Returns None if a name or the error reads like instructions.
fn describe_removal(fix: &Episode, file: &str, age: &str) -> Option<String> {
    let quoted = [fix.test.as_deref().unwrap_or_default(), &fix.error, file];
    if quoted.into_iter().any(reads_like_instruction) {
        return None;
    }
    let failure = describe_failure(fix);
    let what = if fix.test.is_some() { "run that test again" } else { "check it again" };
    Some(format!(
        "Recorded data: this edit removes lines of {} that fixed {failure} {age}; {what}.",
        quote_path(file)
    ))
}
