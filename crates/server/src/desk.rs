//! What a server knows of the world, and on whose behalf a call is made.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rutter_memory::config::{Config, Loaded, PROJECT_FILE};
use rutter_memory::origin::{Origin, Writer};
use rutter_memory::project::Located;
use rutter_memory::quiet::Quiet;
use rutter_memory::session::Process;
use rutter_memory::store::{Owner, spool};
use rutter_memory::{Clean, Hands, Store, StoreError, Time};

use crate::tools::Refusal;

/// How long a call waits for somebody else who empties the spool, how long for one who has the lock while nothing is in it, and
/// how often it looks.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(5);

/// Where the memory is, where the server was started and by whom. Everything that the environment says is said here: nothing
/// below reads it.
#[derive(Debug, Clone)]
pub struct Desk {
    /// Where the memory is kept.
    pub data: PathBuf,
    /// The user's configuration, if there is one.
    pub config: PathBuf,
    /// The folder that it was started in.
    pub folder: PathBuf,
    /// The folder that the client was started in, where it says so.
    pub started_in: Option<PathBuf>,
    /// Who calls where the call itself does not say.
    pub otherwise: Whose,
    /// By which way calls come.
    pub door: Door,
    /// Whether `RUTTER=off` is set where it was started.
    pub off: bool,
    /// The user's home, where a setting speaks of it.
    pub home: fn() -> Option<PathBuf>,
    /// What time it is.
    pub now: fn() -> Time,
    /// How an agent starts this program.
    pub called: fn() -> String,
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The main agent of a client's session.
    Session(Clean),
    /// Whoever started this process: it is a session by itself, for nobody says that two of them are the same. It is over when
    /// the process is gone.
    Process(Clean, Process),
    /// Somebody who types commands in a folder: they share one session.
    Standing,
}

/// By which way calls come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Typed by a person, who may do as they like: quiet is asked for from agents.
    Typed,
    /// From the one client that started this process, in the folder that it works in.
    Client,
    /// From any client of this machine, wherever that works.
    Anybody,
}

/// On whose behalf a call is made, and why it comes to nothing where somebody wants quiet there.
pub(crate) struct Caller {
    pub(crate) owner: Owner,
    pub(crate) quiet: Option<String>,
}

impl Desk {
    /// The memory, open.
    pub(crate) fn store(&self) -> Result<Store, StoreError> {
        Store::open(&self.data, (self.now)())
    }

    /// The origin of what a call writes.
    pub(crate) fn origin(&self, owner: &Owner) -> Origin {
        let person = Origin::person(Some(owner.place.checkout()));
        if self.door == Door::Typed && owner.client.is_none() {
            return person;
        }
        let (session, agent) = (owner.client.clone(), owner.agent.clone());
        Origin { writer: Some(Writer::Agent), session, agent, ..person }
    }

    /// On whose behalf a call is made, by the client's name for it.
    ///
    /// The process of a server lives on after `/clear` with the old session in its environment, and subagents share it. So
    /// what the hook wrote down just before counts first.
    pub(crate) fn caller(
        &self,
        store: &mut Store,
        tool_use: Option<&str>,
    ) -> Result<Caller, Refusal> {
        if self.door == Door::Typed {
            return Ok(Caller { owner: self.own(), quiet: None });
        }
        // Hooks write nothing down then, and nothing has to be waited for.
        if let Some(quiet) = self.is_still(store) {
            return Ok(Caller { owner: self.own(), quiet: Some(quiet) });
        }
        let owner = match tool_use {
            None => None,
            Some(tool_use) => self.recorded(store, tool_use)?,
        };
        let (owner, folder) = match owner {
            Some(owner) => {
                let root = PathBuf::from(owner.place.root.as_str());
                (owner, root)
            }
            // Where hooks are silent, text must not land in whatever folder the server happens to stand in.
            None if tool_use.is_some() && self.door == Door::Anybody => {
                return Err(Refusal::Refused(
                    "no hook of rutter's said whose call this is: hooks are paused, the folder is excluded, or `rutter init` was not run there"
                        .to_owned(),
                ));
            }
            None => (self.own(), self.folder.clone()),
        };
        let quiet = self.quiet(store, &owner, &folder);
        Ok(Caller { owner, quiet })
    }

