//! The client's state file: its record of trusted folders and its data about each folder.
//!
//! The client stores trust by path. Observed in interactive sessions of clients 2.1.325 and 2.1.197: hooks of settings
//! wait until the folder is trusted, by its own entry or that of a parent folder; inside a repository, the newer client
//! looks up to its root only. That the main checkout also counts for a worktree was read in the code of the newer
//! client.

use std::path::Path;

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::client_files::ClientFiles;
use super::document::{ClientDocument, DocumentFault, LoadedDocument};

/// The client's state file, with its data about folders and servers.
#[derive(Debug)]
pub struct ClientState {
    /// The parsed file. None if it is absent, blank or cannot be parsed.
    pub document: Option<Box<ClientDocument>>,
    /// The reason for which the file cannot be parsed, if it exists.
    pub fault: Option<Box<DocumentFault>>,
    /// True if trust in a folder outside a repository does not extend into the repository.
    bounded: bool,
}

impl ClientState {
    /// Reads the state file.
    pub fn load(files: &ClientFiles, contract: Contract) -> Self {
        let mut state =
            Self { document: None, fault: None, bounded: contract.version() == Contract::NEWEST };
        match files.state.as_deref().map(LoadedDocument::load) {
            Some(LoadedDocument::Document(document)) => state.document = Some(document),
            Some(LoadedDocument::Void(fault)) => state.fault = Some(fault),
            Some(LoadedDocument::Absent | LoadedDocument::Blank) | None => {}
        }
        state
    }

    /// Returns true if the client trusts the folder that it is started in.
    pub fn trusts_folder(&self, files: &ClientFiles) -> bool {
        let is_trusted = |folder: &Path| {
            let trust =
                self.folder_state(folder).and_then(|project| project.get("hasTrustDialogAccepted"));
            trust.is_some_and(|trust| trust.kind == JsonKind::Bool(true))
        };
        let folder = files.folder.as_path();
        let settled = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let tree = files.work_tree.as_ref();
        let main = tree.and_then(|tree| tree.common_dir.parent());
        let root = tree.map(|tree| &tree.root).filter(|_| self.bounded);
        let inside = |above: &&Path| root.is_none_or(|root| above.starts_with(root));
        settled.ancestors().take_while(inside).any(is_trusted)
            || [Some(folder), main].into_iter().flatten().any(is_trusted)
    }

    /// Returns the client's data about a folder.
    pub fn folder_state(&self, folder: &Path) -> Option<&JsonNode> {
        self.document.as_ref()?.root.get("projects")?.get(folder.to_str()?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use serde_json::json;

    use super::super::client_files::WorkTreeFolders;
    use super::*;

    #[test]
    fn older_client_extends_trust_to_repository() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let tree = WorkTreeFolders { root: root.join("ship"), common_dir: root.join("main/.git") };
        let mut files = ClientFiles {
            folder: root.join("ship/inside"),
            work_tree: Some(tree),
            state: Some(root.join("state.json")),
            ..ClientFiles::default()
        };
        std::fs::create_dir_all(&files.folder).unwrap();
        let trusts = |files: &ClientFiles, folder: &Path| {
            let accepted = json!({ "hasTrustDialogAccepted": true });
            let text = json!({ "projects": { folder.to_str().unwrap(): accepted } }).to_string();
            File::create(root.join("state.json")).unwrap().write_all(text.as_bytes()).unwrap();
            let contracts = Contract::MEASURED.map(Contract::for_client);
            contracts.map(|contract| ClientState::load(files, contract).trusts_folder(files))
        };
        for folder in ["ship/inside", "ship", "main"] {
            assert_eq!(trusts(&files, &root.join(folder)), [true, true], "{folder}");
        }
        assert_eq!(trusts(&files, &root), [true, false]);
        assert_eq!(trusts(&files, &root.join("other")), [false, false]);
        files.work_tree = None;
        assert_eq!(trusts(&files, &root), [true, true]);
    }
}
