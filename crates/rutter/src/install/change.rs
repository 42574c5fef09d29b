//! A planned change of a file.

use std::io;
use std::path::Path;

use rutter_memory::quote::PathLine as _;
use rutter_redact::redact;
use similar::{ChangeTag, TextDiff};

use super::FileContents;
use crate::CommandResult;
use crate::ui::Ui;

/// A file and its new content. None deletes the file.
pub(crate) struct FileChange {
    contents: FileContents,
    after: Option<Vec<u8>>,
    entry: Option<ChangedEntry>,
}

/// The single entry that a change affects, before and after.
pub(crate) struct ChangedEntry {
    /// Keys that lead to the entry.
    pub(crate) path: Vec<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl FileChange {
    pub(crate) fn new(contents: FileContents, after: Option<Vec<u8>>) -> Self {
        Self { contents, after, entry: None }
    }

    /// Limits the displayed diff to one entry of the file.
    pub(crate) fn with_entry(self, entry: ChangedEntry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.contents.path()
    }

    pub(crate) fn contents(&self) -> &FileContents {
        &self.contents
    }

    /// Returns true if the file already has the new content.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.contents.bytes() == self.after.as_deref()
    }

    /// Returns true if the change creates the file.
    pub(crate) fn creates(&self) -> bool {
        self.contents.bytes().is_none() && self.after.is_some()
    }

    /// Returns true if the change deletes the file.
    pub(crate) fn removes(&self) -> bool {
        self.after.is_none()
    }

    /// Prints the diff with its context lines. Secrets are redacted, because bystanders and agents can read the output.
    pub(crate) fn print_diff(&self, ui: &mut Ui<'_>) -> CommandResult {
        let (path, target) = (self.path(), self.contents.target());
        // Writing follows a symbolic link, so the target is shown too.
        let path = match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                format!("{} -> {}", path.to_line(), target.to_line())
            }
            _ => path.to_line(),
        };
        let name = |there: bool| if there { path.as_str() } else { "/dev/null" };
        let (old, new) = (name(self.contents.bytes().is_some()), name(self.after.is_some()));
        let diff = if let Some(entry) = &self.entry {
            format!("--- {old}\n+++ {new}\n{}", entry.diff())
        } else {
            let [before, after] = [self.contents.bytes(), self.after.as_deref()]
                .map(|bytes| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned());
            let diff = TextDiff::from_lines(&before, &after);
            diff.unified_diff().context_radius(3).header(old, new).to_string()
        };
        Ok(ui.out.write_all(redact(&diff).as_bytes())?)
    }

    /// Applies the change.
    pub(crate) fn apply(&self) -> CommandResult {
        self.contents.replace(self.after.as_deref())
    }

    /// Applies the change. The error kind distinguishes a concurrent change from other failures.
    pub(super) fn try_apply(&self) -> io::Result<()> {
        self.contents.try_replace(self.after.as_deref())
    }
}

impl ChangedEntry {
    /// Returns the diff of the entry as a hunk that is located by keys. Context lines would show unrelated parts of the
    /// file.
    fn diff(&self) -> String {
        let [before, after] = [&self.before, &self.after].map(|text| match text {
            Some(text) => remove_indent(text) + "\n",
            None => String::new(),
        });
        // A key can be the path of a folder.
        let keys: Vec<String> = self.path.iter().map(|key| Path::new(key).to_line()).collect();
        let mut out = format!("@@ {} @@\n", keys.join(" → "));
        for change in TextDiff::from_lines(&before, &after).iter_all_changes() {
            out.push(match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            });
            out.push_str(change.value());
        }
        out
    }
}

/// Removes the indentation of a value's last line from all its lines.
fn remove_indent(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    let indent = &last[..last.len() - last.trim_start().len()];
    let lines: Vec<&str> =
        text.lines().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    lines.join("\n")
}
