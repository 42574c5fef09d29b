//! Export and import: every row as a line of JSON, without loss, and rows of several machines into one store.
//!
//! Rows are known by their ids. A person says whose rows a file holds. Of their own, the one that changed last wins, so
//! importing the same file twice, or two files in either order, ends the same. Those of others are taken in as *imported*:
//! they change no row that is here, and what would reach beyond their project waits for a person.

use serde::{Deserialize, Serialize};

use super::projects::Project;
use crate::Id;
use crate::change::Noted;
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

mod batch;
mod export;
mod foreign;
mod import;

pub(crate) use batch::carry_imports_over;
pub use batch::{BatchSummary, ImportFile, ImportSummary, ImportedProject, WhoseRows};
pub use export::Exported;
pub(crate) use export::unreadable;
pub(crate) use import::{Became, Refused, import};
pub use import::{ImportError, Imported};

/// One line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The first line: what this is.
    RutterExport {
        /// The version of the database it came from.
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
    /// What one left.
    Experience(Experience),
    /// A memory.
    Memory(Memory),
    /// What many experiences say together.
    Value(Value),
    /// A failure that is or was followed.
    Episode(Box<Episode>),
    /// What was changed while one was open.
    Change(Noted),
    /// What was shown.
    Injection(Injection),
    /// Where a row came from.
    Origin(RowOrigin),
    /// Another key that a project is known by.
    Alias(ProjectAlias),
}

impl Record {
    /// The id of the row that it becomes; none for lines that are about other rows.
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
    /// Its origin.
    #[serde(flatten)]
    pub origin: Origin,
}

/// Another key that a project is known by. Only proposals hold one; an export has them with their project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectAlias {
    /// The other key.
    pub key: ProjectKey,
    /// A key that the project is known by here.
    pub project: ProjectKey,
}
