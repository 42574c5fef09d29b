//! Permission rules that allow, ask for or deny rutter's MCP tools.

use std::fs;

use serde_json::{Value, json};

use crate::init_server::{SCOPES, init, server};
use crate::support::Home;

/// Returns the rules that `init` writes: tools by name, except those that delete rows or search other projects.
pub(crate) fn allowed() -> Vec<String> {
    let tools = rutter_server::tools::TOOLS.iter().map(|tool| tool.name);
    let tools = tools.filter(|name| !["forget", "search_other_projects"].contains(name));
    tools.map(|name| format!("mcp__rutter__{name}")).collect()
}

/// Returns the allow rules of a settings file.
fn rules(home: &Home, file: &str) -> Value {
    let text = fs::read_to_string(home.path(file)).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["permissions"]["allow"].clone()
}

#[test]
fn a_rule_that_denies_is_respected_and_told_of() {
    for (file, rule) in [
        ("ship/.claude/settings.local.json", "mcp__rutter"),
        ("user/.claude/settings.json", "mcp__*"),
        ("ship/.claude/settings.json", "mcp__rutter__*"),
    ] {
        let home = Home::new();
        let path = home.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json!({ "permissions": { "deny": [rule] } }).to_string()).unwrap();
        let ran = init(&home, "--local", &[]).success();
        let told =
            format!("{} denies `{rule}`, so no tool of rutter's was allowed", path.display());
        assert!(ran.stderr.contains(&told), "{ran}");
        assert_eq!(rules(&home, "ship/.claude/settings.local.json"), Value::Null);
        assert_eq!(server(&home, "--local")["args"], json!(["mcp"]));
        let quiet = init(&home, "--local", &["--no-allow"]).success();
        assert_eq!(quiet.stderr, "");
    }
    // A user may deny single tools.
    let home = Home::new();
    home.has_settings(r#"{"permissions":{"deny":["mcp__rutter__status"]}}"#);
    assert_eq!(init(&home, "--local", &[]).success().stderr, "");
    assert_eq!(rules(&home, "ship/.claude/settings.local.json"), json!(allowed()));
}

#[test]
fn a_rule_by_which_the_client_asks_wins_and_is_told_of() {
    for (file, rule) in [
        ("ship/.claude/settings.local.json", "mcp__rutter"),
        ("user/.claude/settings.json", "mcp__rutter__*"),
    ] {
        let home = Home::new();
        let path = home.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json!({ "permissions": { "ask": [rule] } }).to_string()).unwrap();
        // Every run prints the note.
        for _ in 0..2 {
            let ran = init(&home, "--local", &[]).success();
            let told = format!(
                "{} has the client ask for `{rule}`, and that rule wins: it asks before every call",
                path.display()
            );
            assert!(ran.stderr.contains(&told) && ran.stderr.lines().count() == 1, "{ran}");
        }
        assert_eq!(rules(&home, "ship/.claude/settings.local.json"), json!(allowed()));
        assert_eq!(init(&home, "--local", &["--no-allow"]).success().stderr, "");
    }
    let home = Home::new();
    home.has_settings(r#"{"permissions":{"ask":["mcp__rutter__forget","Bash"]}}"#);
    assert_eq!(init(&home, "--local", &[]).success().stderr, "");
}

#[test]
fn permissions_are_left_alone_where_that_is_asked_for() {
    for (scope, file) in [
        ("--local", "ship/.claude/settings.local.json"),
        ("--user", "user/.claude/settings.json"),
        ("--project", "ship/.claude/settings.json"),
    ] {
        let home = Home::new();
        drop(init(&home, scope, &["--no-allow"]).success());
        assert_eq!(rules(&home, file), Value::Null);
        assert_eq!(server(&home, scope)["type"], "stdio");
        // Like an installation by an older rutter: `init` adds the missing parts, and `uninstall` removes everything.
        let (_, servers) = SCOPES.iter().find(|(name, _)| *name == scope).unwrap();
        fs::remove_file(home.path(servers)).unwrap();
        drop(init(&home, scope, &[]).success());
        assert_eq!(rules(&home, file), json!(allowed()));
        assert_eq!(server(&home, scope)["type"], "stdio");
        drop(home.rutter(&["uninstall", scope]).success());
        assert!(!home.path(file).exists() && !home.path(servers).exists(), "{scope}");
    }
}

#[test]
fn a_rule_for_all_tools_becomes_names() {
    let home = Home::new();
    let text = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\", \"mcp__rutter\"]\n  }\n}\n";
    home.has_settings(text);
    drop(init(&home, "--local", &[]).success());
    let mut expected = vec!["Bash(ls)".to_owned()];
    expected.extend(allowed());
    assert_eq!(rules(&home, "ship/.claude/settings.local.json"), json!(expected));
    // A second run changes nothing.
    let once = fs::read_to_string(home.settings()).unwrap();
    drop(init(&home, "--local", &[]).success());
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), once);
    drop(home.rutter(&["uninstall"]).success());
    assert_eq!(rules(&home, "ship/.claude/settings.local.json"), json!(["Bash(ls)"]));
}

#[test]
fn rules_of_the_user_stay() {
    let home = Home::new();
    let text =
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\", \"mcp__rutter__forget\"]\n  }\n}\n";
    home.has_settings(text);
    drop(init(&home, "--local", &[]).success());
    let installed = rules(&home, "ship/.claude/settings.local.json");
    assert_eq!(installed[1], "mcp__rutter__forget");
    drop(home.rutter(&["uninstall"]).success());
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
}
