//! The files with hooks, and the machine on which the hooks run.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rutter_contract::EventName;
use rutter_contract::version::Contract;

use super::tree::{SourceMember, SourceNode};
use crate::settings::{
    HookFault, HookFaultKind, LayerState, LineIndex, SettingsFault, SettingsLayer, SettingsSource,
    load_hooks_of,
};
use crate::text_edit::TextEdit;

/// Edits that correct a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFix {
    /// The edits of the text, sorted and without overlap.
    pub edits: Vec<TextEdit>,
}

/// What is known about the machine on which the hooks run.
#[derive(Debug, Clone, Default)]
pub struct LintMachine {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Folders of `PATH`, in search order. Empty if programs cannot be checked.
    pub search: Vec<PathBuf>,
    /// True if `/bin/sh`, which runs commands, is bash.
    pub has_bash_as_sh: bool,
}

/// A file that may contain hooks.
#[derive(Debug)]
pub struct LintFile {
    /// Its path.
    pub path: PathBuf,
    /// The kind of file.
    pub whose: SettingsSource,
    /// Folder of the plugin that contains it.
    pub plugin: Option<PathBuf>,
    /// Folder in which the client is started with this file. None if it is not known; then scripts are not looked for.
    pub project: Option<PathBuf>,
    /// The way in which the client treats it.
    pub state: LayerState,
    /// The text without a byte order mark.
    pub text: String,
    /// The values of the text. None if it is not valid.
    pub root: Option<SourceNode>,
    /// The faults for which the client skips the file or a part of it.
    pub faults: Vec<SettingsFault>,
    /// True for a script that a hook starts.
    pub is_script: bool,
    /// The lines of the text, found when they are first needed.
    pub(super) lines: OnceLock<LineIndex>,
}

impl LintFile {
    /// Creates the file of a layer. `plugin` is the folder of the plugin that contains it, `project` the folder in which
    /// the client is started. Returns None if the file does not exist.
    pub fn from_layer(
        layer: SettingsLayer,
        plugin: Option<PathBuf>,
        project: Option<PathBuf>,
        contract: Contract,
    ) -> Option<Self> {
        if layer.state == LayerState::Absent {
            return None;
        }
        let void_text = layer.faults.iter().find_map(|fault| match fault {
            SettingsFault::Document(fault) => fault.text().map(str::to_owned),
            _ => None,
        });
        let readable = layer.readable_document();
        let root = readable.map(SourceNode::from_document);
        // The client reads nothing of a file with mistakes, but the author wants to know about its hooks too.
        let repaired = readable.filter(|_| layer.document.is_none());
        let container = layer.whose.hook_container(plugin.is_some());
        let more = repaired.map(|document| load_hooks_of(document, container, contract).faults);
        let text = void_text.or_else(|| readable.map(|document| document.text.clone()));
        let SettingsLayer { whose, path, state, mut faults, .. } = layer;
        faults.extend(more.into_iter().flatten().map(SettingsFault::Hooks));
        let text = text.unwrap_or_default();
        Some(Self {
            path,
            whose,
            plugin,
            project,
            state,
            text,
            root,
            faults,
            is_script: false,
            lines: OnceLock::new(),
        })
    }

    /// Creates the file with another text.
    #[must_use]
    pub fn with_text(&self, text: &str, contract: Contract) -> Self {
        let plugin = self.plugin.as_deref();
        let layer = SettingsLayer::parse(self.whose, &self.path, plugin, text.as_bytes(), contract);
        let changed = Self::from_layer(layer, self.plugin.clone(), self.project.clone(), contract);
        changed.unwrap_or_else(|| Self {
            path: self.path.clone(),
            whose: self.whose,
            plugin: self.plugin.clone(),
            project: self.project.clone(),
            state: LayerState::Blank,
            text: text.to_owned(),
            root: None,
            faults: Vec::new(),
            is_script: false,
            lines: OnceLock::new(),
        })
    }

