//! Git files that are ignored when the project of a folder is identified, and the reasons.

use std::fmt;
use std::path::PathBuf;

use crate::quote::PathLine as _;

/// A git file or folder that exists but is not used to identify the project of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredGitFile {
    /// A git directory, or a file or link that leads to one, of another user.
    ForeignOwner(PathBuf),
    /// A `.git` file or link that leads to the git directory of another checkout.
    OtherCheckout(PathBuf),
    /// A configuration that exceeds the size limit.
    LargeConfig(PathBuf),
}

impl IgnoredGitFile {
    /// Returns the file or folder that is not used.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::ForeignOwner(path) | Self::OtherCheckout(path) | Self::LargeConfig(path) => path,
        }
    }

    /// Returns advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::ForeignOwner(_) => {
                "git does not use it either; run `chown` on it if it is \
                                      yours"
            }
            Self::OtherCheckout(_) => {
                "run `git worktree repair` if the worktree was moved; make a new clone if it is \
                 a copy"
            }
            Self::LargeConfig(_) => {
                "run `git remote remove NAME` or `git branch -D NAME` to make it smaller"
            }
        }
    }
}

impl fmt::Display for IgnoredGitFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().to_line();
        match self {
            Self::ForeignOwner(_) => {
                write!(
                    f,
                    "{path} belongs to another user and is not read; the project is identified \
                     by its path"
                )
            }
            Self::OtherCheckout(_) => {
                write!(
                    f,
                    "{path} points to the repository of another checkout; the project is \
                     identified by its path"
                )
            }
            Self::LargeConfig(_) => write!(
                f,
                "{path} is larger than 256 KiB and is not read; the project is identified by \
                 its path, not by its remote"
            ),
        }
    }
}
