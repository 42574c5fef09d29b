//! The handle of a hook: opens what is there, or says at once that it is not ready.
//!
//! It never creates, never migrates, never checkpoints, and waits for a lock at most half of the time it is given. A
//! checkpoint on close would cost a hook far more than its own work whenever it is the last to leave.

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

/// The database, for one hook.
#[derive(Debug)]
pub struct HotStore {
    pub(super) connection: Connection,
    pub(super) files: Files,
    until: Instant,
    settled: Cell<bool>,
    /// Whether rows wait to be indexed that are too many for a hook.
    pub unfinished: Cell<bool>,
    /// Behind the connection, so that it is closed first.
    _using: Lock,
}

/// Whoever opens a database that nobody else has open reads all of its log of changes. One that is longer was not
/// folded for a while, and the time for reading it is not a hook's.
const LONG: u64 = 4 * 1024 * 1024;

/// More than the statements of any one hook, so that none is prepared twice.
pub(super) const STATEMENTS: usize = 64;

/// Why a hook has to do without the database.
#[derive(Debug, Error)]
pub enum Unready {
    /// There is none yet.
    #[error("there is no database yet")]
    Missing,
    /// Entries that came before wait in the spool, and these build on them.
    #[error("earlier entries wait in the spool")]
    Behind,
    /// Its log of changes has to be folded first.
    #[error("the log of changes is long; `rutter tend` folds it")]
    LongLog,
    /// It is of another version.
    #[error("the database is of another version")]
    OtherVersion,
    /// Something is wrong with it, or somebody has it locked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for Unready {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl HotStore {
    /// Opens the database. `budget` is the time the hook has for everything; half of it may pass in waiting.
    pub fn open(files: &Files, budget: Duration) -> Result<Self, Unready> {
        let until = Instant::now() + budget / 2;
        let path = files.database();
        // A look that costs a microsecond, against an error message that costs twenty.
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
        // Plans that do not look at the values that are bound: where they may, statements are prepared, bound and prepared
        // again, and there is nothing to gain from it here.
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
        // One transaction for all that is looked at: each statement alone could wait.
        store.connection.execute_batch("BEGIN")?;
        let found = schema::find(&store.connection)?;
        store.connection.execute_batch("COMMIT")?;
        if found != schema::Found::Current {
            return Err(Unready::OtherVersion);
        }
        Ok(store)
    }

    /// What has to be set before anything is written or sorted. Most hooks only ask whether a failure is followed, and for
    /// that it would cost more than the answer.
    fn settle(&self) -> rusqlite::Result<()> {
        if !self.settled.get() {
            super::settle(&self.connection)?;
            // What is committed survives the end of this process. That it survives a power cut as well would cost every
            // tool call a sync of the disk.
            self.connection
                .execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")?;
            self.settled.set(true);
        }
        Ok(())
    }

    /// What is left of the time for waiting goes to the next statement.
    fn limit_waiting(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(self.until.saturating_duration_since(Instant::now()))
    }

    /// Whether a failure is followed in a checkout.
    pub fn follows(&self, place: &Place) -> Result<bool, StoreError> {
        match projects::find(&self.connection, place)? {
            Some(project) => episodes::is_open(&self.connection, project, &place.root),
            None => Ok(false),
        }
    }

    /// The files that the open failures of a checkout point at, and those that were edited since.
    pub fn files_of_open(&self, place: &Place) -> Result<Vec<Clean>, StoreError> {
        match projects::find(&self.connection, place)? {
            Some(project) => episodes::files_of_open(&self.connection, project, &place.root),
            None => Ok(Vec::new()),
        }
    }

    /// The episodes that a run brings back, for this agent of this session.
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

    /// Whether an agent was shown a row that is still in its context.
    pub fn is_shown(
        &self,
        client: &str,
        agent: Option<&Clean>,
        row: Id,
        now: Time,
    ) -> Result<bool, StoreError> {
        injections::is_in_context(&self.connection, client, agent, row, now)
    }

    /// Writes entries down, all or none.
    pub fn write(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        self.changed(|transaction| {
            for entry in entries {
                entry::apply(transaction, entry, Arrival::AtOnce)?;
            }
            Ok(())
        })
    }

    /// Runs a change as a whole, with what is left of the time for waiting.
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

/// Where entries were written.
#[derive(Debug)]
pub enum Recorded {
    /// In the database.
    Stored,
    /// In the spool, because of this.
    Spooled(Unready),
}

/// Writes entries into the database or, where that cannot be done in time, into the spool. Once it returns, they are
/// kept.
pub fn record(files: &Files, entries: &[Entry], budget: Duration) -> Result<Recorded, SpoolError> {
    let written = HotStore::open(files, budget)
        .and_then(|mut store| store.write(entries).map_err(Unready::Store));
    match written {
        Ok(()) => Ok(Recorded::Stored),
        Err(unready) => spool::append(files, entries).map(|()| Recorded::Spooled(unready)),
    }
}
