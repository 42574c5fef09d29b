//! The temporary project and memory of the demo, and hooks that run as under a client.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rutter_contract::verdict::{HookRun, decode_stdout, judge_answer};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload};
use rutter_memory::quote::PathLine as _;
use serde_json::Value;

use super::calendar;
use crate::scratch::ScratchFolder;
use crate::{CommandError, CommandResult, environment};

/// The result of a hook run.
pub(super) struct DemoHookResult {
    pub(super) event: EventName,
    /// Duration of the whole process.
    pub(super) took: Duration,
    /// Text that the client passes to the model. Empty if the hook is silent.
    pub(super) read: String,
}

/// The durations of hook runs, and the number of hooks with output.
#[derive(Default)]
pub(super) struct HookTimings {
    pub(super) took: Vec<Duration>,
    pub(super) spoke: usize,
}

/// A client event, with the tool if it is a tool call. `fields` replaces fields of a captured payload.
pub(super) struct DemoEvent {
    pub(super) event: EventName,
    pub(super) tool: Option<&'static str>,
    pub(super) fields: Value,
}

pub(super) struct DemoProject {
    program: PathBuf,
    project: PathBuf,
    memory: PathBuf,
    /// Id of the current session.
    pub(super) session: &'static str,
    timings: HookTimings,
    scratch: ScratchFolder,
}

impl DemoProject {
    pub(super) fn open() -> CommandResult<Self> {
        let program = environment::current_program().ok_or_else(|| {
            CommandError::Refused("the path of this program is unknown".to_owned())
        })?;
        let scratch = ScratchFolder::open("demo")?;
        let folder = scratch.path().to_owned();
        let stage = Self {
            project: folder.join("shop"),
            memory: folder.join("memory"),
            session: "",
            timings: HookTimings::default(),
            program,
            scratch,
        };
        stage.create_files().map_err(|error| {
            CommandError::Refused(format!("cannot write to {}: {error}", folder.to_line()))
        })?;
        stage.run_rutter(&["maintain"], "")?;
        Ok(stage)
    }

    fn create_files(&self) -> io::Result<()> {
        // A repository, so that one around the temporary folder has no effect.
        for folder in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(self.project.join(folder))?;
        }
        self.write_project_file(".git/HEAD", "ref: refs/heads/main\n")?;
        // In the agent's PATH, so that messages can tell it to type `rutter`.
        let programs = self.bin_folder();
        std::fs::create_dir(&programs)?;
        symlink(&self.program, programs.join("rutter"))
    }

    fn bin_folder(&self) -> PathBuf {
        self.scratch.path().join("bin")
    }

    /// Returns the absolute path of a project file.
    pub(super) fn project_file(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// Writes a project file.
    pub(super) fn write_project_file(&self, name: &str, text: &str) -> io::Result<()> {
        write_file(&self.project_file(name), text)
    }

    /// Runs the hook as the client does, and returns its result.
    pub(super) fn run_hook(&mut self, call: &DemoEvent) -> CommandResult<DemoHookResult> {
        let mut payload = payload::example_payload(call.event, call.tool)?.value;
        if let (Some(payload), Some(fields)) = (payload.as_object_mut(), call.fields.as_object()) {
            payload.extend(fields.clone());
            let transcript = self.scratch.path().join(format!("{}.jsonl", self.session));
            payload.insert("session_id".to_owned(), self.session.into());
            payload.insert("cwd".to_owned(), self.project.to_string_lossy().into());
            payload.insert("transcript_path".to_owned(), transcript.to_string_lossy().into());
        }
        let begun = Instant::now();
        let output = self.run_program(&["hook"], &payload.to_string())?;
        let took = begun.elapsed();
        let (stdout, stderr) = (decode_stdout(&output.stdout), decode_stdout(&output.stderr));
        let exit = output.status.code().unwrap_or(-1);
        let run = HookRun { event: call.event, stdout: &stdout, stderr: &stderr, exit };
        let verdict = judge_answer(&run, Contract::newest());
        if exit != 0 || !verdict.diagnostics.is_empty() {
            return Err(CommandError::Refused(format!(
                "the hook of {} exited with {}, and the client would ignore its answer: \
                 {stdout}{stderr}; this is a bug",
                call.event, output.status
            )));
        }
        let texts: Vec<String> = verdict.to_model.into_iter().map(|message| message.text).collect();
        let read = texts.join("\n");
        self.timings.took.push(took);
        self.timings.spoke += usize::from(!read.is_empty());
        Ok(DemoHookResult { event: call.event, took, read })
    }

    /// Runs a rutter command as the agent would, and returns its output.
    pub(super) fn run_rutter(&self, args: &[&str], stdin: &str) -> CommandResult<String> {
        let output = self.run_program(args, stdin)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let command: Vec<&str> = args.iter().take(2).copied().collect();
        Err(CommandError::Refused(format!(
            "`rutter {}` exited with {} in the demo's folder: {}",
            command.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        )))
    }

    fn run_program(&self, args: &[&str], stdin: &str) -> CommandResult<Output> {
        let mut command = Command::new(&self.program);
        // The user's memory, configuration and RUTTER=off have no effect.
        command
            .args(args)
            .env_clear()
            .env("HOME", self.scratch.path())
            .env("PATH", self.bin_folder())
            .env("RUTTER_HOME", &self.memory)
            // On a busy machine, hooks with the usual deadlines might print nothing.
            .env(environment::MIN_DEADLINE_VARIABLE, environment::MAX_MIN_DEADLINE_MS.to_string())
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("CLAUDE_CODE_SESSION_ID", self.session)
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let failed = |error: io::Error| {
            CommandError::Refused(format!("cannot run {}: {error}", self.program.to_line()))
        };
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut pipe) = child.stdin.take() {
            // The command need not read its stdin.
            drop(pipe.write_all(stdin.as_bytes()));
        }
        child.wait_with_output().map_err(failed)
    }

    /// Simulates the passing of days: exports the memory, shifts its times, and imports it into a new one.
    pub(super) fn let_days_pass(&mut self) -> CommandResult {
        let wrong = |error: &dyn std::fmt::Display| {
            CommandError::Refused(format!(
                "could not change the times in the demo's memory: \
                                           {error}"
            ))
        };
        let rows = self.run_rutter(&["export"], "")?;
        let rows = calendar::shift_times(&rows).map_err(|error| wrong(&error))?;
        self.memory = self.scratch.path().join("memory-later");
        self.run_rutter(&["import", "jsonl", "-", "--own", "--yes"], &rows)?;
        Ok(())
    }

    /// Removes the temporary folder, and returns the timings.
    pub(super) fn close(self) -> CommandResult<HookTimings> {
        self.scratch.close()?;
        Ok(self.timings)
    }
}

/// Writes a file. It need not be atomic, because no other process reads the folder at that time.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    File::create(path)?.write_all(text.as_bytes())
}
