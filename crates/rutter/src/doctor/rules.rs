//! The permission rules of all settings that affect the tools of rutter's server.
//!
//! Measured on 2.1.325 and 2.1.197: a deny rule in any file removes the tools from the agent; an ask rule takes
//! precedence over an allow rule; and `mcp__*` works in deny rules but not in allow rules.

use rutter_contract::javascript::{JsonKind, JsonNode};
use serde_json::{Value, json};

use super::codes;
use super::document::ClientDocument;
use super::finding::{DoctorFinding, FileLocation, display_name};
use super::layers::{LayerState, SettingsLayer, SettingsSource};
use crate::install::server::{self, covers_server};

/// The keys of the rule lists.
const RULE_LISTS: [&str; 3] = ["deny", "ask", "allow"];

/// Returns the texts of a rule list, with their positions.
fn rules_in_list<'a>(
    layer: &'a SettingsLayer,
    name: &str,
) -> Vec<(&'a str, &'a ClientDocument, &'a JsonNode)> {
    let Some((document, permissions)) = layer.setting("permissions") else { return Vec::new() };
    let Some(JsonKind::List(rules)) = permissions.get(name).map(|list| &list.kind) else {
        return Vec::new();
    };
    rules.iter().filter_map(|rule| Some((rule.text()?, document, rule))).collect()
}

/// Returns true if a rule allows all tools of the server (`all`) or one of them.
fn allows_tools(rule: &str, all: &str) -> bool {
    rule == all || rule.strip_prefix(all).is_some_and(|rest| rest.starts_with("__"))
}

/// Returns the position of the first rule that allows tools of the server.
pub(super) fn find_allow_rule(layers: &[SettingsLayer], all: &str) -> Option<FileLocation> {
    layers.iter().find_map(|layer| {
        let rules = rules_in_list(layer, "allow");
        let found = rules.into_iter().find(|(rule, ..)| allows_tools(rule, all));
        found.map(|(_, document, rule)| document.location(rule.at))
    })
}

/// Returns the position of a flag that managed settings set to true.
fn managed_flag(layers: &[SettingsLayer], key: &str) -> Option<FileLocation> {
    layers.iter().filter(|layer| layer.whose == SettingsSource::Managed).find_map(|layer| {
        let (document, node) = layer.setting(key)?;
        (node.kind == JsonKind::Bool(true)).then(|| document.location(node.at))
    })
}

/// Returns true if the default mode bypasses all permission questions.
fn bypasses_permissions(layers: &[SettingsLayer]) -> bool {
    let mode = layers.iter().find_map(|layer| {
        layer
            .setting("permissions")
            .and_then(|(_, permissions)| permissions.get("defaultMode")?.text())
    });
    mode == Some("bypassPermissions")
}

/// Returns a finding if the agent cannot call tools of the server freely. `all` is the rule for all its tools, `here`
/// the file to which `init` would add rules.
pub(super) fn check_rules(
    layers: &[SettingsLayer],
    all: &str,
    here: Option<&FileLocation>,
) -> Option<DoctorFinding> {
    for (name, code, does) in [
        ("deny", &codes::SERVER_DENIED, "denies every tool of rutter"),
        ("ask", &codes::SERVER_ASKS, "makes the client ask before each call of a rutter tool"),
    ] {
        for layer in layers {
            let rules = rules_in_list(layer, name);
            let Some((rule, document, node)) =
                rules.into_iter().find(|(rule, ..)| covers_server(rule, all))
            else {
                continue;
            };
            let what = format!("the rule `{}` {does}", display_name(rule));
            let finding = DoctorFinding::new(code, what).with_location(document.location(node.at));
            return Some(match layer.whose {
                SettingsSource::Managed => finding.with_advice(codes::HOOKS_MANAGED_ONLY.advice),
                _ => finding,
            });
        }
    }
    if bypasses_permissions(layers) {
        return None;
    }
    let is_managed = |layer: &&SettingsLayer| layer.whose == SettingsSource::Managed;
    if let Some(place) = managed_flag(layers, "allowManagedPermissionRulesOnly") {
        let managed = layers.iter().filter(is_managed);
        let mut rules = managed.flat_map(|layer| rules_in_list(layer, "allow"));
        if rules.any(|(rule, ..)| allows_tools(rule, all)) {
            return None;
        }
        let what = "only rules of the organisation count, and none allows rutter's tools: the \
                    client asks before each call";
        let finding = DoctorFinding::new(&codes::SERVER_NOT_ALLOWED, what).with_location(place);
        return Some(finding.with_advice(codes::HOOKS_MANAGED_ONLY.advice));
    }
    // A rule in a skipped file or in an untrusted folder is covered by the finding about that file or folder. Without
    // any of our hooks, more than a rule is missing.
    if find_allow_rule(layers, all).is_some()
        || layers.iter().any(|layer| layer.state == LayerState::Void)
    {
        return None;
    }
    let here = here?;
    let what = format!("no rule allows `{all}`: the client asks before each call of a tool");
    let mut finding = DoctorFinding::new(&codes::SERVER_NOT_ALLOWED, what);
    finding.place = Some(FileLocation::whole_file(&here.file));
    if all != server::SERVER_RULE {
        // A plugin cannot contain permission rules, and `init` writes none for it.
        finding = finding.with_advice(
            "add the rules that `rutter init --plugin` prints to permissions.allow of your \
             settings",
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
pub(super) fn check_whole_server_rule(
    layers: &[SettingsLayer],
    all: &str,
) -> Option<DoctorFinding> {
    layers.iter().find_map(|layer| {
        let rules = rules_in_list(layer, "allow");
        let (rule, document, node) = rules.into_iter().find(|(rule, ..)| allows_all(rule, all))?;
        let what = format!(
            "the rule `{}` lets the agent delete rows and search other projects without asking",
            display_name(rule)
        );
        let finding = DoctorFinding::new(&codes::SERVER_ALLOWED_WHOLE, what)
            .with_location(document.location(node.at));
        Some(if all != server::SERVER_RULE {
            // Only the user can write the rules for a plugin.
            finding.with_advice("replace it with the rules that `rutter init --plugin` prints")
        } else if rule == all {
            finding
        } else {
            // `init` never wrote a star, and leaves it alone.
            finding.with_advice(
                "remove the rule, then run rutter init, which allows the tools \
                                 by name",
            )
        })
    })
}

/// Returns only the rules of a file that affect our tools.
pub(super) fn rules_about_rutter(layer: &SettingsLayer) -> Option<Value> {
    let mut said = json!({});
    for name in RULE_LISTS {
        let rules: Vec<&str> = rules_in_list(layer, name)
            .into_iter()
            .map(|(rule, ..)| rule)
            .filter(|rule| {
                covers_server(rule, server::SERVER_RULE) || allows_tools(rule, server::SERVER_RULE)
            })
            .collect();
        if !rules.is_empty() {
            said[name] = json!(rules);
        }
    }
    said.as_object().is_some_and(|said| !said.is_empty()).then_some(said)
}
