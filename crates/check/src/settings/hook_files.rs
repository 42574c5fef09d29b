//! Files and folders with hooks, by their paths, and all of them in the client's order.

use std::path::{Path, PathBuf};

use rutter_contract::version::Contract;

use super::client_files::ClientFiles;
use super::document::LoadedDocument;
use super::hook_container::HookContainer;
use super::layers::{SettingsLayer, SettingsSource, load_layers};
use super::markdown_files::{load_markdown_layers, markdown_source};
use super::plugin_folder::{PluginFault, load_plugin_folder, manifest_file};
use super::plugins::enabled_plugins;

/// A path that may lead to hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// The path.
    pub path: PathBuf,
    /// The kind of file or folder.
    pub kind: HookFileKind,
    /// Folder of the plugin that contains the file, or that the path leads to.
    pub plugin: Option<PathBuf>,
}

/// A kind of file or folder with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookFileKind {
    /// A settings file.
    Settings(SettingsSource),
    /// A hooks file of a plugin.
    PluginHooks,
    /// The manifest of a plugin.
    PluginManifest,
    /// A skill, agent or command.
    Markdown(SettingsSource),
    /// A folder in which a client may be started.
    ProjectFolder,
    /// The folder of a plugin.
    PluginFolder,
    /// A JSON file with another name. It is read as settings of a project.
    UnknownJson,
}

/// The files with hooks of a folder, with the faults of plugins that are not those of one file.
#[derive(Debug, Default)]
pub struct HookLayers {
    /// The files, in the client's order.
    pub layers: Vec<SettingsLayer>,
    /// The faults of plugins.
    pub plugin_faults: Vec<PluginFault>,
}

impl HookFile {
    /// Finds out what a path leads to. `config` is the client's user-level configuration folder, in which
    /// `settings.json` is the user's. Returns None for files that cannot hold hooks.
    pub fn classify(path: &Path, config: Option<&Path>) -> Option<Self> {
        if !path.is_dir() {
            return Self::from_name(path, config);
        }
        let is_plugin = manifest_file(path).exists()
            || (path.join("hooks/hooks.json").exists() && !path.join(".claude").exists());
        let found = if is_plugin {
            let plugin = Some(path.to_owned());
            Self { path: path.to_owned(), kind: HookFileKind::PluginFolder, plugin }
        } else {
            // `.claude` stands for the project that contains it.
            let project = path.parent().filter(|_| path.ends_with(".claude"));
            let path = project.unwrap_or(path).to_owned();
            Self { path, kind: HookFileKind::ProjectFolder, plugin: None }
        };
        Some(found)
    }

    /// Finds out what kind of file a path names, which need not exist: an editor or a pipe may have the text. `-` and
    /// any other name without an extension count as JSON.
    pub fn from_name(path: &Path, config: Option<&Path>) -> Option<Self> {
        let found = |kind, plugin: Option<&Path>| {
            Some(Self { path: path.to_owned(), kind, plugin: plugin.map(Path::to_owned) })
        };
        if let Some((source, folder)) = markdown_source(path) {
            let plugin = Some(folder).filter(|folder| manifest_file(folder).exists());
            return found(HookFileKind::Markdown(source), plugin);
        }
        let settings = |source| found(HookFileKind::Settings(source), None);
        let (folder, above) = (path.parent(), path.ancestors().nth(2));
        let is_in = |name: &str| folder.is_some_and(|folder| folder.ends_with(name));
        match path.file_name()?.to_str()? {
            "settings.json" if config.is_some_and(|config| folder == Some(config)) => {
                settings(SettingsSource::User)
            }
            "settings.json" if is_in(".claude") => settings(SettingsSource::Project),
            "settings.local.json" => settings(SettingsSource::Local),
            "managed-settings.json" => settings(SettingsSource::Managed),
            "hooks.json" if is_in("hooks") => found(HookFileKind::PluginHooks, above),
            "plugin.json" if is_in(".claude-plugin") => found(HookFileKind::PluginManifest, above),
            _ if is_in("managed-settings.d") => settings(SettingsSource::Managed),
            _ if path.extension().is_none_or(|extension| extension == "json") => {
                found(HookFileKind::UnknownJson, None)
            }
            _ => None,
        }
    }

