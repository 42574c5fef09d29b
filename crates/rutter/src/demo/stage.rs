//! Where the story takes place: a project and a memory that nobody else has, and hooks that are run as a client runs them.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rutter_contract::verdict::{HookRun, decode, judge};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload};
use serde_json::Value;

use super::calendar;
use crate::scratch::Scratch;
use crate::{Failure, environment};

/// Hooks that are silent on a busy machine would make no demo.
const CONFIGURATION: &str = "\
    hooks.session_start.deadline_ms = 1000\n\
    hooks.user_prompt_submit.deadline_ms = 1000\n\
    hooks.ghap_checkin.deadline_ms = 1000\n\
    hooks.outcome_capture.deadline_ms = 1000\n\
    hooks.edits.deadline_ms = 1000\n\
    hooks.stop.deadline_ms = 1000\n\
    hooks.session_end.deadline_ms = 1000\n";

/// A hook that has run.
pub(super) struct Heard {
    pub(super) event: EventName,
    /// The whole process, from its start to its end.
    pub(super) took: Duration,
    /// What the client puts before the model of its answer; empty is silence.
    pub(super) read: String,
}

/// How long hooks took, and how many had something to say.
#[derive(Default)]
pub(super) struct Timings {
    pub(super) took: Vec<Duration>,
    pub(super) spoke: usize,
}

/// An event of the client: of a call of a tool, if one is named, with what differs from one that was captured.
pub(super) struct Call {
    pub(super) event: EventName,
    pub(super) tool: Option<&'static str>,
    pub(super) fields: Value,
}

pub(super) struct Stage {
    program: PathBuf,
    project: PathBuf,
    memory: PathBuf,
    /// The client's name for the session.
    pub(super) session: &'static str,
    timings: Timings,
    scratch: Scratch,
}

impl Stage {
    pub(super) fn open() -> Result<Self, Failure> {
        let program = environment::program().ok_or_else(|| {
            Failure::Refused("the system does not say where this program is".to_owned())
        })?;
        let scratch = Scratch::open(&program, "demo")?;
        let folder = scratch.path().to_owned();
        let stage = Self {
            project: folder.join("shop"),
            memory: folder.join("memory"),
            session: "",
            timings: Timings::default(),
            program,
            scratch,
        };
        stage.furnish().map_err(|error| {
            Failure::Refused(format!("cannot write to {}: {error}", folder.display()))
        })?;
        stage.rutter(&["tend"], "")?;
        Ok(stage)
    }

    fn furnish(&self) -> io::Result<()> {
        // A repository, or one around the temporary folder would have its say.
        for folder in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(self.project.join(folder))?;
        }
        self.put(".git/HEAD", "ref: refs/heads/main\n")?;
        // On the agent's path, so that it can be told to type `rutter`.
        let programs = self.programs();
        std::fs::create_dir(&programs)?;
        symlink(&self.program, programs.join("rutter"))?;
        self.configure()
    }

    fn configure(&self) -> io::Result<()> {
        std::fs::create_dir(&self.memory)?;
        write(&self.memory.join("config.toml"), CONFIGURATION)
    }

    fn programs(&self) -> PathBuf {
        self.scratch.path().join("bin")
    }

    /// A file of the project, by its absolute path.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// Writes a file of the project.
    pub(super) fn put(&self, name: &str, text: &str) -> io::Result<()> {
        write(&self.file(name), text)
    }

    /// Runs the hook, as the client does, and says what comes of it.
    pub(super) fn hook(&mut self, call: &Call) -> Result<Heard, Failure> {
        let mut payload = payload::realistic(call.event, call.tool)?.value;
        if let (Some(payload), Some(fields)) = (payload.as_object_mut(), call.fields.as_object()) {
            payload.extend(fields.clone());
            let transcript = self.scratch.path().join(format!("{}.jsonl", self.session));
            payload.insert("session_id".to_owned(), self.session.into());
            payload.insert("cwd".to_owned(), self.project.to_string_lossy().into());
            payload.insert("transcript_path".to_owned(), transcript.to_string_lossy().into());
        }
        let begun = Instant::now();
        let output = self.run(&["hook"], &payload.to_string())?;
        let took = begun.elapsed();
        let (stdout, stderr) = (decode(&output.stdout), decode(&output.stderr));
        let exit = output.status.code().unwrap_or(-1);
        let run = HookRun { event: call.event, stdout: &stdout, stderr: &stderr, exit };
        let verdict = judge(&run, Contract::newest());
        if exit != 0 || !verdict.diagnostics.is_empty() {
            return Err(Failure::Refused(format!(
                "the hook of {} ended with {}, and the client would not hear it: {stdout}{stderr}; this is a bug",
                call.event, output.status
            )));
        }
        let texts: Vec<String> = verdict.to_model.into_iter().map(|message| message.text).collect();
        let read = texts.join("\n");
        self.timings.took.push(took);
        self.timings.spoke += usize::from(!read.is_empty());
        Ok(Heard { event: call.event, took, read })
    }

    /// Runs a command of ours as the agent would type it, and returns what it printed.
    pub(super) fn rutter(&self, args: &[&str], stdin: &str) -> Result<String, Failure> {
        let output = self.run(args, stdin)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let command: Vec<&str> = args.iter().take(2).copied().collect();
        Err(Failure::Refused(format!(
            "`rutter {}` ended with {} in the demo's folder: {}",
            command.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        )))
    }

    fn run(&self, args: &[&str], stdin: &str) -> Result<Output, Failure> {
        let mut command = Command::new(&self.program);
        // Nothing of the user's: no memory, no configuration, no switch.
        command
            .args(args)
            .env_clear()
            .env("HOME", self.scratch.path())
            .env("PATH", self.programs())
            .env("RUTTER_HOME", &self.memory)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("CLAUDE_CODE_SESSION_ID", self.session)
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let failed = |error: io::Error| {
            Failure::Refused(format!("cannot run {}: {error}", self.program.display()))
        };
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut pipe) = child.stdin.take() {
            // It need not read it.
            drop(pipe.write_all(stdin.as_bytes()));
        }
        child.wait_with_output().map_err(failed)
    }

    /// Lets days pass: what the memory holds is taken out, set back, and put into a new one.
    pub(super) fn let_days_pass(&mut self) -> Result<(), Failure> {
        let wrong = |error: &dyn std::fmt::Display| {
            Failure::Refused(format!("the demo's memory cannot be set back: {error}"))
        };
        let rows = self.rutter(&["export"], "")?;
        let rows = calendar::set_back(&rows).map_err(|error| wrong(&error))?;
        self.memory = self.scratch.path().join("memory-later");
        self.configure().map_err(|error| wrong(&error))?;
        self.rutter(&["import", "jsonl", "-", "--own", "--yes"], &rows)?;
        Ok(())
    }

    /// Leaves nothing behind.
    pub(super) fn close(self) -> Result<Timings, Failure> {
        self.scratch.close()?;
        Ok(self.timings)
    }
}

/// A file in a folder of our own: nobody else can see half of it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    File::create(path)?.write_all(text.as_bytes())
}
