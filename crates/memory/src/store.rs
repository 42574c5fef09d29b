//! The one store: SQLite with a write-ahead log, one database per user.
//!
//! [`Store`] is for commands and servers. It may create, migrate and wait. Hooks use [`hot::HotStore`], which may do
//! none of that, and hand over to the [`spool`] what they cannot write in time; [`tend`] drains it. All of them
//! write through the same functions, so what one writes the others see at once.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use thiserror::Error;

use files::Lock;

use crate::ghap::GhapError;
use crate::memory::MemoryError;
use crate::origin::Origin;
use crate::value::ValueError;
use crate::{IdSuffix, Time};

mod callers;
mod clusters;
mod context;
pub mod doctor;
mod documents;
mod effects;
pub mod entry;
mod episode_files;
mod episodes;
mod exchange;
pub(crate) mod files;
mod forget;
mod fresh;
mod ghaps;
pub mod hot;
mod image;
mod injections;
mod memories;
mod origins;
mod outcomes;
mod overview;
mod premortem;
mod projects;
mod review;
mod salvage;
mod schema;
mod session_context;
mod sessions;
mod spoken;
pub mod spool;
mod tables;
pub mod tend;
mod values;

pub use clusters::{Cluster, ClusterFilter, Member, Plotted, Regrouped};
pub use context::{Audience, Wanted};
pub use documents::{Ask, Hit, Query, Recall};
pub use episodes::{EpisodeFilter, Recalled};
pub use exchange::{
    BatchSummary, Exported, ImportError, ImportFile, ImportSummary, Imported, ImportedProject,
    ProjectAlias, Record, RowOrigin, WhoseRows,
};
pub use files::{Files, UnsafePath, read_own};
pub(crate) use files::{
    append_to, make_subfolder, open_own, private, read_own_text, remove_if_there, replace_private,
};
pub use forget::{Forgettable, Forgotten, Row};
pub use ghaps::{GhapFilter, Owner, Resolved};
pub use injections::{InjectionFilter, WasShown};
pub use memories::{MemoryEdit, MemoryFilter, NewMemory, Remembered};
pub use overview::{Counts, Progress};
pub use premortem::{MIN_CASES, Premortem};
pub use projects::{Project, ProjectSummary};
pub use review::{Proposal, Proposed};
pub use salvage::{Salvaged, SalvagedTable};
pub use schema::VERSION;
pub use session_context::SessionWanted;
pub use sessions::SessionSummary;
pub use spoken::Settled;
pub use values::{Followed, Held, NewValue, ValueEdit, ValueFilter, Written};

/// The memory, open for everything.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    files: Files,
    set_aside: Option<PathBuf>,
    /// Which file it has open.
    inode: Option<u64>,
    /// The origin of the rows that it writes; none where nobody has said.
    author: Option<Origin>,
    is_read_only: bool,
    /// Behind the connection, so that it is closed first. None where not even a lock can be taken.
    _using: Option<Lock>,
}

/// Why the store cannot do what it was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another user could read or change what would be written.
    #[error(transparent)]
    Unsafe(#[from] UnsafePath),
    /// Written by a newer program.
    #[error("{} was written by a newer rutter (schema {found}, this one knows {VERSION}); update this one", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Somebody else's database.
    #[error("{} is a database of another program; move it away, or set RUTTER_HOME to another folder", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// Somebody else is writing.
    #[error("another process has the memory locked; try again")]
    Busy,
    /// The disk has no room. Nothing was written.
    #[error("the disk is full; nothing was written")]
    Full,
    /// The disk fails, or is so full that not even the bookkeeping fits. Nothing was written.
    #[error("the disk fails or is full ({0}); nothing was changed")]
    Disk(String),
    /// The disk cannot be written. Nothing was written.
    #[error("the memory cannot be written: {0}; nothing was changed")]
    ReadOnly(String),
    /// The file is broken somewhere.
    #[error("the database is damaged: {0}; `rutter doctor --repair` saves what can be read")]
    Damaged(String),
    /// Rows were deleted, and their bytes are not overwritten yet.
    #[error("the rows are gone, but not every byte of them yet ({0}); `rutter tend` finishes it")]
    NotErased(String),
    /// Something in the spool could not be read now.
    #[error("a hook is in the middle of writing to the spool; try again")]
    SpoolInUse,
    /// Anything else that SQLite says.
    #[error("the database said: {0}")]
    Sql(rusqlite::Error),
    /// A GHAP cannot do that.
    #[error(transparent)]
    Ghap(#[from] GhapError),
    /// A memory cannot be so.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A value cannot be so.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Nothing has this id.
    #[error("no {what} has an id that ends in {id}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// What was typed.
        id: IdSuffix,
    },
    /// Several have.
    #[error("{count} ids end in {id}; type more of it")]
    Ambiguous {
        /// What was typed.
        id: IdSuffix,
        /// How many.
        count: usize,
    },
    /// Several projects have the name.
    #[error("{count} projects are called `{name}`; `rutter project list` shows their keys")]
    SeveralProjects {
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
    /// No such project.
    #[error("no project is known as `{0}`; `rutter project list` shows them")]
    NoProject(String),
    /// What was accepted cannot be done.
    #[error("it cannot be accepted: {0}")]
    NotAccepted(String),
    /// No such session.
    #[error("no session is known as `{0}`; `rutter sessions list --all` shows them")]
    NoSession(String),
}

impl StoreError {
    /// Returns true if the memory cannot be written, or not even be locked.
    fn is_read_only(&self) -> bool {
        match self {
            Self::ReadOnly(_) => true,
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
            ),
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::SystemIoFailure) => Self::Disk(error.to_string()),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly(error.to_string())
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Sql(error),
        }
    }
}

