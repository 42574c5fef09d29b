//! Finds the project of a folder, from `.git` files.
//!
//! A hook has a few milliseconds, and starting `git` alone takes most of them, so git's files are parsed here by git's
//! rules: a broken `.git` folder is skipped, and a worktree leads to the repository it shares. Nothing here fails: an
//! unreadable file counts as missing.
//!
//! # Keys
//!
//! | Key | Meaning |
//! |---|---|
//! | `github.com/owner/repo`, `host:2222/path` | a repository with a network remote |
//! | `s3://bucket/path` | the same, for a scheme that only a remote helper of git knows |
//! | `file:/abs/dir.git` | a bare repository on this machine, for its clones |
//! | `git:/abs/dir` | a repository on this machine, by the git directory that its worktrees share |
//! | `dir:/abs/path` | a folder: without git, or with `identity = "path"` |
//!
//! The strongest available key wins. The remote is `origin`, or else the only one; several remotes without an `origin`
//! have nothing in common, so the git directory is used. A remote on this machine counts if it is a bare repository of
//! the user: its clones share a project, and if it was cloned from GitHub itself, the project of that remote. Any other
//! path does not count: a clone of `/home/ada/shop` is not `/home/ada/shop`. All addresses of one repository (HTTPS,
//! SSH, `git@host:path`) give one key, and user names, tokens, queries and fragments never reach it.
//!
//! Paths in keys are absolute, without symbolic links, and unchanged except for `%`, control characters and bytes that
//! are not UTF-8: those become `%XX`, so two different paths never share a key.
//!
//! # Untrusted files
//!
//! Files of a clone or of an archive must not choose the memory that a folder gets. A git directory of another user is
//! not read (`owner.rs`), an embedded bare repository does not count, and a `.git` file or link counts only if the git
//! directory does not belong to another checkout (`git_dir.rs`). [`LocatedProject::ignored`] tells if one of these was
//! skipped. A repository that *claims* a network remote is believed: a fork, a copy and an archive with the same remote
//! share the project. Users who do not want that set `identity = "path"`.
//!
//! # Files that are not read
//!
//! The environment (`GIT_DIR`), `~/.gitconfig` and `/etc/gitconfig` (so an `insteadOf` or a `safe.directory` there does
//! not count), `include` sections, `~/.ssh/config` (a host alias counts as a separate host), branches in a reftable,
//! and a configuration of more than 256 KiB.

mod address;
mod config;
mod git_dir;
mod ignored;
mod owner;
mod place;
mod remote;
mod repository;
mod tracked;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use address::RemoteAddress;
use repository::{Discovery, Repository};
use rutter_redact::{choice, redact};

pub use ignored::IgnoredGitFile;
pub use owner::set_sudo_user;
pub use tracked::{WorkTreeSurvey, changed_files, files_named};

/// Maximum number of repositories on this machine that are followed from clone to origin.
const MAX_ORIGIN_HOPS: usize = 4;

// Starts with the variant that does least: that is how a value of an untrusted configuration is compared.
choice! {
    /// The property that identifies a project.
    #[derive(Default)]
    ProjectIdentity, "identity" {
        /// The path: every checkout, with its linked worktrees, is a separate project.
        Path = "path",
        /// The remote: all checkouts with the same remote are one project.
        #[default]
        Remote = "remote",
    }
}

/// The identity of a project. It contains no credentials and no other text that looks like a secret: every constructor
/// redacts it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProjectKey(String);

impl ProjectKey {
    /// Creates a key from its text. If the name of a folder looks like a secret and is redacted, a checksum keeps the
    /// key distinct: two projects must not become one because both were redacted.
    pub fn new(text: &str) -> Self {
        let clean = redact(text);
        if clean == text {
            return Self(text.to_owned());
        }
        let sum = rutter_redact::checksum::fnv1a(text.as_bytes());
        Self(format!("{clean}#{sum:016x}"))
    }

    /// Returns true if the key is the path of a folder.
    pub fn is_folder(&self) -> bool {
        // A remote may have a scheme of that name: `dir://host/path`.
        self.0.starts_with("dir:/") && !self.0.starts_with("dir://")
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_git_dir(common_dir: &Path) -> Self {
        Self::new(&format!("git:{}", place::spell_path(common_dir)))
    }

    /// Returns the key that clones of a bare repository on this machine share. The repository itself has another key,
    /// which its worktrees use.
    fn from_bare_repository(common_dir: &Path) -> Self {
        Self::new(&format!("file:{}", place::spell_path(common_dir)))
    }

    pub(crate) fn from_folder(path: &Path) -> Self {
        Self::new(&format!("dir:{}", place::spell_path(path)))
    }
}

impl<'de> Deserialize<'de> for ProjectKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&Cow::<'de, str>::deserialize(deserializer)?))
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The project and checkout of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedProject {
    /// The strongest available key.
    pub key: ProjectKey,
    /// Weaker keys of the same place, strongest first: the git directories behind a remote, the canonical path. They
    /// are the same in every worktree.
    ///
    /// They identify a project that was known by one of them before it got a stronger key. They do not identify a
    /// project that already has a stronger key: a folder can contain one clone today and another tomorrow.
    pub aliases: Vec<ProjectKey>,
    /// The folder of the work tree (or the folder itself without git), canonical.
    pub root: PathBuf,
    /// The folder that represents the checkout and all its linked worktrees: the main one, or the bare repository that
    /// they share. Canonical; without git the same as `root`.
    pub home: PathBuf,
    /// A short name for users: last part of the remote, or else of the folder.
    pub name: String,
    /// The branch checked out, or `None` if detached or without git.
    pub branch: Option<String>,
    /// A file of git that would have mattered here and was skipped.
    pub ignored: Option<IgnoredGitFile>,
}

impl LocatedProject {
    /// Finds the project of a folder. If the folder no longer exists, the existing part of its path decides.
    pub fn find(folder: &Path) -> Self {
        let folder = place::canonical_folder(folder);
        let repository = match repository::discover(&folder) {
            Discovery::Repository(repository) => repository,
            Discovery::Broken(folder, ignored) => return Self::without_git(folder, ignored),
            Discovery::Nothing(ignored) => return Self::without_git(folder, ignored),
        };
        let (mut keys, name) = project_keys(&repository);
        keys.push(ProjectKey::from_folder(&repository.home));
        Self {
            key: keys.remove(0),
            aliases: keys,
            root: repository.root,
            home: repository.home,
            name,
            branch: repository.branch,
            ignored: repository.ignored,
        }
    }

