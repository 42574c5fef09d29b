//! Loads the hooks of a settings file as the client does: it finds the entries that the client runs, the ones that it
//! skips, and the faults for which it skips the whole file.
//!
//! The rules and their order are the client's. The rules for skipping an entry or a file were measured on clients
//! 2.1.325 and 2.1.197; the rule for hooks outside `hooks` was read in the code of the former.

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, find_nearest};

use super::codes;
use super::document::ClientDocument;
use super::finding::{DoctorFinding, display_name};
use super::handler;
use crate::install::is_our_hook;

/// Depth to which the client searches for guard hooks in unexpected places.
const MAX_GUARD_SEARCH_DEPTH: usize = 3;
/// Keys that the client does not search for them.
const UNSEARCHED_KEYS: &[&str] = &[
    "mcpServers",
    "managedMcpServers",
    "lspServers",
    "pluginConfigs",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "env",
    "skillOverrides",
    "modelSettings",
];
/// End of a message about a skipped file.
const SKIPPED_FILE_NOTE: &str = "the client skips the whole file";

/// The hooks of a file that the client loads, and the findings about the others.
#[derive(Debug, Default)]
pub(crate) struct LoadedHooks<'a> {
    /// The loadable groups, each with its loadable entries.
    pub(crate) groups: Vec<LoadedGroup<'a>>,
    pub(crate) findings: Vec<DoctorFinding>,
    /// Events of our entries that the client cannot load.
    pub(crate) lost: Vec<EventName>,
}

/// A matcher group that the client can load.
#[derive(Debug)]
pub(crate) struct LoadedGroup<'a> {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<&'a str>,
    /// Offset of the matcher, or of the group if it has no matcher.
    pub(crate) at: usize,
    pub(crate) entries: Vec<&'a JsonNode>,
}

impl LoadedHooks<'_> {
    /// Returns true if the client skips the file because of its hooks.
    pub(crate) fn is_file_skipped(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == &codes::SETTINGS_VOIDED)
    }
}

/// Loads the hooks of a settings file.
pub(crate) fn load_hooks(document: &ClientDocument, contract: Contract) -> LoadedHooks<'_> {
    let mut reader = HookLoader { document, contract, shape: LoadedHooks::default() };
    reader.load_root(&document.root);
    reader.shape
}

struct HookLoader<'a> {
    document: &'a ClientDocument,
    contract: Contract,
    shape: LoadedHooks<'a>,
}

impl<'a> HookLoader<'a> {
    /// Returns true if the client searches for guard hooks and skips single entries. The older client does neither.
    fn is_newer_client(&self) -> bool {
        self.contract.malformed_handler_is_skipped_alone()
    }

    fn load_root(&mut self, root: &'a JsonNode) {
        if self.is_newer_client() {
            for (key, node) in root.members() {
                let outside = if is_guard_event(key) {
                    may_hold_hooks(node)
                } else {
                    key != "hooks"
                        && !UNSEARCHED_KEYS.contains(&key.as_str())
                        && holds_guards(
                            node,
                            MAX_GUARD_SEARCH_DEPTH,
                            !is_event_name(key),
                            UNSEARCHED_KEYS,
                            false,
                        )
                };
                if outside {
                    let what = format!(
                        "hooks of PreToolUse or PermissionRequest are outside `hooks`, under `{}`",
                        display_name(key)
                    );
                    self.add_void_finding(node, &what, "move them into `hooks`");
                }
            }
        }
        let Some(hooks) = root.get("hooks") else { return };
        match &hooks.kind {
            JsonKind::Object(_) if self.is_newer_client() && looks_like_group(hooks) => {
                self.add_void_finding(
                    hooks,
                    "`hooks` is a single matcher group",
                    "wrap it in an event",
                );
            }
            JsonKind::Object(events) => {
                for (name, node) in events {
                    self.load_event(name, node);
                }
            }
            JsonKind::List(items)
                if items.iter().any(|item| matches!(item.kind, JsonKind::Object(_))) =>
            {
                let advice = "wrap the groups in events: { \"<event>\": [ … ] }";
                self.add_void_finding(
                    hooks,
                    "`hooks` must be an object of events, not an array",
                    advice,
                );
            }
            kind => {
                let what = format!(
                    "`hooks` must be an object of events, not {}; the client ignores it",
                    kind.name()
                );
                self.add_finding(&codes::HOOKS_WRONG, hooks, &what);
            }
        }
    }

