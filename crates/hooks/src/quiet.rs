//! Whether nothing may be kept or told: the folder is excluded, or somebody has asked for a pause. Hooks and tools ask here.

use std::path::{Path, PathBuf};

use rutter_memory::config::Config;
use rutter_memory::pause;
use rutter_memory::store::Files;

/// Why nothing is kept and nothing told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// The user has excluded the folder.
    Excluded,
    /// Somebody has paused everything.
    Paused,
    /// Somebody has paused the session.
    SessionPaused,
}

impl Quiet {
    /// None where nobody wants quiet. `config` is what counts for the folder; the home is asked for only where a setting may
    /// speak of it.
    pub fn of(
        files: &Files,
        config: &Config,
        session: Option<&str>,
        folder: &Path,
        home: fn() -> Option<PathBuf>,
    ) -> Option<Self> {
        let scope = &config.scope;
        if !scope.exclude.is_empty() && scope.excludes(folder, home().as_deref()) {
            return Some(Self::Excluded);
        }
        let paused = pause::paused(files).ok()?;
        if paused.iter().any(|one| one == pause::EVERYTHING) {
            return Some(Self::Paused);
        }
        let session = session?;
        paused.iter().any(|one| one == session).then_some(Self::SessionPaused)
    }
}
