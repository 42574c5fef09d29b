//! The permission rules of all settings that affect the tools of rutter's server.
//!
//! Measured on 2.1.325 and 2.1.197: a deny rule in any file removes the tools from the agent; an ask rule takes
//! precedence over an allow rule; and `mcp__*` works in deny rules but not in allow rules.

use rutter_contract::javascript::{Kind, Node};
use serde_json::{Value, json};

use super::codes;
use super::document::Document;
use super::finding::{Finding, Place, named};
use super::layers::{Layer, State, Whose};
use crate::install::server::{self, covers};

/// The keys of the rule lists.
const LISTS: [&str; 3] = ["deny", "ask", "allow"];

/// Returns the texts of a rule list, with their positions.
fn list<'a>(layer: &'a Layer, name: &str) -> Vec<(&'a str, &'a Document, &'a Node)> {
    let Some((document, permissions)) = layer.get("permissions") else { return Vec::new() };
    let Some(Kind::List(rules)) = permissions.get(name).map(|list| &list.kind) else {
        return Vec::new();
    };
    rules.iter().filter_map(|rule| Some((rule.text()?, document, rule))).collect()
}

/// Returns true if a rule allows all tools of the server (`all`) or one of them.
fn allows(rule: &str, all: &str) -> bool {
    rule == all || rule.strip_prefix(all).is_some_and(|rest| rest.starts_with("__"))
}

/// Returns the position of the first rule that allows tools of the server.
pub(super) fn allowed(layers: &[Layer], all: &str) -> Option<Place> {
    layers.iter().find_map(|layer| {
        let rules = list(layer, "allow");
        let found = rules.into_iter().find(|(rule, ..)| allows(rule, all));
        found.map(|(_, document, rule)| document.place(rule.at))
    })
}

/// Returns the position of a flag that managed settings set to true.
fn managed_flag(layers: &[Layer], key: &str) -> Option<Place> {
    layers.iter().filter(|layer| layer.whose == Whose::Managed).find_map(|layer| {
        let (document, node) = layer.get(key)?;
        (node.kind == Kind::Bool(true)).then(|| document.place(node.at))
    })
}

/// Returns true if the default mode bypasses all permission questions.
fn asks_nobody(layers: &[Layer]) -> bool {
    let mode = layers.iter().find_map(|layer| {
        layer.get("permissions").and_then(|(_, permissions)| permissions.get("defaultMode")?.text())
    });
    mode == Some("bypassPermissions")
}

/// Returns a finding if the agent cannot call tools of the server freely. `all` is the rule for all its tools, `here`
/// the file to which `init` would add rules.
pub(super) fn examine(layers: &[Layer], all: &str, here: Option<&Place>) -> Option<Finding> {
    for (name, code, does) in [
        ("deny", &codes::SERVER_DENIED, "denies the agent every tool of rutter's"),
        ("ask", &codes::SERVER_ASKS, "has the client ask before every call of a tool of rutter's"),
    ] {
        for layer in layers {
            let rules = list(layer, name);
            let Some((rule, document, node)) =
                rules.into_iter().find(|(rule, ..)| covers(rule, all))
            else {
                continue;
            };
            let what = format!("the rule `{}` {does}", named(rule));
            let finding = Finding::new(code, what).at(document.place(node.at));
            return Some(match layer.whose {
                Whose::Managed => finding.advise(codes::HOOKS_MANAGED_ONLY.advice),
                _ => finding,
            });
        }
    }
    if asks_nobody(layers) {
        return None;
    }
    let is_managed = |layer: &&Layer| layer.whose == Whose::Managed;
    if let Some(place) = managed_flag(layers, "allowManagedPermissionRulesOnly") {
        let managed = layers.iter().filter(is_managed);
        let mut rules = managed.flat_map(|layer| list(layer, "allow"));
        if rules.any(|(rule, ..)| allows(rule, all)) {
            return None;
        }
        let what = "only rules of the organisation count, and none allows the tools of rutter: the client asks before \
                    every call";
        let finding = Finding::new(&codes::SERVER_NOT_ALLOWED, what).at(place);
        return Some(finding.advise(codes::HOOKS_MANAGED_ONLY.advice));
    }
    // A rule in a skipped file or in an untrusted folder is covered by the finding about that file or folder. Without
    // any of our hooks, more than a rule is missing.
    if allowed(layers, all).is_some() || layers.iter().any(|layer| layer.state == State::Void) {
        return None;
    }
    let here = here?;
    let what = format!("no rule allows `{all}`: the client asks before every call of a tool");
    let mut finding = Finding::new(&codes::SERVER_NOT_ALLOWED, what);
    finding.place = Some(Place::file(&here.file));
    if all != server::RULE {
        // A plugin cannot contain permission rules, and `init` writes none for it.
        finding = finding.advise(
            "add the rules that `rutter init --plugin` names to permissions.allow of your settings",
        );
    }
    Some(finding)
}

/// Returns true if a rule that allows reaches every tool of the server. The client takes a star only behind the server's name.
fn allows_all(rule: &str, all: &str) -> bool {
    rule.strip_prefix(all).is_some_and(|rest| {
        rest.is_empty()
            || rest
                .strip_prefix("__")
                .is_some_and(|tool| !tool.is_empty() && tool.bytes().all(|sign| sign == b'*'))
    })
}

/// Finds a rule that allows every tool of the server, including those that remove rows or read other projects.
pub(super) fn allowed_whole(layers: &[Layer], all: &str) -> Option<Finding> {
    layers.iter().find_map(|layer| {
        let rules = list(layer, "allow");
        let (rule, document, node) = rules.into_iter().find(|(rule, ..)| allows_all(rule, all))?;
        let what = format!(
            "the rule `{}` lets the agent remove rows and look into other projects without a question",
            named(rule)
        );
        let finding = Finding::new(&codes::SERVER_ALLOWED_WHOLE, what).at(document.place(node.at));
        Some(if all != server::RULE {
            // Only the user can write the rules for a plugin.
            finding.advise("write the rules that `rutter init --plugin` names in its place")
        } else if rule == all {
            finding
        } else {
            // `init` never wrote a star, and leaves it alone.
            finding.advise("take the rule out, then rutter init, which allows the tools by name")
        })
    })
}

/// Returns only the rules of a file that affect our tools.
pub(super) fn about_us(layer: &Layer) -> Option<Value> {
    let mut said = json!({});
    for name in LISTS {
        let rules: Vec<&str> = list(layer, name)
            .into_iter()
            .map(|(rule, ..)| rule)
            .filter(|rule| covers(rule, server::RULE) || allows(rule, server::RULE))
            .collect();
        if !rules.is_empty() {
            said[name] = json!(rules);
        }
    }
    said.as_object().is_some_and(|said| !said.is_empty()).then_some(said)
}
