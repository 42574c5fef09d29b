//! Loads and combines the configuration files.

use std::path::Path;

use super::file::{self, Unread};
use super::finding::{Finding, Mistake, shown};
use super::keys::{KEYS, Key, LIGHT, RICH, Rule, Value};
use super::layer::Layer;
use super::{Config, ContextDepth, exclude, trust};
use rutter_redact::choice;

/// Name of the project file, in the root of the checkout.
pub const PROJECT_FILE: &str = ".rutter.toml";

choice! {
    /// The source of a value.
    #[derive(Default)]
    Origin, "origin" {
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
    Standing, "standing" {
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
pub struct Loaded {
    /// The effective configuration.
    pub config: Config,
    /// The mistakes, by file and line.
    pub findings: Vec<Finding>,
    /// The trust in the project file.
    pub project: Standing,
    origins: Origins,
}

#[derive(Debug, Clone, PartialEq)]
struct Origins([Origin; KEYS.len()]);

impl Default for Origins {
    fn default() -> Self {
        Self([Origin::Default; KEYS.len()])
    }
}

impl Config {
    /// Loads both files. `user` is the user's file, `root` the root of the checkout, `data` the data directory, which
    /// has the list of trusted files.
    pub fn load(user: &Path, root: Option<&Path>, data: &Path) -> Loaded {
        let mut loaded = with_user(user);
        if let Some(root) = root {
            let path = root.join(PROJECT_FILE);
            if let Some(bytes) = loaded.read(&path) {
                let trusted = trust::is_trusted(data, root, &bytes);
                let standing = if trusted { Standing::Trusted } else { Standing::Untrusted };
                loaded.lay_project(root, &bytes, standing);
            }
        }
        loaded
    }
}

/// Returns the configuration that would result from trusting a project file with the content `bytes`.
pub fn preview(user: &Path, root: &Path, bytes: &[u8]) -> Loaded {
    let mut loaded = with_user(user);
    loaded.lay_project(root, bytes, Standing::Trusted);
    loaded
}

/// Reads the project file. Returns None if it does not exist.
pub fn project_bytes(root: &Path) -> Result<Option<Vec<u8>>, Finding> {
    let path = root.join(PROJECT_FILE);
    file::read(&path).map_err(|Unread { what, advice }| {
        Finding::whole(&path, Mistake::Unreadable, &what, advice)
    })
}

/// Returns the mistakes in one file, regardless of trust. A file with the name of a project file is checked against the
/// limits of projects.
pub fn check(path: &Path) -> Vec<Finding> {
    let mut loaded = Loaded::default();
    match loaded.read(path) {
        Some(bytes) => {
            let origin = match path.file_name() {
                Some(name) if name == PROJECT_FILE => Origin::Project,
                _ => Origin::User,
            };
            loaded.lay(path, Layer::parse(path, &bytes), origin, None, |_, _| {});
        }
        None if loaded.findings.is_empty() => loaded.findings.push(Finding::whole(
            path,
            Mistake::Unreadable,
            "there is no such file",
            "`rutter config path` says where they are looked for",
        )),
        None => {}
    }
    loaded.findings
}

fn with_user(user: &Path) -> Loaded {
    let mut loaded = Loaded::default();
    if let Some(bytes) = loaded.read(user) {
        loaded.lay(user, Layer::parse(user, &bytes), Origin::User, None, |_, _| {});
    }
    loaded
}

impl Loaded {
    /// Returns the source of a key's value.
    pub fn origin(&self, key: &Key) -> Origin {
        let place = KEYS.iter().position(|known| std::ptr::eq(known, key));
        place.map(|place| self.origins.0[place]).unwrap_or_default()
    }

    fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        file::read(path).unwrap_or_else(|Unread { what, advice }| {
            self.findings.push(Finding::whole(path, Mistake::Unreadable, &what, advice));
            None
        })
    }

    fn lay_project(&mut self, root: &Path, bytes: &[u8], standing: Standing) {
        let path = root.join(PROJECT_FILE);
        self.project = standing;
        // Compared with the user's values, not with those that earlier lines of this file have set.
        let bound = (standing != Standing::Trusted).then(|| self.config.clone());
        let layer = Layer::parse(&path, bytes);
        self.lay(&path, layer, Origin::Project, bound.as_ref(), |key, value| {
            if let (("scope", "exclude"), Value::Words(words)) = ((key.section, key.name), value) {
                for word in words {
                    *word = exclude::anchored(root, word);
                }
            }
        });
    }

    /// Applies the settings of a file. Rejects values that go beyond `bound`.
    fn lay(
        &mut self,
        path: &Path,
        layer: Layer,
        origin: Origin,
        bound: Option<&Config>,
        prepare: impl Fn(&Key, &mut Value),
    ) {
        let before = self.findings.len();
        self.findings.extend(layer.findings);
        for mut entry in layer.entries {
            let key = &KEYS[entry.key];
            let is_project = origin == Origin::Project;
            let refused = if is_project && key.rule == Rule::User {
                Some((
                    Mistake::UserOnly,
                    "there is one memory for all projects; set it in your own file",
                ))
            } else if is_project
                && key.rule == Rule::Narrow
                && !key.narrows(&self.config, &entry.value)
            {
                Some((Mistake::UserOnly, "set it in your own file"))
            } else if bound.is_some_and(|bound| !key.narrows(bound, &entry.value)) {
                Some((
                    Mistake::NotTrusted,
                    "`rutter trust` shows what the file wants, and lets it have it",
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
            let what = if mistake == Mistake::UserOnly {
                format!("a project cannot decide `{key}`")
            } else {
                let wanted = shown(&entry.value.to_string());
                format!("`{key} = {wanted}` is more than a file that is not trusted may have")
            };
            self.findings.push(Finding {
                file: path.to_owned(),
                position: Some(entry.position),
                mistake,
                key: Some(key),
                what,
                advice: advice.to_owned(),
            });
        }
        self.findings[before..].sort_by_key(|finding| finding.position);
        self.settle();
    }

    /// Sets the defaults that depend on another value.
    fn settle(&mut self) {
        let hook = &mut self.config.hooks.user_prompt_submit;
        let (budget, limit) = match hook.context_depth {
            ContextDepth::Light => LIGHT,
            ContextDepth::Rich => RICH,
        };
        for (place, key) in KEYS.iter().enumerate() {
            if key.section == "hooks.user_prompt_submit" && self.origins.0[place] == Origin::Default
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
