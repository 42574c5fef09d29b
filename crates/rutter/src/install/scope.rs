//! Which settings file.

use std::path::{Path, PathBuf};

/// For whom rutter is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One user in one folder, out of git's sight.
    Local,
}

impl Scope {
    /// The settings file, given the folder that the command was typed in.
    ///
    /// For `Local` it is the folder's own, even inside a repository. Measured: every client reads
    /// `.claude/settings.local.json` of the folder it is started in. 2.1.325 reads that of the main checkout as well when
    /// it is started deeper inside or in a worktree, unless the repository is bare or the home folder; 2.1.197 does not. So
    /// the folder's own is the only one of which "start claude here" is true everywhere.
    pub(crate) fn settings(self, folder: &Path) -> PathBuf {
        match self {
            Self::Local => folder.join(".claude/settings.local.json"),
        }
    }

    /// Whether the file is to be kept out of git: it names a path of this machine.
    pub(crate) fn is_private(self) -> bool {
        match self {
            Self::Local => true,
        }
    }
}
