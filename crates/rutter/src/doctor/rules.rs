//! Findings about the permission rules that affect the tools of rutter's server.

use rutter_check::settings::{
    FileLocation, LayerState, PermissionRule, RuleList, SettingsLayer, SettingsSource,
    allows_tools, allows_whole_server, bypasses_permissions, covers_server,
    find_managed_rules_only, permission_rules,
};
use serde_json::{Value, json};

use super::codes;
use super::finding::{DoctorFinding, display_name};
use crate::install::server;

/// Returns the first rule of a list that meets a condition, in the strongest file that has one.
fn find_rule(
    layers: &[SettingsLayer],
    list: RuleList,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<PermissionRule<'_>> {
    let mut rules = layers.iter().flat_map(|layer| permission_rules(layer, list));
    rules.find(|rule| is_wanted(rule.text))
}

/// Returns the position of the first rule that allows tools of the server.
pub(super) fn find_allow_rule(layers: &[SettingsLayer], all: &str) -> Option<FileLocation> {
    find_rule(layers, RuleList::Allow, |rule| allows_tools(rule, all)).map(|rule| rule.location())
}

/// Returns a finding if the agent cannot call tools of the server freely. `all` is the rule for all its tools, `here`
/// the file to which `init` would add rules.
pub(super) fn check_rules(
    layers: &[SettingsLayer],
    all: &str,
    here: Option<&FileLocation>,
) -> Option<DoctorFinding> {
    for (list, code, does) in [
        (RuleList::Deny, &codes::SERVER_DENIED, "denies every tool of rutter"),
        (
            RuleList::Ask,
            &codes::SERVER_ASKS,
            "makes the client ask before each call of a rutter tool",
        ),
    ] {
        let Some(rule) = find_rule(layers, list, |rule| covers_server(rule, all)) else { continue };
        let what = format!("the rule `{}` {does}", display_name(rule.text));
        let finding = DoctorFinding::new(code, what).with_location(rule.location());
        return Some(match rule.whose {
            SettingsSource::Managed => finding.with_advice(codes::HOOKS_MANAGED_ONLY.advice),
            _ => finding,
        });
    }
    if bypasses_permissions(layers) {
        return None;
    }
    if let Some(place) = find_managed_rules_only(layers) {
        let managed = layers.iter().filter(|layer| layer.whose == SettingsSource::Managed);
        let mut rules = managed.flat_map(|layer| permission_rules(layer, RuleList::Allow));
        if rules.any(|rule| allows_tools(rule.text, all)) {
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

/// Finds a rule that allows every tool of the server, including those that remove rows or read other projects.
pub(super) fn check_whole_server_rule(
    layers: &[SettingsLayer],
    all: &str,
) -> Option<DoctorFinding> {
    let rule = find_rule(layers, RuleList::Allow, |rule| allows_whole_server(rule, all))?;
    let what = format!(
        "the rule `{}` lets the agent delete rows and search other projects without asking",
        display_name(rule.text)
    );
    let finding =
        DoctorFinding::new(&codes::SERVER_ALLOWED_WHOLE, what).with_location(rule.location());
    Some(if all != server::SERVER_RULE {
        // Only the user can write the rules for a plugin.
        finding.with_advice("replace it with the rules that `rutter init --plugin` prints")
    } else if rule.text == all {
        finding
    } else {
        // `init` never wrote a star, and leaves it alone.
        finding.with_advice("remove the rule, then run rutter init, which allows the tools by name")
    })
}

/// Returns only the rules of a file that affect our tools.
pub(super) fn rules_about_rutter(layer: &SettingsLayer) -> Option<Value> {
    let mut said = json!({});
    for list in RuleList::ALL {
        let rules: Vec<&str> = permission_rules(layer, list)
            .into_iter()
            .map(|rule| rule.text)
            .filter(|rule| {
                covers_server(rule, server::SERVER_RULE) || allows_tools(rule, server::SERVER_RULE)
            })
            .collect();
        if !rules.is_empty() {
            said[list.as_str()] = json!(rules);
        }
    }
    said.as_object().is_some_and(|said| !said.is_empty()).then_some(said)
}