/// Gives an error of the file system its place.
pub(crate) fn at<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> StoreError + use<'a> {
    move |mut source| match UnsafePath::within(&mut source) {
        Some(reason) => StoreError::Unsafe(reason),
        None if source.kind() == io::ErrorKind::StorageFull => StoreError::Full,
        None => StoreError::Io { what, path: path.to_owned(), source },
    }
}

impl Store {
    /// Opens the memory in a folder, creating or migrating it where needed. One that cannot be written is opened for reading.
    ///
    /// A file that is no database any more is put aside and a new one begun; [`Store::set_aside`] tells.
    pub fn open(folder: &Path, now: Time) -> Result<Self, StoreError> {
        let files = Files::new(folder);
        files.make_folder().map_err(at("make", folder))?;
        files.secure()?;
        if files::check_path(&files.database()).map_err(at("open", &files.database()))?.is_none() {
            let making = files.making().map_err(at("lock", folder))?;
            create(&files, &making)?;
        }
        match Self::connect(&files) {
            Err(StoreError::Damaged(_)) => {
                let aside = put_aside(&files, now, |files| {
                    let found = look(&files.database(), files::PATIENCE)
                        .and_then(|found| Ok(schema::find(&found)?));
                    Ok(matches!(found, Err(StoreError::Damaged(_))))
                })?;
                let mut store = Self::connect(&files)?;
                store.set_aside = aside;
                Ok(store)
            }
            Err(error) if error.is_read_only() => Self::read(&files),
            opened => opened,
        }
    }

    /// Opens the memory without writing anything: neither the database nor what SQLite keeps beside it.
    fn read(files: &Files) -> Result<Self, StoreError> {
        let path = files.database();
        let using = files.using(files::PATIENCE).ok();
        let connection = image::open(files)?;
        match schema::find(&connection)? {
            schema::Found::Newer(found) => return Err(StoreError::Newer { path, found }),
            schema::Found::Foreign => return Err(StoreError::Foreign { path }),
            schema::Found::Current => {}
            schema::Found::Older | schema::Found::Empty => {
                let why = files.why_unwritable();
                return Err(StoreError::ReadOnly(format!("it is of an older rutter, and {why}")));
            }
        }
        connection.set_prepared_statement_cache_capacity(hot::STATEMENTS);
        let inode = inode(&path);
        Ok(Self {
            connection,
            files: files.clone(),
            set_aside: None,
            author: None,
            inode,
            is_read_only: true,
            _using: using,
        })
    }

    /// Returns true if the memory cannot be written.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Fails if the memory cannot be written, with the reason and what to type.
    fn check_writable(&self) -> Result<(), StoreError> {
        if self.is_read_only {
            return Err(StoreError::ReadOnly(self.files.why_unwritable()));
        }
        Ok(())
    }

    fn connect(files: &Files) -> Result<Self, StoreError> {
        let path = files.database();
        let using = files.using(files::PATIENCE).map_err(at("open", &files.log()))?;
        let mut connection = look(&path, files::PATIENCE)?;
        match schema::find(&connection)? {
            schema::Found::Newer(found) => return Err(StoreError::Newer { path, found }),
            schema::Found::Foreign => return Err(StoreError::Foreign { path }),
            schema::Found::Current => {}
            schema::Found::Older | schema::Found::Empty => {
                let _making = files.making().map_err(at("lock", files.folder()))?;
                prepare(&connection)?;
                schema::migrate(&mut connection)?;
            }
        }
        // It is ours: whoever is the last to leave may fold the log.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        settle(&connection)?;
        // As in hooks: a server asks the same over and over.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(hot::STATEMENTS);
        // A commit that was acknowledged outlives a power cut as well; a command has the time.
        connection.pragma_update(None, "synchronous", "FULL")?;
        wait_for_others(&mut connection)?;
        let inode = inode(&path);
        let is_read_only = connection.is_readonly(rusqlite::MAIN_DB)?;
        Ok(Self {
            connection,
            files: files.clone(),
            set_aside: None,
            inode,
            author: None,
            is_read_only,
            _using: Some(using),
        })
    }

