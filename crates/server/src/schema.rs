//! JSON Schemas of the tools, as short as possible: a model reads every byte of them in every session.

use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

mod validate;

pub(crate) use validate::validate_arguments;

/// Returns the schema of a tool's arguments, without references and without keys that tell a model nothing.
pub(crate) fn input_schema<T: JsonSchema>() -> Arc<Map<String, Value>> {
    generate_schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the schema of a tool's answer. Fields that the answer may omit are not required.
pub(crate) fn output_schema<T: JsonSchema>() -> Arc<Map<String, Value>> {
    generate_schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate_schema<T: JsonSchema>(settings: SchemaSettings) -> Arc<Map<String, Value>> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    shorten_schema(&mut schema);
    let Value::Object(mut object) = schema else { return Arc::default() };
    object.remove("description");
    Arc::new(object)
}

/// Removes titles, number formats, empty defaults, and `null` as a type of optional fields.
fn shorten_schema(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            // Empty defaults are the expected ones.
            let is_nothing = |value: &Value| match value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(all) => all.is_empty(),
                _ => false,
            };
            if object.get("default").is_some_and(is_nothing) {
                object.remove("default");
            }
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = &kinds[..] {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(either)) = object.get_mut("anyOf") {
                either.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = &either[..] {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(shorten_schema);
        }
        Value::Array(all) => all.iter_mut().for_each(shorten_schema),
        _ => {}
    }
}

/// Defines a schema function for each closed vocabulary.
macro_rules! vocabulary {
    ($($name:ident: $of:ty),+ $(,)?) => {
        $(
            pub(crate) fn $name(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": <$of>::NAMES })
            }
        )+
    };
}

vocabulary! {
    domain: rutter_memory::ghap::Domain,
    strategy: rutter_memory::ghap::Strategy,
    cause: rutter_memory::ghap::CauseCategory,
    expects: rutter_memory::ghap::expect::Expects,
    axis: rutter_memory::document::Axis,
    category: rutter_memory::memory::MemoryCategory,
    depth: rutter_hooks::context::Depth,
    standing: rutter_memory::value::ValueStanding,
}

/// The final states of a GHAP.
pub(crate) fn ending(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": &rutter_memory::ghap::GhapStatus::NAMES[1..] })
}

/// All states of a GHAP.
pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": rutter_memory::ghap::GhapStatus::NAMES })
}

/// The kinds of rows in a context.
pub(crate) fn kinds(_: &mut SchemaGenerator) -> Schema {
    let kinds = rutter_hooks::context::InjectionSource::NAMES;
    json_schema!({ "type": "array", "items": { "type": "string", "enum": kinds } })
}
