//! Parsing of an answer by the client's rules.

use super::validate::{Issue, issues, validate};
use crate::javascript::{self, Kind, Node, NotJson};
use crate::spec::EventSpec;
use crate::version::Contract;

/// The client's interpretation of stdout.
#[derive(Debug)]
pub(super) enum Reading<'a> {
    /// Empty.
    Silent,
    /// Plain text.
    Plain(&'a str),
    /// Text that starts and ends like an object but does not parse: an error.
    Broken(NotJson),
    /// An object with known keys of the wrong type or value: the client drops all of it.
    Void(Node, Vec<Issue>),
    /// An object that names another event: the client drops all of it and ignores even exit 2.
    Foreign(Node, String),
    /// An object that sends the hook to the background. If it is on the first line, the client stops waiting at
    /// once, and later output and the exit code do not count.
    Async { node: Node, at_once: bool },
    /// A valid object.
    Valid(Node),
}

impl<'a> Reading<'a> {
    pub(super) fn of(stdout: &'a str, spec: &EventSpec, contract: Contract) -> Self {
        let text = javascript::trim(stdout);
        if text.is_empty() {
            return Self::Silent;
        }
        if !text.starts_with('{') {
            return Self::Plain(text);
        }
        let background = |node: &Node| {
            matches!(node.get("async").map(|value| &value.kind), Some(Kind::Bool(true)))
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
        if validate(&node, contract).is_err() {
            let issues = issues(&node, contract);
            return Self::Void(node, issues);
        }
        let named = node.get("hookSpecificOutput").and_then(|output| output.get("hookEventName"));
        match named.and_then(Node::text) {
            Some(name) if name != spec.name.as_str() => {
                let name = name.to_owned();
                Self::Foreign(node, name)
            }
            _ => Self::Valid(node),
        }
    }

    /// Returns the object if it is valid.
    pub(super) fn valid(&self) -> Option<&Node> {
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