    /// Whether this handle can be kept for what comes next: its file is still in its place and of the form that this program
    /// writes, and nobody is about to create, migrate, repair or put aside one. Whoever keeps one asks each time.
    pub fn is_good(&self) -> bool {
        !self.is_read_only
            && self.files.is_unclaimed()
            && self.inode.is_some()
            && inode(&self.files.database()) == self.inode
            && matches!(schema::find(&self.connection), Ok(schema::Found::Current))
    }

    /// The damaged database that was put aside when this one was opened.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// Where it is kept.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Runs a change as a whole: everything or nothing.
    fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check_writable()?;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        documents::catch_up(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }
}

/// Opens a database to look at it. It is not created ([`create`] alone does that, whole), and closing it changes
/// nothing: it may be a newer program's, or broken. One thread uses a handle at a time.
pub(crate) fn look(path: &Path, patience: Duration) -> Result<Connection, StoreError> {
    files::check_path(path).map_err(at("open", path))?;
    Ok(connect(path, patience)?)
}

/// Opens a database that [`files::check_path`] has passed. SQLite itself refuses a link in the place of the log of changes and
/// of its index, but follows one in the place of the database.
fn connect(path: &Path, patience: Duration) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// How often, and in what steps, a command or a server asks for a lock that another process has.
const STEP: Duration = Duration::from_micros(500);
const STEPS: u128 = files::PATIENCE.as_nanos() / STEP.as_nanos();

/// Has a handle wait for others as long as a command does. SQLite's own way sleeps longer each time, up to a tenth of a second: of
/// eight that write all the time, one in twenty waited for that.
pub(crate) fn wait_for_others(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|asked| {
        let go_on = u128::try_from(asked).is_ok_and(|asked| asked < STEPS);
        if go_on {
            std::thread::sleep(STEP);
        }
        go_on
    }))
}

fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().ok().map(|metadata| metadata.ino())
}

/// What is set once, in the file.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA journal_mode = WAL")
}

/// What every handle sets, hooks included.
pub(crate) fn settle(connection: &Connection) -> rusqlite::Result<()> {
    // What is deleted is overwritten; nothing is put into files elsewhere.
    connection.execute_batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY",
    )
}

/// Makes the database beside its place and moves it there, so that nobody ever opens half of one.
fn create(files: &Files, _making: &Lock) -> Result<(), StoreError> {
    let path = files.database();
    if path.exists() {
        return Ok(());
    }
    let fresh = files.folder().join("rutter.db.new");
    let parts = ["", "-wal", "-shm", "-journal"].map(|end| files::with_end(&fresh, end));
    let clear = || {
        parts.iter().try_for_each(|part| files::remove_if_there(part)).map_err(at("remove", &fresh))
    };
    // Left by a process that was killed in the middle; the lock says that no other is at it.
    clear()?;
    let made = (|| {
        files::private().write(true).create_new(true).open(&fresh).map_err(at("create", &fresh))?;
        let mut connection = look(&fresh, files::PATIENCE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        // The log of changes comes last. Closing folds it, and says nothing where the disk has no room for that: the database
        // would be moved into its place without what stands in the log.
        schema::migrate(&mut connection)?;
        prepare(&connection)?;
        connection.close().map_err(|(_, error)| error)?;
        files.put_log_aside(None).map_err(at("put aside", &files.wal()))?;
        std::fs::rename(&fresh, &path).map_err(at("create", &path))
    })();
    if made.is_err() {
        drop(clear());
    }
    made
}

/// Puts a damaged database aside and begins a new one, if it still is damaged once nobody else can touch it.
fn put_aside(
    files: &Files,
    now: Time,
    damaged: impl FnOnce(&Files) -> Result<bool, StoreError>,
) -> Result<Option<PathBuf>, StoreError> {
    let making = files.making().map_err(at("lock", files.folder()))?;
    if files.database().exists() && !damaged(files)? {
        return Ok(None);
    }
    let alone = files.alone().map_err(at("put aside", &files.database()))?;
    let aside = if files.database().exists() {
        Some(files.put_aside(&making, &alone, now).map_err(at("put aside", &files.database()))?)
    } else {
        None
    };
    create(files, &making)?;
    Ok(aside)
}
