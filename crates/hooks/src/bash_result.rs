//! A command: a run of tests or a build is captured, and a failure brings back what fixed it before; another command may
//! be what fixes one.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rutter_contract::input::{PostToolUse, PostToolUseFailure, Wire};

use super::{Around, Call, Heard, Settings, fingerprint, offer, snapshot};
use crate::bash_call::Call as BashCall;
use crate::fix_message::{Known, render};
use crate::{reference, speech};
use rutter_memory::change::{Change, Sort, changes_before_run, changes_something};
use rutter_memory::config::Hooks;
use rutter_memory::episode::{Again, Episode};
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::{Outcome, Verdict};
use rutter_memory::run::Run;
use rutter_memory::store::entry::What;
use rutter_memory::store::{Recalled, spool};
use rutter_memory::{Clean, Id, Time};
use rutter_runs::command_line::CommandLine;
use rutter_runs::found::{FoundRun, find_runs, unknown_run};
use rutter_runs::place::RunPlace;
use rutter_runs::read::{Configured, Reading, plain_text, read_runs};
use rutter_runs::test_source;

/// A file that is longer is not looked into.
const MAX_FILE_BYTES: u64 = 512 * 1024;
/// A command line that is longer is not looked into at all: a file was pasted into it.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;
/// How many characters of a command line are kept. What it runs stands in front, or was found already.
const MAX_COMMAND_CHARS: usize = 2_000;

pub(super) fn hear(
    wire: &Wire<'_>,
    around: impl FnOnce() -> Around,
    event: &str,
    heard: &mut Heard,
) {
    let Some(command) = BashCall::command(wire).filter(|command| command.len() <= MAX_LINE_BYTES)
    else {
        return;
    };
    // Most commands neither run nor change anything: where they were typed is not even looked up.
    let line = CommandLine::parse(&command);
    let runs = find_runs(&line);
    let changes = changes_something(&line);
    let unknown = if runs.is_empty() { unknown_run(&line) } else { None };
    let around = around();
    // Other commands are runs only where a setting says so.
    if runs.is_empty() && !changes && unknown.is_none() && !is_configured(&around) {
        return;
    }
    // A script may be anything: what it printed tells whether it was a run.
    let window = around.window;
    let seen = || BashCall::of_any(wire, window).and_then(Result::ok);
    let is_certain = runs.iter().any(FoundRun::is_certain);
    if !is_certain && !changes && unknown.is_none() && !is_configured(&around) {
        let read = seen().and_then(|seen| read_runs(&line, &seen.seen()).ok());
        if read.is_none() {
            return;
        }
    }
    let settings = |hooks: &Hooks| settings!(hooks.outcome_capture);
    let Some(mut call) = Call::of(wire, || around, settings) else { return };
    if let Some(folder) = line.absolute_folder() {
        let wanted = call.enter(&folder) && call.config.hooks.outcome_capture.enabled;
        if !wanted {
            snapshot::discard(wire, &call);
            return;
        }
    }
    // In a single word a password is a word like any other; in its line it stands behind its option.
    let clean = Clean::new(&command);
    let line =
        if clean.as_str() == &*command { line } else { clean_line(&clean, line, runs.len()) };
    let command = Command { text: &clean, line: &line, event };
    let mut whats = command.changes(wire, &mut call, changes);
    let Some(mut seen) = seen() else {
        if !whats.is_empty() {
            call.record(whats, heard);
        }
        return;
    };
    let settings = &call.config.hooks.outcome_capture;
    let configured = Configured { matchers: &settings.matchers, only: &settings.only };
    let mut readings = configured.read_runs(&line, &seen.seen()).unwrap_or_default();
    if !readings.is_empty() {
        // A reader takes lines apart: the name of a value may go one way and the value another. So the text is redacted
        // as a whole, and what is stored is read from that.
        let text = Clean::by_line(&plain_text(&seen.output));
        seen.output = Cow::Owned(text.as_str().as_bytes().to_vec());
        readings = configured.read_runs(&line, &seen.seen()).unwrap_or_default();
    }
    let runs = command.runs(&call, &readings, &seen);
    whats.extend(runs.iter().map(|run| What::Ran(Box::new(run.clone()))));
    whats.extend(
        unknown.filter(|_| runs.is_empty()).map(|command| What::Unfollowed(Clean::new(&command))),
    );
    if whats.is_empty() {
        return;
    }
    call.record(whats, heard);
    if !runs.is_empty() {
        let text = speak(&mut call, &runs, event, heard);
        match event {
            "PostToolUse" => call.say::<PostToolUse>(&text, heard),
            _ => call.say::<PostToolUseFailure>(&text, heard),
        }
    }
}

