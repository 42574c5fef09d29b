//! GHAPs of ended sessions, and of sessions that are still alive.

use serde_json::json;

use crate::support::{
    World, assert_answer, assert_refused, call, confirm, refused, start, wait, with,
};

/// Creates a GHAP in another session and ends that session.
fn orphan(world: &World) -> String {
    let desk = world.session("session-0");
    let id = call(&desk, "start_ghap", with(start(), json!({ "goal": "left open" })))["id"].clone();
    world.ended("session-0");
    id.as_str().unwrap().to_owned()
}

#[test]
fn an_orphan_is_shown_and_taken_over_with_its_history() {
    let world = World::new();
    call(&world.session("session-0"), "start_ghap", start());
    call(&world.session("session-0"), "update_ghap", json!({ "hypothesis": "the lexer splits" }));
    assert_eq!(world.call("get_ghap", json!({})), json!({ "has_active": false }), "it is alive");
    world.ended("session-0");
    assert_answer!(world.answer("get_ghap", json!({})), @r#"
    No GHAP is active; start_ghap begins one.
    Left open by an earlier session: [ID] active: `CRLF files parse`
    {
      "has_active": false,
      "orphans": [
        {
          "id": "[UUID]",
          "status": "active",
          "domain": "debugging",
          "goal": "CRLF files parse"
        }
      ]
    }
    "#);
    assert_answer!(world.answer("adopt_ghap", json!({})), @r#"
    GHAP [ID] adopted; it expects cargo test parser to pass.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "pass",
      "target": "cargo test parser",
      "testable": true,
      "revisions": 1
    }
    "#);
    let now = world.call("get_ghap", json!({}));
    assert_eq!(now["active"]["revisions"][0]["hypothesis"], "lines are split at LF alone");
    assert!(now["orphans"].is_null(), "{now}");
    world.call("resolve_ghap", confirm());
}

#[test]
fn an_orphan_is_abandoned_by_its_id() {
    let world = World::new();
    let id = orphan(&world);
    let end = json!({ "status": "abandoned", "result": "nobody needs it", "id": id });
    assert_answer!(world.answer("resolve_ghap", end.clone()), @r#"
    GHAP [ID] abandoned.
    {
      "ok": true,
      "id": "[UUID]",
      "status": "abandoned",
      "tier": "abandoned",
      "why": "it was given up"
    }
    "#);
    assert_refused!(world.refused("resolve_ghap", end), @"GHAP [ID] is abandoned already");
    assert_refused!(world.refused("adopt_ghap", json!({ "id": id })), @"GHAP [ID] is abandoned already");
}

#[test]
fn an_orphan_cannot_be_resolved_by_who_has_not_taken_it_over() {
    let world = World::new();
    let id = orphan(&world);
    assert_refused!(world.refused("resolve_ghap", with(confirm(), json!({ "id": id }))), @"id names a GHAP that is not yours: it can be abandoned, or taken over with adopt_ghap and then resolved");
    world.call("adopt_ghap", json!({ "id": id }));
    let answer = world.call("resolve_ghap", with(confirm(), json!({ "id": id })));
    assert_eq!(answer["status"], "confirmed", "one's own id may be said");
}

#[test]
fn what_a_living_session_works_on_is_left_alone() {
    let world = World::new();
    let other = world.session("session-0");
    let id = call(&other, "start_ghap", start())["id"].clone();
    assert_refused!(world.refused("adopt_ghap", json!({ "id": id })), @"GHAP [ID] belongs to a session that is still alive");
    let end = json!({ "status": "abandoned", "result": "mine now", "id": id });
    assert_refused!(world.refused("resolve_ghap", end), @"GHAP [ID] belongs to a session that is still alive");
    assert_refused!(world.refused("adopt_ghap", json!({})), @"no GHAP of this project has lost its session; start_ghap begins one");
    // A session that was not seen for half a day is over.
    wait(13 * 3600);
    world.call("adopt_ghap", json!({ "id": id }));
    assert_eq!(call(&other, "get_ghap", json!({}))["has_active"], false);
}

#[test]
fn of_several_one_has_to_be_chosen() {
    let world = World::new();
    let first = orphan(&world);
    call(&world.session("session-9"), "start_ghap", start());
    world.ended("session-9");
    assert_refused!(world.refused("adopt_ghap", json!({})), @"several have lost their session; send one as id: [ID], [ID]");
    world.call("adopt_ghap", json!({ "id": first }));
    assert_refused!(world.refused("adopt_ghap", json!({})), @r#"a GHAP is active already: [ID] "left open"; resolve_ghap ends it, update_ghap changes it"#);
    assert_refused!(world.refused("adopt_ghap", json!({ "id": first })), @"GHAP [ID] is this session's own already");
}

#[test]
fn what_belongs_elsewhere_is_taken_over_there() {
    let world = World::new();
    let id = orphan(&world);
    let desk = world.elsewhere("boat");
    let refusal = refused(&desk, "adopt_ghap", json!({ "id": id }));
    assert!(refusal.contains("no GHAP has an id") && !refusal.contains("ship"), "{refusal}");
    let end = json!({ "status": "abandoned", "result": "not mine", "id": id });
    assert_eq!(refused(&desk, "resolve_ghap", end), refusal);
    assert_eq!(call(&desk, "get_ghap", json!({})), json!({ "has_active": false }));
}
