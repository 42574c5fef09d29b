//! Maintenance: drains the spool, deletes rows beyond the limits, rebuilds the search files, and checkpoints the WAL.
//!
//! Hooks start it as a detached process when there is work to do. One process runs it at a time.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rusqlite::params;
use serde::Serialize;

use super::spool::{self, DrainReport};
use super::{DataDir, Store, StoreError, StoreResult, command_episodes, episodes, io_error};
use crate::Time;
use crate::config::RetentionSettings;
use crate::data_dir::{self, FolderLock};

/// Limits on the stored rows and on the maintenance run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceLimits {
    /// Age at which outcomes are deleted.
    pub outcome_age: Duration,
    /// Maximum number of outcomes per project.
    pub outcomes: u32,
    /// Age at which injections are deleted.
    pub injection_age: Duration,
    /// Time without a run after which an open episode is closed.
    pub episode_silence: Duration,
    /// Maximum duration of a maintenance run.
    pub time: Duration,
}

impl Default for MaintenanceLimits {
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

impl From<&RetentionSettings> for MaintenanceLimits {
    fn from(retention: &RetentionSettings) -> Self {
        let days = |days: u32| Duration::from_hours(u64::from(days) * 24);
        Self {
            outcome_age: days(retention.outcome_days),
            outcomes: retention.outcomes,
            injection_age: days(retention.injection_days),
            episode_silence: days(retention.episode_days),
            ..Self::default()
        }
    }
}

/// The result of a maintenance run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MaintenanceReport {
    /// Entries that were drained from the spool.
    pub drained: usize,
    /// Lines in a newer format that wait for a newer program.
    pub held: usize,
    /// Entries that the database rejected; the log has the reason.
    pub refused: usize,
    /// Outcomes beyond the limits that were deleted.
    pub retired: usize,
    /// True if the search files were rebuilt.
    pub filed: bool,
    /// Experiences that were assigned to a cluster, or to none, counted per axis.
    pub grouped: usize,
    /// True if the WAL was checkpointed, which is not possible while another process reads.
    pub folded: bool,
}

/// Runs the maintenance. Returns None if another process is running it.
pub fn maintain(
    data: &Path,
    bounds: &MaintenanceLimits,
    now: Time,
) -> StoreResult<Option<MaintenanceReport>> {
    let until = Instant::now() + bounds.time;
    let mut store = Store::open(data, now)?;
    store.check_writable()?;
    let Some(lock) = store.try_maintenance_lock()? else { return Ok(None) };
    let DrainReport { entries, held, refused, .. } = spool::drain(&mut store, &lock, now)?;
    store.finish_erasing(&lock)?;
    remove_snapshots(&store.files, Some(now.minus(MAX_SNAPSHOT_AGE)));
    let retired = if Instant::now() < until { store.delete_expired_rows(bounds, now)? } else { 0 };
    let fingerprinted = store.rebuild_fingerprints();
    let filed = store.rebuild_search_files_if_due(&lock, until);
    let grouped = if Instant::now() < until {
        store.regroup(&lock, now).map(|done| done.placed)
    } else {
        Ok(0)
    };
    let folded = Instant::now() < until && store.checkpoint_wal(Duration::from_millis(100))?;
    // An error of these files or of the clusters is returned only now, so that it does not prevent the checkpoint.
    let (filed, grouped) = (filed?, grouped?);
    fingerprinted?;
    Ok(Some(MaintenanceReport { drained: entries, held, refused, retired, filed, grouped, folded }))
}

/// Age above which a file snapshot was left by a command that never finished.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_hours(24);

/// Removes file snapshots that commands left behind: those modified before a time, or all. Failed removals are retried
/// by the next run.
pub(crate) fn remove_snapshots(files: &DataDir, before: Option<Time>) {
    // Never through a symbolic link: it could lead to files outside the data directory.
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
    /// Takes the maintenance lock, which is required to drain the spool. Returns None if another process holds it.
    pub(crate) fn try_maintenance_lock(&self) -> StoreResult<Option<FolderLock>> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(io_error("make", &spool))?;
        FolderLock::try_take(&spool).map_err(io_error("lock", &spool))
    }

    /// Takes the maintenance lock. Returns None if another process still holds it after `patience`.
    pub(crate) fn maintenance_lock_within(
        &self,
        patience: Duration,
    ) -> StoreResult<Option<FolderLock>> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(io_error("make", &spool))?;
        match FolderLock::take_within(&spool, patience) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(io_error("lock", &spool)(error)),
        }
    }

    /// Takes the maintenance lock, waiting as long as a maintenance run may take.
    pub(crate) fn wait_for_maintenance_lock(&self) -> StoreResult<FolderLock> {
        self.check_writable()?;
        let spool = self.files.spool();
        data_dir::make_subfolder(&spool).map_err(io_error("make", &spool))?;
        FolderLock::take_within(&spool, MaintenanceLimits::default().time + data_dir::LOCK_TIMEOUT)
            .map_err(io_error("lock", &spool))
    }

    /// Deletes outcomes that are too old or too many, except those that are evidence for a GHAP.
    fn delete_expired_rows(&mut self, bounds: &MaintenanceLimits, now: Time) -> StoreResult<usize> {
        self.write(|transaction| {
            // The age counts from the newest outcome, not from the clock: a clock set a year ahead must not delete a
            // year of runs.
            let newest: Option<Time> = transaction.query_row("SELECT max(at) FROM outcome", [], |row| row.get(0))?;
            let oldest = newest.map_or(now, |newest| newest.min(now)).minus(bounds.outcome_age);
            let old = transaction.execute(
                "DELETE FROM outcome WHERE at < ?1 AND id NOT IN (SELECT outcome FROM ghap WHERE outcome IS NOT NULL)",
                [oldest],
            )?;
            // The newest by row id, not by time: the clock may have been set back.
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
            transaction.execute("DELETE FROM caller WHERE at < ?1", [now.minus(super::tool_callers::MAX_CALLER_AGE)])?;
            // The effects of a value's injections count towards its weight, so they are kept.
            transaction.execute(
                "DELETE FROM injection WHERE at < ?1 AND (effect IS NULL OR row NOT IN (SELECT uid FROM value))",
                [latest.minus(bounds.injection_age)],
            )?;
            command_episodes::retire_command_episodes(transaction, oldest, latest)?;
            episodes::retire_episodes(transaction, latest.minus(bounds.episode_silence), oldest, latest)?;
            Ok(old + many)
        })
    }

    /// Checkpoints the WAL and truncates it. Returns false if a reader or writer prevents that.
    pub(crate) fn checkpoint_wal(&mut self, patience: Duration) -> StoreResult<bool> {
        self.connection.busy_timeout(patience)?;
        let busy = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        super::set_lock_retry(&mut self.connection)?;
        match busy {
            Ok(busy) => Ok(!busy),
            Err(error) => match error.into() {
                StoreError::Busy => Ok(false),
                error => Err(error),
            },
        }
    }
}
