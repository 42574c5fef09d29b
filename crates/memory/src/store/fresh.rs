//! What is brought up to date for somebody who looks, and who is answered even if it cannot be.

use std::time::Duration;

use super::{Regrouped, Store, StoreError};
use crate::Time;

/// How long somebody who looks waits for another process that writes. There is an answer without it.
const PATIENCE: Duration = Duration::from_secs(1);

impl Store {
    /// Takes in what waits in the spool and brings clusters and values up to date. `false` where another process is writing: then
    /// they are as they were a moment ago, and can be read.
    pub fn freshen_values(&mut self, now: Time) -> Result<bool, StoreError> {
        let mut done = Regrouped::default();
        let free = self.unless_busy(|store| {
            store.gather_if_free(now)?;
            done = store.bring_clusters_up_to_date(now)?;
            Ok(())
        })?;
        Ok(free && !done.put_off)
    }

    /// The same for what was shown, and what came of it.
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
            // What cannot be written can be read.
            Err(StoreError::Busy | StoreError::Full | StoreError::ReadOnly(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
