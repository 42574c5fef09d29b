//! `schemas/`: the contract of the newest client as JSON Schemas, and the schemas of files with hooks.

use rutter_check::schema::{PLUGIN_FILE, SETTINGS_FILE, plugin_schema, settings_schema};
use rutter_contract::schema::{self, Direction};
use rutter_contract::table::events_at;
use rutter_contract::version::Contract;
use serde_json::Value;

use super::GeneratedFiles;

const SCHEMA_FOLDER: &str = "schemas/hooks";

/// Adds every schema to `files`.
pub(super) fn add_schemas(files: &mut GeneratedFiles) {
    let contract = Contract::newest();
    for (name, schema) in
        [(SETTINGS_FILE, settings_schema(contract)), (PLUGIN_FILE, plugin_schema(contract))]
    {
        files.add_text(format!("schemas/{name}"), format!("{schema:#}\n"));
    }
    let mut put = |name: &str, schema: &Value| {
        files.add_text(format!("{SCHEMA_FOLDER}/{name}"), format!("{schema:#}\n"));
    };
    put(schema::BASE_FILE, &schema::base_schema(contract));
    put("index.json", &schema::schema_index(contract));
    for event in events_at(contract) {
        put(
            &schema::file_name(event.name, Direction::Output),
            &schema::output_schema(event, contract),
        );
        put(
            &schema::file_name(event.name, Direction::Input),
            &schema::input_schema(event, contract),
        );
    }
}
