//! Complete deletion by the tool `forget`.

use rutter_memory::outcome::Verdict;
use serde_json::json;

use crate::support::{
    ToolTestEnv, advance_clock, assert_answer, assert_refused, confirm_arguments,
    falsify_arguments, ghap_start_arguments, with_fields,
};

#[test]
fn forget_leaves_no_bytes() {
    let world = ToolTestEnv::new();
    let memory = json!({ "content": "the barnacle costs speed", "category": "fact" });
    let memory = world.call_ok("remember", memory)["id"].clone();
    let texts =
        json!({ "goal": "the keelson holds", "hypothesis": "keelson", "action": "keelson" });
    world.call_ok("start_ghap", with_fields(ghap_start_arguments(), texts));
    world.call_ok("update_ghap", json!({ "hypothesis": "other", "note": "keelson" }));
    let run =
        world.record_run("session-1", "cargo test parser -- keelson", Verdict::Failed).to_string();
    let lesson = json!({ "surprise": "keelson", "lesson": { "takeaway": "keelson" } });
    let ghap =
        world.call_ok("resolve_ghap", with_fields(falsify_arguments(), lesson))["id"].clone();
    world.call_ok("remember", json!({ "content": "the halyard stays", "category": "fact" }));
    world.call_ok("recall_memories", json!({ "query": "barnacle speed" }));
    for word in ["barnacle", "keelson"] {
        assert!(!world.files_with(word).is_empty(), "{word} was written");
    }
    assert_answer!(world.call_answer("forget", json!({ "ids": [memory, ghap, run, memory] })), @r#"
    3 forgotten.
    { "ok": true, "rows": 3, "erased": true }
    "#);
    for word in ["barnacle", "keelson"] {
        assert_eq!(world.files_with(word), [] as [std::path::PathBuf; 0], "{word}");
    }
    assert!(!world.files_with("halyard").is_empty());
    let found = world.call_ok("recall_memories", json!({ "query": "barnacle speed" }));
    assert!(!found.to_string().contains("barnacle"));
    assert_eq!(world.call_ok("get_ghap", json!({ "list": true })), json!({ "has_active": false }));
}

#[test]
fn wrong_id_prevents_all_deletions() {
    let world = ToolTestEnv::new();
    let memory = json!({ "content": "stays", "category": "fact" });
    let memory = world.call_ok("remember", memory)["id"].clone();
    let ids = |other: &str| json!({ "ids": [memory, other] });
    assert_refused!(world.call_refused("forget", ids("0123456789abcdef")), @"no row has an id that ends in 0123456789abcdef");
    assert_refused!(world.call_refused("forget", ids("x")), @"ids: an id must be the last 4 to 32 hexadecimal digits of a full id, as the lists show it");
    assert_eq!(world.call_ok("recall_memories", json!({}))["count"], 1);
}

#[test]
fn forgets_rows_in_the_spool() {
    use rutter_memory::store::{entry::EntryKind, spool};
    let world = ToolTestEnv::new();
    drop(world.store());
    advance_clock(1);
    let run = world.outcome("session-1", "cargo test spinnaker", Verdict::Failed);
    let id = run.id.to_string();
    let entry = world.entry("session-1", EntryKind::Ran(Box::new(run.into())));
    spool::append_entries(&world.files(), &[entry]).unwrap();
    assert!(!world.files_with("spinnaker").is_empty());
    world.call_ok("forget", json!({ "ids": [id] }));
    assert_eq!(world.files_with("spinnaker"), [] as [std::path::PathBuf; 0]);
}

#[test]
fn forgets_own_active_ghap() {
    let world = ToolTestEnv::new();
    let id = world.call_ok("start_ghap", ghap_start_arguments())["id"].clone();
    world.call_ok("forget", json!({ "ids": [id] }));
    assert_eq!(world.call_ok("get_ghap", json!({})), json!({ "has_active": false }));
    world.call_ok("start_ghap", ghap_start_arguments());
    world.call_ok("resolve_ghap", confirm_arguments());
}
