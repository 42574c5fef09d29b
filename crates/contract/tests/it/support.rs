//! Compiled schemas by event, and fixtures by their reason.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jsonschema::Validator;
use rutter_contract::version::Contract;
use rutter_contract::{EventName, schema, table};
use serde_json::Value;

/// Compiles a schema by its own `$schema`, without fetching.
pub(crate) fn compile_schema(schema: &Value) -> Validator {
    jsonschema::options().build(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// Returns the validator of an event's answers.
pub(crate) fn output_validator(event: EventName) -> &'static Validator {
    static ALL: OnceLock<HashMap<EventName, Validator>> = OnceLock::new();
    let contract = Contract::newest();
    let compiled = |event| {
        (event, compile_schema(&schema::bundled_output_schema(table::event_spec(event), contract)))
    };
    &ALL.get_or_init(|| EventName::ALL.into_iter().map(compiled).collect())[&event]
}

/// Returns the validator of an event's payloads.
pub(crate) fn input_validator(event: EventName) -> &'static Validator {
    static ALL: OnceLock<HashMap<EventName, Validator>> = OnceLock::new();
    let contract = Contract::newest();
    let compiled =
        |event| (event, compile_schema(&schema::input_schema(table::event_spec(event), contract)));
    &ALL.get_or_init(|| EventName::ALL.into_iter().map(compiled).collect())[&event]
}

/// Returns the fixtures in a folder, by path; panics if the folder is empty.
pub(crate) fn load_fixtures(folder: &Path) -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let read = |path: PathBuf| {
        let value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap());
        (path.display().to_string(), value.unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    };
    let found: Vec<_> = entries.map(|entry| read(entry.unwrap().path())).collect();
    assert!(!found.is_empty(), "{} is empty", folder.display());
    found
}
