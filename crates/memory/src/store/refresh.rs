//! Updates before a read. The read goes ahead with older data if an update is not possible.

use std::time::Duration;

use super::{RegroupReport, Store, StoreError};
use crate::Time;

/// Time to wait for another process that writes. Short, because the read can go ahead without the update.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

impl Store {
    /// Drains the spool and updates clusters and values. Returns false if another process is writing; the rows are then
    /// as they were a moment ago and can still be read.
    pub fn refresh_values(&mut self, now: Time) -> Result<bool, StoreError> {
        let mut done = RegroupReport::default();
        let free = self.run_unless_busy(|store| {
            store.try_drain_spool(now)?;
            done = store.update_clusters(now)?;
            Ok(())
        })?;
        Ok(free && !done.put_off)
    }

    /// Drains the spool and updates the effects of injections. Returns false as [`Store::refresh_values`] does.
    pub fn refresh_effects(&mut self, now: Time) -> Result<bool, StoreError> {
        self.run_unless_busy(|store| {
            store.try_drain_spool(now)?;
            store.update_effects(now)
        })
    }

    fn run_unless_busy<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<bool, StoreError> {
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