    /// What the hook wrote down.
    fn recorded(&self, store: &mut Store, tool_use: &str) -> Result<Option<Owner>, Refusal> {
        let begun = Instant::now();
        loop {
            // It may have had to leave it in the spool. Looked at first: what is in there no more is in the database.
            let waits = spool::waits(store.files());
            if let Some(owner) = store.caller(tool_use)? {
                return Ok(Some(owner));
            }
            // Where somebody else is emptying it, it is there once they are done: a call that did not wait would land with
            // another session, and the next one with the right one.
            if store.gather_if_free((self.now)())? {
                return Ok(store.caller(tool_use)?);
            }
            match (waits, begun.elapsed()) {
                (true, waited) if waited >= PATIENCE => {
                    return Err(Refusal::Refused(
                        "the memory is busy, and whose call this is waits to be written down; nothing was done, try again"
                            .to_owned(),
                    ));
                }
                (false, waited) if waited >= GLANCE => return Ok(None),
                _ => thread::sleep(STEP),
            }
        }
    }

    /// Whoever the process stands for, where it was started.
    fn own(&self) -> Owner {
        let client = match &self.otherwise {
            Whose::Session(name) | Whose::Process(name, _) => Some(name.clone()),
            Whose::Standing => None,
        };
        Owner { client, agent: None, place: (&self.located()).into() }
    }

    /// The process that a session stands and falls with, where it is the server's own.
    pub(crate) fn process_of(&self, owner: &Owner) -> Option<Process> {
        match &self.otherwise {
            Whose::Process(name, process) if owner.client.as_ref() == Some(name) => Some(*process),
            _ => None,
        }
    }

    /// Why nothing at all comes of any call.
    fn is_still(&self, store: &Store) -> Option<String> {
        if self.off {
            return Some(
                "RUTTER=off is set where this server was started: nothing is kept or recalled; start the client without it"
                    .to_owned(),
            );
        }
        let paused =
            rutter_memory::pause::is_paused(store.files(), rutter_memory::pause::EVERYTHING);
        paused.then(|| {
            "rutter is paused: nothing is kept or recalled; `rutter pause --off` ends it".to_owned()
        })
    }

    /// Why nothing comes of a call of somebody in a folder.
    fn quiet(&self, store: &Store, owner: &Owner, folder: &Path) -> Option<String> {
        let root = Path::new(owner.place.root.as_str());
        let config = Config::load(&self.config, Some(root), &self.data).config;
        let client = owner.client.as_ref().map(Clean::as_str);
        Some(match Quiet::of(store.files(), &config, client, folder, self.home)? {
            Quiet::Excluded => {
                let own = Config::load(&self.config, None, &self.data).config;
                let file = if own.scope.excludes(folder, (self.home)().as_deref()) {
                    self.config.clone()
                } else {
                    root.join(PROJECT_FILE)
                };
                format!(
                    "this folder is excluded: nothing of it is kept, and nothing recalled in it; `scope.exclude` in {} says so",
                    file.display()
                )
            }
            // Somebody has paused it in between.
            Quiet::Paused => self.is_still(store)?,
            Quiet::SessionPaused => format!(
                "this session is paused: nothing is kept or recalled; `rutter pause --session {} --off` ends it",
                client.unwrap_or_default()
            ),
        })
    }

    /// What whoever calls goes on with.
    pub(crate) fn hands(&self) -> Hands {
        match self.door {
            Door::Typed => Hands::Commands((self.called)()),
            Door::Client | Door::Anybody => Hands::Tools,
        }
    }

    /// Where it was started.
    fn located(&self) -> Located {
        let started_in = self.started_in.as_deref();
        Located::find_configured(&self.folder, started_in, &self.config, &self.data).0
    }

    /// What the user has decided for a checkout.
    pub(crate) fn settings(&self, root: &str) -> Config {
        let Loaded { config, .. } = Config::load(&self.config, Some(root.as_ref()), &self.data);
        config
    }
}
