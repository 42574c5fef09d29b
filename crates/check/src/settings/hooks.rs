//! Loads the hooks of a file as the client does: it finds the entries that the client runs, the ones that it skips, and
//! the faults for which it skips the whole file.
//!
//! The rules and their order are the client's. The rules for skipping an entry or a file were measured on clients
//! 2.1.325 and 2.1.197; the rule for hooks outside `hooks` was read in the code of the former. They differ by the kind
//! of file, which is a [`HookContainer`].

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, find_nearest};
use serde_json::Value;

use super::document::ClientDocument;
use super::entry_fault::{EntryFault, find_entry_fault};
use super::guard_search::{
    MAX_GUARD_SEARCH_DEPTH, holds_guards, is_event_name, is_guard_event, looks_like_group,
    may_hold_hooks,
};
use super::hook_container::HookContainer;
use super::location::FileLocation;

/// The hooks of a file that the client loads, and the faults of the others.
#[derive(Debug, Default)]
pub struct LoadedHooks<'a> {
    /// The loadable groups, each with its loadable entries.
    pub groups: Vec<LoadedGroup<'a>>,
    /// The faults, in the order of the file.
    pub faults: Vec<HookFault>,
}

/// A matcher group that the client can load.
#[derive(Debug)]
pub struct LoadedGroup<'a> {
    /// The event under which the group is registered.
    pub event: EventName,
    /// The matcher. None if the group has none.
    pub matcher: Option<&'a str>,
    /// Offset of the matcher, or of the group if it has no matcher.
    pub at: usize,
    /// The loadable entries.
    pub entries: Vec<&'a JsonNode>,
    /// Index of the group in the list of its event.
    pub index: usize,
    /// The group itself.
    pub node: &'a JsonNode,
}

/// A fault under `hooks`, or of hooks in another place.
#[derive(Debug, Clone, PartialEq)]
pub struct HookFault {
    /// The fault.
    pub kind: HookFaultKind,
    /// Position of the value that the client does not accept.
    pub location: FileLocation,
    /// True if the client skips the whole file for it.
    pub skips_file: bool,
}

/// A fault of hooks. *Guards* are hooks of PreToolUse or PermissionRequest.
#[derive(Debug, Clone, PartialEq)]
pub enum HookFaultKind {
    /// The client ignores hooks in this kind of file: the commands and agents of a plugin.
    HooksIgnored,
    /// Guards stand outside `hooks`.
    GuardsOutside {
        /// The key of the root that contains them.
        key: String,
    },
    /// `hooks` is a single matcher group.
    HooksIsGroup,
    /// `hooks` is not an object.
    HooksNotObject {
        /// Name of its type.
        found: &'static str,
    },
    /// Guards stand under a name that is not an event.
    GuardsUnderUnknownEvent {
        /// The name.
        name: String,
    },
    /// A name is not an event.
    UnknownEvent {
        /// The name.
        name: String,
        /// The event that was probably meant.
        meant: Option<EventName>,
    },
    /// The value of an event is not a list of groups.
    EventNotList {
        /// The event.
        event: EventName,
        /// Name of its type.
        found: &'static str,
    },
    /// Guards stand where a matcher group should.
    GuardsInGroup,
    /// The client cannot load a group or an entry.
    Unloadable {
        /// The event.
        event: EventName,
        /// The reason.
        reason: LoadFault,
        /// The entries that are lost, as far as the group has any.
        lost: Vec<Value>,
    },
}

/// The reason for which the client cannot load a matcher group or an entry of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadFault {
    /// The group is not an object.
    GroupNotObject {
        /// Name of its type.
        found: &'static str,
    },
    /// `hooks` of the group is not a list.
    GroupHooksNotList {
        /// Name of its type. None if it is missing.
        found: Option<&'static str>,
    },
    /// `matcher` is not a string.
    MatcherNotText {
        /// Name of its type.
        found: &'static str,
    },
    /// An entry is wrong.
    Entry(EntryFault),
}

/// Loads the hooks of a settings file.
pub fn load_hooks(document: &ClientDocument, contract: Contract) -> LoadedHooks<'_> {
    load_hooks_of(document, HookContainer::Settings, contract)
}

/// Loads the hooks of a file by the rules for its kind. For a plugin's manifest, only hooks inside it are loaded.
pub fn load_hooks_of(
    document: &ClientDocument,
    container: HookContainer,
    contract: Contract,
) -> LoadedHooks<'_> {
    let mut loader = HookLoader { document, container, contract, hooks: LoadedHooks::default() };
    loader.load_root(&document.root);
    loader.hooks
}

