use std::fs;

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::init_server::init_scope;
use crate::support::TestHome;

/// Starts a session and returns the context given by the hook. [`create_orphaned_ghap`] must run before.
fn session_start_context(home: &TestHome, session: &str) -> String {
    let ran = home.hook(&home.event(session, "SessionStart", &json!({ "source": "startup" })));
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{ran}");
    additional_context(&ran)
}

fn additional_context(ran: &CommandOutput) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

/// Creates a GHAP that was left open by an ended session.
fn create_orphaned_ghap(home: &TestHome) {
    home.write_config(&[]);
    let args = [
        "ghap",
        "start",
        "--domain",
        "debugging",
        "--strategy",
        "read-the-error",
        "--goal",
        "g",
        "--hypothesis",
        "h",
        "--action",
        "a",
        "--prediction",
        "`cargo test` passes",
    ];
    let mut start = home.command(&args);
    drop(CommandOutput::run(start.env("CLAUDE_CODE_SESSION_ID", "earlier")).assert_success());
    drop(
        home.hook(&home.event("earlier", "SessionEnd", &json!({ "reason": "exit" })))
            .assert_success(),
    );
}

/// Runs the hook of an MCP tool call.
fn call_tool(home: &TestHome, session: &str, id: &str) {
    let fields = json!({ "tool_name": "mcp__rutter__status", "tool_input": {}, "tool_use_id": id });
    drop(home.hook(&home.event(session, "PreToolUse", &fields)).assert_success());
}

fn client_state(home: &TestHome) -> Value {
    serde_json::from_slice(&fs::read(home.path("user/.claude.json")).unwrap()).unwrap()
}

/// Writes the client's state file in the client's format.
fn write_client_state(home: &TestHome, state: &Value) {
    fs::write(home.path("user/.claude.json"), format!("{state:#}\n")).unwrap();
}

fn names_tools(text: &str) -> bool {
    let (tools, commands) = (text.contains("`adopt_ghap`"), text.contains("ghap adopt"));
    assert!(tools != commands, "{text}");
    assert_eq!(commands, text.contains("ghap start --domain"), "{text}");
    assert!(tools || !text.contains("`start_ghap`"), "{text}");
    tools
}

#[test]
fn first_session_names_tools() {
    for scope in ["--local", "--user"] {
        let home = TestHome::new();
        create_orphaned_ghap(&home);
        assert!(!names_tools(&session_start_context(&home, "before")), "{scope}");
        drop(init_scope(&home, scope, &[]).assert_success());
        let first = session_start_context(&home, "first");
        assert!(names_tools(&first) && first.contains("a guess: `start_ghap`"), "{scope}: {first}");
        // The client rewrites its state file with other keys.
        let mut later = client_state(&home);
        later["numStartups"] = json!(7);
        later["projects"]["/elsewhere"] =
            json!({ "mcpServers": {}, "history": [{ "display": "\"rutter\": {" }] });
        write_client_state(&home, &later);
        assert!(names_tools(&session_start_context(&home, "second")), "{scope}");
        // After a compaction the hook names tools too, although a command adopted the GHAP.
        let id = home.json(&["ghap", "list"])[0]["id"].as_str().unwrap().to_owned();
        let mut adopt = home.command(&["ghap", "adopt", &id]);
        drop(CommandOutput::run(adopt.env("CLAUDE_CODE_SESSION_ID", "second")).assert_success());
        let resumed = home.event("second", "SessionStart", &json!({ "source": "compact" }));
        let text = additional_context(&home.hook(&resumed).assert_success());
        assert!(text.contains("`resolve_ghap`") && !text.contains("ghap resolve"), "{text}");
    }
}

#[test]
fn removed_server_switches_to_commands() {
    let home = TestHome::new();
    create_orphaned_ghap(&home);
    drop(init_scope(&home, "--local", &[]).assert_success());
    let with = client_state(&home);
    call_tool(&home, "used", "toolu_1");
    let next = session_start_context(&home, "next");
    // A tool was called before, so the introduction is left out.
    assert!(names_tools(&next) && !next.contains("`start_ghap`"), "{next}");
    // The effect of `claude mcp remove rutter`. The hooks stay.
    let mut without = with.clone();
    for project in without["projects"].as_object_mut().unwrap().values_mut() {
        project["mcpServers"] = json!({});
    }
    write_client_state(&home, &without);
    assert!(!names_tools(&session_start_context(&home, "after")));
    // The same if the server is switched off, is another program, or all its tools are denied.
    let mut off = with.clone();
    let mut foreign = with.clone();
    for project in off["projects"].as_object_mut().unwrap().values_mut() {
        project["disabledMcpServers"] = json!(["rutter"]);
    }
    for project in foreign["projects"].as_object_mut().unwrap().values_mut() {
        project["mcpServers"]["rutter"] = json!({ "command": "npx", "args": ["rutter"] });
    }
    for (number, state) in [off, foreign].iter().enumerate() {
        write_client_state(&home, state);
        assert!(!names_tools(&session_start_context(&home, &format!("other-{number}"))), "{state}");
    }
    write_client_state(&home, &with);
    assert!(names_tools(&session_start_context(&home, "again")));
    fs::create_dir_all(home.path("user/.claude")).unwrap();
    let denied = json!({ "permissions": { "deny": ["mcp__rutter"] } });
    fs::write(home.path("user/.claude/settings.json"), denied.to_string()).unwrap();
    assert!(!names_tools(&session_start_context(&home, "denied")));
}

#[test]
fn unreadable_state_falls_back_to_calls() {
    let home = TestHome::new();
    create_orphaned_ghap(&home);
    drop(init_scope(&home, "--local", &[]).assert_success());
    let text = fs::read_to_string(home.path("user/.claude.json")).unwrap();
    let unknown = [
        "{".to_owned(),
        String::new(),
        "\u{0}".repeat(100),
        client_state(&home).to_string(),
        // Above the size limit of the hook.
        text.replacen("{\n", &format!("{{\n  \"a\": \"{}\",\n", "x".repeat(1 << 20)), 1),
    ];
    for (number, text) in unknown.iter().enumerate() {
        fs::write(home.path("user/.claude.json"), text).unwrap();
        assert!(
            !names_tools(&session_start_context(&home, &format!("unused-{number}"))),
            "{number}"
        );
    }
    call_tool(&home, "used", "toolu_1");
    for (number, text) in unknown.iter().enumerate() {
        fs::write(home.path("user/.claude.json"), text).unwrap();
        call_tool(&home, "used", &format!("toolu_2{number}"));
        assert!(names_tools(&session_start_context(&home, &format!("next-{number}"))), "{number}");
        drop(
            home.hook(&home.event("used", "SessionEnd", &json!({ "reason": "exit" })))
                .assert_success(),
        );
    }
    // The hook does not wait for a pipe of that name.
    fs::remove_file(home.path("user/.claude.json")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        home.path("user/.claude.json"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    assert!(!session_start_context(&home, "pipe").is_empty());
}