    fn load_event(&mut self, name: &str, node: &'a JsonNode) {
        let Ok(event) = name.parse::<EventName>() else {
            let is_list = matches!(node.kind, JsonKind::List(_));
            let shown = display_name(name);
            if self.is_newer_client()
                && holds_guards(node, MAX_GUARD_SEARCH_DEPTH, !is_list, &[], false)
            {
                let what = format!(
                    "`{shown}` is not an event, and has hooks of PreToolUse or PermissionRequest"
                );
                return self.add_void_finding(node, &what, "put them under the name of an event");
            }
            let what = format!("there is no event `{shown}`; these hooks never run");
            let names = EventName::ALL.into_iter().map(|event| (event.as_str(), event));
            let advice = parse_event_alias(name)
                .or_else(|| find_nearest(name, names))
                .map(|event| format!("write `{event}`, or see `rutter contract events`"));
            let finding = DoctorFinding::new(&codes::EVENT_UNKNOWN, what)
                .with_location(self.document.location(node.at));
            self.shape.findings.push(match advice {
                Some(advice) => finding.with_advice(advice),
                None => finding,
            });
            return;
        };
        let JsonKind::List(groups) = &node.kind else {
            let guards = is_guard_event(name) && !matches!(node.kind, JsonKind::Null);
            let what =
                format!("`{name}` must be an array of matcher groups, not {}", node.kind.name());
            if self.is_newer_client()
                && (guards || holds_guards(node, MAX_GUARD_SEARCH_DEPTH, false, &[], false))
            {
                return self.add_void_finding(node, &what, codes::EVENT_WRONG.advice);
            }
            return self.add_finding(
                &codes::EVENT_WRONG,
                node,
                &format!("{what}; the client ignores it"),
            );
        };
        for group in groups {
            self.load_group(event, group);
        }
    }

    fn load_group(&mut self, event: EventName, group: &'a JsonNode) {
        if self.is_newer_client() && holds_guards(group, MAX_GUARD_SEARCH_DEPTH, false, &[], false)
        {
            let what =
                "hooks of PreToolUse or PermissionRequest are in the place of a matcher group";
            return self.add_void_finding(group, what, "move them to the event itself");
        }
        if !matches!(group.kind, JsonKind::Object(_)) {
            let what = format!("a matcher group must be an object, not {}", group.kind.name());
            return self.add_unloadable(event, group, &what, false);
        }
        let Some(JsonKind::List(entries)) = group.get("hooks").map(|hooks| &hooks.kind) else {
            let is = group.get("hooks").map_or("missing", |hooks| hooks.kind.name());
            let what = format!("`hooks` of a matcher group must be an array, not {is}");
            return self.add_unloadable(event, group, &what, false);
        };
        let ours = |entry: &JsonNode| is_our_hook(&self.document.to_json(entry));
        let (matcher, at) = match group.get("matcher") {
            None => (None, group.at),
            Some(node) => match &node.kind {
                JsonKind::Text(text) => (Some(text.as_str()), node.at),
                kind => {
                    let what = format!("`matcher` must be a string, not {}", kind.name());
                    return self.add_unloadable(event, node, &what, entries.iter().any(ours));
                }
            },
        };
        let mut taken = Vec::new();
        for entry in entries {
            match handler::find_entry_fault(entry, self.contract) {
                None => taken.push(entry),
                Some(fault) => {
                    let (node, what) = (fault.at.unwrap_or(entry), fault.what);
                    self.add_unloadable(
                        event,
                        node,
                        &what,
                        is_our_hook(&self.document.to_json(entry)),
                    );
                }
            }
        }
        self.shape.groups.push(LoadedGroup { event, matcher, at, entries: taken });
    }

