use rutter_contract::schema::{self, Direction};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload, table};
use rutter_testkit::root;
use serde_json::{Value, json};

use crate::support::{compile, fixtures, input, output};

fn committed(file: &str) -> Value {
    let path = root().join("schemas/hooks").join(file);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// Returns the contracts of both measured clients and one between them.
fn contracts() -> impl Iterator<Item = Contract> {
    ["2.1.197", "2.1.240", "2.1.325"].map(|v| Contract::for_client(v.parse().unwrap())).into_iter()
}

#[test]
fn every_schema_is_valid_against_its_draft() {
    for contract in contracts() {
        let mut schemas = vec![schema::base(contract)];
        for event in table::events_at(contract) {
            schemas.push(schema::output(event, contract));
            schemas.push(schema::bundle(event, contract));
            schemas.push(schema::input(event, contract));
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
fn the_committed_schemas_are_those_of_the_newest_client() {
    let newest = Contract::newest();
    assert_eq!(committed("hook-output-base.schema.json"), schema::base(newest));
    let index = committed("index.json");
    assert_eq!(index.as_object().unwrap().len(), 33);
    for event in table::EVENTS {
        let files = &index[event.name.as_str()];
        let input = schema::file_name(event.name, Direction::Input);
        let output = schema::file_name(event.name, Direction::Output);
        assert_eq!(files, &json!({ "input": input, "output": output }));
        assert_eq!(committed(&input), schema::input(event, newest));
        assert_eq!(committed(&output), schema::output(event, newest));
    }
    let count = std::fs::read_dir(root().join("schemas/hooks")).unwrap().count();
    assert_eq!(count, 33 * 2 + 2);
}

/// The files refer to each other by name; a validator with all files needs no network.
#[test]
fn committed_files_work_through_their_references() {
    let base = committed("hook-output-base.schema.json");
    let id = base["$id"].as_str().unwrap().to_owned();
    let registry = jsonschema::Registry::new().add(id, base).unwrap().prepare().unwrap();
    for event in EventName::ALL {
        let schema = committed(&schema::file_name(event, Direction::Output));
        let validator = jsonschema::options().with_registry(&registry).build(&schema).unwrap();
        assert!(validator.is_valid(&json!({ "systemMessage": "x" })), "{event}");
        assert!(!validator.is_valid(&json!({ "novelty": "x" })), "{event}");
        assert!(!validator.is_valid(&json!({ "continue": "false" })), "{event}");
        assert!(!validator.is_valid(&json!({ "continue": null })), "{event}");
    }
}

#[test]
fn every_captured_payload_passes_its_input_schema() {
    for event in EventName::ALL {
        for payload in payload::recorded(event) {
            if let Err(error) = input(event).validate(payload) {
                panic!("{event}: {error} in {payload}");
            }
        }
        let built = payload::realistic(event, None).unwrap().value;
        assert!(input(event).is_valid(&built), "{event}: {built}");
    }
}

#[test]
fn accept_and_reject_fixtures() {
    for event in EventName::ALL {
        let folder = root().join("fixtures/hooks").join(event.kebab());
        for (reason, answer) in fixtures(&folder.join("output/accept")) {
            if let Err(error) = output(event).validate(&answer) {
                panic!("{reason}: {error}");
            }
        }
        for (reason, answer) in fixtures(&folder.join("output/reject")) {
            assert!(!output(event).is_valid(&answer), "{reason}");
        }
        for (reason, payload) in fixtures(&folder.join("input/reject")) {
            assert!(!input(event).is_valid(&payload), "{reason}");
            let text = serde_json::to_vec(&payload).unwrap();
            let read = rutter_contract::input::Input::parse(&text);
            assert!(read.is_err(), "{reason}: the schema refuses what the type reads");
        }
    }
}

/// The cases of the earlier schemas; the last one is inverted, because the client changed.
#[test]
fn the_seven_cases_of_the_earlier_schemas() {
    let session = output(EventName::SessionStart);
    let stop = output(EventName::Stop);
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
fn the_schema_of_an_older_client_lacks_what_came_later() {
    let old = Contract::for_client(Contract::MEASURED[0]);
    let answer = json!({ "hookSpecificOutput":
        { "hookEventName": "PostToolUse", "classifierContext": "x" } });
    let schema = schema::bundle(table::event(EventName::PostToolUse), old);
    assert!(!compile(&schema).is_valid(&answer));
    assert!(output(EventName::PostToolUse).is_valid(&answer));

    let start = payload::recorded(EventName::SessionStart);
    let fork = start.iter().find(|payload| payload["source"] == "fork").unwrap();
    let schema = schema::input(table::event(EventName::SessionStart), old);
    assert!(!compile(&schema).is_valid(fork));
}

/// An input schema accepts a newer client's field, as a hook must.
#[test]
fn input_schemas_let_unknown_fields_pass() {
    for event in EventName::ALL {
        let mut payload = payload::realistic(event, None).unwrap().value;
        payload["novelty"] = json!(1);
        assert!(input(event).is_valid(&payload), "{event}");
        payload["hook_event_name"] = json!("Novelty");
        assert!(!input(event).is_valid(&payload), "{event}");
    }
}
