//! Helpers that run the binary.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rutter_testkit::world::TestWorld;
use rutter_testkit::{CommandOutput, HOOK_SECTIONS, MIN_DEADLINE_VARIABLE};

/// Builds a command for the binary in an environment without any user settings.
pub(crate) fn rutter_command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command
        .args(args)
        .env_clear()
        // Hooks of a busy machine must not stay silent.
        .envs([MIN_DEADLINE_VARIABLE])
        .env("HOME", "/nonexistent")
        .env("COLUMNS", "100");
    command
}

/// Runs the binary with these bytes on stdin. The binary may exit without reading them.
pub(crate) fn run_rutter_with_stdin(args: &[&str], stdin: &[u8]) -> CommandOutput {
    let mut child = rutter_command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("piped");
    let bytes = stdin.to_vec();
    // Written by a separate thread: a binary that writes before it reads would deadlock with the test.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    output.into()
}

/// Runs the binary to completion.
pub(crate) fn run_rutter(args: &[&str]) -> CommandOutput {
    CommandOutput::run(&mut rutter_command(args))
}

/// Returns a configuration of every hook with these `(hook, line)` settings.
pub(crate) fn hook_config(settings: &[(&str, &str)]) -> String {
    let section = |hook: &&str| {
        let own = settings.iter().filter(|(of, _)| of == hook);
        let mut own: Vec<&str> = own.map(|(_, line)| *line).collect();
        // Off in most tests, because they check the other messages that follow a failure.
        if *hook == "outcome_capture" && !own.iter().any(|line| line.starts_with("offer_ghap")) {
            own.push("offer_ghap = false");
        }
        format!("[hooks.{hook}]\n{}\n", own.join("\n"))
    };
    HOOK_SECTIONS.iter().map(section).collect()
}

/// A temporary data directory, project and home directory.
pub(crate) struct TestHome {
    pub(crate) world: TestWorld,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let world = TestWorld::new();
        for name in ["ship", "user"] {
            world.project(name);
        }
        Self { world }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.world.memory()
    }

    /// Writes a configuration of every hook with these `(hook, line)` settings.
    pub(crate) fn write_config(&self, settings: &[(&str, &str)]) {
        std::fs::create_dir_all(self.memory()).expect("a folder");
        let text = hook_config(settings);
        std::fs::write(self.memory().join("config.toml"), text).expect("a configuration");
    }

    /// Builds a command for the binary in the project, with this data directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = rutter_command(args);
        command
            .env("RUTTER_HOME", self.memory())
            .env("HOME", self.path("user"))
            .current_dir(self.path("ship"))
            .env("PATH", "/usr/bin:/bin");
        command
    }

    pub(crate) fn rutter(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::run(self.command(args).stdin(Stdio::null()))
    }

    /// Runs the binary, asserts success and drops the output.
    pub(crate) fn ok(&self, args: &[&str]) {
        drop(self.rutter(args).assert_success());
    }

    /// Returns the `--json` output of a command.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        serde_json::from_str(&self.rutter(&args).assert_success().stdout).expect("JSON")
    }

    /// Returns the doctor's finding codes about data directory and configuration. The other findings only say that
    /// rutter is not installed here.
    pub(crate) fn doctor_codes(&self) -> Vec<String> {
        let report = self.rutter(&["doctor", "--json"]).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).expect("a report");
        let codes = report["findings"].as_array().expect("findings").iter();
        let codes = codes.map(|finding| finding["code"].as_str().expect("a code").to_owned());
        codes
            .filter(|code| {
                ["memory-", "spool-", "disk-", "log-", "config-"]
                    .iter()
                    .any(|kind| code.starts_with(kind))
            })
            .collect()
    }

    /// Creates a program for the hooks to run. Tests of `init` pass it as `--bin`, because `init` refuses by default a
    /// binary in a build directory, like the one under test.
    pub(crate) fn program(&self, folder: &str) -> String {
        let path = self.path(folder).join("rutter");
        std::fs::create_dir_all(self.path(folder)).expect("a folder");
        std::fs::write(&path, "#!/bin/sh\n").expect("a program");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a program");
        path.to_str().expect("a temporary folder has a plain name").to_owned()
    }

    /// Runs `rutter init` with such a program.
    pub(crate) fn init(&self, args: &[&str]) -> CommandOutput {
        let program = self.program("bin");
        self.rutter(&[&["init", "--bin", &program], args].concat())
    }

    /// The settings file that `init` writes by default.
    pub(crate) fn settings(&self) -> PathBuf {
        self.path("ship/.claude/settings.local.json")
    }

    /// Writes the settings file.
    pub(crate) fn write_settings(&self, text: impl AsRef<[u8]>) -> &Self {
        std::fs::create_dir_all(self.path("ship/.claude")).expect("a folder");
        std::fs::write(self.settings(), text).expect("settings");
        self
    }

    /// Starts a GHAP with a prediction that a test run can decide.
    pub(crate) fn start_ghap(&self) -> serde_json::Value {
        self.json(GHAP_START_ARGS)
    }
}

