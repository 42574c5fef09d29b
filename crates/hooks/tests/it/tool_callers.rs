//! Callers of the MCP tools: the hook records the caller, the server looks it up.

use rutter_memory::Time;
use rutter_memory::store::GhapOwner;
use rutter_memory::store::entry::EntryKind;
use serde_json::json;

use rutter_testkit::story::HookStory;
use rutter_testkit::world::TestWorld;

fn call_tool(story: &HookStory<'_>, tool: &str, id: &str) {
    let fields = json!({ "tool_name": tool, "tool_input": {}, "tool_use_id": id });
    assert_eq!(
        HookStory::context_text(&story.send_event("PreToolUse", &fields)),
        "",
        "it is written down in silence"
    );
}

fn recorded_caller(world: &TestWorld, id: &str) -> Option<(String, Option<String>)> {
    let GhapOwner { client, agent, .. } = world.store().find_caller(id).unwrap()?;
    Some((client.unwrap().to_string(), agent.map(|agent| agent.to_string())))
}

fn main_agent(session: &str) -> (String, Option<String>) {
    (session.to_owned(), None)
}

#[test]
fn records_caller_of_own_tools() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    call_tool(&story, "mcp__rutter__start_ghap", "toolu_1");
    call_tool(&story, "mcp__plugin_rutter_rutter__status", "toolu_2");
    story.agent = Some("a1");
    call_tool(&story, "mcp__rutter__start_ghap", "toolu_3");
    story.agent = None;
    story.session = "session-2";
    call_tool(&story, "mcp__rutter__start_ghap", "toolu_4");
    assert_eq!(recorded_caller(&world, "toolu_1"), Some(main_agent("session-1")));
    assert_eq!(recorded_caller(&world, "toolu_2"), Some(main_agent("session-1")));
    assert_eq!(
        recorded_caller(&world, "toolu_3"),
        Some(("session-1".to_owned(), Some("a1".to_owned())))
    );
    assert_eq!(recorded_caller(&world, "toolu_4"), Some(main_agent("session-2")));
    assert_eq!(recorded_caller(&world, "toolu_5"), None);
    assert_eq!(recorded_caller(&world, ""), None);
    let owner = world.store().find_caller("toolu_1").unwrap().unwrap();
    assert_eq!(owner.place, world.place());
}

#[test]
fn ignores_foreign_tools() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    for tool in [
        "Bash",
        "Read",
        "rutter",
        "mcp__rutter",
        "mcp__rutter_x__start_ghap",
        "mcp__other__rutter__start_ghap",
        "mcp__plugin_other_rutter__start_ghap",
        "xmcp__rutter__start_ghap",
    ] {
        call_tool(&story, tool, tool);
        assert_eq!(recorded_caller(&world, tool), None, "{tool}");
    }
    call_tool(&story, "mcp__rutter__status", "");
    assert_eq!(recorded_caller(&world, ""), None, "a call without a name cannot be looked up");
}

#[test]
fn latest_hook_decides_caller() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    call_tool(&story, "mcp__rutter__status", "toolu_1");
    // A resumed session reuses the tool call ids of the first session.
    story.session = "session-2";
    call_tool(&story, "mcp__rutter__status", "toolu_1");
    assert_eq!(recorded_caller(&world, "toolu_1"), Some(main_agent("session-2")));
}

#[test]
fn callers_expire_after_two_weeks() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    call_tool(&story, "mcp__rutter__status", "toolu_old");
    story.session = "session-2";
    call_tool(&story, "mcp__rutter__status", "toolu_other");
    story.session = "session-1";
    let days = |days: i64| story.clock.set(story.clock.get() + days * 86_400_000);
    days(13);
    call_tool(&story, "mcp__rutter__status", "toolu_new");
    assert_eq!(
        recorded_caller(&world, "toolu_old"),
        Some(main_agent("session-1")),
        "somebody may be asked first"
    );
    days(2);
    call_tool(&story, "mcp__rutter__status", "toolu_newer");
    assert_eq!(recorded_caller(&world, "toolu_old"), None);
    assert_eq!(recorded_caller(&world, "toolu_new"), Some(main_agent("session-1")));
    assert_eq!(
        recorded_caller(&world, "toolu_other"),
        Some(main_agent("session-2")),
        "it is another's to clear"
    );
}

#[test]
fn caller_spools_without_store() {
    let world = TestWorld::new();
    let story = HookStory::at(&world, &world.project("ship"));
    let fields =
        json!({ "tool_name": "mcp__rutter__status", "tool_input": {}, "tool_use_id": "toolu_1" });
    let result = story.send_event("PreToolUse", &fields);
    assert!(result.stdout.is_empty() && result.needs_maintenance, "{result:?}");
    let mut memory = world.store();
    assert_eq!(memory.find_caller("toolu_1").unwrap(), None, "nobody has taken it in yet");
    memory.try_drain_spool(Time::from_millis(1_763_200_100_000)).unwrap();
    drop(memory);
    assert_eq!(recorded_caller(&world, "toolu_1"), Some(main_agent("session-1")));
}

/// The ids have the formats of the services that the client talks to.
#[test]
fn call_ids_are_not_redacted() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    for id in [
        "toolu_01A09q90qw90lq917835lq9b",
        "toolu_01T1x1fJ34qAmk2tNTrN7Up6",
        "toolu_0147zjpXkVkQGhKqmWwYbsDp",
        "toolu_bdrk_01Hn3zNPqkd8cXyhC2jzTnQK",
        "toolu_vrtx_01D7FLrfh4GYq7yT1ULFeyMV",
        "call_9Xh2LmPq7RtVwYz3BcDfGjKn",
        "chatcmpl-tool-6f1b0c2d4e5f4a7b8c9d0e1f2a3b4c5d",
    ] {
        call_tool(&story, "mcp__rutter__status", id);
        assert_eq!(recorded_caller(&world, id), Some(main_agent("session-1")), "{id}");
    }
}

#[test]
fn redacts_secret_call_id() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let secret = ["ghp", "_", "R7tQx2LmZ9vKcD4wPq8sYh3NbF6gJa1eUo5T"].concat();
    call_tool(&story, "mcp__rutter__status", &secret);
    assert_eq!(world.files_with(&secret), [] as [std::path::PathBuf; 0]);
    assert_eq!(recorded_caller(&world, &secret), None, "two such calls cannot be told apart");
}

#[test]
fn forgetting_a_row_forgets_callers() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    call_tool(&story, "mcp__rutter__status", "toolu_1");
    let run = world.outcome(900, rutter_memory::outcome::Verdict::Passed);
    world.record_run(&run);
    let mut memory = world.store();
    let row = memory.find_row(&run.id.into()).unwrap();
    memory.forget(&[row], None).unwrap();
    drop(memory);
    assert_eq!(recorded_caller(&world, "toolu_1"), None);
    assert!(world.files_with("toolu_1").is_empty());
}

#[test]
fn records_late_caller() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    call_tool(&story, "mcp__rutter__status", "toolu_1");
    world.record(&world.entry(
        "session-9",
        0,
        EntryKind::Calls("toolu_9".into(), Some("a9".into())),
    ));
    assert_eq!(
        recorded_caller(&world, "toolu_9"),
        Some(("session-9".to_owned(), Some("a9".to_owned())))
    );
    assert_eq!(recorded_caller(&world, "toolu_1"), Some(main_agent("session-1")));
}
