//! The environment of a client that is started here: its files, its variables, and the programs that it finds.
//!
//! Plain data, so that a test can use managed settings outside `/etc`.

use std::path::{Path, PathBuf};

use rutter_check::settings::{
    ClientFiles, MANAGED_FOLDER, SIMPLE_VARIABLE, WorkTreeFolders, is_truthy, managed_servers_file,
    managed_settings_files,
};
use rutter_memory::project::WorkTree;

use crate::CommandResult;
use crate::environment::{self, Environment};

/// The files and variables of a client that is started in a folder.
#[derive(Debug, Clone)]
pub(crate) struct ClientEnvironment {
    /// The files that the client reads.
    pub(crate) files: ClientFiles,
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
    pub(crate) rutter_home: Option<PathBuf>,
    pub(crate) data_home: Option<PathBuf>,
}

impl ClientEnvironment {
    pub(crate) fn from_env(env: &Environment) -> CommandResult<Self> {
        let folder = env.working_dir()?.to_owned();
        let home = environment::home_dir();
        let own = environment::env_variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let managed = Path::new(MANAGED_FOLDER);
        let work_tree = WorkTree::containing(&folder)
            .map(|WorkTree { root, common_dir }| WorkTreeFolders { root, common_dir });
        Ok(Self {
            files: ClientFiles {
                folder,
                work_tree,
                home: environment::env_variable("HOME").map(PathBuf::from),
                managed: managed_settings_files(managed),
                managed_servers: managed_servers_file(managed),
                config: own.or_else(|| home.map(|home| home.join(".claude"))),
                state: env.client_file.clone(),
            },
            variables: ClientVariables {
                off: environment::is_rutter_off(),
                simple: environment::env_variable(SIMPLE_VARIABLE)
                    .and_then(|value| value.into_string().ok())
                    .is_some_and(|value| is_truthy(&value)),
                rutter_home: environment::env_variable("RUTTER_HOME").map(PathBuf::from),
                data_home: environment::env_variable("XDG_DATA_HOME").map(PathBuf::from),
            },
            search: env.search.clone(),
        })
    }

    /// Finds a program by its name. Relative folders of `PATH` are skipped, because each checkout would resolve them
    /// differently.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.search.iter().filter(|folder| folder.is_absolute());
        let mut paths = folders.map(|folder| folder.join(name));
        paths.find(|path| path.is_file() && is_executable(path))
    }
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
