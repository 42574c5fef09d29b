//! A file that `init` edits, and how it goes in and out.

use std::path::{Path, PathBuf};

use super::change::Entry;
use super::places::{Place, entry, install, is_empty, is_installed, is_over_http, uninstall};
use super::record::{Record, Records};
use super::server;
use super::{Change, Contents, Malformed, Scope, runs};
use crate::Failure;

/// A file, and what is to be in it.
#[derive(Debug)]
pub(crate) struct Site {
    path: PathBuf,
    places: Vec<Place>,
    /// Where the server is, in the file that the client itself writes all the time.
    clients: Option<Clients>,
}

/// What is special about the client's own file.
#[derive(Debug)]
struct Clients {
    /// The keys of the object that holds the server.
    path: Vec<String>,
    /// The folder that `init` was typed in, where a whole repository shares what is registered for a folder.
    folder: Option<PathBuf>,
}

/// Into the file, or out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

/// A change that is worked out, and what is to be known of it later.
pub(crate) struct Step<'s> {
    pub(crate) change: Change,
    /// Under which name.
    pub(super) key: PathBuf,
    /// What; nothing is to be known any more.
    pub(crate) record: Option<Record>,
    /// How many folders around the file go with it.
    pub(super) folders: usize,
    /// By which it can be worked out again, where another program was faster.
    pub(super) again: Option<(&'s Site, Way)>,
    /// Another folder that still needs what is there.
    pub(crate) needed_by: Option<PathBuf>,
    /// Whether the server is registered there over HTTP, which stays as it is.
    pub(crate) over_http: bool,
}

impl Site {
    /// The settings file of a scope.
    pub(crate) fn settings(path: PathBuf, places: Vec<Place>) -> Self {
        Self { path, places, clients: None }
    }

    /// The file in which a scope registers servers.
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

    /// Works out what is to become of the file, and changes nothing.
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

    /// Whether the client writes the file all the time.
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
        // Where the file is what the last `init` left, this one begins with what the user had, not with what an older
        // rutter made of it.
        let original = known.and_then(|record| record.undo(text.body));
        let before = original.as_deref().unwrap_or(text.body);
        let installed = install(before, &self.places).map_err(refused)?;
        // What an `init` made stays made for as long as something of ours is in it.
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
                // Of a file that nothing is known of, what holds nothing any more goes, but for what holds servers:
                // a file of servers that has no place for them is one that the client complains of.
                let servers = |place: &Place| matches!(place, Place::Server(..));
                let around = match known {
                    Some(_) => made.within.around,
                    None if self.places.iter().any(servers) => 0,
                    None => usize::MAX,
                };
                // A rule that was there before is the user's.
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

    /// The folder that `init` was typed in, where a repository shares the server.
    fn folder(&self) -> Option<&Path> {
        self.clients.as_ref()?.folder.as_deref()
    }

    /// Other folders of the same repository that have rutter of their own and share the server.
    fn others(&self, record: &Record) -> Vec<PathBuf> {
        let Some(folder) = self.folder() else { return Vec::new() };
        let settings = |folder: &Path| Scope::Local.settings(folder, None);
        let others = record.folders.iter().filter(|other| *other != folder);
        others.filter(|other| settings(other).is_some_and(|path| runs(&path))).cloned().collect()
    }

    /// Under which name records are kept: several parts of the client's own file may be ours.
    fn key(&self, contents: &Contents) -> PathBuf {
        let mut key = contents.target().as_os_str().to_owned();
        for part in self.clients.iter().flat_map(|clients| &clients.path) {
            key.push("\n");
            key.push(part);
        }
        key.into()
    }

    /// What is to be shown of a change of the client's own file, in which tokens and prompts are.
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

/// A file that is left alone, and what to do.
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
