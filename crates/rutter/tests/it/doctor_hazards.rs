//! `rutter doctor` with pipes in place of files, files of another user, and an interrupted run.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use rutter_testkit::{Ran, excuse};
use serde_json::{Value, json};

use crate::doctor::Setup;

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    assert!(Command::new("mkfifo").arg("-m600").arg(path).status().unwrap().success());
}

fn codes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// None of these pipes has a writer, so a read would block for ever.
#[test]
fn a_pipe_is_not_waited_for() {
    for (name, expected) in [
        ("ship/.claude/settings.local.json", &["settings-unreadable", "hooks-none"][..]),
        ("ship/.claude/settings.json", &["settings-unreadable"]),
        ("home/.claude/settings.json", &["settings-unreadable"]),
        ("home/.claude.json", &["client-state-unreadable"]),
        ("home/.claude/plugins/installed_plugins.json", &[]),
        ("ship/.mcp.json", &["servers-void"]),
        (".mcp.json", &["servers-void"]),
        ("ship/.git", &[]),
        ("ship/.rutter.toml", &["config-void"]),
        ("home/.local/share/rutter/tally", &["memory-unreadable"]),
        ("home/.local/share/rutter/paused", &["memory-unreadable"]),
        ("home/.local/share/rutter/log/rutter.log", &["memory-unreadable"]),
    ] {
        let setup = Setup::new();
        pipe(&setup.path(name));
        let report = setup.report();
        assert_eq!(codes(&report), expected, "{name}: {report:#}");
    }
    // In a parent directory, which the doctor searches if this one has no hooks.
    let setup = Setup::bare();
    pipe(&setup.path(".claude/settings.json"));
    assert_eq!(codes(&setup.report()), ["hooks-none"]);
    // In a plugin with a registered install path.
    let setup = Setup::new();
    pipe(&setup.path("plugins/mine/.claude-plugin/plugin.json"));
    pipe(&setup.path("plugins/mine/hooks/hooks.json"));
    pipe(&setup.path("plugins/mine/.mcp.json"));
    let installed =
        json!({ "plugins": { "mine@here": [{ "installPath": setup.text("plugins/mine") }] } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    setup.write("home/.claude/settings.json", "{\"enabledPlugins\":{\"mine@here\":true}}");
    assert_eq!(codes(&setup.report()), [] as [&str; 0]);
}

/// A setup with a temporary directory and a program that prints its version, or else writes its process id to a pipe
/// and hangs.
struct Hanging {
    setup: Setup,
}

impl Hanging {
    fn new(mut setup: Setup, name: &str, says: &str) -> Self {
        fs::create_dir(setup.path("tmp")).unwrap();
        setup.variables.push(("TMPDIR", setup.text("tmp")));
        pipe(&setup.path("number"));
        let number = setup.text("number");
        setup.program(
            name,
            &format!(
                "#!/bin/sh\n[ \"$1\" = --version ] && echo '{says}' && exit\necho $$ >'{number}'\nexec sleep 600\n"
            ),
        );
        Self { setup }
    }

    /// Interrupts a doctor while the program hangs, and asserts that all its processes end and its files are gone.
    fn interrupted(&self, args: &[&str], interrupt: impl Fn(&Child)) {
        let mut doctor = self.setup.command(args);
        doctor.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut doctor = doctor.spawn().unwrap();
        // Blocks until the program has started.
        let number = fs::read_to_string(self.setup.path("number")).unwrap();
        let program = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        assert_eq!(self.left().len(), 1, "there is a folder");
        interrupt(&doctor);
        assert!(!doctor.wait().unwrap().success());
        let mut said = String::new();
        // The process that deletes the directory shares this stderr and ends last.
        doctor.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
        assert_eq!(self.left(), [] as [PathBuf; 0]);
        let gone = test_kill_process(program).is_err();
        assert!(gone || is_zombie(number.trim()), "{number} lives on");
    }

    fn left(&self) -> Vec<PathBuf> {
        let left = fs::read_dir(self.setup.path("tmp")).unwrap();
        left.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Returns true if a process has ended and was not reaped yet. Reaping it is not the task of the doctor.
fn is_zombie(number: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

fn ctrl_c(doctor: &Child) {
    // A terminal sends SIGINT to the whole foreground process group.
    kill_process_group(Pid::from_child(doctor), Signal::INT).unwrap();
}

fn kill(doctor: &Child) {
    kill_process(Pid::from_child(doctor), Signal::KILL).unwrap();
}

#[test]
fn an_interrupted_doctor_leaves_neither_files_nor_hooks_behind() {
    let setup = Setup::new();
    setup.edit_entry("Stop", "command", setup.text("other/rutter"));
    let version = format!("rutter {}", env!("CARGO_PKG_VERSION"));
    let hanging = Hanging::new(setup, "other/rutter", &version);
    hanging.interrupted(&["doctor"], ctrl_c);
    hanging.interrupted(&["doctor"], kill);
}

#[test]
fn an_interrupted_doctor_leaves_no_server_behind() {
    let setup = Setup::new();
    let (ship, program) = (setup.text("ship"), setup.text("other/rutter"));
    setup
        .notes(|state| state["projects"][ship]["mcpServers"]["rutter"]["command"] = json!(program));
    let version = format!("rutter {}", env!("CARGO_PKG_VERSION"));
    let hanging = Hanging::new(setup, "other/rutter", &version);
    hanging.interrupted(&["doctor"], ctrl_c);
    hanging.interrupted(&["doctor"], kill);
}

#[test]
fn an_interrupted_doctor_leaves_no_client_behind() {
    let hanging = Hanging::new(Setup::new(), "bin/claude", "2.1.325 (Claude Code)");
    hanging.interrupted(&["doctor", "--live"], ctrl_c);
    hanging.interrupted(&["doctor", "--live"], kill);
}

/// A setup of an unprivileged user, in which some files belong to root.
struct Strange {
    setup: Setup,
}

const NOBODY: u32 = 65534;

impl Strange {
    /// Returns None if the test does not run as root.
    fn new() -> Option<Self> {
        let strange = Self { setup: Setup::new() };
        let mut rest = vec![strange.setup.path("")];
        // The program is a hard link to the binary under test, which other tests use too.
        let program = strange.setup.path("bin/rutter");
        while let Some(path) = rest.pop() {
            if path == program {
                continue;
            }
            if chown(&path, Some(NOBODY), Some(NOBODY)).is_err() {
                excuse("files of somebody else", "this is not root");
                return None;
            }
            if path.is_dir() {
                rest.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        Some(strange)
    }

    fn is_roots(&self, name: &str, mode: u32) {
        let path = self.setup.path(name);
        chown(&path, Some(0), Some(0)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn report(&self, args: &[&str]) -> Ran {
        let usual = self.setup.command(args);
        // Runs the linked program: that user may not have access to the build directory.
        let mut command = Command::new(self.setup.path("bin/rutter"));
        command.args(args).env_clear().current_dir(self.setup.path("ship")).stdin(Stdio::null());
        command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(command.uid(NOBODY).gid(NOBODY))
    }

    /// Returns code and advice of every finding.
    fn found(&self) -> Vec<(String, String)> {
        let ran = self.report(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        let text = |value: &Value| {
            value.as_str().unwrap().replace(self.setup.text("").trim_end_matches('/'), "[HOME]")
        };
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| (text(&finding["code"]), text(&finding["advice"]))).collect()
    }
}

#[test]
fn what_is_somebody_elses_is_to_be_handed_over() {
    let pair = |code: &str, advice: &str| vec![(code.to_owned(), advice.to_owned())];
    let Some(strange) = Strange::new() else { return };
    assert_eq!(strange.found(), []);
    strange.is_roots("home/.local/share/rutter/rutter.db", 0o600);
    let advice = "sudo chown -R \"$USER\" [HOME]/home/.local/share/rutter";
    assert_eq!(strange.found(), pair("memory-unreadable", advice));
    strange.is_roots("home/.local/share/rutter", 0o700);
    assert_eq!(strange.found(), pair("memory-unreadable", advice));
    let text = strange.report(&["doctor"]).stdout;
    assert!(text.contains("database  unknown, for the folder cannot be read\n"), "{text}");
    assert!(!text.contains("none yet") && !text.contains("waiting"), "{text}");
    // The doctor cannot list this directory.
    strange.is_roots("home/.local/share", 0o700);
    let above = "sudo chown -R \"$USER\" [HOME]/home/.local/share";
    assert_eq!(strange.found(), pair("memory-unreadable", above));

    let Some(strange) = Strange::new() else { return };
    strange.is_roots("home/.local/share/rutter", 0o755);
    let unwritable = pair("memory-unwritable", advice);
    assert!(strange.found().contains(&unwritable[0]), "{:?}", strange.found());

    let Some(strange) = Strange::new() else { return };
    strange.setup.write("ship/.claude/settings.json", "{}");
    strange.is_roots("ship/.claude/settings.json", 0o600);
    let advice = "sudo chown \"$USER\" [HOME]/ship/.claude/settings.json";
    assert_eq!(strange.found(), pair("settings-unreadable", advice));
}

#[test]
fn a_program_of_somebody_else_is_replaced_by_ones_own() {
    let setup = Setup::new();
    let Ok(()) = chown(setup.path("bin/claude"), Some(NOBODY), None) else {
        return excuse("a program of somebody else", "this is not root");
    };
    // A copy: chown on a hard link would change the owner of the binary under test.
    fs::create_dir(setup.path("other")).unwrap();
    fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    setup.runs("other/rutter");
    chown(setup.path("other/rutter"), Some(NOBODY), None).unwrap();
    let found = |setup: &Setup| {
        let report = setup.report();
        assert_eq!(codes(&report), ["program-writable"], "{report:#}");
        let text = |key: &str| report["findings"][0][key].as_str().unwrap().to_owned();
        (text("advice"), text("what"))
    };
    let (advice, what) = found(&setup);
    assert_eq!(advice, "rutter init --bin PATH");
    assert!(what.contains("/other/rutter is somebody else's"), "{what}");
    // In an open directory of another user, `chmod` does not last.
    chown(setup.path("other/rutter"), Some(0), None).unwrap();
    chown(setup.path("other"), Some(NOBODY), None).unwrap();
    fs::set_permissions(setup.path("other"), fs::Permissions::from_mode(0o777)).unwrap();
    let (advice, what) = found(&setup);
    assert_eq!(advice, "rutter init --bin PATH");
    assert!(what.contains("it is not yours to close"), "{what}");
}
