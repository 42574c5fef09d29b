//! How much there is, and how far an agent has come: what a person wants to see at one glance.

use rusqlite::params;
use serde::Serialize;

use super::entry::Place;
use super::{Store, StoreError, ghaps, outcomes, sessions, spoken};
use crate::ghap::{Ghap, Told};
use crate::outcome::Outcome;
use crate::{Clean, Id};

/// How many rows there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// What was asked to be remembered.
    pub memories: u64,
    /// What was learnt from a GHAP.
    pub experiences: u64,
    /// Failures that were followed.
    pub episodes: u64,
    /// Captured runs.
    pub outcomes: u64,
    /// What was set out to do.
    pub ghaps: u64,
    /// What many experiences say and somebody may work by: those that are not retired.
    pub values: u64,
    /// What was shown.
    pub injections: u64,
}

/// What was asked and said about a GHAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Progress {
    /// How many tools were called since it was started, changed or asked about.
    pub calls: u32,
    /// What its agent was last told that a run says about the prediction.
    pub told: Option<Told>,
}

impl Store {
    /// How much there is: of a project, or in all. What holds everywhere is no project's.
    pub fn counts(&self, project: Option<Id>) -> Result<Counts, StoreError> {
        Ok(self.connection.query_row(
            "SELECT (SELECT count(*) FROM memory WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM experience WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM episode WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM outcome WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM ghap WHERE ?1 IS NULL OR project = here.id),
                    (SELECT count(*) FROM value WHERE standing != 'retired' AND (?1 IS NULL OR project = here.id)),
                    (SELECT count(*) FROM injection JOIN session ON session.id = injection.session
                     WHERE ?1 IS NULL OR session.project = here.id)
             FROM (SELECT (SELECT id FROM project WHERE uid = ?1) AS id) AS here",
            params![project],
            |row| {
                Ok(Counts {
                    memories: row.get(0)?,
                    experiences: row.get(1)?,
                    episodes: row.get(2)?,
                    outcomes: row.get(3)?,
                    ghaps: row.get(4)?,
                    values: row.get(5)?,
                    injections: row.get(6)?,
                })
            },
        )?)
    }

    /// What was asked and said about a GHAP.
    pub fn progress(&self, ghap: Id) -> Result<Progress, StoreError> {
        Ok(self.connection.query_row(
            "SELECT calls, told FROM ghap WHERE uid = ?1",
            [ghap],
            |row| Ok(Progress { calls: row.get(0)?, told: row.get(1)? }),
        )?)
    }

    /// The client's name for the session of commands that are typed in a place outside a client.
    pub fn standing_session(&self, place: &Place) -> Result<Option<Clean>, StoreError> {
        Ok(self.project(place)?.map(|project| sessions::standing_name(project.id)))
    }

    /// The last run of each of the last commands in a project.
    pub fn last_runs(&self, place: &Place, most: usize) -> Result<Vec<Outcome>, StoreError> {
        spoken::last_runs(&self.connection, place, most)
    }

    /// The captured runs of a session, in order.
    pub fn runs_of(&self, session: &Clean) -> Result<Vec<Outcome>, StoreError> {
        outcomes::select(
            &self.connection,
            "WHERE session.client = ?1 ORDER BY outcome.at, outcome.id",
            [session],
        )
    }

    /// What was set out to do in a session, in order.
    pub fn ghaps_of(&self, session: &Clean) -> Result<Vec<Ghap>, StoreError> {
        let mut found = ghaps::many(
            &self.connection,
            "WHERE session.client = ?1 ORDER BY ghap.id",
            &[session],
            |_| Ok(true),
            None,
        )?;
        ghaps::children(&self.connection, &mut found)?;
        Ok(found)
    }
}
