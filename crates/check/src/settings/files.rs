//! The files that a client reads when it is started in a folder.
//!
//! Plain data, so that a caller decides about the environment, and a test can use managed settings outside `/etc`.

use std::path::{Path, PathBuf};

use rutter_contract::version::{Contract, Version};

use super::storage::client_storage_folder;

/// First client version that was seen to read the local settings of the main checkout too.
pub const FIRST_CHECKOUT_SETTINGS_VERSION: Version = Version::new(2, 1, 325);

/// The folder of managed settings on this system.
#[cfg(target_os = "macos")]
pub const MANAGED_FOLDER: &str = "/Library/Application Support/ClaudeCode";
/// The folder of managed settings on this system.
#[cfg(not(target_os = "macos"))]
pub const MANAGED_FOLDER: &str = "/etc/claude-code";

/// The files of a client that is started in a folder.
#[derive(Debug, Clone, Default)]
pub struct ClientFiles {
    /// Working directory of the client.
    pub folder: PathBuf,
    /// The git work tree that contains the folder. None outside a repository.
    pub work_tree: Option<WorkTreeFolders>,
    /// The user's home folder. None if it is unknown.
    pub home: Option<PathBuf>,
    /// Settings of the organisation, the strongest first.
    pub managed: Vec<PathBuf>,
    /// The organisation's exclusive list of servers. If it exists, the client starts no other servers.
    pub managed_servers: PathBuf,
    /// The client's user-level configuration folder. None if the home folder is unknown.
    pub config: Option<PathBuf>,
    /// The client's state file, with trusted folders and user-level servers.
    pub state: Option<PathBuf>,
}

/// The folders of a git work tree, canonical. Callers find them, because only they can decide whose repositories count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTreeFolders {
    /// Folder of the work tree.
    pub root: PathBuf,
    /// The git directory that it shares with other worktrees of its repository.
    pub common_dir: PathBuf,
}

impl ClientFiles {
    /// Returns the settings of the user for this folder.
    pub fn local_settings(&self) -> PathBuf {
        local_settings_file(&self.folder)
    }

    /// Returns the settings of the project.
    pub fn project_settings(&self) -> PathBuf {
        project_settings_file(&self.folder)
    }

    /// Returns the settings of the user for all folders.
    pub fn user_settings(&self) -> Option<PathBuf> {
        self.config.as_deref().map(user_settings_file)
    }

    /// Returns the local settings of the main checkout if the client version reads them.
    pub(super) fn checkout_settings(&self, contract: Contract) -> Option<PathBuf> {
        let tree =
            self.work_tree.as_ref().filter(|_| contract.has(FIRST_CHECKOUT_SETTINGS_VERSION))?;
        checkout_settings_file(&self.folder, self.home.as_deref(), &tree.common_dir)
    }
}

/// Returns the user's settings for a folder.
pub fn local_settings_file(folder: &Path) -> PathBuf {
    folder.join(".claude/settings.local.json")
}

/// Returns the project's settings in a folder.
pub fn project_settings_file(folder: &Path) -> PathBuf {
    folder.join(".claude/settings.json")
}

/// Returns the user's settings for all folders, in the client's configuration folder.
pub fn user_settings_file(config: &Path) -> PathBuf {
    config.join("settings.json")
}

/// Returns the list of servers of the project in a folder.
pub fn project_servers_file(folder: &Path) -> PathBuf {
    folder.join(".mcp.json")
}

/// The client's key for a list of servers.
pub const SERVERS_KEY: &str = "mcpServers";

/// Returns the keys in the client's state file that lead to the user's servers for a folder. Returns None if the path
/// of the folder is not UTF-8.
pub fn local_servers_keys(folder: &Path) -> Option<Vec<String>> {
    let stored = client_storage_folder(folder).to_str()?.to_owned();
    Some(vec!["projects".to_owned(), stored, SERVERS_KEY.to_owned()])
}

/// Returns the local settings of the main checkout. The newer client also reads them when it is started in a subfolder
/// or a worktree, unless the repository is bare or the home folder. Measured: it does not read the project's settings
/// there, and 2.1.197 reads neither. `common_dir` is the git directory of the repository.
pub fn checkout_settings_file(
    folder: &Path,
    home: Option<&Path>,
    common_dir: &Path,
) -> Option<PathBuf> {
    let main = common_dir.parent().filter(|_| common_dir.ends_with(".git"))?;
    let here = folder.canonicalize().ok()?;
    let home = home.and_then(|home| home.canonicalize().ok());
    (here != main && home.as_deref() != Some(main)).then(|| local_settings_file(main))
}

/// Returns the path of the server list in an organisation's folder.
pub fn managed_servers_file(folder: &Path) -> PathBuf {
    folder.join("managed-mcp.json")
}

/// Returns the managed settings in a folder, the strongest first: files of the `.d` folder in reverse order of their
/// names, then the main file.
pub fn managed_settings_files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder.join("managed-settings.d"))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    found.sort();
    found.reverse();
    found.push(folder.join("managed-settings.json"));
    found
}
