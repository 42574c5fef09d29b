//! Sessions of the real client in a project of its own, with the hooks that `rutter init` registers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rutter_check::live::{Client, Record, Sandbox, Script, Turn};
use rutter_testkit::{Ran, excuse, skip};
use serde_json::{Value, json};

use crate::support::command;

/// The client that a variable names, or `None` after a word about the skip.
pub(crate) fn client(variable: &str) -> Option<Client> {
    const SUITE: &str = "the live suite";
    if let Some(path) = std::env::var_os(variable) {
        return Some(Client::at(path).unwrap());
    }
    match std::env::var("RUTTER_NO_CLIENT") {
        Ok(why) => excuse(SUITE, &why),
        Err(_) => skip(SUITE, &format!("{variable} is not set; scripts/test sets it")),
    }
    None
}

/// A program of the machine, by the folder it is in.
fn folder_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join(program).is_file())
}

/// Where the client's shell finds what the stories run: Python with pytest, Cargo without its proxy, Node.
fn path() -> String {
    let mut folders = Vec::new();
    if let Some(python) = std::env::var_os("RUTTER_TEST_PYTHON") {
        folders.extend(Path::new(&python).parent().map(Path::to_owned));
    }
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    folders.push(Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).join("bin"));
    folders.extend(folder_of("node"));
    folders.extend(["/usr/bin".into(), "/bin".into()]);
    std::env::join_paths(folders).unwrap().into_string().unwrap()
}

/// A user's project and home, over several sessions of a client.
pub(crate) struct Life {
    client: Client,
    sandbox: Option<Sandbox>,
    /// The folder the client is started in.
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    /// Where the memory is, if not in the home.
    pub(crate) memory: Option<PathBuf>,
}

impl Life {
    /// A project with these files; `None` after a word about why there is no client.
    pub(crate) fn new(files: &[(&str, &str)]) -> Option<Self> {
        let client = client("RUTTER_TEST_CLIENT")?;
        let sandbox = Sandbox::new().unwrap();
        let (project, home) = (sandbox.project(), sandbox.home());
        fs::create_dir_all(&home).unwrap();
        let life = Self { client, sandbox: Some(sandbox), project, home, memory: None };
        for (path, text) in files {
            life.put(path, text);
        }
        Some(life)
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The binary, in the project, for this user.
    pub(crate) fn rutter(&self, args: &[&str]) -> Ran {
        let mut rutter = command(args);
        rutter.env("HOME", &self.home).env("PATH", "/usr/bin:/bin").current_dir(&self.project);
        if let Some(memory) = &self.memory {
            rutter.env("RUTTER_HOME", memory);
        }
        Ran::of(rutter.stdin(Stdio::null()))
    }

    pub(crate) fn init(&self) {
        drop(self.rutter(&["init", "--local", "--bin", env!("CARGO_BIN_EXE_rutter")]).success());
    }

    /// Where the memory is.
    pub(crate) fn data(&self) -> PathBuf {
        self.memory.clone().unwrap_or_else(|| self.home.join(".local/share/rutter"))
    }

    /// One session: the client is started in the project, and the model makes these calls.
    pub(crate) fn session(&mut self, turns: impl IntoIterator<Item = Turn>) -> Record {
        let mut sandbox = self.sandbox.take().expect("the last session has ended");
        sandbox.script(Script::new(turns));
        sandbox.args(["--allowedTools", "Bash,Read,Edit,Write,NotebookEdit"]);
        sandbox.start_in(&self.project).env("PATH", path());
        // So that Python leaves nothing behind by which it would take an old file for a new one.
        sandbox.env("PYTHONDONTWRITEBYTECODE", "1");
        sandbox.env("CARGO_TARGET_DIR", self.home.join("target").display().to_string());
        if let Some(memory) = &self.memory {
            sandbox.env("RUTTER_HOME", memory.display().to_string());
        }
        let record = sandbox.run(&self.client).unwrap();
        let complaint = "Invalid setting";
        assert!(!record.debug_log.contains(complaint), "{}", record.debug_log);
        self.sandbox = Some(record.again());
        record
    }

    /// Failures that are followed: their state, in the order they were last seen.
    pub(crate) fn episodes(&self) -> Vec<(String, String)> {
        let list = self.rutter(&["episodes", "list", "--all", "--json"]).success().stdout;
        let list: Value = serde_json::from_str(&list).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        list.as_array()
            .unwrap()
            .iter()
            .map(|episode| (text(&episode["test"]), text(&episode["state"])))
            .collect()
    }
}

impl Drop for Life {
    /// The last session may have left housekeeping behind, which must not work in a folder that goes away.
    fn drop(&mut self) {
        for _ in 0..100 {
            let tended = self.rutter(&["tend"]);
            if !tended.stderr.contains("another process is at it") {
                return;
            }
        }
    }
}

pub(crate) fn bash(line: &str) -> Turn {
    Turn::call("Bash", json!({ "command": line, "description": "a step" }))
}

/// The calls by which an agent changes a file: the client wants it read before.
pub(crate) fn edit(file: &Path, old: &str, new: &str) -> [Turn; 2] {
    [
        Turn::call("Read", json!({ "file_path": file })),
        Turn::call("Edit", json!({ "file_path": file, "old_string": old, "new_string": new })),
    ]
}

/// What was said to the model by a hook, in any of its requests; empty is nothing.
pub(crate) fn told(record: &Record) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for text in record.texts_to_model() {
        if let Some(at) = text.text.find("hook additional context: ")
            && !told.contains(&text.text[at..].to_owned())
        {
            told.push(text.text[at..].to_owned());
        }
    }
    told
}
