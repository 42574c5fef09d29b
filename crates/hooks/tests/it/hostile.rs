//! Stored text that tries to leave its quotation, in the text of every hook that prints.

use rutter_memory::ghap::GhapStart;
use rutter_memory::memory::MemoryCategory;
use rutter_memory::quote::DATA_LABEL;
use rutter_memory::store::NewMemory;
use rutter_testkit::hostile_text::{CORPUS_PARTS, assert_harmless, hostile_text};
use rutter_testkit::story::HookStory;
use rutter_testkit::world::{FACT, TestWorld, start_fields};
use serde_json::json;

/// Plays sessions with one part of the corpus in every stored text. Returns the name and the text of every output.
fn outputs(part: usize) -> Vec<(&'static str, String)> {
    let world = TestWorld::new();
    world.set_hook_option("stop", "ask = true");
    world.set_hook_option("ghap_checkin", "frequency = 1");
    let mut story = HookStory::new(&world);
    let text = |about: &str| hostile_text(about, part);
    for (category, about) in [
        (MemoryCategory::Preference, "the answer is short"),
        (
            MemoryCategory::Workflow,
            "flaky cache tests are isolation issues: clear the cache in setup",
        ),
    ] {
        let text = text(about);
        let place = world.place();
        let new = NewMemory { place: Some(&place), category, text: &text, importance: 1.0, ..FACT };
        world.store().remember(&new, story_time(&story)).unwrap();
    }
    let mut said = vec![("SessionStart", story.start("startup"))];
    said.push(("UserPromptSubmit", story.prompt("flaky cache tests are isolation issues")));
    let task = json!({
        "tool_name": "Agent", "tool_use_id": "t",
        "tool_input": { "description": "d", "prompt": "flaky cache tests are isolation issues", "subagent_type": "Explore" },
    });
    story.session = "session-2";
    assert_eq!(HookStory::context_text(&story.send_event("PreToolUse", &task)), "");
    story.agent = Some("a1");
    let started = story.send_event("SubagentStart", &json!({ "agent_type": "Explore" }));
    said.push(("SubagentStart", HookStory::context_text(&started)));
    story.agent = None;

    let (goal, belief) = (text("the cache evicts"), text("lines are split"));
    let start = GhapStart { goal: &goal, hypothesis: &belief, action: &belief, ..start_fields() };
    world
        .store()
        .start_ghap(&world.other_session("session-2"), &start, story_time(&story))
        .unwrap();
    said.push(("PreToolUse", story.start_tool_call()));
    let error = text("the total is wrong").replace("\n\n", " ");
    let failing = [("cart::tests::total", error.as_str())];
    said.push(("PostToolUseFailure", story.red("cargo test", &failing)));
    let compact = json!({ "trigger": "auto", "custom_instructions": null });
    said.push(("PreCompact", story.send_event("PreCompact", &compact).stdout));
    let stop = story.send_event("Stop", &json!({ "stop_hook_active": false }));
    said.push(("Stop", HookStory::context_text(&stop)));
    said.push(("SessionStart with a GHAP", story.start("compact")));
    let line = text("let total = sum(items);").replace(['\n', '\r'], " ");
    story.edit("src/cart.rs", &["-    old", &format!("+    {line}")]);
    let passed = rutter_testkit::story::cargo_test_output(5, &[]);
    let passed = story.send_event(
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_input": { "command": "cargo test" },
            "tool_response": { "stdout": passed, "stderr": "", "interrupted": false, "isImage": false },
        }),
    );
    said.push(("PostToolUse", HookStory::context_text(&passed)));
    story.send_event("SessionEnd", &json!({ "reason": "other" }));

    story.session = "session-3";
    said.push(("SessionStart with an orphan", story.start("startup")));
    said.push(("the fix", story.red("cargo test", &failing)));
    story.session = "session-4";
    said.push(("a file in the prompt", story.prompt("why is src/cart.rs wrong about each total?")));
    said
}

fn story_time(story: &HookStory<'_>) -> rutter_memory::Time {
    rutter_memory::Time::from_millis(1_763_200_000_000 + story.clock.get())
}

#[test]
fn every_hook_labels_and_escapes() {
    for part in 0..CORPUS_PARTS {
        for (event, text) in outputs(part) {
            let first = text.lines().next().unwrap_or_default();
            let is_labelled = first.contains(DATA_LABEL) || first.starts_with("Recorded data: ");
            assert!(is_labelled, "{event} of part {part}: {text}");
            assert_harmless(event, &text);
        }
    }
}