    /// Reads a file. Returns None for folders, which [`load_folder_layers`] and [`load_plugin_folder`] read.
    pub fn load(&self, contract: Contract) -> Option<SettingsLayer> {
        self.read(contract, LoadedDocument::load, |path| {
            LoadedDocument::load_frontmatter(path, contract)
        })
    }

    /// Parses the bytes of a file without reading it. Returns None for folders.
    pub fn parse(&self, bytes: &[u8], contract: Contract) -> Option<SettingsLayer> {
        self.read(
            contract,
            |path| LoadedDocument::parse(path, bytes),
            |path| LoadedDocument::parse_frontmatter(path, bytes, contract),
        )
    }

    fn read(
        &self,
        contract: Contract,
        json: impl FnOnce(&Path) -> LoadedDocument,
        frontmatter: impl FnOnce(&Path) -> LoadedDocument,
    ) -> Option<SettingsLayer> {
        let plugin = self.plugin.as_deref();
        let (source, container) = match self.kind {
            HookFileKind::Settings(source) => (source, HookContainer::Settings),
            HookFileKind::UnknownJson => (SettingsSource::Project, HookContainer::Settings),
            HookFileKind::PluginHooks => (SettingsSource::Plugin, HookContainer::PluginHooks),
            HookFileKind::PluginManifest => (SettingsSource::Plugin, HookContainer::PluginManifest),
            HookFileKind::Markdown(source) => (source, source.hook_container(plugin.is_some())),
            HookFileKind::ProjectFolder | HookFileKind::PluginFolder => return None,
        };
        let document =
            if source.is_markdown() { frontmatter(&self.path) } else { json(&self.path) };
        let layer =
            SettingsLayer::from_document(source, &self.path, plugin, document, container, contract);
        Some(layer)
    }
}

/// Reads everything that can hold hooks for a client in a folder: settings, the strongest first; plugins; skills, agents
/// and commands of the project, then of the user. Those of a plugin follow its hooks files.
pub fn load_folder_layers(files: &ClientFiles, contract: Contract) -> HookLayers {
    let mut found = HookLayers { layers: load_layers(files, contract), ..HookLayers::default() };
    for plugin in enabled_plugins(&found.layers, files) {
        let Some(folder) = &plugin.folder else { continue };
        let loaded = load_plugin_folder(folder, contract);
        found.plugin_faults.extend(loaded.faults);
        found.layers.extend(loaded.layers.into_iter().map(|mut layer| {
            layer.plugin = Some(plugin.name.clone());
            layer
        }));
    }
    let project = files.folder.join(".claude");
    found.layers.extend(load_markdown_layers(&project, None, contract));
    if let Some(config) = files.config.as_deref().filter(|config| !is_same_folder(config, &project))
    {
        found.layers.extend(load_markdown_layers(config, None, contract));
    }
    found
}

