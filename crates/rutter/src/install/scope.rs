//! The scope of an installation, and its files.

use std::path::{Path, PathBuf};

use rutter_check::settings::{
    SERVERS_KEY, local_servers_keys, local_settings_file, project_servers_file,
    project_settings_file, user_settings_file,
};

/// The users and folders for which rutter is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallScope {
    /// A single user in one folder. The file is not committed.
    Local,
    /// A single user in all folders.
    User,
    /// All users of a folder, by a committed file.
    Project,
    /// All users who install the plugin.
    Plugin,
}

impl InstallScope {
    /// The scopes with a settings file, the most specific first.
    pub(crate) const WITH_SETTINGS_FILE: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// Returns the name on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }

    /// Returns the settings file, given the working directory and the client's configuration folder. Returns None for a
    /// plugin, and for the user if the configuration folder is unknown.
    ///
    /// For `Local` it is the file of the folder itself, even inside a repository. Measured: every client reads
    /// `.claude/settings.local.json` of the folder it is started in. 2.1.325 also reads that of the main checkout when
    /// it is started in a subfolder or a worktree, unless the repository is bare or the home folder; 2.1.197 does not.
    /// So only the folder's own file makes "start claude here" true for every client.
    pub(crate) fn settings_file(self, folder: &Path, client: Option<&Path>) -> Option<PathBuf> {
        match self {
            Self::Local => Some(local_settings_file(folder)),
            Self::Project => Some(project_settings_file(folder)),
            Self::User => client.map(user_settings_file),
            Self::Plugin => None,
        }
    }

    /// Returns the file in which the server is registered, and the keys in it. The client ignores servers in its
    /// settings. Of several servers with the same name it starts the most specific: local, project, user.
    pub(crate) fn servers_file(
        self,
        folder: &Path,
        client_file: Option<&Path>,
    ) -> Option<(PathBuf, Vec<String>)> {
        match self {
            Self::Local => Some((client_file?.to_owned(), local_servers_keys(folder)?)),
            Self::User => Some((client_file?.to_owned(), vec![SERVERS_KEY.to_owned()])),
            Self::Project | Self::Plugin => {
                Some((project_servers_file(folder), vec![SERVERS_KEY.to_owned()]))
            }
        }
    }

    /// Returns true if the file must be kept out of git: it is in the checkout and contains a path of this machine.
    pub(crate) const fn is_private(self) -> bool {
        matches!(self, Self::Local)
    }

    /// Returns true if several users share the file, so that it must not contain a path of this machine.
    pub(crate) const fn is_shared(self) -> bool {
        matches!(self, Self::Project | Self::Plugin)
    }
}
