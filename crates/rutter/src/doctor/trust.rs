//! Findings about the client's state file and its trust in the folder.

use rutter_check::settings::{ClientFiles, ClientState, FileLocation};

use super::codes;
use super::finding::DoctorFinding;

/// Returns a finding if the state file cannot be parsed, or if the client does not trust the folder.
pub(crate) fn check_trust(state: &ClientState, files: &ClientFiles) -> Option<DoctorFinding> {
    if let Some(fault) = &state.fault {
        let what = "this cannot be read: newer clients start no session, and the trusted folders and servers are unknown";
        let finding = DoctorFinding::new(&codes::STATE_UNREADABLE, what);
        return Some(finding.with_location(fault.location.clone()));
    }
    if files.state.is_none() || state.trusts_folder(files) {
        return None;
    }
    let what = "the client does not trust this folder yet: an interactive session runs no hooks until it does, `claude -p` runs them";
    let finding = DoctorFinding::new(&codes::FOLDER_UNTRUSTED, what);
    Some(finding.with_location(FileLocation::whole_file(&files.folder)))
}
