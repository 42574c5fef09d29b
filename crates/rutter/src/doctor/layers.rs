//! The settings files that a client reads in this folder, the strongest first, and their combined effect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_contract::EventName;
use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;
use rutter_memory::Time;
use serde::Serialize;

use super::codes;
use super::document::{ClientDocument, LoadedDocument};
use super::entry::HookEntry;
use super::finding::{DoctorFinding, FileLocation};
use super::places::{ClientEnvironment, is_truthy};
use super::{keys, shape};
use crate::install::{checkout_settings, is_our_hook, is_same_path};
use crate::shell;

/// Variable that makes the client run no hooks.
const SIMPLE_VARIABLE: &str = "CLAUDE_CODE_SIMPLE";

/// Prefix of the temporary files that `init` writes next to settings files.
const TEMP_FILE_PREFIX: &str = ".rutter-";
/// Age above which such a temporary file counts as abandoned. Writing one takes a moment.
const ABANDONED_FILE_AGE: Duration = Duration::from_hours(1);

/// The kind of file that a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SettingsSource {
    /// Settings of the organisation.
    Managed,
    /// Settings of the user for this folder.
    Local,
    /// Settings of the user in the main checkout of the repository that contains the folder.
    Checkout,
    /// Settings of the project.
    Project,
    /// Settings of the user for all folders.
    User,
    /// A file of a plugin.
    Plugin,
}

impl SettingsSource {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Local => "local",
            Self::Checkout => "checkout",
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin => "plugin",
        }
    }
}

/// The way in which the client treats a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LayerState {
    Absent,
    /// The file is blank.
    Blank,
    /// The client ignores the whole file.
    Void,
    /// The client uses the file.
    Read,
}

/// A settings file.
#[derive(Debug, Serialize)]
pub(crate) struct SettingsLayer {
    pub(crate) whose: SettingsSource,
    pub(crate) path: PathBuf,
    pub(crate) state: LayerState,
    /// Number of entries under `hooks` that the client can load.
    pub(crate) hooks: usize,
    /// Number of loadable entries that run rutter.
    pub(crate) ours: usize,
    /// The loadable entries that run rutter.
    #[serde(skip)]
    pub(crate) entries: Vec<HookEntry>,
    /// Events of rutter entries that the client cannot load.
    #[serde(skip)]
    pub(crate) lost: Vec<EventName>,
    /// True if the file cannot be parsed but mentions rutter.
    #[serde(skip)]
    pub(crate) may_have_ours: bool,
    #[serde(skip)]
    pub(crate) document: Option<Box<ClientDocument>>,
    /// Name of the plugin that contains the file, as `name@marketplace`. None for settings.
    #[serde(skip)]
    pub(crate) plugin: Option<String>,
}

impl SettingsLayer {
    /// Reads a settings file, and adds findings for its faults.
    pub(crate) fn load(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        contract: Contract,
        findings: &mut Vec<DoctorFinding>,
    ) -> Self {
        let mut layer = Self {
            whose,
            path: path.to_owned(),
            state: LayerState::Absent,
            hooks: 0,
            ours: 0,
            entries: Vec::new(),
            lost: Vec::new(),
            may_have_ours: false,
            document: None,
            plugin: None,
        };
        match LoadedDocument::load(path) {
            LoadedDocument::Absent => {}
            LoadedDocument::Blank => layer.state = LayerState::Blank,
            LoadedDocument::Void { finding, speaks_of_us } => {
                layer.state = LayerState::Void;
                layer.may_have_ours = speaks_of_us;
                findings.push(*finding);
            }
            LoadedDocument::Document(document) => {
                layer.load_document(document, plugin, contract, findings)
            }
        }
        layer
    }

    fn load_document(
        &mut self,
        document: Box<ClientDocument>,
        plugin: Option<&Path>,
        contract: Contract,
        findings: &mut Vec<DoctorFinding>,
    ) {
        if document.replaced {
            let what = "this is not UTF-8: the client replaces the invalid bytes";
            let finding = DoctorFinding::new(&codes::SETTINGS_NOT_UTF8, what);
            findings.push(finding.with_location(FileLocation::whole_file(&document.path)));
        }
        findings.extend(document.duplicate_keys());
        // The keys of a plugin's file are different.
        let wrong =
            if plugin.is_none() { keys::check_keys(&document, contract) } else { Vec::new() };
        let shape = shape::load_hooks(&document, contract);
        let void = shape.is_file_skipped() || !wrong.is_empty();
        self.state = if void { LayerState::Void } else { LayerState::Read };
        findings.extend(wrong);
        for group in &shape.groups {
            self.hooks += group.entries.len();
            for node in &group.entries {
                let handler = document.to_json(node);
                if is_our_hook(&handler) {
                    self.entries.push(HookEntry {
                        event: group.event,
                        matcher: group.matcher.map(str::to_owned),
                        matcher_place: document.location(group.at),
                        place: document.location(node.at),
                        handler,
                        plugin: plugin.map(Path::to_owned),
                        whose: self.whose,
                    });
                }
            }
        }
        self.ours = self.entries.len();
        let shape::LoadedHooks { findings: found, lost, .. } = shape;
        findings.extend(found);
        self.lost = lost;
        self.document = Some(document);
    }

