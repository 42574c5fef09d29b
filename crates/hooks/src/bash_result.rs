//! The PostToolUse hook for Bash: records test and build runs, shows the earlier fix of a failure that comes back, and
//! records other commands that may be a fix.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rutter_contract::EventName;
use rutter_contract::input::{PostToolUse, PostToolUseFailure, RawPayload};

use super::{
    HookCall, HookEnv, HookResult, ReceivedEvent, command_result, fingerprint, offer, snapshot,
};
use crate::bash_call::BashCall;
use crate::fix_message::{FixFacts, render_fix_message};
use crate::messages::{self, AgentText};
use crate::reference;
use rutter_memory::change::{Change, ChangeKind, changes_before_run, may_change_state};
use rutter_memory::episode::{Episode, RecurrenceKind};
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::{Outcome, Verdict};
use rutter_memory::run::CapturedRun;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::{RecalledEpisode, spool};
use rutter_memory::{Clean, Id, Time};
use rutter_runs::command_line::CommandLine;
use rutter_runs::failed_command::FailedCommand;
use rutter_runs::place::RunPlace;
use rutter_runs::read::{ConfiguredRuns, ParsedOutcome, plain_text, read_runs};
use rutter_runs::run_finder::{FoundRun, find_runs, find_unknown_run};
use rutter_runs::test_source;

/// Maximum size of a file that is searched for a change.
const MAX_FILE_BYTES: u64 = 512 * 1024;
/// Maximum size of a command line that is analysed. A longer one contains a pasted file.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;
/// Maximum number of characters of a command line that are stored. Runs are found before the line is cut.
const MAX_COMMAND_CHARS: usize = 2_000;

pub(super) fn handle_bash_result(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let wire = event.wire;
    let Some(command) =
        BashCall::finished_command(wire).filter(|command| command.len() <= MAX_LINE_BYTES)
    else {
        return;
    };
    // Most commands neither run nor change anything; for those not even the project is located.
    let line = CommandLine::parse(&command);
    let runs = find_runs(&line);
    let changes = may_change_state(&line);
    let unknown = if runs.is_empty() { find_unknown_run(&line) } else { None };
    let env = env();
    let failed = event.name == EventName::PostToolUseFailure;
    let follows = failed
        || command_result::is_session_followed(wire, &env.files)
        || command_result::is_known_to_fail(wire, &command, &env.files);
    // Other commands are runs only by configuration.
    if runs.is_empty() && !changes && unknown.is_none() && !follows && !has_configuration(&env) {
        return;
    }
    // A script may run anything; only its output shows if it was a test run.
    let window = env.window;
    let seen = || BashCall::parse(wire, window).and_then(Result::ok);
    let is_certain = runs.iter().any(FoundRun::is_certain);
    // The failures of most commands teach nothing.
    let follows = follows
        && (!failed
            || command_result::is_session_followed(wire, &env.files)
            || seen().is_some_and(|seen| command_result::may_teach(&line, &seen)));
    if !is_certain && !changes && unknown.is_none() && !follows && !has_configuration(&env) {
        let read = seen().and_then(|seen| read_runs(&line, &seen.captured_output()).ok());
        if read.is_none() {
            return;
        }
    }
    let Some(mut call) = HookCall::open(event, || env) else { return };
    if let Some(folder) = line.absolute_folder() {
        let is_recorded = call.enter_folder(&folder) && call.config.hooks.outcome_capture.enabled;
        if !is_recorded {
            snapshot::discard_snapshot(wire, &call);
            return;
        }
    }
    // A password in a single word looks like any other word; in the whole line it follows its option.
    let clean = Clean::new(&command);
    let line =
        if clean.as_str() == &*command { line } else { redacted_line(&clean, line, runs.len()) };
    let command = FinishedCommandLine { text: &clean, line: &line, event: event.name };
    let mut entries = command.find_changes(wire, &mut call, changes);
    let seen = seen();
    // Without an output, it is not known if the command ran.
    let unknown = unknown.filter(|_| seen.is_some());
    let followed = seen
        .as_ref()
        .filter(|_| follows)
        .and_then(|seen| command_result::new_command_call(&call, &clean, seen, event.name));
    let runs = seen.map(|seen| command.read_runs(&call, seen)).unwrap_or_default();
    let mut failed_command = None;
    if let Some(mut followed) = followed {
        failed_command = command_result::find_failed_command(&call, &followed);
        // The failure of a run has its own episode, unless the run did not begin.
        let is_run = |failed: &FailedCommand| !FailedCommand::is_before_run(&failed.error);
        if !runs.is_empty() && failed_command.as_ref().is_some_and(is_run) {
            failed_command = None;
            followed.output = Clean::default();
        }
        entries.push(EntryKind::Commanded(Box::new(followed)));
    }
    entries.extend(runs.iter().map(|run| EntryKind::Ran(Box::new(run.clone()))));
    let unknown = unknown.filter(|_| runs.is_empty());
    entries.extend(unknown.map(|command| EntryKind::Unfollowed(Clean::new(&command))));
    if !entries.is_empty() {
        call.record(entries, result);
        if follows {
            command_result::mark_session(&mut call);
        }
        if let Some(failed) = failed_command {
            command_result::show_command_lesson(&mut call, &failed, result);
        }
        if result.stdout.is_empty() {
            show_run_messages(&mut call, &runs, result);
        }
    }
}

