//! Decides from the fingerprint file alone whether a call of a tool concerns the memory.
//!
//! Most calls do not. Nothing here opens a file or reads the configuration: the client waits for this on every call.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use rutter_contract::input::RawPayload;
use rutter_memory::Clean;
use rutter_memory::cached_file::CachedFile;
use rutter_memory::config::PROJECT_FILE;
use rutter_memory::fingerprints::{FingerprintKind, Fingerprints, fingerprint, kind_fingerprint};
use rutter_memory::store::fixed_file_fingerprint;

use crate::bash_call::BashCall;
use crate::edit_input::{edited_file, edits_text};
use crate::known_commands::is_failing;
use crate::pre_tool::{is_own_tool, starts_agent};

/// Length of the start of a payload that names the event. Only the paths of the transcript and the folder come before it.
const HEAD_BYTES: usize = 10 * 1024;

/// The name of the table of the gates in a configuration file.
const GATES_TABLE: &[u8] = b"gates";

/// A call that a PreToolUse hook was started for, and that the fingerprint file can decide about.
pub struct FilteredCall<'a> {
    wire: RawPayload<'a>,
    tool: Cow<'a, str>,
    session: Cow<'a, str>,
}

impl<'a> FilteredCall<'a> {
    /// Parses a payload. Returns None for another event, and for tools whose calls always have something to do.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        // Other events are not parsed twice: the result of an edit has the whole file.
        let name = EventName::PreToolUse.as_str().as_bytes();
        let head = &payload[..payload.len().min(HEAD_BYTES)];
        head.windows(name.len()).find(|window| *window == name)?;
        let wire = RawPayload::parse(payload).ok()?;
        if wire.hook_event_name()? != EventName::PreToolUse.as_str() {
            return None;
        }
        let tool = wire.text("tool_name")?;
        let session = wire.text("session_id")?;
        (!is_own_tool(&tool) && !starts_agent(&tool)).then_some(Self { wire, tool, session })
    }

    /// The session of the call.
    pub fn session(&self) -> Clean {
        Clean::new(&self.session)
    }

    /// Returns true if the call may concern the memory. `folder` returns the folder of this process, which the client sets
    /// to the one of the call; unlike the payload's it has no symbolic links.
    pub fn concerns_memory(
        &self,
        known: &Fingerprints,
        folder: impl FnOnce() -> Option<PathBuf>,
    ) -> bool {
        (known.contains(kind_fingerprint(FingerprintKind::ActiveGhap))
            && known.contains(fingerprint(FingerprintKind::ActiveGhap, &self.session())))
            || (self.tool == "Bash" && self.concerns_command(known, folder))
            || (edits_text(&self.tool) && self.concerns_edit(known))
    }

    /// Returns true if a gate may decide about calls of the tool.
    pub fn may_be_gated(&self) -> bool {
        self.tool == "Bash" || edits_text(&self.tool)
    }

    /// Returns true if a gate may be enabled here that the call concerns. `read` returns the content of a file; the files are the
    /// user's configuration, the list of trusted project files, and the project files above the call's folder. Their settings
    /// are not parsed: a file that does not contain the name of the table enables no gate.
    pub fn may_have_gate(
        &self,
        config: &Path,
        trusted: &Path,
        read: impl Fn(&Path) -> CachedFile,
    ) -> bool {
        if !self.may_be_gated() {
            return false;
        }
        let may_enable = |path: &Path| match read(path) {
            CachedFile::Missing => false,
            CachedFile::Unknown => true,
            CachedFile::Found(found) => {
                found.bytes.windows(GATES_TABLE.len()).any(|window| window == GATES_TABLE)
            }
        };
        if may_enable(config) {
            return true;
        }
        // Only a trusted file may enable a gate.
        match read(trusted) {
            CachedFile::Missing => return false,
            CachedFile::Found(found) if found.bytes.is_empty() => return false,
            CachedFile::Unknown | CachedFile::Found(_) => {}
        }
        let cwd = self.wire.text("cwd").unwrap_or_default();
        Path::new(&*cwd).ancestors().any(|folder| may_enable(&folder.join(PROJECT_FILE)))
    }

    /// Returns true if a failure is open here, so that files are copied before the command, or if the command is known to
    /// fail.
    fn concerns_command(
        &self,
        known: &Fingerprints,
        folder: impl FnOnce() -> Option<PathBuf>,
    ) -> bool {
        let has_open = known.contains(kind_fingerprint(FingerprintKind::OpenEpisode));
        let has_failing = known.contains(kind_fingerprint(FingerprintKind::FailingCommand));
        if !has_open && !has_failing {
            return false;
        }
        let is_open = |folder: &Path| {
            folder.ancestors().any(|root| {
                let root = Clean::new(&root.to_string_lossy());
                known.contains(fingerprint(FingerprintKind::OpenEpisode, &root))
            })
        };
        let command = if has_failing { BashCall::command_text(&self.wire) } else { None };
        let concerns = |folder: &Path| {
            (has_open && is_open(folder))
                || command.as_deref().is_some_and(|command| is_failing(known, command, folder))
        };
        let cwd = self.wire.text("cwd").unwrap_or_default();
        let cwd = Path::new(&*cwd);
        concerns(cwd) || folder().is_some_and(|folder| folder != cwd && concerns(&folder))
    }

    /// Returns true if the file has a fix. Which lines an edit removes, only the file itself shows.
    fn concerns_edit(&self, known: &Fingerprints) -> bool {
        let file = edited_file(&self.wire);
        file.is_some_and(|file| known.contains(fixed_file_fingerprint(&file)))
    }
}
