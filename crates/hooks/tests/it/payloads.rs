use std::sync::LazyLock;
use std::time::Instant;

use proptest::prelude::*;
use rutter_hooks::bash_call::DEFAULT_WINDOW_BYTES;
use rutter_hooks::{HookEnv, handle_event};
use rutter_memory::Time;
use serde_json::{Value, json};

use rutter_testkit::MIN_HOOK_DEADLINE;
use rutter_testkit::world::TestWorld;

static RECORDED_PAYLOADS: LazyLock<Vec<Value>> = LazyLock::new(recorded_payloads);
/// Shared by all cases: data left by one case must not break the next.
static SHARED_WORLD: LazyLock<TestWorld> = LazyLock::new(|| {
    let world = TestWorld::new();
    drop(world.store());
    world
});

/// Returns recorded client payloads of the session and tool events.
fn recorded_payloads() -> Vec<Value> {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../contract/recorded/2.1.325.json"
    ))
    .unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    collect_payloads(&all, &mut found);
    assert!(found.len() > 10, "{}", found.len());
    found
}

fn collect_payloads(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) if fields.contains_key("hook_event_name") => {
            let event = fields["hook_event_name"].as_str().unwrap_or_default();
            if ["SessionStart", "SessionEnd", "PostToolUse", "PostToolUseFailure"].contains(&event)
            {
                found.push(value.clone());
            }
        }
        Value::Object(fields) => fields.values().for_each(|value| collect_payloads(value, found)),
        Value::Array(values) => values.iter().for_each(|value| collect_payloads(value, found)),
        _ => {}
    }
}

/// Generates a value of any kind.
fn arbitrary_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,60}".prop_map(Value::from),
        Just(json!("Exit code 1\nFAILED tests/a.py::test_b - AssertionError: x")),
        Just(json!("pytest -q && sed -i s/a/b/ c")),
        Just(json!(["-a", "+b", ""])),
        Just(json!({ "lines": ["-a", "+"] })),
        Just(json!([{ "lines": ["+é", "-", 3] }])),
        Just(json!([])),
        Just(json!({})),
        Just(json!("../../../etc/passwd")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any value in any field, as a newer client might send it, no hook panics and all output is valid JSON.
    #[test]
    fn arbitrary_payloads_never_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), arbitrary_value()), 1..4),
    ) {
        let world = &*SHARED_WORLD;
        let mut payload = which.get(&RECORDED_PAYLOADS).clone();
        payload["cwd"] = json!(world.project("ship"));
        for (at, within, value) in changes {
            let fields = payload.as_object_mut().unwrap();
            let key = at.get(&fields.keys().cloned().collect::<Vec<_>>()).clone();
            match fields.get_mut(&key).unwrap() {
                Value::Object(inner) if !inner.is_empty() => {
                    let key = within.get(&inner.keys().cloned().collect::<Vec<_>>()).clone();
                    inner.insert(key, value);
                }
                field => *field = value,
            }
        }
        let env = HookEnv { files: world.files(), now: Time::from_millis(1_763_200_000_000), started_at: Instant::now(), min_deadline: MIN_HOOK_DEADLINE, window: DEFAULT_WINDOW_BYTES, started_in: None,
            parent: None, config: world.config(), home: || None, own_command: || "rutter".to_owned(), has_tools: |_| None, foreign_server: |_, _| None };
        let result = handle_event(payload.to_string().as_bytes(), None, || env);
        prop_assert!(result.stdout.is_empty() || serde_json::from_str::<Value>(&result.stdout).is_ok());
    }
}
