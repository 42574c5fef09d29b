//! The store as a hook uses it: opens an existing database, or fails at once if it is not ready.
//!
//! It never creates, migrates or checkpoints, and waits for locks at most half of the hook's time budget. A checkpoint
//! on close would cost far more than the hook's own work whenever the hook is the last process to close the database.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use thiserror::Error;

use super::command_episodes::{self, CommandLesson};
use super::entry::ProjectPlace;
use super::episodes::{self, RecalledEpisode};
use super::fingerprint_rows::ChangedRows;
use super::values::{self, ValueWithEffects};
use super::{
    DataDir, StoreError, StoreResult, documents, fixes_in_file, injections, io_error, projects,
    schema,
};
use crate::data_dir::{FolderLock, check_path};
use crate::episode::Episode;
use crate::run::CapturedRun;
use crate::{Clean, Id, Time};
use rutter_runs::command_form::CommandForm;
use rutter_runs::failed_command::FailedCommand;

/// The database, opened for one hook.
#[derive(Debug)]
pub struct HookStore {
    pub(super) connection: Connection,
    pub(super) files: DataDir,
    until: Instant,
    is_configured: Cell<bool>,
    /// The rows of the current transaction whose fingerprints hooks look for. None before the first write.
    changed: Option<ChangedRows>,
    /// True if more rows wait to be indexed than a hook has time for.
    pub unfinished: Cell<bool>,
    /// After `connection`, so that the connection is closed first.
    _using: FolderLock,
}

/// WAL size above which a hook does not open the database. The first process to open a database reads its whole WAL; a
/// longer one has not been checkpointed for a while, and a hook has no time to read it.
const MAX_WAL_BYTES: u64 = 4 * 1024 * 1024;

/// Capacity of the statement cache. More than any one hook uses, so that no statement is prepared twice.
pub(super) const STATEMENT_CACHE_CAPACITY: usize = 64;

/// The reason that a hook cannot use the database.
#[derive(Debug, Error)]
pub enum StoreNotReady {
    /// The database does not exist yet.
    #[error("there is no database yet")]
    Missing,
    /// Earlier entries wait in the spool, and the new ones depend on them.
    #[error("earlier entries wait in the spool")]
    SpoolNotEmpty,
    /// The WAL is too long and must be checkpointed first.
    #[error("the write-ahead log is too long; `rutter maintain` merges it into the database")]
    LongWal,
    /// The database has another schema version.
    #[error("the database is of another version")]
    OtherVersion,
    /// The database is locked or has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for StoreNotReady {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl HookStore {
    /// Opens the database. `budget` is the time of the whole hook; at most half of it is spent waiting for locks.
    pub fn open(files: &DataDir, budget: Duration) -> Result<Self, StoreNotReady> {
        let until = Instant::now() + budget / 2;
        let path = files.database();
        // This check costs a microsecond; SQLite's error for a missing file costs twenty.
        if check_path(&path).map_err(io_error("open", &path))?.is_none() {
            return Err(StoreNotReady::Missing);
        }
        if files.wal().metadata().is_ok_and(|wal| wal.len() > MAX_WAL_BYTES) {
            return Err(StoreNotReady::LongWal);
        }
        let using = files.lock_in_use(Duration::ZERO).map_err(|error| {
            match io_error("open", &path)(error) {
                error @ StoreError::Unsafe(_) => error,
                _ => StoreError::Busy,
            }
        })?;
        let connection =
            super::open_connection(&path, until.saturating_duration_since(Instant::now()))?;
        // Query plans that ignore bound values. Otherwise SQLite may prepare a statement again after binding, which
        // gains nothing here.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
        let store = Self {
            connection,
            files: files.clone(),
            until,
            is_configured: Cell::new(false),
            changed: None,
            unfinished: Cell::new(false),
            _using: using,
        };
        // One transaction for all reads of the schema check: each statement alone could wait for a lock.
        store.connection.execute_batch("BEGIN")?;
        let found = schema::detect_schema(&store.connection)?;
        store.connection.execute_batch("COMMIT")?;
        if found != schema::SchemaState::Current {
            return Err(StoreNotReady::OtherVersion);
        }
        Ok(store)
    }

    /// Sets the connection's properties before the first write or sort. Most hooks only check for an open episode,
    /// which costs less than setting them.
    fn configure(&self) -> rusqlite::Result<()> {
        if !self.is_configured.get() {
            super::configure_connection(&self.connection)?;
            // A commit survives the end of this process. To survive a power cut as well, every tool call would need a
            // disk sync.
            self.connection
                .execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")?;
            self.is_configured.set(true);
        }
        Ok(())
    }

