use std::fs;

use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::init_server::init;
use crate::support::Home;

/// Starts a session and returns the context given by the hook. [`leave_something`] must run before.
fn told(home: &Home, session: &str) -> String {
    let ran = home.hook(&home.event(session, "SessionStart", &json!({ "source": "startup" })));
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{ran}");
    context(&ran)
}

fn context(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

/// Creates a GHAP that was left open by an ended session.
fn leave_something(home: &Home) {
    home.set(&[]);
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
    drop(Ran::of(start.env("CLAUDE_CODE_SESSION_ID", "earlier")).success());
    drop(home.hook(&home.event("earlier", "SessionEnd", &json!({ "reason": "exit" }))).success());
}

/// Runs the hook of an MCP tool call.
fn calls(home: &Home, session: &str, id: &str) {
    let fields = json!({ "tool_name": "mcp__rutter__status", "tool_input": {}, "tool_use_id": id });
    drop(home.hook(&home.event(session, "PreToolUse", &fields)).success());
}

fn state(home: &Home) -> Value {
    serde_json::from_slice(&fs::read(home.path("user/.claude.json")).unwrap()).unwrap()
}

/// Writes the client's state file in the client's format.
fn write(home: &Home, state: &Value) {
    fs::write(home.path("user/.claude.json"), format!("{state:#}\n")).unwrap();
}

fn speaks_of_tools(text: &str) -> bool {
    let (tools, commands) = (text.contains("`adopt_ghap`"), text.contains("ghap adopt"));
    assert!(tools != commands, "{text}");
    assert_eq!(commands, text.contains("ghap start --domain"), "{text}");
    assert!(tools || !text.contains("`start_ghap`"), "{text}");
    tools
}

#[test]
fn the_first_session_after_init_is_told_of_the_tools_that_it_has() {
    for scope in ["--local", "--user"] {
        let home = Home::new();
        leave_something(&home);
        assert!(!speaks_of_tools(&told(&home, "before")), "{scope}");
        drop(init(&home, scope, &[]).success());
        let first = told(&home, "first");
        assert!(
            speaks_of_tools(&first) && first.contains("a guess: `start_ghap`"),
            "{scope}: {first}"
        );
        // The client rewrites its state file with other keys.
        let mut later = state(&home);
        later["numStartups"] = json!(7);
        later["projects"]["/elsewhere"] =
            json!({ "mcpServers": {}, "history": [{ "display": "\"rutter\": {" }] });
        write(&home, &later);
        assert!(speaks_of_tools(&told(&home, "second")), "{scope}");
        // After a compaction the hook names tools too, although a command adopted the GHAP.
        let id = home.json(&["ghap", "list"])[0]["id"].as_str().unwrap().to_owned();
        let mut adopt = home.command(&["ghap", "adopt", &id]);
        drop(Ran::of(adopt.env("CLAUDE_CODE_SESSION_ID", "second")).success());
        let resumed = home.event("second", "SessionStart", &json!({ "source": "compact" }));
        let text = context(&home.hook(&resumed).success());
        assert!(text.contains("`resolve_ghap`") && !text.contains("ghap resolve"), "{text}");
    }
}

#[test]
fn a_server_that_is_gone_is_not_spoken_of_whoever_called_it() {
    let home = Home::new();
    leave_something(&home);
    drop(init(&home, "--local", &[]).success());
    let with = state(&home);
    calls(&home, "used", "toolu_1");
    let next = told(&home, "next");
    // A tool was called before, so the introduction is left out.
    assert!(speaks_of_tools(&next) && !next.contains("`start_ghap`"), "{next}");
    // The effect of `claude mcp remove rutter`. The hooks stay.
    let mut without = with.clone();
    for project in without["projects"].as_object_mut().unwrap().values_mut() {
        project["mcpServers"] = json!({});
    }
    write(&home, &without);
    assert!(!speaks_of_tools(&told(&home, "after")));
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
        write(&home, state);
        assert!(!speaks_of_tools(&told(&home, &format!("other-{number}"))), "{state}");
    }
    write(&home, &with);
    assert!(speaks_of_tools(&told(&home, "again")));
    fs::create_dir_all(home.path("user/.claude")).unwrap();
    let denied = json!({ "permissions": { "deny": ["mcp__rutter"] } });
    fs::write(home.path("user/.claude/settings.json"), denied.to_string()).unwrap();
    assert!(!speaks_of_tools(&told(&home, "denied")));
}

#[test]
fn where_nothing_can_be_known_what_was_called_counts() {
    let home = Home::new();
    leave_something(&home);
    drop(init(&home, "--local", &[]).success());
    let text = fs::read_to_string(home.path("user/.claude.json")).unwrap();
    let unknown = [
        "{".to_owned(),
        String::new(),
        "\u{0}".repeat(100),
        state(&home).to_string(),
        // Above the size limit of the hook.
        text.replacen("{\n", &format!("{{\n  \"a\": \"{}\",\n", "x".repeat(1 << 20)), 1),
    ];
    for (number, text) in unknown.iter().enumerate() {
        fs::write(home.path("user/.claude.json"), text).unwrap();
        assert!(!speaks_of_tools(&told(&home, &format!("unused-{number}"))), "{number}");
    }
    calls(&home, "used", "toolu_1");
    for (number, text) in unknown.iter().enumerate() {
        fs::write(home.path("user/.claude.json"), text).unwrap();
        calls(&home, "used", &format!("toolu_2{number}"));
        assert!(speaks_of_tools(&told(&home, &format!("next-{number}"))), "{number}");
        drop(home.hook(&home.event("used", "SessionEnd", &json!({ "reason": "exit" }))).success());
    }
    // The hook does not wait for a pipe of that name.
    fs::remove_file(home.path("user/.claude.json")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        home.path("user/.claude.json"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    assert!(!told(&home, "pipe").is_empty());
}
