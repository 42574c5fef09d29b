//! Runs each of our entries as the client does, with a recorded payload, in a scratch memory and a scratch project.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rutter_contract::verdict::{HookRun, Outcome, Severity, Tool, Turn, Verdict, decode, judge};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload};
use rutter_memory::config::Config;
use rutter_memory::{Store, Time};
use serde::Serialize;

use super::codes;
use super::entry::{Entry, Start};
use super::finding::{Finding, Place};
use super::places::Places;
use super::process::{self, Ended};
use super::program;
use super::serving::Examined;
use crate::Failure;
use crate::environment;
use crate::scratch::Scratch;

/// Number of runs per entry.
const TIMES: usize = 3;
/// Time limit of a run, longer than our hook may ever take. A shorter `timeout` of the entry takes precedence.
const PATIENCE: Duration = Duration::from_secs(5);
/// Session id of the simulated session.
const SESSION: &str = "rutter-doctor";
/// Advice for a missing scratch folder.
pub(super) const ELSEWHERE: &str =
    "set TMPDIR to a folder that you may write to, then rutter doctor";
/// Variables that a program needs in order to start. None of them decides the data directory.
const INHERITED: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TERM"];

/// The result of running an entry.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<String>,
    pub(crate) place: Place,
    pub(crate) exit: Option<i32>,
    /// Median duration of the runs. None if the entry was not run.
    pub(crate) milliseconds: Option<f64>,
    pub(crate) answer: Answer,
}

/// The client's treatment of an entry's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
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
pub(crate) struct Bench<'a> {
    pub(crate) places: &'a Places,
    pub(crate) contract: Contract,
    pub(crate) config: &'a Config,
    pub(crate) now: Time,
    /// True if the client trusts the folder.
    pub(crate) trusted: bool,
    /// Root of the checkout that contains the folder.
    pub(crate) root: &'a Path,
    /// Scratch folder for the runs, or the reason for which it could not be created.
    pub(crate) scratch: &'a Result<Scratch, Failure>,
}

