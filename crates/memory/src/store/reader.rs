//! Read access to the store that commands, servers and hooks share.
//!
//! A [`StoreReader`] returns rows; it renders no text and decides nothing about what is shown. It works on the connection of
//! a [`Store`] or of a [`HookStore`], so that the same code assembles a context for both.

use rusqlite::{Connection, Transaction, params};

use super::entry::ProjectPlace;
use super::hook_store::HookStore;
use super::relevant_values::{self, RelevantValue};
use super::values::ValueWithEffects;
use super::{
    DataDir, RecallRequest, RecalledRow, Store, StoreResult, documents, effects, episode_files,
    episodes, ghap_prompts, ghaps, injections, memories, origins, projects, values,
};
use crate::document::DocumentKind;
use crate::episode::Episode;
use crate::ghap::Ghap;
use crate::injection::EffectCounts;
use crate::memory::Memory;
use crate::origin::UnconfirmedReason;
use crate::outcome::Outcome;
use crate::value::{Value, ValueStanding};
use crate::{Clean, Id, Time};

/// The session and the agent in it that a row may have been shown to. No agent is the main one.
pub type Recipient<'a> = (&'a str, Option<&'a Clean>);

/// Read access to the rows of the store.
#[derive(Debug, Clone, Copy)]
pub struct StoreReader<'a> {
    connection: &'a Connection,
    files: &'a DataDir,
    /// Maximum number of documents that are searched although they are in no index file yet.
    max_unindexed: u32,
}

/// A consistent view of the database while several rows are read. Each statement alone would lock and unlock the
/// database.
#[derive(Debug)]
pub struct ReadSnapshot<'a> {
    _transaction: Option<Transaction<'a>>,
}

impl Store {
    /// Returns read access after indexing what was written since.
    pub fn indexed_reader(&mut self) -> StoreResult<StoreReader<'_>> {
        self.update_index()?;
        Ok(self.reader())
    }

    /// Returns read access without indexing anything first.
    pub fn reader(&self) -> StoreReader<'_> {
        StoreReader { connection: &self.connection, files: &self.files, max_unindexed: u32::MAX }
    }
}

impl HookStore {
    /// Returns read access.
    pub fn reader(&self) -> StoreReader<'_> {
        StoreReader {
            connection: &self.connection,
            files: &self.files,
            max_unindexed: documents::MAX_UNINDEXED_IN_HOOK,
        }
    }
}

