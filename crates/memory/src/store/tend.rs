//! Housekeeping: drains the spool, keeps the bounds, makes the files that are searched, folds the log of changes into the
//! database.
//!
//! Hooks start it detached when there is something to do; one runs at a time.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rusqlite::params;
use serde::Serialize;

use super::spool::{self, Drained};
use super::{Files, Store, StoreError, at, episodes};
use crate::Time;
use crate::data_dir::{self, Lock};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How long outcomes are kept.
    pub outcome_age: Duration,
    /// How many outcomes of one project are kept.
    pub outcomes: u32,
    /// How long what was shown is remembered as shown.
    pub injection_age: Duration,
    /// After how long without a run a failure is no longer followed.
    pub episode_silence: Duration,
    /// How long a run of `tend` may take.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            outcome_age: Duration::from_hours(180 * 24),
            outcomes: 50_000,
            injection_age: Duration::from_hours(90 * 24),
            episode_silence: Duration::from_hours(30 * 24),
            time: Duration::from_secs(10),
        }
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tended {
    /// Entries taken out of the spool.
    pub drained: usize,
    /// Entries of a newer form that wait for a newer program.
    pub held: usize,
    /// Entries that could not be taken; the log says why.
    pub refused: usize,
    /// Outcomes that were over the bounds.
    pub retired: usize,
    /// Whether the files that are searched were made anew.
    pub filed: bool,
    /// Experiences that found a place among others, or none, on each axis.
    pub grouped: usize,
    /// Whether the log of changes was folded into the database. Not while somebody reads.
    pub folded: bool,
}

/// Does what there is to do; `None` when another process is at it.
pub fn tend(data: &Path, bounds: &Bounds, now: Time) -> Result<Option<Tended>, StoreError> {
    let until = Instant::now() + bounds.time;
    let mut store = Store::open(data, now)?;
    store.check_writable()?;
    let Some(lock) = store.tending()? else { return Ok(None) };
    let Drained { entries, held, refused, .. } = spool::drain(&mut store, &lock, now)?;
    store.finish_erasing(&lock)?;
    remove_snapshots(&store.files, Some(now.minus(MAX_SNAPSHOT_AGE)));
    let retired = if Instant::now() < until { store.retire(bounds, now)? } else { 0 };
    let filed = store.file_documents(&lock, until);
    let grouped = if Instant::now() < until {
        store.regroup(&lock, now).map(|done| done.placed)
    } else {
        Ok(0)
    };
    let folded = Instant::now() < until && store.fold(Duration::from_millis(100))?;
    // The files can wait; the log of changes was not to wait for them.
    let (filed, grouped) = (filed?, grouped?);
    Ok(Some(Tended { drained: entries, held, refused, retired, filed, grouped, folded }))
}

/// A copy of files that is older was left by a command that never ended.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_hours(24);

/// Removes copies of files that commands left behind: those of before a time, or all. What cannot be removed is tried again
/// next time.
pub(crate) fn remove_snapshots(files: &Files, before: Option<Time>) {
    // Never through a link: it would lead to files of somebody else.
    if !matches!(data_dir::check_path(&files.snapshots()), Ok(Some(_))) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(files.snapshots()) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let millis = modified.and_then(|age| i64::try_from(age.as_millis()).ok()).unwrap_or(0);
        if before.is_none_or(|before| millis < before.millis()) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

impl Store {
    /// The right to drain the spool, if nobody else has it.
    pub(crate) fn tending(&self) -> Result<Option<Lock>, StoreError> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(at("make", &spool))?;
        Lock::attempt(&spool).map_err(at("lock", &spool))
    }

    /// The same, where whoever has it may be done in some time.
    pub(crate) fn tending_within(&self, patience: Duration) -> Result<Option<Lock>, StoreError> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(at("make", &spool))?;
        match Lock::wait(&spool, patience) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(at("lock", &spool)(error)),
        }
    }

    /// The same, after a wait.
    pub(crate) fn tending_soon(&self) -> Result<Lock, StoreError> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(at("make", &spool))?;
        Lock::wait(&spool, Bounds::default().time + data_dir::PATIENCE).map_err(at("lock", &spool))
    }

    /// Removes outcomes that are too old or too many, but none that a GHAP rests on.
    fn retire(&mut self, bounds: &Bounds, now: Time) -> Result<usize, StoreError> {
        self.write(|transaction| {
            // Old by the newest of them, not by the clock: one that was set a year ahead must not cost a year's runs.
            let newest: Option<Time> = transaction.query_row("SELECT max(at) FROM outcome", [], |row| row.get(0))?;
            let oldest = newest.map_or(now, |newest| newest.min(now)).minus(bounds.outcome_age);
            let old = transaction.execute(
                "DELETE FROM outcome WHERE at < ?1 AND id NOT IN (SELECT outcome FROM ghap WHERE outcome IS NOT NULL)",
                [oldest],
            )?;
            // The newest by place in the table, not by time: a clock may have been set back.
            let many = transaction.execute(
                "DELETE FROM outcome WHERE id IN (
                     SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY project ORDER BY id DESC) AS place FROM outcome)
                     WHERE place > ?1
                 ) AND id NOT IN (SELECT outcome FROM ghap WHERE outcome IS NOT NULL)",
                params![bounds.outcomes],
            )?;
            let latest = newest.map_or(now, |newest| newest.min(now));
            transaction.execute("DELETE FROM parked WHERE at < ?1", [now.minus(Duration::from_hours(1))])?;
            transaction.execute("DELETE FROM unfollowed WHERE at < ?1", [oldest])?;
            transaction.execute("DELETE FROM caller WHERE at < ?1", [now.minus(super::callers::KEPT)])?;
            // What came of a value is a part of what it is worth.
            transaction.execute(
                "DELETE FROM injection WHERE at < ?1 AND (effect IS NULL OR row NOT IN (SELECT uid FROM value))",
                [latest.minus(bounds.injection_age)],
            )?;
            episodes::retire(transaction, latest.minus(bounds.episode_silence), oldest, latest)?;
            Ok(old + many)
        })
    }

    /// Folds the log of changes into the database and empties it. `false` when a reader or writer is in the way.
    pub(crate) fn fold(&mut self, patience: Duration) -> Result<bool, StoreError> {
        self.connection.busy_timeout(patience)?;
        let busy = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        super::wait_for_others(&mut self.connection)?;
        match busy {
            Ok(busy) => Ok(!busy),
            Err(error) => match error.into() {
                StoreError::Busy => Ok(false),
                error => Err(error),
            },
        }
    }
}
