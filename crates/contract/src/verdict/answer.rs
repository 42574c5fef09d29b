//! Parsing of an answer by the client's rules.

use super::validate::{ValidationIssue, find_issues, validate_answer};
use crate::javascript::{self, JsonKind, JsonNode, JsonSyntaxError};
use crate::spec::EventSpec;
use crate::version::Contract;

/// The client's interpretation of stdout.
#[derive(Debug)]
pub(super) enum ParsedAnswer<'a> {
    /// Empty.
    Silent,
    /// Plain text.
    Plain(&'a str),
    /// Text that starts and ends like an object but does not parse: an error.
    Broken(JsonSyntaxError),
    /// An object with known keys of the wrong type or value: the client drops all of it.
    Void(JsonNode, Vec<ValidationIssue>),
    /// An object that names another event: the client drops all of it and ignores even exit 2.
    Foreign(JsonNode, String),
    /// An object that sends the hook to the background. If it is on the first line, the client stops waiting at
    /// once, and later output and the exit code do not count.
    Async { node: JsonNode, at_once: bool },
    /// A valid object.
    Valid(JsonNode),
}

impl<'a> ParsedAnswer<'a> {
    pub(super) fn parse(stdout: &'a str, spec: &EventSpec, contract: Contract) -> Self {
        let text = javascript::trim(stdout);
        if text.is_empty() {
            return Self::Silent;
        }
        if !text.starts_with('{') {
            return Self::Plain(text);
        }
        let background = |node: &JsonNode| {
            matches!(node.get("async").map(|value| &value.kind), Some(JsonKind::Bool(true)))
        };
        let first =
            text.lines().next().map(javascript::trim).and_then(|line| javascript::parse(line).ok());
        if let Some(node) = first.filter(background) {
            return Self::Async { node, at_once: true };
        }
        let node = match javascript::parse(text) {
            Ok(node) => node,
            Err(error) if text.ends_with('}') && contract.unparsable_object_is_an_error() => {
                return Self::Broken(error);
            }
            Err(_) => return Self::Plain(text),
        };
        if background(&node) {
            return Self::Async { node, at_once: false };
        }
        if validate_answer(&node, contract).is_err() {
            let issues = find_issues(&node, contract);
            return Self::Void(node, issues);
        }
        let named = node.get("hookSpecificOutput").and_then(|output| output.get("hookEventName"));
        match named.and_then(JsonNode::text) {
            Some(name) if name != spec.name.as_str() => {
                let name = name.to_owned();
                Self::Foreign(node, name)
            }
            _ => Self::Valid(node),
        }
    }

    /// Returns the object if it is valid.
    pub(super) fn valid(&self) -> Option<&JsonNode> {
        match self {
            Self::Valid(node) => Some(node),
            _ => None,
        }
    }

    /// Returns true if the client reports the answer as an error regardless of the exit code.
    pub(super) fn is_error(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Void(..) | Self::Foreign(..))
    }
}
