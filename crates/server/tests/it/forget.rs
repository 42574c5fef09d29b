//! Complete deletion by the tool `forget`.

use rutter_memory::outcome::Verdict;
use serde_json::json;

use crate::support::{World, assert_answer, assert_refused, confirm, falsify, start, wait, with};

#[test]
fn no_byte_is_left() {
    let world = World::new();
    let memory = json!({ "content": "the barnacle costs speed", "category": "fact" });
    let memory = world.call("remember", memory)["id"].clone();
    let texts =
        json!({ "goal": "the keelson holds", "hypothesis": "keelson", "action": "keelson" });
    world.call("start_ghap", with(start(), texts));
    world.call("update_ghap", json!({ "hypothesis": "other", "note": "keelson" }));
    let run = world.ran("session-1", "cargo test parser -- keelson", Verdict::Failed).to_string();
    let lesson = json!({ "surprise": "keelson", "lesson": { "takeaway": "keelson" } });
    let ghap = world.call("resolve_ghap", with(falsify(), lesson))["id"].clone();
    world.call("remember", json!({ "content": "the halyard stays", "category": "fact" }));
    world.call("recall_memories", json!({ "query": "barnacle speed" }));
    for word in ["barnacle", "keelson"] {
        assert!(!world.files_with(word).is_empty(), "{word} was written");
    }
    assert_answer!(world.answer("forget", json!({ "ids": [memory, ghap, run, memory] })), @r#"
    3 forgotten.
    {
      "ok": true,
      "rows": 3,
      "erased": true
    }
    "#);
    for word in ["barnacle", "keelson"] {
        assert_eq!(world.files_with(word), [] as [std::path::PathBuf; 0], "{word}");
    }
    assert!(!world.files_with("halyard").is_empty());
    let found = world.call("recall_memories", json!({ "query": "barnacle speed" }));
    assert!(!found.to_string().contains("barnacle"));
    assert_eq!(world.call("get_ghap", json!({ "list": true })), json!({ "has_active": false }));
}

#[test]
fn a_wrong_id_among_them_takes_nothing_away() {
    let world = World::new();
    let memory = json!({ "content": "stays", "category": "fact" });
    let memory = world.call("remember", memory)["id"].clone();
    let ids = |other: &str| json!({ "ids": [memory, other] });
    assert_refused!(world.refused("forget", ids("0123456789abcdef")), @"no row has an id that ends in 0123456789abcdef");
    assert_refused!(world.refused("forget", ids("x")), @"ids: an id is 4 to 32 hexadecimal letters from its end, as the lists show it");
    assert_eq!(world.call("recall_memories", json!({}))["count"], 1);
}

#[test]
fn what_waits_in_the_spool_goes_as_well() {
    use rutter_memory::store::{entry::What, spool};
    let world = World::new();
    drop(world.store());
    wait(1);
    let run = world.outcome("session-1", "cargo test spinnaker", Verdict::Failed);
    let id = run.id.to_string();
    let entry = world.entry("session-1", What::Ran(Box::new(run.into())));
    spool::append(&world.files(), &[entry]).unwrap();
    assert!(!world.files_with("spinnaker").is_empty());
    world.call("forget", json!({ "ids": [id] }));
    assert_eq!(world.files_with("spinnaker"), [] as [std::path::PathBuf; 0]);
}

#[test]
fn ones_own_active_one_can_go() {
    let world = World::new();
    let id = world.call("start_ghap", start())["id"].clone();
    world.call("forget", json!({ "ids": [id] }));
    assert_eq!(world.call("get_ghap", json!({})), json!({ "has_active": false }));
    world.call("start_ghap", start());
    world.call("resolve_ghap", confirm());
}
