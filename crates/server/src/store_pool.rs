//! A pool of open store handles.
//!
//! Opening and closing a store costs more than most calls: closing the last handle folds the write-ahead log and syncs
//! the disk. So a handle stays open for a moment after its call. Not longer: a server lives for days and must not block
//! a repair or a removal of the store. A handle that was not used for [`IDLE_TIMEOUT`] is closed, and while a repair is
//! pending no handle is kept.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rutter_memory::{Store, StoreError};
use serde_json::Value;

use crate::server_context::ServerContext;
use crate::tools::{self, ToolAnswer, ToolEffect, ToolRefusal};

/// The time after which an unused handle is closed.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_millis(200);

/// The handles that are not in use.
#[derive(Default)]
pub(crate) struct StorePool {
    kept: Mutex<IdleHandles>,
    /// Held by a call that writes. SQLite's writers poll for the lock; writers of one process can wait for each other
    /// instead.
    write_lock: Mutex<()>,
}

#[derive(Default)]
struct IdleHandles {
    handles: Vec<(Store, Instant)>,
    /// True if a task that closes unused handles is running.
    watched: bool,
}

impl StorePool {
    /// Calls a tool.
    pub(crate) fn call(
        &self,
        desk: &ServerContext,
        name: &str,
        arguments: Value,
        tool_use: Option<&str>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let tool = tools::find_tool(name)?;
        let pen = (!tool.effect.only_reads()).then(|| lock(&self.write_lock));
        let (answer, store) = tool.call(desk, self.take_handle(desk)?, arguments, tool_use);
        drop(pen);
        // Drops a handle after a store error, and after a removal of rows, which rebuilds the database.
        let is_spent =
            matches!(answer, Err(ToolRefusal::Store(_))) || tool.effect == ToolEffect::Removes;
        if !is_spent && store.is_reusable() {
            lock(&self.kept).handles.push((store, Instant::now()));
        }
        answer
    }

    fn take_handle(&self, desk: &ServerContext) -> Result<Store, StoreError> {
        loop {
            // The mutex is not held while a handle is closed.
            let Some((store, _)) = lock(&self.kept).handles.pop() else { return desk.store() };
            if store.is_reusable() {
                return Ok(store);
            }
        }
    }

    /// Returns true if a task that closes unused handles is needed and not running, and marks it as running.
    pub(crate) fn claim_cleanup_task(&self) -> bool {
        let mut kept = lock(&self.kept);
        !kept.handles.is_empty() && !std::mem::replace(&mut kept.watched, true)
    }

    /// Closes handles that were not used for [`IDLE_TIMEOUT`]. Returns true if some are left.
    pub(crate) fn close_idle(&self) -> bool {
        let mut kept = lock(&self.kept);
        let handles = std::mem::take(&mut kept.handles);
        let (used, old): (Vec<_>, Vec<_>) =
            handles.into_iter().partition(|(_, since)| since.elapsed() < IDLE_TIMEOUT);
        kept.handles = used;
        kept.watched = !kept.handles.is_empty();
        let come_back = kept.watched;
        drop(kept);
        drop(old);
        come_back
    }

    /// Closes all handles.
    pub(crate) fn close_all(&self) {
        let handles = std::mem::take(&mut lock(&self.kept).handles);
        drop(handles);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use rutter_memory::Time;
    use rutter_memory::store::DataDir;
    use serde_json::json;

    use super::*;
    use crate::{CallChannel, CallerIdentity};

    #[test]
    fn drops_handle_while_repair_is_pending() {
        let folder = tempfile::tempdir().unwrap();
        let desk = ServerContext {
            data: folder.path().join("memory"),
            config: folder.path().join("config.toml"),
            folder: folder.path().to_owned(),
            started_in: None,
            start_place: None,
            default_caller: CallerIdentity::Standing,
            channel: CallChannel::Client,
            off: false,
            home: || None,
            now: || Time::from_millis(1_763_200_000_000),
            called: || "rutter".to_owned(),
        };
        let files = DataDir::new(&desk.data);
        let shelf = StorePool::default();
        let count = |shelf: &StorePool| {
            let answer = shelf.call(&desk, "status", json!({}), None).unwrap();
            answer.structured["memories"].as_u64().unwrap()
        };
        // Each open handle has a shared lock on this folder; a repair takes it exclusively.
        let is_held = || File::open(files.log()).unwrap().try_lock().is_err();
        let fact = json!({ "content": "the build needs two cores", "category": "fact" });
        shelf.call(&desk, "remember", fact.clone(), None).unwrap();
        assert!(is_held() && shelf.claim_cleanup_task());
        assert_eq!(count(&shelf), 1);
        assert!(is_held() && !shelf.claim_cleanup_task());
        {
            let repair = File::open(&desk.data).unwrap();
            repair.lock().unwrap();
            assert_eq!(count(&shelf), 1);
            assert!(!is_held());
        }
        assert_eq!(count(&shelf), 1);
        assert!(is_held());
        // The user removes the data directory.
        fs::remove_dir_all(&desk.data).unwrap();
        assert_eq!(count(&shelf), 0);
        shelf.call(&desk, "remember", fact, None).unwrap();
        shelf.close_all();
        assert!(!is_held());
        assert_eq!(count(&shelf), 1);
        // A refusal by the tool does not spoil the handle; a removal of rows drops it.
        assert!(shelf.call(&desk, "update_ghap", json!({ "note": "x" }), None).is_err());
        assert!(is_held());
        let id = shelf.call(&desk, "recall_memories", json!({}), None).unwrap().structured;
        let ids = json!({ "ids": [id["results"][0]["id"]] });
        shelf.call(&desk, "forget", ids, None).unwrap();
        assert!(!is_held());
    }
}
