use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rutter_contract::input::{self, Input};
use rutter_contract::output::{HookOutput, PermissionGrant, utf16_units};
use rutter_contract::spec::{FieldSpec, FieldType};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, HookEvent, table};
use serde_json::{Map, Value, json};

use crate::support;

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        // Around the limit, in characters of one, two and three bytes and two UTF-16 units.
        (prop_oneof!["a", "é", "漢", "😀"], 4_990_usize..10_010).prop_map(|(c, n)| c.repeat(n)),
    ]
}

fn any_json_value() -> impl Strategy<Value = Value> {
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

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    btree_map(any::<String>(), any_json_value(), 0..4).prop_map(|map| map.into_iter().collect())
}

/// Generates a permission update as any client might suggest it.
fn any_permission_update() -> impl Strategy<Value = input::PermissionUpdate> {
    let known = any_variant(&table::shapes::PERMISSION_UPDATE);
    let odd = any_object().prop_map(Value::Object);
    let mode = any::<String>()
        .prop_map(|mode| json!({ "type": "setMode", "mode": mode, "destination": "session" }));
    prop_oneof![known, odd, mode].prop_map(|value| serde_json::from_value(value).unwrap())
}

/// Checks that an answer is valid against the event's schema, within the limits, and one line of JSON.
fn check_answer<E: HookEvent>(said: &HookOutput<E>) -> Result<(), TestCaseError> {
    let value = said.to_value();
    if let Err(error) = support::output_validator(E::NAME).validate(&value) {
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
    fn builder_output_is_valid(a in any_text(), b in any_text(), map in any_object(), any in any_json_value(), pick in 0_u8..4, updates in vec(any_permission_update(), 0..4)) {
        let tool = HookOutput::<input::PreToolUse>::new().context(&a).system_message(&b);
        check_answer(&match pick {
            0 => tool.allow(),
            1 => tool.deny(&b),
            2 => tool.ask(&b).updated_input(map.clone()),
            _ => tool.defer().stop(&a),
        })?;
        check_answer(&HookOutput::<input::PostToolUse>::new().context(&a).context(&b).block(&b)
            .classifier_context(&a).updated_tool_output(any.clone()).updated_mcp_tool_output(any))?;
        check_answer(&HookOutput::<input::PostToolUseFailure>::new().context(&a).block(&b))?;
        check_answer(&HookOutput::<input::PostToolBatch>::new().context(&a).block(&b).stop(&a))?;
        check_answer(&HookOutput::<input::Notification>::new())?;
        check_answer(&HookOutput::<input::UserPromptSubmit>::new().context(&a).session_title(&b).block_silently(&a))?;
        check_answer(&HookOutput::<input::UserPromptExpansion>::new().context(&a).block_silently(&b))?;
        check_answer(&HookOutput::<input::SessionStart>::new().context(&a).system_message(&b).session_title(&a)
            .initial_user_message(&b).watch_paths([&a, &b]).reload_skills().terminal_sequence("\u{7}"))?;
        check_answer(&HookOutput::<input::Stop>::new().context(&a).block(&b).stop(&a).system_message(&b))?;
        check_answer(&HookOutput::<input::SubagentStart>::new().context(&a))?;
        check_answer(&HookOutput::<input::SubagentStop>::new().context(&a).block(&b))?;
        check_answer(&HookOutput::<input::PreCompact>::new().block(&b))?;
        check_answer(&HookOutput::<input::PreModelSwitch>::new().deny(&a).system_message(&b))?;
        check_answer(&HookOutput::<input::PostModelSwitch>::new().context(&a))?;
        // Any suggestion of any client: an update that can be sent is valid.
        let mut granted = PermissionGrant::default().updated_input(map.clone());
        for update in &updates {
            if let Ok(more) = granted.clone().updated_permission(update) {
                granted = more;
            }
        }
        let request = HookOutput::<input::PermissionRequest>::new().system_message(&a);
        check_answer(&match pick {
            0 => request.allow(),
            1 => request.deny(&b),
            2 => request.deny_and_interrupt(&b),
            _ => request.allow_with(granted),
        })?;
        check_answer(&HookOutput::<input::PermissionDenied>::new().retry())?;
        check_answer(&HookOutput::<input::Setup>::new().system_message(&a))?;
        check_answer(&HookOutput::<input::TeammateIdle>::new().stop(&a))?;
        check_answer(&HookOutput::<input::TaskCreated>::new().block(&a))?;
        check_answer(&HookOutput::<input::TaskCompleted>::new().block(&a))?;
        let elicitation = HookOutput::<input::Elicitation>::new();
        check_answer(&match pick {
            0 => elicitation.decline(),
            1 => elicitation.cancel(),
            _ => elicitation.accept(map.clone()),
        })?;
        check_answer(&HookOutput::<input::ElicitationResult>::new().accept(map).cancel())?;
        check_answer(&HookOutput::<input::ConfigChange>::new().block(&a))?;
        prop_assert!(support::output_validator(EventName::WorktreeCreate).is_valid(&HookOutput::<input::WorktreeCreate>::http_path(&a)));
        check_answer(&HookOutput::<input::CwdChanged>::new().watch_paths([&a]).system_message(&b))?;
        check_answer(&HookOutput::<input::FileChanged>::new().watch_paths([&a]))?;
        check_answer(&HookOutput::<input::DirectoryAdded>::new().system_message(&a))?;
        check_answer(&HookOutput::<input::MessageDisplay>::new().display(&a))?;
        check_answer(&HookOutput::<input::SessionEnd>::new())?;
        check_answer(&HookOutput::<input::StopFailure>::new())?;
        check_answer(&HookOutput::<input::PostCompact>::new())?;
        check_answer(&HookOutput::<input::WorktreeRemove>::new())?;
        check_answer(&HookOutput::<input::InstructionsLoaded>::new())?;
    }

    #[test]
    fn plain_answers_are_limited_text(text in any_text()) {
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
fn any_payload(event: EventName) -> impl Strategy<Value = Value> {
    let fields: Vec<&'static FieldSpec> =
        table::event_spec(event).input_at(Contract::newest()).collect();
    let members: Vec<_> = fields
        .into_iter()
        .map(|field| {
            let there = if field.required { Just(true).boxed() } else { any::<bool>().boxed() };
            let value = match field.name {
                "hook_event_name" => Just(json!(event.as_str())).boxed(),
                _ => any_field_value(field.ty),
            };
            (there, value)
                .prop_map(move |(there, value)| there.then(|| (field.name.to_owned(), value)))
        })
        .collect();
    (members, any_json_value()).prop_map(|(members, novelty)| {
        let mut map: Map<String, Value> = members.into_iter().flatten().collect();
        map.insert("x_novelty".to_owned(), novelty);
        Value::Object(map)
    })
}

fn any_shape(fields: &'static [FieldSpec]) -> BoxedStrategy<Value> {
    let members: Vec<_> = fields
        .iter()
        .map(|field| {
            any_field_value(field.ty).prop_map(move |value| (field.name.to_owned(), value))
        })
        .collect();
    members.prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
}

fn any_field_value(ty: FieldType) -> BoxedStrategy<Value> {
    match ty {
        FieldType::Text => any::<String>().prop_map(Value::from).boxed(),
        FieldType::Uuid => Just(json!("00000000-0000-4000-8000-000000000000")).boxed(),
        FieldType::Flag => any::<bool>().prop_map(Value::from).boxed(),
        FieldType::Number => {
            prop_oneof![any::<i64>().prop_map(Value::from), (-1e9_f64..1e9).prop_map(Value::from),]
                .boxed()
        }
        FieldType::Integer => any::<u64>().prop_map(Value::from).boxed(),
        FieldType::Any => any_json_value().boxed(),
        FieldType::Object => any_object().prop_map(Value::Object).boxed(),
        FieldType::NullableText => {
            prop_oneof![Just(Value::Null), any::<String>().prop_map(Value::from)].boxed()
        }
        FieldType::TextList => vec(any::<String>(), 0..3).prop_map(Value::from).boxed(),
        FieldType::Choice(choice) => {
            let values: Vec<&'static str> = choice.values.iter().map(|value| value.text).collect();
            proptest::sample::select(values).prop_map(Value::from).boxed()
        }
        FieldType::Shape(inner) => any_shape(inner.fields),
        FieldType::Shapes(inner) => {
            vec(any_shape(inner.fields), 0..3).prop_map(Value::from).boxed()
        }
        FieldType::Union(union) => any_variant(union),
        FieldType::Unions(union) => vec(any_variant(union), 0..3).prop_map(Value::from).boxed(),
    }
}

fn any_variant(union: &'static rutter_contract::spec::UnionSpec) -> BoxedStrategy<Value> {
    proptest::sample::select(union.variants.to_vec())
        .prop_flat_map(move |(tag, fields)| {
            any_shape(fields).prop_map(move |mut value| {
                value[union.tag] = json!(tag);
                value
            })
        })
        .boxed()
}

/// Types, schemas and table agree: the schema accepts a payload that fits the table, and the type reads it and
/// writes it back unchanged.
#[test]
fn table_payloads_round_trip() {
    for event in EventName::ALL {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let result = runner.run(&any_payload(event), |sent| {
            let bytes = serde_json::to_vec(&sent).unwrap();
            let read = Input::parse(&bytes).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(read.event(), Some(event));
            prop_assert_eq!(serde_json::to_value(&read).unwrap(), sent.clone());
            if let Err(error) = support::input_validator(event).validate(&sent) {
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
    fn any_bytes_parse_or_fail(bytes in vec(any::<u8>(), 0..200)) {
        drop(Input::parse(&bytes));
    }
}
