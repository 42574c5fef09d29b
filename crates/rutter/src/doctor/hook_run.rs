//! Runs each of our entries as the client does, with a recorded payload, in a scratch memory and a scratch project.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rutter_check::settings::{FileLocation, HookEntry};
use rutter_contract::verdict::{
    HookOutcome, HookRun, MistakeSeverity, ToolCallEffect, TurnEffect, Verdict, decode_stdout,
    judge_answer,
};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload};
use rutter_memory::{Store, Time};
use serde::Serialize;
use serde_json::Value;

use super::codes;
use super::entry::{self, LaunchCommand};
use super::finding::DoctorFinding;
use super::places::ClientEnvironment;
use super::program;
use super::server_run::ExaminedProgram;
use crate::CommandResult;
use crate::environment;
use crate::process::{self, ProcessResult};
use crate::scratch::ScratchFolder;

/// Number of runs per entry.
const RUNS_PER_ENTRY: usize = 3;
/// Time limit of a run, longer than our hook may ever take. A shorter `timeout` of the entry takes precedence.
const MAX_HOOK_TIME: Duration = Duration::from_secs(5);
/// Session id of the simulated session.
const SIMULATED_SESSION_ID: &str = "rutter-doctor";
/// Advice for a missing scratch folder.
pub(super) const SCRATCH_ADVICE: &str =
    "set TMPDIR to a folder that you may write to, then run rutter doctor";
/// Variables that a program needs in order to start, and the minimum deadline. None of them decides the data directory.
const INHERITED_VARIABLES: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TERM",
    environment::MIN_DEADLINE_VARIABLE,
];

/// The result of running an entry.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct EntryRun {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<String>,
    pub(crate) place: FileLocation,
    pub(crate) exit: Option<i32>,
    /// Median duration of the runs. None if the entry was not run.
    pub(crate) milliseconds: Option<f64>,
    pub(crate) answer: EntryRunOutcome,
}

/// The client's treatment of an entry's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryRunOutcome {
    /// The entry printed nothing.
    Silent,
    /// The client uses all of the output.
    Heard,
    /// The client does not use all of the output, or the output decides something.
    Wrong,
    /// The run failed.
    Failed,
    /// The entry was not run, because its program cannot run.
    Unusable,
    /// The entry was not run, because the checkout is untrusted and the entry may run code from it.
    Untrusted,
}

/// Everything that is needed to run entries and servers.
pub(crate) struct EntryRunner<'a> {
    pub(crate) places: &'a ClientEnvironment,
    pub(crate) contract: Contract,
    pub(crate) now: Time,
    /// True if the client trusts the folder.
    pub(crate) trusted: bool,
    /// Root of the checkout that contains the folder.
    pub(crate) root: &'a Path,
    /// Scratch folder for the runs, or the reason for which it could not be created.
    pub(crate) scratch: &'a CommandResult<ScratchFolder>,
}

