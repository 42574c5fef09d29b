//! What the process is told by its surroundings. The one place that reads the environment and the clock.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rutter_contract::version::Version;
use rutter_memory::config::{Config, Loaded};
use rutter_memory::origin::{Origin, Writer};
use rutter_memory::project::Located;
use rutter_memory::store::{Files, Owner, UnsafePath, spool};
use rutter_memory::{Clean, Store, StoreError, Time, log};

use crate::Failure;
use crate::ui::Ui;

/// Where things are, who asks, and when.
pub(crate) struct Environment {
    /// Where the memory is kept.
    pub(crate) data: PathBuf,
    /// Where the user's configuration is looked for; none where there is no home.
    pub(crate) config_file: Option<PathBuf>,
    /// Where the client keeps what is the user's; none where there is no home.
    pub(crate) client: Option<PathBuf>,
    /// The file in which the client keeps the user's servers; none where there is no home.
    pub(crate) client_file: Option<PathBuf>,
    /// The folder that the command was typed in; none when it is gone.
    folder: Option<PathBuf>,
    /// The client's session, when one runs this command.
    session: Option<String>,
    /// What texts are written in.
    pub(crate) editor: Option<String>,
    /// This program, without symbolic links; none where the system does not tell.
    pub(crate) program: Option<PathBuf>,
    /// Where programs are looked for, in order.
    pub(crate) search: Vec<PathBuf>,
    /// When.
    pub(crate) now: Time,
}

/// Whether the user has switched Rutter off for this process and those it starts.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn is_off() -> bool {
    env::var_os("RUTTER").is_some_and(|value| value == "off")
}

/// A variable, for who looks at what a client would be started with. An empty one is none.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn variable(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Lets git directories be read of the user who became root with `sudo`, as git does.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn accept_sudo_user() {
    if rustix::process::geteuid().is_root()
        && let Some(user) = env::var("SUDO_UID").ok().and_then(|user| user.parse().ok())
    {
        rutter_memory::project::set_sudo_user(user);
    }
}

/// The folder that the client was started in, which it tells its hooks.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_folder() -> Option<PathBuf> {
    env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// How much of a command's output the client passes on: hooks inherit its environment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn bash_window() -> usize {
    rutter_memory::bash_call::window(env::var("BASH_MAX_OUTPUT_LENGTH").ok().as_deref())
}

/// How an agent starts this program: by its name where that leads here, else by its path.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn called() -> String {
    const NAME: &str = "rutter";
    let Ok(program) = env::current_exe() else { return NAME.to_owned() };
    let program = program.canonicalize().unwrap_or(program);
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path).map(|folder| folder.join(NAME)).find(|path| path.is_file())
    });
    if found.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == program) {
        return NAME.to_owned();
    }
    let path = program.to_string_lossy();
    if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.into_owned() }
}

/// Which client has started this process: it says `claude-code_2-1-325_harness`.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_version() -> Option<Version> {
    let agent = env::var("AI_AGENT").ok()?;
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    version.replace('-', ".").parse().ok()
}

/// Where the client keeps what is the user's; none where there is no home.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_home() -> Option<PathBuf> {
    let set = env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty());
    let set = set.and_then(|folder| std::path::absolute(folder).ok());
    set.or_else(|| home().map(|home| home.join(".claude")))
}

/// The file in which the client keeps the user's servers, and what it knows of folders; none where there is no home.
/// Measured: one of an older name counts instead where there is one.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn client_file() -> Option<PathBuf> {
    let client = client_home()?;
    let older = client.join(".config.json");
    if older.exists() {
        return Some(older);
    }
    let set = env::var_os("CLAUDE_CONFIG_DIR").is_some_and(|folder| !folder.is_empty());
    let folder = if set { client } else { home()? };
    Some(folder.join(".claude.json"))
}

/// This program, without symbolic links; none where the system does not tell.
pub(crate) fn program() -> Option<PathBuf> {
    env::current_exe().and_then(|path| path.canonicalize()).ok()
}

/// Tells the process that keeps a scratch folder what the folder is for. No argument: nobody is to be offered one.
pub(crate) const KEEPER: &str = "RUTTER_SCRATCH_KEEPER";

/// What the scratch folder is for that this process keeps, if it does.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn keeps_scratch() -> Option<String> {
    let purpose = env::var(KEEPER).ok()?;
    // It becomes a part of the folder's name.
    Some(purpose.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// Whether a terminal may be written to in colours: <https://no-color.org>, and terminals that know none.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn may_colour() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && env::var_os("TERM").is_some_and(|kind| kind != "dumb")
}

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now() -> Time {
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = age.map_or(0, |age| age.as_millis());
    Time::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Where the memory is kept. Asks the system for nothing, unless a path is relative or there is no home in the
/// environment: hooks ask on every call.
pub(crate) fn data() -> Result<PathBuf, Failure> {
    let data = folder("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
        Failure::Refused(
            "there is no home folder to keep the memory in; set RUTTER_HOME".to_owned(),
        )
    })?;
    if data.is_absolute() {
        return Ok(data);
    }
    Ok(env::current_dir().map_err(|_| gone())?.join(data))
}

