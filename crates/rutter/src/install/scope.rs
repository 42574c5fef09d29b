//! For whom rutter is put in, and which file that means.

use std::path::{Path, PathBuf};

use super::checkout::checkout;

/// For whom rutter is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One user in one folder, out of git's sight.
    Local,
    /// One user, everywhere.
    User,
    /// Everybody who works in a folder, by a file that is committed.
    Project,
    /// Whoever installs the plugin.
    Plugin,
}

impl Scope {
    /// Those whose hooks stand in a settings file, the nearest to the user's hand first.
    pub(crate) const OF_SETTINGS: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// What it is called on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }

    /// The settings file, given the folder that the command was typed in and the one that the client keeps its own
    /// things in. A plugin has none, and without a home there is none of the user's.
    ///
    /// For `Local` it is the folder's own, even inside a repository. Measured: every client reads
    /// `.claude/settings.local.json` of the folder it is started in. 2.1.325 reads that of the main checkout as well when
    /// it is started deeper inside or in a worktree, unless the repository is bare or the home folder; 2.1.197 does not. So
    /// the folder's own is the only one of which "start claude here" is true everywhere.
    pub(crate) fn settings(self, folder: &Path, client: Option<&Path>) -> Option<PathBuf> {
        match self {
            Self::Local => Some(folder.join(".claude/settings.local.json")),
            Self::Project => Some(folder.join(".claude/settings.json")),
            Self::User => client.map(|client| client.join("settings.json")),
            Self::Plugin => None,
        }
    }

    /// Where the server is registered: the file, and the keys in it. The client takes no servers from its settings. Of
    /// several that have the same name it starts the nearest: local, project, user.
    pub(crate) fn servers(
        self,
        folder: &Path,
        client_file: Option<&Path>,
    ) -> Option<(PathBuf, Vec<String>)> {
        const SERVERS: &str = "mcpServers";
        match self {
            Self::Local => {
                let checkout = checkout(folder).to_str()?.to_owned();
                let keys = vec!["projects".to_owned(), checkout, SERVERS.to_owned()];
                Some((client_file?.to_owned(), keys))
            }
            Self::User => Some((client_file?.to_owned(), vec![SERVERS.to_owned()])),
            Self::Project | Self::Plugin => {
                Some((folder.join(".mcp.json"), vec![SERVERS.to_owned()]))
            }
        }
    }

    /// Whether the file is to be kept out of git: it lies in the checkout and names a path of this machine.
    pub(crate) const fn is_private(self) -> bool {
        matches!(self, Self::Local)
    }

    /// Whether others get the file as well, so that it can name no path of this machine.
    pub(crate) const fn is_shared(self) -> bool {
        matches!(self, Self::Project | Self::Plugin)
    }
}
