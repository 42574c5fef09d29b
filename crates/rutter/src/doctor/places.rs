//! The files that the client reads, and the environment of a client that is started here.
//!
//! Plain data, so that a test can use managed settings outside `/etc`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::CommandError;
use crate::environment::{self, Environment};

/// The files and variables of a client that is started in a folder.
#[derive(Debug, Clone)]
pub(crate) struct ClientEnvironment {
    /// Working directory of the client.
    pub(crate) folder: PathBuf,
    /// Settings of the organisation, the strongest first.
    pub(crate) managed: Vec<PathBuf>,
    /// The organisation's exclusive list of servers. If it exists, the client starts no other servers.
    pub(crate) managed_servers: PathBuf,
    /// The client's user-level configuration folder. None if the home folder is unknown.
    pub(crate) config: Option<PathBuf>,
    /// The client's state file, with trusted folders and user-level servers.
    pub(crate) state: Option<PathBuf>,
    /// Environment variables of a client that is started here.
    pub(crate) variables: ClientVariables,
    /// Folders of `PATH`.
    pub(crate) search: Vec<PathBuf>,
}

/// Environment variables that affect hooks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientVariables {
    pub(crate) off: bool,
    pub(crate) simple: bool,
    pub(crate) rutter_home: Option<OsString>,
    pub(crate) data_home: Option<OsString>,
    pub(crate) home: Option<OsString>,
}

#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code";

impl ClientEnvironment {
    pub(crate) fn from_env(env: &Environment) -> Result<Self, CommandError> {
        let home = environment::home_dir();
        let own = environment::env_variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        Ok(Self {
            folder: env.working_dir()?.to_owned(),
            managed: managed_settings_files(Path::new(MANAGED)),
            managed_servers: managed_servers_file(Path::new(MANAGED)),
            state: env.client_file.clone(),
            config: own.or_else(|| home.map(|home| home.join(".claude"))),
            variables: ClientVariables {
                off: environment::is_rutter_off(),
                simple: environment::env_variable("CLAUDE_CODE_SIMPLE")
                    .and_then(|value| value.into_string().ok())
                    .is_some_and(|value| is_truthy(&value)),
                rutter_home: environment::env_variable("RUTTER_HOME"),
                data_home: environment::env_variable("XDG_DATA_HOME"),
                home: environment::env_variable("HOME"),
            },
            search: env.search.clone(),
        })
    }

    pub(crate) fn local_settings(&self) -> PathBuf {
        self.folder.join(".claude/settings.local.json")
    }

    pub(crate) fn project_settings(&self) -> PathBuf {
        self.folder.join(".claude/settings.json")
    }

    pub(crate) fn user_settings(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|folder| folder.join("settings.json"))
    }

    /// Finds a program by its name. Relative folders of `PATH` are skipped, because each checkout would resolve them
    /// differently.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.search.iter().filter(|folder| folder.is_absolute());
        let mut paths = folders.map(|folder| folder.join(name));
        paths.find(|path| path.is_file() && is_executable(path))
    }
}

/// Returns true if the client treats the value of a variable as yes. Measured: `1` is yes, `0` is not.
pub(crate) fn is_truthy(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the path of the server list in an organisation's folder.
pub(crate) fn managed_servers_file(folder: &Path) -> PathBuf {
    folder.join("managed-mcp.json")
}

/// Returns the managed settings in a folder, the strongest first: files of the `.d` folder in reverse order of their
/// names, then the main file.
pub(crate) fn managed_settings_files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder.join("managed-settings.d"))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    found.sort();
    found.reverse();
    found.push(folder.join("managed-settings.json"));
    found
}