/// Returns true if two paths lead to the same folder.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::super::layers::LayerState;
    use super::*;

    const STOP: &str = r#"{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}"#;
    const SKILL: &str =
        "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\n---\n";

    fn write_file(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn names_tell_kinds() {
        use HookFileKind as K;
        use SettingsSource as S;
        let config = Some(Path::new("/home/ada/.claude"));
        for (path, kind, plugin) in [
            ("/p/.claude/settings.json", Some(K::Settings(S::Project)), None),
            ("/home/ada/.claude/settings.json", Some(K::Settings(S::User)), None),
            ("settings.local.json", Some(K::Settings(S::Local)), None),
            ("/etc/x/managed-settings.d/1.json", Some(K::Settings(S::Managed)), None),
            ("/g/hooks/hooks.json", Some(K::PluginHooks), Some("/g")),
            ("hooks/hooks.json", Some(K::PluginHooks), Some("")),
            ("/g/.claude-plugin/plugin.json", Some(K::PluginManifest), Some("/g")),
            ("/p/.claude/skills/a/SKILL.md", Some(K::Markdown(S::Skill)), None),
            ("/p/.claude/agents/a/b.md", Some(K::Markdown(S::Agent)), None),
            ("/p/.claude/commands/b.md", Some(K::Markdown(S::Command)), None),
            ("/p/other.json", Some(K::UnknownJson), None),
            ("/p/settings.json", Some(K::UnknownJson), None),
            ("-", Some(K::UnknownJson), None),
            ("/p/README.md", None, None),
            ("/p/a.toml", None, None),
        ] {
            let found = HookFile::from_name(Path::new(path), config);
            assert_eq!(found.as_ref().map(|found| found.kind), kind, "{path}");
            let folder = found.and_then(|found| found.plugin);
            assert_eq!(folder.as_deref(), plugin.map(Path::new), "{path}");
        }
    }

    #[test]
    fn folders_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write_file(&root.join("plug/.claude-plugin/plugin.json"), "{}");
        write_file(&root.join("plug/agents/a.md"), SKILL);
        write_file(&root.join("ship/.claude/settings.json"), "{}");
        let kind = |path: &str| HookFile::classify(&root.join(path), None).unwrap();
        assert_eq!(kind("plug").kind, HookFileKind::PluginFolder);
        assert_eq!(kind("ship").kind, HookFileKind::ProjectFolder);
        assert_eq!(kind("ship/.claude").path, root.join("ship"));
        let agent = kind("plug/agents/a.md");
        assert_eq!(agent.plugin, Some(root.join("plug")));
        assert_eq!(agent.load(Contract::newest()).unwrap().state, LayerState::Void, "ignored");
        assert!(kind("plug").load(Contract::newest()).is_none());
    }

    #[test]
    fn bytes_are_read_like_files() {
        let contract = Contract::newest();
        let file = HookFile::from_name(Path::new("/p/.claude/agents/a.md"), None).unwrap();
        let layer = file.parse(SKILL.as_bytes(), contract).unwrap();
        let [entry] = &layer.entries[..] else { panic!("{layer:?}") };
        assert_eq!(entry.place.to_string(), "/p/.claude/agents/a.md:5:11");
        let command = entry.source.field("command").unwrap();
        assert_eq!(&SKILL[command.value_range.clone()], "x");
        assert!(SKILL[entry.source.range.clone()].starts_with("type: command\n"));
        let file = HookFile::from_name(Path::new("-"), None).unwrap();
        let text = format!("{{\"hooks\":{STOP}}} // no");
        let layer = file.parse(text.as_bytes(), contract).unwrap();
        assert_eq!(layer.state, LayerState::Void);
        assert!(layer.readable_document().unwrap().root.get("hooks").is_some());
    }

    #[test]
    fn all_layers_of_a_folder_are_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let files = ClientFiles {
            folder: root.join("ship"),
            config: Some(root.join("home/.claude")),
            managed: vec![root.join("etc/managed-settings.json")],
            ..ClientFiles::default()
        };
        let hooks = format!("{{\"hooks\":{STOP}, \"enabledPlugins\": {{\"g@m\": true}}}}");
        for path in ["etc/managed-settings.json", "ship/.claude/settings.local.json"] {
            write_file(&root.join(path), &hooks);
        }
        let installed = format!(
            "{{\"plugins\": {{\"g@m\": [{{\"installPath\": {:?}}}]}}}}",
            root.join("plug").to_str().unwrap()
        );
        write_file(&root.join("home/.claude/plugins/installed_plugins.json"), &installed);
        write_file(&root.join("plug/hooks/hooks.json"), STOP);
        for path in [
            "plug/skills/a/SKILL.md",
            "ship/.claude/skills/a/SKILL.md",
            "ship/.claude/agents/a.md",
            "home/.claude/commands/a.md",
        ] {
            write_file(&root.join(path), SKILL);
        }
        let found = load_folder_layers(&files, Contract::newest());
        let names: Vec<_> = found.layers.iter().map(|layer| layer.whose.as_str()).collect();
        assert_eq!(
            names,
            ["managed", "local", "project", "user", "plugin", "skill", "skill", "agent", "command"]
        );
        assert_eq!(found.layers[4].plugin.as_deref(), Some("g@m"));
        assert_eq!(found.plugin_faults.len(), 1, "no wrapper");
        assert!(found.layers.iter().skip(5).all(|layer| layer.entries.len() == 1));
    }
}