/// The line without its secrets, unless a run is no longer recognised in it.
fn clean_line(clean: &Clean, line: CommandLine, runs: usize) -> CommandLine {
    let clean = CommandLine::parse(clean);
    if find_runs(&clean).len() == runs { clean } else { line }
}

/// A command line that has ended.
struct Command<'a> {
    text: &'a Clean,
    line: &'a CommandLine,
    event: &'a str,
}

impl Command<'_> {
    /// What is to be stored of the runs.
    fn runs(&self, call: &Call, readings: &[Reading], seen: &BashCall<'_>) -> Vec<Run> {
        if readings.is_empty() {
            return Vec::new();
        }
        let now = call.around.now;
        // It was clean before it is cut: a half of a secret would not be recognised.
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
            let mut run = Run::new(outcome, reading, &place, &text);
            for fault in &mut run.faults {
                if let Some(source) = test_source::read(&call.located.root, fault) {
                    fault.clues.add_test_source(&source);
                }
            }
            run
        });
        runs.collect()
    }

    /// What the line changed, where a failure is followed: the edits that were seen, else the command itself.
    fn changes(&self, wire: &Wire<'_>, call: &mut Call, changes: bool) -> Vec<What> {
        if !changes || !call.config.privacy.capture_patches {
            return Vec::new();
        }
        let place = call.place.clone();
        if !spool::waits(&call.around.files)
            && let Ok(store) = call.store()
            && matches!(store.follows(&place), Ok(false))
        {
            snapshot::discard(wire, call);
            return Vec::new();
        }
        // What is changed in a line with a run was changed before the run, or does not count.
        let now = call.around.now;
        let runs = find_runs(self.line).iter().any(FoundRun::is_certain);
        let at = if runs { Time::from_millis(now.millis() - 1) } else { now };
        let edits = snapshot::finish(wire, call, self.text, at);
        let counts = if runs { changes_before_run(self.line) } else { self.event == "PostToolUse" };
        let mut found: Vec<Change> = Vec::new();
        if counts || !edits.is_empty() {
            found.push(Change::command(self.text, at));
        }
        found.extend(edits);
        found.into_iter().map(|change| What::Changed(Id::new(now), change)).collect()
    }
}

/// What there is to say about runs.
fn speak(call: &mut Call, runs: &[Run], event: &str, heard: &mut Heard) -> String {
    let mut texts = Vec::new();
    let ghap = active(call, heard);
    let is_tracked = ghap.is_some();
    if let Some(ghap) = ghap.filter(|_| call.config.hooks.outcome_capture.auto_capture) {
        // The worst one first; each of them may be the one that was predicted.
        texts.extend(runs.iter().rev().find_map(|run| held(call, ghap.clone(), run, heard)));
    }
    for run in runs.iter().rev().filter(|run| run.outcome.verdict == Verdict::Failed) {
        let known = bring_back(call, run, event, heard);
        // Whatever a subagent types is the main agent's: only that one is told to begin a GHAP.
        let begins = call.agent.is_none() && !is_tracked;
        if known.is_none() && begins && call.config.hooks.outcome_capture.premortem {
            texts.extend(warn(call, run, event, heard));
        }
        texts.extend(known);
        if begins && texts.is_empty() {
            texts.extend(offer::offer(call, heard));
        }
    }
    texts.join("\n\n")
}

