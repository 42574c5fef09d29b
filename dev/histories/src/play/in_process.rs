//! The product in this process: fast, for many seeds. Only this file uses the product's types.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use rutter_hooks::bash_call::DEFAULT_WINDOW_BYTES;
use rutter_hooks::{HookEnv, handle_event};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{DataDir, EpisodeFilter};
use rutter_memory::{Store, Time};
use rutter_testkit::MIN_HOOK_DEADLINE;
use serde_json::Value;

use super::{EpisodeView, PlayFolders, Product, START_MILLIS, context_text};

/// The product's library.
#[derive(Debug)]
pub struct InProcess {
    files: DataDir,
    store: Store,
    faults: Vec<String>,
}

impl InProcess {
    /// Creates a data directory in the folder of a stage.
    pub fn new(stage: &PlayFolders) -> Result<Self> {
        let memory = stage.memory();
        let store = Store::open(&memory, Time::from_millis(START_MILLIS))?;
        Ok(Self { files: DataDir::new(memory), store, faults: Vec::new() })
    }
}

impl Product for InProcess {
    fn handle_payload(&mut self, payload: &Value, root: &Path, at: i64) -> Result<String> {
        let now = Time::from_millis(at);
        let heard = handle_event(payload.to_string().as_bytes(), None, || HookEnv {
            files: self.files.clone(),
            now,
            started_at: Instant::now(),
            min_deadline: MIN_HOOK_DEADLINE,
            window: DEFAULT_WINDOW_BYTES,
            started_in: Some(root.to_owned()),
            parent: None,
            config: self.files.folder().join("config.toml"),
            home: || None,
            own_command: || "rutter".to_owned(),
            has_tools: |_| None,
            foreign_server: |_, _| None,
        });
        self.faults.extend(heard.errors.iter().map(ToString::to_string));
        if heard.needs_maintenance {
            maintain(self.files.folder(), &MaintenanceLimits::default(), now)?;
        }
        Ok(context_text(&heard.stdout))
    }

    fn episodes(&mut self) -> Result<Vec<EpisodeView>> {
        let episodes = self.store.episodes(&EpisodeFilter::default())?;
        let view = |episode: rutter_memory::episode::Episode| EpisodeView {
            id: episode.id.to_string(),
            test: episode.test.as_ref().map(ToString::to_string),
            words: format!(
                "{} | {} | {}",
                episode.error,
                episode.signature,
                episode.file.as_deref().unwrap_or_default()
            ),
            root: episode.root.to_string(),
            ending: episode.ending.as_ref().map(|ending| ending.how.to_string()),
        };
        let mut views: Vec<EpisodeView> = episodes.into_iter().map(view).collect();
        views.reverse();
        Ok(views)
    }

    fn faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }

    fn has_own_clock(&self) -> bool {
        true
    }
}