struct HookLoader<'a> {
    document: &'a ClientDocument,
    container: HookContainer,
    contract: Contract,
    hooks: LoadedHooks<'a>,
}

impl<'a> HookLoader<'a> {
    /// Returns true if the client searches for guards and skips single entries. The older client does neither.
    fn is_newer_client(&self) -> bool {
        self.contract.malformed_handler_is_skipped_alone()
    }

    fn load_root(&mut self, root: &'a JsonNode) {
        if self.container == HookContainer::IgnoredHooks {
            if let Some(hooks) = root.get("hooks") {
                self.add_fault(hooks, HookFaultKind::HooksIgnored, true);
            }
            return;
        }
        if self.is_newer_client() {
            let unsearched = self.container.unsearched_keys();
            for (key, node) in root.members() {
                let outside = if is_guard_event(key) {
                    may_hold_hooks(node)
                } else {
                    key != "hooks"
                        && !unsearched.contains(&key.as_str())
                        && holds_guards(
                            node,
                            MAX_GUARD_SEARCH_DEPTH,
                            !is_event_name(key),
                            unsearched,
                            false,
                        )
                };
                if outside {
                    self.add_fault(node, HookFaultKind::GuardsOutside { key: key.clone() }, true);
                }
            }
        }
        let Some(hooks) = root.get("hooks") else { return };
        match &hooks.kind {
            kind if self.container.is_frontmatter() && is_falsy(kind) => {}
            // A manifest may also name files, and list both files and objects.
            JsonKind::Text(_) if self.container == HookContainer::PluginManifest => {}
            JsonKind::List(items) if self.container == HookContainer::PluginManifest => {
                for item in items {
                    match &item.kind {
                        JsonKind::Object(_) => self.load_events(item),
                        JsonKind::Text(_) => {}
                        kind => {
                            let fault = HookFaultKind::HooksNotObject { found: kind.name() };
                            self.add_fault(item, fault, true);
                        }
                    }
                }
            }
            JsonKind::Object(_) => self.load_events(hooks),
            kind => {
                let skips_file = match (self.container, kind) {
                    // Measured: this costs the hooks of the file, which has none.
                    (HookContainer::PluginHooks, JsonKind::Null) => false,
                    (HookContainer::Settings, JsonKind::List(items)) => {
                        items.iter().any(|item| matches!(item.kind, JsonKind::Object(_)))
                    }
                    (container, _) => container != HookContainer::Settings,
                };
                let fault = HookFaultKind::HooksNotObject { found: kind.name() };
                self.add_fault(hooks, fault, skips_file);
            }
        }
    }

    /// Loads an object of events.
    fn load_events(&mut self, hooks: &'a JsonNode) {
        match &hooks.kind {
            JsonKind::Object(_) if self.is_newer_client() && looks_like_group(hooks) => {
                self.add_fault(hooks, HookFaultKind::HooksIsGroup, true);
            }
            JsonKind::Object(events) => {
                for (name, node) in events {
                    self.load_event(name, node);
                }
            }
            _ => {}
        }
    }

    fn load_event(&mut self, name: &str, node: &'a JsonNode) {
        let Ok(event) = name.parse::<EventName>() else {
            let is_list = matches!(node.kind, JsonKind::List(_));
            let name = name.to_owned();
            if self.is_newer_client()
                && holds_guards(node, MAX_GUARD_SEARCH_DEPTH, !is_list, &[], false)
            {
                let fault = HookFaultKind::GuardsUnderUnknownEvent { name };
                return self.add_fault(node, fault, true);
            }
            let names = EventName::ALL.into_iter().map(|event| (event.as_str(), event));
            let meant = parse_event_alias(&name).or_else(|| find_nearest(&name, names));
            return self.add_fault(node, HookFaultKind::UnknownEvent { name, meant }, false);
        };
        let JsonKind::List(groups) = &node.kind else {
            let guards = is_guard_event(name) && !matches!(node.kind, JsonKind::Null);
            let skips_file = self.is_newer_client()
                && (guards || holds_guards(node, MAX_GUARD_SEARCH_DEPTH, false, &[], false));
            let fault = HookFaultKind::EventNotList { event, found: node.kind.name() };
            return self.add_fault(node, fault, skips_file);
        };
        for (index, group) in groups.iter().enumerate() {
            self.load_group(event, index, group);
        }
    }

