//! Applies changes of several files as one: all of them, or none.

use std::io;
use std::path::Path;

use rutter_memory::Time;

use super::lock::Lock;
use super::record::{Record, Records};
use super::site::{Site, Step};
use super::{Change, Contents};
use crate::Failure;

/// Maximum number of times that a change is planned and applied while another program keeps changing the file.
const ATTEMPTS: u32 = 5;

/// An applied step, with the previous record for a rollback.
struct Done<'s> {
    step: Step<'s>,
    earlier: Option<Record>,
}

impl<'s> Step<'s> {
    /// Creates a step for a file that belongs to rutter as a whole.
    pub(crate) fn whole(change: Change, record: Option<Record>, folders: usize) -> Self {
        let key = change.contents().target().to_owned();
        Self { change, key, record, folders, again: None, needed_by: None, over_http: false }
    }

    /// Applies the change. Stores the record first: if the process is killed in between, a record remains that matches
    /// no file, which is harmless.
    fn take(mut self, records: &Records, now: Time) -> Result<Done<'s>, Failure> {
        let earlier = records.get(&self.key);
        let clients = self.again.is_some_and(|(site, _)| site.is_clients());
        let lock = if clients && !self.change.is_none() {
            let target = self.change.contents().target();
            Some(Lock::take(target, now).map_err(|_| locked(target))?)
        } else {
            None
        };
        for attempt in 1.. {
            match self.try_take(records, earlier.as_ref()) {
                Ok(()) => break,
                Err(Untaken::Busy) if attempt < ATTEMPTS => self = self.replanned(records)?,
                Err(Untaken::Busy) => return Err(busy(self.change.path())),
                Err(Untaken::Failed(failure)) => return Err(failure),
            }
        }
        // The lock is in a folder that may have to be removed.
        drop(lock);
        if self.change.removes() {
            let left = self.change.contents().remove_folders(self.folders);
            bequeath(left, self.change.contents().target(), records);
        }
        Ok(Done { step: self, earlier })
    }

    fn try_take(&self, records: &Records, earlier: Option<&Record>) -> Result<(), Untaken> {
        if self.record.is_some() {
            let noted = records.set(&self.key, self.record.as_ref());
            noted.map_err(|error| Untaken::Failed(unnoted(&error, records)))?;
        }
        if self.change.is_none() {
            return Ok(());
        }
        self.change.try_apply().map_err(|error| {
            drop(records.set(&self.key, earlier));
            match error.kind() {
                io::ErrorKind::ResourceBusy if self.again.is_some() => Untaken::Busy,
                _ => Untaken::Failed(self.change.contents().refused(&error)),
            }
        })
    }

    fn replanned(&self, records: &Records) -> Result<Self, Failure> {
        let Some((site, way)) = self.again else { return Err(busy(self.change.path())) };
        let mut step = Site::plan(site, way, records)?;
        // The exclude list is another file, so planning again does not determine this flag.
        if let (Some(new), Some(old)) = (&mut step.record, &self.record) {
            new.made.exclude |= old.made.exclude;
        }
        Ok(step)
    }
}

impl Done<'_> {
    /// Reverts the step. Errors are ignored, because the original failure is more useful to the user.
    fn take_back(&self, records: &Records) {
        let change = &self.step.change;
        if !change.is_none()
            && let Ok(now) = Contents::read(change.path())
        {
            drop(now.replace(change.contents().bytes()));
        }
        if let Some(record) = self.step.record.as_ref().filter(|_| change.creates()) {
            change.contents().remove_folders(record.made.folders());
        }
        drop(records.set(&self.step.key, self.earlier.as_ref()));
    }
}

enum Untaken {
    /// Another program changed the file first.
    Busy,
    Failed(Failure),
}

