//! The installed client: the path and the version of `claude`.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rutter_check::settings::{FileLocation, HookEntry};
use rutter_contract::version::{Contract, Version};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::codes;
use super::finding::DoctorFinding;
use super::places::ClientEnvironment;
use crate::process;

/// Time limit for `claude --version`. The client starts a JavaScript runtime first.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// First client version that supports `args`.
const FIRST_EXEC_FORM_VERSION: Version = Version::new(2, 1, 139);

/// The installed client.
#[derive(Debug, Default)]
pub(crate) struct InstalledClient {
    pub(crate) path: Option<PathBuf>,
    pub(crate) version: Option<Version>,
}

impl Serialize for InstalledClient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Client", 2)?;
        out.serialize_field("path", &self.path)?;
        out.serialize_field("version", &self.version.map(|version| version.to_string()))?;
        out.end()
    }
}

impl InstalledClient {
    /// Finds `claude` in `PATH` and runs it for its version.
    pub(crate) fn detect(places: &ClientEnvironment, findings: &mut Vec<DoctorFinding>) -> Self {
        if places.variables.simple {
            let what = "CLAUDE_CODE_SIMPLE is set here: a client started from here runs no hooks";
            findings.push(DoctorFinding::new(&codes::CLIENT_SIMPLE, what));
        }
        let Some(path) = places.find_program("claude") else {
            findings.push(DoctorFinding::new(&codes::CLIENT_MISSING, "`claude` is not in PATH"));
            return Self::default();
        };
        let place = FileLocation::whole_file(&path);
        let mut command = Command::new(&path);
        command.arg("--version").current_dir("/");
        let said = match process::run_with_limit(&mut command, b"", VERSION_TIMEOUT) {
            Ok(ended) if ended.late => {
                Err("it did not print its version within ten seconds".to_owned())
            }
            Ok(ended) => {
                let said = String::from_utf8_lossy(&ended.stdout).into_owned();
                said.parse::<Version>().map_err(|_| "it prints no version".to_owned())
            }
            Err(error) => Err(format!("it does not run: {error}")),
        };
        let version = match said {
            Ok(version) => Some(version),
            Err(why) => {
                findings
                    .push(DoctorFinding::new(&codes::CLIENT_UNUSABLE, why).with_location(place));
                None
            }
        };
        Self { path: Some(path), version }
    }

    /// Returns a finding if the client is too old for an entry with `args`. Every client supports shell command lines.
    pub(crate) fn check_version(&self, entries: &[&HookEntry]) -> Option<DoctorFinding> {
        let old = self.version.filter(|version| *version < FIRST_EXEC_FORM_VERSION)?;
        entries.iter().find(|entry| entry.handler.get("args").is_some())?;
        let what = format!(
            "client {old} ignores `args` (supported from {FIRST_EXEC_FORM_VERSION}): it starts \
             `rutter` without arguments on every event"
        );
        let finding = DoctorFinding::new(&codes::CLIENT_TOO_OLD, what);
        Some(finding.with_location(FileLocation::whole_file(self.path.as_ref()?)))
    }

    /// Returns the measured contract of this client version, or the newest contract if the version is unknown.
    pub(crate) fn contract(&self) -> Contract {
        self.version.map_or(Contract::newest(), Contract::for_client)
    }
}
