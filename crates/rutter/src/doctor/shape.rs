//! Loads the hooks of a settings file as the client does: it finds the entries that the client runs, the ones that it
//! skips, and the faults for which it skips the whole file.
//!
//! The rules and their order are the client's. The rules for skipping an entry or a file were measured on clients
//! 2.1.325 and 2.1.197; the rule for hooks outside `hooks` was read in the code of the former.

use rutter_contract::javascript::{Kind, Node};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, nearest};

use super::codes;
use super::document::Document;
use super::finding::{Finding, named};
use super::handler;
use crate::install::is_ours;

/// Depth to which the client searches for guard hooks in unexpected places.
const DEPTH: usize = 3;
/// Keys that the client does not search for them.
const UNSEARCHED: &[&str] = &[
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
const VOID: &str = "the client skips the whole file for it";

/// The hooks of a file that the client loads, and the findings about the others.
#[derive(Debug, Default)]
pub(crate) struct Shape<'a> {
    /// The loadable groups, each with its loadable entries.
    pub(crate) groups: Vec<Group<'a>>,
    pub(crate) findings: Vec<Finding>,
    /// Events of our entries that the client cannot load.
    pub(crate) lost: Vec<EventName>,
}

/// A matcher group that the client can load.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub(crate) event: EventName,
    pub(crate) matcher: Option<&'a str>,
    /// Offset of the matcher, or of the group if it has no matcher.
    pub(crate) at: usize,
    pub(crate) entries: Vec<&'a Node>,
}

impl Shape<'_> {
    /// Returns true if the client skips the file because of its hooks.
    pub(crate) fn is_void(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == &codes::SETTINGS_VOIDED)
    }
}

/// Loads the hooks of a settings file.
pub(crate) fn read(document: &Document, contract: Contract) -> Shape<'_> {
    let mut reader = Reader { document, contract, shape: Shape::default() };
    reader.root(&document.root);
    reader.shape
}

struct Reader<'a> {
    document: &'a Document,
    contract: Contract,
    shape: Shape<'a>,
}

impl<'a> Reader<'a> {
    /// Returns true if the client searches for guard hooks and skips single entries. The older client does neither.
    fn is_newer(&self) -> bool {
        self.contract.malformed_handler_is_skipped_alone()
    }

    fn root(&mut self, root: &'a Node) {
        if self.is_newer() {
            for (key, node) in root.members() {
                let outside = if is_guard(key) {
                    is_there(node)
                } else {
                    key != "hooks"
                        && !UNSEARCHED.contains(&key.as_str())
                        && holds_guards(node, DEPTH, !is_event(key), UNSEARCHED, false)
                };
                if outside {
                    let what = format!(
                        "hooks of PreToolUse or PermissionRequest stand outside of `hooks`, under `{}`",
                        named(key)
                    );
                    self.void(node, &what, "move them into `hooks`");
                }
            }
        }
        let Some(hooks) = root.get("hooks") else { return };
        match &hooks.kind {
            Kind::Object(_) if self.is_newer() && is_group(hooks) => {
                self.void(hooks, "`hooks` is a single matcher group", "put an event around it");
            }
            Kind::Object(events) => {
                for (name, node) in events {
                    self.event(name, node);
                }
            }
            Kind::List(items) if items.iter().any(|item| matches!(item.kind, Kind::Object(_))) => {
                let advice = "put events around the groups: { \"<event>\": [ … ] }";
                self.void(hooks, "`hooks` has to be an object of events, and is an array", advice);
            }
            kind => {
                let what = format!(
                    "`hooks` has to be an object of events, and is {}; the client ignores it",
                    kind.name()
                );
                self.find(&codes::HOOKS_WRONG, hooks, &what);
            }
        }
    }

    fn event(&mut self, name: &str, node: &'a Node) {
        let Ok(event) = name.parse::<EventName>() else {
            let is_list = matches!(node.kind, Kind::List(_));
            let shown = named(name);
            if self.is_newer() && holds_guards(node, DEPTH, !is_list, &[], false) {
                let what = format!(
                    "`{shown}` is no event, and holds hooks of PreToolUse or PermissionRequest"
                );
                return self.void(node, &what, "put them under the name of an event");
            }
            let what = format!("there is no event `{shown}`; these hooks never run");
            let names = EventName::ALL.into_iter().map(|event| (event.as_str(), event));
            let advice = meant(name)
                .or_else(|| nearest(name, names))
                .map(|event| format!("write `{event}`, or see `rutter contract events`"));
            let finding =
                Finding::new(&codes::EVENT_UNKNOWN, what).at(self.document.place(node.at));
            self.shape.findings.push(match advice {
                Some(advice) => finding.advise(advice),
                None => finding,
            });
            return;
        };
        let Kind::List(groups) = &node.kind else {
            let guards = is_guard(name) && !matches!(node.kind, Kind::Null);
            let what = format!(
                "`{name}` has to be an array of matcher groups, and is {}",
                node.kind.name()
            );
            if self.is_newer() && (guards || holds_guards(node, DEPTH, false, &[], false)) {
                return self.void(node, &what, codes::EVENT_WRONG.advice);
            }
            return self.find(&codes::EVENT_WRONG, node, &format!("{what}; the client ignores it"));
        };
        for group in groups {
            self.group(event, group);
        }
    }

