use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use rutter_testkit::CommandOutput;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{run_on_terminal, rutter_command};

const GUARD: &str =
    "#!/bin/sh\nif grep -q 'git push --force'; then echo 'no forced push' >&2; exit 2; fi\n";

/// A project with scripts, and a folder for temporary files beside it.
pub(crate) struct HookProject {
    pub(crate) folder: TempDir,
}

impl HookProject {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let project = Self { folder };
        for (name, text) in files {
            let path = project.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        project
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn test(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::run(&mut self.command(args))
    }

    fn command(&self, args: &[&str]) -> Command {
        let all: Vec<&str> = ["contract", "test"].iter().chain(args).copied().collect();
        let mut command = rutter_command(&all);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path().join("home"))
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("RUTTER_HOME", self.folder.path().join("data"))
            .current_dir(self.path());
        command
    }

    pub(crate) fn test_json(&self, args: &[&str]) -> Value {
        let all: Vec<&str> = ["--yes", "--json"].iter().chain(args).copied().collect();
        let ran = self.test(&all);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
    }
}

pub(crate) fn list(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn report_names_what_is_blocked() {
    let project = HookProject::new(&[("guard", GUARD)]);
    let ran = project.test(&["--yes", "--event", "PreToolUse", "--tool", "Bash", "--", "./guard"]);
    for part in [
        "on a copy of the project, with an empty home folder, with",
        "./guard on PreToolUse: ",
        "blocked      1  The tool does not run.\n                Bash: git push --force\n",
        "says \"no forced push\\n\"",
        "  no   without grep (silent)",
        "result: no defects",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{ran}");
    assert_eq!(list(&project.folder.path().join("tmp")), [""; 0], "the scratch folder is removed");
}

#[test]
fn defects_exit_with_one() {
    let lost = "#!/bin/sh\ngrep -q 'rm -rf' && echo '{\"permissionDecision\":\"deny\"}'\nexit 0\n";
    let project = HookProject::new(&[("guard", lost)]);
    let ran = project.test(&["--yes", "--tool", "Bash", "--", "./guard"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stdout.contains("defect[top-level-permission]"), "{ran}");
    assert!(ran.stderr.contains("testing PreToolUse, because the hook names no event"), "{ran}");
}

#[test]
fn silence_is_not_a_pass() {
    let project = HookProject::new(&[]);
    let ran = project.test(&["--yes", "--event", "PreToolUse", "--", "cat > /dev/null"]);
    assert!(ran.stdout.contains("result: unknown: the hook was silent on every payload"), "{ran}");
    assert_eq!(ran.exit, Some(0));
}

#[test]
fn hook_needs_consent() {
    let project = HookProject::new(&[]);
    let ran = project.test(&["--event", "Stop", "--in-place", "--", "touch ran"]);
    assert_eq!(ran.exit, Some(2), "{ran}");
    assert!(ran.stderr.contains("add --yes"), "{ran}");
    assert!(list(&project.path()).is_empty(), "the hook did not run");
}

#[test]
fn consent_is_remembered_until_a_script_changes() {
    let project = HookProject::new(&[("guard", GUARD)]);
    let args = ["--event", "Setup", "--", "./guard"];
    let (_, shown, exit) = run_on_terminal(project.command(&args), "n\n");
    assert!(exit == Some(1) && shown.contains("nothing was run"), "{shown}");
    assert_eq!(project.test(&args).exit, Some(2), "no was not remembered");
    let (stdout, shown, exit) = run_on_terminal(project.command(&args), "y\n");
    assert!(shown.contains("  ./guard\nRun 1 command on a copy of this folder? [y/N]"), "{shown}");
    assert!(exit == Some(0) && stdout.contains("./guard on Setup"), "{shown}");
    let again = project.test(&args);
    assert_eq!((again.exit, &*again.stderr), (Some(0), ""), "{again}");
    for others in
        [&["--in-place", "--event", "Setup", "--", "./guard"][..], &["--", "./guard", "-v"]]
    {
        assert!(project.test(others).stderr.contains("add --yes"), "{others:?}");
    }
    fs::write(project.path().join("guard"), format!("{GUARD}exit 0\n")).unwrap();
    assert!(project.test(&args).stderr.contains("add --yes"), "another script");
}

#[test]
fn project_and_home_stay_untouched() {
    let project = HookProject::new(&[("notes.txt", "mine")]);
    let line =
        "echo changed > notes.txt; touch \"$CLAUDE_PROJECT_DIR/new\" \"$HOME/new\"; rm -rf .git";
    let ran = project.test(&["--yes", "--event", "Stop", "--", line]);
    assert!(ran.stdout.contains("silent"), "{ran}");
    assert_eq!(list(&project.path()), ["notes.txt"]);
    assert_eq!(fs::read_to_string(project.path().join("notes.txt")).unwrap(), "mine");
    assert!(list(&project.folder.path().join("home")).iter().all(|name| name != "new"));
    let ran = project.test(&["--yes", "--event", "Stop", "--in-place", "--", line]);
    assert!(ran.stdout.starts_with("Claude Code 2.1.325; in the project itself"), "{ran}");
    assert_eq!(list(&project.path()), ["new", "notes.txt"], "--in-place");
}

#[test]
fn hooks_of_settings_are_merged() {
    let allow = "#!/bin/sh\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'\n";
    let settings = r#"{"hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [
                {"type": "command", "command": "$CLAUDE_PROJECT_DIR/guard"},
                {"type": "command", "command": "./allow"}]},
            {"matcher": "Write", "hooks": [{"type": "command", "command": "exit 2"}]},
            {"hooks": [{"type": "prompt", "prompt": "is it safe?"}]}],
        "SessionStart": [{"matcher": "resume", "hooks": [{"type": "command", "command": "echo welcome back"}]}]
    }}"#;
    let files = [("guard", GUARD), ("allow", allow), (".claude/settings.json", settings)];
    let project = HookProject::new(&files);
    let report = project.test_json(&[]);
    let hooks = report["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 4, "{report:#}");
    let together = &report["together"];
    assert_eq!(together.as_array().unwrap().len(), 1);
    let answers = together[0]["answers"].as_array().unwrap();
    let push = answers.iter().find(|answer| answer["payload"] == "Bash: git push --force").unwrap();
    assert_eq!(push["effect"], "blocked");
    assert_eq!((&push["decided_by"][0], &push["overruled"][0]), (&0.into(), &1.into()));
    assert!(answers.iter().all(|answer| answer["payload"].as_str().unwrap().starts_with("Bash")));
    // The matcher chooses the payloads.
    let start = hooks.iter().find(|hook| hook["event"] == "SessionStart").unwrap();
    let names: Vec<&str> = start["answers"][0]["payloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|payload| payload["name"].as_str().unwrap())
        .collect();
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("resume")), "{names:?}");
    let ran =
        project.test(&["--yes", "--settings", ".claude/settings.json", "--event", "PreToolUse"]);
    assert!(ran.stdout.contains("by [1], overrules [2]"), "{ran}");
    assert!(ran.stderr.contains("not run: 1 hook without a command"), "{ran}");
}