    /// Returns the value of a key at the root.
    pub fn get(&self, key: &str) -> Option<&SourceNode> {
        self.root.as_ref()?.get(key)
    }

    /// Returns the members of `hooks`: an event each.
    pub fn events(&self) -> &[SourceMember] {
        self.get("hooks").map_or(&[], SourceNode::members)
    }

    /// Returns the groups of the known events.
    pub fn groups(&self) -> impl Iterator<Item = GroupNode<'_>> {
        self.events().iter().flat_map(|member| {
            let event = member.key.parse::<EventName>().ok();
            let groups = member.node.items().iter();
            groups.filter_map(move |node| Some(GroupNode { event: event?, node }))
        })
    }

    /// Returns the handlers of the known events that are objects in a group.
    pub fn handlers(&self) -> impl Iterator<Item = HandlerNode<'_>> {
        self.groups().flat_map(|group| {
            let handlers = group.node.get("hooks").map_or(&[][..], SourceNode::items).iter();
            handlers.filter(|node| node.is_object()).map(move |node| HandlerNode {
                event: group.event,
                group: group.node,
                node,
            })
        })
    }

    /// Returns the handlers as [`Self::handlers`] does, with their places.
    pub(super) fn placed_handlers(&self) -> impl Iterator<Item = (HandlerPlace, HandlerNode<'_>)> {
        self.events().iter().enumerate().flat_map(move |(event, member)| {
            let groups = member.node.items().iter().enumerate();
            groups.flat_map(move |(group, node)| {
                let count = node.get("hooks").map_or(0, |hooks| hooks.items().len());
                let places = (0..count).map(move |handler| HandlerPlace { event, group, handler });
                places.filter_map(move |place| Some((place, self.handler_at(place)?)))
            })
        })
    }

    /// Returns the handler at a place.
    pub fn handler_at(&self, place: HandlerPlace) -> Option<HandlerNode<'_>> {
        let member = self.events().get(place.event)?;
        let event = member.key.parse().ok()?;
        let group = member.node.items().get(place.group)?;
        let node = group.get("hooks")?.items().get(place.handler)?;
        node.is_object().then_some(HandlerNode { event, group, node })
    }

    /// Returns the line and column of a byte offset, both from 1, with columns in characters.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        self.lines.get_or_init(|| LineIndex::new(&self.text)).line_and_column(&self.text, at)
    }

    /// Returns the byte offset of a line and column, both from 1, with columns in characters.
    pub fn offset(&self, (line, column): (usize, usize)) -> usize {
        let start = self
            .text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let rest = self.text.get(start..).unwrap_or_default();
        start + rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>()
    }

    /// Returns the edit that adds a member at the start of an object with members, in the layout of the object.
    pub fn prepend_member(&self, object: &SourceNode, member: &str) -> Option<TextEdit> {
        let first = object.members().first()?.key_range.start;
        let space = self.text.get(object.range.start + 1..first)?;
        let space = if space.is_empty() { " " } else { space };
        let text = format!("{member},{space}");
        Some(TextEdit { range: first..first, text })
    }

    /// Returns the value that begins at an offset.
    pub fn node_at(&self, at: usize) -> Option<&SourceNode> {
        fn find(node: &SourceNode, at: usize) -> Option<&SourceNode> {
            if node.range.start == at {
                return Some(node);
            }
            let inner = node.members().iter().map(|member| &member.node).chain(node.items());
            inner.filter(|node| node.range.contains(&at)).find_map(|node| find(node, at))
        }
        find(self.root.as_ref()?, at)
    }

    /// Returns the faults of hooks, each with the offset of the value that the client does not accept.
    pub fn hook_faults(&self) -> impl Iterator<Item = (&HookFault, usize)> {
        self.faults.iter().filter_map(|fault| match fault {
            SettingsFault::Hooks(fault) => Some((fault, self.offset(fault.location.position?))),
            _ => None,
        })
    }

    /// Returns what the client does with the file because of a fault, as the end of a message.
    pub fn skip_note(&self, fault: &HookFault) -> &'static str {
        match (fault.skips_file, self.is_plugin()) {
            (false, _) => "the client skips it",
            (true, false) => {
                "the client skips the whole file, with its permissions and all other hooks"
            }
            (true, true) => "the client does not load the plugin",
        }
    }

    /// Returns true if a name under `hooks` that is no event contains guard hooks, by the offset of its value.
    pub fn is_guard_fault(&self, at: usize) -> bool {
        self.hook_faults().any(|(fault, offset)| {
            offset == at && matches!(fault.kind, HookFaultKind::GuardsUnderUnknownEvent { .. })
        })
    }

    /// Returns true if a fix fits the language of the file. Fixes are written in JSON; frontmatter is YAML, where only a
    /// quoted text or a number in the place of another value means the same.
    pub fn can_take(&self, fix: &LintFix) -> bool {
        !self.whose.is_markdown()
            || self.is_script
            || fix.edits.iter().all(|edit| {
                let is_scalar = !edit.text.is_empty() && !edit.text.contains(['{', '[', '\n', ',']);
                is_scalar && !edit.range.is_empty()
            })
    }

    /// Returns true if the folder of the project or plugin has files that have nothing to do with hooks: neither
    /// configuration, nor the folder that contains `script`. A file that was copied alone says nothing about the others.
    pub fn has_other_files(&self, script: &Path) -> bool {
        let Some(root) = self.plugin.as_deref().or(self.project.as_deref()) else { return false };
        let own = script.strip_prefix(root).ok().and_then(|rest| rest.iter().next()?.to_str());
        let is_folder = |name: &str| root.join(name).is_dir();
        has_files_beside(root, &[own.filter(|name| is_folder(name)).unwrap_or(".claude")])
    }

    /// Returns true if the file is part of a plugin.
    pub fn is_plugin(&self) -> bool {
        self.whose == SettingsSource::Plugin || self.plugin.is_some()
    }
}

