//! Runs a hook as the client does: the payload on stdin, the client's variables, a process group and a time limit.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use serde::Serialize;
use serde_json::Value;

use crate::process::{ProcessGroup, ProcessResult, run_in_group};

/// The longest time that a hook gets, whatever its `timeout` says.
pub const MAX_TRIAL_TIME: Duration = Duration::from_secs(10);
/// Session id of the simulated session.
pub const TRIAL_SESSION_ID: &str = "3f2b6c1e-7d4a-4e0b-9a55-0c1d2e3f4a5b";

/// The start of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HookStart {
    /// A line for `/bin/sh -c`.
    Shell(String),
    /// A program with arguments, without a shell.
    Exec {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

impl HookStart {
    /// Builds the command that the client would run.
    pub fn command(&self) -> Command {
        match self {
            Self::Shell(line) => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", line]);
                command
            }
            Self::Exec { program, args } => {
                let mut command = Command::new(program);
                command.args(args);
                command
            }
        }
    }

    /// Returns the start as one line.
    pub fn to_line(&self) -> String {
        match self {
            Self::Shell(line) => line.clone(),
            Self::Exec { program, args } => {
                let words = std::iter::once(program).chain(args).map(String::as_str);
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// The surroundings of the hooks under test.
#[derive(Debug, Clone, Default)]
pub struct TrialEnvironment {
    /// The project folder, which is the working directory too.
    pub project: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// The folder for temporary files of hooks.
    pub temporary: PathBuf,
    /// Variables that the client inherits.
    pub variables: Vec<(OsString, OsString)>,
    /// True if the project folder is a copy, whose files may be changed.
    pub is_copy: bool,
}

/// A hook under test.
#[derive(Debug, Clone)]
pub struct TestedHook {
    /// The event.
    pub event: EventName,
    /// The start.
    pub start: HookStart,
    /// The folder of the plugin that registers the hook.
    pub plugin: Option<PathBuf>,
    /// The time limit of the entry. None for the default of the event.
    pub timeout: Option<Duration>,
    /// True if the entry has `onFailure: "block"`.
    pub blocks_on_failure: bool,
}

impl TestedHook {
    /// Returns the time limit of a trial.
    pub fn trial_limit(&self) -> Duration {
        let default = Duration::from_millis(event_spec(self.event).timeout_ms.value.into());
        self.timeout.unwrap_or(default).min(MAX_TRIAL_TIME)
    }
}

/// The end of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEnding {
    /// The hook exited with this code.
    Exited(i32),
    /// This signal ended the hook.
    Killed(i32),
    /// The time limit passed.
    TimedOut,
    /// The hook could not be started, for the reason given.
    NotStarted(String),
}

/// One run of a hook on one payload.
#[derive(Debug, Clone)]
pub struct HookTrial {
    /// The end.
    pub ending: TrialEnding,
    /// The output.
    pub stdout: Vec<u8>,
    /// The error output.
    pub stderr: Vec<u8>,
    /// The duration.
    pub took: Duration,
}

/// Runs trials. All of them share a process group, so that nothing that a hook leaves behind outlives the runner.
#[derive(Debug)]
pub struct TrialRunner {
    environment: TrialEnvironment,
    group: RefCell<ProcessGroup>,
    /// The starts of late trials.
    late: RefCell<Vec<HookStart>>,
}

impl TrialRunner {
    /// Creates a runner, with the transcript that payloads name.
    pub fn new(environment: TrialEnvironment) -> io::Result<Self> {
        let group = RefCell::new(ProcessGroup::create()?);
        Ok(Self { environment, group, late: RefCell::default() })
    }

    /// Returns the surroundings.
    pub fn environment(&self) -> &TrialEnvironment {
        &self.environment
    }

    /// Returns the number of trials of a hook that exceeded the time limit.
    pub fn late_trials(&self, start: &HookStart) -> usize {
        self.late.borrow().iter().filter(|late| *late == start).count()
    }

    /// Runs a hook with a payload: its line, with the line break that the client adds.
    pub fn run(&self, hook: &TestedHook, payload: &Value) -> HookTrial {
        self.run_with_stdin(hook, format!("{payload}\n").as_bytes(), None)
    }

    /// Runs a hook with any bytes on stdin, and with another `PATH` if one is given.
    pub fn run_with_stdin(
        &self,
        hook: &TestedHook,
        stdin: &[u8],
        search: Option<&Path>,
    ) -> HookTrial {
        let limit = hook.trial_limit();
        let first =
            run_in_group(&self.group.borrow(), &mut self.command(hook, search), stdin, limit);
        let result = match first {
            Ok(result) => Ok(result),
            // A hook may have ended the group, which then takes no process. The second error is that of the hook.
            Err(_) => self.renew_group().and_then(|()| {
                run_in_group(&self.group.borrow(), &mut self.command(hook, search), stdin, limit)
            }),
        };
        if result.as_ref().map_or(true, |result| result.late) {
            // An error shows at the next run.
            drop(self.renew_group());
        }
        let trial = HookTrial::from_result(result);
        if trial.ending == TrialEnding::TimedOut {
            self.late.borrow_mut().push(hook.start.clone());
        }
        trial
    }

    fn renew_group(&self) -> io::Result<()> {
        let group = ProcessGroup::create()?;
        drop(self.group.replace(group));
        Ok(())
    }

    /// Builds the command that the client would run.
    fn command(&self, hook: &TestedHook, search: Option<&Path>) -> Command {
        let environment = &self.environment;
        let mut command = hook.start.command();
        command
            .current_dir(&environment.project)
            .env_clear()
            .envs(environment.variables.iter().map(|(name, value)| (name, value)))
            .env("HOME", &environment.home)
            .env("TMPDIR", &environment.temporary)
            .env("CLAUDE_PROJECT_DIR", &environment.project)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", TRIAL_SESSION_ID)
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_CODE_CHILD_SESSION", "1")
            .env("CLAUDE_PID", std::process::id().to_string());
        let spec = event_spec(hook.event);
        if spec.input.iter().any(|field| field.name == "tool_name") {
            command.env("CLAUDE_EFFORT", "medium");
        }
        if spec.env_file.value {
            command.env("CLAUDE_ENV_FILE", environment.temporary.join("session-env.sh"));
        }
        if let Some(plugin) = &hook.plugin {
            command.env("CLAUDE_PLUGIN_ROOT", plugin);
            command.env("CLAUDE_PLUGIN_DATA", environment.home.join(".claude/plugins/data"));
        }
        if let Some(search) = search {
            command.env("PATH", search);
        }
        command
    }
}

impl HookTrial {
    fn from_result(result: io::Result<ProcessResult>) -> Self {
        match result {
            Ok(result) => {
                let ending = match (result.late, result.exit, result.signal) {
                    (true, ..) => TrialEnding::TimedOut,
                    (false, Some(code), _) => TrialEnding::Exited(code),
                    (false, None, signal) => TrialEnding::Killed(signal.unwrap_or_default()),
                };
                let ProcessResult { stdout, stderr, took, .. } = result;
                Self { ending, stdout, stderr, took }
            }
            Err(error) => Self {
                ending: TrialEnding::NotStarted(error.to_string()),
                stdout: Vec::new(),
                stderr: Vec::new(),
                took: Duration::ZERO,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn runner(folder: &Path) -> TrialRunner {
        let environment = TrialEnvironment {
            project: folder.to_owned(),
            home: folder.join("home"),
            temporary: folder.to_owned(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            is_copy: true,
        };
        TrialRunner::new(environment).unwrap()
    }

    fn hook(line: &str, milliseconds: u64) -> TestedHook {
        TestedHook {
            event: EventName::PreToolUse,
            start: HookStart::Shell(line.to_owned()),
            plugin: None,
            timeout: Some(Duration::from_millis(milliseconds)),
            blocks_on_failure: false,
        }
    }

    #[test]
    fn hooks_see_payload_and_variables() {
        let folder = tempfile::tempdir().unwrap();
        let runner = runner(folder.path());
        let line = "cat; printf '%s|' \"$CLAUDECODE\" \"$CLAUDE_CODE_SESSION_ID\" \"$CLAUDE_PROJECT_DIR\" \
                    \"$HOME\" \"$PWD\"; echo oops >&2; exit 3";
        let trial = runner.run(&hook(line, 5000), &json!({ "a": 1 }));
        let root = folder.path().to_str().unwrap();
        let expected = format!("{{\"a\":1}}\n1|{TRIAL_SESSION_ID}|{root}|{root}/home|{root}|");
        assert_eq!(String::from_utf8(trial.stdout).unwrap(), expected);
        assert_eq!(trial.stderr, b"oops\n");
        assert_eq!(trial.ending, TrialEnding::Exited(3));
    }

    #[test]
    fn exec_form_has_no_shell() {
        let folder = tempfile::tempdir().unwrap();
        let runner = runner(folder.path());
        let start = |program: &str, args: &[&str]| HookStart::Exec {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        };
        let mut hook = hook("", 5000);
        hook.start = start("printf", &["%s", "$HOME; x"]);
        assert_eq!(runner.run(&hook, &json!({})).stdout, b"$HOME; x");
        hook.start = start("/nonexistent/hook", &[]);
        let trial = runner.run(&hook, &json!({}));
        assert!(matches!(trial.ending, TrialEnding::NotStarted(_)), "{trial:?}");
    }

    #[test]
    fn no_hook_hangs_or_crashes_a_trial() {
        let folder = tempfile::tempdir().unwrap();
        let runner = runner(folder.path());
        let large = json!({ "prompt": "x".repeat(1_000_000) });
        for (line, ending) in [
            ("sleep 60", TrialEnding::TimedOut),
            ("trap '' TERM INT; while :; do :; done", TrialEnding::TimedOut),
            ("sleep 60 & exit 0", TrialEnding::TimedOut),
            ("kill -KILL $$", TrialEnding::Killed(9)),
            ("kill -KILL 0", TrialEnding::Killed(9)),
            ("exec 0<&- 1>&- 2>&-; exit 4", TrialEnding::Exited(4)),
            ("exit 7", TrialEnding::Exited(7)),
        ] {
            let trial = runner.run(&hook(line, 400), &large);
            assert_eq!(trial.ending, ending, "{line}");
            assert!(trial.took < Duration::from_secs(5), "{line}: {:?}", trial.took);
        }
        let flood = runner.run(&hook("yes", 3000), &large);
        assert!(flood.stdout.len() <= 1024 * 1024, "the output is bounded");
        assert_eq!(
            runner.run(&hook("echo ok", 5000), &large).stdout,
            b"ok\n",
            "the runner still works"
        );
    }
}
