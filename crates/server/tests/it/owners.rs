//! The owner of a call: the one that a hook recorded just before, else the session of the environment, else the
//! process.

use rutter_memory::session::Process;
use rutter_memory::store::entry::What;
use rutter_memory::store::{Record, spool};
use rutter_memory::{Clean, Id};
use rutter_server::{Desk, Whose, tools};
use serde_json::{Value, json};

use crate::support::{World, call, now, start, with};

fn as_call(desk: &Desk, tool_use: &str, tool: &str, arguments: Value) -> Value {
    tools::call(desk, tool, arguments, Some(tool_use)).unwrap().structured
}

/// Returns session and agent of the GHAP with this goal.
fn owner(world: &World, goal: &str) -> (String, Option<String>) {
    let mut owner = None;
    let mut store = world.store();
    store
        .export::<rutter_memory::StoreError>(None, |record| {
            if let Record::Ghap(ghap) = record
                && ghap.goal.as_str() == goal
            {
                let agent = ghap.agent.as_ref().map(ToString::to_string);
                owner = Some((ghap.session.to_string(), agent));
            }
            Ok(())
        })
        .unwrap();
    owner.unwrap()
}

fn goal(text: &str) -> Value {
    with(start(), json!({ "goal": text }))
}

fn pre_tool_use(id: &str, tool: &str) -> Value {
    json!({ "tool_name": tool, "tool_input": {}, "tool_use_id": id })
}

#[test]
fn the_hook_says_whose_call_it_is() {
    let world = World::new();
    drop(world.store());
    world.tell("session-7", "PreToolUse", pre_tool_use("toolu_1", "mcp__rutter__start_ghap"));
    as_call(&world.desk, "toolu_1", "start_ghap", goal("from seven"));
    assert_eq!(owner(&world, "from seven"), ("session-7".to_owned(), None));
    // A subagent is a separate owner.
    let agent = with(
        pre_tool_use("toolu_2", "mcp__plugin_rutter_rutter__start_ghap"),
        json!({ "agent_id": "a1", "agent_type": "general-purpose" }),
    );
    world.tell("session-7", "PreToolUse", agent);
    as_call(&world.desk, "toolu_2", "start_ghap", goal("from its agent"));
    let expected = ("session-7".to_owned(), Some("a1".to_owned()));
    assert_eq!(owner(&world, "from its agent"), expected);
}

#[test]
fn who_is_not_written_down_is_the_session_of_the_process() {
    let world = World::new();
    as_call(&world.desk, "toolu_unknown", "start_ghap", goal("from one"));
    assert_eq!(owner(&world, "from one"), ("session-1".to_owned(), None));
    call(&world.session("session-2"), "start_ghap", goal("from two"));
    assert_eq!(owner(&world, "from two"), ("session-2".to_owned(), None));
}

#[test]
fn a_process_without_a_session_is_one_by_itself() {
    let world = World::new();
    let process = || {
        let name = Clean::new(&format!("mcp:{}", Id::new(now())));
        let process = Process::of(std::process::id());
        Desk { otherwise: Whose::Process(name, process), ..world.desk.clone() }
    };
    let (one, two) = (process(), process());
    call(&one, "start_ghap", goal("of process one"));
    call(&two, "start_ghap", goal("of process two"));
    assert_ne!(owner(&world, "of process one").0, owner(&world, "of process two").0);
    let standing = Desk { otherwise: Whose::Standing, ..world.desk.clone() };
    assert_eq!(call(&standing, "get_ghap", json!({}))["has_active"], false);
    call(&standing, "start_ghap", goal("of the command line"));
    assert_eq!(call(&standing, "get_ghap", json!({}))["has_active"], true, "all of them are one");
}

#[test]
fn what_the_hook_had_to_leave_in_the_spool_is_found() {
    let world = World::new();
    drop(world.store());
    let entry =
        world.entry("session-8", What::Calls(Clean::new("toolu_8"), Some(Clean::new("a8"))));
    spool::append(&world.files(), &[entry]).unwrap();
    as_call(&world.desk, "toolu_8", "start_ghap", goal("from the spool"));
    assert_eq!(owner(&world, "from the spool"), ("session-8".to_owned(), Some("a8".to_owned())));
}

/// Another process drains the spool and waits for the database meanwhile.
#[test]
fn a_call_whose_owner_waits_in_the_spool_lands_with_nobody_else() {
    let world = World::new();
    drop(world.store());
    let entry = world.entry("session-8", What::Calls(Clean::new("toolu_8"), None));
    spool::append(&world.files(), &[entry]).unwrap();
    let tending = std::fs::File::open(world.files().spool()).unwrap();
    tending.lock().unwrap();
    let refusal = tools::call(&world.desk, "start_ghap", goal("not yet"), Some("toolu_8"));
    let refusal = refusal.unwrap_err().to_string();
    assert_eq!(
        refusal,
        "the memory is busy, and whose call this is waits to be written down; nothing was done, try again"
    );
    assert_eq!(world.files_with("not yet"), [] as [std::path::PathBuf; 0]);
    drop(tending);
    as_call(&world.desk, "toolu_8", "start_ghap", goal("now"));
    assert_eq!(owner(&world, "now"), ("session-8".to_owned(), None));
}

#[test]
fn what_a_process_left_open_is_there_once_the_process_is_gone() {
    let world = World::new();
    let desk = |name: &str, process: Process| Desk {
        otherwise: Whose::Process(Clean::new(name), process),
        ..world.desk.clone()
    };
    let me = Process::of(std::process::id());
    let mut child =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let (one, two) = (desk("mcp:one", Process::of(child.id())), desk("mcp:two", me));
    let id = call(&one, "start_ghap", goal("left open"))["id"].clone();
    assert_eq!(call(&two, "get_ghap", json!({})), json!({ "has_active": false }), "it runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(call(&two, "get_ghap", json!({}))["orphans"][0]["id"], id);
    call(&two, "adopt_ghap", json!({}));
    assert_eq!(owner(&world, "left open").0, "mcp:two");
}

#[test]
fn the_place_is_the_callers_and_not_the_servers() {
    let world = World::new();
    drop(world.store());
    world.tell("session-7", "PreToolUse", pre_tool_use("toolu_1", "mcp__rutter__status"));
    let boat = world.elsewhere("boat");
    let here = as_call(&boat, "toolu_1", "status", json!({}));
    let there = call(&boat, "status", json!({}));
    assert_ne!(here["project"], there["project"]);
    assert!(here["project"].as_str().unwrap().ends_with("ship"), "{here}");
    assert_eq!(here["session"], "session-7");
}
