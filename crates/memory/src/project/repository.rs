//! Finds the repository of a folder like git does.

use std::path::{Path, PathBuf};

use super::config::GitConfig;
use super::git_dir::{DotGit, GitDir, canonical_or_given};
use super::{IgnoredGitFile, place};

/// A repository, seen from one of its work trees. Paths are canonical.
pub(super) struct Repository {
    /// The folder of the work tree; for a bare repository, the git directory.
    pub(super) root: PathBuf,
    /// The folder that represents all its worktrees: the main one, or the bare repository.
    pub(super) home: PathBuf,
    /// The git directory that its worktrees share.
    pub(super) common_dir: PathBuf,
    /// The git directory of this work tree.
    git_dir: PathBuf,
    /// The branch checked out here.
    pub(super) branch: Option<String>,
    /// The configuration of the repository.
    pub(super) config: GitConfig,
    /// A configuration that exceeds the size limit.
    pub(super) ignored: Option<IgnoredGitFile>,
}

/// The result of a search from a folder upwards.
pub(super) enum Discovery {
    Repository(Repository),
    /// A folder with a `.git` file that has no valid target or leads to another checkout. In the first case git gives
    /// up and does not use the repository around it, so the folder is a separate place.
    Broken(PathBuf, Option<IgnoredGitFile>),
    /// No repository, or one of another user.
    Nothing(Option<IgnoredGitFile>),
}

/// Searches a folder and its parents for a repository.
pub(super) fn discover(folder: &Path) -> Discovery {
    for around in folder.ancestors() {
        match DotGit::inspect(around) {
            DotGit::Leads(git_dir) => {
                return match Repository::open_work_tree(git_dir, around) {
                    Ok(repository) => Discovery::Repository(repository),
                    Err(ignored) => Discovery::Broken(around.to_owned(), Some(ignored)),
                };
            }
            DotGit::Broken => return Discovery::Broken(around.to_owned(), None),
            // Another user can put a `.git` into a shared folder, such as `/tmp`. It must not make everything below one
            // project.
            DotGit::Ignored(ignored) => return Discovery::Nothing(Some(ignored)),
            DotGit::Absent => {}
        }
        // The inside of a `.git`. A bare repository does not count, as with git's `safe.bareRepository=explicit`: a
        // clone can contain its files, and would choose the memory that it is given. A clone cannot contain a folder
        // named `.git`.
        if around.components().any(|part| part.as_os_str() == ".git") {
            match Repository::open_git_dir(around) {
                Ok(Some(repository)) => return Discovery::Repository(repository),
                Ok(None) => {}
                Err(ignored) => return Discovery::Nothing(Some(ignored)),
            }
        }
    }
    Discovery::Nothing(None)
}

impl Repository {
    /// Opens the bare repository that git would fetch from, given this path. It has to belong to the user, and must not
    /// be a folder inside of a checkout: a clone can contain such a folder.
    pub(super) fn open_bare(path: &Path) -> Option<Self> {
        let mut with_suffix = path.as_os_str().to_owned();
        with_suffix.push(".git");
        for folder in [path, Path::new(&with_suffix)] {
            if !matches!(DotGit::inspect(folder), DotGit::Absent) {
                return None;
            }
            let Some(repository) = Self::open_git_dir(folder).ok()? else { continue };
            let is_embedded = match discover(&repository.common_dir) {
                Discovery::Repository(around) => around.common_dir != repository.common_dir,
                Discovery::Nothing(None) => false,
                Discovery::Broken(..) | Discovery::Nothing(Some(_)) => true,
            };
            return (repository.config.is_true(b"core.bare") && !is_embedded).then_some(repository);
        }
        None
    }

    /// Returns a short name for users.
    pub(super) fn name(&self) -> String {
        repository_name(&self.home)
    }

    /// Opens the repository of a folder with a `.git` that leads to a git directory.
    fn open_work_tree(git_dir: GitDir, folder: &Path) -> Result<Self, IgnoredGitFile> {
        let (config, too_large) = git_dir.read_config();
        if !git_dir.belongs_to(folder, &config) {
            return Err(IgnoredGitFile::OtherCheckout(folder.join(".git")));
        }
        Ok(Self::new(git_dir, canonical_or_given(folder), config, too_large))
    }

    /// Opens the repository with its git directory at a path, if there is one.
    fn open_git_dir(path: &Path) -> Result<Option<Self>, IgnoredGitFile> {
        let Some(git_dir) = GitDir::open(path, true) else { return Ok(None) };
        if !git_dir.is_owned() {
            return Err(IgnoredGitFile::ForeignOwner(path.to_owned()));
        }
        let (config, too_large) = git_dir.read_config();
        let root = git_dir.work_tree(&config);
        Ok(Some(Self::new(git_dir, root, config, too_large)))
    }

    fn new(git_dir: GitDir, root: PathBuf, config: GitConfig, too_large: Option<PathBuf>) -> Self {
        let common_dir = canonical_or_given(&git_dir.common);
        let home = match common_dir.parent() {
            _ if !git_dir.is_linked => root.clone(),
            Some(main) if common_dir.ends_with(".git") => main.to_owned(),
            _ => common_dir.clone(),
        };
        let GitDir { path: git_dir, branch, .. } = git_dir;
        let ignored = too_large.map(IgnoredGitFile::LargeConfig);
        Self { root, home, common_dir, git_dir, branch, config, ignored }
    }
}

/// Returns the name of a repository in this folder: `x` for `/srv/x`, `/srv/x.git` and `/srv/x/.bare`.
pub(super) fn repository_name(folder: &Path) -> String {
    let name = place::last_name(folder);
    let plain = name.strip_suffix(".git").unwrap_or(&name);
    match folder.parent() {
        Some(parent) if plain.is_empty() || plain == ".bare" => place::last_name(parent),
        _ => plain.to_owned(),
    }
}

/// Returns the index of a work tree, and the length of its hashes.
pub(super) fn find_index(work_tree: &Path) -> Option<(PathBuf, usize)> {
    let DotGit::Leads(git_dir) = DotGit::inspect(work_tree) else { return None };
    let Repository { git_dir, config, .. } = Repository::open_work_tree(git_dir, work_tree).ok()?;
    let is_sha256 =
        config.last_value(b"extensions.objectformat").is_some_and(|name| name == b"sha256");
    Some((git_dir.join("index"), if is_sha256 { 32 } else { 20 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_name_skips_git_suffixes() {
        for (folder, name) in [
            ("/srv/x", "x"),
            ("/srv/x.git", "x"),
            ("/srv/x/.git", "x"),
            ("/srv/x/.bare", "x"),
            ("/srv/.dotfiles", ".dotfiles"),
            ("/", "/"),
        ] {
            assert_eq!(repository_name(Path::new(folder)), name, "{folder}");
        }
    }
}
