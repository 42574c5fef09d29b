//! The client's record of trusted folders.
//!
//! The client stores trust by path. Observed in interactive sessions of clients 2.1.325 and 2.1.197: hooks of settings
//! wait until the folder is trusted, by its own entry or that of a parent folder; inside a repository, the newer client
//! looks up to its root only. That the main checkout also counts for a worktree was read in the code of the newer
//! client.

use std::path::{Path, PathBuf};

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;
use rutter_memory::project::WorkTree;

use super::codes;
use super::document::{ClientDocument, LoadedDocument};
use super::finding::{DoctorFinding, FileLocation};
use super::places::ClientEnvironment;

/// The client's state file, with its data about folders and servers.
pub(crate) struct ClientState {
    pub(crate) document: Option<Box<ClientDocument>>,
    /// True if the file exists but cannot be parsed.
    pub(crate) unreadable: bool,
    /// True if trust in a folder outside a repository does not extend into the repository.
    bounded: bool,
}

impl ClientState {
    pub(crate) fn load(
        places: &ClientEnvironment,
        contract: Contract,
        findings: &mut Vec<DoctorFinding>,
    ) -> Self {
        let none = Self {
            document: None,
            unreadable: false,
            bounded: contract.version() == Contract::NEWEST,
        };
        let Some(path) = &places.state else { return none };
        let document = match LoadedDocument::load(path) {
            LoadedDocument::Document(document) => Some(document),
            LoadedDocument::Absent | LoadedDocument::Blank => None,
            LoadedDocument::Void { finding, .. } => {
                let what = "this cannot be read: newer clients start no session, and the \
                            trusted folders and servers are unknown";
                let place = finding.place.unwrap_or_else(|| FileLocation::whole_file(path));
                findings
                    .push(DoctorFinding::new(&codes::STATE_UNREADABLE, what).with_location(place));
                return Self { unreadable: true, ..none };
            }
        };
        let state = Self { document, ..none };
        if !state.trusts(&places.folder) {
            let what = "the client does not trust this folder yet: an interactive session runs \
                        no hooks until it does, `claude -p` runs them";
            findings.push(
                DoctorFinding::new(&codes::FOLDER_UNTRUSTED, what)
                    .with_location(FileLocation::whole_file(&places.folder)),
            );
        }
        state
    }

    /// Returns true if the client trusts a folder.
    pub(crate) fn trusts(&self, folder: &Path) -> bool {
        let noted = |folder: &Path| {
            let trust =
                self.folder_state(folder).and_then(|project| project.get("hasTrustDialogAccepted"));
            trust.is_some_and(|trust| trust.kind == JsonKind::Bool(true))
        };
        let settled = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let tree = WorkTree::containing(&settled);
        let main = tree.as_ref().and_then(|tree| tree.common_dir.parent()).map(Path::to_owned);
        let root = tree.as_ref().map(|tree| &tree.root).filter(|_| self.bounded);
        let inside = |above: &&Path| root.is_none_or(|root| above.starts_with(root));
        settled.ancestors().take_while(inside).any(noted)
            || [Some(folder.to_owned()), main]
                .into_iter()
                .flatten()
                .any(|path: PathBuf| noted(&path))
    }

    /// Returns the client's data about a folder.
    pub(crate) fn folder_state(&self, folder: &Path) -> Option<&JsonNode> {
        self.document.as_ref()?.root.get("projects")?.get(folder.to_str()?)
    }
}
