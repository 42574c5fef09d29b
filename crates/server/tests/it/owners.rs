//! The owner of a call: the one that a hook recorded just before, else the session of the environment, else the
//! process.

use rutter_memory::session::SessionProcess;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::{ExportRecord, spool};
use rutter_memory::{Clean, Id};
use rutter_server::{CallerIdentity, ServerContext, tools};
use serde_json::{Value, json};

use crate::support::{ToolTestEnv, call_ok, ghap_start_arguments, now, with_fields};

fn call_with_id(desk: &ServerContext, tool_use: &str, tool: &str, arguments: Value) -> Value {
    tools::call_tool(desk, tool, arguments, Some(tool_use)).unwrap().structured
}

/// Returns session and agent of the GHAP with this goal.
fn ghap_owner(world: &ToolTestEnv, goal: &str) -> (String, Option<String>) {
    let mut owner = None;
    let mut store = world.store();
    store
        .export::<rutter_memory::StoreError>(None, |record| {
            if let ExportRecord::Ghap(ghap) = record
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

fn start_with_goal(text: &str) -> Value {
    with_fields(ghap_start_arguments(), json!({ "goal": text }))
}

fn pre_tool_use(id: &str, tool: &str) -> Value {
    json!({ "tool_name": tool, "tool_input": {}, "tool_use_id": id })
}

#[test]
fn hook_records_call_owner() {
    let world = ToolTestEnv::new();
    drop(world.store());
    world.run_hook_message(
        "session-7",
        "PreToolUse",
        pre_tool_use("toolu_1", "mcp__rutter__start_ghap"),
    );
    call_with_id(&world.desk, "toolu_1", "start_ghap", start_with_goal("from seven"));
    assert_eq!(ghap_owner(&world, "from seven"), ("session-7".to_owned(), None));
    // A subagent is a separate owner.
    let agent = with_fields(
        pre_tool_use("toolu_2", "mcp__plugin_rutter_rutter__start_ghap"),
        json!({ "agent_id": "a1", "agent_type": "general-purpose" }),
    );
    world.run_hook_message("session-7", "PreToolUse", agent);
    call_with_id(&world.desk, "toolu_2", "start_ghap", start_with_goal("from its agent"));
    let expected = ("session-7".to_owned(), Some("a1".to_owned()));
    assert_eq!(ghap_owner(&world, "from its agent"), expected);
}

#[test]
fn unrecorded_call_uses_process_session() {
    let world = ToolTestEnv::new();
    call_with_id(&world.desk, "toolu_unknown", "start_ghap", start_with_goal("from one"));
    assert_eq!(ghap_owner(&world, "from one"), ("session-1".to_owned(), None));
    call_ok(&world.session("session-2"), "start_ghap", start_with_goal("from two"));
    assert_eq!(ghap_owner(&world, "from two"), ("session-2".to_owned(), None));
}

#[test]
fn process_without_session_is_separate() {
    let world = ToolTestEnv::new();
    let process = || {
        let name = Clean::new(&format!("mcp:{}", Id::new(now())));
        let process = SessionProcess::from_pid(std::process::id());
        ServerContext {
            default_caller: CallerIdentity::Process(name, process),
            ..world.desk.clone()
        }
    };
    let (one, two) = (process(), process());
    call_ok(&one, "start_ghap", start_with_goal("of process one"));
    call_ok(&two, "start_ghap", start_with_goal("of process two"));
    assert_ne!(ghap_owner(&world, "of process one").0, ghap_owner(&world, "of process two").0);
    let standing = ServerContext { default_caller: CallerIdentity::Standing, ..world.desk.clone() };
    assert_eq!(call_ok(&standing, "get_ghap", json!({}))["has_active"], false);
    call_ok(&standing, "start_ghap", start_with_goal("of the command line"));
    assert_eq!(
        call_ok(&standing, "get_ghap", json!({}))["has_active"],
        true,
        "all of them are one"
    );
}

#[test]
fn owner_is_found_in_spool() {
    let world = ToolTestEnv::new();
    drop(world.store());
    let entry =
        world.entry("session-8", EntryKind::Calls(Clean::new("toolu_8"), Some(Clean::new("a8"))));
    spool::append_entries(&world.files(), &[entry]).unwrap();
    call_with_id(&world.desk, "toolu_8", "start_ghap", start_with_goal("from the spool"));
    assert_eq!(
        ghap_owner(&world, "from the spool"),
        ("session-8".to_owned(), Some("a8".to_owned()))
    );
}

/// Another process drains the spool and waits for the database meanwhile.
#[test]
fn call_waits_for_spooled_owner() {
    let world = ToolTestEnv::new();
    drop(world.store());
    let entry = world.entry("session-8", EntryKind::Calls(Clean::new("toolu_8"), None));
    spool::append_entries(&world.files(), &[entry]).unwrap();
    let tending = std::fs::File::open(world.files().spool()).unwrap();
    tending.lock().unwrap();
    let refusal =
        tools::call_tool(&world.desk, "start_ghap", start_with_goal("not yet"), Some("toolu_8"));
    let refusal = refusal.unwrap_err().to_string();
    assert_eq!(
        refusal,
        "the memory is busy, so the session of this call is not recorded yet; nothing was done; try again"
    );
    assert_eq!(world.files_with("not yet"), [] as [std::path::PathBuf; 0]);
    drop(tending);
    call_with_id(&world.desk, "toolu_8", "start_ghap", start_with_goal("now"));
    assert_eq!(ghap_owner(&world, "now"), ("session-8".to_owned(), None));
}

#[test]
fn dead_process_leaves_orphan() {
    let world = ToolTestEnv::new();
    let desk = |name: &str, process: SessionProcess| ServerContext {
        default_caller: CallerIdentity::Process(Clean::new(name), process),
        ..world.desk.clone()
    };
    let me = SessionProcess::from_pid(std::process::id());
    let mut child =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let (one, two) = (desk("mcp:one", SessionProcess::from_pid(child.id())), desk("mcp:two", me));
    let id = call_ok(&one, "start_ghap", start_with_goal("left open"))["id"].clone();
    assert_eq!(call_ok(&two, "get_ghap", json!({})), json!({ "has_active": false }), "it runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(call_ok(&two, "get_ghap", json!({}))["orphans"][0]["id"], id);
    call_ok(&two, "adopt_ghap", json!({}));
    assert_eq!(ghap_owner(&world, "left open").0, "mcp:two");
}

#[test]
fn call_uses_callers_project() {
    let world = ToolTestEnv::new();
    drop(world.store());
    world.run_hook_message(
        "session-7",
        "PreToolUse",
        pre_tool_use("toolu_1", "mcp__rutter__status"),
    );
    let boat = world.elsewhere("boat");
    let here = call_with_id(&boat, "toolu_1", "status", json!({}));
    let there = call_ok(&boat, "status", json!({}));
    assert_ne!(here["project"], there["project"]);
    assert!(here["project"].as_str().unwrap().ends_with("ship"), "{here}");
    assert_eq!(here["session"], "session-7");
}