/// Shows the texts about the runs to the agent, if there are any.
fn show_run_messages(call: &mut HookCall, runs: &[CapturedRun], result: &mut HookResult) {
    let messages = run_messages(call, runs, result);
    if messages.texts.is_empty() || !call.record_shown(messages.shown, result) {
        return;
    }
    let text = messages.texts.join("\n\n");
    match call.event {
        EventName::PostToolUse => call.print_context::<PostToolUse>(&text, result),
        _ => call.print_context::<PostToolUseFailure>(&text, result),
    }
}

/// Parses the redacted line, or returns the original if redaction hides a run.
fn redacted_line(clean: &Clean, line: CommandLine, runs: usize) -> CommandLine {
    let clean = CommandLine::parse(clean);
    if find_runs(&clean).len() == runs { clean } else { line }
}

/// A finished command line.
struct FinishedCommandLine<'a> {
    text: &'a Clean,
    line: &'a CommandLine,
    event: EventName,
}

impl FinishedCommandLine<'_> {
    /// Reads the runs of the line from its output.
    fn read_runs(&self, call: &HookCall, mut seen: BashCall<'_>) -> Vec<CapturedRun> {
        let settings = &call.config.hooks.outcome_capture;
        let configured = ConfiguredRuns { matchers: &settings.matchers, only: &settings.only };
        let read = |seen: &BashCall<'_>| {
            configured.read_runs(self.line, &seen.captured_output()).unwrap_or_default()
        };
        if read(&seen).is_empty() {
            return Vec::new();
        }
        // Readers split lines and could separate the name of a secret from its value. So the output is redacted as a
        // whole and read again.
        let text = Clean::by_line(&plain_text(&seen.output));
        seen.output = Cow::Owned(text.as_str().as_bytes().to_vec());
        self.build_runs(call, &read(&seen), &seen)
    }

    /// Builds the records of the runs.
    fn build_runs(
        &self,
        call: &HookCall,
        readings: &[ParsedOutcome],
        seen: &BashCall<'_>,
    ) -> Vec<CapturedRun> {
        if readings.is_empty() {
            return Vec::new();
        }
        let now = call.env.now;
        // The text is redacted before it is cut, as half of a secret would not be recognised.
        let short: String = self.text.chars().take(MAX_COMMAND_CHARS).collect();
        let short = Clean::new(&short);
        let text = plain_text(&seen.output);
        let place = RunPlace { root: &call.located.root, folder: &call.folder };
        let runs = readings.iter().map(|reading| {
            let outcome = Outcome {
                id: Id::new(now),
                project: call.place.key.clone(),
                session: Some(call.client.clone()),
                agent: call.agent.clone(),
                command: short.clone(),
                kind: reading.kind,
                runner: Clean::new(&reading.runner),
                verdict: reading.verdict,
                counts: reading.counts,
                failing: reading.failing.iter().map(|test| Clean::new(test)).collect(),
                signature: reading.signature.as_deref().map(Clean::new),
                exit: reading.exit,
                duration: reading.duration.or(seen.duration),
                at: now,
            };
            let mut run = CapturedRun::new(outcome, reading, &place, &text);
            for fault in &mut run.faults {
                if let Some(source) = test_source::read_test_source(&call.located.root, fault) {
                    fault.clues.add_test_source(&source);
                }
            }
            run
        });
        runs.collect()
    }

    /// Returns the changes that the line made, if a failure is open: the edits that were seen and the command itself.
    fn find_changes(
        &self,
        wire: &RawPayload<'_>,
        call: &mut HookCall,
        changes: bool,
    ) -> Vec<EntryKind> {
        if !changes || !call.config.privacy.capture_patches {
            return Vec::new();
        }
        let place = call.place.clone();
        if !spool::has_drainable_entries(&call.env.files)
            && let Ok(store) = call.store()
            && matches!(store.has_open_episode(&place), Ok(false))
        {
            snapshot::discard_snapshot(wire, call);
            return Vec::new();
        }
        // A change in a line with a run counts only if it was made before the run.
        let now = call.env.now;
        let runs = find_runs(self.line).iter().any(FoundRun::is_certain);
        let at = if runs { Time::from_millis(now.millis() - 1) } else { now };
        let edits = snapshot::finish_snapshot(wire, call, self.text, at);
        let counts =
            if runs { changes_before_run(self.line) } else { self.event == EventName::PostToolUse };
        let mut found: Vec<Change> = Vec::new();
        if counts || !edits.is_empty() {
            found.push(Change::from_command(self.text, at));
        }
        found.extend(edits);
        found.into_iter().map(|change| EntryKind::Changed(Id::new(now), change)).collect()
    }
}

