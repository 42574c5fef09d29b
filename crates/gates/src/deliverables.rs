//! The check whether the files that a task must leave behind are there.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::file_pattern::{expand_braces, is_pattern, matches_pattern};
use crate::task::Task;

/// Number of files and folders that are looked at for the patterns of one task.
const MAX_ENTRIES: usize = 100_000;
/// Folders that patterns do not descend into, unless they name them.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// The reason why a deliverable does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingReason {
    /// The file exists and has content, but was last changed before the task was started.
    Old,
    /// The file must be newer than the start, and the task has no time of its start.
    NoStart,
    /// The file is empty.
    Empty,
    /// No such file.
    Missing,
    /// The path leads out of the checkout, also through a link.
    Outside,
    /// The folders of the patterns have too many files.
    TooMany,
}

impl fmt::Display for MissingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Old => "is older than the start of the task",
            Self::NoStart => "must be newer than the start of the task, which is not known",
            Self::Empty => "is empty",
            Self::Missing => "does not exist",
            Self::Outside => "is outside of the checkout",
            Self::TooMany => "matches too many files to look at",
        })
    }
}

/// A deliverable that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingDeliverable {
    /// The path or pattern in the index.
    pub path: String,
    /// The reason.
    pub reason: MissingReason,
}

/// Returns the deliverables of a task that do not count. Paths are relative to the root, wherever the process runs.
///
/// A path must lead to a file with content. A pattern, or a folder, needs one such file. With `all_newer`, or if the index
/// demands it, the file must have been changed since the task was started.
pub fn check_deliverables(task: &Task, root: &Path, all_newer: bool) -> Vec<MissingDeliverable> {
    let Ok(root) = root.canonicalize() else {
        let all = task.deliverables.iter().map(|item| item.path.clone());
        return all
            .map(|path| MissingDeliverable { path, reason: MissingReason::Missing })
            .collect();
    };
    let mut missing = Vec::new();
    let mut search = FileSearch { root, left: MAX_ENTRIES };
    for deliverable in &task.deliverables {
        let age = match task.started_at {
            _ if !all_newer && !deliverable.newer_than_start => AgeRule::Any,
            Some(start) => AgeRule::Since(start),
            None => AgeRule::Unknown,
        };
        if let Err(reason) = search.check_path(&deliverable.path, age) {
            missing.push(MissingDeliverable { path: deliverable.path.clone(), reason });
        }
    }
    missing
}

/// The age that a file must have.
#[derive(Clone, Copy)]
enum AgeRule {
    Any,
    Since(SystemTime),
    Unknown,
}

/// A search for files of a checkout.
struct FileSearch {
    root: PathBuf,
    /// Number of files and folders that may still be looked at.
    left: usize,
}

impl FileSearch {
    fn check_path(&mut self, path: &str, age: AgeRule) -> Result<(), MissingReason> {
        let relative = relative_path(path, &self.root).ok_or(MissingReason::Outside)?;
        let whole = self.root.join(&relative);
        // A file whose name looks like a pattern counts as well.
        if !is_pattern(&relative) || whole.exists() {
            return self.check_file(&whole, age);
        }
        let patterns = expand_braces(&relative);
        best(patterns.into_iter().map(|pattern| self.check_pattern(&pattern, age)))
    }

    fn check_file(&mut self, path: &Path, age: AgeRule) -> Result<(), MissingReason> {
        let real = path.canonicalize().map_err(|_| MissingReason::Missing)?;
        if !real.starts_with(&self.root) {
            return Err(MissingReason::Outside);
        }
        let found = real.metadata().map_err(|_| MissingReason::Missing)?;
        if found.is_dir() {
            return self.check_files_below(&real, &|_| true, age);
        }
        if !found.is_file() {
            return Err(MissingReason::Missing);
        }
        if found.len() == 0 {
            return Err(MissingReason::Empty);
        }
        match age {
            AgeRule::Any => Ok(()),
            AgeRule::Unknown => Err(MissingReason::NoStart),
            AgeRule::Since(start) => {
                let is_new = found.modified().is_ok_and(|modified| modified >= start);
                if is_new { Ok(()) } else { Err(MissingReason::Old) }
            }
        }
    }

    fn check_pattern(&mut self, pattern: &str, age: AgeRule) -> Result<(), MissingReason> {
        let fixed: PathBuf = pattern.split('/').take_while(|part| !is_pattern(part)).collect();
        let start = self.root.join(fixed);
        let real = start.canonicalize().map_err(|_| MissingReason::Missing)?;
        if !real.starts_with(&self.root) {
            return Err(MissingReason::Outside);
        }
        self.check_files_below(&start, &|path| matches_pattern(pattern, path), age)
    }

    /// Looks for a file below a folder that counts. Does not follow links to folders.
    fn check_files_below(
        &mut self,
        start: &Path,
        is_wanted: &dyn Fn(&str) -> bool,
        age: AgeRule,
    ) -> Result<(), MissingReason> {
        let mut folders = vec![start.to_owned()];
        let mut reasons = Vec::new();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = folder.read_dir() else { continue };
            for entry in entries.flatten() {
                self.left = self.left.checked_sub(1).ok_or(MissingReason::TooMany)?;
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    let name = entry.file_name();
                    if !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                        folders.push(path);
                    }
                    continue;
                }
                let relative = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
                if !relative.is_some_and(is_wanted) || path.is_dir() {
                    continue;
                }
                match self.check_file(&path, age) {
                    Ok(()) => return Ok(()),
                    Err(reason) => reasons.push(Err(reason)),
                }
            }
        }
        best(reasons.into_iter())
    }
}

