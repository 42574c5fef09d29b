//! Paths and test names relative to the root of the checkout, for any form in which a runner prints them.
//!
//! A runner prints paths relative to its folder, to its own root, or as absolute paths of another machine. A test in
//! `packages/api` and one of the same name in `packages/web` are two tests, so the folder must be in the name.

use std::path::Path;

use super::report::{PassedTest, ReportedFailure};

/// Maximum number of leading folders that are removed from a foreign path.
const MAX_STRIPPED: usize = 8;

/// Number of folder levels searched for a file that is not at its expected path.
const SUBFOLDER_LEVELS: usize = 2;
/// Maximum number of folders searched for it.
const MAX_SUBFOLDERS: usize = 300;

/// The checkout and folder of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunPlace<'a> {
    /// The root of the checkout.
    pub root: &'a Path,
    /// The folder of the run, relative to the root; empty for the root.
    pub folder: &'a str,
}

impl RunPlace<'_> {
    /// Returns the path of a file relative to the root. A file that does not exist is assumed relative to the run's
    /// folder.
    pub fn path_from_root(&self, printed: &str) -> String {
        let printed = printed.trim_start_matches("./");
        let exists = |path: &str| !path.is_empty() && self.root.join(path).is_file();
        if let Some(inside) = strip_root(printed, self.root) {
            return inside.to_owned();
        }
        if printed.starts_with('/') || printed.contains(":\\") {
            // A path of another machine or a container: its longest suffix that exists here.
            let parts: Vec<&str> =
                printed.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
            let ends = (1..parts.len().min(MAX_STRIPPED)).map(|from| parts[from..].join("/"));
            return ends.into_iter().find(|end| exists(end)).unwrap_or_else(|| printed.to_owned());
        }
        let below = normalize(self.folder, printed);
        // Some runners print paths relative to their own root.
        if exists(&below) || self.folder.is_empty() || !exists(printed) {
            below
        } else {
            printed.to_owned()
        }
    }

    /// Returns the folder of a Go package by its import path; None if no suffix of the path is a folder here, or if
    /// several modules have one.
    fn package_folder(&self, import_path: &str) -> Option<String> {
        let parts: Vec<&str> = import_path.split('/').collect();
        let ends: Vec<String> =
            (0..parts.len().min(MAX_STRIPPED)).map(|from| parts[from..].join("/")).collect();
        let is_folder = |path: &String| self.root.join(path).is_dir();
        let below_own = ends.iter().map(|end| normalize(self.folder, end)).find(is_folder);
        let below_root = || ends.iter().find(|end| is_folder(end)).cloned();
        let below_other = || {
            let end = ends.last().filter(|_| ends.len() > 1)?;
            let folder = self.only_subfolder(&|folder| folder.join(end).is_dir())?;
            Some(format!("{folder}/{end}"))
        };
        below_own.or_else(below_root).or_else(below_other)
    }

    /// Returns the folder in which a script started a run, if the files of the tests are not in the folder of the line;
    /// None if that is uncertain.
    pub fn find_run_folder<'t>(&self, mut tests: impl Iterator<Item = &'t str>) -> Option<String> {
        let test = tests.find(|test| has_path(test))?;
        let file = test_file(test);
        if file.starts_with(['/', '.']) || self.root.join(self.path_from_root(file)).is_file() {
            return None;
        }
        self.only_subfolder(&|folder| folder.join(file).is_file())
    }

    /// Returns the only folder of the checkout, at most two levels deep, for which `fits` is true.
    fn only_subfolder(&self, fits: &dyn Fn(&Path) -> bool) -> Option<String> {
        let mut found = None;
        let mut looked_at = 0;
        let mut level = vec![self.root.to_path_buf()];
        for _ in 0..SUBFOLDER_LEVELS {
            let mut next = Vec::new();
            for folder in &level {
                for entry in std::fs::read_dir(folder).ok()?.flatten() {
                    let name = entry.file_name();
                    let is_hidden = name.as_encoded_bytes().starts_with(b".");
                    let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                    if !is_folder || is_hidden || name == "node_modules" || name == "target" {
                        continue;
                    }
                    looked_at += 1;
                    if looked_at > MAX_SUBFOLDERS {
                        return None;
                    }
                    let path = entry.path();
                    if fits(&path) {
                        let inside = path.strip_prefix(self.root).ok()?.to_str()?.to_owned();
                        if found.replace(inside).is_some() {
                            return None;
                        }
                    }
                    next.push(path);
                }
            }
            level = next;
        }
        found
    }

    /// Returns a test name with its path relative to the root.
    fn test_from_root(&self, test: &str) -> String {
        if !has_path(test) {
            return test.to_owned();
        }
        let (file, rest) = test.split_at(test_file(test).len());
        format!("{}{rest}", self.path_from_root(file))
    }

    /// Makes the names and frames of failures relative to the root. `package` is the package that a wrapper named.
    pub fn qualify(&self, failures: &mut [ReportedFailure], package: Option<&str>, is_cargo: bool) {
        for failure in failures {
            failure.test = failure.test.take().map(|test| self.test_from_root(&test));
            if let Some(frame) = failure.frame.take() {
                let bare = !frame.contains(['/', '\\']);
                let folder = failure.scope.as_deref().filter(|_| bare);
                let folder = folder.and_then(|scope| self.package_folder(scope));
                failure.frame = Some(match folder {
                    Some(folder) => format!("{folder}/{frame}"),
                    None => self.path_from_root(&frame),
                });
            }
            let is_named = failure.test.as_deref().is_some_and(has_path);
            if failure.scope.is_none() && failure.test.is_some() {
                failure.scope = self.default_scope(is_named || is_cargo, package);
            }
        }
    }

    /// Makes the names of passed tests relative to the root.
    pub fn qualify_passed(&self, passed: &mut [PassedTest], package: Option<&str>, is_cargo: bool) {
        for one in passed {
            one.test = self.test_from_root(&one.test);
            if one.scope.is_none() {
                one.scope = self.default_scope(is_cargo || has_path(&one.test), package);
            }
        }
    }

    /// Returns the scope of a test without a file in its name and without a printed package.
    fn default_scope(&self, is_named: bool, package: Option<&str>) -> Option<String> {
        match package {
            Some(package) => Some(package.to_owned()),
            None if is_named || self.folder.is_empty() => None,
            None => Some(self.folder.to_owned()),
        }
    }
}

