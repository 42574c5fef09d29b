//! A file that `init` edits, and the planning of its installation and removal.

use std::path::{Path, PathBuf};

use rutter_memory::quote::PathLine as _;

use super::change::ChangedEntry;
use super::places::{
    WantedContent, has_http_server, has_our_content, install, is_empty_json, server_entry_text,
    uninstall,
};
use super::record::{InstallRecord, InstallRecords};
use super::server;
use super::{FileChange, FileContents, InstallScope, MalformedFile, has_our_hooks};
use crate::{CommandError, CommandResult};

/// A file and its wanted content.
#[derive(Debug)]
pub(crate) struct InstallTarget {
    path: PathBuf,
    places: Vec<WantedContent>,
    /// Position of the server in the client's own file, which the client writes frequently. None for other files.
    clients: Option<ClientFileServer>,
}

/// The extra data for the client's own file.
#[derive(Debug)]
struct ClientFileServer {
    /// Keys of the object that contains the server.
    path: Vec<String>,
    /// Working directory of `init`, for the local scope: a whole repository shares the servers of a folder.
    folder: Option<PathBuf>,
}

/// The direction of a change: install or uninstall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallDirection {
    Install,
    Uninstall,
}

/// A planned change, with the record to store for it.
pub(crate) struct InstallStep<'s> {
    pub(crate) change: FileChange,
    /// Name of the record.
    pub(super) key: PathBuf,
    /// Record to store. None deletes the record.
    pub(crate) record: Option<InstallRecord>,
    /// Number of folders to remove together with the file.
    pub(super) folders: usize,
    /// Site and direction for planning again, if another program changes the file first.
    pub(super) replan: Option<(&'s InstallTarget, InstallDirection)>,
    /// Another folder that still needs the content.
    pub(crate) needed_by: Option<PathBuf>,
    /// True if the server is registered over HTTP, which is left unchanged.
    pub(crate) over_http: bool,
}

impl InstallTarget {
    /// Creates the site of a scope's settings file.
    pub(crate) fn for_settings(path: PathBuf, places: Vec<WantedContent>) -> Self {
        Self { path, places, clients: None }
    }

    /// Creates the site of the file in which a scope registers servers.
    pub(crate) fn for_servers(
        scope: InstallScope,
        folder: &Path,
        path: PathBuf,
        keys: Vec<String>,
        entry: Option<serde_json::Value>,
    ) -> Self {
        let clients = match scope {
            InstallScope::Local => Some(Some(folder.to_owned())),
            InstallScope::User => Some(None),
            InstallScope::Project | InstallScope::Plugin => None,
        };
        let clients = clients.map(|folder| ClientFileServer { path: keys.clone(), folder });
        Self { path, places: vec![WantedContent::Server(keys, entry)], clients }
    }

