//! Keeps the local settings out of git, with a line in the repository's `info/exclude`.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rutter_memory::project::WorkTree;

use super::{FileChange, FileContents, has_our_hooks};
use crate::CommandResult;

/// Comment above our line. A line without it existed before, and stays.
const EXCLUDE_COMMENT: &str =
    "# rutter: hooks with a path of this machine; `rutter uninstall` takes this away";

/// The exclude list of a repository, and a file that belongs on it.
pub(crate) struct GitExclude {
    root: PathBuf,
    common_dir: PathBuf,
    list: PathBuf,
    gitignore: PathBuf,
    /// Path of the file in the work tree.
    file: PathBuf,
    /// Pattern that matches the file.
    pattern: String,
}

impl GitExclude {
    /// Finds the exclude list for a file below a folder. Returns None outside a valid git work tree, and if the path
    /// cannot be written on one line.
    pub(crate) fn find(folder: &Path, file: &Path) -> Option<Self> {
        let WorkTree { root, common_dir } = WorkTree::containing(folder)?;
        let below = folder.canonicalize().ok()?.strip_prefix(&root).ok()?.to_owned();
        let file = below.join(file.strip_prefix(folder).ok()?);
        let text = file.to_str().filter(|text| !text.contains(char::is_control))?;
        // Anchored at the root, so that a name cannot look like a comment or a negation.
        let mut pattern = String::from("/");
        for c in text.chars() {
            if matches!(c, '*' | '?' | '[' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        Some(Self {
            list: common_dir.join("info/exclude"),
            gitignore: root.join(".gitignore"),
            file,
            pattern,
            root,
            common_dir,
        })
    }

    /// Returns true if git tracks the file, so that an exclude line has no effect. Searches the usual format of git's
    /// index.
    pub(crate) fn is_tracked(&self) -> bool {
        let own = self.root.join(".git");
        let git_dir = match fs::read_to_string(&own) {
            Ok(text) => match text.trim_end().strip_prefix("gitdir: ") {
                Some(path) => self.root.join(path),
                None => return false,
            },
            Err(_) => own,
        };
        let Ok(index) = fs::read(git_dir.join("index")) else { return false };
        let name = [self.file.as_os_str().as_bytes(), b"\0"].concat();
        index.windows(name.len()).any(|bytes| bytes == name)
    }

    /// Returns true if another work tree of the repository, which shares the list, has such a file that runs rutter.
    fn is_needed_elsewhere(&self) -> bool {
        let linked = fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten();
        let linked = linked.filter_map(|entry| {
            let text = fs::read_to_string(entry.ok()?.path().join("gitdir")).ok()?;
            Path::new(text.trim_end()).parent().map(Path::to_owned)
        });
        let main = self.common_dir.parent().map(Path::to_owned);
        let mut others = linked
            .chain(main)
            .filter(|root| root.canonicalize().is_ok_and(|root| root != self.root));
        others.any(|root| has_our_hooks(&root.join(&self.file)))
    }

    /// Returns the change that adds the file, or None if `info/exclude` or the root `.gitignore` already covers it.
    pub(crate) fn plan_addition(&self) -> CommandResult<Option<FileChange>> {
        let contents = FileContents::load(&self.list)?;
        let Some(text) = list_text(&contents) else { return Ok(None) };
        let ignored = FileContents::load(&self.gitignore).ok();
        let ignored = ignored.as_ref().and_then(list_text).unwrap_or_default();
        if text.lines().chain(ignored.lines()).any(|line| self.is_covered_by(line)) {
            return Ok(None);
        }
        // A last line without a newline stays without one, so that `remove` can restore the text exactly.
        let after = if text.is_empty() || text.ends_with('\n') {
            format!("{text}{EXCLUDE_COMMENT}\n{}\n", self.pattern)
        } else {
            format!("{text}\n{EXCLUDE_COMMENT}\n{}", self.pattern)
        };
        Ok(Some(FileChange::new(contents, Some(after.into_bytes()))))
    }

    /// Returns the change that removes our line from the list, if any. `made` is true if we created the list.
    pub(crate) fn plan_removal(&self, made: bool) -> CommandResult<Option<FileChange>> {
        if self.is_needed_elsewhere() {
            return Ok(None);
        }
        let contents = FileContents::load(&self.list)?;
        let Some(text) = list_text(&contents) else { return Ok(None) };
        let lines = format!("{EXCLUDE_COMMENT}\n{}\n", self.pattern);
        let last = format!("\n{EXCLUDE_COMMENT}\n{}", self.pattern);
        let starts = text.match_indices(&lines).map(|(at, _)| at);
        let start = starts.into_iter().find(|at| *at == 0 || text[..*at].ends_with('\n'));
        let after = match (start, text.strip_suffix(&last)) {
            (Some(at), _) => [&text[..at], &text[at + lines.len()..]].concat(),
            (None, Some(rest)) => rest.to_owned(),
            (None, None) => return Ok(None),
        };
        let after = (!made || !after.is_empty()).then(|| after.into_bytes());
        Ok(Some(FileChange::new(contents, after)))
    }

    /// Returns true if a line of a list covers the file. Complex patterns are not evaluated; the file is then on two
    /// lists, which is harmless.
    fn is_covered_by(&self, line: &str) -> bool {
        let pattern = line.trim_end();
        if pattern == self.pattern || pattern == "*.local.json" {
            return true;
        }
        let pattern = pattern.strip_suffix("/**").or(pattern.strip_suffix("/*")).unwrap_or(pattern);
        let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
        let mut around = self.file.ancestors().filter(|path| !path.as_os_str().is_empty());
        match pattern.strip_prefix("**/") {
            Some("") => false,
            Some(end) => around.any(|path| path.ends_with(end)),
            None => match pattern.strip_prefix('/').unwrap_or(pattern) {
                "" => false,
                path if pattern.contains('/') => around.any(|around| around == Path::new(path)),
                name => around.any(|path| path.file_name().is_some_and(|last| last == name)),
            },
        }
    }
}

/// Returns the text of a list, or None if it is not UTF-8. Such a list is left alone.
fn list_text(contents: &FileContents) -> Option<&str> {
    str::from_utf8(contents.bytes().unwrap_or_default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_common_patterns() {
        let exclude = |file: &str| GitExclude {
            root: PathBuf::new(),
            common_dir: PathBuf::new(),
            list: PathBuf::new(),
            gitignore: PathBuf::new(),
            file: PathBuf::from(file),
            pattern: format!("/{file}"),
        };
        let (top, deep) =
            (exclude(".claude/settings.local.json"), exclude("a/.claude/settings.local.json"));
        for (line, at_top, deeper) in [
            (".claude/settings.local.json", true, false),
            ("/.claude/settings.local.json", true, false),
            ("**/.claude/settings.local.json  ", true, true),
            (".claude/", true, true),
            (".claude", true, true),
            ("/.claude", true, false),
            (".claude/*", true, true),
            ("settings.local.json", true, true),
            ("*.local.json", true, true),
            ("a/", false, true),
            ("/a/.claude/**", false, true),
            ("", false, false),
            ("/", false, false),
            ("**/", false, false),
            ("# .claude/", false, false),
            ("!.claude/", false, false),
            ("claude", false, false),
            (".claude/settings.json", false, false),
        ] {
            assert_eq!(top.is_covered_by(line), at_top, "{line}");
            assert_eq!(deep.is_covered_by(line), deeper, "{line}");
        }
    }
}
