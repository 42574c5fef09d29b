//! `rutter contract live`, with a real client, and with a program in its place that shows what it would get.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rutter_testkit::CommandOutput;
use serde_json::Value;
use tempfile::TempDir;

use crate::live_support::client_from_env;
use crate::support::rutter_command;

const GUARD: &str = "#!/bin/sh\ngrep -q touch && { echo 'no touching' >&2; exit 2; }\nexit 0\n";

const SETTINGS: &str = r#"{
  "env": { "ANTHROPIC_BASE_URL": "http://elsewhere.invalid" },
  "apiKeyHelper": "echo key",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/guard.sh" }] },
      { "matcher": "bash", "hooks": [{ "type": "command", "command": "exit 2" }] },
      { "matcher": "WebFetch", "hooks": [{ "type": "command", "command": "exit 3" }] },
      { "matcher": "Write", "hooks": [{ "type": "command", "command": "@PROJECT@/other.sh" }] },
      { "matcher": "Bash|Write", "hooks": [{ "type": "command", "command": "@PROJECT@/other.sh" }] }
    ],
    "PostToolUse": [
      { "matcher": "Write", "hooks": [{ "type": "command", "command": "echo '{\"additionalContext\":\"LOST\"}'; touch made" }] }
    ],
    "UserPromptSubmit": [
      { "hooks": [{ "type": "command", "command": "grep -o 'fix the tests'; pwd" }, { "type": "http", "url": "http://elsewhere.invalid" }] }
    ]
  }
}"#;

/// A project, a home and a folder for temporary files.
struct LiveProject {
    folder: TempDir,
}

impl LiveProject {
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project/.claude", "home/.claude", "tmp"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let project = Self { folder };
        project.write_program("project/guard.sh", GUARD);
        project.write_program("project/other.sh", "#!/bin/sh\nexit 0\n");
        let settings = settings.replace("@PROJECT@", project.path("project").to_str().unwrap());
        fs::write(project.path("project/.claude/settings.json"), settings).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write_program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn live(&self, args: &[&str]) -> CommandOutput {
        let all: Vec<&str> = ["contract", "live"].iter().chain(args).copied().collect();
        let mut command = rutter_command(&all);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("HTTPS_PROXY", "http://elsewhere.invalid")
            .env("NODE_OPTIONS", "--require=elsewhere")
            .env("ANTHROPIC_API_KEY", "sk-real")
            .current_dir(self.path("project"));
        CommandOutput::run(&mut command)
    }
}

