//! `rutter doctor` with pipes in place of files, files of another user, and an interrupted run.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use rutter_testkit::{CommandOutput, report_skip};
use serde_json::{Value, json};

use crate::doctor::DoctorSetup;

fn create_pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    assert!(Command::new("mkfifo").arg("-m600").arg(path).status().unwrap().success());
}

fn finding_codes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// None of these pipes has a writer, so a read would block for ever.
#[test]
fn pipes_do_not_block_doctor() {
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
        let setup = DoctorSetup::new();
        create_pipe(&setup.path(name));
        let report = setup.report();
        assert_eq!(finding_codes(&report), expected, "{name}: {report:#}");
    }
    // In a parent directory, which the doctor searches if this one has no hooks.
    let setup = DoctorSetup::without_init();
    create_pipe(&setup.path(".claude/settings.json"));
    assert_eq!(finding_codes(&setup.report()), ["hooks-none"]);
    // In a plugin with a registered install path.
    let setup = DoctorSetup::new();
    create_pipe(&setup.path("plugins/mine/.claude-plugin/plugin.json"));
    create_pipe(&setup.path("plugins/mine/hooks/hooks.json"));
    create_pipe(&setup.path("plugins/mine/.mcp.json"));
    let installed =
        json!({ "plugins": { "mine@here": [{ "installPath": setup.text("plugins/mine") }] } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    setup.write("home/.claude/settings.json", "{\"enabledPlugins\":{\"mine@here\":true}}");
    assert_eq!(finding_codes(&setup.report()), [] as [&str; 0]);
}

/// A setup with a temporary directory and a program that prints its version, or else writes its process id to a pipe
/// and hangs.
struct HangingProgram {
    setup: DoctorSetup,
}

impl HangingProgram {
    fn new(mut setup: DoctorSetup, name: &str, says: &str) -> Self {
        fs::create_dir(setup.path("tmp")).unwrap();
        setup.variables.push(("TMPDIR", setup.text("tmp")));
        create_pipe(&setup.path("number"));
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
    fn assert_clean_interrupt(&self, args: &[&str], interrupt: impl Fn(&Child)) {
        let mut doctor = self.setup.command(args);
        doctor.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut doctor = doctor.spawn().unwrap();
        // Blocks until the program has started.
        let number = fs::read_to_string(self.setup.path("number")).unwrap();
        let program = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        assert_eq!(self.temp_files().len(), 1, "there is a folder");
        interrupt(&doctor);
        assert!(!doctor.wait().unwrap().success());
        let mut said = String::new();
        // The process that deletes the directory shares this stderr and ends last.
        doctor.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
        assert_eq!(self.temp_files(), [] as [PathBuf; 0]);
        let gone = test_kill_process(program).is_err();
        assert!(gone || is_zombie(number.trim()), "{number} lives on");
    }

    fn temp_files(&self) -> Vec<PathBuf> {
        let left = fs::read_dir(self.setup.path("tmp")).unwrap();
        left.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Returns true if a process has ended and was not reaped yet. Reaping it is not the task of the doctor.
fn is_zombie(number: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

fn interrupt_doctor(doctor: &Child) {
    // A terminal sends SIGINT to the whole foreground process group.
    kill_process_group(Pid::from_child(doctor), Signal::INT).unwrap();
}

fn kill_doctor(doctor: &Child) {
    kill_process(Pid::from_child(doctor), Signal::KILL).unwrap();
}

#[test]
fn interrupted_doctor_ends_hooks() {
    let setup = DoctorSetup::new();
    setup.edit_entry("Stop", "command", setup.text("other/rutter"));
    let version = format!("rutter {}", env!("CARGO_PKG_VERSION"));
    let hanging = HangingProgram::new(setup, "other/rutter", &version);
    hanging.assert_clean_interrupt(&["doctor"], interrupt_doctor);
    hanging.assert_clean_interrupt(&["doctor"], kill_doctor);
}

#[test]
fn interrupted_doctor_ends_server() {
    let setup = DoctorSetup::new();
    let (ship, program) = (setup.text("ship"), setup.text("other/rutter"));
    setup.edit_client_state(|state| {
        state["projects"][ship]["mcpServers"]["rutter"]["command"] = json!(program);
    });
    let version = format!("rutter {}", env!("CARGO_PKG_VERSION"));
    let hanging = HangingProgram::new(setup, "other/rutter", &version);
    hanging.assert_clean_interrupt(&["doctor"], interrupt_doctor);
    hanging.assert_clean_interrupt(&["doctor"], kill_doctor);
}

#[test]
fn interrupted_doctor_ends_client() {
    let hanging = HangingProgram::new(DoctorSetup::new(), "bin/claude", "2.1.325 (Claude Code)");
    hanging.assert_clean_interrupt(&["doctor", "--live"], interrupt_doctor);
    hanging.assert_clean_interrupt(&["doctor", "--live"], kill_doctor);
}

/// A setup of an unprivileged user, in which some files belong to root.
struct UnprivilegedSetup {
    setup: DoctorSetup,
}

const NOBODY_USER_ID: u32 = 65534;

impl UnprivilegedSetup {
    /// Returns None if the test does not run as root.
    fn new() -> Option<Self> {
        let strange = Self { setup: DoctorSetup::new() };
        let mut rest = vec![strange.setup.path("")];
        // The program is a hard link to the binary under test, which other tests use too.
        let program = strange.setup.path("bin/rutter");
        while let Some(path) = rest.pop() {
            if path == program {
                continue;
            }
            if chown(&path, Some(NOBODY_USER_ID), Some(NOBODY_USER_ID)).is_err() {
                report_skip("files of somebody else", "this is not root");
                return None;
            }
            if path.is_dir() {
                rest.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        Some(strange)
    }

    fn give_to_root(&self, name: &str, mode: u32) {
        let path = self.setup.path(name);
        chown(&path, Some(0), Some(0)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        let usual = self.setup.command(args);
        // Runs the linked program: that user may not have access to the build directory.
        let mut command = Command::new(self.setup.path("bin/rutter"));
        command.args(args).env_clear().current_dir(self.setup.path("ship")).stdin(Stdio::null());
        command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
        CommandOutput::run(command.uid(NOBODY_USER_ID).gid(NOBODY_USER_ID))
    }

    /// Returns code and advice of every finding.
    fn findings(&self) -> Vec<(String, String)> {
        let ran = self.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        let text = |value: &Value| {
            value.as_str().unwrap().replace(self.setup.text("").trim_end_matches('/'), "[HOME]")
        };
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| (text(&finding["code"]), text(&finding["advice"]))).collect()
    }
}

#[test]
fn foreign_files_get_chown_advice() {
    let pair = |code: &str, advice: &str| vec![(code.to_owned(), advice.to_owned())];
    let Some(strange) = UnprivilegedSetup::new() else { return };
    assert_eq!(strange.findings(), []);
    strange.give_to_root("home/.local/share/rutter/rutter.db", 0o600);
    let advice = "sudo chown -R \"$USER\" [HOME]/home/.local/share/rutter";
    assert_eq!(strange.findings(), pair("memory-unreadable", advice));
    strange.give_to_root("home/.local/share/rutter", 0o700);
    assert_eq!(strange.findings(), pair("memory-unreadable", advice));
    let text = strange.run(&["doctor"]).stdout;
    assert!(text.contains("database  unknown, because the folder cannot be read\n"), "{text}");
    assert!(!text.contains("none yet") && !text.contains("waiting"), "{text}");
    // The doctor cannot list this directory.
    strange.give_to_root("home/.local/share", 0o700);
    let above = "sudo chown -R \"$USER\" [HOME]/home/.local/share";
    assert_eq!(strange.findings(), pair("memory-unreadable", above));

    let Some(strange) = UnprivilegedSetup::new() else { return };
    strange.give_to_root("home/.local/share/rutter", 0o755);
    let unwritable = pair("memory-unwritable", advice);
    assert!(strange.findings().contains(&unwritable[0]), "{:?}", strange.findings());

    let Some(strange) = UnprivilegedSetup::new() else { return };
    strange.setup.write("ship/.claude/settings.json", "{}");
    strange.give_to_root("ship/.claude/settings.json", 0o600);
    let advice = "sudo chown \"$USER\" [HOME]/ship/.claude/settings.json";
    assert_eq!(strange.findings(), pair("settings-unreadable", advice));
}

#[test]
fn foreign_program_gets_init_advice() {
    let setup = DoctorSetup::new();
    let Ok(()) = chown(setup.path("bin/claude"), Some(NOBODY_USER_ID), None) else {
        return report_skip("a program of somebody else", "this is not root");
    };
    // A copy: chown on a hard link would change the owner of the binary under test.
    fs::create_dir(setup.path("other")).unwrap();
    fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    setup.replace_program("other/rutter");
    chown(setup.path("other/rutter"), Some(NOBODY_USER_ID), None).unwrap();
    let found = |setup: &DoctorSetup| {
        let report = setup.report();
        assert_eq!(finding_codes(&report), ["program-writable"], "{report:#}");
        let text = |key: &str| report["findings"][0][key].as_str().unwrap().to_owned();
        (text("advice"), text("what"))
    };
    let (advice, what) = found(&setup);
    assert_eq!(advice, "rutter init --bin PATH");
    assert!(what.contains("/other/rutter belongs to another user"), "{what}");
    // In an open directory of another user, `chmod` does not last.
    chown(setup.path("other/rutter"), Some(0), None).unwrap();
    chown(setup.path("other"), Some(NOBODY_USER_ID), None).unwrap();
    fs::set_permissions(setup.path("other"), fs::Permissions::from_mode(0o777)).unwrap();
    let (advice, what) = found(&setup);
    assert_eq!(advice, "rutter init --bin PATH");
    assert!(what.contains("it is not yours to close"), "{what}");
}
