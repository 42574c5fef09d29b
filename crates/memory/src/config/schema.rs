//! The JSON Schema of a configuration file, for editors.

use serde_json::{Map, Value as Json, json};

use super::Config;
use super::keys::{KEYS, Key, Kind, Rule, SECTIONS};

/// Returns the schema. It accepts the same values as the loader does for the user's file.
pub fn schema() -> Json {
    let mut root =
        table("Configuration of Rutter: config.toml of the user, .rutter.toml of a project.");
    for (path, about) in SECTIONS {
        let mut place = &mut root;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let about = if names.peek().is_some() { "What each hook does." } else { about };
            place = &mut place["properties"];
            if place.get(name).is_none() {
                place[name] = table(about);
            }
            place = &mut place[name];
        }
    }
    for key in KEYS {
        let mut place = &mut root;
        for name in key.section.split('.').filter(|name| !name.is_empty()) {
            place = &mut place["properties"][name];
        }
        place["properties"][key.name] = property(key);
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), "Rutter".into());
    if let Json::Object(root) = root {
        schema.extend(root);
    }
    Json::Object(schema)
}

fn table(about: &str) -> Json {
    json!({ "type": "object", "description": about, "additionalProperties": false, "properties": {} })
}

fn property(key: &Key) -> Json {
    let (least, most) = key.range;
    let mut property = match key.kind() {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Words => {
            json!({ "type": "array", "items": { "type": "string", "pattern": "\\S" } })
        }
        Kind::Choice(names) => json!({ "enum": names }),
    };
    let only = if key.rule == Rule::User { " Only in your own file." } else { "" };
    property["description"] = format!("{}{only}", key.about).into();
    property["default"] = json!(key.value(&Config::default()));
    property
}
