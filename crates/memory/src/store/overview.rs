//! Overview for the user: counts of rows, the progress of a GHAP, and the runs and GHAPs of a session.

use rusqlite::params;
use serde::Serialize;

use super::entry::ProjectPlace;
use super::{Store, StoreResult, ghap_prompts, ghaps, outcomes, sessions};
use crate::ghap::{Ghap, PredictionVerdict};
use crate::injection::LOOKUP_EVENT;
use crate::outcome::Outcome;
use crate::{Clean, Id};

/// Number of rows of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RowCounts {
    /// Memories.
    pub memories: u64,
    /// Experiences from resolved GHAPs.
    pub experiences: u64,
    /// Episodes.
    pub episodes: u64,
    /// Failed commands that are no test run.
    pub commands: u64,
    /// Captured test runs.
    pub outcomes: u64,
    /// GHAPs.
    pub ghaps: u64,
    /// Values that are not retired.
    pub values: u64,
    /// Rows that were shown to agents.
    pub injections: u64,
    /// Those of them that an agent looked up by their ids.
    pub lookups: u64,
}

/// The state of the prompts about a GHAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct GhapProgress {
    /// Number of tool calls since the GHAP was started, changed or asked about.
    pub calls: u32,
    /// The last verdict of a run on the prediction that the agent was told.
    pub told: Option<PredictionVerdict>,
}

impl Store {
    /// Counts the rows of a project, or of the whole store. Rows for every project do not count for one project.
    pub fn row_counts(&self, project: Option<Id>) -> StoreResult<RowCounts> {
        Ok(self.connection.query_row(
            "SELECT (SELECT count(*) FROM memory WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM experience WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM episode WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM command_episode WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM outcome WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM ghap WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM value WHERE standing != 'retired' AND (?1 IS NULL OR project = here.id)),
                    (SELECT count(*) FROM injection JOIN session ON session.id = injection.session
                     WHERE ?1 IS NULL OR session.project = here.id),
                    (SELECT count(*) FROM injection JOIN session ON session.id = injection.session
                     WHERE injection.event = ?2 AND (?1 IS NULL OR session.project = here.id))
             FROM (SELECT (SELECT id FROM project WHERE uid = ?1) AS id) AS here",
            params![project, LOOKUP_EVENT],
            |row| {
                Ok(RowCounts {
                    memories: row.get(0)?,
                    experiences: row.get(1)?,
                    episodes: row.get(2)?,
                    commands: row.get(3)?,
                    outcomes: row.get(4)?,
                    ghaps: row.get(5)?,
                    values: row.get(6)?,
                    injections: row.get(7)?,
                    lookups: row.get(8)?,
                })
            },
        )?)
    }

    /// Returns the state of the prompts about a GHAP.
    pub fn ghap_progress(&self, ghap: Id) -> StoreResult<GhapProgress> {
        Ok(self.connection.query_row(
            "SELECT calls, told FROM ghap WHERE uid = ?1",
            [ghap],
            |row| Ok(GhapProgress { calls: row.get(0)?, told: row.get(1)? }),
        )?)
    }

    /// Returns the client name of the standing session, which holds the commands typed in a place outside a client.
    pub fn standing_session(&self, place: &ProjectPlace) -> StoreResult<Option<Clean>> {
        Ok(self.project(place)?.map(|project| sessions::standing_session_name(project.id)))
    }

    /// Returns the last run of each of the most recent commands in a project.
    pub fn last_runs(&self, place: &ProjectPlace, most: usize) -> StoreResult<Vec<Outcome>> {
        ghap_prompts::last_runs(&self.connection, place, most)
    }

    /// Returns the captured runs of a session, in order.
    pub fn session_runs(&self, session: &Clean) -> StoreResult<Vec<Outcome>> {
        outcomes::select_outcomes(
            &self.connection,
            "WHERE session.client = ?1 ORDER BY outcome.at, outcome.id",
            [session],
        )
    }

    /// Returns the GHAPs of a session, in order.
    pub fn session_ghaps(&self, session: &Clean) -> StoreResult<Vec<Ghap>> {
        let mut found = ghaps::select_ghaps(
            &self.connection,
            "WHERE session.client = ?1 ORDER BY ghap.id",
            &[session],
            |_| Ok(true),
            None,
        )?;
        ghaps::load_revisions_and_notes(&self.connection, &mut found)?;
        Ok(found)
    }
}
