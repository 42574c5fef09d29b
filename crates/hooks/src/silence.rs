//! The check for excluded folders and pauses, for hooks and MCP tools.

use std::path::{Path, PathBuf};

use rutter_memory::config::Config;
use rutter_memory::pause;
use rutter_memory::store::DataDir;

/// The reason why nothing may be recorded or shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SilenceReason {
    /// The user has excluded the folder.
    Excluded,
    /// The user has paused all sessions.
    Paused,
    /// The user has paused this session.
    SessionPaused,
}

impl SilenceReason {
    /// Returns None if recording is allowed. `config` is the configuration of the folder; `home` is called only if the
    /// configuration has excluded folders, as their paths may refer to it.
    pub fn check(
        files: &DataDir,
        config: &Config,
        session: Option<&str>,
        folder: &Path,
        home: fn() -> Option<PathBuf>,
    ) -> Option<Self> {
        let scope = &config.scope;
        if !scope.exclude.is_empty() && scope.excludes(folder, home().as_deref()) {
            return Some(Self::Excluded);
        }
        let paused = pause::paused_sessions(files).ok()?;
        if paused.iter().any(|one| one == pause::ALL_SESSIONS) {
            return Some(Self::Paused);
        }
        let session = session?;
        paused.iter().any(|one| one == session).then_some(Self::SessionPaused)
    }
}
