//! An entry under `hooks` that the client can load.

use std::ops::Range;
use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use rutter_contract::javascript::{JsonKind, JsonNode};
use serde_json::Value;

use super::document::ClientDocument;
use super::hooks::LoadedHooks;
use super::layers::SettingsSource;
use super::location::FileLocation;
use super::spans::FieldSpan;

/// An entry under `hooks` that the client can load.
#[derive(Debug, Clone)]
pub struct HookEntry {
    /// The event on which it runs.
    pub event: EventName,
    /// The matcher of its group. None if the group has none.
    pub matcher: Option<String>,
    /// Position of the matcher, or of the group if it has no matcher.
    pub matcher_place: FileLocation,
    /// Position of the entry.
    pub place: FileLocation,
    /// The entry itself. Null if it contains a lone surrogate or a number out of range.
    pub handler: Value,
    /// Folder of the plugin that contains the entry. None for settings.
    pub plugin: Option<PathBuf>,
    /// The kind of settings file that contains the entry.
    pub whose: SettingsSource,
    /// The entry in the text of its file.
    pub source: EntrySource,
}

/// An entry in the text of its file, with byte offsets in the text of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct EntrySource {
    /// The entry.
    pub range: Range<usize>,
    /// The fields of the entry, in order and including duplicate keys.
    pub fields: Vec<FieldSpan>,
    /// The matcher group that contains the entry.
    pub group: Range<usize>,
    /// Index of the group in the list of its event.
    pub group_index: usize,
    /// The entry as a tree.
    pub node: JsonNode,
}

impl Default for EntrySource {
    fn default() -> Self {
        let node = JsonNode { kind: JsonKind::Null, at: 0 };
        Self { range: 0..0, fields: Vec::new(), group: 0..0, group_index: 0, node }
    }
}

impl EntrySource {
    /// Returns the last field with a key, which is the one that counts.
    pub fn field(&self, key: &str) -> Option<&FieldSpan> {
        self.fields.iter().rfind(|field| field.key == key)
    }
}

/// Returns the loadable entries of a document. `plugin` is the folder of the plugin that contains it.
pub fn collect_entries(
    document: &ClientDocument,
    hooks: &LoadedHooks<'_>,
    whose: SettingsSource,
    plugin: Option<&Path>,
) -> Vec<HookEntry> {
    let entries = hooks.groups.iter().flat_map(|group| {
        group.entries.iter().map(move |node| HookEntry {
            event: group.event,
            matcher: group.matcher.map(str::to_owned),
            matcher_place: document.location(group.at),
            place: document.location(node.at),
            handler: document.to_json(node),
            plugin: plugin.map(Path::to_owned),
            whose,
            source: EntrySource {
                range: document.value_range(node),
                fields: document.field_spans(node).to_vec(),
                group: document.value_range(group.node),
                group_index: group.index,
                node: (*node).clone(),
            },
        })
    });
    entries.collect()
}

impl HookEntry {
    /// Expands the client's variables in a text of the entry. `folder` is the client's working directory.
    pub fn expand_variables(&self, text: &str, folder: &Path) -> String {
        let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &folder.to_string_lossy());
        if let Some(plugin) = &self.plugin {
            text = text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.to_string_lossy());
        }
        text
    }

    /// Returns the key by which the client deduplicates entries: equal entries run once, even if registered several
    /// times.
    pub fn dedup_key(&self) -> String {
        let part = |key: &str| self.handler.get(key).map(Value::to_string).unwrap_or_default();
        let plugin = self.plugin.as_ref().map(|plugin| plugin.to_string_lossy().into_owned());
        [part("command"), part("args"), part("if"), plugin.unwrap_or_default()].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expands_variables_of_plugin_only_there() {
        let place = FileLocation::whole_file(Path::new("/s.json"));
        let mut entry = HookEntry {
            event: EventName::Stop,
            matcher: None,
            matcher_place: place.clone(),
            place,
            handler: json!({ "type": "command", "command": "x", "timeout": 1 }),
            plugin: None,
            whose: SettingsSource::User,
            source: EntrySource::default(),
        };
        let text = "${CLAUDE_PROJECT_DIR}/a ${CLAUDE_PLUGIN_ROOT}/b";
        assert_eq!(entry.expand_variables(text, Path::new("/p")), "/p/a ${CLAUDE_PLUGIN_ROOT}/b");
        let own = entry.dedup_key();
        entry.handler["timeout"] = json!(2);
        assert_eq!(entry.dedup_key(), own, "the client does not compare the timeout");
        entry.plugin = Some("/plug".into());
        assert_eq!(entry.expand_variables(text, Path::new("/p")), "/p/a /plug/b");
        assert_ne!(entry.dedup_key(), own);
    }
}