impl Bench<'_> {
    /// Runs every distinct entry. Returns the results, and the programs that were examined for them.
    pub(crate) fn run(
        &self,
        entries: &[&Entry],
        findings: &mut Vec<Finding>,
    ) -> (Vec<Row>, Vec<Examined>) {
        let mut usable: BTreeMap<Start, bool> = BTreeMap::new();
        let mut rows = Vec::new();
        let mut ready = Vec::new();
        let mut seen = Vec::new();
        let scratch = self.scratch.as_ref().ok();
        for entry in entries {
            let start = entry.start(self.places);
            let identity = (entry.event, entry.matcher.clone(), entry.identity());
            if seen.contains(&identity) {
                continue;
            }
            seen.push(identity);
            let answer = if self.is_strange(entry) {
                Answer::Untrusted
            } else if *usable.entry(start.clone()).or_insert_with(|| {
                program::examine(&start, entry.place.clone(), self.places, scratch, findings)
            }) {
                Answer::Silent
            } else {
                Answer::Unusable
            };
            if answer == Answer::Silent {
                ready.push((rows.len(), *entry, start));
            }
            rows.push(Row {
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
                Ok(scratch) => self.furnish(scratch).map_err(|error| error.to_string()).map(|()| {
                    self.play(&ready, scratch, &mut rows, findings);
                }),
                Err(failure) => Err(failure.to_string()),
            };
            if let Err(why) = played {
                let what = format!("hooks could not be tried, for lack of a scratch folder: {why}");
                findings.push(Finding::new(&codes::HOOK_FAILS, what).advise(ELSEWHERE));
            }
        }
        let examined =
            usable.into_iter().map(|(start, usable)| (start.program().to_owned(), usable));
        (rows, examined.collect())
    }

    /// Returns true if an entry may run code from an untrusted checkout.
    pub(crate) fn is_strange(&self, entry: &Entry) -> bool {
        if self.trusted {
            return false;
        }
        let start = entry.start(self.places);
        // The text is checked first, because resolving a program may start a shell.
        (entry.is_of_checkout() && may_do_more(entry, &start)) || self.is_inside(&start)
    }

    /// Returns true if the program is inside the checkout.
    pub(super) fn is_inside(&self, start: &Start) -> bool {
        let Some(path) = program::resolve(start, self.places) else { return false };
        let real = path.canonicalize().unwrap_or(path);
        real.starts_with(self.root)
    }

    fn play(
        &self,
        ready: &[(usize, &Entry, Start)],
        scratch: &Scratch,
        rows: &mut [Row],
        findings: &mut Vec<Finding>,
    ) {
        let project = scratch.path().join("project");
        for (row, entry, start) in ready {
            let mut took = Vec::new();
            let mut worst: Option<Finding> = None;
            for _ in 0..TIMES {
                let payload = payload(entry, &project);
                let plugin = entry.plugin.as_deref();
                let mut command = self.prepared(start, plugin, scratch.path());
                let ended =
                    process::run(&mut command, payload.as_bytes(), patience(entry), Some(scratch));
                if let Ok(ended) = &ended {
                    took.push(ended.took);
                }
                (rows[*row].answer, rows[*row].exit, worst) = self.judge(entry, &ended);
                // The first fault stands for all runs.
                if worst.is_some() {
                    break;
                }
            }
            took.sort();
            let median = took.get(took.len() / 2).copied().unwrap_or_default();
            rows[*row].milliseconds = Some((median.as_secs_f64() * 10_000.0).round() / 10.0);
            let deadline = deadline(self.config, entry.event);
            if worst.is_none() && median > deadline / 2 {
                let what = format!(
                    "{}: {} ms, of {} after which it stops trying to speak",
                    entry.event,
                    median.as_millis(),
                    deadline.as_millis()
                );
                worst = Some(Finding::new(&codes::HOOK_SLOW, what).at(entry.place.clone()));
            }
            findings.extend(worst);
        }
    }

    /// Creates the memory and the project for runs of hooks and servers.
    pub(crate) fn furnish(&self, scratch: &Scratch) -> io::Result<()> {
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
    pub(super) fn prepared(&self, start: &Start, plugin: Option<&Path>, scratch: &Path) -> Command {
        let mut command = match start {
            Start::Exec { program, args } => {
                let path = program::resolve(start, self.places);
                let mut command = Command::new(path.unwrap_or_else(|| program.into()));
                command.args(args);
                command
            }
            Start::Shell { line, .. } | Start::Guarded { line, .. } => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", line]);
                command
            }
        };
        let project = scratch.join("project");
        command.env_clear().current_dir(&project);
        for name in INHERITED {
            command.envs(environment::variable(name).map(|value| (name, value)));
        }
        command
            .env("RUTTER_HOME", scratch.join("memory"))
            // An empty client folder: a shared hook would defer to the user's own settings and print nothing.
            .env("CLAUDE_CONFIG_DIR", scratch.join("client"))
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("CLAUDE_CODE_ENTRYPOINT", "cli");
        if let Some(plugin) = plugin {
            command.env("CLAUDE_PLUGIN_ROOT", plugin);
        }
        command
    }

    /// Evaluates a run as the client does.
    fn judge(
        &self,
        entry: &Entry,
        ended: &io::Result<Ended>,
    ) -> (Answer, Option<i32>, Option<Finding>) {
        let event = entry.event;
        let failed = |why: &str| {
            let finding = Finding::new(&codes::HOOK_FAILS, format!("{event}: {why}"));
            (Answer::Failed, Some(finding.at(entry.place.clone())))
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let (answer, finding) = failed(&format!("it cannot be started: {error}"));
                return (answer, None, finding);
            }
        };
        let (answer, finding) = if ended.late {
            failed(&format!("it had not ended after {} seconds", patience(entry).as_secs_f64()))
        } else if let Some(code) = ended.exit.filter(|code| *code != 0) {
            failed(&format!("exit {code}, where a hook of rutter always ends with 0"))
        } else if ended.exit.is_none() {
            failed("a signal ended it")
        } else {
            let (stdout, stderr) = (decode(&ended.stdout), decode(&ended.stderr));
            let run = HookRun { event, stdout: &stdout, stderr: &stderr, exit: 0 };
            let verdict = judge(&run, self.contract);
            match complaint(&verdict) {
                None if stdout.is_empty() => (Answer::Silent, None),
                None => (Answer::Heard, None),
                Some(what) => {
                    let finding = Finding::new(&codes::HOOK_ANSWER, format!("{event}: {what}"));
                    let advice = format!("pipe its answer into `rutter contract explain {event}`");
                    let finding = finding.at(entry.place.clone()).advise(advice);
                    (Answer::Wrong, Some(finding))
                }
            }
        };
        (answer, ended.exit, finding)
    }
}