    /// Finds the project of the current folder of a client's shell.
    ///
    /// A repository below the checkout in which the client was started is part of that checkout's project: a file of
    /// the project, a submodule for example, or a command of the session chose its remote, and must not choose a
    /// project with it. Linked worktrees of the same repository keep their own folder. Without git every folder would
    /// be a separate project; the same rule gives them the project of the folder in which the client was started.
    pub fn find_from(folder: &Path, started_in: Option<&Path>) -> Self {
        let located = Self::find(folder);
        let Some(start) = started_in.filter(|start| start.is_absolute() && *start != folder) else {
            return located;
        };
        let start = Self::find(start);
        let is_nested = located.root != start.root && located.root.starts_with(&start.root);
        if is_nested && located.home != start.home { start } else { located }
    }

    /// Applies the configured identity. With `ProjectIdentity::Path` the checkout and its linked worktrees are a separate
    /// project, regardless of the remote.
    #[must_use]
    pub fn identified_by(self, identity: ProjectIdentity) -> Self {
        if identity == ProjectIdentity::Remote || self.aliases.is_empty() {
            return self;
        }
        // A project that was known by the git directory alone stays the same.
        let is_own = |key: &ProjectKey| key.0.starts_with("git:/");
        let aliases = std::iter::once(self.key).chain(self.aliases).filter(is_own).collect();
        Self {
            key: ProjectKey::from_folder(&self.home),
            aliases,
            name: repository::repository_name(&self.home),
            ..self
        }
    }

    fn without_git(folder: PathBuf, ignored: Option<IgnoredGitFile>) -> Self {
        Self {
            key: ProjectKey::from_folder(&folder),
            aliases: Vec::new(),
            name: place::last_name(&folder),
            home: folder.clone(),
            root: folder,
            branch: None,
            ignored,
        }
    }
}

/// A git work tree, for callers that keep a file out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// Folder of the work tree, canonical.
    pub root: PathBuf,
    /// The git directory that it shares with other worktrees of its repository, canonical.
    pub common_dir: PathBuf,
}

impl WorkTree {
    /// Returns the work tree that contains a folder. Returns None without a valid git repository, and inside a git
    /// directory, which belongs to no work tree.
    pub fn containing(folder: &Path) -> Option<Self> {
        let folder = place::canonical_folder(folder);
        let Discovery::Repository(Repository { root, common_dir, .. }) =
            repository::discover(&folder)
        else {
            return None;
        };
        (folder.starts_with(&root) && !folder.starts_with(&common_dir))
            .then_some(Self { root, common_dir })
    }
}

/// Returns the keys of a repository, strongest first, and its name for users. Always at least one key.
fn project_keys(repository: &Repository) -> (Vec<ProjectKey>, String) {
    let mut keys = vec![ProjectKey::from_git_dir(&repository.common_dir)];
    let mut name = repository.name();
    let mut origin: Option<Repository> = None;
    for _ in 0..MAX_ORIGIN_HOPS {
        let clone = origin.as_ref().unwrap_or(repository);
        let address =
            remote::choose_remote_url(&clone.config).and_then(|url| RemoteAddress::parse(&url));
        let path = match address {
            None => break,
            Some(RemoteAddress::Network { key, name: last }) => {
                keys.push(ProjectKey::new(&key));
                name = last;
                break;
            }
            Some(RemoteAddress::Local(path)) => clone.home.join(path),
        };
        let Some(next) = Repository::open_bare(&path) else { break };
        let key = ProjectKey::from_bare_repository(&next.common_dir);
        // Two repositories are each other's origin.
        if keys.contains(&key) {
            break;
        }
        keys.push(key);
        name = next.name();
        origin = Some(next);
    }
    keys.reverse();
    (keys, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_text() {
        let key = ProjectKey::new("github.com/o/r");
        assert_eq!(key.to_string(), "github.com/o/r");
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(json, "\"github.com/o/r\"");
        assert_eq!(serde_json::from_str::<ProjectKey>(&json).unwrap(), key);
    }

    #[test]
    fn folder_without_git_is_project() {
        let located = LocatedProject::find(Path::new("/"));
        assert_eq!(located.key.as_str(), "dir:/");
        assert_eq!((located.name.as_str(), located.branch), ("/", None));
        assert!(located.aliases.is_empty());
    }
}
