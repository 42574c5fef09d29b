//! Reading an answer as the client reads it.

use super::validate::{Issue, issues, validate};
use crate::javascript::{self, Kind, Node, NotJson};
use crate::spec::EventSpec;
use crate::version::Contract;

/// What the client takes stdout for.
#[derive(Debug)]
pub(super) enum Reading<'a> {
    /// Nothing.
    Silent,
    /// Text.
    Plain(&'a str),
    /// Text that starts and ends like an object and is none: an error.
    Broken(NotJson),
    /// An object with known keys of the wrong type or value: void as a whole.
    Void(Node, Vec<Issue>),
    /// An object that names another event: void as a whole, and even exit 2 is forgotten.
    Foreign(Node, String),
    /// An object that sends the hook to the background. On the first line it does so at once, and nothing that
    /// follows counts, not even the exit code.
    Async { node: Node, at_once: bool },
    /// An object that counts.
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

    /// The object, if it counts.
    pub(super) fn valid(&self) -> Option<&Node> {
        match self {
            Self::Valid(node) => Some(node),
            _ => None,
        }
    }

    /// Whether the client calls the answer an error whatever the exit code.
    pub(super) fn is_error(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Void(..) | Self::Foreign(..))
    }
}