/// A matcher group of a known event.
#[derive(Debug, Clone, Copy)]
pub struct GroupNode<'a> {
    /// The event.
    pub event: EventName,
    /// The group.
    pub node: &'a SourceNode,
}

/// The place of a handler in a file, by indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerPlace {
    /// Index of the event.
    pub event: usize,
    /// Index of the group in the event.
    pub group: usize,
    /// Index of the handler in the group.
    pub handler: usize,
}

/// A handler of a known event.
#[derive(Debug, Clone, Copy)]
pub struct HandlerNode<'a> {
    /// The event.
    pub event: EventName,
    /// The group that contains it.
    pub group: &'a SourceNode,
    /// The handler.
    pub node: &'a SourceNode,
}

impl<'a> HandlerNode<'a> {
    /// Returns the matcher of the group.
    pub fn matcher(self) -> Option<&'a str> {
        self.group.get("matcher").and_then(SourceNode::text)
    }

    /// Returns a text of the handler.
    pub fn text(self, key: &str) -> Option<&'a str> {
        self.node.get(key).and_then(SourceNode::text)
    }

    /// Returns true if the handler is of a type.
    pub fn is_type(self, name: &str) -> bool {
        self.text("type") == Some(name)
    }
}

impl LintMachine {
    /// Finds a program in `PATH`. Relative folders are skipped, because each working directory resolves them differently.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.search.iter().filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(name)).find(|path| is_executable(path))
    }
}

/// Returns true if a folder has other entries than the configuration of hooks and the given names.
pub(super) fn has_files_beside(folder: &Path, names: &[&str]) -> bool {
    const CONFIGURATION: [&str; 6] = [
        ".claude",
        ".claude-plugin",
        "hooks",
        "hooks.json",
        "settings.json",
        "settings.local.json",
    ];
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut found = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    found.any(|name| {
        !name.to_str().is_some_and(|name| CONFIGURATION.contains(&name) || names.contains(&name))
    })
}

/// Returns true if a path is a file that may be executed.
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
