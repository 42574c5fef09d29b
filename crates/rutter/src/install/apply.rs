//! Applies changes to several files as one transaction: all of them or none.

use std::io;
use std::path::Path;

use rutter_memory::Time;
use rutter_memory::quote::PathLine as _;

use super::lock::ClientFileLock;
use super::record::{InstallRecord, InstallRecords};
use super::target::{InstallStep, InstallTarget};
use super::{FileChange, FileContents};
use crate::{CommandError, CommandResult};

/// Maximum number of times that a change is planned and applied while another program keeps changing the file.
const MAX_APPLY_ATTEMPTS: u32 = 5;

/// An applied step, with the previous record for a rollback.
struct AppliedStep<'s> {
    step: InstallStep<'s>,
    earlier: Option<InstallRecord>,
}

impl<'s> InstallStep<'s> {
    /// Creates a step for a file that belongs to rutter as a whole.
    pub(crate) fn for_whole_file(
        change: FileChange,
        record: Option<InstallRecord>,
        folders: usize,
    ) -> Self {
        let key = change.contents().target().to_owned();
        Self { change, key, record, folders, replan: None, needed_by: None, over_http: false }
    }

    /// Applies the change. Stores the record first: if the process is killed in between, a record remains that matches
    /// no file, which is harmless.
    fn apply(mut self, records: &InstallRecords, now: Time) -> CommandResult<AppliedStep<'s>> {
        let earlier = records.load(&self.key);
        let clients = self.replan.is_some_and(|(site, _)| site.is_client_file());
        let lock = if clients && !self.change.is_unchanged() {
            let target = self.change.contents().target();
            Some(ClientFileLock::acquire(target, now).map_err(|_| locked_failure(target))?)
        } else {
            None
        };
        for attempt in 1.. {
            match self.try_apply(records, earlier.as_ref()) {
                Ok(()) => break,
                Err(StepError::Busy) if attempt < MAX_APPLY_ATTEMPTS => {
                    self = self.plan_again(records)?;
                }
                Err(StepError::Busy) => return Err(busy_failure(self.change.path())),
                Err(StepError::Failed(failure)) => return Err(failure),
            }
        }
        // The lock is in a folder that may have to be removed.
        drop(lock);
        if self.change.removes() {
            let left = self.change.contents().remove_folders(self.folders);
            transfer_folders(left, self.change.contents().target(), records);
        }
        Ok(AppliedStep { step: self, earlier })
    }

    fn try_apply(
        &self,
        records: &InstallRecords,
        earlier: Option<&InstallRecord>,
    ) -> Result<(), StepError> {
        if self.record.is_some() {
            let noted = records.save(&self.key, self.record.as_ref());
            noted.map_err(|error| StepError::Failed(record_failure(&error, records)))?;
        }
        if self.change.is_unchanged() {
            return Ok(());
        }
        self.change.try_apply().map_err(|error| {
            drop(records.save(&self.key, earlier));
            match error.kind() {
                io::ErrorKind::ResourceBusy if self.replan.is_some() => StepError::Busy,
                _ => StepError::Failed(self.change.contents().write_failure(&error)),
            }
        })
    }

    fn plan_again(&self, records: &InstallRecords) -> CommandResult<Self> {
        let Some((site, way)) = self.replan else { return Err(busy_failure(self.change.path())) };
        let mut step = InstallTarget::plan(site, way, records)?;
        // The exclude list is another file, so planning again does not determine this flag.
        if let (Some(new), Some(old)) = (&mut step.record, &self.record) {
            new.made.exclude |= old.made.exclude;
        }
        Ok(step)
    }
}

impl AppliedStep<'_> {
    /// Reverts the step. Errors are ignored, because the original failure is more useful to the user.
    fn revert(&self, records: &InstallRecords) {
        let change = &self.step.change;
        if !change.is_unchanged()
            && let Ok(now) = FileContents::load(change.path())
        {
            drop(now.replace(change.contents().bytes()));
        }
        if let Some(record) = self.step.record.as_ref().filter(|_| change.creates()) {
            change.contents().remove_folders(record.made.folder_count());
        }
        drop(records.save(&self.step.key, self.earlier.as_ref()));
    }
}

enum StepError {
    /// Another program changed the file first.
    Busy,
    Failed(CommandError),
}

