//! Callers of MCP tools.
//!
//! The MCP server receives the id of a tool call, but neither its session nor its agent: the server process survives
//! `/clear`, and subagents share it. The hook that runs just before the call receives all three. So the hook records
//! them, and the server looks them up.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::ProjectPlace;
use super::hook_store::HookStore;
use super::{GhapOwner, Store, StoreResult, projects};
use crate::{Clean, Time};

/// Age at which a recorded call is deleted. A call follows its hook immediately, unless the user is asked for
/// permission. Older rows only show that agents of the project have our tools, so that the next session can be told
/// about tools, not commands.
pub(super) const MAX_CALLER_AGE: Duration = Duration::from_hours(14 * 24);

pub(crate) fn record_caller(
    connection: &Connection,
    session: i64,
    tool_use: &Clean,
    agent: Option<&Clean>,
    place: &ProjectPlace,
    at: Time,
) -> StoreResult {
    connection
        .prepare_cached("DELETE FROM caller WHERE session = ?1 AND at < ?2")?
        .execute(params![session, at.minus(MAX_CALLER_AGE)])?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO caller (tool_use, session, agent, place, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            tool_use,
            session,
            agent.map(Clean::as_str).unwrap_or_default(),
            serde_json::to_string(place).unwrap_or_default(),
            at
        ])?;
    Ok(())
}

impl HookStore {
    /// Returns true if an agent of a session has called one of our tools.
    pub fn has_called_tool(&self, client: &str) -> StoreResult<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM caller JOIN session ON session.id = caller.session WHERE session.client = ?1)",
            )?
            .query_row([client], |row| row.get(0))?)
    }

    /// Returns true if an agent of one of the last three sessions of a project has called one of our tools.
    pub fn has_recent_tool_calls(&self, place: &ProjectPlace) -> StoreResult<bool> {
        let Some(project) = projects::find_project(&self.connection, place)? else {
            return Ok(false);
        };
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (
                     SELECT 1 FROM caller WHERE session IN (
                         SELECT id FROM session WHERE project = ?1 ORDER BY seen DESC, id DESC LIMIT 3))",
            )?
            .query_row([project], |row| row.get(0))?)
    }
}

impl Store {
    /// Returns the session, agent and place of a tool call, by the client's id for the call. The place is in the project
    /// of the session, even if the call was recorded in another one: a session cannot choose another project by a new
    /// remote of its repository.
    pub fn find_caller(&self, tool_use: &str) -> StoreResult<Option<GhapOwner>> {
        let found: Option<(Clean, Clean, String, i64)> = self
            .connection
            .prepare_cached(
                "SELECT session.client, caller.agent, caller.place, session.project
                 FROM caller JOIN session ON session.id = caller.session WHERE tool_use = ?1",
            )?
            .query_row([tool_use], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let Some((client, agent, place, project)) = found else { return Ok(None) };
        let Ok(place) = serde_json::from_str(&place) else { return Ok(None) };
        let place = self.place_in_project(place, project)?;
        let agent = (!agent.is_empty()).then_some(agent);
        Ok(Some(GhapOwner { client: Some(client), agent, place }))
    }

    /// Returns the place if it is in the project of the session, else the last place of that project. Returns the place
    /// unchanged if the session is not known.
    pub fn place_in_session(&self, client: &str, place: ProjectPlace) -> StoreResult<ProjectPlace> {
        let project: Option<i64> = self
            .connection
            .prepare_cached("SELECT project FROM session WHERE client = ?1")?
            .query_row([client], |row| row.get(0))
            .optional()?;
        match project {
            Some(project) => self.place_in_project(place, project),
            None => Ok(place),
        }
    }

    fn place_in_project(&self, place: ProjectPlace, project: i64) -> StoreResult<ProjectPlace> {
        match projects::find_project(&self.connection, &place)? {
            Some(row) if row == project => Ok(place),
            _ => projects::last_place(&self.connection, project),
        }
    }
}
