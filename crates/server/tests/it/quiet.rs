//! Paused or excluded callers: nothing is stored and nothing is recalled.

use rutter_memory::{Clean, pause};
use rutter_server::tools::{self, TOOLS};
use rutter_server::{CallChannel, ServerContext};
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, assert_refused, call_ok, call_refused, confirm_arguments, exported_rows,
    ghap_start_arguments,
};

/// Returns valid arguments for each tool.
fn arguments(tool: &str) -> Value {
    match tool {
        "start_ghap" => ghap_start_arguments(),
        "update_ghap" => json!({ "note": "x" }),
        "resolve_ghap" => confirm_arguments(),
        "search_experiences" | "search_other_projects" => json!({ "query": "anything" }),
        "premortem" => json!({ "domain": "debugging" }),
        "remember" => json!({ "content": "x", "category": "fact" }),
        "forget" => json!({ "ids": ["0123abcd"] }),
        "add_value" => json!({ "cluster": "0123abcd", "text": "look twice" }),
        _ => json!({}),
    }
}

/// Calls every tool but `status`, and returns the refusal, which must be the same for all.
fn common_refusal(desk: &ServerContext) -> String {
    let mut said: Vec<String> = TOOLS
        .iter()
        .filter(|tool| tool.name != "status")
        .map(|tool| call_refused(desk, tool.name, arguments(tool.name)))
        .collect();
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

fn exclude(world: &ToolTestEnv, folder: &ServerContext) {
    let text = std::fs::read_to_string(&world.desk.config).unwrap();
    let scope = format!("[scope]\nexclude = [\"{}\"]\n", folder.folder.display());
    std::fs::write(&world.desk.config, text + &scope).unwrap();
}

/// Creates a store with a memory and a GHAP.
fn world_with_rows() -> ToolTestEnv {
    let world = ToolTestEnv::new();
    world.call_ok("remember", json!({ "content": "the harbour freezes", "category": "fact" }));
    world.call_ok("start_ghap", ghap_start_arguments());
    world
}

#[test]
fn excluded_folder_refuses_calls() {
    let world = world_with_rows();
    exclude(&world, &world.desk);
    let said = common_refusal(&world.desk);
    let expected = format!(
        "this folder is excluded: nothing of it is kept, and nothing recalled in it; `scope.exclude` in {} says so",
        world.desk.config.display()
    );
    assert_eq!(said, expected);
    let status = world.call_ok("status", json!({}));
    assert_eq!(status["quiet"], said);
    assert_eq!((&status["memories"], &status["active"]), (&json!(1), &Value::Null));
    // Other folders are not affected.
    call_ok(&world.elsewhere("boat"), "remember", arguments("remember"));
    // A person who types is not refused.
    let typed = ServerContext { channel: CallChannel::CommandLine, ..world.desk.clone() };
    call_ok(&typed, "remember", arguments("remember"));
}

#[test]
fn project_file_exclusion_is_named() {
    let world = world_with_rows();
    std::fs::write(world.desk.folder.join(".rutter.toml"), "[scope]\nexclude = [\".\"]\n").unwrap();
    let said = common_refusal(&world.desk);
    assert!(said.ends_with("ship/.rutter.toml says so"), "{said}");
}

#[test]
fn pause_refuses_calls() {
    let world = world_with_rows();
    pause::pause(&world.files(), None).unwrap();
    assert_refused!(common_refusal(&world.desk), @"rutter is paused: nothing is stored or recalled; `rutter pause --off` ends the pause");
    // Hooks record no owner during a pause, so the call does not wait for one.
    let any = ServerContext { channel: CallChannel::AnyClient, ..world.desk.clone() };
    let refusal = tools::call_tool(&any, "remember", arguments("remember"), Some("toolu_1"));
    assert!(refusal.unwrap_err().to_string().starts_with("rutter is paused"));
    pause::resume(&world.files(), None).unwrap();
    pause::pause(&world.files(), Some(&Clean::new("session-1"))).unwrap();
    assert_refused!(common_refusal(&world.desk), @"this session is paused: nothing is kept or recalled; `rutter pause --session session-1 --off` ends it");
    call_ok(&world.session("session-2"), "remember", arguments("remember"));
}

#[test]
fn rutter_off_refuses_calls() {
    let world = world_with_rows();
    let off = ServerContext { off: true, ..world.desk.clone() };
    assert_refused!(common_refusal(&off), @"RUTTER=off is set for this server, so nothing is stored or recalled; start the client without it");
    let status = call_ok(&off, "status", json!({}));
    assert!(status["quiet"].as_str().unwrap().starts_with("RUTTER=off"), "{status}");
}

/// A server that many clients share runs in a folder that belongs to none of them.
#[test]
fn shared_server_respects_exclusion() {
    let world = world_with_rows();
    let boat = world.elsewhere("boat");
    exclude(&world, &boat);
    let any = ServerContext { channel: CallChannel::AnyClient, ..world.desk.clone() };
    let tell = |id: &str, folder: &ServerContext| {
        let fields = json!({
            "tool_name": "mcp__rutter__remember", "tool_input": {}, "tool_use_id": id, "cwd": folder.folder,
        });
        world.run_hook_message("session-9", "PreToolUse", fields);
    };
    tell("toolu_boat", &boat);
    tell("toolu_ship", &world.desk);
    let before = exported_rows(&any);
    let secret = json!({ "content": "the client of the boat", "category": "fact" });
    let refusal =
        tools::call_tool(&any, "remember", secret.clone(), Some("toolu_boat")).unwrap_err();
    assert_refused!(refusal.to_string(), @"no rutter hook recorded the session of this call, so nothing was done: hooks are paused, the folder is excluded, or `rutter init` was not run there");
    assert_eq!(exported_rows(&any), before);
    assert_eq!(world.files_with("the client of the boat").len(), 0);
    // A call with a recorded owner succeeds, and so does one of a client that sends no call ids.
    tools::call_tool(&any, "remember", secret.clone(), Some("toolu_ship")).unwrap();
    call_ok(&any, "remember", secret);
}