/// Applies all steps. If one fails, the earlier ones are reverted. Obsolete records are deleted last; an error of that
/// deletion is the second result.
pub(crate) fn apply_steps<'s>(
    steps: Vec<InstallStep<'s>>,
    records: &InstallRecords,
    now: Time,
) -> CommandResult<(Vec<InstallStep<'s>>, io::Result<()>)> {
    // Two concurrent processes would each revert the other's records.
    let noted = steps.iter().any(|step| step.record.is_some());
    let alone = if noted { records.lock().map(Some) } else { records.lock_if_exists() };
    let _alone = alone.map_err(|error| record_failure(&error, records))?;
    let mut done: Vec<AppliedStep<'_>> = Vec::new();
    for step in steps {
        match step.apply(records, now) {
            Ok(taken) => done.push(taken),
            Err(failure) => {
                done.iter().rev().for_each(|done| done.revert(records));
                return Err(failure);
            }
        }
    }
    let mut forgotten = Ok(());
    for AppliedStep { step, .. } in done.iter().filter(|done| done.step.record.is_none()) {
        forgotten = forgotten.and(records.save(&step.key, None));
    }
    Ok((done.into_iter().map(|done| done.step).collect(), forgotten))
}

/// Transfers folders that could not be removed to the record of the other settings file in the same folder, if it has
/// one. The removal of that file then removes them.
fn transfer_folders(left: usize, target: &Path, records: &InstallRecords) {
    let Some(above) = left.checked_sub(1) else { return };
    for name in ["settings.local.json", "settings.json"] {
        let other = target.with_file_name(name);
        if other != target
            && let Some(mut record) = records.load(&other)
        {
            record.made.folder = true;
            record.made.above = record.made.above.max(above);
            // An error only leaves an empty folder behind.
            drop(records.save(&other, Some(&record)));
        }
    }
}

fn record_failure(error: &io::Error, records: &InstallRecords) -> CommandError {
    CommandError::Refused(format!(
        "could not write the install record {}: {error}; nothing was changed; fix that and try \
         again",
        records.folder().to_line()
    ))
}

fn busy_failure(path: &Path) -> CommandError {
    CommandError::Refused(format!(
        "another program keeps changing {}; nothing was changed; close that program, for \
         example Claude Code, and try again",
        path.to_line()
    ))
}

fn locked_failure(target: &Path) -> CommandError {
    let lock = ClientFileLock::lock_path(target);
    CommandError::Refused(format!(
        "the lock {} says that Claude Code is writing {}; nothing was changed; try again, and \
         remove the lock with `rmdir` if Claude Code does not run",
        lock.to_line(),
        target.to_line()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use serde_json::{Value, json};

    use super::super::{InstallDirection, InstallScope};
    use super::*;

    fn write_file(path: &Path, text: &str) {
        fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn read_json(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn concurrent_writes_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude.json");
        write_file(&path, r#"{"numStartups":1}"#);
        let records = InstallRecords::in_data_dir(folder.path());
        let now = Time::from_millis(0);
        let server = |entry: Option<Value>| {
            let keys = vec!["mcpServers".to_owned()];
            InstallTarget::for_servers(InstallScope::User, folder.path(), path.clone(), keys, entry)
        };
        let entry = json!({ "type": "stdio", "command": "/x/rutter", "args": ["mcp"] });
        let site = server(Some(entry.clone()));
        let step = site.plan(InstallDirection::Install, &records).unwrap();
        // The client writes between planning and applying.
        write_file(&path, r#"{"numStartups":2}"#);
        let (steps, _) = apply_steps(vec![step], &records, now).unwrap();
        let both = json!({ "numStartups": 2, "mcpServers": { "rutter": entry } });
        assert_eq!(read_json(&path), both);

        let site = server(None);
        let step = site.plan(InstallDirection::Uninstall, &records).unwrap();
        write_file(&path, &format!("{both:#}"));
        drop(steps);
        let (_, forgotten) = apply_steps(vec![step], &records, now).unwrap();
        forgotten.unwrap();
        assert_eq!(read_json(&path), json!({ "numStartups": 2 }));

        // The client may leave invalid JSON.
        let site = server(Some(entry));
        let step = site.plan(InstallDirection::Install, &records).unwrap();
        write_file(&path, "{");
        let failure = apply_steps(vec![step], &records, now).map(drop).unwrap_err().to_string();
        assert!(failure.contains("this is not JSON"), "{failure}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
        assert!(!ClientFileLock::lock_path(&path).exists());
    }
}
