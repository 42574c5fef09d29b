//! Sessions of the real client in a temporary project, with the hooks that `rutter init` registers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rutter_check::live::{ClientBinary, ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_testkit::{CommandOutput, MIN_DEADLINE_VARIABLE, report_skip, skip_test};
use serde_json::{Value, json};

use crate::support::rutter_command;

/// Returns the client named by an environment variable. Otherwise prints why the test is skipped and returns None.
pub(crate) fn client_from_env(variable: &str) -> Option<ClientBinary> {
    const SUITE: &str = "the live suite";
    if let Some(path) = std::env::var_os(variable) {
        return Some(ClientBinary::open(path).unwrap());
    }
    match std::env::var("RUTTER_NO_CLIENT") {
        Ok(why) => report_skip(SUITE, &why),
        Err(_) => skip_test(SUITE, &format!("{variable} is not set; scripts/test sets it")),
    }
    None
}

/// Finds the directory of a program on PATH.
fn program_dir(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join(program).is_file())
}

/// Builds the PATH of the client's shell: rutter, Python with pytest, Cargo without the rustup proxy, Node.
fn shell_path() -> String {
    let mut folders = Vec::new();
    // Agents call `rutter` by its bare name.
    folders.extend(Path::new(env!("CARGO_BIN_EXE_rutter")).parent().map(Path::to_owned));
    if let Some(python) = std::env::var_os("RUTTER_TEST_PYTHON") {
        folders.extend(Path::new(&python).parent().map(Path::to_owned));
    }
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    folders.push(Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).join("bin"));
    folders.extend(program_dir("node"));
    folders.extend(["/usr/bin".into(), "/bin".into()]);
    std::env::join_paths(folders).unwrap().into_string().unwrap()
}

/// A user's project and home directory that last for several sessions of the client.
pub(crate) struct LiveProject {
    client: ClientBinary,
    sandbox: Option<Sandbox>,
    /// The working directory of the client.
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    /// The data directory, if it is outside of the home directory.
    pub(crate) memory: Option<PathBuf>,
    /// The value of `offer_ghap`: true if a hook offers to start a GHAP after an unknown failure.
    pub(crate) offers: bool,
}

impl LiveProject {
    /// Creates a project with these files. Returns None if the client is missing; [`client`] prints the reason.
    pub(crate) fn new(files: &[(&str, &str)]) -> Option<Self> {
        let client = client_from_env("RUTTER_TEST_CLIENT")?;
        let sandbox = Sandbox::new().unwrap();
        let (project, home) = (sandbox.project(), sandbox.home());
        fs::create_dir_all(&home).unwrap();
        let sandbox = Some(sandbox);
        let life = Self { client, sandbox, project, home, memory: None, offers: false };
        for (path, text) in files {
            life.write(path, text);
        }
        Some(life)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the binary in the project, with the home and data directory of this user.
    pub(crate) fn rutter(&self, args: &[&str]) -> CommandOutput {
        let mut rutter = rutter_command(args);
        rutter.env("HOME", &self.home).env("PATH", "/usr/bin:/bin").current_dir(&self.project);
        if let Some(memory) = &self.memory {
            rutter.env("RUTTER_HOME", memory);
        }
        CommandOutput::run(rutter.stdin(Stdio::null()))
    }

    pub(crate) fn init(&self) {
        self.configure("");
        drop(
            self.rutter(&["init", "--local", "--bin", env!("CARGO_BIN_EXE_rutter")])
                .assert_success(),
        );
    }

    /// Writes the user's configuration: the setting for offers, followed by `more`.
    pub(crate) fn configure(&self, more: &str) {
        let path = match &self.memory {
            Some(memory) => memory.join("config.toml"),
            None => self.home.join(".config/rutter/config.toml"),
        };
        // Off in most tests, because they check the other messages that follow a failure.
        let text = format!("[hooks.outcome_capture]\noffer_ghap = {}\n", self.offers);
        // A read-only data directory gets no configuration.
        if fs::create_dir_all(path.parent().unwrap()).is_ok() {
            fs::write(path, text + more).unwrap();
        }
    }

    /// The data directory.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.memory.clone().unwrap_or_else(|| self.home.join(".local/share/rutter"))
    }

    /// Runs one session: starts the client in the project and lets the scripted model make these calls.
    pub(crate) fn session(&mut self, turns: impl IntoIterator<Item = ModelTurn>) -> RunRecord {
        self.session_with(ModelScript::new(turns), |_| {})
    }

