use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::lint::{BROKEN, found, home_with_settings, run_lint, write_file};
use crate::support::{TestHome, assert_output, run_on_terminal};

/// The corrected form of [`BROKEN`].
const FIXED: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{"if": "Bash(git *)", "type": "command", "command": "true", "timeout": 5}]
      }
    ],
    "Stop": [
      {"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}
    ]
  }
}
"#;

fn read_settings(home: &TestHome) -> String {
    std::fs::read_to_string(home.path("ship/.claude/settings.json")).unwrap()
}

#[test]
fn fix_writes_corrections() {
    let home = home_with_settings(BROKEN);
    assert_output!(home, run_lint(&home, &["--fix"]), @r#"
    exit 0
    --- stdout
    warning[matcher-ignored]: Stop has no matcher: the client ignores it, and the hook runs every time
      --> [HOME]/ship/.claude/settings.json:10:8
       |
    10 |       {"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}
       |        ^^^^^^^^^^^^^^
       |
       = help: remove the matcher, or filter inside the hook

    checked 2 hooks in 1 file: 1 warning
    --- stderr
    corrected [HOME]/ship/.claude/settings.json
    "#);
    assert_eq!(read_settings(&home), FIXED);
}

#[test]
fn second_fix_changes_nothing() {
    let home = home_with_settings(BROKEN);
    drop(run_lint(&home, &["--fix"]));
    let after = std::fs::metadata(home.path("ship/.claude/settings.json")).unwrap();
    let ran = run_lint(&home, &["--fix"]);
    assert!(ran.stderr.contains("nothing that --fix can correct"), "{ran}");
    assert_eq!(read_settings(&home), FIXED);
    let again = std::fs::metadata(home.path("ship/.claude/settings.json")).unwrap();
    assert_eq!(after.modified().unwrap(), again.modified().unwrap(), "not written");
}

#[test]
fn dry_run_shows_a_diff_and_writes_nothing() {
    let home = home_with_settings(BROKEN);
    assert_output!(home, run_lint(&home, &["--fix", "--dry-run"]), @r#"
    exit 0
    --- stdout
    --- [HOME]/ship/.claude/settings.json
    +++ [HOME]/ship/.claude/settings.json
    @@ -1,9 +1,9 @@
     {
       "hooks": {
    -    "PreToolCall": [
    +    "PreToolUse": [
           {
    -        "matcher": "Bash(git *)",
    -        "hooks": [{"type": "command", "command": "true", "timeout": 5000}]
    +        "matcher": "Bash",
    +        "hooks": [{"if": "Bash(git *)", "type": "command", "command": "true", "timeout": 5}]
           }
         ],
         "Stop": [
    "#);
    assert_eq!(read_settings(&home), BROKEN);
}

#[test]
fn fix_keeps_all_other_bytes() {
    // Line ends of Windows, tabs, odd spaces, escapes and the byte order mark stay; the mark stays because it does no harm.
    let text = "\u{feff}{\r\n\t\"env\" : {\"A\":\"\\u00e9 é\"},\r\n\"hooks\":{ \"PreToolCall\" :[ {\"hooks\":[ \
                {\"type\":\"command\" , \"command\":\"echo \\\"x\\\"\"}]}]}}\r\n\r\n";
    let home = home_with_settings(text);
    drop(run_lint(&home, &["--fix"]));
    assert_eq!(read_settings(&home), text.replace("PreToolCall", "PreToolUse"));
}

#[test]
fn fix_keeps_mode_and_link() {
    let home = TestHome::new();
    write_file(&home, "dotfiles/claude.json", BROKEN);
    let target = home.path("ship/dotfiles/claude.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::create_dir_all(home.path("ship/.claude")).unwrap();
    let link = home.path("ship/.claude/settings.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    drop(run_lint(&home, &["--fix"]));
    assert_eq!(std::fs::read_link(&link).unwrap().to_str(), Some("../dotfiles/claude.json"));
    assert_eq!(std::fs::read_to_string(&target).unwrap(), FIXED);
    let mode = std::fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn person_is_asked_first() {
    let home = home_with_settings(BROKEN);
    let command = || home.command(&["contract", "lint", "--fix"]);
    for answer in ["n\n", "\n", "maybe\n", "\u{4}"] {
        let (stdout, shown, exit) = run_on_terminal(command(), answer);
        assert_eq!(exit, Some(1), "{shown}");
        assert!(stdout.contains("+    \"PreToolUse\": ["), "the diff: {stdout}");
        assert!(shown.contains("Write these corrections to 1 file? [y/N]"), "{shown}");
        assert!(shown.contains("nothing was changed") && !shown.contains("error"), "{shown}");
        assert_eq!(read_settings(&home), BROKEN, "{answer:?}");
    }
    let (_, shown, _) =
        run_on_terminal(home.command(&["contract", "lint", "--fix", "--dry-run"]), "");
    assert!(!shown.contains("[y/N]"), "{shown}");
    let (_, shown, exit) = run_on_terminal(command(), "y\n");
    assert_eq!(exit, Some(0), "{shown}");
    assert_eq!(read_settings(&home), FIXED);
}

#[test]
fn yes_answers_the_question() {
    let home = home_with_settings(BROKEN);
    let command = home.command(&["contract", "lint", "--fix", "--yes"]);
    let (_, shown, exit) = run_on_terminal(command, "");
    assert_eq!(exit, Some(0), "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!(read_settings(&home), FIXED);
}

#[test]
fn disabled_rules_fix_nothing() {
    let home = home_with_settings(BROKEN);
    std::fs::write(home.path("ship/.rutter.toml"), "[lint]\noff = ['timeout-too-long']\n").unwrap();
    drop(run_lint(&home, &["--fix"]));
    assert_eq!(read_settings(&home), FIXED.replace("\"timeout\": 5}", "\"timeout\": 5000}"));
}

/// An installed plugin is replaced by its next update, so only a plugin that is named is written.
#[test]
fn only_named_plugins_are_written() {
    let home = TestHome::new();
    let hooks =
        "{\"hooks\": {\"Stopp\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}";
    write_file(&home, "plug/.claude-plugin/plugin.json", r#"{"name": "plug"}"#);
    write_file(&home, "plug/hooks/hooks.json", hooks);
    let installed = serde_json::json!({
        "plugins": {"plug@shop": [{"installPath": home.path("ship/plug")}]}
    });
    let user = home.path("user/.claude");
    std::fs::create_dir_all(user.join("plugins")).unwrap();
    std::fs::write(user.join("plugins/installed_plugins.json"), installed.to_string()).unwrap();
    std::fs::write(user.join("settings.json"), r#"{"enabledPlugins": {"plug@shop": true}}"#)
        .unwrap();
    let expected = ["event-unknown ship/plug/hooks/hooks.json:1:12"];
    assert_eq!(found(&home, &[]), expected);
    let ran = run_lint(&home, &[]);
    assert!(!ran.stdout.contains("--fix"), "{ran}");
    let ran = run_lint(&home, &["--fix"]);
    assert!(ran.stderr.contains("nothing that --fix can correct"), "{ran}");
    assert_eq!(run_lint(&home, &["--fix", "plug"]).exit, Some(0));
    let written = std::fs::read_to_string(home.path("ship/plug/hooks/hooks.json")).unwrap();
    assert_eq!(written, hooks.replace("Stopp", "Stop"));
}

/// A file that cannot be written is reported, and keeps its text.
#[test]
fn failed_write_is_reported() {
    let home = home_with_settings(BROKEN);
    let folder = home.path("ship/.claude");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    let is_root = std::fs::write(folder.join("probe"), "").is_ok();
    let ran = run_lint(&home, &["--fix"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Root writes everywhere.
    if !is_root {
        assert!(ran.stderr.starts_with("error: "), "{ran}");
        assert_eq!(read_settings(&home), BROKEN);
    }
}
