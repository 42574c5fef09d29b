//! Application of entries. One function applies an entry, whether it arrives at once or through the spool.

use rusqlite::{Connection, Transaction, params};

use super::entry::{EntryArrival, EntryKind, SessionEntry};
use super::hook_store::HookStore;
use super::{
    StoreResult, command_episodes, effects, episodes, ghap_prompts, injections, origins, outcomes,
    projects, sessions, tool_callers,
};
use crate::session::StoredSessionSource;

/// Applies an entry to the database.
pub(crate) fn apply_entry(
    connection: &Connection,
    entry: &SessionEntry,
    arrival: EntryArrival,
) -> StoreResult {
    let session = sessions::record_session_seen(connection, entry, arrival)?;
    if arrival == EntryArrival::Late {
        effects::mark_unexamined(connection, session)?;
    }
    match &entry.kind {
        EntryKind::Began(source) => {
            // Rows that were shown before have left the context.
            if matches!(source, StoredSessionSource::Clear | StoredSessionSource::Compact) {
                connection
                    .prepare_cached("UPDATE session SET refreshed = max(coalesce(refreshed, 0), ?2) WHERE id = ?1")?
                    .execute(params![session, entry.at])?;
                effects::mark_left_context(connection, session, entry.at)?;
            }
        }
        EntryKind::Seen => {}
        EntryKind::Watched => ghap_prompts::record_control_cohort(connection, session)?,
        EntryKind::Called(agent) => {
            ghap_prompts::count_tool_call(connection, session, agent.as_ref())?;
        }
        EntryKind::Calls(tool_use, agent) => {
            let (agent, place) = (agent.as_ref(), &entry.place);
            tool_callers::record_caller(connection, session, tool_use, agent, place, entry.at)?;
        }
        EntryKind::Ran(run) => {
            let project = projects::ensure_project(connection, &entry.place, entry.at)?;
            if outcomes::insert_outcome(connection, project, Some(session), &run.outcome)? {
                let outcome = connection.last_insert_rowid();
                let origin =
                    origins::run_origin(&entry.place, &entry.client, run.outcome.agent.as_ref());
                origins::insert_origin(connection, run.outcome.id, &origin, None)?;
                episodes::apply_run(connection, project, &entry.place.root, run, outcome, session)?;
            }
        }
        EntryKind::Unfollowed(command) => {
            let project = projects::ensure_project(connection, &entry.place, entry.at)?;
            outcomes::count_unrecognized_command(connection, project, command, entry.at)?;
        }
        EntryKind::Commanded(call) => {
            let project = projects::ensure_project(connection, &entry.place, entry.at)?;
            let (client, place) = (&entry.client, &entry.place);
            command_episodes::apply_command_call(
                connection, project, session, client, place, call, entry.at,
            )?;
        }
        EntryKind::Changed(id, change) => {
            let project = projects::ensure_project(connection, &entry.place, entry.at)?;
            episodes::record_change(connection, project, &entry.place.root, *id, change)?;
        }
        EntryKind::Shown(injection) => {
            injections::insert_injection(connection, session, injection)?;
        }
        EntryKind::Told(ghap, told) => ghap_prompts::record_verdict(connection, *ghap, *told)?,
        EntryKind::Stopped(ghap) => ghap_prompts::record_stop_prompt(connection, *ghap)?,
        EntryKind::Warned => ghap_prompts::record_premortem(connection, session)?,
        EntryKind::Offered => ghap_prompts::record_ghap_offer(connection, session)?,
        EntryKind::Parked(parked) => {
            ghap_prompts::park_rows(connection, session, parked, entry.at)?;
        }
        EntryKind::Ended { abandon } => {
            // If the session was seen since, this entry is late.
            let ended = connection
                .prepare_cached("UPDATE session SET ended = ?2 WHERE id = ?1 AND seen <= ?2")?
                .execute(params![session, entry.at])?;
            if *abandon && ended > 0 {
                ghap_prompts::abandon_open_ghaps(connection, session, entry.at)?;
            }
        }
    }
    Ok(())
}

impl HookStore {
    /// Writes entries in one transaction.
    pub fn write_entries<'a>(
        &mut self,
        entries: impl IntoIterator<Item = &'a SessionEntry>,
    ) -> StoreResult {
        self.write_entries_then(entries, |_| Ok(()))
    }

    /// Writes entries and makes another change in one transaction.
    pub(super) fn write_entries_then<'a, T>(
        &mut self,
        entries: impl IntoIterator<Item = &'a SessionEntry>,
        change: impl FnOnce(&Transaction<'_>) -> StoreResult<T>,
    ) -> StoreResult<T> {
        self.write_with(|transaction| {
            for entry in entries {
                apply_entry(transaction, entry, EntryArrival::AtOnce)?;
            }
            change(transaction)
        })
    }
}
