//! The process environment: variables, folders and clock. Only this module reads environment variables and the time.

use std::env;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rutter_contract::version::Version;
use rutter_memory::config::{Config, LoadedConfig};
use rutter_memory::origin::{Origin, Writer};
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::PathLine as _;
use rutter_memory::store::{DataDir, GhapOwner, UnsafePath, spool};
use rutter_memory::{Clean, Store, StoreError, Time, log};

use crate::ui::{Terminal, Ui};
use crate::{CommandError, CommandResult};

/// The folders, program paths, client session and time that a command works with.
pub(crate) struct Environment {
    /// Data directory of the memory.
    pub(crate) data: PathBuf,
    /// Path of the user's configuration file. None if the home folder is unknown.
    pub(crate) config_file: Option<PathBuf>,
    /// The client's user-level configuration folder. None if the home folder is unknown.
    pub(crate) client: Option<PathBuf>,
    /// The client's file with the user-level MCP servers. None if the home folder is unknown.
    pub(crate) client_file: Option<PathBuf>,
    /// Working directory of the command. None if it was deleted or cannot be read.
    folder: Option<PathBuf>,
    /// Id of the client session that runs this command. None outside a session.
    session: Option<String>,
    /// Command line of the user's text editor.
    pub(crate) editor: Option<String>,
    /// Path of this executable, without symbolic links. None if the system cannot determine it.
    pub(crate) program: Option<PathBuf>,
    /// Folders of `PATH`, in search order.
    pub(crate) search: Vec<PathBuf>,
    /// Time at which the command started.
    pub(crate) now: Time,
}

/// Returns true if `RUTTER=off` disables Rutter for this process and its children.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn is_rutter_off() -> bool {
    env::var_os("RUTTER").is_some_and(|value| value == "off")
}

/// Returns an environment variable, for the checks of a client's environment. An empty variable counts as unset.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn env_variable(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the variables that a hook under test inherits: all but those that name a home folder, belong to another client,
/// or may hold a secret.
pub(crate) fn hook_variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    const PREFIXES: [&str; 5] = ["CLAUDE", "XDG_", "OTEL_", "RUTTER", "ANTHROPIC_"];
    const SECRETS: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "_KEY", "SSH_AUTH"];
    let is_passed = |name: &str| {
        let upper = name.to_ascii_uppercase();
        !PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
            && !SECRETS.iter().any(|secret| upper.contains(secret))
            && name != "HOME"
    };
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

/// Accepts git directories of the user who became root with `sudo`, as git does.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn accept_sudo_user() {
    if rustix::process::geteuid().is_root()
        && let Some(user) = env::var("SUDO_UID").ok().and_then(|user| user.parse().ok())
    {
        rutter_memory::project::set_sudo_user(user);
    }
}

/// Returns the folder in which the client was started. The client passes it to its hooks.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_start_dir() -> Option<PathBuf> {
    env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the working directory of this process, without symbolic links.
pub(crate) fn process_folder() -> Option<PathBuf> {
    env::current_dir().ok()
}

/// Returns the number of output bytes that the client passes on. Hooks inherit the client's environment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn bash_output_window() -> usize {
    rutter_hooks::bash_call::output_window(env::var("BASH_MAX_OUTPUT_LENGTH").ok().as_deref())
}

/// Returns the command with which an agent starts this program: its name if `PATH` leads to it, otherwise its path.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn agent_command() -> String {
    const PROGRAM_NAME: &str = "rutter";
    let Ok(program) = env::current_exe() else { return PROGRAM_NAME.to_owned() };
    let program = program.canonicalize().unwrap_or(program);
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path).map(|folder| folder.join(PROGRAM_NAME)).find(|path| path.is_file())
    });
    if found.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == program) {
        return PROGRAM_NAME.to_owned();
    }
    let path = program.to_string_lossy();
    if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.into_owned() }
}

/// Variable with the minimum deadline of every hook in milliseconds, for hooks that must not stay silent on a busy
/// machine: those of tests, of the demo and of `rutter doctor --live`.
pub(crate) const MIN_DEADLINE_VARIABLE: &str = "RUTTER_MIN_DEADLINE_MS";

