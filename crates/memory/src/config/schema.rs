//! The JSON Schema of a configuration file, for editors.

use serde_json::{Map, Value as Json, json};

use super::Config;
use super::keys::{ConfigKey, ConfigValueKind, KEYS, ProjectRule, SECTIONS};
use super::layer::PROJECTS_TABLE;

/// Returns the schema. It accepts the same values as the loader does for the user's file.
pub fn schema() -> Json {
    let mut root = table_schema(
        "Configuration of Rutter: config.toml of the user, .rutter.toml of a project.",
    );
    for (path, about) in SECTIONS {
        let mut place = &mut root;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let about = if names.peek().is_some() { "What each hook does." } else { about };
            place = &mut place["properties"];
            if place.get(name).is_none() {
                place[name] = table_schema(about);
            }
            place = &mut place[name];
        }
    }
    for key in KEYS {
        let mut place = &mut root;
        for name in key.section.split('.').filter(|name| !name.is_empty()) {
            place = &mut place["properties"][name];
        }
        place["properties"][key.name] = key_schema(key);
    }
    root["properties"][PROJECTS_TABLE] = json!({
        "type": "object",
        "description": "Settings for single projects, by their key or folder. Only in your own file.",
        "additionalProperties": { "$ref": "#" },
    });
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), "Rutter".into());
    if let Json::Object(root) = root {
        schema.extend(root);
    }
    Json::Object(schema)
}

fn table_schema(about: &str) -> Json {
    json!({ "type": "object", "description": about, "additionalProperties": false, "properties": {} })
}

fn key_schema(key: &ConfigKey) -> Json {
    let (least, most) = key.range;
    let mut property = match key.kind() {
        ConfigValueKind::Flag => json!({ "type": "boolean" }),
        ConfigValueKind::Number => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ConfigValueKind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        ConfigValueKind::Words => {
            json!({ "type": "array", "items": { "type": "string", "pattern": "\\S" } })
        }
        ConfigValueKind::Choice(names) => json!({ "enum": names }),
    };
    let only = if key.rule == ProjectRule::User { " Only in your own file." } else { "" };
    property["description"] = format!("{}{only}", key.about).into();
    property["default"] = json!(key.value(&Config::default()));
    property
}
