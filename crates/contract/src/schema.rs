//! JSON Schemas of the contract, draft 2020-12, generated from the table.
//!
//! Output schemas are stricter than the client: they reject keys that the client would drop silently, so
//! that the author of a hook notices. Input schemas accept unknown keys, as a hook should.

use serde_json::{Map, Value, json};

use crate::known_issues::{IssueSubject, describe_known_issues};
use crate::name::EventName;
use crate::spec::{ChoiceSpec, EventSpec, FieldSpec, FieldType, Honoured, ShapeSpec, UnionSpec};
use crate::table;
use crate::version::Contract;

/// The JSON Schema draft of all schemas.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema file for the fields that every answer may have.
pub const BASE_FILE: &str = "hook-output-base.schema.json";

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the hook.
    Input,
    /// From the hook to the client.
    Output,
}

/// The treatment of keys that are not in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnknownKeys {
    Pass,
    Refuse,
}

/// Returns the file name of a schema.
pub fn file_name(event: EventName, direction: Direction) -> String {
    let kind = match direction {
        Direction::Input => "input",
        Direction::Output => "output",
    };
    format!("{}-{kind}.schema.json", event.kebab())
}

/// Returns the index of the schema files by event.
pub fn schema_index(contract: Contract) -> Value {
    let files = |event: &EventSpec| {
        json!({
            "input": file_name(event.name, Direction::Input),
            "output": file_name(event.name, Direction::Output),
        })
    };
    let events = table::events_at(contract).map(|event| (event.name.to_string(), files(event)));
    Value::Object(events.collect())
}

/// Returns the schema of the fields that every answer may have. It has no `additionalProperties`: `true`
/// would mark every key as evaluated, and no schema that refers to this one could reject a key.
pub fn base_schema(contract: Contract) -> Value {
    let mut schema = schema_head(contract, BASE_FILE, "Hook output, universal fields");
    schema.insert(
        "description".to_owned(),
        json!(format!(
            "What every hook may answer, whatever the event. Documentation: {}",
            table::DOCUMENTATION
        )),
    );
    schema.insert("type".to_owned(), json!("object"));
    let fields = table::universal_output_at(contract);
    let mut properties = property_schemas(fields, contract, UnknownKeys::Refuse);
    // The client accepts `false` and ignores it.
    if let Some(field) = properties.get_mut("async").and_then(Value::as_object_mut) {
        field.insert("const".to_owned(), json!(true));
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    // The client drops all other keys of an object that sends the hook to the background.
    let alone = json!({ "propertyNames": { "enum": ["async", "asyncTimeout"] } });
    schema.insert("dependentSchemas".to_owned(), json!({ "async": alone }));
    schema.insert("dependentRequired".to_owned(), json!({ "asyncTimeout": ["async"] }));
    Value::Object(schema)
}

/// Returns the schema of the answers to `event`; it refers to the base by file name.
pub fn output_schema(event: &EventSpec, contract: Contract) -> Value {
    let name = event.name;
    let file = file_name(name, Direction::Output);
    let mut schema = schema_head(contract, &file, &format!("{name} hook output"));
    add_description(
        &mut schema,
        &format!("What a {name} hook may print. {}", verdict_note(event)),
        event,
    );
    let issues = describe_known_issues(name, IssueSubject::Answer);
    if let Some(Value::String(text)) = schema.get_mut("description") {
        text.push_str(&issues);
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("allOf".to_owned(), json!([{ "$ref": BASE_FILE }]));

    let mut properties = Map::new();
    if event.top_level_decision.honoured == Honoured::Yes {
        let effect = event.top_level_decision.fact;
        properties.insert(
            "decision".to_owned(),
            json!({
                "description": effect.value,
                "$comment": source_comment(effect.source.as_str(), effect.source.confidence().as_str(), None),
                "const": "block",
            }),
        );
        properties.insert(
            "reason".to_owned(),
            json!({ "description": "why it is blocked", "type": "string" }),
        );
        if needs_reason(name) {
            // Without a reason the client would tell the agent to go on because of "Blocked by hook".
            schema.insert("dependentRequired".to_owned(), json!({ "decision": ["reason"] }));
        }
    }
    if let Some(fields) = event.output_at(contract) {
        let fields: Vec<&FieldSpec> = fields.collect();
        let mut own = Map::new();
        own.insert(
            "hookEventName".to_owned(),
            json!({ "description": "the firing event, case-sensitive", "const": name.as_str() }),
        );
        own.extend(self::property_schemas(fields.iter().copied(), contract, UnknownKeys::Refuse));
        let required = fields.iter().filter(|field| field.required).map(|field| field.name);
        let required: Vec<&str> = std::iter::once("hookEventName").chain(required).collect();
        properties.insert(
            "hookSpecificOutput".to_owned(),
            json!({
                "type": "object",
                "properties": own,
                "required": required,
                "additionalProperties": false,
            }),
        );
    }
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    schema.insert("unevaluatedProperties".to_owned(), json!(false));
    Value::Object(schema)
}

/// Returns [`output_schema`] with the base included, as one self-contained document.
pub fn bundled_output_schema(event: &EventSpec, contract: Contract) -> Value {
    let mut schema = output_schema(event, contract);
    schema["$defs"] = json!({ "hook-output-base": base_schema(contract) });
    schema
}

/// Returns the schema of the payloads of `event`. It is self-contained.
pub fn input_schema(event: &EventSpec, contract: Contract) -> Value {
    let name = event.name;
    let file = file_name(name, Direction::Input);
    let mut schema = schema_head(contract, &file, &format!("{name} hook input"));
    add_description(&mut schema, &format!("What a {name} hook reads on stdin."), event);
    schema.insert("type".to_owned(), json!("object"));
    let fields: Vec<&FieldSpec> = event.input_at(contract).collect();
    let mut properties = property_schemas(fields.iter().copied(), contract, UnknownKeys::Pass);
    if let Some(field) = properties.get_mut("hook_event_name").and_then(Value::as_object_mut) {
        field.insert("const".to_owned(), json!(name.as_str()));
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required_names(fields)));
    Value::Object(schema)
}

fn needs_reason(event: EventName) -> bool {
    matches!(event, EventName::Stop | EventName::SubagentStop)
}

fn schema_head(contract: Contract, file: &str, title: &str) -> Map<String, Value> {
    let version = contract.version();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!(DRAFT));
    // A name, not an address: `.invalid` never resolves, so validators cannot fetch it.
    let id = format!("https://rutter.invalid/schemas/claude-code-{version}/{file}");
    schema.insert("$id".to_owned(), json!(id));
    schema.insert("title".to_owned(), json!(title));
    schema.insert("$comment".to_owned(), json!(format!("Contract of Claude Code {version}.")));
    schema
}