/// Returns the file at the start of a test name.
fn test_file(test: &str) -> &str {
    let end = [" > ", "::"].iter().filter_map(|part| test.find(part)).min();
    &test[..end.unwrap_or(test.len())]
}

/// Returns the name of a file without folder and extension.
pub fn file_stem(file: &str) -> &str {
    let last = file.rsplit('/').next().unwrap_or(file);
    last.split('.').next().unwrap_or(last)
}

/// Returns the name of the unit that a file tests: `cart` for `tests/test_cart.py`.
pub fn tested_unit(file: &str) -> &str {
    let stem = file_stem(file);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    stem.strip_suffix("_test").or_else(|| stem.strip_suffix("_spec")).unwrap_or(stem)
}

fn strip_root<'a>(path: &'a str, root: &Path) -> Option<&'a str> {
    let inside = path.strip_prefix(root.to_str()?)?.strip_prefix('/')?;
    (!inside.is_empty()).then_some(inside)
}

/// Joins a path to a folder and resolves `.` and `..`.
fn normalize(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Returns true if two scopes can belong to the same test: one of them is unknown, or both are equal. cargo names a
/// test binary (`retries`), nextest also its package (`api::retries`).
pub fn same_scope(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let is_one_short = one.contains("::") != other.contains("::");
            one == other || (is_one_short && test_binary(one) == test_binary(other))
        }
        _ => true,
    }
}

/// Returns the test binary of a scope, without its package: `retries` of `api::retries`.
pub fn test_binary(scope: &str) -> &str {
    let last = scope.rsplit("::").next().unwrap_or(scope);
    last.strip_prefix("bin/").unwrap_or(last)
}

/// Adds the package to a scope that is a test binary: `api::retries`. The unit tests of a library have its name.
pub fn with_package(scope: &str, package: &str) -> String {
    let is_library = scope.replace('-', "_") == package.replace('-', "_");
    if is_library || scope.contains("::") || scope.starts_with("doc ") {
        return scope.to_owned();
    }
    format!("{package}::{scope}")
}

/// Returns true if the name of a test begins with the path of its file.
pub fn has_path(test: &str) -> bool {
    let file = test.split("::").next().unwrap_or(test);
    let file = file.split(" > ").next().unwrap_or(file);
    let last = file.rsplit('/').next().unwrap_or(file);
    !file.contains(' ')
        && last.contains('.')
        && !last.ends_with('.')
        && (test.len() > file.len() || file.contains('/'))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in ["backend/tests/test_a.py", "web/src/a.test.ts", "cart/total_test.go"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let inside = root.join("web/src/a.test.ts");
        for (folder, printed, expected) in [
            ("backend", "tests/test_a.py", "backend/tests/test_a.py"),
            ("backend", "backend/tests/test_a.py", "backend/tests/test_a.py"),
            ("", "backend/tests/test_a.py", "backend/tests/test_a.py"),
            ("web", inside.to_str().unwrap(), "web/src/a.test.ts"),
            ("", "/app/web/src/a.test.ts", "web/src/a.test.ts"),
            ("", "/elsewhere/x.py", "/elsewhere/x.py"),
            ("web", "missing.ts", "web/missing.ts"),
            ("web/src", "../a.ts", "web/a.ts"),
        ] {
            assert_eq!(
                RunPlace { root, folder }.path_from_root(printed),
                expected,
                "{folder} {printed}"
            );
        }
        let place = RunPlace { root, folder: "backend" };
        assert_eq!(
            place.test_from_root("tests/test_a.py::T::test_x[1/2]"),
            "backend/tests/test_a.py::T::test_x[1/2]"
        );
        assert_eq!(place.test_from_root("cart::tests::total"), "cart::tests::total");
        let mut failures = [ReportedFailure {
            test: Some("TestTotal".into()),
            scope: Some("example.com/shop/cart".into()),
            frame: Some("total_test.go".into()),
            ..ReportedFailure::default()
        }];
        RunPlace { root, folder: "" }.qualify(&mut failures, None, false);
        assert_eq!(failures[0].frame.as_deref(), Some("cart/total_test.go"));
    }
}