pub(crate) const GHAP_START_ARGS: &[&str] = &[
    "ghap",
    "start",
    "--domain",
    "debugging",
    "--strategy",
    "read-the-error",
    "--goal",
    "CRLF files parse",
    "--hypothesis",
    "lines are split at LF alone",
    "--action",
    "use lines()",
    "--prediction",
    "`cargo test parser` passes",
];

/// Opens a pseudoterminal: the first end is for the test, the second one for the binary.
pub(crate) fn open_terminal() -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal");
    unlockpt(&ours).expect("a terminal");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
    (File::from(ours), theirs.expect("its other end"))
}

/// Runs a command on a terminal and types these lines. Returns stdout, terminal output and exit code.
pub(crate) fn run_on_terminal(mut command: Command, lines: &str) -> (String, String, Option<i32>) {
    let (mut terminal, theirs) = open_terminal();
    let child = command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The command holds the other end open, and reading would never end.
    drop(command);
    terminal.write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let mut shown = Vec::new();
    // On Linux, reading from a terminal after the other end is closed returns an error instead of end of file.
    drop(terminal.read_to_end(&mut shown));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace('\r', "");
    (text(output.stdout), text(shown), output.status.code())
}

/// Compares output with a snapshot after ids, times and the temporary directory are replaced.
macro_rules! assert_output {
    ($home:expr, $ran:expr, @$expected:literal) => {
        insta::with_settings!({filters => vec![
            ($home.path("").to_str().unwrap().trim_end_matches('/'), "[HOME]"),
            (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z", "[TIME]"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[UUID]"),
            (r"\b[0-9a-f]{8}\b", "[ID]    "),
        ]}, { insta::assert_snapshot!($ran, @$expected) })
    };
}
pub(crate) use assert_output;

/// Returns the bytes of all files below a directory. If a file disappears meanwhile, a background process is still
/// running, and all files are read again.
pub(crate) fn read_all_bytes(folder: &Path) -> Vec<u8> {
    fn collect_bytes(folder: &Path, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                collect_bytes(&path, bytes)?;
            } else {
                bytes.extend(std::fs::read(&path)?);
            }
        }
        Ok(())
    }
    loop {
        let mut bytes = Vec::new();
        match collect_bytes(folder, &mut bytes) {
            Ok(()) => return bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && folder.exists() => {}
            Err(error) => panic!("{}: {error}", folder.display()),
        }
    }
}

/// Returns every directory and file below a directory, files with their content.
pub(crate) fn read_tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(read_tree(&path));
            found.insert(path, Vec::new());
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

pub(crate) fn contains_text(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Starts a process that locks the database until its stdin is closed: against writers (`NORMAL`), or against readers
/// too (`EXCLUSIVE`).
pub(crate) fn lock_database(database: &Path, mode: &str) -> Child {
    let program = "import sqlite3, sys\n\
        db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
        db.execute('PRAGMA locking_mode = ' + sys.argv[2])\n\
        db.execute('BEGIN EXCLUSIVE')\nprint('locked', flush=True)\nsys.stdin.read()\n";
    let mut child = Command::new("python3")
        .args(["-c", program])
        .arg(database)
        .arg(mode)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    child
}
