//! A client binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rutter_contract::version::Version;

use super::LiveError;

/// A client binary and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientBinary {
    path: PathBuf,
    version: Version,
}

impl ClientBinary {
    /// Opens the client at `path`. Runs it once to get its version.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LiveError> {
        let path = path.into();
        let failed = |source| LiveError::Client { path: path.clone(), source };
        // The client may need a home even for `--version`; it gets an empty one.
        let home = tempfile::tempdir().map_err(failed)?;
        let mut command = Command::new(&path);
        command.arg("--version").stdin(Stdio::null());
        command.env_clear().env("HOME", home.path()).env("PATH", super::sandbox::SANDBOX_PATH);
        command.envs(super::sandbox::OFFLINE_ENV);
        let output = command.output().map_err(failed)?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let line = printed.lines().next().unwrap_or_default();
        match line.parse() {
            Ok(version) if line.contains("Claude Code") => Ok(Self { path, version }),
            _ => Err(LiveError::NotAClient { printed: line.chars().take(80).collect(), path }),
        }
    }

    /// Creates a client at `path` of a known version, without running it.
    pub fn with_version(path: impl Into<PathBuf>, version: Version) -> Self {
        Self { path: path.into(), version }
    }

    /// Returns the path of the binary.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the client's version.
    pub fn version(&self) -> Version {
        self.version
    }
}
