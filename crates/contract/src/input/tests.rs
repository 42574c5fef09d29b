use serde_json::json;

use super::*;
use crate::payload;

/// The most important property of the input types: captured payloads are read and written back unchanged.
#[test]
fn every_captured_payload_parses_and_round_trips() {
    let mut read = 0;
    for event in EventName::ALL {
        for payload in payload::recorded(event) {
            let text = serde_json::to_vec(payload).unwrap();
            let input = Input::parse(&text).unwrap_or_else(|error| panic!("{event}: {error}"));
            assert!(!matches!(input, Input::Other(_)), "{event}");
            assert_eq!(input.event(), Some(event));
            assert_eq!(&serde_json::to_value(&input).unwrap(), payload, "{event}");
            read += 1;
        }
    }
    assert!(read >= 95, "{read} payloads");
}

/// The table has every field of every captured payload.
#[test]
fn captured_payloads_hold_nothing_unknown() {
    for event in EventName::ALL {
        let spec = crate::table::event(event);
        for payload in payload::recorded(event) {
            for key in payload.as_object().unwrap().keys() {
                let newest = crate::version::Contract::newest();
                let known = spec.input_at(newest).any(|field| field.name == key);
                assert!(known, "{event}: {key}");
            }
        }
    }
}

#[test]
fn a_new_field_is_kept_at_every_level() {
    let mut sent = payload::realistic(EventName::PreToolUse, None).unwrap().value;
    sent["novelty"] = json!({ "deep": [1, 2.5, null] });
    sent["effort"]["novelty"] = json!(true);
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    let Input::PreToolUse(call) = input else { panic!("{input:?}") };
    assert_eq!(call.unknown["novelty"]["deep"][1], 2.5);
}

#[test]
fn a_new_value_of_a_known_field_is_kept() {
    let mut sent = payload::realistic(EventName::SessionStart, None).unwrap().value;
    sent["source"] = json!("teleport");
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    let Input::SessionStart(start) = input else { panic!("{input:?}") };
    assert_eq!(start.source, SessionSource::Unlisted("teleport".to_owned()));
    assert_eq!(start.source.as_str(), "teleport");
}

#[test]
fn a_new_kind_of_permission_update_is_kept() {
    let mut sent = payload::realistic(EventName::PermissionRequest, None).unwrap().value;
    sent["permission_suggestions"] = json!([
        { "type": "grantMoon", "phase": "full" },
        { "type": "setMode", "mode": "plan", "destination": "session", "novelty": 1 },
    ]);
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    let Input::PermissionRequest(request) = input else { panic!("{input:?}") };
    let updates = request.permission_suggestions.unwrap();
    assert!(matches!(updates[0], PermissionUpdate::Unlisted(_)));
    assert!(matches!(updates[1], PermissionUpdate::SetMode { mode: PermissionMode::Plan, .. }));
}

#[test]
fn an_event_of_a_newer_client_is_representable() {
    let sent = json!({ "session_id": "s", "cwd": "/", "hook_event_name": "MoonRise", "phase": 3 });
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(input.event(), None);
    assert_eq!(input.hook_event_name(), "MoonRise");
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
}

#[test]
fn a_required_null_is_told_from_a_missing_key() {
    let mut sent = payload::realistic(EventName::PreCompact, None).unwrap().value;
    sent["custom_instructions"] = Value::Null;
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    sent.as_object_mut().unwrap().remove("custom_instructions");
    let error = Input::parse(sent.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("custom_instructions"), "{error}");
}

