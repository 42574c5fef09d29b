//! Arbitrary arguments: no panic, and no partial writes.

use proptest::prelude::*;
use rutter_server::tools::{self, TOOLS};
use serde_json::{Map, Value, json};

use crate::support::{
    ToolTestEnv, advance_clock, confirm_arguments, exported_rows, falsify_arguments,
    ghap_start_arguments,
};

/// Generates any JSON of limited depth.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::String),
        "[ -~]{0,20}".prop_map(Value::String),
        Just(json!("ä".repeat(10_001))),
        Just(json!("\u{0}\u{1b}[2J\u{202e}")),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec(("[a-z_]{1,12}", inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates a value for a schema: a valid one, one of the right type, or any JSON.
fn for_schema(schema: &Value) -> BoxedStrategy<Value> {
    let right: BoxedStrategy<Value> = if let Some(choices) = schema["enum"].as_array() {
        prop::sample::select(choices.clone()).boxed()
    } else {
        match schema["type"].as_str() {
            Some("string") => prop_oneof![
                "[a-z ]{1,40}".prop_map(Value::String),
                "[0-9a-f]{4,12}".prop_map(Value::String),
                Just(json!("`cargo test parser` passes")),
            ]
            .boxed(),
            Some("integer") => (0..120_i64).prop_map(Value::from).boxed(),
            Some("number") => (-0.5..1.5_f64).prop_map(|number| json!(number)).boxed(),
            Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
            Some("array") => prop::collection::vec(for_schema(&schema["items"]), 0..4)
                .prop_map(Value::Array)
                .boxed(),
            Some("object") => object(schema).boxed(),
            _ => any_json().boxed(),
        }
    };
    prop_oneof![12 => right, 1 => any_json()].boxed()
}

fn object(schema: &Value) -> impl Strategy<Value = Value> + use<> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let none = Map::new();
    let fields: Vec<_> = schema["properties"]
        .as_object()
        .unwrap_or(&none)
        .iter()
        .map(|(name, schema)| {
            let name = name.clone();
            let there = if required.contains(&json!(name)) { 0.97 } else { 0.4 };
            prop::option::weighted(there, for_schema(schema))
                .prop_map(move |value| value.map(|value| (name.clone(), value)))
        })
        .collect();
    (fields, prop::option::weighted(0.05, ("[a-z_]{1,12}", any_json()))).prop_map(
        |(fields, more)| {
            Value::Object(fields.into_iter().flatten().chain(more).collect::<Map<_, _>>())
        },
    )
}

fn any_call() -> impl Strategy<Value = (String, Value)> {
    let fitting =
        prop::sample::select((0..TOOLS.len()).collect::<Vec<_>>()).prop_flat_map(|index| {
            let tool = &TOOLS[index];
            let schema = Value::Object((*tool.input()).clone());
            object(&schema).prop_map(|arguments| (tool.name.to_owned(), arguments))
        });
    let names: Vec<_> = TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    let wild = (prop_oneof![prop::sample::select(names), any::<String>()], any_json());
    prop_oneof![4 => fitting, 1 => wild]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Runs a dozen calls on a store with some rows. Each case creates a store, so there are few cases; `fuzz/` runs
    /// the same for any length of time.
    #[test]
    fn arbitrary_calls_never_panic(
        calls in prop::collection::vec((any_call(), prop::option::of(any::<String>())), 1..12),
    ) {
        let world = ToolTestEnv::new();
        world.call_ok("start_ghap", ghap_start_arguments());
        world.call_ok("resolve_ghap", falsify_arguments());
        world.call_ok("start_ghap", ghap_start_arguments());
        let mut before = exported_rows(&world.desk);
        for ((name, arguments), tool_use) in calls {
            advance_clock(1);
            let reads = TOOLS.iter().any(|tool| tool.name == name && tool.effect == tools::ToolEffect::Reads);
            let done = tools::call_tool(&world.desk, &name, arguments.clone(), tool_use.as_deref());
            let after = exported_rows(&world.desk);
            if done.is_err() || reads {
                prop_assert_eq!(&before, &after, "{} {}", name, arguments);
            }
            if let Err(refusal) = done {
                let refusal = refusal.to_string();
                prop_assert!(refusal.chars().count() < 500, "{name} {arguments}: {refusal}");
            }
            before = after;
        }
        // The tools still work afterwards.
        drop(tools::call_tool(&world.desk, "start_ghap", ghap_start_arguments(), None));
        prop_assert!(tools::call_tool(&world.desk, "resolve_ghap", confirm_arguments(), None).is_ok());
    }

    /// The tool's check and the schema accept the same arguments, once null arguments are removed.
    #[test]
    fn check_agrees_with_schema((name, arguments) in any_call()) {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else { return Ok(()) };
        let schema = Value::Object((*tool.input()).clone());
        let schema = jsonschema::draft202012::new(&schema).unwrap();
        let mut plain = if arguments.is_null() { json!({}) } else { arguments.clone() };
        if let Value::Object(fields) = &mut plain {
            fields.retain(|_, value| !value.is_null());
            for value in fields.values_mut() {
                if let Value::Object(fields) = value {
                    fields.retain(|_, value| !value.is_null());
                }
            }
        }
        prop_assert_eq!(tool.check_arguments(arguments.clone()).is_ok(), schema.is_valid(&plain), "{} {}", name, arguments);
    }
}