impl<'a> StoreReader<'a> {
    /// Returns the connection, for the other modules of the store.
    pub(super) fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Starts a consistent view. Without one, for instance inside a transaction, reading still works.
    pub fn snapshot(&self) -> ReadSnapshot<'a> {
        ReadSnapshot { _transaction: self.connection.unchecked_transaction().ok() }
    }

    /// Returns the rows that fit a text, the best first.
    pub fn recall(&self, ask: &RecallRequest<'_>, now: Time) -> StoreResult<Vec<RecalledRow>> {
        documents::recall_rows(self.connection, self.files, ask, self.max_unindexed, now)
    }

    /// Returns the kind of a row that is indexed.
    pub fn kind(&self, row: Id) -> StoreResult<Option<DocumentKind>> {
        documents::row_kind(self.connection, row)
    }

    /// Returns the sentence of a row that can be acted upon. An episode has none.
    pub fn lesson(&self, row: Id) -> StoreResult<Option<Clean>> {
        documents::lesson(self.connection, row)
    }

    /// Returns the phrases that somebody wrote to say when rows apply, in the order of the rows. An episode has none.
    pub fn written_phrases(&self, rows: &[(DocumentKind, Id)]) -> StoreResult<Vec<Vec<Clean>>> {
        documents::written_phrases(self.connection, rows)
    }

    /// Returns an episode, or None if it is gone.
    pub fn episode(&self, row: Id) -> StoreResult<Option<Episode>> {
        Ok(episodes::select_episodes(self.connection, "WHERE episode.uid = ?1", [row])?.pop())
    }

    /// Returns a memory, or None if it is gone.
    pub fn memory(&self, row: Id) -> StoreResult<Option<Memory>> {
        documents::none_if_missing(memories::load_memory(self.connection, row))
    }

    /// Returns a GHAP, or None if it is gone.
    pub fn ghap(&self, row: Id) -> StoreResult<Option<Ghap>> {
        documents::none_if_missing(ghaps::load_ghap(self.connection, row))
    }

    /// Returns a value, or None if it is gone or retired.
    pub fn value(&self, row: Id) -> StoreResult<Option<Value>> {
        let value = documents::none_if_missing(values::find_value(self.connection, row))?;
        Ok(value.filter(|value| value.standing != ValueStanding::Retired))
    }

    /// Returns the values of a place, the best fit of a text first.
    pub fn fitting_values(
        &self,
        place: &ProjectPlace,
        everywhere: bool,
        text: &str,
    ) -> StoreResult<Vec<RelevantValue>> {
        relevant_values::relevant_values(self.connection, place, everywhere, text)
    }

    /// Returns the values that hold in a place, those with the most support first.
    pub fn place_values(
        &self,
        place: &ProjectPlace,
        limit: usize,
    ) -> StoreResult<Vec<ValueWithEffects>> {
        values::values_to_show(self.connection, place, limit)
    }

    /// Returns true if an experience is one of those that one of the values was made of.
    pub fn is_source_of_any(&self, row: Id, values: &[Id]) -> StoreResult<bool> {
        let mut is_source = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM value JOIN cluster ON cluster.uid = value.cluster
                            JOIN grouped ON grouped.cluster = cluster.id
                            WHERE value.uid = ?1 AND grouped.row = ?2 AND grouped.axis = cluster.axis)",
        )?;
        for value in values {
            if is_source.query_row(params![value, row], |row| row.get(0))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the reason to mark a row that is shown in a checkout.
    pub fn unconfirmed_reason(
        &self,
        row: Id,
        place: &ProjectPlace,
    ) -> StoreResult<Option<UnconfirmedReason>> {
        origins::unconfirmed_reason(self.connection, row, place)
    }

    /// Returns true if a row was imported and no person has accepted it.
    pub fn is_unconfirmed_import(&self, row: Id) -> StoreResult<bool> {
        Ok(origins::is_unconfirmed_import(self.connection, row)?)
    }

    /// Returns how often a row helped and hurt when it was shown.
    pub fn effects(&self, row: Id) -> StoreResult<EffectCounts> {
        effects::total_effects(self.connection, row)
    }

    /// Returns true if a row was shown in full and is still in the agent's context.
    pub fn is_in_context(
        &self,
        (client, agent): Recipient<'_>,
        row: Id,
        now: Time,
    ) -> StoreResult<bool> {
        injections::is_in_context(self.connection, client, agent, row, now)
    }

    /// Returns true if a row was shown, in full or in one line, and is still in the agent's context.
    pub fn is_referred_to(
        &self,
        (client, agent): Recipient<'_>,
        row: Id,
        now: Time,
    ) -> StoreResult<bool> {
        injections::is_referred_to(self.connection, client, agent, row, now)
    }

    /// Returns preferences of the greatest importance: those of the project before those for every project, the newest
    /// first, at most `limit` of each.
    pub fn preferences(&self, place: &ProjectPlace, limit: usize) -> StoreResult<Vec<Memory>> {
        let mut found = Vec::new();
        let project = projects::find_project(self.connection, place)?;
        for project in project.map(Some).into_iter().chain([None]) {
            // Literal, so that the partial index is used.
            let mut rows = self.connection.prepare_cached(&format!(
                "{} WHERE memory.project IS ?1 AND category = 'preference' AND importance = 1.0
                 ORDER BY memory.changed DESC LIMIT ?2",
                memories::SELECT
            ))?;
            for memory in rows.query_map(params![project, limit], memories::read_memory)? {
                found.push(memory?);
            }
        }
        Ok(found)
    }

    /// Returns fixed episodes of a project, or of all projects, the newest first.
    pub fn recent_fixes(
        &self,
        place: &ProjectPlace,
        everywhere: bool,
        limit: usize,
    ) -> StoreResult<Vec<Episode>> {
        let project = projects::find_project(self.connection, place)?.unwrap_or(-1);
        let rest = format!(
            "WHERE {} AND episode.how = 'fixed' ORDER BY coalesce(episode.ended, 0) DESC LIMIT ?2",
            project_condition("episode.project", everywhere)
        );
        episodes::select_episodes(self.connection, &rest, params![project, limit])
    }

    /// Returns resolved GHAPs of a project, or of all projects, the newest first.
    pub fn recent_ghaps(
        &self,
        place: &ProjectPlace,
        everywhere: bool,
        limit: usize,
    ) -> StoreResult<Vec<Ghap>> {
        let project = projects::find_project(self.connection, place)?.unwrap_or(-1);
        let rest = format!(
            "WHERE {} AND ghap.status IN ('confirmed', 'falsified') ORDER BY ghap.resolved DESC LIMIT {limit}",
            project_condition("ghap.project", everywhere)
        );
        ghaps::select_ghaps(self.connection, &rest, &[&project], |_| Ok(true), None)
    }

    /// Returns GHAPs that earlier sessions of a project left open.
    pub fn orphaned_ghaps(
        &self,
        place: &ProjectPlace,
        client: &str,
        now: Time,
    ) -> StoreResult<Vec<Ghap>> {
        ghap_prompts::orphaned_ghaps(self.connection, place, client, now)
    }

    /// Returns the last run of each of the last commands.
    pub fn last_runs(&self, place: &ProjectPlace, limit: usize) -> StoreResult<Vec<Outcome>> {
        ghap_prompts::last_runs(self.connection, place, limit)
    }

    /// Returns all open episodes of a checkout, the last seen first.
    pub fn open_episodes(&self, place: &ProjectPlace) -> StoreResult<Vec<Episode>> {
        let Some(project) = projects::find_project(self.connection, place)? else {
            return Ok(Vec::new());
        };
        episodes::select_episodes(
            self.connection,
            "WHERE episode.project = ?1 AND episode.root = ?2 AND how IS NULL ORDER BY episode.seen DESC",
            params![project, place.root],
        )
    }

    /// Returns the paths and ids of the newest fixed episodes about a file that a text names, the newest last.
    pub fn fixes_of_file(
        &self,
        place: &ProjectPlace,
        typed: &str,
    ) -> StoreResult<Vec<(String, Id)>> {
        match projects::find_project(self.connection, place)? {
            Some(project) => episode_files::find_fixed_in_file(self.connection, project, typed),
            None => Ok(Vec::new()),
        }
    }
}

/// Returns the SQL condition that a row belongs to project `?1`, or to any project.
fn project_condition(column: &str, everywhere: bool) -> String {
    // Without a project no index applies; only commands ask for that.
    if everywhere { "?1 IS NOT NULL".to_owned() } else { format!("{column} = ?1") }
}
