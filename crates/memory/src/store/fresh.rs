//! Updates before a read. The read goes ahead with older data if an update is not possible.

use std::time::Duration;

use super::{Regrouped, Store, StoreError};
use crate::Time;

/// Time to wait for another process that writes. Short, because the read can go ahead without the update.
const PATIENCE: Duration = Duration::from_secs(1);

impl Store {
    /// Drains the spool and updates clusters and values. Returns false if another process is writing; the rows are then
    /// as they were a moment ago and can still be read.
    pub fn freshen_values(&mut self, now: Time) -> Result<bool, StoreError> {
        let mut done = Regrouped::default();
        let free = self.unless_busy(|store| {
            store.gather_if_free(now)?;
            done = store.bring_clusters_up_to_date(now)?;
            Ok(())
        })?;
        Ok(free && !done.put_off)
    }

    /// Drains the spool and updates the effects of injections. Returns false as [`Store::freshen_values`] does.
    pub fn freshen_shown(&mut self, now: Time) -> Result<bool, StoreError> {
        self.unless_busy(|store| {
            store.gather_if_free(now)?;
            store.settle_shown(now)
        })
    }

    fn unless_busy<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<bool, StoreError> {
        self.connection.busy_timeout(PATIENCE)?;
        let changed = change(self);
        super::wait_for_others(&mut self.connection)?;
        match changed {
            Ok(_) => Ok(true),
            // A store that cannot be written now can still be read.
            Err(StoreError::Busy | StoreError::Full | StoreError::ReadOnly(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