/// The largest minimum deadline, which is also the time after which a hook ends.
pub(crate) const MAX_MIN_DEADLINE_MS: u64 = 1_000;

/// Returns the minimum deadline of every hook; zero unless the environment sets one.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn min_hook_deadline() -> Duration {
    let set = env::var(MIN_DEADLINE_VARIABLE).ok().and_then(|value| value.parse().ok());
    Duration::from_millis(set.map_or(0, |set: u64| set.min(MAX_MIN_DEADLINE_MS)))
}

/// Returns the version of the client that started this process, from a variable like `claude-code_2-1-325_harness`.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_version() -> Option<Version> {
    let agent = env::var("AI_AGENT").ok()?;
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    version.replace('-', ".").parse().ok()
}

/// Returns the client's user-level configuration folder, or None if the home folder is unknown.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_config_dir() -> Option<PathBuf> {
    let set = env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty());
    let set = set.and_then(|folder| std::path::absolute(folder).ok());
    set.or_else(|| home_dir().map(|home| home.join(".claude")))
}

/// Returns the client's file with the user-level MCP servers and the state of project folders, or None if the home
/// folder is unknown. Measured: a file with the older name takes precedence if it exists.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_state_file() -> Option<PathBuf> {
    let client = client_config_dir()?;
    let older = client.join(".config.json");
    if older.exists() {
        return Some(older);
    }
    let set = env::var_os("CLAUDE_CONFIG_DIR").is_some_and(|folder| !folder.is_empty());
    let folder = if set { client } else { home_dir()? };
    Some(folder.join(".claude.json"))
}

/// Returns the path of this executable, without symbolic links, or None if the system cannot determine it.
pub(crate) fn current_program() -> Option<PathBuf> {
    env::current_exe().and_then(|path| path.canonicalize()).ok()
}

impl Terminal {
    /// Returns the properties of stdout if it is a terminal.
    pub fn from_stdout() -> Option<Self> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(&stdout);
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        Some(Self {
            columns: if columns == 0 { Self::DEFAULT_COLUMNS } else { columns },
            colours: can_use_colours(),
        })
    }
}

/// Returns true if the terminal supports colours and the user has not disabled them (<https://no-color.org>).
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn can_use_colours() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && env::var_os("TERM").is_some_and(|kind| kind != "dumb")
}

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn current_time() -> Time {
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = age.map_or(0, |age| age.as_millis());
    Time::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Returns the data directory. Makes no system call unless the path is relative or `HOME` is unset, because hooks call
/// this on every event.
pub(crate) fn data_dir() -> CommandResult<PathBuf> {
    let data = rutter_folder("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
        CommandError::Refused(
            "no home folder is known, so there is no place for the memory; set RUTTER_HOME"
                .to_owned(),
        )
    })?;
    if data.is_absolute() {
        return Ok(data);
    }
    Ok(env::current_dir().map_err(|_| missing_folder_failure())?.join(data))
}

/// Returns true if `RUTTER_HOME` sets one folder for data and configuration.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn has_rutter_home() -> bool {
    env::var_os("RUTTER_HOME").is_some_and(|home| !home.is_empty())
}

/// Returns the path of the user's configuration file, or None if the home folder is unknown. A relative path is
/// relative to the working directory.
pub(crate) fn config_file_path() -> Option<PathBuf> {
    rutter_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("config.toml"))
}

/// Returns the user's home folder, if it is an absolute path.
pub(crate) fn home_dir() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

