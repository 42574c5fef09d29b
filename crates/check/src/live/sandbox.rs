//! A project and a home for one run.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use rutter_contract::EventName;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::conversation::Conversation;
use super::hook::{InstalledHook, TestHook};
use super::model::ScriptedModel;
use super::process::ClientProcess;
use super::record::{RecordedHookCall, RunRecord};
use super::script::ModelScript;
use super::{ClientBinary, LiveError};

/// Variables that keep the client from contacting its vendor.
pub(super) const OFFLINE_ENV: [(&str, &str); 4] = [
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
];

/// The `PATH` of the client and its hooks, for `sh`, `cat` and the like.
pub(super) const SANDBOX_PATH: &str = "/usr/bin:/bin";

/// Default time limit. A run takes two seconds; on a machine that builds at the same time it may take ten.
const DEFAULT_RUN_TIMEOUT: Duration = Duration::from_secs(90);

/// A project and a home for one run, with the preparations for it.
///
/// File paths are relative to the project. Nothing is written before [`Sandbox::run`].
#[derive(Debug)]
pub struct Sandbox {
    folder: Arc<TempDir>,
    root: PathBuf,
    settings: Map<String, Value>,
    hooks: Vec<TestHook>,
    recorded: Vec<InstalledHook>,
    own_settings: bool,
    files: Vec<(PathBuf, Vec<u8>)>,
    programs: Vec<PathBuf>,
    script: ModelScript,
    input: UserInput,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    start: Option<PathBuf>,
    limit: Duration,
    group: Option<Pid>,
}

/// The form of the user's input.
#[derive(Debug)]
enum UserInput {
    Prompt(String),
    Conversation(Conversation),
}

impl Sandbox {
    /// Creates a sandbox with an empty project, a model that only responds with `done`, and the prompt `go`.
    pub fn new() -> Result<Self, LiveError> {
        Self::new_in(&std::env::temp_dir())
    }

    /// Creates a sandbox like [`Sandbox::new`], inside an existing folder.
    pub fn new_in(folder: &Path) -> Result<Self, LiveError> {
        let failed = |source| LiveError::File { path: folder.to_owned(), source };
        let folder =
            tempfile::Builder::new().prefix("rutter-live.").tempdir_in(folder).map_err(failed)?;
        // The client reports resolved paths, and tests compare with them.
        let root = folder.path().canonicalize().map_err(failed)?;
        Ok(Self::reopen(Arc::new(folder), root))
    }

    /// Creates a sandbox on an existing project and home, with all that the last run left in them.
    pub(super) fn reopen(folder: Arc<TempDir>, root: PathBuf) -> Self {
        Self {
            folder,
            root,
            settings: Map::new(),
            hooks: Vec::new(),
            recorded: Vec::new(),
            own_settings: true,
            files: Vec::new(),
            programs: Vec::new(),
            script: ModelScript::default(),
            input: UserInput::Prompt("go".to_owned()),
            args: Vec::new(),
            environment: Vec::new(),
            start: None,
            limit: DEFAULT_RUN_TIMEOUT,
            group: None,
        }
    }

    /// Returns the project folder, in which the client starts.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the user's home.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Installs a hook.
    pub fn hook(&mut self, hook: TestHook) -> &mut Self {
        self.hooks.push(hook);
        self
    }

    /// Makes steps that wait for hooks of an event also wait for this one, for a short time: its matcher may match nothing.
    pub fn recorded_hook(&mut self, event: EventName, folder: impl Into<PathBuf>) -> &mut Self {
        self.recorded.push(InstalledHook::recorded(event, folder.into()));
        self
    }

    /// Leaves `.claude/settings.json` to the caller. The hooks of [`Sandbox::hook`] are then given on the command line.
    pub fn keep_settings(&mut self) -> &mut Self {
        self.own_settings = false;
        self
    }

    /// Sets a key of `.claude/settings.json`; hooks given here precede those of [`Sandbox::hook`].
    pub fn setting(&mut self, key: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.settings.insert(key.into(), value.into());
        self
    }

