//! Whose call of a tool it is.
//!
//! A server of tools is told the name of a call, and neither the session nor the agent: its process lives on after `/clear`, and
//! subagents share it. The hook that runs just before the call is told all three. So the hook writes them down, and the
//! server looks them up.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Owner, Store, StoreError, entry::Place};
use crate::{Clean, Time};

/// A call comes right behind its hook, unless somebody is asked whether it may. Who takes longer to answer has gone home.
const KEPT: Duration = Duration::from_hours(12);

pub(crate) fn calls(
    connection: &Connection,
    session: i64,
    tool_use: &Clean,
    agent: Option<&Clean>,
    place: &Place,
    at: Time,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM caller WHERE session = ?1 AND at < ?2")?
        .execute(params![session, at.minus(KEPT)])?;
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

impl Store {
    /// On whose behalf a call is made, by the client's name for it.
    pub fn caller(&self, tool_use: &str) -> Result<Option<Owner>, StoreError> {
        let found: Option<(Clean, Clean, String)> = self
            .connection
            .prepare_cached(
                "SELECT session.client, caller.agent, caller.place
                 FROM caller JOIN session ON session.id = caller.session WHERE tool_use = ?1",
            )?
            .query_row([tool_use], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        Ok(found.and_then(|(client, agent, place)| {
            let place = serde_json::from_str(&place).ok()?;
            Some(Owner { client: Some(client), agent: (!agent.is_empty()).then_some(agent), place })
        }))
    }
}
