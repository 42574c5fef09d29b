//! What is to become of a file.

use std::path::Path;

use rutter_memory::redact::redact;
use similar::TextDiff;

use super::Contents;
use crate::Failure;
use crate::ui::Ui;

/// A file, and what it shall say; nothing is no file.
pub(crate) struct Change {
    contents: Contents,
    after: Option<Vec<u8>>,
}

impl Change {
    pub(crate) fn new(contents: Contents, after: Option<Vec<u8>>) -> Self {
        Self { contents, after }
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
        let [before, after] = [self.contents.bytes(), self.after.as_deref()]
            .map(|bytes| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned());
        let (path, target) = (self.path(), self.contents.target());
        // What is written is what a link leads to, wherever that is.
        let path = match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                format!("{} -> {}", path.display(), target.display())
            }
            _ => path.display().to_string(),
        };
        let name = |there: bool| if there { path.as_str() } else { "/dev/null" };
        let diff = TextDiff::from_lines(&before, &after);
        let diff = diff
            .unified_diff()
            .context_radius(3)
            .header(name(self.contents.bytes().is_some()), name(self.after.is_some()))
            .to_string();
        Ok(ui.out.write_all(redact(&diff).as_bytes())?)
    }

    /// Does it.
    pub(crate) fn apply(&self) -> Result<(), Failure> {
        self.contents.replace(self.after.as_deref())
    }
}
