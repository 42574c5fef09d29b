//! The files of a project, looked at one by one.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file_role::{is_foreign_folder, is_test_folder, is_test_name};
use crate::language::Language;
use crate::test_places::join;

/// Maximum number of directory entries that a search reads.
const MAX_ENTRIES: usize = 250;
/// Maximum number of tests that a search returns.
const MAX_TESTS: usize = 200;
/// Largest file that is read.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Files that make a folder a package.
const MANIFESTS: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "Package.swift",
    "deno.json",
];

/// A project on disk. Nothing is read before it is asked for.
#[derive(Debug, Clone)]
pub struct ProjectTree {
    root: PathBuf,
}

impl ProjectTree {
    /// Creates the tree of a project. `root` is its folder, without symbolic links.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the path of a file relative to the root, with `..` and symbolic links resolved, or None if it is outside. The
    /// file itself may not exist.
    pub fn relative_path(&self, path: &Path, folder: &Path) -> Option<String> {
        let whole = if path.is_absolute() { path.to_owned() } else { folder.join(path) };
        // The client writes through a link to a file. A folder that does not exist yet has no links.
        let resolved = resolve(&whole)?;
        let inside = resolved.strip_prefix(&self.root).ok()?;
        inside.to_str().filter(|inside| !inside.is_empty()).map(str::to_owned)
    }

    /// Returns true if the project has this file.
    pub fn has_file(&self, path: &str) -> bool {
        self.root.join(path).metadata().is_ok_and(|found| found.is_file())
    }

    /// Returns true if the project has this folder.
    pub fn has_folder(&self, path: &str) -> bool {
        self.root.join(path).metadata().is_ok_and(|found| found.is_dir())
    }

    /// Returns the text of a file, or None if it does not exist or is not a text of reasonable size.
    pub fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let found = path.metadata().ok()?;
        (found.is_file() && found.len() <= MAX_FILE_BYTES).then_some(())?;
        fs::read_to_string(path).ok()
    }

    /// Returns the folders above a file that have a manifest, the nearest first.
    pub fn packages(&self, path: &str) -> Vec<String> {
        let mut packages = Vec::new();
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            folder = above;
            if self.is_package(folder) {
                packages.push(folder.to_owned());
            }
        }
        packages
    }

    fn is_package(&self, folder: &str) -> bool {
        MANIFESTS.iter().any(|name| self.has_file(&join(folder, name)))
            || self.has_project_file(folder)
    }

    /// Returns true if a folder has a C# project. Its name is that of the project.
    fn has_project_file(&self, folder: &str) -> bool {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        self.has_file(&join(folder, &format!("{name}.csproj")))
    }

    /// Returns tests of a language in a folder and below it, sorted by breadth and name. Reads a bounded number of entries,
    /// test folders first.
    pub fn find_tests(&self, folder: &str, language: Language) -> Vec<String> {
        let mut tests = Vec::new();
        let mut left = MAX_ENTRIES;
        let is_in_tests = folder.split('/').any(is_test_folder);
        let mut folders = VecDeque::from([(folder.to_owned(), is_in_tests)]);
        while let Some((folder, is_in_tests)) = folders.pop_front() {
            let Ok(entries) = fs::read_dir(self.root.join(&folder)) else { continue };
            let mut names: Vec<(String, bool)> = Vec::new();
            for entry in entries.flatten() {
                let Some(rest) = left.checked_sub(1) else { break };
                left = rest;
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if let Ok(name) = entry.file_name().into_string() {
                    names.push((name, is_folder));
                }
            }
            names.sort();
            for (name, is_folder) in names {
                if is_folder {
                    if is_skipped_folder(&name) {
                        continue;
                    }
                    let is_in_tests = is_in_tests || is_test_folder(&name);
                    let path = join(&folder, &name);
                    if is_in_tests {
                        folders.push_front((path, true));
                    } else {
                        folders.push_back((path, false));
                    }
                } else if is_test_of(&name, is_in_tests, language) {
                    tests.push(join(&folder, &name));
                    if tests.len() >= MAX_TESTS {
                        return tests;
                    }
                }
            }
            if left == 0 {
                break;
            }
        }
        tests
    }
}

/// Returns true if the file of this name is a test of a language.
fn is_test_of(name: &str, is_in_tests: bool, language: Language) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    language.test_extensions().contains(&extension)
        && (is_in_tests || is_test_name(stem, extension))
}

/// Returns true for folders that have no tests of the project.
fn is_skipped_folder(name: &str) -> bool {
    name.starts_with('.') || is_foreign_folder(name)
}

/// Resolves `..` and links in the part of a path that exists.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                // `link/..` is the folder above the link's target.
                plain = plain.canonicalize().unwrap_or(plain);
                plain.pop();
            }
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    if let Ok(whole) = plain.canonicalize() {
        return Some(whole);
    }
    let mut missing = Vec::new();
    let mut existing = plain;
    loop {
        if let Ok(found) = existing.canonicalize() {
            return Some(missing.iter().rev().fold(found, |path, part| path.join(part)));
        }
        missing.push(existing.file_name()?.to_owned());
        existing.pop();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, ProjectTree) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap();
        }
        (folder, ProjectTree::new(root))
    }

    #[test]
    fn paths_are_resolved() {
        let (_folder, tree) = tree(&["src/a.py"]);
        symlink(tree.root.join("src"), tree.root.join("link")).unwrap();
        let folder = tree.root.join("src");
        for (path, inside) in [
            ("a.py", Some("src/a.py")),
            ("../lib/new file.py", Some("lib/new file.py")),
            ("../link/b.py", Some("src/b.py")),
            ("../../outside.py", None),
            ("/etc/hosts", None),
        ] {
            assert_eq!(tree.relative_path(Path::new(path), &folder).as_deref(), inside, "{path}");
        }
    }

    #[test]
    fn tests_are_found_in_test_folders_first() {
        let (_folder, tree) = tree(&[
            "a/deep/x_test.py",
            "tests/test_x.py",
            "node_modules/tests/test_y.py",
            "a/x.py",
        ]);
        assert_eq!(tree.find_tests("", Language::Python), ["tests/test_x.py", "a/deep/x_test.py"]);
    }
}
