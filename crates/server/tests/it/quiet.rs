//! Paused or excluded callers: nothing is stored and nothing is recalled.

use rutter_memory::{Clean, pause};
use rutter_server::tools::{self, TOOLS};
use rutter_server::{Desk, Door};
use serde_json::{Value, json};

use crate::support::{World, assert_refused, call, confirm, refused, rows, start};

/// Returns valid arguments for each tool.
fn arguments(tool: &str) -> Value {
    match tool {
        "start_ghap" => start(),
        "update_ghap" => json!({ "note": "x" }),
        "resolve_ghap" => confirm(),
        "search_experiences" | "search_other_projects" => json!({ "query": "anything" }),
        "premortem" => json!({ "domain": "debugging" }),
        "remember" => json!({ "content": "x", "category": "fact" }),
        "forget" => json!({ "ids": ["0123abcd"] }),
        "add_value" => json!({ "cluster": "0123abcd", "text": "look twice" }),
        _ => json!({}),
    }
}

/// Calls every tool but `status`, and returns the refusal, which must be the same for all.
fn said_by_all(desk: &Desk) -> String {
    let mut said: Vec<String> = TOOLS
        .iter()
        .filter(|tool| tool.name != "status")
        .map(|tool| refused(desk, tool.name, arguments(tool.name)))
        .collect();
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

fn exclude(world: &World, folder: &Desk) {
    let text = std::fs::read_to_string(&world.desk.config).unwrap();
    let scope = format!("[scope]\nexclude = [\"{}\"]\n", folder.folder.display());
    std::fs::write(&world.desk.config, text + &scope).unwrap();
}

/// Creates a store with a memory and a GHAP.
fn known() -> World {
    let world = World::new();
    world.call("remember", json!({ "content": "the harbour freezes", "category": "fact" }));
    world.call("start_ghap", start());
    world
}

#[test]
fn nothing_comes_of_a_call_in_an_excluded_folder() {
    let world = known();
    exclude(&world, &world.desk);
    let said = said_by_all(&world.desk);
    let expected = format!(
        "this folder is excluded: nothing of it is kept, and nothing recalled in it; `scope.exclude` in {} says so",
        world.desk.config.display()
    );
    assert_eq!(said, expected);
    let status = world.call("status", json!({}));
    assert_eq!(status["quiet"], said);
    assert_eq!((&status["memories"], &status["active"]), (&json!(1), &Value::Null));
    // Other folders are not affected.
    call(&world.elsewhere("boat"), "remember", arguments("remember"));
    // A person who types is not refused.
    let typed = Desk { door: Door::Typed, ..world.desk.clone() };
    call(&typed, "remember", arguments("remember"));
}

#[test]
fn the_file_of_a_project_can_exclude_and_is_named() {
    let world = known();
    std::fs::write(world.desk.folder.join(".rutter.toml"), "[scope]\nexclude = [\".\"]\n").unwrap();
    let said = said_by_all(&world.desk);
    assert!(said.ends_with("ship/.rutter.toml says so"), "{said}");
}

#[test]
fn nothing_comes_of_a_call_during_a_pause() {
    let world = known();
    pause::pause(&world.files(), None).unwrap();
    assert_refused!(said_by_all(&world.desk), @"rutter is paused: nothing is kept or recalled; `rutter pause --off` ends it");
    // Hooks record no owner during a pause, so the call does not wait for one.
    let any = Desk { door: Door::Anybody, ..world.desk.clone() };
    let refusal = tools::call(&any, "remember", arguments("remember"), Some("toolu_1"));
    assert!(refusal.unwrap_err().to_string().starts_with("rutter is paused"));
    pause::resume(&world.files(), None).unwrap();
    pause::pause(&world.files(), Some(&Clean::new("session-1"))).unwrap();
    assert_refused!(said_by_all(&world.desk), @"this session is paused: nothing is kept or recalled; `rutter pause --session session-1 --off` ends it");
    call(&world.session("session-2"), "remember", arguments("remember"));
}

#[test]
fn nothing_comes_of_a_call_where_it_is_switched_off() {
    let world = known();
    let off = Desk { off: true, ..world.desk.clone() };
    assert_refused!(said_by_all(&off), @"RUTTER=off is set where this server was started: nothing is kept or recalled; start the client without it");
    let status = call(&off, "status", json!({}));
    assert!(status["quiet"].as_str().unwrap().starts_with("RUTTER=off"), "{status}");
}

/// A server that many clients share runs in a folder that belongs to none of them.
#[test]
fn what_is_said_in_an_excluded_folder_does_not_land_where_the_server_stands() {
    let world = known();
    let boat = world.elsewhere("boat");
    exclude(&world, &boat);
    let any = Desk { door: Door::Anybody, ..world.desk.clone() };
    let tell = |id: &str, folder: &Desk| {
        let fields = json!({
            "tool_name": "mcp__rutter__remember", "tool_input": {}, "tool_use_id": id, "cwd": folder.folder,
        });
        world.tell("session-9", "PreToolUse", fields);
    };
    tell("toolu_boat", &boat);
    tell("toolu_ship", &world.desk);
    let before = rows(&any);
    let secret = json!({ "content": "the client of the boat", "category": "fact" });
    let refusal = tools::call(&any, "remember", secret.clone(), Some("toolu_boat")).unwrap_err();
    assert_refused!(refusal.to_string(), @"no hook of rutter's said whose call this is: hooks are paused, the folder is excluded, or `rutter init` was not run there");
    assert_eq!(rows(&any), before);
    assert_eq!(world.files_with("the client of the boat").len(), 0);
    // A call with a recorded owner succeeds, and so does one of a client that sends no call ids.
    tools::call(&any, "remember", secret.clone(), Some("toolu_ship")).unwrap();
    call(&any, "remember", secret);
}
