//! What a server knows of the world, and on whose behalf a call is made.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rutter_memory::config::{Config, Loaded};
use rutter_memory::project::Located;
use rutter_memory::store::Owner;
use rutter_memory::{Clean, Store, StoreError, Time};

/// How long a call waits for somebody else who empties the spool, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(1);
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
    /// Whoever started this process: it is a session by itself, for nobody says that two of them are the same.
    Process(Clean),
    /// Somebody who types commands in a folder: they share one session.
    Standing,
}

impl Desk {
    /// The memory, open.
    pub(crate) fn store(&self) -> Result<Store, StoreError> {
        Store::open(&self.data, (self.now)())
    }

    /// On whose behalf a call is made, by the client's name for it.
    ///
    /// The process of a server lives on after `/clear` with the old session in its environment, and subagents share it. So
    /// what the hook wrote down just before counts first.
    pub(crate) fn owner(
        &self,
        store: &mut Store,
        tool_use: Option<&str>,
    ) -> Result<Owner, StoreError> {
        if let Some(tool_use) = tool_use {
            let until = Instant::now() + PATIENCE;
            let mut gathered = false;
            loop {
                if let Some(owner) = store.caller(tool_use)? {
                    return Ok(owner);
                }
                if gathered || Instant::now() >= until {
                    break;
                }
                // The hook may have had to leave it in the spool. Where somebody else is emptying that, it is there once they are done:
                // a call that did not wait would land with nobody's session, and the next one with the right one.
                gathered = store.gather_if_free((self.now)())?;
                if !gathered {
                    thread::sleep(STEP);
                }
            }
        }
        let client = match &self.otherwise {
            Whose::Session(name) | Whose::Process(name) => Some(name.clone()),
            Whose::Standing => None,
        };
        Ok(Owner { client, agent: None, place: (&self.located()).into() })
    }

    /// Where it was started.
    pub(crate) fn located(&self) -> Located {
        Located::find_from(&self.folder, self.started_in.as_deref())
    }

    /// What the user has decided for a checkout.
    pub(crate) fn settings(&self, root: &str) -> Config {
        let Loaded { config, .. } = Config::load(&self.config, Some(root.as_ref()), &self.data);
        config
    }
}
