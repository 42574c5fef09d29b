//! The lines of an export: one for each row, and the other facts about rows.

use serde::{Deserialize, Serialize};

use super::projects::Project;
use crate::Id;
use crate::change::StoredChange;
use crate::command_episode::CommandEpisode;
use crate::episode::Episode;
use crate::experience::Experience;
use crate::ghap::Ghap;
use crate::injection::Injection;
use crate::memory::Memory;
use crate::origin::Origin;
use crate::outcome::Outcome;
use crate::project::ProjectKey;
use crate::session::Session;
use crate::value::Value;

/// A line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportRecord {
    /// The first line, which identifies the format.
    RutterExport {
        /// Schema version of the exporting database.
        schema: u32,
    },
    /// A project.
    Project(Project),
    /// A session.
    Session(Session),
    /// A captured run.
    Outcome(Outcome),
    /// A GHAP.
    Ghap(Box<Ghap>),
    /// The lesson of a GHAP.
    Experience(Experience),
    /// A memory.
    Memory(Memory),
    /// A rule that many experiences support.
    Value(Value),
    /// A failure, open or closed.
    Episode(Box<Episode>),
    /// A command that failed, and the variant that worked.
    CommandEpisode(Box<CommandEpisode>),
    /// A change that was made while a failure was open.
    Change(StoredChange),
    /// A row that was shown in a session.
    Injection(Injection),
    /// The origin of a row.
    Origin(RowOrigin),
    /// An additional key of a project.
    Alias(ProjectAlias),
}

impl ExportRecord {
    /// Returns the id of the row in the line; None for lines about other rows.
    pub(crate) const fn row_id(&self) -> Option<Id> {
        match self {
            Self::Project(project) => Some(project.id),
            Self::Session(session) => Some(session.id),
            Self::Outcome(outcome) => Some(outcome.id),
            Self::Ghap(ghap) => Some(ghap.id),
            Self::Experience(experience) => Some(experience.id),
            Self::Memory(memory) => Some(memory.id),
            Self::Value(value) => Some(value.id),
            Self::Episode(episode) => Some(episode.id),
            Self::CommandEpisode(episode) => Some(episode.id),
            Self::Change(change) => Some(change.id),
            Self::Injection(injection) => Some(injection.id),
            Self::RutterExport { .. } | Self::Origin(_) | Self::Alias(_) => None,
        }
    }
}

/// The origin of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowOrigin {
    /// The row.
    pub row: Id,
    /// The origin of the row.
    #[serde(flatten)]
    pub origin: Origin,
}

/// An additional key of a project. Only proposals contain one; an export has it in the project's line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectAlias {
    /// The other key.
    pub key: ProjectKey,
    /// An existing key of the project.
    pub project: ProjectKey,
}
