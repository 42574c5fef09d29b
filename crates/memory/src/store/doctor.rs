//! Checks of the store: problems that a user should know about, with the command that fixes each, and the repair.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::documents::search_files;
use super::{
    DataDir, SalvageReport, Store, StoreError, StoreResult, UnsafePath, exchange, fingerprint_rows,
    io_error, open_database, replace_damaged_database, schema, spool, wal_image,
};
use crate::Time;
use crate::data_dir;
use crate::quote::PathLine as _;
use rutter_redact::choice;

/// Size in bytes above which the database is reported as large.
pub const LARGE_DATABASE_BYTES: u64 = 1024 * 1024 * 1024;
/// Size in bytes above which the WAL is reported as not checkpointed for a while.
const LONG_WAL_BYTES: u64 = 64 * 1024 * 1024;
/// Age at which undrained entries are reported. Every session drains the spool when it ends, so something prevents
/// that.
const MAX_SPOOL_AGE: Duration = Duration::from_hours(24);
/// Age at which a temporary file is reported as left behind. Writing and renaming the largest one takes seconds.
const MAX_DRAFT_AGE: Duration = Duration::from_hours(1);

/// The result of checking a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StoreHealth {
    /// The data directory.
    pub folder: PathBuf,
    /// The schema version of the database, or None if the database is missing or unreadable.
    pub schema: Option<u32>,
    /// Size of the database in bytes.
    pub database: u64,
    /// Size of the WAL in bytes.
    pub wal: u64,
    /// Size of the spool in bytes.
    pub spool: u64,
    /// Damaged databases that were moved aside.
    pub set_aside: Vec<PathBuf>,
    /// The problems that were found.
    pub findings: Vec<StoreFinding>,
}

choice! {
    /// A kind of problem of a store.
    StoreProblem, "ailment" {
        /// The database is damaged or unreadable.
        Damaged = "memory-damaged",
        /// The database was written by a newer program.
        Newer = "memory-newer",
        /// The database was written by an older program and is not migrated yet.
        Older = "memory-older",
        /// The database belongs to another program.
        Foreign = "memory-foreign",
        /// Other users can read the data.
        Readable = "memory-readable",
        /// Other users can write to the data directory.
        WritableByOthers = "memory-writable-by-others",
        /// The data directory, or a file in it, belongs to another user.
        OfAnotherUser = "memory-of-another-user",
        /// A file or folder of the store is a symbolic link.
        Link = "memory-link",
        /// The database is unusually large.
        Large = "memory-large",
        /// The WAL or the spool is large and waits for maintenance.
        Waiting = "memory-waiting",
        /// A damaged database was moved aside and waits to be salvaged.
        SetAside = "memory-set-aside",
        /// A repair is running or was interrupted.
        Repairing = "memory-repairing",
        /// Rows were forgotten, but not all of their bytes are erased.
        Forgetting = "memory-forgetting",
        /// Many documents are missing from the search files.
        Unfiled = "memory-unfiled",
        /// The search files do not match the database.
        Misfiled = "memory-misfiled",
        /// Entries in the spool were not drained for a long time.
        Undrained = "spool-old",
        /// A killed process left files behind.
        LeftBehind = "memory-leftovers",
    }
}

/// A problem of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreFinding {
    /// The kind of problem.
    pub ailment: StoreProblem,
    /// The file that has the problem, if it is a single one.
    pub file: Option<PathBuf>,
    /// The description.
    pub what: String,
    /// The command to type. `FILE` is a placeholder for the file, which the caller quotes for the shell.
    pub advice: String,
}

impl StoreHealth {
    fn add_finding(
        &mut self,
        ailment: StoreProblem,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.findings.push(StoreFinding::new(ailment, None, what, advice));
    }

    fn add_file_finding(
        &mut self,
        ailment: StoreProblem,
        file: PathBuf,
        what: &str,
        advice: impl Into<String>,
    ) {
        self.findings.push(StoreFinding::new(ailment, Some(file), what, advice));
    }
}

