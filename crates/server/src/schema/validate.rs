//! Validation of tool arguments against the announced schema, before deserialization.
//!
//! A serde error names neither the argument nor a valid value, and a model with so little information guesses. This
//! module supports only the JSON Schema keywords that our own schemas use; a test checks that both agree.

use serde_json::{Map, Value};

/// Checks the arguments of a tool; the error says what is wrong and what would be right. Normalizes valid arguments:
/// null is removed, `10.0` becomes an integer, and a variant spelling becomes the word of the vocabulary.
pub(crate) fn validate_arguments(
    tool: &str,
    schema: &Map<String, Value>,
    arguments: &mut Value,
) -> Result<(), String> {
    ArgumentPath { tool, path: String::new() }.check(schema, arguments)
}

/// A position in the arguments.
struct ArgumentPath<'a> {
    tool: &'a str,
    path: String,
}

impl ArgumentPath<'_> {
    fn below(&self, name: &str) -> Self {
        let path =
            if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { tool: self.tool, path }
    }

    fn name(&self) -> &str {
        if self.path.is_empty() { self.tool } else { &self.path }
    }

    fn check(&self, schema: &Map<String, Value>, value: &mut Value) -> Result<(), String> {
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.object(schema, value),
            Some("array") => self.array(schema, value),
            Some("string") => self.string(schema, value),
            Some("integer") => self.number(schema, value, true),
            Some("number") => self.number(schema, value, false),
            Some("boolean") if !value.is_boolean() => self.type_error("true or false", value),
            _ => Ok(()),
        }
    }

    fn type_error(&self, what: &str, value: &Value) -> Result<(), String> {
        Err(format!("{} is {what}, not {}", self.name(), json_kind(value)))
    }

    fn object(&self, schema: &Map<String, Value>, value: &mut Value) -> Result<(), String> {
        let none = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let takes = describe_properties(known, &required);
        let Value::Object(sent) = value else {
            let verb = if self.path.is_empty() { "takes" } else { "is" };
            let (name, kind) = (self.name(), json_kind(value));
            return Err(format!("{name} {verb} an object, not {kind}: it {takes}"));
        };
        // A blank optional text counts as absent: models fill in every argument they know of.
        sent.retain(|name, value| {
            let is_text = known.get(name).is_some_and(|schema| schema["type"] == "string");
            let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
            !(value.is_null() || (is_text && is_blank && !required.contains(&name.as_str())))
        });
        if let Some(unknown) = sent.keys().find(|name| !known.contains_key(*name)) {
            let unknown = crate::refusal::redact_name(unknown, 40);
            return Err(format!("there is no `{unknown}` in {}: it {takes}", self.name()));
        }
        let missing: Vec<&str> =
            required.iter().copied().filter(|name| !sent.contains_key(*name)).collect();
        if !missing.is_empty() {
            let (missing, is) = (missing.join(", "), if missing.len() == 1 { "is" } else { "are" });
            return Err(format!("{missing} {is} missing: {} {takes}", self.name()));
        }
        for (name, value) in sent {
            if let Some(Value::Object(schema)) = known.get(name) {
                self.below(name).check(schema, value)?;
            }
        }
        Ok(())
    }

    fn array(&self, schema: &Map<String, Value>, value: &mut Value) -> Result<(), String> {
        let Value::Array(sent) = value else { return self.type_error("a list", value) };
        let bound = |key| schema.get(key).and_then(Value::as_u64);
        let count = sent.len() as u64;
        if bound("minItems").is_some_and(|least| count < least) {
            return Err(format!("{} is an empty list", self.name()));
        }
        if let Some(most) = bound("maxItems").filter(|most| count > *most) {
            return Err(format!("{} has {count} entries; at most {most} are allowed", self.name()));
        }
        if let Some(Value::Object(schema)) = schema.get("items") {
            for (index, value) in sent.iter_mut().enumerate() {
                self.below(&index.to_string()).check(schema, value)?;
            }
        }
        Ok(())
    }

    fn string(&self, schema: &Map<String, Value>, value: &mut Value) -> Result<(), String> {
        let Value::String(sent) = value else { return self.type_error("a text", value) };
        if let Some(Value::Array(choices)) = schema.get("enum") {
            let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
            let Some(meant) =
                choices.iter().find(|choice| fold_spelling(choice) == fold_spelling(sent))
            else {
                return Err(format!("{} must be one of {}", self.name(), choices.join(", ")));
            };
            (*meant).clone_into(sent);
        }
        let bound = |key| schema.get(key).and_then(Value::as_u64);
        let length = sent.chars().count() as u64;
        if bound("minLength").is_some_and(|least| length < least) {
            return Err(format!("{} is empty", self.name()));
        }
        if let Some(most) = bound("maxLength").filter(|most| length > *most) {
            return Err(format!(
                "{} has {length} characters; at most {most} are allowed, so shorten it",
                self.name()
            ));
        }
        Ok(())
    }

    fn number(
        &self,
        schema: &Map<String, Value>,
        value: &mut Value,
        whole: bool,
    ) -> Result<(), String> {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let what = match (whole, bound("minimum"), bound("maximum")) {
            (true, Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            (true, ..) => "a whole number".to_owned(),
            (false, Some(least), Some(most)) => format!("a number from {least} to {most}"),
            (false, ..) => "a number".to_owned(),
        };
        let Some(number) = value.as_f64() else { return self.type_error(&what, value) };
        if (whole && number.fract() != 0.0)
            || bound("minimum").is_some_and(|least| number < least)
            || bound("maximum").is_some_and(|most| number > most)
        {
            return Err(format!("{} is {what}, not {value}", self.name()));
        }
        if whole && value.is_f64() {
            // The bounds are far below the range of exact integers in a float.
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and within bounds")]
            let plain = number as i64;
            *value = plain.into();
        }
        Ok(())
    }
}

/// Folds the spellings that models vary: `root_cause` becomes `root-cause`, and `memories` becomes `memory`.
fn fold_spelling(word: &str) -> String {
    let word = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => word,
    }
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Describes the properties of an object in words.
fn describe_properties(known: &Map<String, Value>, required: &[&str]) -> String {
    let optional: Vec<&str> =
        known.keys().map(String::as_str).filter(|name| !required.contains(name)).collect();
    match (required, &optional[..]) {
        ([], []) => "takes nothing".to_owned(),
        ([], optional) => format!("may have {}", optional.join(", ")),
        (required, []) => format!("needs {}", required.join(", ")),
        (required, optional) => {
            format!("needs {} and may have {}", required.join(", "), optional.join(", "))
        }
    }
}
