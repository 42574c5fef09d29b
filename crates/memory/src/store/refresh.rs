//! Updates of clusters, effects and values: by maintenance, and before a read. The read goes ahead with older data if an
//! update is not possible.

use std::time::Duration;

use super::{RegroupReport, Store, StoreError, StoreResult, clusters, effect_finder, values};
use crate::Time;
use crate::data_dir::FolderLock;
use rutter_search::cluster::Axis;

/// Time to wait for another process that writes. Short, because the read can go ahead without the update.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum wait for another process that updates the clusters.
const CLUSTER_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

impl Store {
    /// Updates clusters and values. Not for hooks: waits for another process that does the same. If that takes too
    /// long, nothing changes.
    pub fn update_clusters(&mut self, now: Time) -> StoreResult<RegroupReport> {
        if self.is_read_only {
            return Ok(RegroupReport::default());
        }
        self.update_index()?;
        match self.maintenance_lock_within(CLUSTER_LOCK_TIMEOUT)? {
            Some(lock) => self.regroup(&lock, now),
            None => Ok(RegroupReport { put_off: true, ..RegroupReport::default() }),
        }
    }

    /// Updates clusters and values for a caller that holds the maintenance lock.
    pub(crate) fn regroup(&mut self, _lock: &FolderLock, now: Time) -> StoreResult<RegroupReport> {
        let mut done = RegroupReport::default();
        let mut any = false;
        for &axis in Axis::ALL {
            if !clusters::is_due(&self.connection, axis)? {
                continue;
            }
            let moment = self.connection.unchecked_transaction()?;
            let draft = clusters::draft_regrouping(&moment, axis)?;
            drop(moment);
            self.write(|transaction| {
                clusters::write_regrouping(transaction, &draft, now, &mut done)
            })?;
            any = true;
        }
        self.write_effects(any, now, &mut done)?;
        Ok(done)
    }

    /// Determines the effects of shown rows, and weighs values by them.
    pub fn update_effects(&mut self, now: Time) -> StoreResult {
        if self.is_read_only {
            return Ok(());
        }
        match self.maintenance_lock_within(CLUSTER_LOCK_TIMEOUT)? {
            Some(_lock) => self.write_effects(false, now, &mut RegroupReport::default()),
            None => Ok(()),
        }
    }

    fn write_effects(
        &mut self,
        regrouped: bool,
        now: Time,
        done: &mut RegroupReport,
    ) -> StoreResult {
        let came = effect_finder::find_effects(&self.connection, now)?;
        let due =
            regrouped || came.has_effects() || values::has_unweighed_evidence(&self.connection)?;
        if due || !came.is_empty() {
            self.write(|transaction| {
                came.write(transaction)?;
                if due { values::weigh_values(transaction, now, done) } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// Drains the spool and updates clusters and values. Returns false if another process is writing; the rows are then
    /// as they were a moment ago and can still be read.
    pub fn refresh_values(&mut self, now: Time) -> StoreResult<bool> {
        let mut done = RegroupReport::default();
        let free = self.run_unless_busy(|store| {
            store.try_drain_spool(now)?;
            done = store.update_clusters(now)?;
            Ok(())
        })?;
        Ok(free && !done.put_off)
    }

    /// Drains the spool and updates the effects of injections. Returns false as [`Store::refresh_values`] does.
    pub fn refresh_effects(&mut self, now: Time) -> StoreResult<bool> {
        self.run_unless_busy(|store| {
            store.try_drain_spool(now)?;
            store.update_effects(now)
        })
    }

    fn run_unless_busy<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> StoreResult<T>,
    ) -> StoreResult<bool> {
        self.connection.busy_timeout(REFRESH_TIMEOUT)?;
        let changed = change(self);
        super::set_lock_retry(&mut self.connection)?;
        match changed {
            Ok(_) => Ok(true),
            // A store that cannot be written now can still be read.
            Err(StoreError::Busy | StoreError::Full | StoreError::ReadOnly(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
