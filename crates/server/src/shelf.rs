//! Handles on the memory, kept for the next call.
//!
//! Opening one and closing it costs more than most calls do: whoever is the last to leave folds the log of changes and syncs the
//! disk. So a handle outlives its call, for a moment: a server lives for days, and must hold nothing that a repair or a removal of the
//! memory would have to wait for. One that nobody has used for that moment is closed; and while somebody is about to repair, none
//! is kept at all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rutter_memory::{Store, StoreError};
use serde_json::Value;

use crate::desk::Desk;
use crate::tools::{self, Answer, Effect, Refusal};

/// How long a handle is kept that nobody uses.
pub(crate) const MOMENT: Duration = Duration::from_millis(200);

/// The handles that no call uses right now.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<Kept>,
    /// Held by the call that changes something. SQLite has writers look again after a while; those of one process can wait for each
    /// other instead.
    pen: Mutex<()>,
}

#[derive(Default)]
struct Kept {
    handles: Vec<(Store, Instant)>,
    /// Whether somebody comes back to tidy up.
    watched: bool,
}

impl Shelf {
    /// Calls a tool.
    pub(crate) fn call(
        &self,
        desk: &Desk,
        name: &str,
        arguments: Value,
        tool_use: Option<&str>,
    ) -> Result<Answer, Refusal> {
        let tool = tools::named(name)?;
        let pen = (!tool.effect.only_reads()).then(|| lock(&self.pen));
        let (answer, store) = tool.call(desk, self.take(desk)?, arguments, tool_use);
        drop(pen);
        // What went wrong with a handle is not to go wrong again; what removes rows builds the database anew.
        let is_spent = matches!(answer, Err(Refusal::Store(_))) || tool.effect == Effect::Removes;
        if !is_spent && store.is_good() {
            lock(&self.kept).handles.push((store, Instant::now()));
        }
        answer
    }

    fn take(&self, desk: &Desk) -> Result<Store, StoreError> {
        loop {
            // The lock is not held while a handle is closed.
            let Some((store, _)) = lock(&self.kept).handles.pop() else { return desk.store() };
            if store.is_good() {
                return Ok(store);
            }
        }
    }

    /// Whether somebody has to come back after a [`MOMENT`] for what was kept, and nobody does yet.
    pub(crate) fn is_unwatched(&self) -> bool {
        let mut kept = lock(&self.kept);
        !kept.handles.is_empty() && !std::mem::replace(&mut kept.watched, true)
    }

    /// Closes what nobody has used for a moment. Says whether to come back.
    pub(crate) fn tidy(&self) -> bool {
        let mut kept = lock(&self.kept);
        let handles = std::mem::take(&mut kept.handles);
        let (used, old): (Vec<_>, Vec<_>) =
            handles.into_iter().partition(|(_, since)| since.elapsed() < MOMENT);
        kept.handles = used;
        kept.watched = !kept.handles.is_empty();
        let come_back = kept.watched;
        drop(kept);
        drop(old);
        come_back
    }

    /// Closes everything.
    pub(crate) fn clear(&self) {
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
    use rutter_memory::store::Files;
    use serde_json::json;

    use super::*;
    use crate::{Door, Whose};

    #[test]
    fn a_handle_is_kept_unless_somebody_is_about_to_repair() {
        let folder = tempfile::tempdir().unwrap();
        let desk = Desk {
            data: folder.path().join("memory"),
            config: folder.path().join("config.toml"),
            folder: folder.path().to_owned(),
            started_in: None,
            otherwise: Whose::Standing,
            door: Door::Client,
            off: false,
            home: || None,
            now: || Time::from_millis(1_763_200_000_000),
            called: || "rutter".to_owned(),
        };
        let files = Files::new(&desk.data);
        let shelf = Shelf::default();
        let count = |shelf: &Shelf| {
            let answer = shelf.call(&desk, "status", json!({}), None).unwrap();
            answer.structured["memories"].as_u64().unwrap()
        };
        // Whoever has the database open shares this lock; who puts it aside has it alone.
        let is_held = || File::open(files.log()).unwrap().try_lock().is_err();
        let fact = json!({ "content": "the build needs two cores", "category": "fact" });
        shelf.call(&desk, "remember", fact.clone(), None).unwrap();
        assert!(is_held() && shelf.is_unwatched());
        assert_eq!(count(&shelf), 1);
        assert!(is_held() && !shelf.is_unwatched());
        {
            let repair = File::open(&desk.data).unwrap();
            repair.lock().unwrap();
            assert_eq!(count(&shelf), 1);
            assert!(!is_held());
        }
        assert_eq!(count(&shelf), 1);
        assert!(is_held());
        // Somebody removes it all.
        fs::remove_dir_all(&desk.data).unwrap();
        assert_eq!(count(&shelf), 0);
        shelf.call(&desk, "remember", fact, None).unwrap();
        shelf.clear();
        assert!(!is_held());
        assert_eq!(count(&shelf), 1);
        // A refusal of the tool is no fault of the handle; whoever removes rows leaves no handle behind.
        assert!(shelf.call(&desk, "update_ghap", json!({ "note": "x" }), None).is_err());
        assert!(is_held());
        let id = shelf.call(&desk, "recall_memories", json!({}), None).unwrap().structured;
        let ids = json!({ "ids": [id["results"][0]["id"]] });
        shelf.call(&desk, "forget", ids, None).unwrap();
        assert!(!is_held());
    }
}
