//! A command: a run of tests or a build is captured, and a failure brings back what fixed it before; another command may
//! be what fixes one.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rutter_contract::input::{PostToolUse, PostToolUseFailure, Wire};

use super::{Around, Call, Heard, Settings, fingerprint};
use crate::bash_call::Call as BashCall;
use crate::change::{Change, Sort, changes_beside_its_run, changes_something};
use crate::config::Hooks;
use crate::episode::{Again, said};
use crate::ghap::Ghap;
use crate::outcome::{Outcome, Verdict};
use crate::runs::line;
use crate::runs::read::{read, read_named};
use crate::runs::run::Run;
use crate::runs::selection::Selection;
use crate::store::entry::What;
use crate::store::{Recalled, spool};
use crate::{Clean, Id, Time, speech};

/// A file that is longer is not looked into.
const FILE: u64 = 512 * 1024;
/// A command line that is longer is not looked into at all.
const LINE: usize = 64 * 1024;
/// A command line that is longer is cut: what it runs stands in front or was found already.
const COMMAND: usize = 2_000;

pub(super) fn hear(
    wire: &Wire<'_>,
    around: impl FnOnce() -> Around,
    event: &str,
    heard: &mut Heard,
) {
    let Some(command) = BashCall::command(wire) else { return };
    // A file that was pasted into a line, and the time to read it is not a hook's.
    if command.len() > LINE {
        return;
    }
    // Most commands neither run nor change anything: where they were typed is not even looked up.
    let changes = event == "PostToolUse" && changes_something(&command);
    let known = changes || line::find(&command).is_some();
    let around = around();
    // Others are runs only where somebody has said so.
    if !known && !is_configured(&around) {
        return;
    }
    let settings = |hooks: &Hooks| settings!(hooks.outcome_capture);
    let Some(mut call) = Call::of(wire, || around, settings) else { return };
    if let Some(folder) = line::destination(&command) {
        let wanted = call.enter(&folder) && call.config.hooks.outcome_capture.enabled;
        if !wanted {
            return;
        }
    }
    let matchers = &call.config.hooks.outcome_capture.matchers;
    let mut selection = Selection::of(&command, &call.folder);
    let named =
        if selection.is_none() { named(matchers, &command).map(str::to_owned) } else { None };
    if let Some(name) = &named {
        selection = Some(Selection::named(name, &command, &call.folder));
    }
    if selection.is_none() {
        if changes {
            note(&mut call, &command, heard);
        }
        return;
    }
    // Whether it is a run is known by now.
    let Some(Ok(seen)) = BashCall::of_any(wire, call.around.window) else { return };
    let reading = match &named {
        Some(name) => read_named(&seen.seen(), name),
        None => read(&seen.seen()),
    };
    let Ok(reading) = reading else { return };
    let now = call.around.now;
    // First without its secrets, then cut: half of one would be nobody's.
    let short: String = Clean::new(&command).chars().take(COMMAND).collect();
    let outcome = Outcome {
        id: Id::new(now),
        project: call.place.key.clone(),
        session: Some(call.client.clone()),
        agent: call.agent.clone(),
        command: Clean::new(&short),
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
    let run = Run::new(outcome, &reading, selection);
    let mut whats = Vec::new();
    if changes_beside_its_run(&command) && call.config.privacy.capture_patches {
        // It stands before the run in the line.
        let before = Time::from_millis(now.millis() - 1);
        whats.push(What::Changed(Id::new(now), Change::command(&command, before)));
    }
    whats.push(What::Ran(Box::new(run.clone())));
    call.record(whats, heard);
    let mut texts = Vec::new();
    let ghap = active(&mut call, heard);
    let tracked = ghap.is_some();
    if let Some(ghap) = ghap.filter(|_| call.config.hooks.outcome_capture.auto_capture) {
        texts.extend(held(&mut call, ghap, &run, heard));
    }
    if run.outcome.verdict == Verdict::Failed {
        let known = bring_back(&mut call, &run, event, heard);
        // Whatever a subagent types is the main agent's: nobody else is told to begin a GHAP.
        let begins = call.agent.is_none() && !tracked;
        if known.is_none() && begins && call.config.hooks.outcome_capture.premortem {
            texts.extend(warn(&mut call, &run, event, heard));
        }
        texts.extend(known);
    }
    let text = texts.join("\n\n");
    match event {
        "PostToolUse" => call.say::<PostToolUse>(&text, heard),
        _ => call.say::<PostToolUseFailure>(&text, heard),
    }
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
        premortem.surprises.iter().map(|(row, likely, _)| (*row, *likely)).collect();
    rows.extend(premortem.principles.iter().map(|(value, likely)| (value.id, *likely)));
    let mut whats = call.shown(event, &fingerprint(&failure), &rows);
    whats.push(What::Warned);
    call.record_said(whats, heard).then_some(text)
}

/// Whether there may be a setting that makes a run of a command: without a file there is none.
fn is_configured(around: &Around) -> bool {
    around.config.exists() || around.files.trusted().exists()
}

/// The name of the run that the user has said a command is: one of its commands begins so.
fn named<'a>(matchers: &'a [String], command: &str) -> Option<&'a str> {
    let begins = |part: &str, matcher: &str| {
        part.trim_start()
            .strip_prefix(matcher.trim())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    let mut named = matchers.iter().filter(|matcher| !matcher.trim().is_empty());
    let found = named
        .find(|matcher| command.split(['&', '|', ';', '\n']).any(|part| begins(part, matcher)));
    found.map(|matcher| matcher.trim())
}

/// Notes a command as a change, where a failure is followed.
fn note(call: &mut Call, command: &str, heard: &mut Heard) {
    if !call.config.privacy.capture_patches {
        return;
    }
    let place = call.place.clone();
    if !spool::waits(&call.around.files)
        && let Ok(store) = call.store()
        && matches!(store.follows(&place), Ok(false))
    {
        return;
    }
    let now = call.around.now;
    call.record(vec![What::Changed(Id::new(now), Change::command(command, now))], heard);
}

/// Says what fixed the same failure before, once.
fn bring_back(call: &mut Call, run: &Run, event: &str, heard: &mut Heard) -> Option<String> {
    if !call.may_speak() {
        return None;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let store = call.store().as_ref().ok()?;
    let recalled = heard.take("recall", store.recall(&place, &client, agent.as_ref(), run))??;
    let Recalled { episode, why, times } = &recalled;
    let now = call.around.now;
    let fix = episode.ending.as_ref().and_then(|ending| ending.fix.first());
    let in_place = fix.and_then(|change| is_in_place(&call.located.root, change));
    let text = said(episode, *why, *times, in_place, now)?;
    let fits = if *why == Again::Failure { 1.0 } else { 0.5 };
    let prompt = fingerprint(run.outcome.signature.as_deref().unwrap_or_default());
    let shown = call.shown(event, &prompt, &[(episode.id, fits)]);
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
    if !metadata.is_file() || metadata.len() > FILE {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(FILE).read_to_string(&mut text).ok()?;
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