    /// Returns the value of a settings key if the client uses the file. Returns None for plugins, which have other
    /// keys.
    pub(crate) fn setting(&self, key: &str) -> Option<(&ClientDocument, &JsonNode)> {
        if self.whose == SettingsSource::Plugin {
            return None;
        }
        let document = self.document.as_deref().filter(|_| self.state == LayerState::Read)?;
        Some((document, document.root.get(key)?))
    }
}

/// Reads all settings files except those of plugins, the strongest first.
pub(crate) fn load_layers(
    places: &ClientEnvironment,
    contract: Contract,
    findings: &mut Vec<DoctorFinding>,
) -> Vec<SettingsLayer> {
    let mut files: Vec<(SettingsSource, PathBuf)> = Vec::new();
    files.extend(places.managed.iter().map(|path| (SettingsSource::Managed, path.clone())));
    files.push((SettingsSource::Local, places.local_settings()));
    files.extend(
        main_checkout_settings(places, contract).map(|path| (SettingsSource::Checkout, path)),
    );
    files.push((SettingsSource::Project, places.project_settings()));
    files.extend(places.user_settings().map(|path| (SettingsSource::User, path)));
    // In the home folder, the project's file and the user's file are the same, even if the paths differ by symbolic
    // links.
    if places.user_settings().is_some_and(|user| is_same_path(&user, &places.project_settings())) {
        files.retain(|(whose, _)| *whose != SettingsSource::Project);
    }
    files
        .into_iter()
        .map(|(whose, path)| SettingsLayer::load(whose, &path, None, contract, findings))
        .collect()
}

/// Returns the local settings of the main checkout if the client version reads them.
fn main_checkout_settings(places: &ClientEnvironment, contract: Contract) -> Option<PathBuf> {
    let newer = contract.version() == Contract::NEWEST;
    let home = places.variables.home.as_ref().map(Path::new);
    checkout_settings(&places.folder, home).filter(|_| newer)
}

/// Finds temporary copies of settings that a killed writer left behind. They may contain tokens, as settings do.
pub(crate) fn find_leftovers(layers: &[SettingsLayer], now: Time) -> Vec<DoctorFinding> {
    let mut folders: Vec<&Path> = layers
        .iter()
        .filter(|layer| !matches!(layer.whose, SettingsSource::Managed | SettingsSource::Plugin))
        .filter_map(|layer| layer.path.parent())
        .collect();
    folders.sort_unstable();
    folders.dedup();
    let mut findings = Vec::new();
    for entry in folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten() {
        let Ok(entry) = entry else { continue };
        let changed = entry.metadata().and_then(|found| found.modified()).map(Time::from);
        let old = changed.is_ok_and(|changed| now.since(changed) > ABANDONED_FILE_AGE);
        if old && entry.file_name().to_string_lossy().starts_with(TEMP_FILE_PREFIX) {
            let path = entry.path();
            let what = "a killed process left this temporary copy of a settings file";
            let advice = format!("rm {}", shell::quote_word(&path.to_string_lossy()));
            let finding = DoctorFinding::new(&codes::SETTINGS_LEFTOVER, what)
                .with_location(FileLocation::whole_file(&path));
            findings.push(finding.with_advice(advice));
        }
    }
    findings
}

/// Returns the value from the strongest layer that defines it, and its position.
fn strongest_value<'a, T>(
    layers: &'a [SettingsLayer],
    said: impl Fn(&'a ClientDocument, &'a SettingsLayer) -> Option<(T, &'a JsonNode)>,
) -> Option<(T, FileLocation)> {
    layers.iter().find_map(|layer| {
        let document = layer.document.as_deref().filter(|_| layer.state == LayerState::Read)?;
        let (value, node) = said(document, layer)?;
        Some((value, document.location(node.at)))
    })
}

