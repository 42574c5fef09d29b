//! Is the memory well? What a person would want to know before trusting it, and what to type when it is not.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::documents::index;
use super::{
    Files, Salvaged, Store, StoreError, at, exchange, files, look, put_aside, schema, spool,
};
use crate::Time;

/// More than this, and the database deserves a look.
pub const SOFT_CAP: u64 = 1024 * 1024 * 1024;
/// A log of changes that long was not folded for a while.
const LONG_WAL: u64 = 64 * 1024 * 1024;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Health {
    /// Where the memory is.
    pub folder: PathBuf,
    /// The version of its database; none when there is no readable one.
    pub schema: Option<u32>,
    /// The size of the database.
    pub database: u64,
    /// The size of the log of changes.
    pub wal: u64,
    /// How much waits in the spool.
    pub spool: u64,
    /// Damaged databases that were put aside.
    pub set_aside: Vec<PathBuf>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub what: String,
    /// What to type.
    pub advice: String,
}

impl Health {
    fn find(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.findings.push(Finding { what: what.into(), advice: advice.into() });
    }
}

/// Looks at a memory without changing anything.
pub fn examine(folder: &Path) -> Result<Health, StoreError> {
    let files = Files::new(folder);
    let mut health = Health { folder: folder.to_owned(), ..Health::default() };
    if !folder.exists() {
        return Ok(health);
    }
    health.database = length(&files.database()).map_err(at("read", &files.database()))?;
    health.wal = length(&files.wal()).map_err(at("read", &files.wal()))?;
    health.spool = spool::size(&files).map_err(at("read", &files.spool()))?;
    health.set_aside = files.set_aside().map_err(at("read", folder))?;
    health.set_aside.retain(|path| !path.to_string_lossy().ends_with("-wal"));
    if files.database().exists() {
        look_inside(&files, &mut health);
    }
    for path in readable_by_others(folder).map_err(at("read", folder))? {
        health.find(
            format!("others may read {}", path.display()),
            format!("chmod go= '{}'", path.display()),
        );
    }
    if health.database > SOFT_CAP {
        health.find(
            format!("the database has {} MiB", health.database / 1024 / 1024),
            "rutter forget --project frees the space of a project",
        );
    }
    if health.wal > LONG_WAL || health.spool > spool::SIZE / 2 {
        health.find("much waits to be folded into the database", "rutter tend");
    }
    for path in files.damaged().map_err(at("read", folder))? {
        health.find(
            format!("a damaged database was put aside: {}", path.display()),
            "rutter doctor --repair",
        );
    }
    for path in files.workshops().map_err(at("read", folder))? {
        health.find(
            format!("a repair is at work or was interrupted: {}", path.display()),
            "rutter doctor --repair",
        );
    }
    Ok(health)
}

/// The folder and everything in it that its owner is not alone with.
fn readable_by_others(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(path) = rest.pop() {
        let metadata = std::fs::symlink_metadata(&path)?;
        // The user's own file is as the user made it; the folder keeps others out.
        let theirs = path == folder.join("config.toml");
        if metadata.permissions().mode() & 0o077 != 0 && !metadata.is_symlink() && !theirs {
            found.push(path.clone());
        }
        if metadata.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                rest.push(entry?.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn length(path: &Path) -> io::Result<u64> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

fn look_inside(files: &Files, health: &mut Health) {
    match check(files) {
        Ok(Checked { found, faults, erasing, behind }) => {
            if behind {
                health.find(
                    "much of what was learnt is not in the files that are searched, so a search takes long",
                    "rutter tend",
                );
            }
            if erasing {
                health.find(
                    "rows were forgotten, and not every byte of them is gone yet",
                    "rutter tend",
                );
            }
            match found {
                schema::Found::Newer(version) => {
                    health.schema = Some(version);
                    health.find(
                        format!("the database is of a newer version ({version})"),
                        "update rutter",
                    );
                }
                schema::Found::Foreign => health.find(
                    format!("{} is a database of another program", files.database().display()),
                    "move it away, or set RUTTER_HOME to another folder",
                ),
                schema::Found::Current => health.schema = Some(super::VERSION),
                schema::Found::Older | schema::Found::Empty => {
                    health.find("the database is of an older version", "rutter tend");
                }
            }
            for fault in faults {
                health.find(format!("the database is damaged: {fault}"), "rutter doctor --repair");
            }
        }
        Err(error @ StoreError::Damaged(_)) => {
            health.find(error.to_string(), "rutter doctor --repair");
        }
        Err(error) => {
            health.find(error.to_string(), format!("look at {}", files.database().display()));
        }
    }
}

struct Checked {
    found: schema::Found,
    faults: Vec<String>,
    erasing: bool,
    behind: bool,
}

fn check(files: &Files) -> Result<Checked, StoreError> {
    let connection = look(&files.database(), files::PATIENCE)?;
    let found = schema::find(&connection)?;
    let mut checked = Checked { found, faults: Vec::new(), erasing: false, behind: false };
    if found != schema::Found::Current {
        return Ok(checked);
    }
    let mut all = connection.prepare("PRAGMA integrity_check(5)")?;
    let lines = all.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    checked.faults.extend(lines.into_iter().filter(|line| line != "ok"));
    let mut loose =
        connection.prepare("SELECT DISTINCT \"table\" FROM pragma_foreign_key_check LIMIT 5")?;
    for table in loose.query_map([], |row| row.get::<_, String>(0))? {
        checked.faults.push(format!("rows of `{}` have lost what they belong to", table?));
    }
    checked.erasing =
        connection.query_row("SELECT EXISTS (SELECT 1 FROM erasing)", [], |row| row.get(0))?;
    checked.behind = index::is_behind(&connection, files)?;
    let unreadable = exchange::unreadable(&connection)?;
    if unreadable > 0 {
        checked.faults.push(format!("{unreadable} rows make no sense"));
    }
    Ok(checked)
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Repaired {
    /// The damaged databases it worked on, and what came of each.
    pub salvaged: Vec<(PathBuf, Salvaged)>,
}

/// Puts a damaged database aside and takes over what can be read of it, and of those put aside before.
pub fn repair(folder: &Path, now: Time) -> Result<Repaired, StoreError> {
    let files = Files::new(folder);
    let mut done = Repaired::default();
    if !folder.exists() {
        return Ok(done);
    }
    if files.database().exists() {
        put_aside(&files, now, |files| match check(files) {
            Ok(checked) => Ok(!checked.faults.is_empty()),
            Err(StoreError::Damaged(_)) => Ok(true),
            Err(error) => Err(error),
        })?;
    }
    let mut store = Store::open(folder, now)?;
    // Two repairs at once would both take over the same rows.
    let making = files.making().map_err(at("lock", folder))?;
    for path in files.workshops().map_err(at("read", folder))? {
        std::fs::remove_dir_all(&path).map_err(at("remove", &path))?;
    }
    for path in files.damaged().map_err(at("read", folder))? {
        let salvaged = store.salvage(&path, &making, now)?;
        done.salvaged.push((path, salvaged));
    }
    Ok(done)
}
