//! Export and import: every row as a line of JSON, without loss, and rows of several machines into one store.
//!
//! Rows are known by their ids. Of a row that both sides have, the one that changed last wins, so importing the same
//! file twice, or two files in either order, ends the same.

use serde::{Deserialize, Serialize};

use super::projects::Project;
use crate::change::Noted;
use crate::episode::Episode;
use crate::experience::Experience;
use crate::ghap::Ghap;
use crate::injection::Injection;
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::value::Value;

mod export;
mod import;

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
}
