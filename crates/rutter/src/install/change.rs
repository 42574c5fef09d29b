//! What is to become of a file.

use std::io;
use std::path::Path;

use rutter_redact::redact;
use similar::{ChangeTag, TextDiff};

use super::Contents;
use crate::Failure;
use crate::ui::Ui;

/// A file, and what it shall say; nothing is no file.
pub(crate) struct Change {
    contents: Contents,
    after: Option<Vec<u8>>,
    entry: Option<Entry>,
}

/// The one entry that a change is about, before and after.
pub(crate) struct Entry {
    /// The keys that lead to it.
    pub(crate) path: Vec<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl Change {
    pub(crate) fn new(contents: Contents, after: Option<Vec<u8>>) -> Self {
        Self { contents, after, entry: None }
    }

    /// The same, in a file of which nothing but the entry is to be shown.
    pub(crate) fn showing(self, entry: Entry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.contents.path()
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Whether it says the same already.
    pub(crate) fn is_none(&self) -> bool {
        self.contents.bytes() == self.after.as_deref()
    }

    /// Whether it makes the file.
    pub(crate) fn creates(&self) -> bool {
        self.contents.bytes().is_none() && self.after.is_some()
    }

    /// Whether it takes the file away.
    pub(crate) fn removes(&self) -> bool {
        self.after.is_none()
    }

    /// Shows what changes, and the lines around it, without the secrets that may stand there: this is read over
    /// shoulders, and by agents.
    pub(crate) fn show(&self, ui: &mut Ui<'_>) -> Result<(), Failure> {
        let (path, target) = (self.path(), self.contents.target());
        // What is written is what a link leads to, wherever that is.
        let path = match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                format!("{} -> {}", path.display(), target.display())
            }
            _ => path.display().to_string(),
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

    /// Does it.
    pub(crate) fn apply(&self) -> Result<(), Failure> {
        self.contents.replace(self.after.as_deref())
    }

    /// Does it, and tells a file that was changed meanwhile from what is wrong with it.
    pub(super) fn try_apply(&self) -> io::Result<()> {
        self.contents.try_replace(self.after.as_deref())
    }
}

impl Entry {
    /// Its lines, as a hunk whose place is told by keys: lines of the file would say what is of nobody's concern.
    fn diff(&self) -> String {
        let [before, after] = [&self.before, &self.after].map(|text| match text {
            Some(text) => unindented(text) + "\n",
            None => String::new(),
        });
        let mut out = format!("@@ {} @@\n", self.path.join(" → "));
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

/// A value without what its last line is indented by.
fn unindented(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    let indent = &last[..last.len() - last.trim_start().len()];
    let lines: Vec<&str> =
        text.lines().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    lines.join("\n")
}
