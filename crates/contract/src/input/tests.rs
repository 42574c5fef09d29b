use serde_json::json;

use super::*;
use crate::payload;

/// The most important property of the input types: captured payloads are read and written back unchanged.
#[test]
fn captured_payloads_round_trip() {
    let mut read = 0;
    for event in EventName::ALL {
        for payload in payload::recorded_payloads(event) {
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
fn captured_payloads_have_known_fields() {
    for event in EventName::ALL {
        let spec = crate::table::event_spec(event);
        for payload in payload::recorded_payloads(event) {
            for key in payload.as_object().unwrap().keys() {
                let newest = crate::version::Contract::newest();
                let known = spec.input_at(newest).any(|field| field.name == key);
                assert!(known, "{event}: {key}");
            }
        }
    }
}

#[test]
fn keeps_unknown_fields() {
    let mut sent = payload::example_payload(EventName::PreToolUse, None).unwrap().value;
    sent["novelty"] = json!({ "deep": [1, 2.5, null] });
    sent["effort"]["novelty"] = json!(true);
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    let Input::PreToolUse(call) = input else { panic!("{input:?}") };
    assert_eq!(call.unknown["novelty"]["deep"][1], 2.5);
}

#[test]
fn keeps_unknown_choice_value() {
    let mut sent = payload::example_payload(EventName::SessionStart, None).unwrap().value;
    sent["source"] = json!("teleport");
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    let Input::SessionStart(start) = input else { panic!("{input:?}") };
    assert_eq!(start.source, SessionSource::Unlisted("teleport".to_owned()));
    assert_eq!(start.source.as_str(), "teleport");
}

#[test]
fn keeps_unknown_permission_update() {
    let mut sent = payload::example_payload(EventName::PermissionRequest, None).unwrap().value;
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
fn keeps_unknown_event() {
    let sent = json!({ "session_id": "s", "cwd": "/", "hook_event_name": "MoonRise", "phase": 3 });
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(input.event(), None);
    assert_eq!(input.hook_event_name(), "MoonRise");
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
}

#[test]
fn distinguishes_null_from_missing() {
    let mut sent = payload::example_payload(EventName::PreCompact, None).unwrap().value;
    sent["custom_instructions"] = Value::Null;
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
    sent.as_object_mut().unwrap().remove("custom_instructions");
    let error = Input::parse(sent.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("custom_instructions"), "{error}");
}

/// Every digit must survive.
#[test]
fn long_number_round_trips() {
    let digits = "5555555555555555555555555555555555554555555555555555555555555555555555555110";
    let sent = format!(r#"{{"hook_event_name":"MoonRise","n":{digits}}}"#);
    let once = serde_json::to_string(&Input::parse(sent.as_bytes()).unwrap()).unwrap();
    let twice = serde_json::to_string(&Input::parse(once.as_bytes()).unwrap()).unwrap();
    assert_eq!(once, twice);
}

/// A `null` tool response differs from a missing one.
#[test]
fn null_response_round_trips() {
    let mut sent = payload::example_payload(EventName::PostToolBatch, None).unwrap().value;
    sent["tool_calls"][0]["tool_response"] = Value::Null;
    let input = Input::parse(sent.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&input).unwrap(), sent);
}

#[test]
fn errors_have_positions() {
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
fn raw_payload_finds_fields() {
    let text = br#"{"hook_event_name":"Pre\u0054oolUse","tool_name":"Bash","tool_input":{"a":[1]},"x":1,"x":2}"#;
    let wire = RawPayload::parse(text).unwrap();
    assert_eq!(wire.hook_event_name().unwrap(), "PreToolUse");
    assert_eq!(wire.text("tool_name").unwrap(), "Bash");
    assert_eq!(wire.raw("tool_input"), Some(r#"{"a":[1]}"#));
    assert_eq!(wire.text("tool_input"), None);
    assert_eq!(wire.raw("x"), Some("2"));
    assert_eq!(wire.raw("y"), None);
    assert_eq!(wire.keys().count(), 5);
}

#[test]
fn raw_payload_deserializes() {
    let sent =
        payload::example_payload(EventName::PostToolUse, Some("Write")).unwrap().value.to_string();
    let wire = RawPayload::parse(sent.as_bytes()).unwrap();
    let call = wire.parse_as::<PostToolUse>().unwrap().unwrap();
    assert_eq!(call.tool_response["type"], "create");
    assert!(wire.parse_as::<PreToolUse>().is_none());
}

/// The client may cut an emoji in two.
#[test]
fn accepts_lone_surrogates() {
    let sent =
        payload::example_payload(EventName::PostToolUse, Some("Bash")).unwrap().value.to_string();
    let cut =
        sent.replace(r#""stdout":"hi""#, r#""stdout":"\\ud83d \\ \ud83d \ude00 \ud83d\ude00""#);
    assert_ne!(cut, sent);
    let Input::PostToolUse(call) = Input::parse(cut.as_bytes()).unwrap() else { panic!("{cut}") };
    assert_eq!(call.tool_response["stdout"], "\\ud83d \\ \u{fffd} \u{fffd} 😀");
    let wire = RawPayload::parse(cut.as_bytes()).unwrap();
    assert!(wire.parse_as::<PostToolUse>().unwrap().is_ok());
    let name = RawPayload::parse(br#"{"cwd":"/x\ud83d"}"#).unwrap();
    assert_eq!(name.text("cwd").unwrap(), "/x\u{fffd}");
}

/// Error messages contain no user data.
#[test]
fn errors_omit_user_data() {
    let mut sent = payload::example_payload(EventName::Stop, None).unwrap().value;
    sent["stop_hook_active"] = json!("sk-ant-SECRET");
    let error = Input::parse(sent.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("expected a boolean at line 1, column"), "{error}");
    assert!(!error.contains("SECRET"), "{error}");
}

#[test]
fn accepts_byte_order_mark() {
    let sent = payload::example_payload(EventName::Stop, None).unwrap().value;
    let input = Input::parse(format!("\u{feff}{sent}").as_bytes()).unwrap();
    assert_eq!(input.event(), Some(EventName::Stop));
}

#[test]
fn parses_truncated_payload() {
    let head = |text: &str| {
        let wire = RawPayload::parse_head(text.as_bytes());
        wire.keys().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(head(r#"{"a":"x","b":{"c":1},"d":"cut"#), ["a", "b"]);
    assert_eq!(head(r#"{"a":"x","b":{bad},"d":1}"#), ["a"]);
    assert_eq!(head(r#"{"a":"x","b":1}"#), ["a", "b"]);
    for none in ["", "{", "[1,2", "null", "{\"a"] {
        assert_eq!(head(none), [] as [&str; 0], "{none}");
    }
    // Cut inside of a character.
    let wire = RawPayload::parse_head(b"{\"a\":\"x\",\"b\":\"\xc3");
    assert_eq!((wire.text("a").as_deref(), wire.text("b").as_deref()), (Some("x"), None));
}
