//! Removal of fingerprints that led a hook to the database for nothing.

use rusqlite::params;

use super::command_episodes::is_failing_command;
use super::fingerprint_rows::{command_fingerprint, folder_fingerprint, ghap_fingerprint};
use super::hook_store::HookStore;
use super::{StoreResult, io_error};
use crate::fingerprints::{Fingerprints, write_file};

impl HookStore {
    /// Removes fingerprints of a session, of folders and of commands from the file, unless a row still has them.
    pub fn remove_stale_fingerprints(
        &mut self,
        client: &str,
        folders: &[&str],
        shapes: &[u64],
    ) -> StoreResult {
        let Some(known) = Fingerprints::read(&self.files) else { return Ok(()) };
        let is_stale = |store: &Self| -> StoreResult<Vec<u64>> {
            let mut stale = Vec::new();
            let one = ghap_fingerprint(client);
            if known.contains(one) && !store.has_active_ghap(client)? {
                stale.push(one);
            }
            for folder in folders {
                let one = folder_fingerprint(folder);
                if known.contains(one) && !store.has_open_episode_in(folder)? {
                    stale.push(one);
                }
            }
            for shape in shapes {
                let one = command_fingerprint(*shape);
                if known.contains(one) && !is_failing_command(&store.connection, *shape)? {
                    stale.push(one);
                }
            }
            Ok(stale)
        };
        if is_stale(self)?.is_empty() {
            return Ok(());
        }
        self.set_lock_timeout()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        // Again, now that nobody can add one: the file and the rows.
        let written = is_stale(self).and_then(|stale| {
            let Some(known) = Fingerprints::read(&self.files) else { return Ok(()) };
            let left = known.all().filter(|one| !stale.contains(one)).collect();
            let path = self.files.fingerprints();
            write_file(&self.files, left).map_err(io_error("write", &path))
        });
        self.connection.execute_batch("ROLLBACK")?;
        written
    }

    /// Returns true if a checkout has an open episode, in whatever project.
    fn has_open_episode_in(&self, root: &str) -> StoreResult<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM episode WHERE root = ?1 AND how IS NULL)",
            )?
            .query_row(params![root], |row| row.get(0))?)
    }
}
