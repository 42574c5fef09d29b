use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rutter_contract::input::{self, Input};
use rutter_contract::output::{Allow, HookOutput, utf16_units};
use rutter_contract::spec::{Field, FieldType};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, HookEvent, table};
use serde_json::{Map, Value, json};

use crate::support;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        // Around the limit, in characters of one, two and three bytes and two UTF-16 units.
        (prop_oneof!["a", "é", "漢", "😀"], 4_990_usize..10_010).prop_map(|(c, n)| c.repeat(n)),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    btree_map(any::<String>(), json_value(), 0..4).prop_map(|map| map.into_iter().collect())
}

/// Generates a permission update as any client might suggest it.
fn suggestion() -> impl Strategy<Value = input::PermissionUpdate> {
    let known = variant(&table::shapes::PERMISSION_UPDATE);
    let odd = object().prop_map(Value::Object);
    let mode = any::<String>()
        .prop_map(|mode| json!({ "type": "setMode", "mode": mode, "destination": "session" }));
    prop_oneof![known, odd, mode].prop_map(|value| serde_json::from_value(value).unwrap())
}

/// Checks that an answer is valid against the event's schema, within the limits, and one line of JSON.
fn check<E: HookEvent>(said: &HookOutput<E>) -> Result<(), TestCaseError> {
    let value = said.to_value();
    if let Err(error) = support::output(E::NAME).validate(&value) {
        return Err(TestCaseError::fail(format!("{}: {error}: {value}", E::NAME)));
    }
    for place in ["/systemMessage", "/hookSpecificOutput/additionalContext"] {
        if let Some(text) = value.pointer(place).and_then(Value::as_str) {
            prop_assert!(utf16_units(text) <= table::TEXT_LIMIT_UNITS);
        }
    }
    let answer = said.answer();
    prop_assert_eq!(answer.exit, 0);
    if answer.stdout.is_empty() {
        prop_assert_eq!(value, json!({}));
    } else {
        let read: Value = serde_json::from_str(&answer.stdout).unwrap();
        prop_assert_eq!(read, value);
        prop_assert!(!answer.stdout.contains('\n'));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_builder_emits_is_always_valid(a in text(), b in text(), map in object(), any in json_value(), pick in 0_u8..4, updates in vec(suggestion(), 0..4)) {
        let tool = HookOutput::<input::PreToolUse>::new().context(&a).system_message(&b);
        check(&match pick {
            0 => tool.allow(),
            1 => tool.deny(&b),
            2 => tool.ask(&b).updated_input(map.clone()),
            _ => tool.defer().stop(&a),
        })?;
        check(&HookOutput::<input::PostToolUse>::new().context(&a).context(&b).block(&b)
            .classifier_context(&a).updated_tool_output(any.clone()).updated_mcp_tool_output(any))?;
        check(&HookOutput::<input::PostToolUseFailure>::new().context(&a).block(&b))?;
        check(&HookOutput::<input::PostToolBatch>::new().context(&a).block(&b).stop(&a))?;
        check(&HookOutput::<input::Notification>::new())?;
        check(&HookOutput::<input::UserPromptSubmit>::new().context(&a).session_title(&b).block_silently(&a))?;
        check(&HookOutput::<input::UserPromptExpansion>::new().context(&a).block_silently(&b))?;
        check(&HookOutput::<input::SessionStart>::new().context(&a).system_message(&b).session_title(&a)
            .initial_user_message(&b).watch_paths([&a, &b]).reload_skills().terminal_sequence("\u{7}"))?;
        check(&HookOutput::<input::Stop>::new().context(&a).block(&b).stop(&a).system_message(&b))?;
        check(&HookOutput::<input::SubagentStart>::new().context(&a))?;
        check(&HookOutput::<input::SubagentStop>::new().context(&a).block(&b))?;
        check(&HookOutput::<input::PreCompact>::new().block(&b))?;
        check(&HookOutput::<input::PreModelSwitch>::new().deny(&a).system_message(&b))?;
        check(&HookOutput::<input::PostModelSwitch>::new().context(&a))?;
        // Any suggestion of any client: an update that can be sent is valid.
        let mut granted = Allow::default().updated_input(map.clone());
        for update in &updates {
            if let Ok(more) = granted.clone().updated_permission(update) {
                granted = more;
            }
        }
        let request = HookOutput::<input::PermissionRequest>::new().system_message(&a);
        check(&match pick {
            0 => request.allow(),
            1 => request.deny(&b),
            2 => request.deny_and_interrupt(&b),
            _ => request.allow_with(granted),
        })?;
        check(&HookOutput::<input::PermissionDenied>::new().retry())?;
        check(&HookOutput::<input::Setup>::new().system_message(&a))?;
        check(&HookOutput::<input::TeammateIdle>::new().stop(&a))?;
        check(&HookOutput::<input::TaskCreated>::new().block(&a))?;
        check(&HookOutput::<input::TaskCompleted>::new().block(&a))?;
        let elicitation = HookOutput::<input::Elicitation>::new();
        check(&match pick {
            0 => elicitation.decline(),
            1 => elicitation.cancel(),
            _ => elicitation.accept(map.clone()),
        })?;
        check(&HookOutput::<input::ElicitationResult>::new().accept(map).cancel())?;
        check(&HookOutput::<input::ConfigChange>::new().block(&a))?;
        prop_assert!(support::output(EventName::WorktreeCreate).is_valid(&HookOutput::<input::WorktreeCreate>::http_path(&a)));
        check(&HookOutput::<input::CwdChanged>::new().watch_paths([&a]).system_message(&b))?;
        check(&HookOutput::<input::FileChanged>::new().watch_paths([&a]))?;
        check(&HookOutput::<input::DirectoryAdded>::new().system_message(&a))?;
        check(&HookOutput::<input::MessageDisplay>::new().display(&a))?;
        check(&HookOutput::<input::SessionEnd>::new())?;
        check(&HookOutput::<input::StopFailure>::new())?;
        check(&HookOutput::<input::PostCompact>::new())?;
        check(&HookOutput::<input::WorktreeRemove>::new())?;
        check(&HookOutput::<input::InstructionsLoaded>::new())?;
    }

    #[test]
    fn plain_answers_stay_within_the_limit_and_are_no_json(text in text()) {
        for answer in [
            HookOutput::<input::SessionStart>::plain(&text),
            HookOutput::<input::UserPromptSubmit>::plain(&text),
            HookOutput::<input::PreCompact>::plain(&text),
        ] {
            prop_assert!(utf16_units(&answer.stdout) <= table::TEXT_LIMIT_UNITS);
            let json = answer.stdout.trim_start().starts_with('{');
            prop_assert!(!json, "starts like JSON");
        }
    }
}

/// Generates a payload of `event`: all required fields, some optional ones, and an unknown one.
fn payload(event: EventName) -> impl Strategy<Value = Value> {
    let fields: Vec<&'static Field> = table::event(event).input_at(Contract::newest()).collect();
    let members: Vec<_> = fields
        .into_iter()
        .map(|field| {
            let there = if field.required { Just(true).boxed() } else { any::<bool>().boxed() };
            let value = match field.name {
                "hook_event_name" => Just(json!(event.as_str())).boxed(),
                _ => field_value(field.ty),
            };
            (there, value)
                .prop_map(move |(there, value)| there.then(|| (field.name.to_owned(), value)))
        })
        .collect();
    (members, json_value()).prop_map(|(members, novelty)| {
        let mut map: Map<String, Value> = members.into_iter().flatten().collect();
        map.insert("x_novelty".to_owned(), novelty);
        Value::Object(map)
    })
}

fn shape(fields: &'static [Field]) -> BoxedStrategy<Value> {
    let members: Vec<_> = fields
        .iter()
        .map(|field| field_value(field.ty).prop_map(move |value| (field.name.to_owned(), value)))
        .collect();
    members.prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
}

fn field_value(ty: FieldType) -> BoxedStrategy<Value> {
    match ty {
        FieldType::Text => any::<String>().prop_map(Value::from).boxed(),
        FieldType::Uuid => Just(json!("00000000-0000-4000-8000-000000000000")).boxed(),
        FieldType::Flag => any::<bool>().prop_map(Value::from).boxed(),
        FieldType::Number => {
            prop_oneof![any::<i64>().prop_map(Value::from), (-1e9_f64..1e9).prop_map(Value::from),]
                .boxed()
        }
        FieldType::Integer => any::<u64>().prop_map(Value::from).boxed(),
        FieldType::Any => json_value().boxed(),
        FieldType::Object => object().prop_map(Value::Object).boxed(),
        FieldType::NullableText => {
            prop_oneof![Just(Value::Null), any::<String>().prop_map(Value::from)].boxed()
        }
        FieldType::TextList => vec(any::<String>(), 0..3).prop_map(Value::from).boxed(),
        FieldType::Choice(choice) => {
            let values: Vec<&'static str> = choice.values.iter().map(|value| value.text).collect();
            proptest::sample::select(values).prop_map(Value::from).boxed()
        }
        FieldType::Shape(inner) => shape(inner.fields),
        FieldType::Shapes(inner) => vec(shape(inner.fields), 0..3).prop_map(Value::from).boxed(),
        FieldType::Union(union) => variant(union),
        FieldType::Unions(union) => vec(variant(union), 0..3).prop_map(Value::from).boxed(),
    }
}

fn variant(union: &'static rutter_contract::spec::Union) -> BoxedStrategy<Value> {
    proptest::sample::select(union.variants.to_vec())
        .prop_flat_map(move |(tag, fields)| {
            shape(fields).prop_map(move |mut value| {
                value[union.tag] = json!(tag);
                value
            })
        })
        .boxed()
}

/// Types, schemas and table agree: the schema accepts a payload that fits the table, and the type reads it and
/// writes it back unchanged.
#[test]
fn whatever_the_table_allows_is_valid_and_round_trips() {
    for event in EventName::ALL {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let result = runner.run(&payload(event), |sent| {
            let bytes = serde_json::to_vec(&sent).unwrap();
            let read = Input::parse(&bytes).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(read.event(), Some(event));
            prop_assert_eq!(serde_json::to_value(&read).unwrap(), sent.clone());
            if let Err(error) = support::input(event).validate(&sent) {
                return Err(TestCaseError::fail(format!("{error}")));
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{event}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes give a payload or an error, never a panic.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        drop(Input::parse(&bytes));
    }
}
