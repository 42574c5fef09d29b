use rutter_testkit::CommandOutput;
use serde_json::Value;

use crate::support::{TestHome, assert_output};

/// Settings with mistakes in two hooks. Correcting the name of the event uncovers two more in the first hook.
pub(crate) const BROKEN: &str = r#"{
  "hooks": {
    "PreToolCall": [
      {
        "matcher": "Bash(git *)",
        "hooks": [{"type": "command", "command": "true", "timeout": 5000}]
      }
    ],
    "Stop": [
      {"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}
    ]
  }
}
"#;

/// Settings without a mistake.
pub(crate) const CLEAN: &str = r#"{
  "permissions": {"allow": ["Bash(git status)"]},
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]
  }
}
"#;

/// Settings whose only mistake is a warning.
const WARNED: &str =
    r#"{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}]}}"#;

/// A token of the kind that the redaction knows.
const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// Writes a file below the project.
pub(crate) fn write_file(home: &TestHome, path: &str, text: &str) {
    let path = home.path("ship").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Creates a home whose project has these settings.
pub(crate) fn home_with_settings(text: &str) -> TestHome {
    let home = TestHome::new();
    write_file(&home, ".claude/settings.json", text);
    home
}

pub(crate) fn run_lint(home: &TestHome, args: &[&str]) -> CommandOutput {
    home.rutter(&[&["contract", "lint"], args].concat())
}

fn run_lint_on_stdin(home: &TestHome, args: &[&str], stdin: &str) -> CommandOutput {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = home.command(&[&["contract", "lint"], args].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Returns the report in JSON, whatever the exit code.
pub(crate) fn lint_json(home: &TestHome, args: &[&str]) -> Value {
    let ran = run_lint(home, &[args, &["--format", "json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// Returns each finding as `rule file:line:column`.
pub(crate) fn found(home: &TestHome, args: &[&str]) -> Vec<String> {
    let report = lint_json(home, args);
    let folder = home.path("").to_str().unwrap().to_owned();
    let describe = |finding: &Value| {
        let file = finding["file"].as_str().unwrap().replace(&folder, "");
        let rule = finding["rule"].as_str().unwrap();
        format!("{rule} {file}:{}:{}", finding["line"], finding["column"])
    };
    report["findings"].as_array().unwrap().iter().map(describe).collect()
}

#[test]
fn findings_are_framed() {
    let home = home_with_settings(BROKEN);
    assert_output!(home, run_lint(&home, &[]), @r#"
    exit 1
    --- stdout
    error[event-unknown]: `PreToolCall` is not an event: the client ignores it, and its hooks never run
     --> [HOME]/ship/.claude/settings.json:3:5
      |
    3 |     "PreToolCall": [
      |     ^^^^^^^^^^^^^
      |
      = help: write `PreToolUse`

    warning[matcher-ignored]: Stop has no matcher: the client ignores it, and the hook runs every time
      --> [HOME]/ship/.claude/settings.json:10:8
       |
    10 |       {"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}
       |        ^^^^^^^^^^^^^^
       |
       = help: remove the matcher, or filter inside the hook

    checked 1 hook in 1 file: 1 error, 1 warning
    `rutter contract lint --fix` corrects 1 of them
    "#);
}

#[test]
fn clean_file_has_no_finding() {
    let home = home_with_settings(CLEAN);
    assert_output!(home, run_lint(&home, &["--deny", "warnings"]), @"
    exit 0
    --- stdout
    checked 1 hook in 1 file: no findings
    ");
}

#[test]
fn exit_code_reflects_findings() {
    let home = home_with_settings(WARNED);
    assert_eq!(found(&home, &[]), ["matcher-ignored ship/.claude/settings.json:1:22"]);
    assert_eq!(run_lint(&home, &[]).exit, Some(0), "a warning");
    assert_eq!(run_lint(&home, &["--deny", "warnings"]).exit, Some(1));
    assert_eq!(run_lint(&home, &["--deny", "errors"]).exit, Some(2));
    let home = home_with_settings(BROKEN);
    for format in ["text", "human", "json", "sarif", "github"] {
        assert_eq!(run_lint(&home, &["--format", format]).exit, Some(1), "{format}");
    }
    assert_eq!(run_lint(&home, &["--json"]).exit, Some(1));
    assert_eq!(run_lint(&home, &["--format", "xml"]).exit, Some(2));
    assert_eq!(run_lint(&home, &["--dry-run"]).exit, Some(2), "needs --fix");
}

#[test]
fn stdin_is_settings() {
    let home = TestHome::new();
    assert_output!(home, run_lint_on_stdin(&home, &["-"], "{\"hooks\": {\"Stopp\": []}}"), @r#"
    exit 1
    --- stdout
    error[event-unknown]: `Stopp` is not an event: the client ignores it, and its hooks never run
     --> -:1:12
      |
    1 | {"hooks": {"Stopp": []}}
      |            ^^^^^^^
      |
      = help: write `Stop`

    checked 0 hooks in 1 file: 1 error
    "#);
    assert_eq!(run_lint_on_stdin(&home, &["-"], CLEAN).exit, Some(0));
    let ran = run_lint_on_stdin(&home, &["-", "--fix"], BROKEN);
    assert_output!(home, ran, @"
    exit 2
    --- stderr
    error: --fix cannot write to stdin; give the path of the file
    ");
}

#[test]
fn named_paths_limit_the_files() {
    let home = home_with_settings(CLEAN);
    write_file(&home, ".claude/settings.local.json", BROKEN);
    write_file(&home, "other/.claude/settings.json", WARNED);
    write_file(
        &home,
        "other/.claude/agents/a.md",
        "---\nname: a\nhooks:\n  Stopp:\n    - hooks:\n        - type: command\n          command: x\n---\n",
    );
    let local = "ship/.claude/settings.local.json";
    let of_local = [format!("event-unknown {local}:3:5"), format!("matcher-ignored {local}:10:8")];
    assert_eq!(found(&home, &[]), of_local);
    assert_eq!(found(&home, &[".claude/settings.json"]), [""; 0]);
    assert_eq!(found(&home, &["."]), of_local);
    let of_other = [
        "matcher-ignored ship/other/.claude/settings.json:1:22",
        "event-unknown ship/other/.claude/agents/a.md:4:3",
    ];
    assert_eq!(found(&home, &["other"]), of_other);
    assert_eq!(found(&home, &["other/.claude"]), of_other);
    let both = found(&home, &["other/.claude/settings.json", ".claude/settings.local.json"]);
    // Both have the same command on Stop, but no client runs both.
    assert_eq!(both, [&[of_other[0].to_owned()][..], &of_local].concat());
    assert_eq!(found(&home, &[".", ".claude/settings.local.json"]), of_local, "named twice");
}

#[test]
fn plugin_folder_is_checked_as_a_plugin() {
    let home = TestHome::new();
    write_file(&home, "plug/.claude-plugin/plugin.json", r#"{"name": "plug"}"#);
    let flat = r#"{"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}"#;
    write_file(&home, "plug/hooks/hooks.json", flat);
    let expected = ["plugin-invalid ship/plug/hooks/hooks.json:1:1"];
    assert_eq!(found(&home, &["plug"]), expected);
    assert_eq!(found(&home, &["plug/hooks/hooks.json"]), expected);
    assert_eq!(found(&home, &["plug/.claude-plugin/plugin.json"]), [""; 0]);
    let wrapped = format!("{{\"description\": \"x\", \"hooks\": {flat}}}");
    write_file(&home, "plug/hooks/hooks.json", &wrapped);
    assert_eq!(run_lint(&home, &["plug", "--deny", "warnings"]).exit, Some(0));
}

#[test]
fn missing_path_is_wrong_usage() {
    let home = home_with_settings(CLEAN);
    write_file(&home, "notes.md", "# Notes\n");
    assert_output!(home, run_lint(&home, &["nope.json"]), @"
    exit 2
    --- stderr
    error: nope.json does not exist; give a file or a folder
    ");
    assert_output!(home, run_lint(&home, &["notes.md"]), @"
    exit 2
    --- stderr
    error: notes.md cannot contain hooks; give a settings file, a hooks.json, a plugin.json, a skill, agent or command, or the folder of a project or plugin
    ");
}

#[test]
fn rules_can_be_switched_off() {
    let home = home_with_settings(BROKEN);
    let write_config = |text: &str| {
        std::fs::write(home.path("ship/.rutter.toml"), format!("[lint]\noff = {text}\n")).unwrap();
    };
    let rules = || -> Vec<String> {
        let all = found(&home, &[]);
        all.iter().map(|one| one.split(' ').next().unwrap().to_owned()).collect()
    };
    let all = ["event-unknown", "matcher-ignored"];
    assert_eq!(rules(), all);
    let without = ["event-unknown"];
    // A file that is not trusted may do this: it only narrows.
    write_config("['matcher-ignored']");
    assert_eq!(rules(), without);
    assert_eq!(run_lint(&home, &[]).stderr, "");
    write_config("['matcher-ignored .claude/settings.json']");
    assert_eq!(rules(), without);
    write_config("['matcher-ignored settings.json']");
    assert_eq!(rules(), without);
    write_config("['matcher-ignored tings.json', 'matcher-ignored settings.local.json']");
    assert_eq!(rules(), all, "other files");
    write_config("['matcher-ignored']");
    home.ok(&["trust", "--yes"]);
    assert_eq!(rules(), without);
    write_config("['matcher-ignore']");
    assert_eq!(rules(), all);
    let ran = run_lint(&home, &[]);
    assert_eq!(ran.stderr, "note: `lint.off` names a rule that does not exist: matcher-ignore\n");
}

#[test]
fn findings_depend_on_client() {
    let hook = r#"[{"hooks": [{"type": "command", "command": "true"}]}]"#;
    let home = home_with_settings(&format!("{{\"hooks\": {{\"DirectoryAdded\": {hook}}}}}"));
    assert_eq!(found(&home, &[]), [""; 0]);
    let old = ["event-too-new ship/.claude/settings.json:1:12"];
    assert_eq!(found(&home, &["--client", "2.1.197"]), old);
    let ran = run_lint(&home, &["--client", "9.9.9", "--deny", "warnings"]);
    assert_eq!(ran.exit, Some(0));
    assert!(ran.stderr.starts_with("note: "), "{ran}");
}

#[test]
fn installed_client_is_found() {
    let home = home_with_settings("{\"hooks\": {\"DirectoryAdded\": []}}");
    let client = home.path("versions/2.1.197");
    std::fs::create_dir_all(home.path("versions")).unwrap();
    std::fs::create_dir_all(home.path("bin")).unwrap();
    std::fs::write(&client, "#!/bin/sh\ntouch started\n").unwrap();
    std::fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&client, home.path("bin/claude")).unwrap();
    let mut command = home.command(&["contract", "lint", "--json"]);
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let ran = CommandOutput::run(command.env("PATH", path).stdin(std::process::Stdio::null()));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["client"], "2.1.197");
    assert!(!home.path("ship/started").exists(), "the client is not started");
}

/// The token is in a command with a finding, in a flat entry that a fix would move, in a key and in a matcher.
#[test]
fn secrets_are_never_printed() {
    let text = format!(
        r#"{{
  "hooks": {{
    "Stop": [{{"hooks": [{{"type": "command", "command": "curl -H {TOKEN} $CLAUDE_TOOL_INPUT"}}]}}],
    "PreToolUse": [{{"type": "command", "command": "curl -H {TOKEN} -d {TOKEN}"}}],
    "PostToolUse": [{{"matcher": "{TOKEN}(", "hooks": [{{"type": "command", "command": "true", "{TOKEN}": 1}}]}}],
    "{TOKEN}": []
  }}
}}"#
    );
    let home = home_with_settings(&text);
    let rules: Vec<Value> = (lint_json(&home, &[])["findings"].as_array().unwrap().iter())
        .map(|finding| finding["rule"].clone())
        .collect();
    for rule in
        ["variable-unset", "entry-flat", "matcher-invalid", "field-unknown", "event-unknown"]
    {
        assert!(rules.contains(&Value::from(rule)), "{rule}: {rules:?}");
    }
    let all = ["text", "json", "sarif", "github"].map(|format| vec!["--format", format]);
    for args in all.into_iter().chain([vec!["--fix", "--dry-run"]]) {
        let ran = run_lint(&home, &args);
        assert!(ran.stdout.len() > 200, "{args:?}: {ran}");
        assert!(!ran.to_string().contains(&TOKEN[..20]), "{args:?}: {ran}");
    }
    // An edit with a secret is left out: with a changed text it would destroy the file.
    let report = lint_json(&home, &[]);
    let flat = report["findings"].as_array().unwrap().iter();
    let flat = flat.clone().find(|finding| finding["rule"] == "entry-flat").unwrap();
    assert_eq!(flat["fix"], Value::Null);
    assert_eq!(run_lint(&home, &["--fix"]).exit, Some(1));
    let fixed = std::fs::read_to_string(home.path("ship/.claude/settings.json")).unwrap();
    assert_eq!(fixed.matches(TOKEN).count(), text.matches(TOKEN).count());
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let home = home_with_settings("{\"hooks\": {\"St\\u001b[31mop\": [], \"a\u{1b}[31m\": []}}");
    for format in ["text", "json", "sarif", "github"] {
        let ran = run_lint(&home, &["--format", format]);
        assert_eq!(ran.exit, Some(1));
        assert!(!ran.stdout.contains('\u{1b}'), "{format}: {ran}");
    }
}

#[test]
fn rule_pages_are_printed() {
    let home = TestHome::new();
    let list = home.rutter(&["contract", "rules"]).assert_success().stdout;
    assert!(list.lines().count() > 40, "{list}");
    let rules = home.json(&["contract", "rules"]);
    for rule in rules.as_array().unwrap() {
        let id = rule["id"].as_str().unwrap();
        assert!(list.contains(&format!("\n{id} ")), "{id}");
        let page = home.rutter(&["contract", "rules", id]).assert_success().stdout;
        assert!(page.starts_with(&format!("{id} (")) && page.lines().count() > 4, "{page}");
        assert!(page.contains(rule["summary"].as_str().unwrap()), "{page}");
    }
    assert_eq!(home.json(&["contract", "rules", "entry-flat"])["severity"], "error");
    assert_output!(home, home.rutter(&["contract", "rules", "entry-flatt"]), @"
    exit 2
    --- stderr
    error: there is no such rule; did you mean `entry-flat`? `rutter contract rules` lists them
    ");
}

#[test]
fn folder_without_files_is_clean() {
    let home = TestHome::new();
    assert_output!(home, run_lint(&home, &[]), @"
    exit 0
    --- stdout
    checked 0 hooks in 0 files: no findings
    ");
}
