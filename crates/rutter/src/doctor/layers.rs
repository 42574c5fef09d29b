//! The settings files that a client reads in this folder, the strongest first, and their combined effect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_contract::EventName;
use rutter_contract::javascript::{Kind, Node};
use rutter_contract::version::Contract;
use rutter_memory::Time;
use serde::Serialize;

use super::codes;
use super::document::{Document, Reading};
use super::entry::Entry;
use super::finding::{Finding, Place};
use super::places::{Places, is_yes};
use super::{keys, shape};
use crate::install::{checkout_settings, is_ours, is_same};
use crate::shell;

/// Variable that makes the client run no hooks.
const SIMPLE: &str = "CLAUDE_CODE_SIMPLE";

/// Prefix of the temporary files that `init` writes next to settings files.
const BESIDE: &str = ".rutter-";
/// Age above which such a temporary file counts as abandoned. Writing one takes a moment.
const ABANDONED: Duration = Duration::from_hours(1);

/// The kind of file that a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Whose {
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

impl Whose {
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
pub(crate) enum State {
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
pub(crate) struct Layer {
    pub(crate) whose: Whose,
    pub(crate) path: PathBuf,
    pub(crate) state: State,
    /// Number of entries under `hooks` that the client can load.
    pub(crate) hooks: usize,
    /// Number of loadable entries that run rutter.
    pub(crate) ours: usize,
    /// The loadable entries that run rutter.
    #[serde(skip)]
    pub(crate) entries: Vec<Entry>,
    /// Events of rutter entries that the client cannot load.
    #[serde(skip)]
    pub(crate) lost: Vec<EventName>,
    /// True if the file cannot be parsed but mentions rutter.
    #[serde(skip)]
    pub(crate) may_have_ours: bool,
    #[serde(skip)]
    pub(crate) document: Option<Box<Document>>,
    /// Name of the plugin that contains the file, as `name@marketplace`. None for settings.
    #[serde(skip)]
    pub(crate) plugin: Option<String>,
}

impl Layer {
    /// Reads a settings file, and adds findings for its faults.
    pub(crate) fn read(
        whose: Whose,
        path: &Path,
        plugin: Option<&Path>,
        contract: Contract,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut layer = Self {
            whose,
            path: path.to_owned(),
            state: State::Absent,
            hooks: 0,
            ours: 0,
            entries: Vec::new(),
            lost: Vec::new(),
            may_have_ours: false,
            document: None,
            plugin: None,
        };
        match Reading::of(path) {
            Reading::Absent => {}
            Reading::Blank => layer.state = State::Blank,
            Reading::Void { finding, speaks_of_us } => {
                layer.state = State::Void;
                layer.may_have_ours = speaks_of_us;
                findings.push(*finding);
            }
            Reading::Document(document) => layer.take(document, plugin, contract, findings),
        }
        layer
    }

    fn take(
        &mut self,
        document: Box<Document>,
        plugin: Option<&Path>,
        contract: Contract,
        findings: &mut Vec<Finding>,
    ) {
        if document.replaced {
            let what = "this is not UTF-8: the client replaces what it cannot read";
            let finding = Finding::new(&codes::SETTINGS_NOT_UTF8, what);
            findings.push(finding.at(Place::file(&document.path)));
        }
        findings.extend(document.doubles());
        // The keys of a plugin's file are different.
        let wrong = if plugin.is_none() { keys::examine(&document, contract) } else { Vec::new() };
        let shape = shape::read(&document, contract);
        let void = shape.is_void() || !wrong.is_empty();
        self.state = if void { State::Void } else { State::Read };
        findings.extend(wrong);
        for group in &shape.groups {
            self.hooks += group.entries.len();
            for node in &group.entries {
                let handler = document.value(node);
                if is_ours(&handler) {
                    self.entries.push(Entry {
                        event: group.event,
                        matcher: group.matcher.map(str::to_owned),
                        matcher_place: document.place(group.at),
                        place: document.place(node.at),
                        handler,
                        plugin: plugin.map(Path::to_owned),
                        whose: self.whose,
                    });
                }
            }
        }
        self.ours = self.entries.len();
        let shape::Shape { findings: found, lost, .. } = shape;
        findings.extend(found);
        self.lost = lost;
        self.document = Some(document);
    }