    /// Plans the change of the file, without writing anything.
    pub(crate) fn plan(
        &self,
        way: InstallDirection,
        records: &InstallRecords,
    ) -> CommandResult<InstallStep<'_>> {
        let contents = FileContents::load(&self.path)?;
        let key = self.record_key(&contents);
        let known = records.load(&key);
        match way {
            InstallDirection::Install => self.plan_install(contents, key, known.as_ref()),
            InstallDirection::Uninstall => self.plan_uninstall(contents, key, known.as_ref()),
        }
        .map(|step| InstallStep { replan: Some((self, way)), ..step })
    }

    /// Returns true if the file is the client's own, which the client writes frequently.
    pub(super) fn is_client_file(&self) -> bool {
        self.clients.is_some()
    }

    fn plan_install(
        &self,
        contents: FileContents,
        key: PathBuf,
        known: Option<&InstallRecord>,
    ) -> CommandResult<InstallStep<'_>> {
        let refused = |error| malformed_failure(&contents, &error, "init");
        let text = contents.decode().map_err(refused)?;
        // If the file is unchanged since the last `init`, this one starts from the user's original text, not from the
        // result of an older rutter.
        let original = known.and_then(|record| record.undo(text.body));
        let before = original.as_deref().unwrap_or(text.body);
        let installed = install(before, &self.places).map_err(refused)?;
        // The record of an earlier `init` stays valid while the file has content of ours.
        let earlier = known
            .filter(|_| has_our_content(text.body, &self.places).unwrap_or_default())
            .map(|record| record.made)
            .unwrap_or_default();
        let made = earlier.with_created_file(&contents).with_added_content(&installed);
        let mut record = InstallRecord::new(before, &installed, made);
        if let Some(folder) = self.init_folder() {
            record.folders = known.map(|record| record.folders.clone()).unwrap_or_default();
            record.folders.retain(|other| other != folder);
            record.folders.push(folder.to_owned());
        }
        let shown = self.shown_entry(text.body, &installed.text);
        let over_http = has_http_server(text.body, &self.places);
        let after = text.encode(&installed.text);
        let change = with_shown_entry(FileChange::new(contents, Some(after)), shown);
        let record = Some(record);
        Ok(InstallStep {
            change,
            key,
            record,
            folders: 0,
            replan: None,
            needed_by: None,
            over_http,
        })
    }

    fn plan_uninstall(
        &self,
        contents: FileContents,
        key: PathBuf,
        known: Option<&InstallRecord>,
    ) -> CommandResult<InstallStep<'_>> {
        let refused = |error| malformed_failure(&contents, &error, "uninstall");
        let made = known.map(|record| record.made).unwrap_or_default();
        let text = contents.decode().map_err(refused)?;
        let others = known.map(|record| self.other_folders(record)).unwrap_or_default();
        let after = match known.and_then(|record| record.undo(text.body)) {
            _ if !others.is_empty() => text.body.to_owned(),
            Some(original) => original,
            None => {
                // Without a record, all containers that become empty are removed, except those of servers: the client
                // complains about a server file without `mcpServers`.
                let servers = |place: &WantedContent| matches!(place, WantedContent::Server(..));
                let around = match known {
                    Some(_) => made.within.around,
                    None if self.places.iter().any(servers) => 0,
                    None => usize::MAX,
                };
                // A rule that existed before `init` belongs to the user.
                let mine = |place: &&WantedContent| {
                    !matches!(place, WantedContent::Rule(_)) || known.is_none() || made.within.rule
                };
                let places: Vec<WantedContent> = self.places.iter().filter(mine).cloned().collect();
                uninstall(text.body, &places, around).map_err(refused)?
            }
        };
        let unchanged = after == text.body;
        let over_http = has_http_server(text.body, &self.places);
        let shown = self.shown_entry(text.body, &after);
        let gone = contents.bytes().is_none() || (made.file && is_empty_json(&after) && !unchanged);
        let after = (!gone).then(|| text.encode(&after));
        let needed_by = others.first().cloned();
        let mut record = known.filter(|_| !others.is_empty()).cloned();
        if let Some(record) = &mut record {
            record.folders = others;
        }
        let change = with_shown_entry(FileChange::new(contents, after), shown);
        let folders = made.folder_count();
        Ok(InstallStep { change, key, record, folders, replan: None, needed_by, over_http })
    }

    /// Returns the working directory of `init` if a repository shares the server.
    fn init_folder(&self) -> Option<&Path> {
        self.clients.as_ref()?.folder.as_deref()
    }

    /// Returns other folders of the same repository that have rutter installed and share the server.
    fn other_folders(&self, record: &InstallRecord) -> Vec<PathBuf> {
        let Some(folder) = self.init_folder() else { return Vec::new() };
        let settings = |folder: &Path| InstallScope::Local.settings_file(folder, None);
        let others = record.folders.iter().filter(|other| *other != folder);
        others
            .filter(|other| settings(other).is_some_and(|path| has_our_hooks(&path)))
            .cloned()
            .collect()
    }

    /// Returns the name of the record. Several parts of the client's own file may have separate records.
    fn record_key(&self, contents: &FileContents) -> PathBuf {
        let mut key = contents.target().as_os_str().to_owned();
        for part in self.clients.iter().flat_map(|clients| &clients.path) {
            key.push("\n");
            key.push(part);
        }
        key.into()
    }

    /// Returns the entry to show for a change of the client's own file, which also contains tokens and prompts.
    fn shown_entry(&self, before: &str, after: &str) -> Option<ChangedEntry> {
        let ClientFileServer { path, .. } = self.clients.as_ref()?;
        let [before, after] =
            [before, after].map(|text| server_entry_text(text, path).map(str::to_owned));
        let path = path.iter().cloned().chain([server::SERVER_NAME.to_owned()]).collect();
        Some(ChangedEntry { path, before, after })
    }
}

fn with_shown_entry(change: FileChange, entry: Option<ChangedEntry>) -> FileChange {
    match entry {
        Some(entry) => change.with_entry(entry),
        None => change,
    }
}

/// Returns the failure for a malformed file, with advice.
fn malformed_failure(contents: &FileContents, error: &MalformedFile, verb: &str) -> CommandError {
    let skips = if error.is_unreadable() {
        " Claude Code skips such a file (comments and trailing commas are errors too);"
    } else {
        ""
    };
    let nothing = if skips.is_empty() { " Nothing" } else { " nothing" };
    CommandError::Refused(format!(
        "{}{error}.{skips}{nothing} was changed. Fix the file and run `rutter {verb}` again",
        contents.path().to_line()
    ))
}