/// The texts for the agent about the runs of one command. Nothing is recorded as shown until all of them are known.
#[derive(Default)]
struct RunMessages {
    texts: Vec<String>,
    shown: Vec<EntryKind>,
}

impl RunMessages {
    fn add(&mut self, message: Option<AgentText>) {
        let Some(AgentText { text, shown }) = message else { return };
        self.texts.push(text);
        self.shown.extend(shown);
    }

    /// Returns true if a row is shown for an earlier run of the command.
    fn has_row(&self, row: Id) -> bool {
        self.shown
            .iter()
            .any(|entry| matches!(entry, EntryKind::Shown(injection) if injection.row == row))
    }

    /// Returns true if a premortem is shown for an earlier run of the command.
    fn has_premortem(&self) -> bool {
        self.shown.contains(&EntryKind::Warned)
    }
}

/// Returns the texts for the agent about the runs.
fn run_messages(call: &mut HookCall, runs: &[CapturedRun], result: &mut HookResult) -> RunMessages {
    let mut messages = RunMessages::default();
    if runs.is_empty() {
        return messages;
    }
    let ghap = active_ghap(call, result);
    let is_tracked = ghap.is_some();
    if let Some(ghap) = ghap.filter(|_| call.config.hooks.outcome_capture.auto_capture) {
        // The worst run first; each of them may be the predicted one.
        let mut runs = runs.iter().rev();
        messages.add(runs.find_map(|run| prediction_message(call, ghap.clone(), run, result)));
    }
    for run in runs.iter().rev().filter(|run| run.outcome.verdict == Verdict::Failed) {
        let known = earlier_fix_message(call, run, &messages, result);
        // A subagent's commands run on behalf of the main agent: only the main agent is offered a GHAP.
        let begins = call.agent.is_none() && !is_tracked;
        if known.is_none()
            && begins
            && call.config.hooks.outcome_capture.premortem
            && !messages.has_premortem()
        {
            messages.add(premortem_message(call, run, result));
        }
        messages.add(known);
        if begins && messages.texts.is_empty() {
            messages.add(offer::offer_ghap(call, result));
        }
    }
    messages
}

/// Returns the GHAP that the agent works on.
fn active_ghap(call: &mut HookCall, result: &mut HookResult) -> Option<Ghap> {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let store = call.store().ok()?;
    result.ok_or_log("active", store.active_ghap(&place, &client, agent.as_ref()))?
}

/// Returns the text about a prediction that a run confirms or contradicts, if that is new.
fn prediction_message(
    call: &mut HookCall,
    ghap: Ghap,
    run: &CapturedRun,
    result: &mut HookResult,
) -> Option<AgentText> {
    if !call.may_print() {
        return None;
    }
    let store = call.store().ok()?;
    let settled =
        result.ok_or_log("prediction", store.run_verdict(ghap, Some(run.outcome.id)))??;
    let text = messages::render_verdict(&settled, &call.interface());
    Some(AgentText { text, shown: vec![EntryKind::Told(settled.ghap.id, settled.told)] })
}

