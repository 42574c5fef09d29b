//! `schemas/hooks/`: the contract of the newest client as JSON Schemas.

use rutter_contract::schema::{self, Direction};
use rutter_contract::table::events_at;
use rutter_contract::version::Contract;
use serde_json::Value;

use super::Files;

const FOLDER: &str = "schemas/hooks";

/// Adds every schema to `files`.
pub(super) fn add(files: &mut Files) {
    let contract = Contract::newest();
    let mut put = |name: &str, schema: &Value| {
        files.text(format!("{FOLDER}/{name}"), format!("{schema:#}\n"));
    };
    put(schema::BASE_FILE, &schema::base(contract));
    put("index.json", &schema::index(contract));
    for event in events_at(contract) {
        put(&schema::file_name(event.name, Direction::Output), &schema::output(event, contract));
        put(&schema::file_name(event.name, Direction::Input), &schema::input(event, contract));
    }
}
