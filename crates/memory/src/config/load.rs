//! Loads and combines the configuration files.

use std::path::Path;

use super::file::{self, ConfigFileError, PROJECT_FILE};
use super::finding::{ConfigFinding, ConfigMistake, shorten_name};
use super::keys::{ConfigKey, ConfigValue, KEYS, ProjectRule};
use super::layer::{ConfigLayer, PROJECTS_TABLE};
use super::{Config, GateMode, exclude, trust};
use crate::project::{LocatedProject, ProjectKey};
use rutter_redact::choice;

choice! {
    /// The source of a value.
    #[derive(Default)]
    SettingOrigin, "origin" {
        /// The built-in default.
        #[default]
        Default = "default",
        /// The user's file.
        User = "user",
        /// The file of the project.
        Project = "project",
    }
}

choice! {
    /// The trust in the project file.
    #[derive(Default)]
    ProjectFileTrust, "standing" {
        /// The file does not exist or cannot be read.
        #[default]
        Absent = "absent",
        /// The file may only make Rutter do less.
        Untrusted = "untrusted",
        /// The user has trusted it, and it has not changed since.
        Trusted = "trusted",
    }
}

/// A configuration, and the mistakes in its files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedConfig {
    /// The effective configuration.
    pub config: Config,
    /// The mistakes, by file and line.
    pub findings: Vec<ConfigFinding>,
    /// The trust in the project file.
    pub project: ProjectFileTrust,
    origins: SettingOrigins,
}

#[derive(Debug, Clone, PartialEq)]
struct SettingOrigins([SettingOrigin; KEYS.len()]);

impl Default for SettingOrigins {
    fn default() -> Self {
        Self([SettingOrigin::Default; KEYS.len()])
    }
}

impl Config {
    /// Loads both files. `user` is the user's file, `root` the root of the checkout, `data` the data directory, which
    /// has the list of trusted files.
    pub fn load(user: &Path, root: Option<&Path>, data: &Path) -> LoadedConfig {
        let mut loaded = load_user_config(user, root);
        if let Some(root) = root {
            let path = root.join(PROJECT_FILE);
            if let Some(bytes) = loaded.read_or_report(&path) {
                let trusted = trust::is_trusted(data, root, &bytes);
                let standing =
                    if trusted { ProjectFileTrust::Trusted } else { ProjectFileTrust::Untrusted };
                loaded.apply_project_file(root, &bytes, standing);
            }
        }
        loaded
    }
}

/// Returns the configuration that would result from trusting a project file with the content `bytes`.
pub fn preview_trusted(user: &Path, root: &Path, bytes: &[u8]) -> LoadedConfig {
    let mut loaded = load_user_config(user, Some(root));
    loaded.apply_project_file(root, bytes, ProjectFileTrust::Trusted);
    loaded
}

/// Reads the project file. Returns None if it does not exist.
pub fn read_project_file(root: &Path) -> Result<Option<Vec<u8>>, ConfigFinding> {
    let path = root.join(PROJECT_FILE);
    file::read_config_file(&path).map_err(|ConfigFileError { what, advice }| {
        ConfigFinding::for_file(&path, ConfigMistake::Unreadable, &what, advice)
    })
}

/// Returns the mistakes in one file, regardless of trust. A file with the name of a project file is checked against the
/// limits of projects.
pub fn check_file(path: &Path) -> Vec<ConfigFinding> {
    let mut loaded = LoadedConfig::default();
    match loaded.read_or_report(path) {
        Some(bytes) => {
            let origin = match path.file_name() {
                Some(name) if name == PROJECT_FILE => SettingOrigin::Project,
                _ => SettingOrigin::User,
            };
            loaded.apply_layer(path, ConfigLayer::parse(path, &bytes), origin, None, |_, _| {});
        }
        None if loaded.findings.is_empty() => loaded.findings.push(ConfigFinding::for_file(
            path,
            ConfigMistake::Unreadable,
            "there is no such file",
            "`rutter config path` prints the paths of the configuration files",
        )),
        None => {}
    }
    loaded.findings
}

fn load_user_config(user: &Path, root: Option<&Path>) -> LoadedConfig {
    let mut loaded = LoadedConfig::default();
    if let Some(bytes) = loaded.read_or_report(user) {
        let mut layer = ConfigLayer::parse(user, &bytes);
        let projects = std::mem::take(&mut layer.projects);
        loaded.apply_layer(user, layer, SettingOrigin::User, None, |_, _| {});
        if let Some(root) = root.filter(|_| !projects.is_empty()) {
            let located = LocatedProject::find(root);
            for table in projects.into_iter().filter(|table| names_project(&table.name, &located)) {
                let layer = ConfigLayer { entries: table.entries, ..ConfigLayer::default() };
                loaded.apply_layer(user, layer, SettingOrigin::User, None, |_, _| {});
            }
        }
    }
    loaded
}