    /// Adds a file.
    pub fn file(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> &mut Self {
        self.files.push((path.into(), text.into()));
        self
    }

    /// Adds an executable file.
    pub fn program(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> &mut Self {
        let path = path.into();
        self.programs.push(path.clone());
        self.file(path, text)
    }

    /// Sets the model's turns.
    pub fn script(&mut self, script: ModelScript) -> &mut Self {
        self.script = script;
        self
    }

    /// Sets the prompt of a run with a single prompt.
    pub fn prompt(&mut self, text: impl Into<String>) -> &mut Self {
        self.input = UserInput::Prompt(text.into());
        self
    }

    /// Sets the conversation of a run with the user's program.
    pub fn conversation(&mut self, conversation: Conversation) -> &mut Self {
        self.input = UserInput::Conversation(conversation);
        self
    }

    /// Adds arguments for the client.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable to the client's environment.
    pub fn env(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts the client in another folder than the project. The caller provides the settings there.
    pub fn start_in(&mut self, folder: impl Into<PathBuf>) -> &mut Self {
        self.start = Some(folder.into());
        self
    }

    /// Sets the time limit of the run.
    pub fn limit(&mut self, limit: Duration) -> &mut Self {
        self.limit = limit;
        self
    }

    /// Makes the client join a process group instead of a new one. The group is killed with the client.
    pub fn group(&mut self, group: Pid) -> &mut Self {
        self.group = Some(group);
        self
    }

    /// Runs the client to its end and returns the record.
    pub fn run(self, client: &ClientBinary) -> Result<RunRecord, LiveError> {
        let hooks = self.write_files()?;
        let model = ScriptedModel::start(self.script.clone())?;
        let command = self.command(client, &model.url());
        let failed = |source| LiveError::Client { path: client.path().to_owned(), source };
        let mut process = ClientProcess::start(command, self.limit, self.group).map_err(failed)?;
        if let UserInput::Conversation(conversation) = &self.input {
            let all: Vec<&InstalledHook> = hooks.iter().chain(&self.recorded).collect();
            let stuck = conversation.perform(&mut process, &self.project(), &all);
            stuck.map_err(|error| error.into_live(client, self.limit, &process.stderr_so_far()))?;
        }
        let (ending, printed) = process.finish().map_err(failed)?;

        let mut calls = Vec::new();
        for hook in &hooks {
            let sent = hook.calls();
            let sent =
                sent.map_err(|source| LiveError::File { path: self.root.clone(), source })?;
            calls.extend(
                sent.into_iter().map(|stdin| RecordedHookCall { event: hook.event, stdin }),
            );
        }
        let debug_log = fs::read(self.debug_file()).unwrap_or_default();
        Ok(RunRecord {
            client: client.version(),
            ending,
            lines: RunRecord::parse_lines(&printed.stdout),
            stdout: printed.stdout,
            stderr: printed.stderr,
            debug_log: String::from_utf8_lossy(&debug_log).into_owned(),
            requests: model.requests(),
            calls,
            project: self.project(),
            folder: self.folder,
        })
    }

    /// Writes the files, hooks and settings.
    fn write_files(&self) -> Result<Vec<InstalledHook>, LiveError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            |source| LiveError::File { path, source }
        };
        let settings_folder = self.project().join(".claude");
        for folder in [&settings_folder, &self.home()] {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        for (path, text) in &self.files {
            let path = self.project().join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(at(parent))?;
            }
            write_file(&path, text).map_err(at(&path))?;
        }
        for path in &self.programs {
            let path = self.project().join(path);
            fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(at(&path))?;
        }
        let mut settings = self.settings.clone();
        let mut installed = Vec::new();
        for (number, hook) in self.hooks.iter().enumerate() {
            let folder = self.root.join("hooks").join(number.to_string());
            let (hook, entry) = InstalledHook::new(hook, folder.clone()).map_err(at(&folder))?;
            let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
            let entries = &mut hooks[hook.event.as_str()];
            match entries.as_array_mut() {
                Some(entries) => entries.push(entry),
                None => *entries = json!([entry]),
            }
            installed.push(hook);
        }
        let path = self.settings_file();
        write_file(&path, Value::Object(settings).to_string().as_bytes()).map_err(at(&path))?;
        Ok(installed)
    }

    /// Returns the file with the settings of the sandbox.
    fn settings_file(&self) -> PathBuf {
        if self.own_settings {
            self.project().join(".claude/settings.json")
        } else {
            self.root.join("settings.json")
        }
    }

    fn debug_file(&self) -> PathBuf {
        self.root.join("debug.txt")
    }

    fn command(&self, client: &ClientBinary, model: &str) -> Command {
        let mut command = Command::new(client.path());
        command.current_dir(self.start.clone().unwrap_or_else(|| self.project())).env_clear();
        command.envs([
            ("PATH", SANDBOX_PATH),
            // Otherwise tools run in the login shell of the user who runs the test.
            ("SHELL", "/bin/bash"),
            // The client demands this declaration when it runs as root.
            ("IS_SANDBOX", "1"),
            ("ANTHROPIC_API_KEY", "sk-ant-made-up"),
            ("ANTHROPIC_BASE_URL", model),
        ]);
        command.envs(OFFLINE_ENV);
        command.env("HOME", self.home());
        // By default the client keeps the output of tasks outside the sandbox.
        command.env("CLAUDE_CODE_TMPDIR", &self.root).env("TMPDIR", &self.root);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg("-p");
        match &self.input {
            UserInput::Prompt(prompt) => command.arg(prompt),
            UserInput::Conversation(_) => command.args(["--input-format", "stream-json"]),
        };
        command.args(["--output-format", "stream-json", "--verbose", "--include-hook-events"]);
        command.arg("--debug-file").arg(self.debug_file());
        if !self.own_settings {
            command.arg("--settings").arg(self.settings_file());
        }
        command.args(&self.args);
        command
    }
}

/// Writes a file. Not atomic: nothing reads it before the run.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create(path)?.write_all(bytes)
}