impl StoreFinding {
    fn new(
        ailment: StoreProblem,
        file: Option<PathBuf>,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { ailment, file, what: what.into(), advice: advice.into() }
    }
}

/// Checks a store without changing anything.
pub fn check_store(folder: &Path) -> StoreResult<StoreHealth> {
    let files = DataDir::new(folder);
    let mut health = StoreHealth { folder: folder.to_owned(), ..StoreHealth::default() };
    if !folder.exists() {
        return Ok(health);
    }
    let is_safe = check_access(&files, &mut health).map_err(io_error("read", folder))?;
    health.database = file_bytes(&files.database()).map_err(io_error("read", &files.database()))?;
    health.wal = file_bytes(&files.wal()).map_err(io_error("read", &files.wal()))?;
    health.spool = spool::total_bytes(&files).map_err(io_error("read", &files.spool()))?;
    health.set_aside = files.list_set_aside().map_err(io_error("read", folder))?;
    health.set_aside.retain(|path| !path.to_string_lossy().ends_with("-wal"));
    if is_safe && files.database().exists() {
        check_database(&files, &mut health);
    }
    if health.database > LARGE_DATABASE_BYTES {
        health.add_finding(
            StoreProblem::Large,
            format!("the size of the database is {} MiB", health.database / 1024 / 1024),
            "rutter forget --project frees the space of a project",
        );
    }
    if health.wal > LONG_WAL_BYTES || health.spool > spool::MAX_SPOOL_BYTES / 2 {
        health.add_finding(
            StoreProblem::Waiting,
            "the write-ahead log is large and not merged into the database",
            "rutter maintain",
        );
    }
    for path in files.list_damaged().map_err(io_error("read", folder))? {
        let what = "a damaged database was set aside";
        health.add_file_finding(StoreProblem::SetAside, path, what, "rutter doctor --repair");
    }
    for path in files.list_workshops().map_err(io_error("read", folder))? {
        let what = "a repair is running or was interrupted";
        health.add_file_finding(StoreProblem::Repairing, path, what, "rutter doctor --repair");
    }
    Ok(health)
}

/// Reports access by other users: the owner and mode of the data directory, files of other users, and symbolic links.
/// Returns false if the database must not be opened.
fn check_access(files: &DataDir, health: &mut StoreHealth) -> io::Result<bool> {
    let folder = files.folder();
    let mut findings = Vec::new();
    for path in files.files_of_others()? {
        let what = "this belongs to another user, who could change it";
        let advice =
            "sudo chown $(id -u) FILE, if it is yours; or set RUTTER_HOME to a folder of your own";
        findings.push((StoreProblem::OfAnotherUser, path, what, advice));
    }
    for path in files.symbolic_links()? {
        let what = "this is a symbolic link, and rutter does not write through links";
        findings.push((StoreProblem::Link, path, what, "rm FILE, or replace it with its target"));
    }
    let is_safe = findings.is_empty();
    for path in files.open_to_others()? {
        let mode = std::fs::symlink_metadata(&path)?.permissions().mode();
        if path == folder && std::fs::metadata(folder)?.permissions().mode() & 0o022 != 0 {
            let what = "other users can write to the data folder";
            findings.push((StoreProblem::WritableByOthers, path, what, "chmod go= FILE"));
        } else if mode & 0o077 != 0 {
            findings.push((
                StoreProblem::Readable,
                path,
                "other users can read this",
                "chmod go= FILE",
            ));
        }
    }
    for (ailment, path, what, advice) in findings {
        health.add_file_finding(ailment, path, what, advice);
    }
    Ok(is_safe)
}

fn file_bytes(path: &Path) -> io::Result<u64> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

