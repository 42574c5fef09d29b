//! `rutter doctor` on a healthy setup: its report, and that it changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rutter::doctor::codes;
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::support::{hook_config, read_tree, rutter_command};

/// A user with a client, a project and rutter installed in it, all in one temporary directory.
pub(crate) struct DoctorSetup {
    folder: tempfile::TempDir,
    /// Additional environment variables.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl DoctorSetup {
    /// Creates a setup without any fault.
    pub(crate) fn new() -> Self {
        let setup = Self::without_init();
        setup.ok(&["init", "--bin", setup.text("bin/rutter").as_str()]);
        setup
    }

    /// Creates a setup in which `rutter init` has not run.
    pub(crate) fn without_init() -> Self {
        let folder = tempfile::Builder::new().prefix("rutter-setup.").tempdir().unwrap();
        let setup = Self { folder, variables: Vec::new() };
        for name in ["bin", "ship", "home/.config/rutter"] {
            fs::create_dir_all(setup.path(name)).unwrap();
        }
        // A copy outside of the build directory: the doctor reports hooks that run a build of cargo.
        let built = env!("CARGO_BIN_EXE_rutter");
        if fs::hard_link(built, setup.path("bin/rutter")).is_err() {
            fs::copy(built, setup.path("bin/rutter")).unwrap();
        }
        setup.install_client("2.1.325 (Claude Code)");
        setup.trust_dir(&setup.path("ship"));
        setup.write("home/.config/rutter/config.toml", &hook_config(&[]));
        setup.ok(&["maintain"]);
        setup
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.path("home/.local/share/rutter")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file in the data directory that only its owner can read.
    pub(crate) fn write_data_file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.memory().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    pub(crate) fn program(&self, name: &str, script: &str) {
        self.write(name, script);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn install_client(&self, says: &str) {
        self.program("bin/claude", &format!("#!/bin/sh\necho '{says}'\n"));
    }

    /// Makes the client trust a directory and approve the MCP server of its `.mcp.json`.
    pub(crate) fn trust_dir(&self, folder: &Path) {
        self.edit_client_state(|state| {
            let folder = &mut state["projects"][folder.to_str().unwrap()];
            folder["hasTrustDialogAccepted"] = json!(true);
            folder["enabledMcpjsonServers"] = json!(["rutter"]);
        });
    }

    /// Makes the client trust no directory.
    pub(crate) fn distrust_all(&self) {
        self.edit_client_state(|state| {
            for (_, folder) in state["projects"].as_object_mut().unwrap() {
                folder.as_object_mut().unwrap().shift_remove("hasTrustDialogAccepted");
            }
        });
    }

    /// Changes the client's state file of this user.
    pub(crate) fn edit_client_state(&self, change: impl FnOnce(&mut Value)) {
        let path = "home/.claude.json";
        let text = fs::read_to_string(self.path(path)).unwrap_or_else(|_| "{}".to_owned());
        let mut state: Value = serde_json::from_str(&text).unwrap();
        change(&mut state);
        self.write(path, &format!("{state:#}\n"));
    }

    /// Changes the settings that `init` wrote.
    pub(crate) fn edit_settings(&self, change: impl FnOnce(&mut Value)) {
        let path = "ship/.claude/settings.local.json";
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(self.path(path)).unwrap()).unwrap();
        change(&mut settings);
        self.write(path, &format!("{settings:#}\n"));
    }

    /// Changes rutter's entry of an event. It must be the only entry there.
    pub(crate) fn edit_entry(&self, event: &str, key: &str, value: impl Into<Value>) {
        let value = value.into();
        self.edit_settings(|settings| settings["hooks"][event][0]["hooks"][0][key] = value);
    }

    /// Replaces rutter by another program in hooks and MCP server registration.
    pub(crate) fn replace_program(&self, program: &str) {
        for file in ["ship/.claude/settings.local.json", "home/.claude.json"] {
            let text = fs::read_to_string(self.path(file)).unwrap();
            self.write(file, &text.replace(&self.text("bin/rutter"), &self.text(program)));
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = rutter_command(args);
        command
            .env("HOME", self.path("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.text("bin")))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("ship"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn rutter(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::run(&mut self.command(args))
    }

    pub(crate) fn ok(&self, args: &[&str]) {
        drop(self.rutter(args).assert_success());
    }

    /// Returns the JSON report, after checking the exit code.
    #[track_caller]
    pub(crate) fn report(&self) -> Value {
        let ran = self.rutter(&["doctor", "--json"]);
        assert_eq!(ran.stderr, "", "{ran}");
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let problems = findings.iter().filter(|finding| finding["severity"] == "problem").count();
        assert_eq!(ran.exit, Some(i32::from(problems > 0)), "{ran}");
        report
    }

    /// Asserts that the report has exactly one finding, with this code, place and advice. `[HOME]` is the directory.
    #[track_caller]
    pub(crate) fn assert_only_finding(&self, code: &str, place: &str, advice: &str) {
        let report = self.report();
        let findings = report["findings"].as_array().unwrap();
        let [finding] = findings.as_slice() else { panic!("not {code} alone: {findings:#?}") };
        let known = codes::find_code(code).unwrap_or_else(|| panic!("{code} is not in the table"));
        assert_eq!(finding["code"], code, "{finding:#}");
        assert_eq!(finding["severity"], known.severity.as_str(), "{finding:#}");
        let shown = |key: &str| {
            let text = finding[key].as_str().unwrap_or("-");
            text.replace(self.text("").trim_end_matches('/'), "[HOME]")
        };
        assert_eq!((shown("place").as_str(), shown("advice").as_str()), (place, advice));
        assert!(!shown("what").is_empty());
        // The text output has the same code, and the advice on one line. Lines without a path have at most 100 columns.
        let text = self.rutter(&["doctor"]).stdout;
        let typed = format!(" -> {}\n", finding["advice"].as_str().unwrap());
        assert!(text.contains(&format!("[{code}]")) && text.contains(&typed), "{text}");
        let prose = |line: &&str| !line.contains('/') && !line.contains("-> ");
        for line in text.lines().filter(prose) {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn healthy_setup_has_no_findings() {
    let setup = DoctorSetup::new();
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "version", "program", "client", "layers", "hooks", "servers", "events", "live",
            "memory", "findings"
        ]
    );
    assert_eq!(report["client"]["version"], "2.1.325");
    let answers: Vec<(&str, &str)> = report["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["event"].as_str().unwrap(), row["answer"].as_str().unwrap()))
        .collect();
    assert_eq!(answers[0], ("SessionStart", "heard"));
    assert_eq!(answers.len(), 9);
    assert!(answers[1..].iter().all(|(_, answer)| *answer == "silent"), "{answers:?}");
    for row in report["hooks"].as_array().unwrap() {
        assert_eq!(row["exit"], 0, "{row}");
        assert!(row["milliseconds"].as_f64().unwrap() > 0.0, "{row}");
    }

    insta::with_settings!({filters => vec![
        (setup.text("").trim_end_matches('/'), "[HOME]"),
        (r", [^\n]*/debug/rutter, a cargo build", ", [PROGRAM]"),
        (r" +[0-9.]+ ms", " [TIME]"),
        (r"schema [0-9]+, [0-9]+ KiB", "schema [N], [SIZE]"),
    ]}, {
        insta::assert_snapshot!(setup.rutter(&["doctor"]), @"
        exit 0
        --- stdout
        rutter    0.1.0, [PROGRAM]
        client    2.1.325, [HOME]/bin/claude
        settings  managed  none
                  local    9 hooks, 9 of rutter: [HOME]/ship/.claude/settings.local.json
                  project  none: [HOME]/ship/.claude/settings.json
                  user     none: [HOME]/home/.claude/settings.json
        hooks     SessionStart [TIME]  used in full
                  SessionEnd [TIME]  silent
                  UserPromptSubmit [TIME]  silent
                  PreToolUse         * [TIME]  silent
                  PostToolUse        Bash|Edit|Write|NotebookEdit [TIME]  silent
                  PostToolUseFailure Bash [TIME]  silent
                  SubagentStart [TIME]  silent
                  PreCompact [TIME]  silent
                  Stop [TIME]  silent
        server    local    16 tools in [TIME]: [HOME]/home/.claude.json
        events    nothing in 14 days
        memory    [HOME]/home/.local/share/rutter
        database  schema [N], [SIZE]
        waiting   0 B in the write-ahead log, 0 B in the spool

        no problems found
        ");
    });
}

#[test]
fn doctor_changes_no_files() {
    let setup = DoctorSetup::new();
    // The first read of a database creates an index file of its WAL.
    drop(setup.report());
    let before = read_tree(&setup.path(""));
    drop(setup.report());
    let after = read_tree(&setup.path(""));
    let changed: Vec<&PathBuf> = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path)
        .chain(before.keys().filter(|path| !after.contains_key(*path)))
        .filter(|path| !path.ends_with("rutter.db-shm"))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(setup.rutter(&["sessions", "list", "--json"]).assert_success().stdout, "[]\n");
}

#[test]
fn doctor_leaves_no_temp_dir() {
    let mut setup = DoctorSetup::new();
    fs::create_dir(setup.path("scratch")).unwrap();
    setup.variables.push(("TMPDIR", setup.text("scratch")));
    let report = setup.report();
    // SessionEnd starts housekeeping that outlives the hook.
    assert!(report["hooks"].to_string().contains("SessionEnd"));
    let left: Vec<_> = fs::read_dir(setup.path("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn report_hides_secrets() {
    const SECRET: &str = "sk-ant-api03-hunter2hunter2hunter2";
    let setup = DoctorSetup::new();
    let settings = json!({
        "env": { "RUTTER_HOME": format!("/x/{SECRET}"), "RUTTER": "off", "ANTHROPIC_API_KEY": SECRET },
        "model": [SECRET],
        "apiKeyHelper": { "token": SECRET },
        "permissions": SECRET,
        "hooks": {
            SECRET: [],
            "Notification": SECRET,
            "Stop": [
                { "hooks": [{ "type": SECRET, "command": SECRET }] },
                { "matcher": { "x": SECRET }, "hooks": [] },
                { "hooks": [{ "type": "command", "command": format!("icm hook --token {SECRET}") }] },
                { "hooks": [{ "type": "http", "url": SECRET, "headers": { "Authorization": SECRET } }] },
            ],
        },
    });
    setup.write("home/.claude/settings.json", &settings.to_string());
    setup.edit_entry("Stop", SECRET, SECRET);
    setup.write(
        ".mcp.json",
        &json!({ "mcpServers": {
            "mem0": { "env": { "KEY": SECRET } },
            "rutter": { "command": SECRET, "args": [SECRET], "env": { SECRET: SECRET }, SECRET: SECRET },
        } })
        .to_string(),
    );
    let ship = setup.text("ship");
    setup.edit_client_state(|state| {
        let entry = &mut state["projects"][ship]["mcpServers"]["rutter"];
        entry["args"] = json!(["mcp", SECRET]);
        entry["env"] = json!({ "HOME": SECRET });
    });
    for args in [&["doctor"][..], &["doctor", "--json"]] {
        let ran = setup.rutter(args);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran}");
    }
    let report = setup.report();
    assert!(report["findings"].as_array().unwrap().len() > 6, "{report:#}");
}

#[test]
fn untrusted_hooks_are_not_run() {
    let setup = DoctorSetup::new();
    setup.distrust_all();
    let evil = format!("#!/bin/sh\ntouch '{}'\necho rutter 0.1.0\n", setup.text("ran"));
    setup.program("ship/tools/rutter", &evil);
    let entry = |handler: Value| json!([{ "hooks": [handler] }]);
    setup.write(
        "ship/.claude/settings.json",
        &json!({ "hooks": {
            "Stop": entry(json!({ "type": "command", "command": "./tools/rutter", "args": ["hook"] })),
            "SessionStart": entry(json!({ "type": "command", "command": format!("\"$(touch '{}')/rutter\" hook", setup.text("ran")) })),
            "PreCompact": entry(json!({ "type": "command", "command": "/bin/true|tools/rutter hook" })),
            // A shell line that tests for rutter, and also runs another command.
            "SessionEnd": entry(json!({ "type": "command", "command": format!(
                "if command -v rutter; touch {}; true >/dev/null 2>&1; then exec rutter hook --from project; fi",
                setup.text("ran")
            ) })),
            // A newline ends a shell command, so this entry does not count as rutter's.
            "SubagentStart": entry(json!({ "type": "command", "command": "rutter hook\nmischief" })),
        } })
        .to_string(),
    );
    setup.program("bin/mischief", &evil);
    let report = setup.report();
    let rows = report["hooks"].as_array().unwrap().iter();
    let theirs: Vec<&Value> =
        rows.filter(|row| row["place"].as_str().unwrap().contains("/settings.json:")).collect();
    // This test does not decide which of the other entries count as rutter's.
    assert!(theirs.len() >= 3, "{report:#}");
    assert!(theirs.iter().all(|row| row["answer"] == "untrusted"), "{report:#}");
    assert!(!setup.path("ran").exists(), "{report:#}");
    // If the client trusts the checkout, it runs the hooks, and so does the doctor.
    setup.trust_dir(&setup.path("ship"));
    drop(setup.report());
    assert!(setup.path("ran").exists());
}

#[test]
fn trust_is_inherited_within_repository() {
    let setup = DoctorSetup::new();
    let untrusted = || setup.report()["findings"].to_string().contains("folder-untrusted");
    setup.distrust_all();
    let root = setup.text("");
    setup.trust_dir(Path::new(root.trim_end_matches('/')));
    assert!(!untrusted());
    for name in ["objects", "refs"] {
        fs::create_dir_all(setup.path("ship/.git").join(name)).unwrap();
    }
    setup.write("ship/.git/HEAD", "ref: refs/heads/main\n");
    assert!(untrusted(), "what is trusted outside of a repository does not count inside");
    // The older client searches above the repository.
    setup.install_client("2.1.197 (Claude Code)");
    assert!(!untrusted());
    setup.install_client("2.1.325 (Claude Code)");
    setup.trust_dir(&setup.path("ship"));
    assert!(!untrusted());
}

#[test]
fn repair_leaves_settings_alone() {
    let setup = DoctorSetup::new();
    setup.edit_entry("Stop", "timeout", 5000);
    let settings = fs::read(setup.path("ship/.claude/settings.local.json")).unwrap();
    fs::set_permissions(setup.memory(), fs::Permissions::from_mode(0o755)).unwrap();
    let line = json!({ "form": 1, "entries": [] });
    fs::create_dir_all(setup.memory().join("spool")).unwrap();
    fs::set_permissions(setup.memory().join("spool"), fs::Permissions::from_mode(0o700)).unwrap();
    setup.write_data_file("spool/current.jsonl", format!("{line}\n").as_bytes());
    let ran = setup.rutter(&["doctor", "--repair"]).assert_success();
    assert!(ran.stdout.starts_with("closed    "), "{ran}");
    assert!(ran.stdout.contains("drained   0 entries out of the spool\n"), "{ran}");
    assert!(ran.stdout.contains("[hook-timeout]") && ran.stdout.ends_with("1 warning\n"), "{ran}");
    assert_eq!(fs::read(setup.path("ship/.claude/settings.local.json")).unwrap(), settings);
    assert!(!setup.memory().join("spool/current.jsonl").exists());
}

#[test]
fn parent_with_hooks_is_named() {
    let setup = DoctorSetup::new();
    fs::create_dir(setup.path("ship/deep")).unwrap();
    let ran = CommandOutput::run(
        setup.command(&["doctor", "--json"]).current_dir(setup.path("ship/deep")),
    );
    assert_eq!(ran.exit, Some(1), "{ran}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["findings"][0]["code"], "hooks-none", "{ran}");
    let what = report["findings"][0]["what"].as_str().unwrap();
    assert!(what.contains(&format!("; {} has rutter's hooks", setup.text("ship"))), "{what}");
    // Inside a repository only the newer client reads the settings at the root.
    for name in ["objects", "refs"] {
        fs::create_dir_all(setup.path("ship/.git").join(name)).unwrap();
    }
    setup.write("ship/.git/HEAD", "ref: refs/heads/main\n");
    for (client, expected) in [("2.1.325", json!([])), ("2.1.197", json!(["hooks-none"]))] {
        setup.install_client(client);
        let ran = CommandOutput::run(
            setup.command(&["doctor", "--json"]).current_dir(setup.path("ship/deep")),
        );
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let codes = report["findings"].as_array().unwrap().iter().map(|one| one["code"].clone());
        assert_eq!(codes.collect::<Value>(), expected, "{ran}");
    }
}

#[test]
fn unseen_event_is_reported() {
    use rutter_contract::EventName;
    use rutter_hooks::event_counts;
    use rutter_memory::{Time, store::DataDir};
    let setup = DoctorSetup::new();
    let files = DataDir::new(setup.memory());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Time::from_millis(now.as_millis().try_into().unwrap());
    let come = |event, times: u32| {
        (0..times).for_each(|_| event_counts::count_event(&files, event, now).unwrap());
    };
    come(EventName::SessionStart, 3);
    come(EventName::PostToolUse, 99);
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "too few to say anything: {report:#}");
    assert_eq!(report["events"][0]["event"], "PostToolUse", "{report:#}");
    assert_eq!(report["events"][0]["times"], 99);
    for event in
        [EventName::UserPromptSubmit, EventName::PreToolUse, EventName::Stop, EventName::SessionEnd]
    {
        come(event, 5);
    }
    come(EventName::PostToolUse, 113);
    setup.assert_only_finding("event-unseen", "-", "rutter doctor --live");
    let text = setup.rutter(&["doctor"]).assert_success().stdout;
    assert!(
        text.contains("PostToolUseFailure: not received in 14 days, 212 PostToolUse"),
        "{text}"
    );
    assert!(text.contains("events    in 14 days: PreToolUse 5, PostToolUse 212, "), "{text}");
}