fn add_description(schema: &mut Map<String, Value>, what: &str, event: &EventSpec) {
    let text = format!(
        "{what} Fires when: {}. Since {}. Documentation: {}",
        event.when.value,
        event.since,
        event.documentation()
    );
    schema.insert("description".to_owned(), json!(text));
}

fn verdict_note(event: &EventSpec) -> String {
    let model = match event.decision.value {
        crate::spec::DecisionModel::None => "It decides nothing.".to_owned(),
        model => format!("Decision model: {}.", model.as_str()),
    };
    match event.output {
        Some(_) => model,
        None => format!("{model} The client rejects a hookSpecificOutput here."),
    }
}

fn source_comment(
    source: &str,
    confidence: &str,
    since: Option<crate::version::Version>,
) -> String {
    let since = since.map(|version| format!("; since {version}")).unwrap_or_default();
    format!("source: {source}; confidence: {confidence}{since}")
}

fn required_names<'a>(fields: impl IntoIterator<Item = &'a FieldSpec>) -> Vec<&'static str> {
    fields.into_iter().filter(|field| field.required).map(|field| field.name).collect()
}

fn property_schemas<'a>(
    fields: impl Iterator<Item = &'a FieldSpec>,
    contract: Contract,
    unknown: UnknownKeys,
) -> Map<String, Value> {
    fields.map(|field| (field.name.to_owned(), property_schema(field, contract, unknown))).collect()
}

fn property_schema(field: &FieldSpec, contract: Contract, unknown: UnknownKeys) -> Value {
    let mut schema = Map::new();
    if !field.note.is_empty() {
        schema.insert("description".to_owned(), json!(field.note));
    }
    let comment =
        source_comment(field.source.as_str(), field.source.confidence().as_str(), field.since);
    schema.insert("$comment".to_owned(), json!(comment));
    if field.deprecated {
        schema.insert("deprecated".to_owned(), json!(true));
    }
    for (key, value) in type_schema(field.ty, contract, unknown) {
        // The field's own description has precedence over its type's.
        schema.entry(key).or_insert(value);
    }
    Value::Object(schema)
}