/// The GHAP that the agent works on.
fn active(call: &mut Call, heard: &mut Heard) -> Option<Ghap> {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let store = call.store().as_ref().ok()?;
    heard.take("active", store.active(&place, &client, agent.as_ref()))?
}

/// Says what a run says about the prediction, where that is news.
fn held(call: &mut Call, ghap: Ghap, run: &Run, heard: &mut Heard) -> Option<String> {
    if !call.may_speak() {
        return None;
    }
    let store = call.store().as_ref().ok()?;
    let settled = heard.take("prediction", store.settled(ghap, Some(run.outcome.id)))??;
    let text = speech::settled(&settled, &call.hands());
    call.record_said(vec![What::Told(settled.ghap.id, settled.told)], heard).then_some(text)
}

/// Says what went wrong before, once in a cycle.
fn warn(call: &mut Call, run: &Run, event: &str, heard: &mut Heard) -> Option<String> {
    if !call.may_speak() {
        return None;
    }
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.around.now);
    let mut failure: Vec<&str> = run.outcome.failing.iter().map(Clean::as_str).collect();
    failure.extend(run.faults.iter().map(|fault| fault.error.as_str()));
    let failure = failure.join("\n");
    let store = call.store().as_ref().ok()?;
    let premortem = heard.take("premortem", store.premortem(&place, &client, &failure, now))??;
    let text = speech::premortem(&run.outcome, &premortem, &call.hands());
    let mut rows: Vec<(Id, f64)> =
        premortem.lessons.iter().map(|(row, likely, _)| (*row, *likely)).collect();
    rows.extend(premortem.principles.iter().map(|(value, likely)| (value.id, *likely)));
    let mut whats = call.shown(event, &fingerprint(&failure), &rows);
    whats.push(What::Warned);
    call.record_said(whats, heard).then_some(text)
}

/// Whether there may be a setting that makes a run of a command: without a file there is none.
fn is_configured(around: &Around) -> bool {
    around.config.exists() || around.files.trusted().exists()
}

/// Says what fixed the same failure before, once.
fn bring_back(call: &mut Call, run: &Run, event: &str, heard: &mut Heard) -> Option<String> {
    if !call.may_speak() {
        return None;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let store = call.store().as_ref().ok()?;
    let recalled = heard.take("recall", store.recall(&place, &client, agent.as_ref(), run))?;
    let first = recalled.first()?;
    let why = first.why;
    let now = call.around.now;
    let returning: Vec<(&Episode, Known)> = recalled
        .iter()
        .map(|Recalled { episode, times, is_cause_seen, unconfirmed, .. }| {
            let fix = episode.ending.as_ref().and_then(|ending| ending.fix.first());
            let in_place = fix.and_then(|change| is_in_place(&call.located.root, change));
            let (times, is_cause_seen, unconfirmed) = (*times, *is_cause_seen, *unconfirmed);
            (episode, Known { times, in_place, is_cause_seen, unconfirmed, now })
        })
        .collect();
    let text = render(&returning, why)?;
    let fits = if why == Again::Failure { 1.0 } else { 0.5 };
    let prompt = fingerprint(run.outcome.signature.as_deref().unwrap_or_default());
    let rows: Vec<(Id, f64)> = recalled.iter().map(|one| (one.episode.id, fits)).collect();
    let shown = call.shown(event, &prompt, &rows);
    call.notice = reference::fix_notice(&first.episode);
    call.record_said(shown, heard).then_some(text)
}

/// Whether a file has what was changed in it; none where that cannot be told.
fn is_in_place(root: &Path, change: &Change) -> Option<bool> {
    if change.sort != Sort::Edit {
        return None;
    }
    let path = root.join(change.name.as_str());
    let metadata = path.symlink_metadata().ok()?;
    // Nothing that could make a reader wait.
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
