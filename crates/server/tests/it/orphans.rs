//! GHAPs of ended sessions, and of sessions that are still alive.

use serde_json::json;

use crate::support::{
    ToolTestEnv, advance_clock, assert_answer, assert_refused, call_ok, call_refused,
    confirm_arguments, ghap_start_arguments, with_fields,
};

/// Creates a GHAP in another session and ends that session.
fn orphan(world: &ToolTestEnv) -> String {
    let desk = world.session("session-0");
    let id = call_ok(
        &desk,
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "goal": "left open" })),
    )["id"]
        .clone();
    world.end_session("session-0");
    id.as_str().unwrap().to_owned()
}

#[test]
fn adopted_orphan_keeps_its_history() {
    let world = ToolTestEnv::new();
    call_ok(&world.session("session-0"), "start_ghap", ghap_start_arguments());
    call_ok(
        &world.session("session-0"),
        "update_ghap",
        json!({ "hypothesis": "the lexer splits" }),
    );
    assert_eq!(world.call_ok("get_ghap", json!({})), json!({ "has_active": false }), "it is alive");
    world.end_session("session-0");
    assert_answer!(world.call_answer("get_ghap", json!({})), @r#"
    No GHAP is active; start_ghap starts one.
    Left open by an earlier session: [ID] active: `CRLF files parse`
    { "has_active": false, "orphans": [{ "id": "[UUID]", "status": "active", "domain": "debugging", "goal": "CRLF files parse" }] }
    "#);
    assert_answer!(world.call_answer("adopt_ghap", json!({})), @r#"
    GHAP [ID] adopted; it expects cargo test parser to pass.
    { "ok": true, "id": "[UUID]", "expects": "pass", "target": "cargo test parser", "testable": true, "revisions": 1 }
    "#);
    let now = world.call_ok("get_ghap", json!({}));
    assert_eq!(now["active"]["revisions"][0]["hypothesis"], "lines are split at LF alone");
    assert!(now["orphans"].is_null(), "{now}");
    world.call_ok("resolve_ghap", confirm_arguments());
}

#[test]
fn orphan_is_abandoned_by_id() {
    let world = ToolTestEnv::new();
    let id = orphan(&world);
    let end = json!({ "status": "abandoned", "result": "nobody needs it", "id": id });
    assert_answer!(world.call_answer("resolve_ghap", end.clone()), @r#"
    GHAP [ID] abandoned.
    { "ok": true, "id": "[UUID]", "status": "abandoned", "tier": "abandoned", "why": "it ended without a result" }
    "#);
    assert_refused!(world.call_refused("resolve_ghap", end), @"GHAP [ID] is already abandoned");
    assert_refused!(world.call_refused("adopt_ghap", json!({ "id": id })), @"GHAP [ID] is already abandoned");
}

#[test]
fn orphan_needs_adoption_before_resolving() {
    let world = ToolTestEnv::new();
    let id = orphan(&world);
    assert_refused!(world.call_refused("resolve_ghap", with_fields(confirm_arguments(), json!({ "id": id }))), @"id names a GHAP of another session: abandon it, or call adopt_ghap and then resolve it");
    world.call_ok("adopt_ghap", json!({ "id": id }));
    let answer =
        world.call_ok("resolve_ghap", with_fields(confirm_arguments(), json!({ "id": id })));
    assert_eq!(answer["status"], "confirmed", "one's own id may be said");
}

#[test]
fn live_session_keeps_its_ghap() {
    let world = ToolTestEnv::new();
    let other = world.session("session-0");
    let id = call_ok(&other, "start_ghap", ghap_start_arguments())["id"].clone();
    assert_refused!(world.call_refused("adopt_ghap", json!({ "id": id })), @"GHAP [ID] belongs to a session that is still running");
    let end = json!({ "status": "abandoned", "result": "mine now", "id": id });
    assert_refused!(world.call_refused("resolve_ghap", end), @"GHAP [ID] belongs to a session that is still running");
    assert_refused!(world.call_refused("adopt_ghap", json!({})), @"this project has no orphaned GHAP; start_ghap starts one");
    // A session that was not seen for half a day is over.
    advance_clock(13 * 3600);
    world.call_ok("adopt_ghap", json!({ "id": id }));
    assert_eq!(call_ok(&other, "get_ghap", json!({}))["has_active"], false);
}

#[test]
fn several_orphans_need_an_id() {
    let world = ToolTestEnv::new();
    let first = orphan(&world);
    call_ok(&world.session("session-9"), "start_ghap", ghap_start_arguments());
    world.end_session("session-9");
    assert_refused!(world.call_refused("adopt_ghap", json!({})), @"several GHAPs are orphaned; send one as id: [ID], [ID]");
    world.call_ok("adopt_ghap", json!({ "id": first }));
    assert_refused!(world.call_refused("adopt_ghap", json!({})), @r#"a GHAP is already active: [ID] "left open"; resolve_ghap ends it, update_ghap changes it"#);
    assert_refused!(world.call_refused("adopt_ghap", json!({ "id": first })), @"GHAP [ID] already belongs to this session");
}

#[test]
fn orphan_of_other_project_is_unknown() {
    let world = ToolTestEnv::new();
    let id = orphan(&world);
    let desk = world.elsewhere("boat");
    let refusal = call_refused(&desk, "adopt_ghap", json!({ "id": id }));
    assert!(refusal.contains("no GHAP has an id") && !refusal.contains("ship"), "{refusal}");
    let end = json!({ "status": "abandoned", "result": "not mine", "id": id });
    assert_eq!(call_refused(&desk, "resolve_ghap", end), refusal);
    assert_eq!(call_ok(&desk, "get_ghap", json!({})), json!({ "has_active": false }));
}