    /// Gives the rest of the waiting time to the next statement.
    pub(super) fn set_lock_timeout(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(self.until.saturating_duration_since(Instant::now()))
    }

    /// Returns true if a checkout has an open episode.
    pub fn has_open_episode(&self, place: &ProjectPlace) -> StoreResult<bool> {
        match projects::find_project(&self.connection, place)? {
            Some(project) => episodes::has_open_episode(&self.connection, project, &place.root),
            None => Ok(false),
        }
    }

    /// Returns the files that the open episodes of a checkout point at, and the files edited since.
    pub fn open_episode_files(&self, place: &ProjectPlace) -> StoreResult<Vec<Clean>> {
        match projects::find_project(&self.connection, place)? {
            Some(project) => episodes::open_episode_files(&self.connection, project, &place.root),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the earlier episodes that match the failures of a run and are not yet in the agent's context.
    pub fn recall_episodes(
        &self,
        place: &ProjectPlace,
        client: &str,
        agent: Option<&Clean>,
        run: &CapturedRun,
    ) -> StoreResult<Vec<RecalledEpisode>> {
        self.configure()?;
        match projects::find_project(&self.connection, place)? {
            Some(project) => {
                episodes::recall_episodes(&self.connection, project, place, client, agent, run)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns the fixed episodes with a certain fix in a file that an agent should not remove unnoticed, newest first.
    pub fn fixes_in_file(
        &self,
        place: &ProjectPlace,
        client: &str,
        agent: Option<&Clean>,
        file: &str,
        now: Time,
    ) -> StoreResult<Vec<Episode>> {
        match projects::find_project(&self.connection, place)? {
            Some(project) => {
                let connection = &self.connection;
                fixes_in_file::fixes_in_file(connection, project, place, (client, agent), file, now)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns true if a command of a session failed and is still followed.
    pub fn has_open_command(&self, client: &str) -> StoreResult<bool> {
        command_episodes::has_open_command(&self.connection, client)
    }

    /// Returns the variant that worked when a command failed like this before, unless the agent knows it.
    pub fn recall_command_lesson(
        &self,
        place: &ProjectPlace,
        client: &str,
        agent: Option<&Clean>,
        failed: &FailedCommand,
        now: Time,
    ) -> StoreResult<Option<CommandLesson>> {
        match projects::find_project(&self.connection, place)? {
            Some(project) => command_episodes::recall_command_lesson(
                &self.connection,
                project,
                place,
                client,
                agent,
                failed,
                now,
            ),
            None => Ok(None),
        }
    }

    /// Returns the variant that works instead of a command that is about to run, if the command is known to fail here and
    /// the agent does not know the variant.
    pub fn recall_before_command(
        &self,
        place: &ProjectPlace,
        client: &str,
        agent: Option<&Clean>,
        form: &CommandForm,
        now: Time,
    ) -> StoreResult<Option<CommandLesson>> {
        match projects::find_project(&self.connection, place)? {
            Some(project) => command_episodes::recall_before_command(
                &self.connection,
                project,
                place,
                client,
                agent,
                form,
                now,
            ),
            None => Ok(None),
        }
    }

    /// Returns true if an agent was shown a row that is still in its context.
    pub fn is_in_context(
        &self,
        client: &str,
        agent: Option<&Clean>,
        row: Id,
        now: Time,
    ) -> StoreResult<bool> {
        injections::is_in_context(&self.connection, client, agent, row, now)
    }

    /// Returns the values that hold in a place, the most valuable first. Reads one small table and computes nothing
    /// anew.
    pub fn values(&self, place: &ProjectPlace, most: usize) -> StoreResult<Vec<ValueWithEffects>> {
        values::values_to_show(&self.connection, place, most)
    }

    /// Runs a change in one transaction, waiting for locks at most for the rest of the waiting time.
    pub(super) fn write_with<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> StoreResult<T>,
    ) -> StoreResult<T> {
        self.configure()?;
        self.set_lock_timeout()?;
        if self.changed.is_none() {
            self.changed = Some(ChangedRows::follow(&mut self.connection)?);
        }
        let changed = self.changed.get_or_insert_default();
        changed.clear();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        let more = documents::update_some_documents(&transaction)?;
        changed.add_fingerprints(&transaction, &self.files)?;
        transaction.commit()?;
        self.unfinished.set(more);
        Ok(value)
    }
}