impl EntryRunner<'_> {
    /// Runs every distinct entry. Returns the results, and the programs that were examined for them.
    pub(crate) fn run_entries(
        &self,
        entries: &[&HookEntry],
        findings: &mut Vec<DoctorFinding>,
    ) -> (Vec<EntryRun>, Vec<ExaminedProgram>) {
        let mut usable: BTreeMap<LaunchCommand, bool> = BTreeMap::new();
        let mut rows = Vec::new();
        let mut ready = Vec::new();
        let mut seen = Vec::new();
        for entry in entries {
            let start = entry::launch_command(entry, self.places);
            let identity = (entry.event, entry.matcher.clone(), entry.dedup_key());
            if seen.contains(&identity) {
                continue;
            }
            seen.push(identity);
            let answer = if self.is_untrusted_entry(entry) {
                EntryRunOutcome::Untrusted
            } else if *usable.entry(start.clone()).or_insert_with(|| {
                program::examine_program(&start, entry.place.clone(), self.places, findings)
            }) {
                EntryRunOutcome::Silent
            } else {
                EntryRunOutcome::Unusable
            };
            if answer == EntryRunOutcome::Silent {
                ready.push((rows.len(), *entry, start));
            }
            rows.push(EntryRun {
                event: entry.event,
                matcher: entry.matcher.clone(),
                place: entry.place.clone(),
                exit: None,
                milliseconds: None,
                answer,
            });
        }
        // SessionStart must run first and SessionEnd last.
        ready.sort_by_key(|(_, entry, _)| match entry.event {
            EventName::SessionStart => 0,
            EventName::SessionEnd => 2,
            _ => 1,
        });
        if !ready.is_empty() {
            let played = match self.scratch {
                Ok(scratch) => self
                    .create_scratch_files(scratch)
                    .map_err(|error| error.to_string())
                    .map(|()| {
                        self.run_ready_entries(&ready, scratch, &mut rows, findings);
                    }),
                Err(failure) => Err(failure.to_string()),
            };
            if let Err(why) = played {
                let what = format!("could not make a scratch folder to run the hooks in: {why}");
                findings
                    .push(DoctorFinding::new(&codes::HOOK_FAILS, what).with_advice(SCRATCH_ADVICE));
            }
        }
        let examined =
            usable.into_iter().map(|(start, usable)| (start.program().to_owned(), usable));
        (rows, examined.collect())
    }

    /// Returns true if an entry may run code from an untrusted checkout.
    pub(crate) fn is_untrusted_entry(&self, entry: &HookEntry) -> bool {
        if self.trusted {
            return false;
        }
        let start = entry::launch_command(entry, self.places);
        // The text is checked first, because resolving a program may start a shell.
        (entry.whose.is_in_checkout() && may_do_more(entry, &start)) || self.is_in_checkout(&start)
    }

    /// Returns true if the program is inside the checkout.
    pub(super) fn is_in_checkout(&self, start: &LaunchCommand) -> bool {
        let Some(path) = program::resolve_program(start, self.places) else { return false };
        let real = path.canonicalize().unwrap_or(path);
        real.starts_with(self.root)
    }

    fn run_ready_entries(
        &self,
        ready: &[(usize, &HookEntry, LaunchCommand)],
        scratch: &ScratchFolder,
        rows: &mut [EntryRun],
        findings: &mut Vec<DoctorFinding>,
    ) {
        let project = scratch.path().join("project");
        for (row, entry, start) in ready {
            let mut took = Vec::new();
            let mut worst: Option<DoctorFinding> = None;
            let payload = build_payload(entry, &project);
            let text = format!("{payload}\n");
            for _ in 0..RUNS_PER_ENTRY {
                let plugin = entry.plugin.as_deref();
                let mut command = self.build_command(start, plugin, scratch.path());
                let ended =
                    process::run_with_limit(&mut command, text.as_bytes(), time_limit(entry));
                if let Ok(ended) = &ended {
                    took.push(ended.took);
                }
                (rows[*row].answer, rows[*row].exit, worst) = self.evaluate_run(entry, &ended);
                // The first fault stands for all runs.
                if worst.is_some() {
                    break;
                }
            }
            took.sort();
            let median = took.get(took.len() / 2).copied().unwrap_or_default();
            rows[*row].milliseconds = Some((median.as_secs_f64() * 10_000.0).round() / 10.0);
            let tool_name = payload["tool_name"].as_str().unwrap_or_default();
            let deadline = rutter_hooks::deadline(entry.event, tool_name);
            let deadline = deadline.max(environment::min_hook_deadline());
            if worst.is_none() && median > deadline / 2 {
                let what = format!(
                    "{}: {} ms of its deadline of {} ms",
                    entry.event,
                    median.as_millis(),
                    deadline.as_millis()
                );
                worst = Some(
                    DoctorFinding::new(&codes::HOOK_SLOW, what).with_location(entry.place.clone()),
                );
            }
            findings.extend(worst);
        }
    }

    /// Creates the memory and the project for runs of hooks and servers.
    pub(crate) fn create_scratch_files(&self, scratch: &ScratchFolder) -> io::Result<()> {
        let (memory, project) = (scratch.path().join("memory"), scratch.path().join("project"));
        // A repository, so that one around the temporary folder has no effect.
        for folder in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(project.join(folder))?;
        }
        File::create(project.join(".git/HEAD"))?.write_all(b"ref: refs/heads/main\n")?;
        // An initialized store, as in normal use. Without it, hooks behave as on their first run.
        drop(Store::open(&memory, self.now));
        Ok(())
    }

    /// Builds the command that the client would run, with the plugin's folder for an entry of a plugin.
    pub(super) fn build_command(
        &self,
        start: &LaunchCommand,
        plugin: Option<&Path>,
        scratch: &Path,
    ) -> Command {
        let mut command = match start {
            LaunchCommand::Exec { program, args } => {
                let path = program::resolve_program(start, self.places);
                let mut command = Command::new(path.unwrap_or_else(|| program.into()));
                command.args(args);
                command
            }
            LaunchCommand::Shell { line, .. } | LaunchCommand::Guarded { line, .. } => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", line]);
                command
            }
        };
        let project = scratch.join("project");
        command.env_clear().current_dir(&project);
        for name in INHERITED_VARIABLES {
            command.envs(environment::env_variable(name).map(|value| (name, value)));
        }
        command
            .env("RUTTER_HOME", scratch.join("memory"))
            // An empty client folder: a shared hook would defer to the user's own settings and print nothing.
            .env("CLAUDE_CONFIG_DIR", scratch.join("client"))
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SIMULATED_SESSION_ID)
            .env("CLAUDE_CODE_ENTRYPOINT", "cli");
        if let Some(plugin) = plugin {
            command.env("CLAUDE_PLUGIN_ROOT", plugin);
        }
        command
    }

    /// Evaluates a run as the client does.
    fn evaluate_run(
        &self,
        entry: &HookEntry,
        ended: &io::Result<ProcessResult>,
    ) -> (EntryRunOutcome, Option<i32>, Option<DoctorFinding>) {
        let event = entry.event;
        let failed = |why: &str| {
            let finding = DoctorFinding::new(&codes::HOOK_FAILS, format!("{event}: {why}"));
            (EntryRunOutcome::Failed, Some(finding.with_location(entry.place.clone())))
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let (answer, finding) = failed(&format!("it cannot be started: {error}"));
                return (answer, None, finding);
            }
        };
        let (answer, finding) = if ended.late {
            failed(&format!("it did not end within {} seconds", time_limit(entry).as_secs_f64()))
        } else if let Some(code) = ended.exit.filter(|code| *code != 0) {
            failed(&format!("exit code {code}, but a rutter hook always exits with 0"))
        } else if ended.exit.is_none() {
            failed("a signal killed it")
        } else {
            let (stdout, stderr) = (decode_stdout(&ended.stdout), decode_stdout(&ended.stderr));
            let run = HookRun { event, stdout: &stdout, stderr: &stderr, exit: 0 };
            let verdict = judge_answer(&run, self.contract);
            match find_answer_fault(&verdict) {
                None if stdout.is_empty() => (EntryRunOutcome::Silent, None),
                None => (EntryRunOutcome::Heard, None),
                Some(what) => {
                    let finding =
                        DoctorFinding::new(&codes::HOOK_ANSWER, format!("{event}: {what}"));
                    let advice = format!("pipe its answer into `rutter contract explain {event}`");
                    let finding = finding.with_location(entry.place.clone()).with_advice(advice);
                    (EntryRunOutcome::Wrong, Some(finding))
                }
            }
        };
        (answer, ended.exit, finding)
    }
}