/// Returns a folder of Rutter: `RUTTER_HOME`, else `rutter` in the XDG folder of this kind, else `rutter` below the
/// home folder.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn rutter_folder(kind: &str, below_home: &str) -> Option<PathBuf> {
    let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("RUTTER_HOME").or_else(|| {
        // The XDG standard tells programs to ignore relative paths.
        path(kind)
            .filter(|path| path.is_absolute())
            .or_else(|| home_dir().map(|home| home.join(below_home)))
            .map(|folder| folder.join("rutter"))
    })
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn from_process() -> CommandResult<Self> {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        Ok(Self {
            data: data_dir()?,
            config_file: config_file_path(),
            client: client_config_dir(),
            client_file: client_state_file(),
            session: text("CLAUDE_CODE_SESSION_ID"),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            program: current_program(),
            search: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            now: current_time(),
            folder: env::current_dir().ok(),
        })
    }

    /// Ensures that only this user can change the data directory. Prints a warning if the permissions had to be
    /// restricted.
    pub(crate) fn secure_data(&self, ui: &mut Ui<'_>) -> CommandResult {
        let files = self.data_dir();
        if let Some(mode) = files.secure().map_err(StoreError::from)? {
            drop(log::append_permission_change(&files, self.now, mode));
            writeln!(
                ui.err,
                "warning: other users could write to {} (mode {mode:04o}); rutter has removed \
                 that permission. Check the stored rows if you do not trust these users.",
                self.data.to_line()
            )?;
        }
        match files.symbolic_links() {
            Ok(links) => match links.into_iter().next() {
                Some(link) => Err(StoreError::from(UnsafePath::Link(link)).into()),
                None => Ok(()),
            },
            // Opening the store reports the cause.
            Err(_) => Ok(()),
        }
    }

    /// Opens the store. Prints a remark if a damaged database was set aside.
    pub(crate) fn open_store(&self, ui: &mut Ui<'_>) -> CommandResult<Store> {
        let mut store = Store::open(&self.data, self.now)?;
        store.set_author(self.origin());
        if let Some(path) = store.set_aside() {
            ui.print_note(&format!(
                "the database was damaged and is kept as {}; run `rutter doctor --repair` to \
                 save its readable rows",
                path.to_line()
            ))?;
        }
        if store.is_read_only() && spool::has_drainable_entries(store.files()) {
            ui.print_note(
                "the memory is read-only, so entries that wait in the spool are not shown",
            )?;
        }
        Ok(store)
    }

    /// Returns the origin of a command's writes: the agent of the client session that runs it, otherwise a person.
    fn origin(&self) -> Origin {
        let owner = self.owner().ok();
        let checkout = owner.map(|owner| owner.place.checkout());
        match self.session_id() {
            Some(session) => Origin {
                writer: Some(Writer::Agent),
                session: Some(session),
                ..Origin::person(checkout)
            },
            None => Origin::person(checkout),
        }
    }

    /// Loads the configuration of the user and of the checkout at this root.
    pub(crate) fn load_config(&self, root: Option<&Path>) -> LoadedConfig {
        let user = self.config_file.as_deref().unwrap_or_else(|| Path::new(""));
        Config::load(user, root, &self.data)
    }

    /// Returns the paths of the files in the data directory.
    pub(crate) fn data_dir(&self) -> DataDir {
        DataDir::new(&self.data)
    }

    /// Returns the id of the client session that runs this command, if any.
    pub(crate) fn session_id(&self) -> Option<Clean> {
        self.session.as_deref().map(Clean::new)
    }

    /// Loads the configuration for the working directory of the command.
    pub(crate) fn load_folder_config(&self) -> CommandResult<Config> {
        let root = LocatedProject::find(self.working_dir()?).root;
        Ok(self.load_config(Some(&root)).config)
    }

    /// Returns the working directory of the command.
    pub(crate) fn working_dir(&self) -> CommandResult<&Path> {
        self.folder.as_deref().ok_or_else(missing_folder_failure)
    }

    /// Locates the project of the command's working directory.
    pub(crate) fn locate_project(&self) -> CommandResult<LocatedProject> {
        let user = self.config_file.as_deref().unwrap_or_else(|| Path::new(""));
        let started_in = client_start_dir();
        let (located, _) = LocatedProject::find_configured(
            self.working_dir()?,
            started_in.as_deref(),
            user,
            &self.data,
        );
        Ok(located)
    }

    /// Returns the owner of the command's entries: the main agent of the client session, otherwise the permanent
    /// session of the command line.
    pub(crate) fn owner(&self) -> CommandResult<GhapOwner> {
        Ok(GhapOwner {
            client: self.session_id(),
            agent: None,
            place: (&self.locate_project()?).into(),
        })
    }
}

fn missing_folder_failure() -> CommandError {
    CommandError::Refused(
        "the current folder is gone or cannot be read; go to another folder".to_owned(),
    )
}
