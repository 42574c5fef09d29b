//! The recorder: writes the entries of one hook call to the database or, if that is not possible in time, to the spool.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::apply::apply_entry;
use super::entry::{EntryArrival, EntryKind, SessionEntry};
use super::hook_store::{HookStore, StoreNotReady};
use super::spool::{self, SpoolError};
use super::{DataDir, StoreError, ghap_prompts};
use crate::Id;

/// Records the entries of one hook call. The database is opened on first use.
#[derive(Debug)]
pub struct Recorder {
    files: DataDir,
    budget: Duration,
    store: Option<Result<HookStore, Arc<StoreNotReady>>>,
}

/// The destination of recorded entries.
#[derive(Debug)]
pub enum EntryDestination {
    /// The database.
    Stored,
    /// The spool, because the database was not ready.
    Spooled(Arc<StoreNotReady>),
}

/// The reason that entries were recorded neither in the database nor in the spool. They are lost.
#[derive(Debug, Error)]
#[error("{store}; {spool}")]
pub struct RecordError {
    /// The reason that the database was not used.
    pub store: Arc<StoreNotReady>,
    /// The reason that the spool was not used.
    pub spool: SpoolError,
}

impl Recorder {
    /// Returns a recorder. `budget` is the time of the whole hook; at most half of it is spent waiting for locks.
    pub fn new(files: &DataDir, budget: Duration) -> Self {
        Self { files: files.clone(), budget, store: None }
    }

    /// Returns the database, or the reason that it is not ready.
    pub fn store(&mut self) -> Result<&mut HookStore, Arc<StoreNotReady>> {
        let (files, budget) = (&self.files, self.budget);
        match self.store.get_or_insert_with(|| HookStore::open(files, budget).map_err(Arc::new)) {
            Ok(store) => Ok(store),
            Err(reason) => Err(Arc::clone(reason)),
        }
    }

    /// Records entries in one transaction, or spools them. They survive this process once it returns.
    pub fn record(&mut self, entries: &[SessionEntry]) -> Result<EntryDestination, RecordError> {
        self.record_with_shown(entries, &[])
    }

    /// Records entries, and in the same transaction entries about texts that are about to be shown. If the database is
    /// not ready, the former are spooled and the latter dropped: the texts must then not be shown, and an entry in the
    /// spool would count them as shown.
    pub fn record_with_shown(
        &mut self,
        entries: &[SessionEntry],
        shown: &[SessionEntry],
    ) -> Result<EntryDestination, RecordError> {
        let written = self.store_if_in_order(entries).and_then(|store| {
            store.write_entries(entries.iter().chain(shown)).map_err(StoreNotReady::from_write)
        });
        self.spool_unless(written, entries).map(|(destination, ())| destination)
    }

    /// Records a tool call of an agent with an active GHAP, together with other entries as in
    /// [`Recorder::record_with_shown`]. Returns the number of calls since the GHAP was last changed or asked about, if
    /// it has reached `frequency`, and resets it, so that exactly one of several concurrent hooks asks.
    pub fn record_call(
        &mut self,
        entries: &[SessionEntry],
        shown: &[SessionEntry],
        ghap: Id,
        frequency: u32,
    ) -> Result<(EntryDestination, Option<u32>), RecordError> {
        let written = self.store_if_in_order(entries).and_then(|store| {
            store
                .write_entries_then(entries.iter().chain(shown), |transaction| {
                    Ok(ghap_prompts::take_due_check_in(transaction, ghap, frequency)?)
                })
                .map_err(StoreNotReady::from_write)
        });
        self.spool_unless(written, entries)
    }

    /// Records entries about texts that are about to be shown, in the database only.
    pub fn record_shown(&mut self, shown: &[SessionEntry]) -> Result<(), Arc<StoreNotReady>> {
        self.store()?.write_entries(shown).map_err(StoreNotReady::from_write)
    }

    /// Removes rows that were parked for a subagent, and in the same transaction records entries about the texts that it
    /// is about to be shown. Returns false, and records nothing, if another hook has taken the rows.
    pub fn take_parked_rows(
        &mut self,
        parked: i64,
        shown: &[SessionEntry],
    ) -> Result<bool, Arc<StoreNotReady>> {
        let taken = self.store()?.write_with(|transaction| {
            if !ghap_prompts::delete_parked_rows(transaction, parked)? {
                return Ok(false);
            }
            for entry in shown {
                apply_entry(transaction, entry, EntryArrival::AtOnce)?;
            }
            Ok(true)
        });
        taken.map_err(StoreNotReady::from_write)
    }

    /// Returns the database, unless the entries must queue behind those in the spool. Runs and changes must stay in
    /// order (failure, change, success).
    fn store_if_in_order(
        &mut self,
        entries: &[SessionEntry],
    ) -> Result<&mut HookStore, Arc<StoreNotReady>> {
        let is_ordered = |entry: &SessionEntry| {
            matches!(
                entry.kind,
                EntryKind::Ran(_) | EntryKind::Changed(..) | EntryKind::Commanded(_)
            )
        };
        if entries.iter().any(is_ordered) && spool::has_drainable_entries(&self.files) {
            return Err(Arc::new(StoreNotReady::SpoolNotEmpty));
        }
        self.store()
    }

    /// Appends the entries to the spool if they were not written.
    fn spool_unless<T: Default>(
        &self,
        written: Result<T, Arc<StoreNotReady>>,
        entries: &[SessionEntry],
    ) -> Result<(EntryDestination, T), RecordError> {
        let reason = match written {
            Ok(value) => return Ok((EntryDestination::Stored, value)),
            Err(reason) => reason,
        };
        match spool::append_entries(&self.files, entries) {
            Ok(()) => Ok((EntryDestination::Spooled(reason), T::default())),
            Err(spool) => Err(RecordError { store: reason, spool }),
        }
    }
}

impl StoreNotReady {
    fn from_write(error: StoreError) -> Arc<Self> {
        Arc::new(Self::Store(error))
    }
}