    /// Returns the value of a settings key if the client uses the file. Returns None for plugins, which have other
    /// keys.
    pub(crate) fn get(&self, key: &str) -> Option<(&Document, &Node)> {
        if self.whose == Whose::Plugin {
            return None;
        }
        let document = self.document.as_deref().filter(|_| self.state == State::Read)?;
        Some((document, document.root.get(key)?))
    }
}

/// Reads all settings files except those of plugins, the strongest first.
pub(crate) fn read(places: &Places, contract: Contract, findings: &mut Vec<Finding>) -> Vec<Layer> {
    let mut files: Vec<(Whose, PathBuf)> = Vec::new();
    files.extend(places.managed.iter().map(|path| (Whose::Managed, path.clone())));
    files.push((Whose::Local, places.local()));
    files.extend(checkout(places, contract).map(|path| (Whose::Checkout, path)));
    files.push((Whose::Project, places.project()));
    files.extend(places.user().map(|path| (Whose::User, path)));
    // In the home folder, the project's file and the user's file are the same, even if the paths differ by symbolic
    // links.
    if places.user().is_some_and(|user| is_same(&user, &places.project())) {
        files.retain(|(whose, _)| *whose != Whose::Project);
    }
    files
        .into_iter()
        .map(|(whose, path)| Layer::read(whose, &path, None, contract, findings))
        .collect()
}

/// Returns the local settings of the main checkout if the client version reads them.
fn checkout(places: &Places, contract: Contract) -> Option<PathBuf> {
    let newer = contract.version() == Contract::NEWEST;
    let home = places.variables.home.as_ref().map(Path::new);
    checkout_settings(&places.folder, home).filter(|_| newer)
}

/// Finds temporary copies of settings that a killed writer left behind. They may contain tokens, as settings do.
pub(crate) fn leftovers(layers: &[Layer], now: Time) -> Vec<Finding> {
    let mut folders: Vec<&Path> = layers
        .iter()
        .filter(|layer| !matches!(layer.whose, Whose::Managed | Whose::Plugin))
        .filter_map(|layer| layer.path.parent())
        .collect();
    folders.sort_unstable();
    folders.dedup();
    let mut findings = Vec::new();
    for entry in folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten() {
        let Ok(entry) = entry else { continue };
        let changed = entry.metadata().and_then(|found| found.modified()).map(Time::from);
        let old = changed.is_ok_and(|changed| now.since(changed) > ABANDONED);
        if old && entry.file_name().to_string_lossy().starts_with(BESIDE) {
            let path = entry.path();
            let what = "a process that was killed left this copy of settings behind";
            let advice = format!("rm {}", shell::word(&path.to_string_lossy()));
            let finding = Finding::new(&codes::SETTINGS_LEFTOVER, what).at(Place::file(&path));
            findings.push(finding.advise(advice));
        }
    }
    findings
}

/// Returns the value from the strongest layer that defines it, and its position.
fn decided<'a, T>(
    layers: &'a [Layer],
    said: impl Fn(&'a Document, &'a Layer) -> Option<(T, &'a Node)>,
) -> Option<(T, Place)> {
    layers.iter().find_map(|layer| {
        let document = layer.document.as_deref().filter(|_| layer.state == State::Read)?;
        let (value, node) = said(document, layer)?;
        Some((value, document.place(node.at)))
    })
}

/// Finds settings that disable hooks, after precedence.
pub(crate) fn switches(
    layers: &[Layer],
    places: &Places,
    contract: Contract,
    data: &Path,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let flag = |key: &'static str, managed: bool| {
        decided(layers, move |document, layer| {
            if managed && layer.whose != Whose::Managed {
                return None;
            }
            let node = document.root.get(key)?;
            matches!(node.kind, Kind::Bool(_)).then_some((node.kind == Kind::Bool(true), node))
        })
    };
    if let Some((true, place)) = flag("disableAllHooks", false) {
        let what =
            "`disableAllHooks` is true here and nothing stronger says otherwise: no hook runs";
        findings.push(Finding::new(&codes::HOOKS_DISABLED, what).at(place));
    }
    let ours_managed =
        layers.iter().any(|layer| layer.whose == Whose::Managed && !layer.entries.is_empty());
    if let Some((true, place)) = flag("allowManagedHooksOnly", true).filter(|_| !ours_managed) {
        let what = "`allowManagedHooksOnly`: only hooks of the organisation run";
        findings.push(Finding::new(&codes::HOOKS_MANAGED_ONLY, what).at(place));
    }
    let locked = decided(layers, |document, layer| {
        let node = document.root.get("strictPluginOnlyCustomization")?;
        let locks = match &node.kind {
            Kind::Bool(locks) => *locks,
            Kind::List(surfaces) => surfaces.iter().any(|surface| surface.text() == Some("hooks")),
            _ => false,
        };
        (layer.whose == Whose::Managed).then_some((locks, node))
    });
    if let Some((true, place)) = locked.filter(|_| !ours_managed) {
        let what =
            "`strictPluginOnlyCustomization`: hooks of settings do not run, only those of plugins";
        findings.push(Finding::new(&codes::HOOKS_MANAGED_ONLY, what).at(place));
    }
    findings.extend(environment(layers, places, contract, data));
    findings
}

/// Finds variables in the `env` settings that change the behaviour of hooks.
fn environment(layers: &[Layer], places: &Places, contract: Contract, data: &Path) -> Vec<Finding> {
    // Measured: the newer client ignores this variable in the settings of a folder.
    let may_simplify = |layer: &Layer| {
        let of_folder = matches!(layer.whose, Whose::Local | Whose::Checkout | Whose::Project);
        !of_folder || contract.version() < Contract::NEWEST
    };
    let set = |name: &'static str| {
        decided(layers, move |document, layer| {
            let node = document.root.get("env")?.get(name)?;
            if name == SIMPLE && !may_simplify(layer) {
                return None;
            }
            let text = match &node.kind {
                Kind::Text(text) | Kind::Number(text) => text.clone(),
                Kind::Bool(flag) => flag.to_string(),
                _ => return None,
            };
            Some((text, node))
        })
    };
    let mut findings = Vec::new();
    if let Some((_, place)) = set("RUTTER").filter(|(value, _)| value == "off") {
        let what = "`env` sets RUTTER=off: hooks neither record nor say anything";
        findings.push(Finding::new(&codes::ENV_OFF, what).at(place));
    }
    if let Some((_, place)) = set(SIMPLE).filter(|(value, _)| is_yes(value)) {
        let what = "`env` sets CLAUDE_CODE_SIMPLE: the client runs no hooks";
        findings.push(Finding::new(&codes::ENV_SIMPLE, what).at(place));
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
        findings.push(Finding::new(&codes::ENV_MOVES, what).at(place));
    }
    findings
}