/// Applies all steps. If one fails, the earlier ones are reverted. Obsolete records are deleted last; an error of that
/// deletion is the second result.
pub(crate) fn carry_out<'s>(
    steps: Vec<Step<'s>>,
    records: &Records,
    now: Time,
) -> Result<(Vec<Step<'s>>, io::Result<()>), Failure> {
    // Two concurrent processes would each revert the other's records.
    let noted = steps.iter().any(|step| step.record.is_some());
    let alone = if noted { records.alone().map(Some) } else { records.alone_if_there() };
    let _alone = alone.map_err(|error| unnoted(&error, records))?;
    let mut done: Vec<Done<'_>> = Vec::new();
    for step in steps {
        match step.take(records, now) {
            Ok(taken) => done.push(taken),
            Err(failure) => {
                done.iter().rev().for_each(|done| done.take_back(records));
                return Err(failure);
            }
        }
    }
    let mut forgotten = Ok(());
    for Done { step, .. } in done.iter().filter(|done| done.step.record.is_none()) {
        forgotten = forgotten.and(records.set(&step.key, None));
    }
    Ok((done.into_iter().map(|done| done.step).collect(), forgotten))
}

/// Transfers folders that could not be removed to the record of the other settings file in the same folder, if it has
/// one. The removal of that file then removes them.
fn bequeath(left: usize, target: &Path, records: &Records) {
    let Some(above) = left.checked_sub(1) else { return };
    for name in ["settings.local.json", "settings.json"] {
        let other = target.with_file_name(name);
        if other != target
            && let Some(mut record) = records.get(&other)
        {
            record.made.folder = true;
            record.made.above = record.made.above.max(above);
            // An error only leaves an empty folder behind.
            drop(records.set(&other, Some(&record)));
        }
    }
}

fn unnoted(error: &io::Error, records: &Records) -> Failure {
    Failure::Refused(format!(
        "what is to be undone later cannot be noted in {}: {error}; nothing was changed, put that right and try again",
        records.folder().display()
    ))
}

fn busy(path: &Path) -> Failure {
    Failure::Refused(format!(
        "{} is written by another program again and again; nothing was changed, close what works on it, the client for \
         example, and try again",
        path.display()
    ))
}

fn locked(target: &Path) -> Failure {
    let lock = Lock::path(target);
    Failure::Refused(format!(
        "{} is there, by which the client says that it writes {}; nothing was changed, try again, and if no client runs, \
         `rmdir` it",
        lock.display(),
        target.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use serde_json::{Value, json};

    use super::super::{Scope, Way};
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn value(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn whoever_was_faster_keeps_what_they_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude.json");
        put(&path, r#"{"numStartups":1}"#);
        let records = Records::within(folder.path());
        let now = Time::from_millis(0);
        let server = |entry: Option<Value>| {
            let keys = vec!["mcpServers".to_owned()];
            Site::servers(Scope::User, folder.path(), path.clone(), keys, entry)
        };
        let entry = json!({ "type": "stdio", "command": "/x/rutter", "args": ["mcp"] });
        let site = server(Some(entry.clone()));
        let step = site.plan(Way::In, &records).unwrap();
        // The client writes between planning and applying.
        put(&path, r#"{"numStartups":2}"#);
        let (steps, _) = carry_out(vec![step], &records, now).unwrap();
        let both = json!({ "numStartups": 2, "mcpServers": { "rutter": entry } });
        assert_eq!(value(&path), both);

        let site = server(None);
        let step = site.plan(Way::Out, &records).unwrap();
        put(&path, &format!("{both:#}"));
        drop(steps);
        let (_, forgotten) = carry_out(vec![step], &records, now).unwrap();
        forgotten.unwrap();
        assert_eq!(value(&path), json!({ "numStartups": 2 }));

        // The client may leave invalid JSON.
        let site = server(Some(entry));
        let step = site.plan(Way::In, &records).unwrap();
        put(&path, "{");
        let failure = carry_out(vec![step], &records, now).map(drop).unwrap_err().to_string();
        assert!(failure.contains("this is not JSON"), "{failure}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
        assert!(!Lock::path(&path).exists());
    }
}