/// Returns true if a shell command line may do more than run rutter with arguments. A guarded line must equal, byte for
/// byte, the line that `rutter init` writes, without expanded variables. Any other line may contain only known harmless
/// characters. No weaker test is safe for a line from a stranger.
fn may_do_more(entry: &Entry, start: &Start) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~ '\"".contains(c);
    match start {
        Start::Exec { .. } => false,
        Start::Shell { line, .. } => !line.chars().all(plain),
        Start::Guarded { line, .. } => {
            entry.shared().is_none() || entry.handler["command"] != line.as_str()
        }
    }
}

/// Returns the time limit of an entry.
fn patience(entry: &Entry) -> Duration {
    let seconds = entry.handler["timeout"].as_f64().filter(|seconds| *seconds > 0.0);
    let own = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    own.unwrap_or(PATIENCE).min(PATIENCE)
}

/// Returns the reason for which an answer is not a valid answer of our hook, if any.
fn complaint(verdict: &Verdict) -> Option<String> {
    let bad = |severity| severity != Severity::Info;
    if let Some(diagnostic) = verdict.diagnostics.iter().find(|found| bad(found.severity)) {
        return Some(format!("its answer is not used whole ({})", diagnostic.code));
    }
    if verdict.outcome != Outcome::Success || !verdict.dropped.is_empty() {
        return Some("the client drops a part of its answer".to_owned());
    }
    if verdict.to_model.iter().chain(&verdict.to_user).any(|message| message.truncated) {
        return Some("its answer is too long to arrive whole".to_owned());
    }
    let decides = !matches!(verdict.tool, None | Some(Tool::Unchanged))
        || !matches!(verdict.turn, Turn::Continues);
    decides.then(|| "its answer decides what the agent may do".to_owned())
}

/// Returns a payload that the client would send to an entry, with an existing folder.
fn payload(entry: &Entry, project: &Path) -> String {
    let first = entry.matcher.as_deref().and_then(|matcher| matcher.split(['|', ',']).next());
    let tool = first.map(str::trim).filter(|tool| {
        !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let of = |tool| payload::realistic(entry.event, tool).ok();
    // The matcher of an event without tools is not a tool name.
    let mut value = of(tool).or_else(|| of(None)).map(|payload| payload.value).unwrap_or_default();
    value["session_id"] = SESSION.into();
    value["cwd"] = project.to_string_lossy().into_owned().into();
    value["transcript_path"] = project.join("transcript.jsonl").to_string_lossy().into();
    format!("{value}\n")
}

/// Returns the time after which a hook prints nothing any more.
fn deadline(config: &Config, event: EventName) -> Duration {
    let hooks = &config.hooks;
    let milliseconds = match event {
        EventName::SessionStart => hooks.session_start.deadline_ms,
        EventName::SessionEnd => hooks.session_end.deadline_ms,
        EventName::UserPromptSubmit => hooks.user_prompt_submit.deadline_ms,
        EventName::PreToolUse => hooks.ghap_checkin.deadline_ms,
        EventName::PostToolUse | EventName::PostToolUseFailure => hooks.outcome_capture.deadline_ms,
        EventName::SubagentStart => hooks.subagent_start.deadline_ms,
        EventName::PreCompact => hooks.pre_compact.deadline_ms,
        _ => hooks.stop.deadline_ms,
    };
    Duration::from_millis(milliseconds.into())
}
