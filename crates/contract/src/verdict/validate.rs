//! The client's validation: unknown keys pass, a known key of the wrong type or value voids the whole answer.

use crate::javascript::{JsonKind, JsonNode};
use crate::name::EventName;
use crate::spec::{FieldSpec, FieldType, UnionSpec};
use crate::table;
use crate::version::Contract;

/// A reason for which an object is void. The client reports the first one only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValidationIssue {
    /// The position, as a JSON pointer.
    pub(super) path: String,
    /// The problem at this position.
    pub(super) problem: ValidationProblem,
}

/// A problem with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValidationProblem {
    /// A value of another type; both types by name.
    Type { expected: &'static str, received: &'static str },
    /// A value that is not in the list.
    Value { expected: Vec<&'static str>, received: String },
    /// A required key is missing.
    Missing,
}

/// Validates an object as the client does.
pub(super) fn validate_answer(node: &JsonNode, contract: Contract) -> Result<(), ValidationIssue> {
    for field in table::universal_output_at(contract) {
        // Only `true` makes an answer asynchronous; the client treats other values as an unknown key.
        if !field.name.starts_with("async") {
            validate_field(node, field, "", contract)?;
        }
    }
    if let Some(decision) = node.get("decision") {
        validate_choice(decision, &["approve", "block"], "/decision")?;
    }
    if let Some(reason) = node.get("reason") {
        validate_value(reason, FieldType::Text, "/reason", contract)?;
    }
    match node.get("hookSpecificOutput") {
        Some(output) => validate_specific_output(output, contract),
        None => Ok(()),
    }
}

/// Returns true if the client would accept a value for a field of this type.
pub(super) fn is_accepted(node: &JsonNode, ty: FieldType, contract: Contract) -> bool {
    validate_value(node, ty, "", contract).is_ok()
}

/// Returns the reasons for which an object is void: after each one its value is removed to find the next.
pub(super) fn find_issues(node: &JsonNode, contract: Contract) -> Vec<ValidationIssue> {
    /// Maximum number of reported issues; more would not help the author.
    const MAX_ISSUES: usize = 8;
    let mut left = node.clone();
    let mut found = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    for _ in 0..MAX_ISSUES {
        let Err(issue) = validate_answer(&left, contract) else { break };
        // A missing key cannot be removed; its parent can.
        let culprit = match issue.problem {
            ValidationProblem::Missing => {
                issue.path.rsplit_once('/').map_or("", |(parent, _)| parent)
            }
            _ => &issue.path,
        };
        if culprit.is_empty() {
            found.push(issue);
            break;
        }
        left = left.without(culprit);
        // A wrong value that was removed is missing now; that is the same mistake.
        let is_known =
            matches!(issue.problem, ValidationProblem::Missing) && removed.contains(&issue.path);
        removed.push(culprit.to_owned());
        if !is_known {
            found.push(issue);
        }
    }
    found
}

fn validate_specific_output(output: &JsonNode, contract: Contract) -> Result<(), ValidationIssue> {
    let path = "/hookSpecificOutput";
    validate_value(output, FieldType::Object, path, contract)?;
    let name_path = format!("{path}/hookEventName");
    let Some(name) = output.get("hookEventName") else {
        return Err(ValidationIssue { path: name_path, problem: ValidationProblem::Missing });
    };
    let taking = || table::events_at(contract).filter(|event| event.output.is_some());
    let named = name.text().and_then(|name| name.parse::<EventName>().ok());
    let Some(event) = taking().find(|event| Some(event.name) == named) else {
        let expected = taking().map(|event| event.name.as_str()).collect();
        let received = name.text().unwrap_or(name.kind.name()).to_owned();
        return Err(ValidationIssue {
            path: name_path,
            problem: ValidationProblem::Value { expected, received },
        });
    };
    event
        .output_at(contract)
        .into_iter()
        .flatten()
        .try_for_each(|field| validate_field(output, field, path, contract))
}

