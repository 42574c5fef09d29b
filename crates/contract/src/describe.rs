//! A row of the table as JSON, for programs that read `rutter contract events --json`.

use serde_json::{Map, Value, json};

use crate::spec::{
    EventSpec, FieldEffect, FieldSpec, FieldType, MatcherValues, PlainStdout, Source,
};
use crate::version::Contract;

/// Returns all facts of the table about an event. `sources` has the source of each fact, by key.
pub fn describe_event(event: &EventSpec, contract: Contract) -> Value {
    let fields = |fields: Vec<&'static FieldSpec>| -> Vec<Value> {
        fields.into_iter().map(|field| self::describe_field(field, contract)).collect()
    };
    json!({
        "name": event.name,
        "since": event.since.version,
        "since_exact": event.since.exact,
        "since_earliest": event.since.earliest,
        "when": event.when.value,
        "matcher": describe_matcher(event, contract),
        "input": fields(event.input_at(contract).collect()),
        "decision_model": event.decision.value.as_str(),
        "hook_specific_output": event.output_at(contract).map(|output| fields(output.collect())),
        "top_level_decision": describe_effect(event.top_level_decision),
        "continue_false": describe_effect(event.continue_false),
        "system_message": describe_effect(event.system_message),
        "exit": {
            "0": event.exit.zero.value,
            "2": event.exit.two.value,
            "other": event.exit.other.value,
        },
        "can_block": event.can_block.value,
        "plain_stdout": event.plain_stdout.value,
        "plain_stdout_is_context": event.plain_stdout.value == PlainStdout::Context,
        "timeout_s": to_seconds(event.timeout_ms.value),
        "handlers": event.handlers.value,
        "env_file": event.env_file.value,
        "delivery": event.delivery.map(|fact| fact.value),
        "caveat": event.caveat.map(|fact| fact.value),
        "captured": event.captured,
        "documentation": event.documentation(),
        "sources": describe_sources(event),
    })
}

/// Converts to seconds, as an integer if possible, as in a settings file.
fn to_seconds(milliseconds: u32) -> Value {
    if milliseconds.is_multiple_of(1000) {
        json!(milliseconds / 1000)
    } else {
        json!(f64::from(milliseconds) / 1000.0)
    }
}

fn describe_source(source: Source) -> Value {
    json!({ "source": source, "confidence": source.confidence() })
}

fn describe_sources(event: &EventSpec) -> Value {
    let mut out = json!({
        "since": describe_source(event.since.source),
        "when": describe_source(event.when.source),
        "matcher": describe_source(event.matcher.source),
        "decision_model": describe_source(event.decision.source),
        "hook_specific_output": describe_source(event.output_source),
        "env_file": describe_source(event.env_file.source),
        "top_level_decision": describe_source(event.top_level_decision.fact.source),
        "continue_false": describe_source(event.continue_false.fact.source),
        "system_message": describe_source(event.system_message.fact.source),
        "exit.0": describe_source(event.exit.zero.source),
        "exit.2": describe_source(event.exit.two.source),
        "exit.other": describe_source(event.exit.other.source),
        "can_block": describe_source(event.can_block.source),
        "plain_stdout": describe_source(event.plain_stdout.source),
        "timeout_s": describe_source(event.timeout_ms.source),
        "handlers": describe_source(event.handlers.source),
    });
    for (key, fact) in [("delivery", event.delivery), ("caveat", event.caveat)] {
        if let Some(fact) = fact {
            out[key] = describe_source(fact.source);
        }
    }
    out
}

fn describe_matcher(event: &EventSpec, contract: Contract) -> Value {
    let values = match event.matcher.values {
        MatcherValues::Ignored => Value::Null,
        MatcherValues::Tools => json!("tool names; old names still match (Task for Agent)"),
        MatcherValues::List(choice) => json!(choice.values_at(contract).collect::<Vec<_>>()),
        MatcherValues::Names(what) | MatcherValues::Files(what) => json!(what),
    };
    json!({
        "supported": event.matcher.field.is_some(),
        "field": event.matcher.label(),
        "values": values,
        "narrow_exact_set": event.matcher.has_narrow_lists,
    })
}

fn describe_effect(effect: FieldEffect) -> Value {
    json!({ "honoured": effect.honoured, "effect": effect.fact.value })
}

fn describe_field(field: &FieldSpec, contract: Contract) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), json!(field.name));
    out.insert("type".to_owned(), json!(field.ty.label()));
    out.insert("required".to_owned(), json!(field.required));
    let fields = |fields: &'static [FieldSpec]| -> Vec<Value> {
        let known = fields.iter().filter(|field| field.is_at(contract));
        known.map(|field| self::describe_field(field, contract)).collect()
    };
    match field.ty {
        FieldType::Choice(choice) => {
            out.insert("enum".to_owned(), json!(choice.values_at(contract).collect::<Vec<_>>()));
            out.insert("open".to_owned(), json!(choice.open));
        }
        FieldType::Shape(shape) | FieldType::Shapes(shape) => {
            out.insert("fields".to_owned(), json!(fields(shape.fields)));
        }
        FieldType::Union(union) | FieldType::Unions(union) => {
            let variants =
                union.variants.iter().map(|(tag, own)| ((*tag).to_owned(), json!(fields(own))));
            out.insert("tag".to_owned(), json!(union.tag));
            out.insert("variants".to_owned(), Value::Object(variants.collect()));
        }
        _ => {}
    }
    if !field.note.is_empty() {
        out.insert("note".to_owned(), json!(field.note));
    }
    if let Some(since) = field.since {
        out.insert("since".to_owned(), json!(since));
    }
    if field.deprecated {
        out.insert("deprecated".to_owned(), json!(true));
    }
    if field.inert {
        out.insert("inert".to_owned(), json!(true));
    }
    out.insert("source".to_owned(), json!(field.source));
    out.insert("confidence".to_owned(), json!(field.source.confidence()));
    Value::Object(out)
}
