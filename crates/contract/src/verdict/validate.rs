//! The client's validation: unknown keys pass, a known key of the wrong type or value voids the whole answer.

use crate::javascript::{Kind, Node};
use crate::name::EventName;
use crate::spec::{Field, FieldType, Union};
use crate::table;
use crate::version::Contract;

/// A reason for which an object is void. The client reports the first one only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Issue {
    /// The position, as a JSON pointer.
    pub(super) path: String,
    /// The problem at this position.
    pub(super) problem: Problem,
}

/// A problem with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// A value of another type; both types by name.
    Type { expected: &'static str, received: &'static str },
    /// A value that is not in the list.
    Value { expected: Vec<&'static str>, received: String },
    /// A required key is missing.
    Missing,
}

/// Validates an object as the client does.
pub(super) fn validate(node: &Node, contract: Contract) -> Result<(), Issue> {
    for field in table::universal_output_at(contract) {
        // Only `true` makes an answer asynchronous; the client treats other values as an unknown key.
        if !field.name.starts_with("async") {
            check(node, field, "", contract)?;
        }
    }
    if let Some(decision) = node.get("decision") {
        one_of(decision, &["approve", "block"], "/decision")?;
    }
    if let Some(reason) = node.get("reason") {
        value(reason, FieldType::Text, "/reason", contract)?;
    }
    match node.get("hookSpecificOutput") {
        Some(output) => specific(output, contract),
        None => Ok(()),
    }
}

/// Returns true if the client would accept a value for a field of this type.
pub(super) fn fits(node: &Node, ty: FieldType, contract: Contract) -> bool {
    value(node, ty, "", contract).is_ok()
}

/// Returns the reasons for which an object is void: after each one its value is removed to find the next.
pub(super) fn issues(node: &Node, contract: Contract) -> Vec<Issue> {
    /// Maximum number of reported issues; more would not help the author.
    const MOST: usize = 8;
    let mut left = node.clone();
    let mut found = Vec::new();
    while found.len() < MOST {
        let Err(issue) = validate(&left, contract) else { break };
        // A missing key cannot be removed; its parent can.
        let culprit = match issue.problem {
            Problem::Missing => issue.path.rsplit_once('/').map_or("", |(parent, _)| parent),
            _ => &issue.path,
        };
        if culprit.is_empty() {
            found.push(issue);
            break;
        }
        left = left.without(culprit);
        found.push(issue);
    }
    found
}

fn specific(output: &Node, contract: Contract) -> Result<(), Issue> {
    let path = "/hookSpecificOutput";
    value(output, FieldType::Object, path, contract)?;
    let name_path = format!("{path}/hookEventName");
    let Some(name) = output.get("hookEventName") else {
        return Err(Issue { path: name_path, problem: Problem::Missing });
    };
    let taking = || table::events_at(contract).filter(|event| event.output.is_some());
    let named = name.text().and_then(|name| name.parse::<EventName>().ok());
    let Some(event) = taking().find(|event| Some(event.name) == named) else {
        let expected = taking().map(|event| event.name.as_str()).collect();
        let received = name.text().unwrap_or(name.kind.name()).to_owned();
        return Err(Issue { path: name_path, problem: Problem::Value { expected, received } });
    };
    event
        .output_at(contract)
        .into_iter()
        .flatten()
        .try_for_each(|field| check(output, field, path, contract))
}

fn check(node: &Node, field: &Field, path: &str, contract: Contract) -> Result<(), Issue> {
    let path = format!("{path}/{}", field.name);
    match node.get(field.name) {
        Some(found) => value(found, field.ty, &path, contract),
        None if field.required => Err(Issue { path, problem: Problem::Missing }),
        None => Ok(()),
    }
}

fn value(node: &Node, ty: FieldType, path: &str, contract: Contract) -> Result<(), Issue> {
    let expected = match (ty, &node.kind) {
        (FieldType::Any, _)
        | (FieldType::Text | FieldType::Uuid, Kind::Text(_))
        | (FieldType::NullableText, Kind::Text(_) | Kind::Null)
        | (FieldType::Flag, Kind::Bool(_))
        | (FieldType::Number | FieldType::Integer, Kind::Number(_))
        | (FieldType::Object, Kind::Object(_)) => return Ok(()),
        (FieldType::TextList, Kind::List(items)) => {
            return each(items, path, |item, path| value(item, FieldType::Text, path, contract));
        }
        (FieldType::Choice(choice), _) => {
            let values: Vec<&'static str> = choice.values_at(contract).collect();
            return one_of(node, &values, path);
        }
        (FieldType::Shape(shape), Kind::Object(_)) => {
            return shape.fields.iter().try_for_each(|field| check(node, field, path, contract));
        }
        (FieldType::Shapes(shape), Kind::List(items)) => {
            return each(items, path, |item, path| {
                value(item, FieldType::Shape(shape), path, contract)
            });
        }
        (FieldType::Union(union), Kind::Object(_)) => return variant(node, union, path, contract),
        (FieldType::Unions(union), Kind::List(items)) => {
            return each(items, path, |item, path| {
                value(item, FieldType::Union(union), path, contract)
            });
        }
        (FieldType::Text | FieldType::Uuid | FieldType::NullableText, _) => "string",
        (FieldType::Flag, _) => "boolean",
        (FieldType::Number | FieldType::Integer, _) => "number",
        (FieldType::Object | FieldType::Shape(_) | FieldType::Union(_), _) => "object",
        (FieldType::TextList | FieldType::Shapes(_) | FieldType::Unions(_), _) => "array",
    };
    let problem = Problem::Type { expected, received: node.kind.name() };
    Err(Issue { path: path.to_owned(), problem })
}

fn each(
    items: &[Node],
    path: &str,
    check: impl Fn(&Node, &str) -> Result<(), Issue>,
) -> Result<(), Issue> {
    items.iter().enumerate().try_for_each(|(at, item)| check(item, &format!("{path}/{at}")))
}

fn variant(node: &Node, union: &Union, path: &str, contract: Contract) -> Result<(), Issue> {
    let tags: Vec<&'static str> = union.variants.iter().map(|(tag, _)| *tag).collect();
    let tag_path = format!("{path}/{}", union.tag);
    let Some(tag) = node.get(union.tag) else {
        return Err(Issue { path: tag_path, problem: Problem::Missing });
    };
    one_of(tag, &tags, &tag_path)?;
    let fields = union.variants.iter().find(|(name, _)| Some(*name) == tag.text());
    let fields = fields.map_or(&[] as &[Field], |(_, fields)| fields);
    fields.iter().try_for_each(|field| check(node, field, path, contract))
}

fn one_of(node: &Node, values: &[&'static str], path: &str) -> Result<(), Issue> {
    match node.text() {
        Some(text) if values.contains(&text) => Ok(()),
        other => {
            let received = other.unwrap_or(node.kind.name()).to_owned();
            let problem = Problem::Value { expected: values.to_vec(), received };
            Err(Issue { path: path.to_owned(), problem })
        }
    }
}