/// Returns true if a key could switch off a gate of the user: in an excluded folder, Rutter does nothing.
fn escapes_gate(bound: &Config, key: &ConfigKey) -> bool {
    bound.gates.tests_first.mode != GateMode::Off && (key.section, key.name) == ("scope", "exclude")
}

/// Returns true if the name of a table is a key of the project, or its folder.
fn names_project(name: &str, project: &LocatedProject) -> bool {
    let keys = std::iter::once(&project.key).chain(&project.aliases);
    keys.map(ProjectKey::as_str).any(|key| key == name || key.strip_prefix("dir:") == Some(name))
        || project.root.to_str() == Some(name)
}

impl LoadedConfig {
    /// Returns the source of a key's value.
    pub fn origin(&self, key: &ConfigKey) -> SettingOrigin {
        let place = KEYS.iter().position(|known| std::ptr::eq(known, key));
        place.map(|place| self.origins.0[place]).unwrap_or_default()
    }

    fn read_or_report(&mut self, path: &Path) -> Option<Vec<u8>> {
        file::read_config_file(path).unwrap_or_else(|ConfigFileError { what, advice }| {
            self.findings.push(ConfigFinding::for_file(
                path,
                ConfigMistake::Unreadable,
                &what,
                advice,
            ));
            None
        })
    }

    fn apply_project_file(&mut self, root: &Path, bytes: &[u8], standing: ProjectFileTrust) {
        let path = root.join(PROJECT_FILE);
        self.project = standing;
        // Compared with the user's values, not with those that earlier lines of this file have set.
        let bound = (standing != ProjectFileTrust::Trusted).then(|| self.config.clone());
        let layer = ConfigLayer::parse(&path, bytes);
        self.apply_layer(&path, layer, SettingOrigin::Project, bound.as_ref(), |key, value| {
            if let (("scope", "exclude"), ConfigValue::Words(words)) =
                ((key.section, key.name), value)
            {
                for word in words {
                    *word = exclude::anchor_pattern(root, word);
                }
            }
        });
    }

    /// Applies the settings of a file. Rejects values that go beyond `bound`.
    fn apply_layer(
        &mut self,
        path: &Path,
        layer: ConfigLayer,
        origin: SettingOrigin,
        bound: Option<&Config>,
        prepare: impl Fn(&ConfigKey, &mut ConfigValue),
    ) {
        let before = self.findings.len();
        self.findings.extend(layer.findings);
        if origin == SettingOrigin::Project {
            self.findings.extend(layer.projects.iter().map(|table| ConfigFinding {
                file: path.to_owned(),
                position: Some(table.position),
                mistake: ConfigMistake::UserOnly,
                key: Some(shorten_name(&format!("{PROJECTS_TABLE}.{}", table.name))),
                what: format!("a project file cannot set `{PROJECTS_TABLE}`"),
                advice: "set it in your own file".to_owned(),
            }));
        }
        for mut entry in layer.entries {
            let key = &KEYS[entry.key];
            let is_project = origin == SettingOrigin::Project;
            let refused = if is_project && key.rule == ProjectRule::User {
                Some((
                    ConfigMistake::UserOnly,
                    "all projects share one memory; set it in your own file",
                ))
            } else if is_project
                && key.rule == ProjectRule::Narrow
                && !key.narrows(&self.config, &entry.value)
            {
                Some((ConfigMistake::UserOnly, "set it in your own file"))
            } else if bound
                .is_some_and(|bound| !key.narrows(bound, &entry.value) || escapes_gate(bound, key))
            {
                Some((
                    ConfigMistake::NotTrusted,
                    "`rutter trust` shows the requested changes, and trusts the file",
                ))
            } else {
                None
            };
            let Some((mistake, advice)) = refused else {
                prepare(key, &mut entry.value);
                key.set(&mut self.config, entry.value);
                self.origins.0[entry.key] = origin;
                continue;
            };
            let key = key.path();
            let what = if mistake == ConfigMistake::UserOnly {
                format!("a project file cannot set `{key}`")
            } else {
                let wanted = shorten_name(&entry.value.to_string());
                format!("`{key} = {wanted}` needs a trusted file")
            };
            self.findings.push(ConfigFinding {
                file: path.to_owned(),
                position: Some(entry.position),
                mistake,
                key: Some(key),
                what,
                advice: advice.to_owned(),
            });
        }
        self.findings[before..].sort_by_key(|finding| finding.position);
        self.fill_dependent_defaults();
    }

    /// Sets the defaults that depend on another value.
    fn fill_dependent_defaults(&mut self) {
        let hook = &mut self.config.hooks.user_prompt_submit;
        let (budget, limit) = hook.context_depth.limits();
        for (place, key) in KEYS.iter().enumerate() {
            if key.section == "hooks.user_prompt_submit"
                && self.origins.0[place] == SettingOrigin::Default
            {
                match key.name {
                    "token_budget" => hook.token_budget = budget,
                    "limit" => hook.limit = limit,
                    _ => {}
                }
            }
        }
    }
}
