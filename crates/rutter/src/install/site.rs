//! A file that `init` edits, and the planning of its installation and removal.

use std::path::{Path, PathBuf};

use super::change::Entry;
use super::places::{Place, entry, install, is_empty, is_installed, is_over_http, uninstall};
use super::record::{Record, Records};
use super::server;
use super::{Change, Contents, Malformed, Scope, runs};
use crate::Failure;

/// A file and its wanted content.
#[derive(Debug)]
pub(crate) struct Site {
    path: PathBuf,
    places: Vec<Place>,
    /// Position of the server in the client's own file, which the client writes frequently. None for other files.
    clients: Option<Clients>,
}

/// The extra data for the client's own file.
#[derive(Debug)]
struct Clients {
    /// Keys of the object that contains the server.
    path: Vec<String>,
    /// Working directory of `init`, for the local scope: a whole repository shares the servers of a folder.
    folder: Option<PathBuf>,
}

/// The direction of a change: install or uninstall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

/// A planned change, with the record to store for it.
pub(crate) struct Step<'s> {
    pub(crate) change: Change,
    /// Name of the record.
    pub(super) key: PathBuf,
    /// Record to store. None deletes the record.
    pub(crate) record: Option<Record>,
    /// Number of folders to remove together with the file.
    pub(super) folders: usize,
    /// Site and direction for planning again, if another program changes the file first.
    pub(super) again: Option<(&'s Site, Way)>,
    /// Another folder that still needs the content.
    pub(crate) needed_by: Option<PathBuf>,
    /// True if the server is registered over HTTP, which is left unchanged.
    pub(crate) over_http: bool,
}

impl Site {
    /// Creates the site of a scope's settings file.
    pub(crate) fn settings(path: PathBuf, places: Vec<Place>) -> Self {
        Self { path, places, clients: None }
    }

    /// Creates the site of the file in which a scope registers servers.
    pub(crate) fn servers(
        scope: Scope,
        folder: &Path,
        path: PathBuf,
        keys: Vec<String>,
        entry: Option<serde_json::Value>,
    ) -> Self {
        let clients = match scope {
            Scope::Local => Some(Some(folder.to_owned())),
            Scope::User => Some(None),
            Scope::Project | Scope::Plugin => None,
        };
        let clients = clients.map(|folder| Clients { path: keys.clone(), folder });
        Self { path, places: vec![Place::Server(keys, entry)], clients }
    }