/// Every digit must survive.
#[test]
fn a_long_number_does_not_drift() {
    let digits = "5555555555555555555555555555555555554555555555555555555555555555555555555110";
    let sent = format!(r#"{{"hook_event_name":"MoonRise","n":{digits}}}"#);
    let once = serde_json::to_string(&Input::parse(sent.as_bytes()).unwrap()).unwrap();
    let twice = serde_json::to_string(&Input::parse(once.as_bytes()).unwrap()).unwrap();
    assert_eq!(once, twice);
}

/// A `null` tool response differs from a missing one.
#[test]
fn a_null_response_survives() {
    let mut sent = payload::realistic(EventName::PostToolBatch, None).unwrap().value;
    sent["tool_calls"][0]["tool_response"] = Value::Null;
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
}

#[test]
fn what_is_malformed_says_where() {
    let message = |text: &str| Input::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(message("").contains("line 1 column 0"));
    assert!(message("{\"a\":\n oops}").contains("line 2"));
    assert!(message("[1]").contains("not a JSON object"));
    assert!(message("nonsense").contains("line 1"));
    assert!(message("{}").contains("hook_event_name"));
    assert!(message(r#"{"hook_event_name":7}"#).contains("hook_event_name"));
    assert!(message(r#"{"hook_event_name":"Stop"}"#).contains("session_id"));
    assert!(Input::parse(b"{\"hook_event_name\":\"\xff\"}").is_err());
    assert!(Input::parse("[".repeat(100_000).as_bytes()).is_err());
    assert!(Input::parse(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes()).is_err());
}

#[test]
fn a_skim_finds_fields_without_decoding_the_rest() {
    let text = br#"{"hook_event_name":"Pre\u0054oolUse","tool_name":"Bash","tool_input":{"a":[1]},"x":1,"x":2}"#;
    let wire = Wire::parse(text).unwrap();
    assert_eq!(wire.hook_event_name().unwrap(), "PreToolUse");
    assert_eq!(wire.text("tool_name").unwrap(), "Bash");
    assert_eq!(wire.raw("tool_input"), Some(r#"{"a":[1]}"#));
    assert_eq!(wire.text("tool_input"), None);
    assert_eq!(wire.raw("x"), Some("2"));
    assert_eq!(wire.raw("y"), None);
    assert_eq!(wire.keys().count(), 5);
}

#[test]
fn a_skimmed_payload_can_be_read_whole() {
    let sent = payload::realistic(EventName::PostToolUse, Some("Write")).unwrap().value.to_string();
    let wire = Wire::parse(sent.as_bytes()).unwrap();
    let call = wire.read::<PostToolUse>().unwrap().unwrap();
    assert_eq!(call.tool_response["type"], "create");
    assert!(wire.read::<PreToolUse>().is_none());
}

/// The client may cut an emoji in two.
#[test]
fn half_an_emoji_does_not_lose_the_payload() {
    let sent = payload::realistic(EventName::PostToolUse, Some("Bash")).unwrap().value.to_string();
    let cut =
        sent.replace(r#""stdout":"hi""#, r#""stdout":"\\ud83d \\ \ud83d \ude00 \ud83d\ude00""#);
    assert_ne!(cut, sent);
    let Input::PostToolUse(call) = Input::parse(cut.as_bytes()).unwrap() else { panic!("{cut}") };
    assert_eq!(call.tool_response["stdout"], "\\ud83d \\ \u{fffd} \u{fffd} 😀");
    let wire = Wire::parse(cut.as_bytes()).unwrap();
    assert!(wire.read::<PostToolUse>().unwrap().is_ok());
    let name = Wire::parse(br#"{"cwd":"/x\ud83d"}"#).unwrap();
    assert_eq!(name.text("cwd").unwrap(), "/x\u{fffd}");
}

/// Error messages contain no user data.
#[test]
fn errors_name_the_place_and_not_the_value() {
    let mut sent = payload::realistic(EventName::Stop, None).unwrap().value;
    sent["stop_hook_active"] = json!("sk-ant-SECRET");
    let error = Input::parse(sent.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("expected a boolean at line 1, column"), "{error}");
    assert!(!error.contains("SECRET"), "{error}");
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let sent = payload::realistic(EventName::Stop, None).unwrap().value;
    let input = Input::parse(format!("\u{feff}{sent}").as_bytes()).unwrap();
    assert_eq!(input.event(), Some(EventName::Stop));
}

#[test]
fn heads_of_payloads_are_skimmed() {
    let head = |text: &str| {
        let wire = Wire::parse_head(text.as_bytes());
        wire.keys().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(head(r#"{"a":"x","b":{"c":1},"d":"cut"#), ["a", "b"]);
    assert_eq!(head(r#"{"a":"x","b":{bad},"d":1}"#), ["a"]);
    assert_eq!(head(r#"{"a":"x","b":1}"#), ["a", "b"]);
    for none in ["", "{", "[1,2", "null", "{\"a"] {
        assert_eq!(head(none), [] as [&str; 0], "{none}");
    }
    // Cut inside of a character.
    let wire = Wire::parse_head(b"{\"a\":\"x\",\"b\":\"\xc3");
    assert_eq!((wire.text("a").as_deref(), wire.text("b").as_deref()), (Some("x"), None));
}