fn validate_field(
    node: &JsonNode,
    field: &FieldSpec,
    path: &str,
    contract: Contract,
) -> Result<(), ValidationIssue> {
    let path = format!("{path}/{}", field.name);
    match node.get(field.name) {
        Some(found) => validate_value(found, field.ty, &path, contract),
        None if field.required => {
            Err(ValidationIssue { path, problem: ValidationProblem::Missing })
        }
        None => Ok(()),
    }
}

fn validate_value(
    node: &JsonNode,
    ty: FieldType,
    path: &str,
    contract: Contract,
) -> Result<(), ValidationIssue> {
    let expected = match (ty, &node.kind) {
        (FieldType::Any, _)
        | (FieldType::Text | FieldType::Uuid, JsonKind::Text(_))
        | (FieldType::NullableText, JsonKind::Text(_) | JsonKind::Null)
        | (FieldType::Flag, JsonKind::Bool(_))
        | (FieldType::Number | FieldType::Integer, JsonKind::Number(_))
        | (FieldType::Object, JsonKind::Object(_)) => return Ok(()),
        (FieldType::TextList, JsonKind::List(items)) => {
            return validate_items(items, path, |item, path| {
                validate_value(item, FieldType::Text, path, contract)
            });
        }
        (FieldType::Choice(choice), _) => {
            let values: Vec<&'static str> = choice.values_at(contract).collect();
            return validate_choice(node, &values, path);
        }
        (FieldType::Shape(shape), JsonKind::Object(_)) => {
            return shape
                .fields
                .iter()
                .try_for_each(|field| validate_field(node, field, path, contract));
        }
        (FieldType::Shapes(shape), JsonKind::List(items)) => {
            return validate_items(items, path, |item, path| {
                validate_value(item, FieldType::Shape(shape), path, contract)
            });
        }
        (FieldType::Union(union), JsonKind::Object(_)) => {
            return validate_variant(node, union, path, contract);
        }
        (FieldType::Unions(union), JsonKind::List(items)) => {
            return validate_items(items, path, |item, path| {
                validate_value(item, FieldType::Union(union), path, contract)
            });
        }
        (FieldType::Text | FieldType::Uuid | FieldType::NullableText, _) => "string",
        (FieldType::Flag, _) => "boolean",
        (FieldType::Number | FieldType::Integer, _) => "number",
        (FieldType::Object | FieldType::Shape(_) | FieldType::Union(_), _) => "object",
        (FieldType::TextList | FieldType::Shapes(_) | FieldType::Unions(_), _) => "array",
    };
    let problem = ValidationProblem::Type { expected, received: node.kind.name() };
    Err(ValidationIssue { path: path.to_owned(), problem })
}

fn validate_items(
    items: &[JsonNode],
    path: &str,
    check: impl Fn(&JsonNode, &str) -> Result<(), ValidationIssue>,
) -> Result<(), ValidationIssue> {
    items.iter().enumerate().try_for_each(|(at, item)| check(item, &format!("{path}/{at}")))
}

fn validate_variant(
    node: &JsonNode,
    union: &UnionSpec,
    path: &str,
    contract: Contract,
) -> Result<(), ValidationIssue> {
    let tags: Vec<&'static str> = union.variants.iter().map(|(tag, _)| *tag).collect();
    let tag_path = format!("{path}/{}", union.tag);
    let Some(tag) = node.get(union.tag) else {
        return Err(ValidationIssue { path: tag_path, problem: ValidationProblem::Missing });
    };
    validate_choice(tag, &tags, &tag_path)?;
    let fields = union.variants.iter().find(|(name, _)| Some(*name) == tag.text());
    let fields = fields.map_or(&[] as &[FieldSpec], |(_, fields)| fields);
    fields.iter().try_for_each(|field| validate_field(node, field, path, contract))
}

fn validate_choice(
    node: &JsonNode,
    values: &[&'static str],
    path: &str,
) -> Result<(), ValidationIssue> {
    match node.text() {
        Some(text) if values.contains(&text) => Ok(()),
        other => {
            let received = other.unwrap_or(node.kind.name()).to_owned();
            let problem = ValidationProblem::Value { expected: values.to_vec(), received };
            Err(ValidationIssue { path: path.to_owned(), problem })
        }
    }
}