    /// Plans the change of the file, without writing anything.
    pub(crate) fn plan(&self, way: Way, records: &Records) -> Result<Step<'_>, Failure> {
        let contents = Contents::read(&self.path)?;
        let key = self.key(&contents);
        let known = records.get(&key);
        match way {
            Way::In => self.plan_in(contents, key, known.as_ref()),
            Way::Out => self.plan_out(contents, key, known.as_ref()),
        }
        .map(|step| Step { again: Some((self, way)), ..step })
    }

    /// Returns true if the file is the client's own, which the client writes frequently.
    pub(super) fn is_clients(&self) -> bool {
        self.clients.is_some()
    }

    fn plan_in(
        &self,
        contents: Contents,
        key: PathBuf,
        known: Option<&Record>,
    ) -> Result<Step<'_>, Failure> {
        let refused = |error| malformed(&contents, &error, "init");
        let text = contents.text().map_err(refused)?;
        // If the file is unchanged since the last `init`, this one starts from the user's original text, not from the
        // result of an older rutter.
        let original = known.and_then(|record| record.undo(text.body));
        let before = original.as_deref().unwrap_or(text.body);
        let installed = install(before, &self.places).map_err(refused)?;
        // The record of an earlier `init` stays valid while the file has content of ours.
        let earlier = known
            .filter(|_| is_installed(text.body, &self.places).unwrap_or_default())
            .map(|record| record.made)
            .unwrap_or_default();
        let made = earlier.and(&contents).and_in(&installed);
        let mut record = Record::new(before, &installed, made);
        if let Some(folder) = self.folder() {
            record.folders = known.map(|record| record.folders.clone()).unwrap_or_default();
            record.folders.retain(|other| other != folder);
            record.folders.push(folder.to_owned());
        }
        let shown = self.shown(text.body, &installed.text);
        let over_http = is_over_http(text.body, &self.places);
        let after = text.with(&installed.text);
        let change = showing(Change::new(contents, Some(after)), shown);
        let record = Some(record);
        Ok(Step { change, key, record, folders: 0, again: None, needed_by: None, over_http })
    }

    fn plan_out(
        &self,
        contents: Contents,
        key: PathBuf,
        known: Option<&Record>,
    ) -> Result<Step<'_>, Failure> {
        let refused = |error| malformed(&contents, &error, "uninstall");
        let made = known.map(|record| record.made).unwrap_or_default();
        let text = contents.text().map_err(refused)?;
        let others = known.map(|record| self.others(record)).unwrap_or_default();
        let after = match known.and_then(|record| record.undo(text.body)) {
            _ if !others.is_empty() => text.body.to_owned(),
            Some(original) => original,
            None => {
                // Without a record, all containers that become empty are removed, except those of servers: the client
                // complains about a server file without `mcpServers`.
                let servers = |place: &Place| matches!(place, Place::Server(..));
                let around = match known {
                    Some(_) => made.within.around,
                    None if self.places.iter().any(servers) => 0,
                    None => usize::MAX,
                };
                // A rule that existed before `init` belongs to the user.
                let mine = |place: &&Place| {
                    !matches!(place, Place::Rule(_)) || known.is_none() || made.within.rule
                };
                let places: Vec<Place> = self.places.iter().filter(mine).cloned().collect();
                uninstall(text.body, &places, around).map_err(refused)?
            }
        };
        let unchanged = after == text.body;
        let over_http = is_over_http(text.body, &self.places);
        let shown = self.shown(text.body, &after);
        let gone = contents.bytes().is_none() || (made.file && is_empty(&after) && !unchanged);
        let after = (!gone).then(|| text.with(&after));
        let needed_by = others.first().cloned();
        let mut record = known.filter(|_| !others.is_empty()).cloned();
        if let Some(record) = &mut record {
            record.folders = others;
        }
        let change = showing(Change::new(contents, after), shown);
        let folders = made.folders();
        Ok(Step { change, key, record, folders, again: None, needed_by, over_http })
    }

    /// Returns the working directory of `init` if a repository shares the server.
    fn folder(&self) -> Option<&Path> {
        self.clients.as_ref()?.folder.as_deref()
    }

    /// Returns other folders of the same repository that have rutter installed and share the server.
    fn others(&self, record: &Record) -> Vec<PathBuf> {
        let Some(folder) = self.folder() else { return Vec::new() };
        let settings = |folder: &Path| Scope::Local.settings(folder, None);
        let others = record.folders.iter().filter(|other| *other != folder);
        others.filter(|other| settings(other).is_some_and(|path| runs(&path))).cloned().collect()
    }

    /// Returns the name of the record. Several parts of the client's own file may have separate records.
    fn key(&self, contents: &Contents) -> PathBuf {
        let mut key = contents.target().as_os_str().to_owned();
        for part in self.clients.iter().flat_map(|clients| &clients.path) {
            key.push("\n");
            key.push(part);
        }
        key.into()
    }

    /// Returns the entry to show for a change of the client's own file, which also contains tokens and prompts.
    fn shown(&self, before: &str, after: &str) -> Option<Entry> {
        let Clients { path, .. } = self.clients.as_ref()?;
        let [before, after] = [before, after].map(|text| entry(text, path).map(str::to_owned));
        let path = path.iter().cloned().chain([server::NAME.to_owned()]).collect();
        Some(Entry { path, before, after })
    }
}

fn showing(change: Change, entry: Option<Entry>) -> Change {
    match entry {
        Some(entry) => change.showing(entry),
        None => change,
    }
}

/// Returns the failure for a malformed file, with advice.
fn malformed(contents: &Contents, error: &Malformed, verb: &str) -> Failure {
    let skips = if error.is_unreadable() {
        " The client skips what it cannot read, comments and trailing commas included;"
    } else {
        ""
    };
    let nothing = if skips.is_empty() { " Nothing" } else { " nothing" };
    Failure::Refused(format!(
        "{}{error}.{skips}{nothing} was changed. Mend it and run `rutter {verb}` again",
        contents.path().display()
    ))
}
