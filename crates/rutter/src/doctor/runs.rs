//! Each entry of ours, run as the client runs it, on a payload that the client sent, in a scratch memory and a scratch
//! project.

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

/// How often each is run.
const TIMES: usize = 3;
/// Longer than a hook of ours may ever take; an entry that says less is given less.
const PATIENCE: Duration = Duration::from_secs(5);
/// The client's name for the session that is played.
const SESSION: &str = "rutter-doctor";
/// What to do where nothing can be tried.
pub(super) const ELSEWHERE: &str =
    "set TMPDIR to a folder that you may write to, then rutter doctor";
/// What of this environment a client hands on that a program needs to start at all. Nothing that decides where the memory is.
const INHERITED: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TERM"];

/// How an entry did.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<String>,
    pub(crate) place: Place,
    pub(crate) exit: Option<i32>,
    /// The median of its runs; nothing for one that was not run.
    pub(crate) milliseconds: Option<f64>,
    pub(crate) answer: Answer,
}

/// What became of what an entry said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// It said nothing.
    Silent,
    /// The client uses all of it.
    Heard,
    /// It is not what the client takes whole.
    Wrong,
    /// It failed.
    Failed,
    /// It was not run, because its program cannot be.
    Unusable,
    /// It was not run: the checkout is not trusted, and what it runs lies inside.
    Untrusted,
}

/// Everything that a run needs to know.
pub(crate) struct Bench<'a> {
    pub(crate) places: &'a Places,
    pub(crate) contract: Contract,
    pub(crate) config: &'a Config,
    pub(crate) now: Time,
    /// Whether the client trusts the folder.
    pub(crate) trusted: bool,
    /// The root of the checkout that the folder is in.
    pub(crate) root: &'a Path,
    /// Where hooks are run, or why there is no such place.
    pub(crate) scratch: &'a Result<Scratch, Failure>,
}

impl Bench<'_> {
    /// Runs every entry, one of each kind. Beside how they did, the programs that were looked at for that.
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
        // A session ends when everything else has happened in it.
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

    /// Whether an entry may run what came with a checkout that nobody has looked at.
    pub(crate) fn is_strange(&self, entry: &Entry) -> bool {
        if self.trusted {
            return false;
        }
        let start = entry.start(self.places);
        // Before anything is asked about it: to find a program may take a shell.
        (entry.is_of_checkout() && may_do_more(entry, &start)) || self.is_inside(&start)
    }

    /// Whether the program lies in the checkout.
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
                // The first that is wrong stands for all.
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

    /// Makes the memory and the project in which hooks and the server are run.
    pub(crate) fn furnish(&self, scratch: &Scratch) -> io::Result<()> {
        let (memory, project) = (scratch.path().join("memory"), scratch.path().join("project"));
        // A repository, or one around the temporary folder would have its say.
        for folder in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(project.join(folder))?;
        }
        File::create(project.join(".git/HEAD"))?.write_all(b"ref: refs/heads/main\n")?;
        // So that hooks find what they find in a memory that is in use. Without it they do as on their first day.
        drop(Store::open(&memory, self.now));
        Ok(())
    }

    /// What the client would start, for a plugin with the plugin's folder.
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
            // Or what others get as well would step back for the user's own settings, and nobody would hear it.
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

    /// What the client makes of a run.
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

/// Whether a line for a shell may be more than a rutter and its arguments. One that asks first has to be what `rutter init`
/// writes, to the byte, and nothing of the client's may have been put into it; of one that does not, every sign has to be
/// known. Nothing else is safe to say of a line that a stranger wrote.
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

/// How long an entry may take.
fn patience(entry: &Entry) -> Duration {
    let seconds = entry.handler["timeout"].as_f64().filter(|seconds| *seconds > 0.0);
    let own = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    own.unwrap_or(PATIENCE).min(PATIENCE)
}

/// Why an answer is not one that a hook of ours gives.
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

/// What the client would write to an entry, with a folder that is there.
fn payload(entry: &Entry, project: &Path) -> String {
    let first = entry.matcher.as_deref().and_then(|matcher| matcher.split(['|', ',']).next());
    let tool = first.map(str::trim).filter(|tool| {
        !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let of = |tool| payload::realistic(entry.event, tool).ok();
    // An event without tools has none of this name.
    let mut value = of(tool).or_else(|| of(None)).map(|payload| payload.value).unwrap_or_default();
    value["session_id"] = SESSION.into();
    value["cwd"] = project.to_string_lossy().into_owned().into();
    value["transcript_path"] = project.join("transcript.jsonl").to_string_lossy().into();
    format!("{value}\n")
}

/// When a hook stops trying to speak.
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