#[test]
fn missing_client_is_explained() {
    let project = LiveProject::new(SETTINGS);
    let ran = project.live(&["--yes"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(
        ran.stderr.contains("npm i -g @anthropic-ai/claude-code")
            && ran.stderr.contains("--client"),
        "{ran}"
    );
    let ran = project.live(&["--yes", "--client", "/bin/true"]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("is not a Claude Code client"), "{ran}");
    let ran = project.live(&["--yes", "--", "./guard.sh"]);
    assert!(ran.exit == Some(2) && ran.stderr.contains("--event"), "{ran}");
}

/// A program in place of the client. It shows its environment, its settings and its arguments.
const FAKE_CLIENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
{ env; echo "ARGS $*"; cat .claude/settings.json .claude/settings.local.json "$HOME/.claude/settings.json"; } >>OUT 2>&1
"#;

#[test]
fn client_gets_nothing_that_leads_elsewhere() {
    let project = LiveProject::new(SETTINGS);
    let out = project.path("out");
    let fake = FAKE_CLIENT.replace("OUT", out.to_str().unwrap());
    let fake = project.write_program("claude", &fake);
    let user = r#"{"awsAuthRefresh":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"~/stop.sh"}]}]}}"#;
    fs::write(project.path("home/.claude/settings.json"), user).unwrap();
    let ran = project.live(&["--yes", "--client", fake.to_str().unwrap()]);
    let got = fs::read_to_string(out).unwrap();
    for part in ["elsewhere", "sk-real", "apiKeyHelper", "awsAuthRefresh", "\"http\""] {
        assert!(!got.contains(part), "{part}: {got}");
    }
    for part in [
        "ANTHROPIC_BASE_URL=http://127.0.0.1:",
        "ANTHROPIC_API_KEY=sk-ant-made-up",
        "--strict-mcp-config",
        "record-hook",
        "/project/other.sh",
    ] {
        assert!(got.contains(part), "{part}: {got}");
    }
    let home = project.path("home");
    assert!(got.contains(&format!("{}/stop.sh", home.display())), "the user's script: {got}");
    let original = project.path("project").display().to_string();
    assert!(!got.contains(&format!("{original}/other.sh")), "the copy is used: {got}");
    // A client that runs nothing is no proof.
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stdout.contains("did not fire: PreToolUse did not fire"), "{ran}");
    assert!(ran.stdout.contains("left out of "), "{ran}");
}

#[test]
fn hooks_need_consent() {
    let project = LiveProject::new(SETTINGS);
    let fake = project.write_program("claude", &FAKE_CLIENT.replace("OUT", "/dev/null"));
    let ran = project.live(&["--client", fake.to_str().unwrap()]);
    assert!(ran.exit == Some(2) && ran.stderr.contains("--yes"), "{ran}");
}

#[test]
fn report_says_what_the_client_did() {
    let Some(client) = client_from_env("RUTTER_TEST_CLIENT") else { return };
    let client = client.path().to_str().unwrap();
    let project = LiveProject::new(SETTINGS);
    let ran = project.live(&["--yes", "--client", client, "--prompt", "fix the tests"]);
    for part in [
        "PreToolUse [Bash]: \"$CLAUDE_PROJECT_DIR\"/guard.sh\n  fired for Bash: exit 2",
        "blocked: The tool does not run.\n    the tool did not run\n    the model read:\n      PreToolUse:Bash hook error: [\"$CLAUDE_PROJECT_DIR\"/guard.sh]: no touching",
        "PreToolUse [bash]: exit 2\n  did not fire: its matcher matched nothing; PreToolUse fired for Bash, Write",
        "PreToolUse [WebFetch]: exit 3\n  not tried: no call of WebFetch can be made here",
        "fired for Write: exit 0",
        "[Bash|Write]: ",
        "/other.sh\n  fired for Bash: exit 0",
        "the tool ran",
        "voided: ",
        "UserPromptSubmit hook success: fix the tests",
        "not run: a hook on UserPromptSubmit (http)",
        "env, apiKeyHelper",
        "not every hook works",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    assert!(!ran.stdout.contains("disagreement"), "{ran}");
    assert_eq!(ran.exit, Some(1));
    assert!(!project.path("project/made").exists(), "the project is copied");
    assert_eq!(fs::read_dir(project.path("tmp")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn clients_are_compared() {
    let Some(client) = client_from_env("RUTTER_TEST_CLIENT") else { return };
    let Some(old) = client_from_env("RUTTER_TEST_CLIENT_OLD") else { return };
    let handler = r#"{ "type": "command", "command": "exit 1", "onFailure": "block" }"#;
    let settings =
        format!(r#"{{"hooks":{{"PreToolUse":[{{"matcher":"Bash","hooks":[{handler}]}}]}}}}"#);
    let project = LiveProject::new(&settings);
    let paths = [client.path().to_str().unwrap(), old.path().to_str().unwrap()];
    let ran = project.live(&["--yes", "--client", paths[0], "--client", paths[1]]);
    assert!(
        ran.stdout.starts_with(
            "difference: PreToolUse: exit 1\n  2.1.325: Bash blocked, the tool did not run"
        ),
        "{ran}"
    );
    assert!(ran.stdout.contains("  2.1.197: Bash failed, the tool ran"), "{ran}");

    let args = ["--yes", "--json", "--client", paths[0], "--event", "Stop", "--", "exit 0"];
    let ran = project.live(&args);
    let reports: Value = serde_json::from_str(&ran.stdout).unwrap();
    let hook = &reports[0]["hooks"][0];
    assert_eq!(
        (hook["state"].as_str(), hook["runs"][0]["effect"].as_str()),
        (Some("fired"), Some("silent")),
        "{ran}"
    );
    assert_eq!(ran.exit, Some(0), "{ran}");
}

/// The client's own prompt contains every short word.
#[test]
fn short_text_is_found_behind_words_of_client() {
    let Some(client) = client_from_env("RUTTER_TEST_CLIENT") else { return };
    let project = LiveProject::new("{}");
    let args = ["--yes", "--json", "--client", client.path().to_str().unwrap()];
    let command = ["--event", "PreToolUse", "--tool", "Bash", "--", "echo no >&2; exit 2"];
    let ran = project.live(&[&args[..], &command].concat());
    let reports: Value = serde_json::from_str(&ran.stdout).unwrap();
    let read = &reports[0]["hooks"][0]["runs"][0]["to_model"];
    assert_eq!(read, &serde_json::json!(["PreToolUse:Bash hook error: [echo no >&2; exit 2]: no"]));
}