/// Returns true if a shell command line may do more than run rutter with arguments. A guarded line must equal, byte for
/// byte, the line that `rutter init` writes, without expanded variables. Any other line may contain only known harmless
/// characters. No weaker test is safe for a line from a stranger.
fn may_do_more(entry: &HookEntry, start: &LaunchCommand) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~ '\"".contains(c);
    match start {
        LaunchCommand::Exec { .. } => false,
        LaunchCommand::Shell { line, .. } => !line.chars().all(plain),
        LaunchCommand::Guarded { line, .. } => {
            entry::shared_scope(entry).is_none() || entry.handler["command"] != line.as_str()
        }
    }
}

/// Returns the time limit of an entry.
fn time_limit(entry: &HookEntry) -> Duration {
    let seconds = entry.handler["timeout"].as_f64().filter(|seconds| *seconds > 0.0);
    let own = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    own.unwrap_or(MAX_HOOK_TIME).min(MAX_HOOK_TIME)
}

/// Returns the reason for which an answer is not a valid answer of our hook, if any.
fn find_answer_fault(verdict: &Verdict) -> Option<String> {
    let bad = |severity| severity != MistakeSeverity::Info;
    if let Some(diagnostic) = verdict.diagnostics.iter().find(|found| bad(found.severity)) {
        return Some(format!("the client does not use all of its answer ({})", diagnostic.code));
    }
    if verdict.outcome != HookOutcome::Success || !verdict.dropped.is_empty() {
        return Some("the client drops part of its answer".to_owned());
    }
    if verdict.to_model.iter().chain(&verdict.to_user).any(|message| message.truncated) {
        return Some("its answer is too long, so the client shortens it".to_owned());
    }
    let decides = !matches!(verdict.tool, None | Some(ToolCallEffect::Unchanged))
        || !matches!(verdict.turn, TurnEffect::Continues);
    decides.then(|| "its answer decides what the agent may do".to_owned())
}

/// Returns a payload that the client would send to an entry, with an existing folder.
fn build_payload(entry: &HookEntry, project: &Path) -> Value {
    let first = entry.matcher.as_deref().and_then(|matcher| matcher.split(['|', ',']).next());
    let tool = first.map(str::trim).filter(|tool| {
        !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let of = |tool| payload::example_payload(entry.event, tool).ok();
    // The matcher of an event without tools is not a tool name.
    let mut value = of(tool).or_else(|| of(None)).map(|payload| payload.value).unwrap_or_default();
    value["session_id"] = SIMULATED_SESSION_ID.into();
    value["cwd"] = project.to_string_lossy().into_owned().into();
    value["transcript_path"] = project.join("transcript.jsonl").to_string_lossy().into();
    value
}
