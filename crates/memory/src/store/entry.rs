//! What hooks write. An entry is applied by one function, be it at once or out of the spool.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::{
    StoreError, callers, effects, episodes, injections, origins, outcomes, projects, sessions,
    spoken,
};
use crate::change::Change;
use crate::ghap::Told;
use crate::injection::Injection;
use crate::project::{Located, ProjectKey};
use crate::run::Run;
use crate::session::{Process, Source};
use crate::{Clean, Id, Time};

/// Where something happened, fit to be written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The project's strongest key.
    pub key: ProjectKey,
    /// Weaker keys of the same place, strongest first.
    pub aliases: Vec<ProjectKey>,
    /// The folder.
    pub root: Clean,
    /// What people call it.
    pub name: Clean,
}

impl Place {
    /// The main folder of the repository, which its linked worktrees share, or the folder itself without git. Other clones of
    /// the same project have another one.
    pub fn checkout(&self) -> Clean {
        let mut keys = std::iter::once(&self.key).chain(&self.aliases);
        let folder = keys.find(|key| key.is_folder());
        let path = folder.and_then(|key| key.as_str().strip_prefix("dir:"));
        path.map_or_else(|| self.root.clone(), Clean::new)
    }
}

impl From<&Located> for Place {
    fn from(located: &Located) -> Self {
        Self {
            key: located.key.clone(),
            aliases: located.aliases.clone(),
            root: Clean::new(&located.root.to_string_lossy()),
            name: Clean::new(&located.name),
        }
    }
}

/// One thing that happened in a session.
///
/// Entries may arrive out of order, because some went through the spool. So each says where it belongs, makes its
/// session where it is missing, and never moves a time back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The client's name for the session.
    pub client: Clean,
    /// Where.
    pub place: Place,
    /// The client's process, where it is known.
    pub process: Option<Process>,
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The session began or goes on.
    Began(Source),
    /// It was seen.
    Seen,
    /// It is one that is only watched, and told nothing.
    Watched,
    /// It called a tool, by this agent; none is the main one. Only counted where somebody may ask.
    Called(Option<Clean>),
    /// It is about to call a tool of ours, by the client's name for the call; by this agent.
    Calls(Clean, Option<Clean>),
    /// A run was captured.
    Ran(Box<Run>),
    /// A command looks like a run and is not known as one.
    Unfollowed(Clean),
    /// Something was changed, under this identity.
    Changed(Id, Change),
    /// Something was shown.
    Shown(Box<Injection>),
    /// An agent was told what a run says about its prediction.
    Told(Id, Told),
    /// An agent was asked about a GHAP at the end of its turn.
    Stopped(Id),
    /// It was told what went wrong before.
    Warned,
    /// It was offered to start a GHAP.
    Offered,
    /// Something was recalled for an agent that is about to start.
    Parked(Parked),
    /// It ended; whether what it left open is given up.
    Ended {
        /// With the reason that the session ended.
        #[serde(default)]
        abandon: bool,
    },
}

/// What waits for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parked {
    /// What kind of agent.
    pub kind: Clean,
    /// A hash of what it is to do.
    pub prompt: Clean,
    /// Which rows, and how well they fit.
    pub rows: Vec<(Id, f64)>,
}

/// When an entry is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// As it happens.
    AtOnce,
    /// Out of the spool: other things may have happened since, and been written.
    Late,
}

/// Writes an entry down.
pub(crate) fn apply(
    connection: &Connection,
    entry: &Entry,
    arrival: Arrival,
) -> Result<(), StoreError> {
    let session = sessions::see(connection, entry, arrival)?;
    if arrival == Arrival::Late {
        effects::look_again(connection, session)?;
    }
    match &entry.what {
        What::Began(source) => {
            // What was shown before has left the context.
            if matches!(source, Source::Clear | Source::Compact) {
                connection
                    .prepare_cached("UPDATE session SET refreshed = max(coalesce(refreshed, 0), ?2) WHERE id = ?1")?
                    .execute(params![session, entry.at])?;
                effects::left(connection, session, entry.at)?;
            }
        }
        What::Seen => {}
        What::Watched => spoken::watched(connection, session)?,
        What::Called(agent) => {
            spoken::count(connection, session, agent.as_ref())?;
        }
        What::Calls(tool_use, agent) => {
            let (agent, place) = (agent.as_ref(), &entry.place);
            callers::calls(connection, session, tool_use, agent, place, entry.at)?;
        }
        What::Ran(run) => {
            let project = projects::row_of(connection, &entry.place, entry.at)?;
            if outcomes::insert(connection, project, Some(session), &run.outcome)? {
                let outcome = connection.last_insert_rowid();
                let origin =
                    origins::of_run(&entry.place, &entry.client, run.outcome.agent.as_ref());
                origins::insert(connection, run.outcome.id, &origin, None)?;
                episodes::apply_run(connection, project, &entry.place.root, run, outcome, session)?;
            }
        }
        What::Unfollowed(command) => {
            let project = projects::row_of(connection, &entry.place, entry.at)?;
            outcomes::note_unfollowed(connection, project, command, entry.at)?;
        }
        What::Changed(id, change) => {
            let project = projects::row_of(connection, &entry.place, entry.at)?;
            episodes::note(connection, project, &entry.place.root, *id, change)?;
        }
        What::Shown(injection) => {
            injections::insert(connection, session, injection)?;
        }
        What::Told(ghap, told) => spoken::told(connection, *ghap, *told)?,
        What::Stopped(ghap) => spoken::stopped(connection, *ghap)?,
        What::Warned => spoken::warned(connection, session)?,
        What::Offered => spoken::offered(connection, session)?,
        What::Parked(parked) => spoken::park(connection, session, parked, entry.at)?,
        What::Ended { abandon } => {
            // Unless it was seen since: then this comes late.
            let ended = connection
                .prepare_cached("UPDATE session SET ended = ?2 WHERE id = ?1 AND seen <= ?2")?
                .execute(params![session, entry.at])?;
            if *abandon && ended > 0 {
                spoken::give_up(connection, session, entry.at)?;
            }
        }
    }
    Ok(())
}