    /// Runs one session after `more` has changed its sandbox.
    pub(crate) fn session_with(
        &mut self,
        script: ModelScript,
        more: impl FnOnce(&mut Sandbox),
    ) -> RunRecord {
        let mut sandbox = self.sandbox.take().expect("the last session has ended");
        self.prepare(&mut sandbox, script);
        more(&mut sandbox);
        let record = sandbox.run(&self.client).unwrap();
        let complaint = "Invalid setting";
        assert!(!record.debug_log.contains(complaint), "{}", record.debug_log);
        self.sandbox = Some(record.next_session());
        record
    }

    /// Runs two sessions at the same time.
    pub(crate) fn sessions(&mut self, scripts: [ModelScript; 2]) -> [RunRecord; 2] {
        let first = self.session([]);
        let (client, life) = (&self.client, &*self);
        std::thread::scope(|scope| {
            let running = scripts.map(|script| {
                let mut sandbox = first.next_session();
                life.prepare(&mut sandbox, script);
                scope.spawn(move || sandbox.run(client).unwrap())
            });
            running.map(|session| session.join().unwrap())
        })
    }

    fn prepare(&self, sandbox: &mut Sandbox, script: ModelScript) {
        sandbox.script(script);
        sandbox.args(["--allowedTools", "Bash,Read,Edit,Write,NotebookEdit,Agent"]);
        sandbox.start_in(&self.project).env("PATH", shell_path());
        // Without this, Python may load stale bytecode instead of an edited file.
        sandbox.env("PYTHONDONTWRITEBYTECODE", "1");
        // The client passes its environment on to the hooks.
        let (name, value) = MIN_DEADLINE_VARIABLE;
        sandbox.env(name, value);
        sandbox.env("CARGO_TARGET_DIR", self.home.join("target").display().to_string());
        if let Some(memory) = &self.memory {
            sandbox.env("RUTTER_HOME", memory.display().to_string());
        }
    }

    /// Returns test name and state of every recorded failure, in the order of `episodes list`.
    pub(crate) fn episodes(&self) -> Vec<(String, String)> {
        let list = self.rutter(&["episodes", "list", "--all", "--json"]).assert_success().stdout;
        let list: Value = serde_json::from_str(&list).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        list.as_array()
            .unwrap()
            .iter()
            .map(|episode| (text(&episode["test"]), text(&episode["state"])))
            .collect()
    }
}

impl Drop for LiveProject {
    /// Waits for the background housekeeping of the last session, which must not run in a deleted directory.
    fn drop(&mut self) {
        for _ in 0..100 {
            let tended = self.rutter(&["maintain"]);
            if !tended.stderr.contains("another process is already maintaining the memory") {
                return;
            }
        }
    }
}

pub(crate) fn bash_turn(line: &str) -> ModelTurn {
    ModelTurn::call("Bash", json!({ "command": line, "description": "a step" }))
}

/// The tool calls by which an agent changes a file. The client requires a Read before the Edit.
pub(crate) fn edit_turns(file: &Path, old: &str, new: &str) -> [ModelTurn; 2] {
    [
        ModelTurn::call("Read", json!({ "file_path": file })),
        ModelTurn::call("Edit", json!({ "file_path": file, "old_string": old, "new_string": new })),
    ]
}

/// Returns every text that a hook gave to the model, except those of SessionStart.
pub(crate) fn hook_texts(record: &RunRecord) -> Vec<String> {
    let mut all = hook_texts_of_event(record, "");
    all.retain(|text| !text.starts_with("SessionStart"));
    all
}

/// Returns the texts that the hooks of an event gave to the model, each once, in the client's wording.
pub(crate) fn hook_texts_of_event(record: &RunRecord, event: &str) -> Vec<String> {
    const MARK: &str = " hook additional context: ";
    let mut said: Vec<String> = Vec::new();
    for told in record.texts_to_model() {
        // The client may join the texts of several hooks.
        let starts: Vec<usize> = told
            .text
            .match_indices(MARK)
            .map(|(at, _)| told.text[..at].rfind(['\n', '>', ' ']).map_or(0, |before| before + 1))
            .collect();
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(told.text.len());
            let text = told.text[*start..end].to_owned();
            if text.starts_with(event) && !said.contains(&text) {
                said.push(text);
            }
        }
    }
    said
}
