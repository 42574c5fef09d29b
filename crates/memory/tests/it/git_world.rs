//! Folders with repositories created by the real git.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_memory::project::{LocatedProject, ProjectKey};
use rutter_testkit::CommandOutput;
use rutter_testkit::world::TestWorld;

/// A temporary folder, and a git that ignores all configuration outside it.
pub(crate) struct GitWorld {
    world: TestWorld,
}

impl GitWorld {
    /// Returns None and reports the skipped test if git is not installed.
    pub(crate) fn with_git(what: &str) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            rutter_testkit::skip_test(what, "there is no git");
            return None;
        }
        Some(Self::new())
    }

    pub(crate) fn new() -> Self {
        Self { world: TestWorld::new() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.world.path("").canonicalize().unwrap().join(path)
    }

    pub(crate) fn create_dir(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn run_git(&self, folder: &Path, arguments: &[&str]) -> CommandOutput {
        let mut git = Command::new("git");
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_"))
        {
            git.env_remove(name);
        }
        let git = git
            .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
            .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "safe.bareRepository=all"])
            .args(arguments)
            .current_dir(folder)
            .env("HOME", self.path(""))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        CommandOutput::run(git)
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        self.run_git(folder, arguments).assert_success().stdout.trim_end().to_owned()
    }

    /// Creates a repository with one commit.
    pub(crate) fn repository(&self, path: &str) -> PathBuf {
        let path = self.create_dir(path);
        self.git(&path, &["init", "--quiet"]);
        self.git(&path, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
        path
    }

    pub(crate) fn with_remote(&self, path: &str, url: &str) -> PathBuf {
        let path = self.repository(path);
        self.git(&path, &["remote", "add", "origin", url]);
        path
    }

    /// Returns the project of a folder after comparing root, branch and shared directory with git's answers.
    pub(crate) fn locate_like_git(&self, folder: &Path) -> LocatedProject {
        let located = LocatedProject::find(folder);
        let common = self.git(folder, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let common =
            project_key(format!("git:{}", Path::new(&common).canonicalize().unwrap().display()));
        assert!(
            located.key == common || located.aliases.contains(&common),
            "{located:?} is not {common}"
        );
        let root = self.run_git(folder, &["rev-parse", "--show-toplevel"]);
        if root.exit == Some(0) {
            assert_eq!(located.root, Path::new(root.stdout.trim_end()));
        }
        let branch = self.git(folder, &["branch", "--show-current"]);
        assert_eq!(located.branch.unwrap_or_default(), branch);
        LocatedProject::find(folder)
    }
}

pub(crate) fn project_key(text: impl Into<String>) -> ProjectKey {
    ProjectKey::new(&text.into())
}

pub(crate) fn all_keys(located: &LocatedProject) -> Vec<&str> {
    std::iter::once(&located.key).chain(&located.aliases).map(ProjectKey::as_str).collect()
}

pub(crate) fn git_key(path: &Path) -> String {
    format!("git:{}", path.display())
}

pub(crate) fn folder_key(path: &Path) -> String {
    format!("dir:{}", path.display())
}

/// Returns the key that clones of a bare repository share.
pub(crate) fn mirror_key(path: &Path) -> String {
    format!("file:{}", path.display())
}