#[test]
fn nothing_to_run_is_a_mistake() {
    let project = HookProject::new(&[("notes.txt", "x")]);
    for args in [
        &["--yes"][..],
        &["--yes", "--settings", "missing.json"],
        &["--yes", "--settings", "notes.txt"],
        &["--yes", "--event", "Stop", "--tool", "Bash", "--", "true"],
        &["--yes", "--event", "DirectoryAdded", "--client", "2.1.197", "--", "true"],
    ] {
        let ran = project.test(args);
        assert_eq!(ran.exit, Some(2), "{args:?}: {ran}");
        assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: "), "{ran}");
    }
}

const TESTS: &str = r#"
command = "./guard"

[[test]]
name = "a forced push is blocked"
event = "PreToolUse"
tool = "Bash"
input = { command = "git push --force" }
verdict = "blocked"
text = "no forced push"
exit = 2

[[test]]
name = "a push is allowed"
event = "PreToolUse"
tool = "Bash"
input = { command = "git push" }
verdict = "allowed"
"#;

#[test]
fn test_files_pass_and_fail() {
    let wrong = TESTS.replace("verdict = \"allowed\"", "verdict = \"asked\"");
    let files = [("guard", GUARD), ("good.hooktest.toml", TESTS), ("wrong.hooktest.toml", &*wrong)];
    let project = HookProject::new(&files);
    let ran = project.test(&["--yes", "--tests", "good.hooktest.toml"]);
    assert_eq!((ran.exit, &*ran.stdout), (Some(0), "2 tests, 2 passed, 0 failed\n"), "{ran}");
    let both = ["--yes", "--tests", "good.hooktest.toml", "wrong.hooktest.toml"];
    let ran = project.test(&both);
    assert_eq!(ran.exit, Some(1), "{ran}");
    insta::assert_snapshot!(ran.stdout, @r"
    failed: a push is allowed (wrong.hooktest.toml)
      expected asked, but it is silent: The tool call continues as if there were no hook.
    4 tests, 3 passed, 1 failed
    ");
    let tap = project.test(&[&both[..], &["--format", "tap"]].concat());
    assert!(tap.stdout.starts_with("TAP version 13\n1..4\nok 1 - a forced push"), "{tap}");
    assert!(tap.stdout.contains("\nnot ok 4 - a push is allowed\n"), "{tap}");
    let junit = project.test(&[&both[..], &["--format", "junit"]].concat());
    assert!(junit.stdout.contains("tests=\"2\" failures=\"1\""), "{junit}");
    let json = project.test(&[&both[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["files"][0]["tests"][0]["effect"], "blocked");
    // A hook of the command line takes precedence.
    let ran = project.test(&["--yes", "--tests", "good.hooktest.toml", "--", "exit 0"]);
    assert!(ran.stdout.ends_with("2 tests, 1 passed, 1 failed\n"), "{ran}");
}

#[test]
fn wrong_test_files_are_refused() {
    let nameless = TESTS.replace("command = \"./guard\"", "");
    let files =
        [("none.toml", &*nameless), ("bad.toml", "[[test]]\nname = 1\n"), ("good.toml", TESTS)];
    let project = HookProject::new(&files);
    for (args, expected) in [
        (&["--tests", "missing.toml"][..], "could not read missing.toml"),
        (&["--tests", "none.toml"], "none.toml names no hook"),
        (&["--tests", "bad.toml"], "bad.toml: test 1 has no name"),
        (&["--tests", "good.toml", "--event", "Stop"], "cannot be used with"),
        (&["--event", "Stop", "--format", "tap", "--", "true"], "junit and tap are for --tests"),
    ] {
        let ran = project.test(&[&["--yes"], args].concat());
        assert_eq!(ran.exit, Some(2), "{args:?}: {ran}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran}");
    }
    let ran = project.test(&["--tests", "good.toml"]);
    assert!(ran.exit == Some(2) && ran.stderr.contains("add --yes"), "{ran}");
}

#[test]
fn update_writes_what_was_observed() {
    let tests = format!(
        "# Guards.\n{}",
        TESTS
            .replace("verdict = \"blocked\"", "verdict = \"asked\" # why")
            .replace("no forced push\"", "never\"")
            .replace("exit = 2", "exit = 0")
            .replace("verdict = \"allowed\"\n", "")
    );
    let project = HookProject::new(&[("guard", GUARD), ("t.hooktest.toml", &tests)]);
    let refused = project.test(&["--yes", "--tests", "t.hooktest.toml"]);
    assert!(refused.stderr.contains("nothing is expected"), "{refused}");
    let args = ["--yes", "--tests", "t.hooktest.toml", "--update"];
    let ran = project.test(&args);
    let changes: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("updated t.hooktest.toml: "))
        .collect();
    let expected = [
        "a forced push is blocked: verdict = \"blocked\"",
        "a forced push is blocked: text = \"no forced push\"",
        "a forced push is blocked: exit = 2",
        "a push is allowed: verdict = \"silent\"",
    ];
    assert_eq!((changes.as_slice(), ran.exit), (&expected[..], Some(0)), "{ran}");
    let text = fs::read_to_string(project.path().join("t.hooktest.toml")).unwrap();
    assert!(
        text.starts_with("# Guards.") && text.contains("verdict = \"blocked\" # why"),
        "{text}"
    );
    let again = project.test(&args);
    assert_eq!(again.stdout, "2 tests, 2 passed, 0 failed\n", "{again}");
}

#[test]
fn tests_of_settings_expect_the_merged_answer() {
    let allow = "#!/bin/sh\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'\n";
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "./allow"},
        {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/guard"}]}]}}"#;
    let tests = TESTS
        .replace("command = \"./guard\"", "settings = \".claude/settings.json\"")
        .replace("exit = 2\n", "")
        + "[[test]]\nname = \"others\"\nevent = \"PreToolUse\"\ntool = \"Read\"\nverdict = \"silent\"\n";
    let files = [
        ("guard", GUARD),
        ("allow", allow),
        (".claude/settings.json", settings),
        ("t.hooktest.toml", &tests),
    ];
    let project = HookProject::new(&files);
    let ran = project.test(&["--yes", "--tests", "t.hooktest.toml"]);
    assert_eq!((ran.exit, &*ran.stdout), (Some(0), "3 tests, 3 passed, 0 failed\n"), "{ran}");
    fs::write(project.path().join("guard"), "#!/bin/sh\nexit 0\n").unwrap();
    let ran = project.test(&["--yes", "--tests", "t.hooktest.toml"]);
    assert!(ran.stdout.contains("expected blocked, but it is allowed"), "{ran}");
}

#[test]
fn waits_and_order_are_reported() {
    let rewrite = |command: &str| {
        format!(
            "#!/bin/sh\necho '{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{{\"command\":\"{command}\"}}}}}}'\n"
        )
    };
    let settings = r#"{"hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "./one"}, {"type": "command", "command": "./other"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "cat > /dev/null"}]}]}}"#;
    let (one, other) = (rewrite("ls"), rewrite("pwd"));
    let files = [("one", &*one), ("other", &*other), (".claude/settings.json", settings)];
    let project = HookProject::new(&files);
    let report = project.test_json(&["--tool", "Bash", "--budget", "0"]);
    let answer = &report["together"][0]["answers"][0];
    assert_eq!(answer["depends_on_order"], true, "{report:#}");
    assert_eq!(answer["outcomes"][1]["new_input"]["command"], "pwd");
    assert_eq!(report["calls"][0]["tool"], "Bash");
    assert!(report["calls"][0]["sum"]["p50_ms"].as_f64().unwrap() > 0.0, "{report:#}");
    let ran = project.test(&["--yes", "--tool", "Bash", "--budget", "0"]);
    assert_eq!(ran.exit, Some(1));
    for part in [
        "defect[over-budget]",
        "if [1] ends last: rewritten, with the input {\"command\":\"ls\"}",
        "a call of Bash waits ",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
}