fn check_database(files: &DataDir, health: &mut StoreHealth) {
    let database = files.database();
    match inspect_database(files) {
        Ok(DatabaseCheck { found, faults, erasing, behind, misfiled, unfingerprinted }) => {
            if behind {
                health.add_finding(
                    StoreProblem::Unfiled,
                    "many rows are not in the search files yet, so a search takes long",
                    "rutter maintain",
                );
            }
            if misfiled {
                health.add_finding(
                    StoreProblem::Misfiled,
                    "the search files are damaged, missing or of another database; a search \
                     reads the database instead",
                    "rutter maintain",
                );
            }
            if unfingerprinted {
                health.add_file_finding(
                    StoreProblem::Misfiled,
                    files.fingerprints(),
                    "this lacks rows of the database, so hooks before tool calls ignore them",
                    "rutter maintain",
                );
            }
            if erasing {
                health.add_finding(
                    StoreProblem::Forgetting,
                    "rows were deleted, and some of their bytes are still in the files",
                    "rutter maintain",
                );
            }
            match found {
                Some(schema::SchemaState::Newer(version)) => {
                    health.schema = Some(version);
                    let what = format!("the database is of a newer version ({version})");
                    health.add_file_finding(StoreProblem::Newer, database, &what, "update rutter");
                }
                Some(schema::SchemaState::Foreign) => {
                    let advice = "move it away, or set RUTTER_HOME to another folder";
                    let what = "this is a database of another program";
                    health.add_file_finding(StoreProblem::Foreign, database, what, advice);
                }
                Some(schema::SchemaState::Current) => health.schema = Some(super::SCHEMA_VERSION),
                Some(schema::SchemaState::Older | schema::SchemaState::Empty) => {
                    let what = "the database is of an older version";
                    health.add_file_finding(StoreProblem::Older, database, what, "rutter maintain");
                }
                None => {}
            }
            for fault in faults {
                health.add_finding(
                    StoreProblem::Damaged,
                    format!("the database is damaged: {fault}"),
                    "rutter doctor --repair",
                );
            }
        }
        Err(error @ StoreError::Damaged(_)) => {
            health.add_finding(StoreProblem::Damaged, error.to_string(), "rutter doctor --repair");
        }
        Err(error) => {
            let advice = format!("read {}", database.to_line());
            health.add_finding(StoreProblem::Damaged, error.to_string(), advice);
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a finding of its own")]
struct DatabaseCheck {
    /// None if the header is damaged.
    found: Option<schema::SchemaState>,
    faults: Vec<String>,
    erasing: bool,
    behind: bool,
    misfiled: bool,
    /// True if the fingerprint file lacks a row.
    unfingerprinted: bool,
}

fn inspect_database(files: &DataDir) -> StoreResult<DatabaseCheck> {
    let looked = open_database(&files.database(), data_dir::LOCK_TIMEOUT).and_then(|connection| {
        let found = schema::detect_schema(&connection)?;
        Ok((connection, found))
    });
    let (connection, found) = match looked {
        // A user who may not write to the folder can still read the database.
        Err(error) if error.is_read_only() => {
            let connection = wal_image::open_image(files)?;
            let found = schema::detect_schema(&connection)?;
            (connection, found)
        }
        looked => looked?,
    };
    let mut checked = DatabaseCheck {
        found: Some(found),
        faults: Vec::new(),
        erasing: false,
        behind: false,
        misfiled: false,
        unfingerprinted: false,
    };
    if schema::has_damaged_header(&connection, found)? {
        let fault = "its header names another version or another program than its tables do";
        checked.faults.push(fault.to_owned());
        checked.found = None;
        return Ok(checked);
    }
    if found != schema::SchemaState::Current {
        return Ok(checked);
    }
    let mut all = connection.prepare("PRAGMA integrity_check(5)")?;
    let lines = all.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    checked.faults.extend(lines.into_iter().filter(|line| line != "ok"));
    let mut loose =
        connection.prepare("SELECT DISTINCT \"table\" FROM pragma_foreign_key_check LIMIT 5")?;
    for table in loose.query_map([], |row| row.get::<_, String>(0))? {
        checked.faults.push(format!("rows of `{}` refer to missing rows", table?));
    }
    checked.erasing =
        connection.query_row("SELECT EXISTS (SELECT 1 FROM erasing)", [], |row| row.get(0))?;
    checked.behind = search_files::is_behind(&connection, files)?;
    checked.misfiled = !checked.behind && search_files::needs_rebuild(&connection, files)?;
    checked.unfingerprinted = fingerprint_rows::lacks_fingerprint(&connection, files)?;
    let unreadable = exchange::count_invalid_rows(&connection)?;
    if unreadable > 0 {
        checked.faults.push(format!("{unreadable} rows are invalid"));
    }
    Ok(checked)
}

/// Returns old unfinished work: spooled entries that were not drained, and files of killed processes. Separate from
/// [`check_store`] because it needs the current time.
pub fn find_neglected(folder: &Path, now: Time) -> StoreResult<Vec<StoreFinding>> {
    let files = DataDir::new(folder);
    let mut findings = Vec::new();
    if !folder.exists() {
        return Ok(findings);
    }
    let waiting = spool::oldest_drainable_file(&files).map_err(io_error("read", &files.spool()))?;
    if let Some((path, since)) = waiting.filter(|(_, since)| now.since(*since) > MAX_SPOOL_AGE) {
        let what = format!("entries from {since} are not in the database yet");
        findings.push(StoreFinding::new(
            StoreProblem::Undrained,
            Some(path),
            what,
            "rutter maintain",
        ));
    }
    for path in files.list_drafts().map_err(io_error("read", folder))? {
        // A file that is gone by now was in use.
        let Ok(changed) = path.metadata().and_then(|metadata| metadata.modified()) else {
            continue;
        };
        if now.since(Time::from(changed)) > MAX_DRAFT_AGE {
            let what = "a killed process left this file";
            findings.push(StoreFinding::new(StoreProblem::LeftBehind, Some(path), what, "rm FILE"));
        }
    }
    Ok(findings)
}

/// Removes other users' access to a store. Returns the paths that were changed.
pub fn restrict_access(folder: &Path) -> StoreResult<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let files = DataDir::new(folder);
    if let Some(path) =
        files.files_of_others().map_err(io_error("read", folder))?.into_iter().next()
    {
        let owner = std::fs::symlink_metadata(&path).map_err(io_error("read", &path))?.uid();
        return Err(UnsafePath::Owner { path, owner }.into());
    }
    data_dir::guard::close_to_others(folder).map_err(io_error("change the mode of", folder))
}

/// The result of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairReport {
    /// The damaged databases, and the rows saved from each.
    pub salvaged: Vec<(PathBuf, SalvageReport)>,
}

/// Moves a damaged database aside, and imports the readable rows of it and of those moved aside before.
pub fn repair_store(folder: &Path, now: Time) -> StoreResult<RepairReport> {
    let files = DataDir::new(folder);
    let mut done = RepairReport::default();
    if !folder.exists() {
        return Ok(done);
    }
    if files.database().exists() {
        replace_damaged_database(&files, now, |files| match inspect_database(files) {
            Ok(checked) => Ok(!checked.faults.is_empty()),
            Err(StoreError::Damaged(_)) => Ok(true),
            Err(error) => Err(error),
        })?;
    }
    let mut store = Store::open(folder, now)?;
    // Two concurrent repairs would import the same rows.
    let making = files.lock_for_changes().map_err(io_error("lock", folder))?;
    for path in files.list_workshops().map_err(io_error("read", folder))? {
        std::fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    }
    for path in files.list_damaged().map_err(io_error("read", folder))? {
        let salvaged = store.salvage(&path, &making, now)?;
        done.salvaged.push((path, salvaged));
    }
    Ok(done)
}