    fn group(&mut self, event: EventName, group: &'a Node) {
        if self.is_newer() && holds_guards(group, DEPTH, false, &[], false) {
            let what =
                "hooks of PreToolUse or PermissionRequest stand where a matcher group should";
            return self.void(group, what, "move them to the event itself");
        }
        if !matches!(group.kind, Kind::Object(_)) {
            let what = format!("a matcher group has to be an object, and is {}", group.kind.name());
            return self.wrong(event, group, &what, false);
        }
        let Some(Kind::List(entries)) = group.get("hooks").map(|hooks| &hooks.kind) else {
            let is = group.get("hooks").map_or("missing", |hooks| hooks.kind.name());
            let what = format!("`hooks` of a matcher group has to be an array, and is {is}");
            return self.wrong(event, group, &what, false);
        };
        let ours = |entry: &Node| is_ours(&self.document.value(entry));
        let (matcher, at) = match group.get("matcher") {
            None => (None, group.at),
            Some(node) => match &node.kind {
                Kind::Text(text) => (Some(text.as_str()), node.at),
                kind => {
                    let what = format!("`matcher` has to be a string, and is {}", kind.name());
                    return self.wrong(event, node, &what, entries.iter().any(ours));
                }
            },
        };
        let mut taken = Vec::new();
        for entry in entries {
            match handler::fault(entry, self.contract) {
                None => taken.push(entry),
                Some(fault) => {
                    let (node, what) = (fault.at.unwrap_or(entry), fault.what);
                    self.wrong(event, node, &what, is_ours(&self.document.value(entry)));
                }
            }
        }
        self.shape.groups.push(Group { event, matcher, at, entries: taken });
    }

    /// Adds a finding for a group or an entry that the client cannot load.
    fn wrong(&mut self, event: EventName, node: &Node, what: &str, ours: bool) {
        if ours {
            self.shape.lost.push(event);
        }
        if !self.is_newer() || is_guard(event.as_str()) {
            return self.void(node, &format!("{event}: {what}"), codes::SETTINGS_VOIDED.advice);
        }
        let code = if ours { &codes::HOOK_WRONG } else { &codes::ENTRY_WRONG };
        self.find(code, node, &format!("{event}: {what}; the client passes over it"));
    }

    fn void(&mut self, node: &Node, what: &str, advice: &str) {
        let finding = Finding::new(&codes::SETTINGS_VOIDED, format!("{what}; {VOID}"));
        self.shape.findings.push(finding.at(self.document.place(node.at)).advise(advice));
    }

    fn find(&mut self, code: &'static codes::Code, node: &Node, what: &str) {
        self.shape.findings.push(Finding::new(code, what).at(self.document.place(node.at)));
    }
}

/// Returns the event for a name from other documentation or from an earlier client.
fn meant(name: &str) -> Option<EventName> {
    match name {
        "PreToolCall" => Some(EventName::PreToolUse),
        "PostToolCall" => Some(EventName::PostToolUse),
        _ => None,
    }
}

fn is_event(name: &str) -> bool {
    name.parse::<EventName>().is_ok()
}

/// Returns true if an event guards permissions. The client skips a whole file rather than a single guard hook.
fn is_guard(event: &str) -> bool {
    matches!(event, "PreToolUse" | "PermissionRequest")
}

/// Returns true if a value may contain hooks.
fn is_there(node: &Node) -> bool {
    !matches!(&node.kind, Kind::Null)
        && !matches!(&node.kind, Kind::List(items) if items.is_empty())
}

/// Returns true if a value looks like a matcher group.
fn is_group(node: &Node) -> bool {
    let has_matcher = node.get("matcher").is_some();
    if !has_matcher && node.members().iter().any(|(key, _)| is_event(key)) {
        return false;
    }
    match node.get("hooks") {
        Some(Node { kind: Kind::List(items), .. }) => !items.is_empty(),
        Some(hooks @ Node { kind: Kind::Object(_), .. }) => {
            has_matcher || hooks.get("type").and_then(Node::text).is_some()
        }
        _ => false,
    }
}

/// Returns true if a value contains guard hooks or, with `groups`, anything that looks like a matcher group.
fn holds_guards(
    node: &Node,
    depth: usize,
    groups: bool,
    unsearched: &[&str],
    in_hooks: bool,
) -> bool {
    let named = node.members().iter().any(|(key, value)| is_guard(key) && is_there(value));
    if named || (groups && is_group(node)) {
        return true;
    }
    let Some(deeper) = depth.checked_sub(1) else { return false };
    match &node.kind {
        Kind::List(items) => {
            items.iter().any(|item| holds_guards(item, deeper, groups, unsearched, in_hooks))
        }
        Kind::Object(_) if in_hooks && node.get("type").and_then(Node::text).is_some() => false,
        Kind::Object(members) => members.iter().any(|(key, value)| {
            let in_hooks = key == "hooks" && matches!(value.kind, Kind::List(_));
            !unsearched.contains(&key.as_str())
                && holds_guards(value, deeper, groups && !is_event(key), unsearched, in_hooks)
        }),
        _ => false,
    }
}