    /// Adds a finding for a group or an entry that the client cannot load.
    fn add_unloadable(&mut self, event: EventName, node: &JsonNode, what: &str, ours: bool) {
        if ours {
            self.shape.lost.push(event);
        }
        if !self.is_newer_client() || is_guard_event(event.as_str()) {
            return self.add_void_finding(
                node,
                &format!("{event}: {what}"),
                codes::SETTINGS_VOIDED.advice,
            );
        }
        let code = if ours { &codes::HOOK_WRONG } else { &codes::ENTRY_WRONG };
        self.add_finding(code, node, &format!("{event}: {what}; the client skips it"));
    }

    fn add_void_finding(&mut self, node: &JsonNode, what: &str, advice: &str) {
        let finding =
            DoctorFinding::new(&codes::SETTINGS_VOIDED, format!("{what}; {SKIPPED_FILE_NOTE}"));
        self.shape
            .findings
            .push(finding.with_location(self.document.location(node.at)).with_advice(advice));
    }

    fn add_finding(&mut self, code: &'static codes::FindingCode, node: &JsonNode, what: &str) {
        self.shape
            .findings
            .push(DoctorFinding::new(code, what).with_location(self.document.location(node.at)));
    }
}

/// Returns the event for a name from other documentation or from an earlier client.
fn parse_event_alias(name: &str) -> Option<EventName> {
    match name {
        "PreToolCall" => Some(EventName::PreToolUse),
        "PostToolCall" => Some(EventName::PostToolUse),
        _ => None,
    }
}

fn is_event_name(name: &str) -> bool {
    name.parse::<EventName>().is_ok()
}

/// Returns true if an event guards permissions. The client skips a whole file rather than a single guard hook.
fn is_guard_event(event: &str) -> bool {
    matches!(event, "PreToolUse" | "PermissionRequest")
}

/// Returns true if a value may contain hooks.
fn may_hold_hooks(node: &JsonNode) -> bool {
    !matches!(&node.kind, JsonKind::Null)
        && !matches!(&node.kind, JsonKind::List(items) if items.is_empty())
}

/// Returns true if a value looks like a matcher group.
fn looks_like_group(node: &JsonNode) -> bool {
    let has_matcher = node.get("matcher").is_some();
    if !has_matcher && node.members().iter().any(|(key, _)| is_event_name(key)) {
        return false;
    }
    match node.get("hooks") {
        Some(JsonNode { kind: JsonKind::List(items), .. }) => !items.is_empty(),
        Some(hooks @ JsonNode { kind: JsonKind::Object(_), .. }) => {
            has_matcher || hooks.get("type").and_then(JsonNode::text).is_some()
        }
        _ => false,
    }
}

/// Returns true if a value contains guard hooks or, with `groups`, anything that looks like a matcher group.
fn holds_guards(
    node: &JsonNode,
    depth: usize,
    groups: bool,
    unsearched: &[&str],
    in_hooks: bool,
) -> bool {
    let named =
        node.members().iter().any(|(key, value)| is_guard_event(key) && may_hold_hooks(value));
    if named || (groups && looks_like_group(node)) {
        return true;
    }
    let Some(deeper) = depth.checked_sub(1) else { return false };
    match &node.kind {
        JsonKind::List(items) => {
            items.iter().any(|item| holds_guards(item, deeper, groups, unsearched, in_hooks))
        }
        JsonKind::Object(_) if in_hooks && node.get("type").and_then(JsonNode::text).is_some() => {
            false
        }
        JsonKind::Object(members) => members.iter().any(|(key, value)| {
            let in_hooks = key == "hooks" && matches!(value.kind, JsonKind::List(_));
            !unsearched.contains(&key.as_str())
                && holds_guards(value, deeper, groups && !is_event_name(key), unsearched, in_hooks)
        }),
        _ => false,
    }
}
