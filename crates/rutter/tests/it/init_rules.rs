//! Permission rules that allow, ask for or deny rutter's MCP tools.

use std::fs;

use serde_json::{Value, json};

use crate::init_server::{SCOPES, init_scope, server_entry};
use crate::support::TestHome;

/// Returns the rules that `init` writes: tools by name, except those that delete rows or search other projects.
pub(crate) fn expected_rules() -> Vec<String> {
    let tools = rutter_server::tools::TOOLS.iter().map(|tool| tool.name);
    let tools = tools.filter(|name| !["forget", "search_other_projects"].contains(name));
    tools.map(|name| format!("mcp__rutter__{name}")).collect()
}

/// Returns the allow rules of a settings file.
fn allow_rules(home: &TestHome, file: &str) -> Value {
    let text = fs::read_to_string(home.path(file)).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["permissions"]["allow"].clone()
}

#[test]
fn deny_rule_is_respected() {
    for (file, rule) in [
        ("ship/.claude/settings.local.json", "mcp__rutter"),
        ("user/.claude/settings.json", "mcp__*"),
        ("ship/.claude/settings.json", "mcp__rutter__*"),
    ] {
        let home = TestHome::new();
        let path = home.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json!({ "permissions": { "deny": [rule] } }).to_string()).unwrap();
        let ran = init_scope(&home, "--local", &[]).assert_success();
        let told =
            format!("{} denies `{rule}`, so the agent does not see rutter's tools", path.display());
        assert!(ran.stderr.contains(&told), "{ran}");
        assert_eq!(allow_rules(&home, "ship/.claude/settings.local.json"), Value::Null);
        assert_eq!(server_entry(&home, "--local")["args"], json!(["mcp"]));
        let quiet = init_scope(&home, "--local", &["--no-allow"]).assert_success();
        assert_eq!(quiet.stderr, "");
    }
    // A user may deny single tools.
    let home = TestHome::new();
    home.write_settings(r#"{"permissions":{"deny":["mcp__rutter__status"]}}"#);
    assert_eq!(init_scope(&home, "--local", &[]).assert_success().stderr, "");
    assert_eq!(allow_rules(&home, "ship/.claude/settings.local.json"), json!(expected_rules()));
}

#[test]
fn ask_rule_is_reported() {
    for (file, rule) in [
        ("ship/.claude/settings.local.json", "mcp__rutter"),
        ("user/.claude/settings.json", "mcp__rutter__*"),
    ] {
        let home = TestHome::new();
        let path = home.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json!({ "permissions": { "ask": [rule] } }).to_string()).unwrap();
        // Every run prints the note.
        for _ in 0..2 {
            let ran = init_scope(&home, "--local", &[]).assert_success();
            let told = format!(
                "{} has the `ask` rule `{rule}`, so Claude Code asks before each call of a rutter tool",
                path.display()
            );
            assert!(ran.stderr.contains(&told) && ran.stderr.lines().count() == 1, "{ran}");
        }
        assert_eq!(allow_rules(&home, "ship/.claude/settings.local.json"), json!(expected_rules()));
        assert_eq!(init_scope(&home, "--local", &["--no-allow"]).assert_success().stderr, "");
    }
    let home = TestHome::new();
    home.write_settings(r#"{"permissions":{"ask":["mcp__rutter__forget","Bash"]}}"#);
    assert_eq!(init_scope(&home, "--local", &[]).assert_success().stderr, "");
}

#[test]
fn no_allow_leaves_permissions_alone() {
    for (scope, file) in [
        ("--local", "ship/.claude/settings.local.json"),
        ("--user", "user/.claude/settings.json"),
        ("--project", "ship/.claude/settings.json"),
    ] {
        let home = TestHome::new();
        drop(init_scope(&home, scope, &["--no-allow"]).assert_success());
        assert_eq!(allow_rules(&home, file), Value::Null);
        assert_eq!(server_entry(&home, scope)["type"], "stdio");
        // Like an installation by an older rutter: `init` adds the missing parts, and `uninstall` removes everything.
        let (_, servers) = SCOPES.iter().find(|(name, _)| *name == scope).unwrap();
        fs::remove_file(home.path(servers)).unwrap();
        drop(init_scope(&home, scope, &[]).assert_success());
        assert_eq!(allow_rules(&home, file), json!(expected_rules()));
        assert_eq!(server_entry(&home, scope)["type"], "stdio");
        drop(home.rutter(&["uninstall", scope]).assert_success());
        assert!(!home.path(file).exists() && !home.path(servers).exists(), "{scope}");
    }
}

#[test]
fn whole_server_rule_becomes_names() {
    let home = TestHome::new();
    let text = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\", \"mcp__rutter\"]\n  }\n}\n";
    home.write_settings(text);
    drop(init_scope(&home, "--local", &[]).assert_success());
    let mut expected = vec!["Bash(ls)".to_owned()];
    expected.extend(expected_rules());
    assert_eq!(allow_rules(&home, "ship/.claude/settings.local.json"), json!(expected));
    // A second run changes nothing.
    let once = fs::read_to_string(home.settings()).unwrap();
    drop(init_scope(&home, "--local", &[]).assert_success());
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), once);
    drop(home.rutter(&["uninstall"]).assert_success());
    assert_eq!(allow_rules(&home, "ship/.claude/settings.local.json"), json!(["Bash(ls)"]));
}

#[test]
fn user_rules_stay_unchanged() {
    let home = TestHome::new();
    let text =
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\", \"mcp__rutter__forget\"]\n  }\n}\n";
    home.write_settings(text);
    drop(init_scope(&home, "--local", &[]).assert_success());
    let installed = allow_rules(&home, "ship/.claude/settings.local.json");
    assert_eq!(installed[1], "mcp__rutter__forget");
    drop(home.rutter(&["uninstall"]).assert_success());
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
}
