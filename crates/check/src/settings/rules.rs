//! Permission rules of settings, and the tools of a server that they cover.
//!
//! Measured on 2.1.325 and 2.1.197: a deny rule in any file removes the tools from the agent; an ask rule takes
//! precedence over an allow rule; and `mcp__*` works in deny rules but not in allow rules.

use rutter_contract::javascript::JsonKind;

use super::document::ClientDocument;
use super::layers::{SettingsLayer, SettingsSource};
use super::location::FileLocation;

/// Settings key of the permissions.
const PERMISSIONS_KEY: &str = "permissions";

/// A list of permission rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleList {
    /// Tools that the agent cannot use.
    Deny,
    /// Tools for which the client asks the user on every call.
    Ask,
    /// Tools that the agent uses without a question.
    Allow,
}

impl RuleList {
    /// All lists, the strongest first.
    pub const ALL: [Self; 3] = [Self::Deny, Self::Ask, Self::Allow];

    /// Returns the key of the list.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// A permission rule.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRule<'a> {
    /// The rule as written.
    pub text: &'a str,
    /// The kind of file that contains it.
    pub whose: SettingsSource,
    document: &'a ClientDocument,
    at: usize,
}

impl PermissionRule<'_> {
    /// Returns the position of the rule.
    pub fn location(&self) -> FileLocation {
        self.document.location(self.at)
    }
}

/// Returns the rules of a list in a settings file. Values that are not strings are left out.
pub fn permission_rules(layer: &SettingsLayer, list: RuleList) -> Vec<PermissionRule<'_>> {
    let Some((document, permissions)) = layer.setting(PERMISSIONS_KEY) else { return Vec::new() };
    let Some(JsonKind::List(rules)) = permissions.get(list.as_str()).map(|list| &list.kind) else {
        return Vec::new();
    };
    let whose = layer.whose;
    rules
        .iter()
        .filter_map(|node| {
            Some(PermissionRule { text: node.text()?, whose, document, at: node.at })
        })
        .collect()
}

/// Returns true if the default mode bypasses all permission questions.
pub fn bypasses_permissions(layers: &[SettingsLayer]) -> bool {
    let mode = layers.iter().find_map(|layer| {
        let (_, permissions) = layer.setting(PERMISSIONS_KEY)?;
        permissions.get("defaultMode")?.text()
    });
    mode == Some("bypassPermissions")
}

/// Returns the position of the managed setting with which only managed rules count.
pub fn find_managed_rules_only(layers: &[SettingsLayer]) -> Option<FileLocation> {
    layers.iter().filter(|layer| layer.whose == SettingsSource::Managed).find_map(|layer| {
        let (document, node) = layer.setting("allowManagedPermissionRulesOnly")?;
        (node.kind == JsonKind::Bool(true)).then(|| document.location(node.at))
    })
}

/// Returns the rule for all tools of a server.
pub(super) fn server_rule(name: &str) -> String {
    format!("mcp__{}", name_in_tools(name))
}

/// Returns the form of a server's name in the names of its tools. The client replaces all other characters by `_`.
pub fn name_in_tools(name: &str) -> String {
    let is_kept = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-');
    name.chars().map(|sign| if is_kept(sign) { sign } else { '_' }).collect()
}

/// Returns true if a deny or ask rule covers all tools of a server. `server_rule` is the rule for all its tools.
pub fn covers_server(rule: &str, server_rule: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => format!("{server_rule}__").starts_with(start),
        None => rule == server_rule,
    }
}

/// Returns true if an allow rule allows all tools of a server or one of them.
pub fn allows_tools(rule: &str, server_rule: &str) -> bool {
    rule == server_rule || rule.strip_prefix(server_rule).is_some_and(|rest| rest.starts_with("__"))
}

/// Returns true if an allow rule allows all tools of a server. The client takes a star only after the server's name.
pub fn allows_whole_server(rule: &str, server_rule: &str) -> bool {
    rule.strip_prefix(server_rule).is_some_and(|rest| {
        rest.is_empty()
            || rest
                .strip_prefix("__")
                .is_some_and(|tool| !tool.is_empty() && tool.bytes().all(|sign| sign == b'*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_rules_for_all_tools() {
        for rule in ["mcp__rutter", "mcp__rutter__*", "mcp__rut*", "mcp__*", "*"] {
            assert!(covers_server(rule, "mcp__rutter"), "{rule}");
        }
        for rule in ["mcp__rutter__status", "mcp__rutter__s*", "mcp__other", "Bash", "Bash(*)", ""]
        {
            assert!(!covers_server(rule, "mcp__rutter"), "{rule}");
        }
    }

    #[test]
    fn star_allows_only_behind_server_name() {
        for rule in ["mcp__rutter", "mcp__rutter__*", "mcp__rutter__**"] {
            assert!(allows_whole_server(rule, "mcp__rutter"), "{rule}");
            assert!(allows_tools(rule, "mcp__rutter"), "{rule}");
        }
        for rule in ["mcp__*", "mcp__rutter*", "mcp__rutter__", "mcp__rutter__s*", "mcp__rutters"] {
            assert!(!allows_whole_server(rule, "mcp__rutter"), "{rule}");
        }
        assert!(allows_tools("mcp__rutter__status", "mcp__rutter"));
        assert!(!allows_tools("mcp__rutters", "mcp__rutter"));
    }

    #[test]
    fn server_names_become_tool_prefixes() {
        assert_eq!(server_rule("plugin:rutter:rutter"), "mcp__plugin_rutter_rutter");
        assert_eq!(server_rule("my-server.2"), "mcp__my-server_2");
    }
}
