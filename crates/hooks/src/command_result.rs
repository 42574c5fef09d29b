//! The part of PostToolUse for Bash that follows commands that failed and are no test run: records them and what worked
//! instead, and shows that when the failure comes back.

use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use rutter_contract::input::{PostToolUseFailure, RawPayload};

use super::{HookCall, HookResult, fingerprint};
use crate::bash_call::BashCall;
use crate::command_message::render_command_lesson;
use crate::known_commands::{MAX_COMMAND_BYTES, is_failing};
use rutter_memory::command_episode::CommandCall;
use rutter_memory::data_dir::write_new;
use rutter_memory::fingerprints::{FingerprintKind, Fingerprints, kind_fingerprint};
use rutter_memory::store::DataDir;
use rutter_memory::{Clean, Id, checksum};
use rutter_runs::command_line::CommandLine;
use rutter_runs::failed_command::{FailedCommand, names_error, shorten_output};
use rutter_runs::place::RunPlace;
use rutter_runs::read::plain_text;

/// Returns the file that marks a session with a followed command, so that other calls need not open the database. It is
/// beside the snapshots, which maintenance removes after a day.
fn session_mark(session: &str, files: &DataDir) -> PathBuf {
    files.snapshots().join(format!("command-{:016x}", checksum::fnv1a(session.as_bytes())))
}

/// Returns true if a command of the session failed and is still followed. Costs one lookup of a file.
pub(super) fn is_session_followed(wire: &RawPayload<'_>, files: &DataDir) -> bool {
    wire.text("session_id").is_some_and(|session| {
        session_mark(&Clean::new(&session), files).symlink_metadata().is_ok()
    })
}

/// Returns true if a command of a line is known to fail, by the fingerprint file: its success is recorded, so that the
/// hint before it ends. Without the file, returns false.
pub(super) fn is_known_to_fail(wire: &RawPayload<'_>, command: &str, files: &DataDir) -> bool {
    let Some(known) = Fingerprints::read(files) else { return false };
    if !known.contains(kind_fingerprint(FingerprintKind::FailingCommand)) {
        return false;
    }
    let Some(cwd) = wire.text("cwd") else { return false };
    let cwd = Path::new(&*cwd);
    is_failing(&known, command, &cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()))
}

/// Returns true if a failed call may teach something, before anything is opened.
pub(super) fn may_teach(line: &CommandLine, seen: &BashCall<'_>) -> bool {
    let place = RunPlace { root: Path::new("/"), folder: "" };
    FailedCommand::find(line, &place, seen.exit, &plain_text(&seen.output)).is_some()
}

/// Returns the call as it is recorded; None if its exit status is unknown.
pub(super) fn new_command_call(
    call: &HookCall,
    line: &Clean,
    seen: &BashCall<'_>,
    event: EventName,
) -> Option<CommandCall> {
    let exit = seen.exit.filter(|_| line.len() <= MAX_COMMAND_BYTES)?;
    let text = plain_text(&seen.output);
    let failed = event == EventName::PostToolUseFailure;
    Some(CommandCall {
        id: Id::new(call.env.now),
        agent: call.agent.clone(),
        folder: Clean::new(&call.folder),
        line: line.clone(),
        exit,
        // Redacted as a whole: a cut could separate a secret from its name.
        output: if failed {
            Clean::new(&shorten_output(&Clean::by_line(&text)))
        } else {
            Clean::default()
        },
        names_error: !failed && names_error(&text),
    })
}

/// Returns the failed command of a call, as the store finds it.
pub(super) fn find_failed_command(
    call: &HookCall,
    followed: &CommandCall,
) -> Option<FailedCommand> {
    let place = RunPlace { root: Path::new(call.place.root.as_str()), folder: &followed.folder };
    let line = CommandLine::parse(&followed.line);
    FailedCommand::find(&line, &place, Some(followed.exit), &followed.output)
}

/// Creates the mark of the session while a command is followed, and removes it afterwards.
pub(super) fn mark_session(call: &mut HookCall) {
    let mark = session_mark(&call.client, &call.env.files);
    let client = call.client.clone();
    let is_open = call.is_spooled || call.query_store(|store| store.has_open_command(&client));
    if is_open {
        // It may exist. Without it, the variant that works is not noticed.
        drop(write_new(&mark, b""));
    } else {
        drop(std::fs::remove_file(&mark));
    }
}

/// Shows what worked when a command failed like this before.
pub(super) fn show_command_lesson(
    call: &mut HookCall,
    failed: &FailedCommand,
    result: &mut HookResult,
) {
    if !call.may_print() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.env.now;
    let Ok(store) = call.store() else { return };
    let lesson = store.recall_command_lesson(&place, &client, agent.as_ref(), failed, now);
    let Some(lesson) = result.ok_or_log("command", lesson).flatten() else { return };
    let Some(text) = render_command_lesson(&lesson, now) else { return };
    let shown = call.shown_entries(&fingerprint(&failed.signature), &[(lesson.episode.id, 1.0)]);
    if call.record_shown(shown, result) {
        call.print_context::<PostToolUseFailure>(&text, result);
    }
}