    fn load_group(&mut self, event: EventName, index: usize, group: &'a JsonNode) {
        if self.is_newer_client() && holds_guards(group, MAX_GUARD_SEARCH_DEPTH, false, &[], false)
        {
            return self.add_fault(group, HookFaultKind::GuardsInGroup, true);
        }
        if !matches!(group.kind, JsonKind::Object(_)) {
            let reason = LoadFault::GroupNotObject { found: group.kind.name() };
            return self.add_unloadable(event, group, reason, &[]);
        }
        let Some(JsonKind::List(entries)) = group.get("hooks").map(|hooks| &hooks.kind) else {
            let found = group.get("hooks").map(|hooks| hooks.kind.name());
            let reason = LoadFault::GroupHooksNotList { found };
            return self.add_unloadable(event, group, reason, &[]);
        };
        let (matcher, at) = match group.get("matcher") {
            None => (None, group.at),
            Some(node) => match &node.kind {
                JsonKind::Text(text) => (Some(text.as_str()), node.at),
                kind => {
                    let reason = LoadFault::MatcherNotText { found: kind.name() };
                    return self.add_unloadable(event, node, reason, entries);
                }
            },
        };
        let mut loaded = Vec::new();
        for entry in entries {
            match find_entry_fault(entry, self.contract) {
                None => loaded.push(entry),
                Some((fault, field)) => {
                    let (node, lost) = (field.unwrap_or(entry), std::slice::from_ref(entry));
                    self.add_unloadable(event, node, LoadFault::Entry(fault), lost);
                }
            }
        }
        let (entries, node) = (loaded, group);
        self.hooks.groups.push(LoadedGroup { event, matcher, at, entries, index, node });
    }

    /// Adds the fault of a group or an entry that the client cannot load.
    fn add_unloadable(
        &mut self,
        event: EventName,
        node: &JsonNode,
        reason: LoadFault,
        lost: &[JsonNode],
    ) {
        let skips_file = !self.is_newer_client() || is_guard_event(event.as_str());
        let lost = lost.iter().map(|entry| self.document.to_json(entry)).collect();
        self.add_fault(node, HookFaultKind::Unloadable { event, reason, lost }, skips_file);
    }