fn type_schema(ty: FieldType, contract: Contract, unknown: UnknownKeys) -> Map<String, Value> {
    let schema = match ty {
        FieldType::Text => json!({ "type": "string" }),
        // `format` is an annotation to some validators and an error to others.
        FieldType::Uuid => json!({ "type": "string", "pattern": "^[0-9a-fA-F-]{36}$" }),
        FieldType::Flag => json!({ "type": "boolean" }),
        FieldType::Number => json!({ "type": "number" }),
        FieldType::Integer => json!({ "type": "integer", "minimum": 0 }),
        FieldType::Any => json!({}),
        FieldType::Object => json!({ "type": "object" }),
        FieldType::NullableText => json!({ "type": ["string", "null"] }),
        FieldType::TextList => json!({ "type": "array", "items": { "type": "string" } }),
        FieldType::Choice(choice) => choice_schema(choice, contract),
        FieldType::Shape(shape) => shape_schema(shape, contract, unknown),
        FieldType::Shapes(shape) => {
            json!({ "type": "array", "items": shape_schema(shape, contract, unknown) })
        }
        FieldType::Union(union) => union_schema(union, contract, unknown),
        FieldType::Unions(union) => {
            json!({ "type": "array", "items": union_schema(union, contract, unknown) })
        }
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn choice_schema(choice: &ChoiceSpec, contract: Contract) -> Value {
    let values: Vec<&str> = choice.values_at(contract).collect();
    if choice.open {
        json!({ "type": "string", "examples": values })
    } else {
        json!({ "type": "string", "enum": values })
    }
}

fn shape_schema(shape: &ShapeSpec, contract: Contract, unknown: UnknownKeys) -> Value {
    let mut schema = json!({
        "title": shape.name,
        "type": "object",
        "properties": property_schemas(shape.fields.iter(), contract, unknown),
        "required": required_names(shape.fields),
    });
    if unknown == UnknownKeys::Refuse {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

/// Returns a schema with all fields of all variants, and for each variant a rule that requires its fields
/// and forbids those of the others. A validator can then name the misplaced field; with `oneOf` it could only
/// report that no variant fits.
fn union_schema(union: &UnionSpec, contract: Contract, unknown: UnknownKeys) -> Value {
    let tags: Vec<&str> = union.variants.iter().map(|(tag, _)| *tag).collect();
    let mut properties = Map::new();
    properties.insert(union.tag.to_owned(), json!({ "type": "string", "enum": tags }));
    for field in union.variants.iter().flat_map(|(_, fields)| *fields) {
        if !properties.contains_key(field.name) {
            properties.insert(field.name.to_owned(), property_schema(field, contract, unknown));
        }
    }
    let rules: Vec<Value> = union
        .variants
        .iter()
        .map(|(tag, fields)| {
            let foreign = properties
                .keys()
                .filter(|key| *key != union.tag && !fields.iter().any(|field| field.name == **key))
                .map(|key| (key.clone(), json!(false)))
                .collect::<Map<_, _>>();
            let mut then = Map::new();
            let required = required_names(*fields);
            // Repeated here because a strict validator wants every required key declared in the same schema.
            let mut ruled: Map<String, Value> =
                required.iter().map(|key| ((*key).to_owned(), json!(true))).collect();
            if unknown == UnknownKeys::Refuse {
                ruled.extend(foreign);
            }
            if !ruled.is_empty() {
                then.insert("properties".to_owned(), Value::Object(ruled));
            }
            if !required.is_empty() {
                then.insert("required".to_owned(), json!(required));
            }
            json!({
                "if": { "properties": { union.tag: { "const": tag } }, "required": [union.tag] },
                "then": then,
            })
        })
        .collect();
    let mut schema = json!({
        "title": union.name,
        "description": union.doc,
        "type": "object",
        "properties": properties,
        "required": [union.tag],
        "allOf": rules,
    });
    if unknown == UnknownKeys::Refuse {
        schema["additionalProperties"] = json!(false);
    }
    schema
}