/// Whether one folder is set for everything.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn has_home() -> bool {
    env::var_os("RUTTER_HOME").is_some_and(|home| !home.is_empty())
}

/// The user's configuration. A relative one is found from here; none where there is no home.
pub(crate) fn config_file() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("config.toml"))
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

/// A folder of ours: the one that is set for everything, else below the one of a kind, else below the home.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn folder(kind: &str, below_home: &str) -> Option<PathBuf> {
    let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("RUTTER_HOME").or_else(|| {
        // A relative path is to be ignored, says the standard for these variables.
        path(kind)
            .filter(|path| path.is_absolute())
            .or_else(|| home().map(|home| home.join(below_home)))
            .map(|folder| folder.join("rutter"))
    })
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn read() -> Result<Self, Failure> {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        Ok(Self {
            data: data()?,
            config_file: config_file(),
            client: client_home(),
            client_file: client_file(),
            session: text("CLAUDE_CODE_SESSION_ID"),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            program: program(),
            search: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            now: now(),
            folder: env::current_dir().ok(),
        })
    }

    /// Makes sure that only this user can change the data folder, before a command uses it. Warns if it had to be closed.
    pub(crate) fn secure_data(&self, ui: &mut Ui<'_>) -> Result<(), Failure> {
        let files = self.files();
        if let Some(mode) = files.secure().map_err(StoreError::from)? {
            drop(log::append_closed(&files, self.now, mode));
            writeln!(
                ui.err,
                "warning: others could write to {} (mode {mode:04o}); it is closed to them now. Look at what is stored if you \
                 do not trust them.",
                self.data.display()
            )?;
        }
        match files.links() {
            Ok(links) => match links.into_iter().next() {
                Some(link) => Err(StoreError::from(UnsafePath::Link(link)).into()),
                None => Ok(()),
            },
            // Whoever opens it says what is wrong with it.
            Err(_) => Ok(()),
        }
    }

    /// The memory, open. Says so where a damaged one had to be put aside.
    pub(crate) fn store(&self, ui: &mut Ui<'_>) -> Result<Store, Failure> {
        let mut store = Store::open(&self.data, self.now)?;
        store.write_as(self.origin());
        if let Some(path) = store.set_aside() {
            ui.remark(&format!(
                "the database was damaged and is kept as {}; `rutter doctor --repair` saves what can be read",
                path.display()
            ))?;
        }
        if store.is_read_only() && spool::waits(store.files()) {
            ui.remark("the memory cannot be written: what hooks left in the spool is not shown")?;
        }
        Ok(store)
    }

    /// The origin of what a command writes: the agent whose client runs it, else a person.
    fn origin(&self) -> Origin {
        let owner = self.owner().ok();
        let checkout = owner.map(|owner| owner.place.checkout());
        match self.session() {
            Some(session) => Origin {
                writer: Some(Writer::Agent),
                session: Some(session),
                ..Origin::person(checkout)
            },
            None => Origin::person(checkout),
        }
    }

    /// What the user has decided, and the checkout at this root.
    pub(crate) fn config(&self, root: Option<&Path>) -> Loaded {
        let user = self.config_file.as_deref().unwrap_or_else(|| Path::new(""));
        Config::load(user, root, &self.data)
    }

    /// Where the memory is, file by file.
    pub(crate) fn files(&self) -> Files {
        Files::new(&self.data)
    }

    /// The client's name for its session, when one runs this command.
    pub(crate) fn session(&self) -> Option<Clean> {
        self.session.as_deref().map(Clean::new)
    }

    /// What the user has set for the folder that the command was typed in.
    pub(crate) fn settings(&self) -> Result<Config, Failure> {
        let root = Located::find(self.folder()?).root;
        Ok(self.config(Some(&root)).config)
    }

    /// The folder that the command was typed in.
    pub(crate) fn folder(&self) -> Result<&Path, Failure> {
        self.folder.as_deref().ok_or_else(gone)
    }

    /// The project of the folder that the command was typed in.
    pub(crate) fn located(&self) -> Result<Located, Failure> {
        let user = self.config_file.as_deref().unwrap_or_else(|| Path::new(""));
        let started_in = client_folder();
        let (located, _) =
            Located::find_configured(self.folder()?, started_in.as_deref(), user, &self.data);
        Ok(located)
    }

    /// On whose behalf a command acts: the main agent of the client's session, else the standing session of the
    /// command line.
    pub(crate) fn owner(&self) -> Result<Owner, Failure> {
        Ok(Owner { client: self.session(), agent: None, place: (&self.located()?).into() })
    }
}

fn gone() -> Failure {
    Failure::Refused("this folder is gone or cannot be read; go to another one".to_owned())
}