/// Returns the path relative to the root, without `.` and `..`. Returns None if it leads out of the root.
fn relative_path(path: &str, root: &Path) -> Option<String> {
    let path = Path::new(path);
    let path = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// Returns the best of several results: success, otherwise the reason that is nearest to it.
fn best(results: impl Iterator<Item = Result<(), MissingReason>>) -> Result<(), MissingReason> {
    let mut nearest = MissingReason::Missing;
    let mut is_first = true;
    for result in results {
        let Err(reason) = result else { return Ok(()) };
        nearest = if is_first { reason } else { nearest.min(reason) };
        is_first = false;
    }
    Err(nearest)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::task_index::TaskIndex;

    fn task(deliverables: &serde_json::Value, started_at: Option<&str>) -> Task {
        let entry = json!({ "id": "1", "deliverables": deliverables, "startedAt": started_at });
        TaskIndex::from_entries(vec![entry]).unwrap().find("1").unwrap().clone()
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn reasons(root: &Path, deliverables: &serde_json::Value) -> Vec<(String, MissingReason)> {
        let missing = check_deliverables(&task(deliverables, None), root, false);
        missing.into_iter().map(|item| (item.path, item.reason)).collect()
    }

    #[test]
    fn missing_deliverables_have_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkout");
        write(&root, "src/deep/a.rs", "fn a() {}");
        write(&root, "src/empty.rs", "");
        write(&root, "src/odd[*].rs", "x");
        write(&root, "node_modules/x/a.go", "x");
        write(folder.path(), "outside.rs", "x");
        std::os::unix::fs::symlink(folder.path().join("outside.rs"), root.join("link.rs")).unwrap();
        std::os::unix::fs::symlink(folder.path(), root.join("linked")).unwrap();
        for (path, expected) in [
            ("src/deep/a.rs", None),
            ("./src/../src/deep/a.rs", None),
            ("src/deep/", None),
            ("src/**/*.rs", None),
            ("src/**/*.{ts,rs}", None),
            ("src/odd[*].rs", None),
            ("src/*.rs", None),
            ("src/e*.rs", Some(MissingReason::Empty)),
            ("src/empty.rs", Some(MissingReason::Empty)),
            ("src/gone.rs", Some(MissingReason::Missing)),
            ("src/**/*.py", Some(MissingReason::Missing)),
            ("**/*.go", Some(MissingReason::Missing)),
            ("node_modules/**/*.go", None),
            ("gone/**", Some(MissingReason::Missing)),
            ("../outside.rs", Some(MissingReason::Outside)),
            ("../*.rs", Some(MissingReason::Outside)),
            ("/etc/passwd", Some(MissingReason::Outside)),
            ("link.rs", Some(MissingReason::Outside)),
            ("linked/*.rs", Some(MissingReason::Outside)),
            ("**/outside.rs", Some(MissingReason::Missing)),
        ] {
            let expected: Vec<_> =
                expected.map(|reason| (path.to_owned(), reason)).into_iter().collect();
            assert_eq!(reasons(&root, &json!([path])), expected, "{path}");
        }
        let absolute = root.canonicalize().unwrap().join("src/deep/a.rs");
        assert_eq!(reasons(&root, &json!([absolute])), []);
    }

    #[test]
    fn old_files_do_not_count_where_asked() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.rs", "x");
        let changed = fs::metadata(folder.path().join("a.rs")).unwrap().modified().unwrap();
        let time = |time: SystemTime| jiff::Timestamp::try_from(time).unwrap().to_string();
        let later = time(changed + Duration::from_secs(5));
        let earlier = time(changed - Duration::from_secs(5));
        let plain = json!(["a.rs"]);
        let asked = json!([{ "path": "*.rs", "newerThanStart": true }]);
        let check = |deliverables, start, all| {
            let missing = check_deliverables(&task(deliverables, start), folder.path(), all);
            missing.into_iter().map(|item| item.reason).collect::<Vec<_>>()
        };
        assert_eq!(check(&plain, Some(&later), false), []);
        assert_eq!(check(&plain, Some(&later), true), [MissingReason::Old]);
        assert_eq!(check(&asked, Some(&later), false), [MissingReason::Old]);
        assert_eq!(check(&asked, Some(&earlier), true), []);
        assert_eq!(check(&asked, None, false), [MissingReason::NoStart]);
        assert_eq!(check(&plain, Some("soon"), true), [MissingReason::NoStart]);
    }

    #[test]
    fn search_has_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..20 {
            write(folder.path(), &format!("a{number}"), "x");
        }
        let root = folder.path().canonicalize().unwrap();
        let mut search = FileSearch { root, left: 30 };
        let reasons = ["*.b", "*.c", "a1"].map(|path| search.check_path(path, AgeRule::Any));
        let expected = [Err(MissingReason::Missing), Err(MissingReason::TooMany), Ok(())];
        assert_eq!(reasons, expected);
    }

    #[test]
    fn missing_root_fails_closed() {
        let gone = Path::new("/nonexistent/checkout");
        assert_eq!(reasons(gone, &json!(["a.rs"])).len(), 1);
    }
}
