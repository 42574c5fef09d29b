//! The files on top of each other.

use std::path::Path;

use super::file::{self, Unread};
use super::finding::{Finding, Mistake, shown};
use super::keys::{KEYS, Key, LIGHT, RICH, Rule, Value};
use super::layer::Layer;
use super::{Config, ContextDepth, exclude, trust};
use rutter_redact::choice;

/// What the file of a project is called, in the root of the checkout.
pub const PROJECT_FILE: &str = ".rutter.toml";

choice! {
    /// Where a value comes from.
    #[derive(Default)]
    Origin, "origin" {
        /// Nobody has set it.
        #[default]
        Default = "default",
        /// The user's file.
        User = "user",
        /// The file of the project.
        Project = "project",
    }
}

choice! {
    /// How the file of the project stands.
    #[derive(Default)]
    Standing, "standing" {
        /// There is none, or it cannot be read.
        #[default]
        Absent = "absent",
        /// It may do less, and nothing more.
        Untrusted = "untrusted",
        /// It was looked at, and is what it was then.
        Trusted = "trusted",
    }
}

/// A configuration, and what is wrong with the files it comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// What counts.
    pub config: Config,
    /// What does not, and why; by file and line.
    pub findings: Vec<Finding>,
    /// How the file of the project stands.
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
    /// Reads both files. `user` is the user's, `root` the root of the checkout, `data` the folder of the memory, where it is
    /// written down what is trusted.
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

/// The configuration as it is once the file of a project, which says `bytes`, is trusted.
pub fn preview(user: &Path, root: &Path, bytes: &[u8]) -> Loaded {
    let mut loaded = with_user(user);
    loaded.lay_project(root, bytes, Standing::Trusted);
    loaded
}

/// What the file of a project says; nothing where there is none.
pub fn project_bytes(root: &Path) -> Result<Option<Vec<u8>>, Finding> {
    let path = root.join(PROJECT_FILE);
    file::read(&path).map_err(|Unread { what, advice }| {
        Finding::whole(&path, Mistake::Unreadable, &what, advice)
    })
}

/// What is wrong with one file, whoever trusts it. One by the name of a project's is held to what a project may decide.
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
    /// Where the value of a key comes from.
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
        // Compared with what the user has, not with what the lines before have made of it.
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

    /// Puts a file on top. What goes beyond `bound` is not taken.
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

    /// Fills in the defaults that follow from another value.
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