    fn add_fault(&mut self, node: &JsonNode, kind: HookFaultKind, skips_file: bool) {
        let location = self.document.location(node.at);
        // Outside settings, the older client ignores all hooks of a file for any fault.
        let strict = !self.is_newer_client() && self.container != HookContainer::Settings;
        let skips_file = skips_file || strict;
        self.hooks.faults.push(HookFault { kind, location, skips_file });
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

/// Returns true if JavaScript treats a value as false.
fn is_falsy(kind: &JsonKind) -> bool {
    match kind {
        JsonKind::Null | JsonKind::Bool(false) => true,
        JsonKind::Number(number) => number.parse() == Ok(0.0_f64),
        JsonKind::Text(text) => text.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::document::LoadedDocument;
    use super::*;

    fn document(text: &str) -> ClientDocument {
        match LoadedDocument::parse(Path::new("/s"), text.as_bytes()) {
            LoadedDocument::Document(document) => *document,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the position of each fault, and true if the client skips the file for it.
    fn faults(text: &str, contract: Contract) -> Vec<(String, bool)> {
        let document = document(text);
        let faults = load_hooks(&document, contract).faults;
        faults.iter().map(|fault| (fault.location.to_string(), fault.skips_file)).collect()
    }

    #[test]
    fn invalid_hooks_skip_file_by_version() {
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        for (text, at, skips) in [
            ("{\"hooks\": {\"Stop\": [{\"hooks\": [{}]}]}}", "/s:1:32", [true, false]),
            ("{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{}]}]}}", "/s:1:38", [true, true]),
            ("{\"hooks\": {\"Stop\": [1]}}", "/s:1:21", [true, false]),
            ("{\"hooks\": {\"Stop\": 1}}", "/s:1:20", [false, false]),
            ("{\"hooks\": {\"PreToolUse\": 1}}", "/s:1:26", [false, true]),
            ("{\"hooks\": [{}]}", "/s:1:11", [true, true]),
            ("{\"hooks\": []}", "/s:1:11", [false, false]),
        ] {
            assert_eq!(faults(text, older), [(at.to_owned(), skips[0])], "{text}");
            assert_eq!(faults(text, newer), [(at.to_owned(), skips[1])], "{text}");
        }
    }

    #[test]
    fn newer_client_searches_for_guards() {
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        for text in [
            "{\"PreToolUse\": [1]}",
            "{\"x\": {\"PermissionRequest\": [1]}}",
            "{\"x\": {\"hooks\": [1]}}",
            "{\"hooks\": {\"matcher\": \"\", \"hooks\": [1]}}",
        ] {
            assert!(faults(text, newer).iter().any(|(_, skips_file)| *skips_file), "{text}");
            assert!(faults(text, older).iter().all(|(_, skips_file)| !skips_file), "{text}");
        }
        assert_eq!(faults("{\"mcpServers\": {\"PreToolUse\": [1]}}", newer), []);
    }

    #[test]
    fn wrong_field_loses_only_its_entry() {
        let text = "{\"hooks\": {\"Stop\": [{\"matcher\": \"m\", \"hooks\": [
            {\"type\": \"command\", \"command\": \"a\"},
            {\"type\": \"command\", \"command\": \"b\", \"timeout\": 0}]}]}}";
        let document = document(text);
        let LoadedHooks { groups, faults } = load_hooks(&document, Contract::newest());
        let [group] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(
            (group.event, group.matcher, group.entries.len()),
            (EventName::Stop, Some("m"), 1)
        );
        let [HookFault { kind: HookFaultKind::Unloadable { lost, .. }, location, .. }] =
            &faults[..]
        else {
            panic!("{faults:?}")
        };
        assert_eq!(lost[0]["command"], "b");
        assert_eq!(location.to_string(), "/s:3:60");
    }

    #[test]
    fn unknown_event_names_the_meant_one() {
        for (name, meant) in [
            ("PreToolCall", Some(EventName::PreToolUse)),
            ("SessionStrat", Some(EventName::SessionStart)),
            ("Zzzzzzzzzzzz", None),
        ] {
            let document = document(&format!("{{\"hooks\": {{\"{name}\": []}}}}"));
            let faults = load_hooks(&document, Contract::newest()).faults;
            let expected = HookFaultKind::UnknownEvent { name: name.to_owned(), meant };
            assert_eq!(faults[0].kind, expected);
        }
    }

    #[test]
    fn rules_differ_by_container() {
        use HookContainer as C;
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        let bad_stop = "{\"hooks\": {\"Stop\": [{\"hooks\": [{}]}]}}";
        let bad_guard = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{}]}]}}";
        let unknown = "{\"hooks\": {\"Stopp\": []}}";
        let empty_list = "{\"hooks\": []}";
        for (text, container, skips) in [
            (bad_stop, C::Skill, [true, false]),
            (bad_guard, C::Agent, [true, true]),
            (unknown, C::Settings, [false, false]),
            (unknown, C::Agent, [true, false]),
            (unknown, C::PluginHooks, [true, false]),
            (empty_list, C::Settings, [false, false]),
            (empty_list, C::Skill, [true, true]),
            (empty_list, C::PluginHooks, [true, true]),
            (bad_stop, C::IgnoredHooks, [true, true]),
        ] {
            let document = document(text);
            for (contract, skips) in [older, newer].into_iter().zip(skips) {
                let faults = load_hooks_of(&document, container, contract).faults;
                let [fault] = &faults[..] else { panic!("{text} {faults:?}") };
                assert_eq!(fault.skips_file, skips, "{text} {container:?}");
            }
        }
    }

    #[test]
    fn frontmatter_without_hooks_has_no_faults() {
        for text in
            ["{\"hooks\": null}", "{\"hooks\": \"\"}", "{\"metadata\": {\"PreToolUse\": [1]}}"]
        {
            let document = document(text);
            let faults = load_hooks_of(&document, HookContainer::Agent, Contract::newest()).faults;
            assert_eq!(faults, [], "{text}");
            // The same text is a fault elsewhere, except for an empty value in settings.
            assert!(
                load_hooks_of(&document, HookContainer::PluginHooks, Contract::newest())
                    .faults
                    .len()
                    == 1,
                "{text}"
            );
        }
    }

    #[test]
    fn manifest_lists_files_and_hooks() {
        let group = "[{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]}]";
        let text =
            format!("{{\"hooks\": [\"./a.json\", {{\"Stop\": {group}}}, {{\"Stop\": {group}}}]}}");
        let document = document(&text);
        let loaded = load_hooks_of(&document, HookContainer::PluginManifest, Contract::newest());
        assert_eq!((loaded.groups.len(), loaded.faults.len()), (2, 0));
    }
}
