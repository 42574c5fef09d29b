use rutter_contract::schema::{self, Direction};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload, table};
use rutter_testkit::repository_root;
use serde_json::{Value, json};

use crate::support::{compile_schema, input_validator, load_fixtures, output_validator};

fn committed_schema(file: &str) -> Value {
    let path = repository_root().join("schemas/hooks").join(file);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// Returns the contracts of both measured clients and one between them.
fn tested_contracts() -> impl Iterator<Item = Contract> {
    ["2.1.197", "2.1.240", "2.1.325"].map(|v| Contract::for_client(v.parse().unwrap())).into_iter()
}

#[test]
fn schemas_are_valid() {
    for contract in tested_contracts() {
        let mut schemas = vec![schema::base_schema(contract)];
        for event in table::events_at(contract) {
            schemas.push(schema::output_schema(event, contract));
            schemas.push(schema::bundled_output_schema(event, contract));
            schemas.push(schema::input_schema(event, contract));
        }
        for schema in schemas {
            assert!(jsonschema::meta::is_valid(&schema), "{schema}");
            assert_eq!(schema["$schema"], schema::DRAFT);
            let id = schema["$id"].as_str().unwrap();
            assert!(id.contains(&contract.version().to_string()), "{id}");
            assert!(
                schema["description"]
                    .as_str()
                    .unwrap()
                    .contains("https://code.claude.com/docs/en/hooks")
            );
        }
    }
}

#[test]
fn committed_schemas_are_current() {
    let newest = Contract::newest();
    assert_eq!(committed_schema("hook-output-base.schema.json"), schema::base_schema(newest));
    let index = committed_schema("index.json");
    assert_eq!(index.as_object().unwrap().len(), 33);
    for event in table::EVENTS {
        let files = &index[event.name.as_str()];
        let input = schema::file_name(event.name, Direction::Input);
        let output = schema::file_name(event.name, Direction::Output);
        assert_eq!(files, &json!({ "input": input, "output": output }));
        assert_eq!(committed_schema(&input), schema::input_schema(event, newest));
        assert_eq!(committed_schema(&output), schema::output_schema(event, newest));
    }
    let count = std::fs::read_dir(repository_root().join("schemas/hooks")).unwrap().count();
    assert_eq!(count, 33 * 2 + 2);
}

/// The files refer to each other by name; a validator with all files needs no network.
#[test]
fn committed_references_resolve() {
    let base = committed_schema("hook-output-base.schema.json");
    let id = base["$id"].as_str().unwrap().to_owned();
    let registry = jsonschema::Registry::new().add(id, base).unwrap().prepare().unwrap();
    for event in EventName::ALL {
        let schema = committed_schema(&schema::file_name(event, Direction::Output));
        let validator = jsonschema::options().with_registry(&registry).build(&schema).unwrap();
        assert!(validator.is_valid(&json!({ "systemMessage": "x" })), "{event}");
        assert!(!validator.is_valid(&json!({ "novelty": "x" })), "{event}");
        assert!(!validator.is_valid(&json!({ "continue": "false" })), "{event}");
        assert!(!validator.is_valid(&json!({ "continue": null })), "{event}");
    }
}

#[test]
fn captured_payloads_pass_input_schemas() {
    for event in EventName::ALL {
        for payload in payload::recorded_payloads(event) {
            if let Err(error) = input_validator(event).validate(payload) {
                panic!("{event}: {error} in {payload}");
            }
        }
        let built = payload::example_payload(event, None).unwrap().value;
        assert!(input_validator(event).is_valid(&built), "{event}: {built}");
    }
}

#[test]
fn accept_and_reject_fixtures() {
    for event in EventName::ALL {
        let folder = repository_root().join("fixtures/hooks").join(event.kebab());
        for (reason, answer) in load_fixtures(&folder.join("output/accept")) {
            if let Err(error) = output_validator(event).validate(&answer) {
                panic!("{reason}: {error}");
            }
        }
        for (reason, answer) in load_fixtures(&folder.join("output/reject")) {
            assert!(!output_validator(event).is_valid(&answer), "{reason}");
        }
        for (reason, payload) in load_fixtures(&folder.join("input/reject")) {
            assert!(!input_validator(event).is_valid(&payload), "{reason}");
            let text = serde_json::to_vec(&payload).unwrap();
            let read = rutter_contract::input::Input::parse(&text);
            assert!(read.is_err(), "{reason}: the schema refuses what the type reads");
        }
    }
}

/// The cases of the earlier schemas; the last one is inverted, because the client changed.
#[test]
fn accepts_earlier_schema_cases() {
    let session = output_validator(EventName::SessionStart);
    let stop = output_validator(EventName::Stop);
    let context = |name: &str| json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": "x" } });
    let mut good = context("SessionStart");
    good["systemMessage"] = json!("hello");
    assert!(session.is_valid(&good));
    assert!(!session.is_valid(&json!({ "hookSpecificOutput": { "additionalContext": "x" } })));
    assert!(!session.is_valid(&json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse" } })));
    assert!(stop.is_valid(&json!({ "decision": "block", "reason": "x" })));
    assert!(stop.is_valid(&json!({})));
    assert!(!stop.is_valid(&json!({ "decision": "block" })));
    assert!(stop.is_valid(&context("Stop")));
    assert!(!stop.is_valid(&json!({ "hookSpecificOutput": { "additionalContext": "x" } })));
    assert!(!stop.is_valid(&context("SessionStart")));
}

/// An older client's schema rejects keys that this client would drop.
#[test]
fn older_schema_rejects_newer_keys() {
    let old = Contract::for_client(Contract::MEASURED[0]);
    let answer = json!({ "hookSpecificOutput":
        { "hookEventName": "PostToolUse", "classifierContext": "x" } });
    let schema = schema::bundled_output_schema(table::event_spec(EventName::PostToolUse), old);
    assert!(!compile_schema(&schema).is_valid(&answer));
    assert!(output_validator(EventName::PostToolUse).is_valid(&answer));

    let start = payload::recorded_payloads(EventName::SessionStart);
    let fork = start.iter().find(|payload| payload["source"] == "fork").unwrap();
    let schema = schema::input_schema(table::event_spec(EventName::SessionStart), old);
    assert!(!compile_schema(&schema).is_valid(fork));
}

/// An input schema accepts a newer client's field, as a hook must.
#[test]
fn input_schemas_accept_unknown_fields() {
    for event in EventName::ALL {
        let mut payload = payload::example_payload(event, None).unwrap().value;
        payload["novelty"] = json!(1);
        assert!(input_validator(event).is_valid(&payload), "{event}");
        payload["hook_event_name"] = json!("Novelty");
        assert!(!input_validator(event).is_valid(&payload), "{event}");
    }
}
