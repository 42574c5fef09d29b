//! The context of a server: its paths, its clock, and the owner of each call.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rutter_hooks::AgentInterface;
use rutter_hooks::silence::SilenceReason;
use rutter_memory::config::{Config, LoadedConfig, PROJECT_FILE};
use rutter_memory::origin::{Origin, Writer};
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::PathLine as _;
use rutter_memory::session::SessionProcess;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{GhapOwner, spool};
use rutter_memory::{Clean, Store, StoreError, Time};

use crate::refusal::ToolRefusal;

/// The time limit for a call while another process drains a spool that may hold its owner.
const SPOOL_WAIT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for a call while another process holds the lock of an empty spool.
const EMPTY_SPOOL_WAIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval between two checks for the owner.
const OWNER_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Everything a server needs from its environment: data directory, configuration, folder, default caller, clock. The
/// code below reads no environment itself.
#[derive(Debug, Clone)]
pub struct ServerContext {
    /// The data directory.
    pub data: PathBuf,
    /// The path of the user's configuration, which need not exist.
    pub config: PathBuf,
    /// The folder in which the server was started.
    pub folder: PathBuf,
    /// The folder in which the client was started, if known.
    pub started_in: Option<PathBuf>,
    /// The place of the folder when the server started. None: it is located anew for each call.
    pub start_place: Option<ProjectPlace>,
    /// The caller if no hook recorded the owner of the call.
    pub default_caller: CallerIdentity,
    /// The way calls arrive.
    pub channel: CallChannel,
    /// True if `RUTTER=off` is set in the server's environment.
    pub off: bool,
    /// Returns the user's home directory, for settings that refer to it.
    pub home: fn() -> Option<PathBuf>,
    /// Returns the current time.
    pub now: fn() -> Time,
    /// Returns the command by which an agent starts this program.
    pub called: fn() -> String,
}

/// The identity of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerIdentity {
    /// The main agent of a client's session.
    Session(Clean),
    /// The client that started this process. The process is a session by itself, because two processes need not belong
    /// to the same session; the session is over when the process is gone.
    Process(Clean, SessionProcess),
    /// A user who types commands in a folder; all such commands share one session.
    Standing,
}

/// The way calls arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallChannel {
    /// Typed by a person. Pauses and exclusions do not apply, because they are meant for agents.
    CommandLine,
    /// From the one client that started this process, in the folder of that client.
    Client,
    /// From any client of this machine, in any folder.
    AnyClient,
}

/// The owner of a call, and the reason to refuse it if the user paused or excluded that owner.
pub(crate) struct Caller {
    pub(crate) owner: GhapOwner,
    pub(crate) quiet: Option<String>,
}

impl ServerContext {
    /// Locates the project now, so that a remote that changes later does not move the server to another project.
    #[must_use]
    pub fn with_start_place(self) -> Self {
        let place = ProjectPlace::from(&self.locate_folder());
        Self { start_place: Some(place), ..self }
    }

    /// Opens the store.
    pub(crate) fn store(&self) -> Result<Store, StoreError> {
        Store::open(&self.data, (self.now)())
    }

    /// Returns the origin of the rows that a call writes.
    pub(crate) fn origin(&self, owner: &GhapOwner) -> Origin {
        let person = Origin::person(Some(owner.place.checkout()));
        if self.channel == CallChannel::CommandLine && owner.client.is_none() {
            return person;
        }
        let (session, agent) = (owner.client.clone(), owner.agent.clone());
        Origin { writer: Some(Writer::Agent), session, agent, ..person }
    }

    /// Finds the owner of a call by the client's id of the call.
    ///
    /// After `/clear` the server process lives on with the old session in its environment, and subagents share the
    /// process. So the owner that the PreToolUse hook recorded just before comes first.
    pub(crate) fn caller(
        &self,
        store: &mut Store,
        tool_use: Option<&str>,
    ) -> Result<Caller, ToolRefusal> {
        if self.channel == CallChannel::CommandLine {
            return Ok(Caller { owner: self.default_owner(), quiet: None });
        }
        // Hooks record nothing in this state, so there is nothing to wait for.
        if let Some(quiet) = self.global_quiet_reason(store) {
            return Ok(Caller { owner: self.default_owner(), quiet: Some(quiet) });
        }
        let owner = match tool_use {
            None => None,
            Some(tool_use) => self.recorded_owner(store, tool_use)?,
        };
        let (owner, folder) = match owner {
            Some(owner) => {
                let root = PathBuf::from(owner.place.root.as_str());
                (owner, root)
            }
            // Without a recorded owner, text must not land in the project of the server's own folder.
            None if tool_use.is_some() && self.channel == CallChannel::AnyClient => {
                return Err(ToolRefusal::Refused(
                    "no rutter hook recorded the session of this call, so nothing was done: \
                     hooks are paused, the folder is excluded, or `rutter init` was not run \
                     there"
                        .to_owned(),
                ));
            }
            None => (self.session_owner(store)?, self.folder.clone()),
        };
        let quiet = self.quiet_reason(store, &owner, &folder);
        Ok(Caller { owner, quiet })
    }