/// Returns the premortem, once per cycle.
fn premortem_message(
    call: &mut HookCall,
    run: &CapturedRun,
    result: &mut HookResult,
) -> Option<AgentText> {
    if !call.may_print() {
        return None;
    }
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.env.now);
    let mut failure: Vec<&str> = run.outcome.failing.iter().map(Clean::as_str).collect();
    failure.extend(run.faults.iter().map(|fault| fault.error.as_str()));
    let failure = failure.join("\n");
    let store = call.store().ok()?;
    let premortem =
        result.ok_or_log("premortem", store.premortem(&place, &client, &failure, now))??;
    // Read before the interface is known, which may open the store again.
    let mut marks = Vec::new();
    for row in premortem.rows() {
        let reason = store.reader().unconfirmed_reason(row, &place);
        marks.push((row, result.ok_or_log("premortem", reason)?));
    }
    let mark =
        |row: Id| marks.iter().find(|(known, _)| *known == row).and_then(|(_, reason)| *reason);
    let text = messages::render_premortem(&run.outcome, &premortem, mark, &call.interface());
    let mut rows: Vec<(Id, f64)> =
        premortem.lessons.iter().map(|(row, likely, _)| (*row, *likely)).collect();
    rows.extend(premortem.principles.iter().map(|(value, likely)| (value.id, *likely)));
    let mut shown = call.shown_entries(&fingerprint(&failure), &rows);
    shown.push(EntryKind::Warned);
    Some(AgentText { text, shown })
}

/// Returns true if a configuration file exists. Without one, no setting can make a run of a command.
fn has_configuration(env: &HookEnv) -> bool {
    env.config.exists() || env.files.trusted().exists()
}

/// Returns the text about earlier fixes of the same failure, once.
fn earlier_fix_message(
    call: &mut HookCall,
    run: &CapturedRun,
    earlier: &RunMessages,
    result: &mut HookResult,
) -> Option<AgentText> {
    if !call.may_print() {
        return None;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let store = call.store().ok()?;
    let mut recalled =
        result.ok_or_log("recall", store.recall_episodes(&place, &client, agent.as_ref(), run))?;
    recalled.retain(|one| !earlier.has_row(one.episode.id));
    let first = recalled.first()?;
    let why = first.why;
    let now = call.env.now;
    let returning: Vec<(&Episode, FixFacts)> = recalled
        .iter()
        .map(|RecalledEpisode { episode, times, is_cause_seen, unconfirmed, .. }| {
            let fix = episode.ending.as_ref().and_then(|ending| ending.fix.first());
            let in_place = fix.and_then(|change| has_change(&call.located.root, change));
            let (times, is_cause_seen, unconfirmed) = (*times, *is_cause_seen, *unconfirmed);
            (episode, FixFacts { times, in_place, is_cause_seen, unconfirmed, now })
        })
        .collect();
    let text = render_fix_message(&returning, why)?;
    let fits = if why == RecurrenceKind::Failure { 1.0 } else { 0.5 };
    let prompt = fingerprint(run.outcome.signature.as_deref().unwrap_or_default());
    let rows: Vec<(Id, f64)> = recalled.iter().map(|one| (one.episode.id, fits)).collect();
    let shown = call.shown_entries(&prompt, &rows);
    call.notice = reference::fix_notice(&first.episode);
    Some(AgentText { text, shown })
}

/// Returns true if the file contains the change, false if it does not, and None if that is uncertain.
fn has_change(root: &Path, change: &Change) -> Option<bool> {
    if change.kind != ChangeKind::Edit {
        return None;
    }
    let path = root.join(change.name.as_str());
    let metadata = path.symlink_metadata().ok()?;
    // Other kinds of files could block the hook.
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    let has = |line: &String| text.lines().any(|there| there.trim() == line.trim());
    let telling = |lines: &[String]| -> Vec<String> {
        let telling = |line: &&String| line.trim().len() > 2 && !line.contains("[redacted");
        lines.iter().filter(telling).cloned().collect()
    };
    let hunks = change.hunks();
    let added: Vec<String> = hunks.iter().flat_map(|hunk| telling(&hunk.added)).collect();
    let removed: Vec<String> = hunks.iter().flat_map(|hunk| telling(&hunk.removed)).collect();
    if added.is_empty() {
        return (!removed.is_empty()).then(|| !removed.iter().all(has));
    }
    if added.iter().all(has) {
        return Some(true);
    }
    (!added.iter().any(has)).then_some(false)
}