/// Finds settings that disable hooks, after precedence.
pub(crate) fn check_switches(
    layers: &[SettingsLayer],
    places: &ClientEnvironment,
    contract: Contract,
    data: &Path,
) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    let flag = |key: &'static str, managed: bool| {
        strongest_value(layers, move |document, layer| {
            if managed && layer.whose != SettingsSource::Managed {
                return None;
            }
            let node = document.root.get(key)?;
            matches!(node.kind, JsonKind::Bool(_))
                .then_some((node.kind == JsonKind::Bool(true), node))
        })
    };
    if let Some((true, place)) = flag("disableAllHooks", false) {
        let what = "`disableAllHooks` is true here, and no settings of higher precedence change that: \
             no hook runs";
        findings.push(DoctorFinding::new(&codes::HOOKS_DISABLED, what).with_location(place));
    }
    let ours_managed = layers
        .iter()
        .any(|layer| layer.whose == SettingsSource::Managed && !layer.entries.is_empty());
    if let Some((true, place)) = flag("allowManagedHooksOnly", true).filter(|_| !ours_managed) {
        let what = "`allowManagedHooksOnly`: only hooks of the organisation run";
        findings.push(DoctorFinding::new(&codes::HOOKS_MANAGED_ONLY, what).with_location(place));
    }
    let locked = strongest_value(layers, |document, layer| {
        let node = document.root.get("strictPluginOnlyCustomization")?;
        let locks = match &node.kind {
            JsonKind::Bool(locks) => *locks,
            JsonKind::List(surfaces) => {
                surfaces.iter().any(|surface| surface.text() == Some("hooks"))
            }
            _ => false,
        };
        (layer.whose == SettingsSource::Managed).then_some((locks, node))
    });
    if let Some((true, place)) = locked.filter(|_| !ours_managed) {
        let what =
            "`strictPluginOnlyCustomization`: only hooks of plugins run, not those of settings";
        findings.push(DoctorFinding::new(&codes::HOOKS_MANAGED_ONLY, what).with_location(place));
    }
    findings.extend(check_env_settings(layers, places, contract, data));
    findings
}

/// Finds variables in the `env` settings that change the behaviour of hooks.
fn check_env_settings(
    layers: &[SettingsLayer],
    places: &ClientEnvironment,
    contract: Contract,
    data: &Path,
) -> Vec<DoctorFinding> {
    // Measured: the newer client ignores this variable in the settings of a folder.
    let may_simplify = |layer: &SettingsLayer| {
        let of_folder = matches!(
            layer.whose,
            SettingsSource::Local | SettingsSource::Checkout | SettingsSource::Project
        );
        !of_folder || contract.version() < Contract::NEWEST
    };
    let set = |name: &'static str| {
        strongest_value(layers, move |document, layer| {
            let node = document.root.get("env")?.get(name)?;
            if name == SIMPLE_VARIABLE && !may_simplify(layer) {
                return None;
            }
            let text = match &node.kind {
                JsonKind::Text(text) | JsonKind::Number(text) => text.clone(),
                JsonKind::Bool(flag) => flag.to_string(),
                _ => return None,
            };
            Some((text, node))
        })
    };
    let mut findings = Vec::new();
    if let Some((_, place)) = set("RUTTER").filter(|(value, _)| value == "off") {
        let what = "`env` sets RUTTER=off: hooks record nothing and say nothing";
        findings.push(DoctorFinding::new(&codes::ENV_OFF, what).with_location(place));
    }
    if let Some((_, place)) = set(SIMPLE_VARIABLE).filter(|(value, _)| is_truthy(value)) {
        let what = "`env` sets CLAUDE_CODE_SIMPLE: the client runs no hooks";
        findings.push(DoctorFinding::new(&codes::ENV_SIMPLE, what).with_location(place));
    }
    let names = ["RUTTER_HOME", "XDG_DATA_HOME", "HOME"];
    let said = names.map(|name| set(name).map(|(value, place)| (name, value, place)));
    let here = &places.variables;
    let [home, data_home, user] =
        [(&said[0], &here.rutter_home), (&said[1], &here.data_home), (&said[2], &here.home)].map(
            |(said, here)| match said {
                Some((_, value, _)) => Some(PathBuf::from(value)),
                None => here.as_ref().map(PathBuf::from),
            },
        );
    // The same rule by which hooks find their data directory; see `crate::environment`.
    let there = home.filter(|home| !home.as_os_str().is_empty()).or_else(|| {
        data_home
            .filter(|folder| folder.is_absolute())
            .or_else(|| {
                user.filter(|user| user.is_absolute()).map(|user| user.join(".local/share"))
            })
            .map(|folder| folder.join("rutter"))
    });
    let moved = there.is_some_and(|there| places.folder.join(there) != data);
    if let Some((name, _, place)) = said.into_iter().flatten().next().filter(|_| moved) {
        let what = format!(
            "`env` sets {name}: hooks use another memory than the {} of this command",
            data.display()
        );
        findings.push(DoctorFinding::new(&codes::ENV_MOVES, what).with_location(place));
    }
    findings
}