    /// Returns the owner that the hook recorded, and waits for it while the spool is being drained.
    fn recorded_owner(
        &self,
        store: &mut Store,
        tool_use: &str,
    ) -> Result<Option<GhapOwner>, ToolRefusal> {
        let begun = Instant::now();
        loop {
            // Checks the spool before the database: an entry that has left the spool is in the database.
            let waits = spool::has_drainable_entries(store.files());
            if let Some(owner) = store.find_caller(tool_use)? {
                return Ok(Some(owner));
            }
            // Another process is draining the spool, and the entry is in the database afterwards. A call that does not
            // wait would land in another session than the next call.
            if store.try_drain_spool((self.now)())? {
                return Ok(store.find_caller(tool_use)?);
            }
            match (waits, begun.elapsed()) {
                (true, waited) if waited >= SPOOL_WAIT_TIMEOUT => {
                    return Err(ToolRefusal::Refused(
                        "the memory is busy, so the session of this call is not recorded yet; \
                         nothing was done; try again"
                            .to_owned(),
                    ));
                }
                (false, waited) if waited >= EMPTY_SPOOL_WAIT_TIMEOUT => return Ok(None),
                _ => thread::sleep(OWNER_POLL_INTERVAL),
            }
        }
    }

    /// Returns the default caller as an owner, in the server's folder.
    fn default_owner(&self) -> GhapOwner {
        let client = match &self.default_caller {
            CallerIdentity::Session(name) | CallerIdentity::Process(name, _) => Some(name.clone()),
            CallerIdentity::Standing => None,
        };
        let place = self.start_place.clone().unwrap_or_else(|| (&self.locate_folder()).into());
        GhapOwner { client, agent: None, place }
    }

    /// Returns the default caller as an owner, in the project of its session. A new remote of the repository in which the
    /// server runs does not move it to another project.
    fn session_owner(&self, store: &Store) -> Result<GhapOwner, ToolRefusal> {
        let owner = self.default_owner();
        let Some(client) = &owner.client else { return Ok(owner) };
        let place = store.place_in_session(client, owner.place)?;
        Ok(GhapOwner { place, ..owner })
    }

    /// Returns the process that the owner's session ends with, if the session is the server process itself.
    pub(crate) fn process_of(&self, owner: &GhapOwner) -> Option<SessionProcess> {
        match &self.default_caller {
            CallerIdentity::Process(name, process) if owner.client.as_ref() == Some(name) => {
                Some(*process)
            }
            _ => None,
        }
    }

    /// Returns the reason why all calls are refused, if any.
    fn global_quiet_reason(&self, store: &Store) -> Option<String> {
        if self.off {
            return Some(
                "RUTTER=off is set for this server, so nothing is stored or recalled; start the \
                 client without it"
                    .to_owned(),
            );
        }
        let paused =
            rutter_memory::pause::is_paused(store.files(), rutter_memory::pause::ALL_SESSIONS);
        paused.then(|| {
            "rutter is paused: nothing is stored or recalled; `rutter pause --off` ends the pause".to_owned()
        })
    }

    /// Returns the reason why calls of this owner in this folder are refused, if any.
    fn quiet_reason(&self, store: &Store, owner: &GhapOwner, folder: &Path) -> Option<String> {
        let root = Path::new(owner.place.root.as_str());
        let config = Config::load(&self.config, Some(root), &self.data).config;
        let client = owner.client.as_ref().map(Clean::as_str);
        Some(match SilenceReason::check(store.files(), &config, client, folder, self.home)? {
            SilenceReason::Excluded => {
                let own = Config::load(&self.config, None, &self.data).config;
                let file = if own.scope.excludes(folder, (self.home)().as_deref()) {
                    self.config.clone()
                } else {
                    root.join(PROJECT_FILE)
                };
                format!(
                    "this folder is excluded by `scope.exclude` in {}: nothing is stored or \
                     recalled here",
                    file.to_line()
                )
            }
            // The user paused everything since the first check.
            SilenceReason::Paused => self.global_quiet_reason(store)?,
            SilenceReason::SessionPaused => format!(
                "this session is paused: nothing is stored or recalled; `rutter pause --session \
                 {} --off` ends the pause",
                client.unwrap_or_default()
            ),
        })
    }

    /// Returns the interface that advice in answers refers to: commands for a person, tools for an agent.
    pub(crate) fn agent_interface(&self) -> AgentInterface {
        match self.channel {
            CallChannel::CommandLine => AgentInterface::Cli((self.called)()),
            CallChannel::Client | CallChannel::AnyClient => AgentInterface::McpTools,
        }
    }

    /// Returns the project location of the server's folder.
    fn locate_folder(&self) -> LocatedProject {
        let started_in = self.started_in.as_deref();
        LocatedProject::find_configured(&self.folder, started_in, &self.config, &self.data).0
    }

    /// Returns the configuration for a checkout.
    pub(crate) fn checkout_config(&self, root: &str) -> Config {
        let LoadedConfig { config, .. } =
            Config::load(&self.config, Some(root.as_ref()), &self.data);
        config
    }
}
