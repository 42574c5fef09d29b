//! The store as a hook uses it: opens an existing database, or fails at once if it is not ready.
//!
//! It never creates, migrates or checkpoints, and waits for locks at most half of the hook's time budget. A checkpoint
//! on close would cost far more than the hook's own work whenever the hook is the last process to close the database.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use thiserror::Error;

use super::entry::{self, Arrival, Entry, Place};
use super::episodes::{self, Recalled};
use super::spool::{self, SpoolError};
use super::{Files, StoreError, at, documents, injections, projects, schema};
use crate::data_dir::{Lock, check_path};
use crate::run::Run;
use crate::{Clean, Id, Time};

/// The database, opened for one hook.
#[derive(Debug)]
pub struct HotStore {
    pub(super) connection: Connection,
    pub(super) files: Files,
    until: Instant,
    settled: Cell<bool>,
    /// True if more rows wait to be indexed than a hook has time for.
    pub unfinished: Cell<bool>,
    /// After `connection`, so that the connection is closed first.
    _using: Lock,
}

/// WAL size above which a hook does not open the database. The first process to open a database reads its whole WAL; a
/// longer one has not been checkpointed for a while, and a hook has no time to read it.
const LONG: u64 = 4 * 1024 * 1024;

/// Capacity of the statement cache. More than any one hook uses, so that no statement is prepared twice.
pub(super) const STATEMENTS: usize = 64;

/// The reason that a hook cannot use the database.
#[derive(Debug, Error)]
pub enum Unready {
    /// The database does not exist yet.
    #[error("there is no database yet")]
    Missing,
    /// Earlier entries wait in the spool, and the new ones depend on them.
    #[error("earlier entries wait in the spool")]
    Behind,
    /// The WAL is too long and must be checkpointed first.
    #[error("the log of changes is long; `rutter tend` folds it")]
    LongLog,
    /// The database has another schema version.
    #[error("the database is of another version")]
    OtherVersion,
    /// The database is locked or has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for Unready {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl HotStore {
    /// Opens the database. `budget` is the time of the whole hook; at most half of it is spent waiting for locks.
    pub fn open(files: &Files, budget: Duration) -> Result<Self, Unready> {
        let until = Instant::now() + budget / 2;
        let path = files.database();
        // This check costs a microsecond; SQLite's error for a missing file costs twenty.
        if check_path(&path).map_err(at("open", &path))?.is_none() {
            return Err(Unready::Missing);
        }
        if files.wal().metadata().is_ok_and(|wal| wal.len() > LONG) {
            return Err(Unready::LongLog);
        }
        let using =
            files.using(Duration::ZERO).map_err(|error| match at("open", &path)(error) {
                error @ StoreError::Unsafe(_) => error,
                _ => StoreError::Busy,
            })?;
        let connection = super::connect(&path, until.saturating_duration_since(Instant::now()))?;
        // Query plans that ignore bound values. Otherwise SQLite may prepare a statement again after binding, which
        // gains nothing here.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let store = Self {
            connection,
            files: files.clone(),
            until,
            settled: Cell::new(false),
            unfinished: Cell::new(false),
            _using: using,
        };
        // One transaction for all reads of the schema check: each statement alone could wait for a lock.
        store.connection.execute_batch("BEGIN")?;
        let found = schema::find(&store.connection)?;
        store.connection.execute_batch("COMMIT")?;
        if found != schema::Found::Current {
            return Err(Unready::OtherVersion);
        }
        Ok(store)
    }

    /// Sets the connection's properties before the first write or sort. Most hooks only check for an open episode,
    /// which costs less than setting them.
    fn settle(&self) -> rusqlite::Result<()> {
        if !self.settled.get() {
            super::settle(&self.connection)?;
            // A commit survives the end of this process. To survive a power cut as well, every tool call would need a
            // disk sync.
            self.connection
                .execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")?;
            self.settled.set(true);
        }
        Ok(())
    }

    /// Gives the rest of the waiting time to the next statement.
    fn limit_waiting(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(self.until.saturating_duration_since(Instant::now()))
    }

    /// Returns true if a checkout has an open episode.
    pub fn follows(&self, place: &Place) -> Result<bool, StoreError> {
        match projects::find(&self.connection, place)? {
            Some(project) => episodes::is_open(&self.connection, project, &place.root),
            None => Ok(false),
        }
    }

    /// Returns the files that the open episodes of a checkout point at, and the files edited since.
    pub fn files_of_open(&self, place: &Place) -> Result<Vec<Clean>, StoreError> {
        match projects::find(&self.connection, place)? {
            Some(project) => episodes::files_of_open(&self.connection, project, &place.root),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the earlier episodes that match the failures of a run and are not yet in the agent's context.
    pub fn recall(
        &self,
        place: &Place,
        client: &str,
        agent: Option<&Clean>,
        run: &Run,
    ) -> Result<Vec<Recalled>, StoreError> {
        self.settle()?;
        match projects::find(&self.connection, place)? {
            Some(project) => episodes::recall(&self.connection, project, place, client, agent, run),
            None => Ok(Vec::new()),
        }
    }

    /// Returns true if an agent was shown a row that is still in its context.
    pub fn is_shown(
        &self,
        client: &str,
        agent: Option<&Clean>,
        row: Id,
        now: Time,
    ) -> Result<bool, StoreError> {
        injections::is_in_context(&self.connection, client, agent, row, now)
    }

    /// Writes entries in one transaction.
    pub fn write(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        self.changed(|transaction| {
            for entry in entries {
                entry::apply(transaction, entry, Arrival::AtOnce)?;
            }
            Ok(())
        })
    }

    /// Runs a change in one transaction, waiting for locks at most for the rest of the waiting time.
    pub(super) fn changed<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.settle()?;
        self.limit_waiting()?;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        let more = documents::catch_up_some(&transaction)?;
        transaction.commit()?;
        self.unfinished.set(more);
        Ok(value)
    }
}

/// The destination of recorded entries.
#[derive(Debug)]
pub enum Recorded {
    /// The database.
    Stored,
    /// The spool, because the database was not ready.
    Spooled(Unready),
}

/// Writes entries to the database or, if that is not possible in time, to the spool. The entries survive this process
/// once it returns.
pub fn record(files: &Files, entries: &[Entry], budget: Duration) -> Result<Recorded, SpoolError> {
    let written = HotStore::open(files, budget)
        .and_then(|mut store| store.write(entries).map_err(Unready::Store));
    match written {
        Ok(()) => Ok(Recorded::Stored),
        Err(unready) => spool::append(files, entries).map(|()| Recorded::Spooled(unready)),
    }
}
