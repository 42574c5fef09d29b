//! Entries: the events that hooks record.

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::command_episode::CommandCall;
use crate::ghap::PredictionVerdict;
use crate::injection::Injection;
use crate::project::{LocatedProject, ProjectKey};
use crate::run::CapturedRun;
use crate::session::{SessionProcess, StoredSessionSource};
use crate::{Clean, Id, Time};

/// The place where an entry was recorded: its project and folder, in a form that can be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectPlace {
    /// The project's strongest key.
    pub key: ProjectKey,
    /// Weaker keys of the same place, strongest first.
    pub aliases: Vec<ProjectKey>,
    /// The root folder of the checkout.
    pub root: Clean,
    /// The display name of the project.
    pub name: Clean,
}

impl ProjectPlace {
    /// Returns the main folder of the repository, which linked worktrees share, or the folder itself without git. Other
    /// clones of the same project have a different one.
    pub fn checkout(&self) -> Clean {
        let mut keys = std::iter::once(&self.key).chain(&self.aliases);
        let folder = keys.find(|key| key.is_folder());
        let path = folder.and_then(|key| key.as_str().strip_prefix("dir:"));
        path.map_or_else(|| self.root.clone(), Clean::new)
    }
}

impl From<&LocatedProject> for ProjectPlace {
    fn from(located: &LocatedProject) -> Self {
        Self {
            key: located.key.clone(),
            aliases: located.aliases.clone(),
            root: Clean::new(&located.root.to_string_lossy()),
            name: Clean::new(&located.name),
        }
    }
}

/// An event in a session.
///
/// Entries may arrive out of order, because some pass through the spool. So each names its place, creates its session
/// if it is missing, and never moves a time back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The client's name for the session.
    pub client: Clean,
    /// The place of the event.
    pub place: ProjectPlace,
    /// The client's process, if known.
    pub process: Option<SessionProcess>,
    /// The time of the event.
    pub at: Time,
    /// The kind and content of the event. Stored entries have it under its earlier name.
    #[serde(rename = "what")]
    pub kind: EntryKind,
}

/// The kind and content of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// The session started or resumed.
    Began(StoredSessionSource),
    /// The session was seen.
    Seen,
    /// The session is in the control cohort: it is recorded but shown nothing.
    Watched,
    /// An agent called a tool; None is the main agent. Recorded only while the count may be needed for a check-in.
    Called(Option<Clean>),
    /// An agent is about to call one of our tools: the client's id for the call, and the agent.
    Calls(Clean, Option<Clean>),
    /// A test run was captured.
    Ran(Box<CapturedRun>),
    /// A command looks like a test run but is not recognized as one.
    Unfollowed(Clean),
    /// A Bash call ended in a session in which a command failed.
    Commanded(Box<CommandCall>),
    /// A change was made; the id identifies it.
    Changed(Id, Change),
    /// A row was shown to an agent.
    Shown(Box<Injection>),
    /// An agent was told how a run compares with the prediction of its GHAP.
    Told(Id, PredictionVerdict),
    /// An agent was asked about a GHAP at the end of its turn.
    Stopped(Id),
    /// The session was shown a premortem.
    Warned,
    /// The session was invited to start a GHAP.
    Offered,
    /// Rows were recalled for a subagent that is about to start.
    Parked(ParkedRows),
    /// The session ended.
    Ended {
        /// True if the session's open GHAPs are abandoned, with "session ended" as the reason.
        #[serde(default)]
        abandon: bool,
    },
}

/// Rows that were recalled for a subagent before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParkedRows {
    /// The type of the subagent.
    pub kind: Clean,
    /// A hash of the subagent's prompt.
    pub prompt: Clean,
    /// The rows and their scores.
    pub rows: Vec<(Id, f64)>,
}

/// The way in which an entry reaches the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryArrival {
    /// Directly, when the event happens.
    AtOnce,
    /// Through the spool: later events may already be recorded.
    Late,
}
