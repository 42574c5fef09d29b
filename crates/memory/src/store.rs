//! The store: one SQLite database per user, in WAL mode.
//!
//! Commands and servers use [`Store`], which may create and migrate the database and wait for locks. Hooks use
//! [`hook_store::HookStore`], which does none of that. Their [`recorder::Recorder`] writes to the [`spool`] if the database
//! is not ready in time, and [`maintain`] drains it later. All of them write through the same functions, so each sees the
//! rows of the others at once.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use thiserror::Error;

use crate::data_dir;
use crate::data_dir::FolderLock;
use crate::fingerprints::remove_file;
use crate::quote::PathLine as _;

use fingerprint_rows::ChangedRows;

use crate::ghap::GhapError;
use crate::memory::MemoryError;
use crate::origin::Origin;
use crate::value::ValueError;
use crate::{IdSuffix, Time};

mod apply;
mod clusters;
mod command_episodes;
pub mod doctor;
mod documents;
mod effect_finder;
mod effects;
pub mod entry;
mod episode_files;
mod episodes;
mod exchange;
mod export_record;
mod fingerprint_rows;
mod fixes_in_file;
mod forget;
mod ghap_prompts;
mod ghaps;
pub mod hook_store;
mod injection_list;
mod injections;
mod lessons;
pub mod maintain;
mod memories;
mod origins;
mod outcomes;
mod overview;
mod premortem;
mod project_merge;
mod projects;
mod proposals;
mod reader;
pub mod recorder;
mod refresh;
mod relevant_values;
mod row_ids;
mod salvage;
mod schema;
mod sessions;
pub mod spool;
mod stale_fingerprints;
mod tables;
mod tool_callers;
mod values;
mod wal_image;

pub use crate::data_dir::{DataDir, UnsafePath};
pub use clusters::{Cluster, ClusterFilter, ClusterMember, PlottedExperience, RegroupReport};
pub use command_episodes::CommandLesson;
pub use documents::{DocumentHit, DocumentQuery, RecallRequest, RecalledRow};
pub use episodes::{EpisodeFilter, RecalledEpisode};
pub use exchange::{
    BatchSummary, ExportRecord, ExportReport, ImportError, ImportFile, ImportReport, ImportSummary,
    ImportedProject, ProjectAlias, RowOrigin, WhoseRows,
};
pub use fingerprint_rows::{command_fingerprint, fixed_file_fingerprint, program_fingerprint};
pub use forget::{ForgetResult, ForgettableKind, ForgettableRow};
pub use ghap_prompts::RunVerdict;
pub use ghaps::{GhapFilter, GhapOwner, ResolvedGhap};
pub use injection_list::{InjectionFilter, InjectionWithText};
pub use lessons::ProjectLesson;
pub use memories::{MemoryEdit, MemoryFilter, NewMemory, RememberResult};
pub use overview::{GhapProgress, RowCounts};
pub use premortem::{MIN_CASES, Premortem};
pub use projects::{Project, ProjectSummary};
pub use proposals::{Proposal, ProposedChange};
pub use reader::{ReadSnapshot, Recipient, StoreReader};
pub use relevant_values::RelevantValue;
pub use salvage::{SalvageReport, SalvagedTable};
pub use schema::SCHEMA_VERSION;
pub use sessions::SessionSummary;
pub use values::{
    FollowedValue, NewValue, ValueEdit, ValueFilter, ValueWithEffects, ValueWriteResult,
};

/// The store, opened by a command or a server.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    files: DataDir,
    set_aside: Option<PathBuf>,
    /// Inode of the open database file.
    inode: Option<u64>,
    /// Origin of the rows that this handle writes. None if [`Store::set_author`] was not called.
    author: Option<Origin>,
    is_read_only: bool,
    /// The rows of the current transaction whose fingerprints hooks look for.
    changed: ChangedRows,
    /// After `connection`, so that the connection is closed first. None if the store is read-only and cannot be locked.
    _using: Option<FolderLock>,
}

/// An error of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// An operation on a file or folder failed.
    #[error("cannot {what} {}: {source}", path.to_line())]
    Io {
        /// The operation that failed, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another user could read or change the data.
    #[error(transparent)]
    Unsafe(#[from] UnsafePath),
    /// The database was written by a newer version of the program.
    #[error("a newer rutter wrote {} (schema {found}, this version supports {SCHEMA_VERSION}); \
             update rutter", path.to_line())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The schema version of the database.
        found: u32,
    },
    /// The database belongs to another program.
    #[error("{} is a database of another program; move it away, or set RUTTER_HOME to another folder", path.to_line())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// Another process holds the write lock.
    #[error("another process has the memory locked; try again")]
    Busy,
    /// The disk is full. Nothing was written.
    #[error("the disk is full; nothing was written")]
    Full,
    /// The disk fails, or is too full for SQLite's bookkeeping. Nothing was written.
    #[error("the disk has failed or is full ({0}); nothing was changed")]
    Disk(String),
    /// The database cannot be written. Nothing was changed.
    #[error("could not write to the memory: {0}; nothing was changed")]
    ReadOnly(String),
    /// The database file is corrupt.
    #[error("the database is damaged: {0}; run `rutter doctor --repair` to save its readable rows")]
    Damaged(String),
    /// Rows were deleted, but their bytes are not overwritten yet.
    #[error(
        "the rows are deleted, but some of their bytes are still in the files ({0}); run \
         `rutter maintain`"
    )]
    NotErased(String),
    /// A hook is writing to a spool file, which therefore could not be drained.
    #[error("a hook is writing to the spool; try again")]
    SpoolInUse,
    /// Any other SQLite error.
    #[error("database error: {0}")]
    Sql(rusqlite::Error),
    /// An operation on a GHAP is not allowed.
    #[error(transparent)]
    Ghap(#[from] GhapError),
    /// A memory is invalid.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A value is invalid.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// No row has this id.
    #[error("no {what} has an id that ends in {id}")]
    NotFound {
        /// The kind of row, for the message.
        what: &'static str,
        /// The end of the id that the user typed.
        id: IdSuffix,
    },
    /// Several rows have an id with this end.
    #[error("{count} ids end in {id}; type more characters")]
    Ambiguous {
        /// The end of the id that the user typed.
        id: IdSuffix,
        /// Number of matching rows.
        count: usize,
    },
    /// Several projects have this name.
    #[error("{count} projects are called `{name}`; `rutter project list` shows their keys")]
    SeveralProjects {
        /// The name.
        name: String,
        /// Number of matching projects.
        count: usize,
    },
    /// No project has this name or key.
    #[error("no project is known as `{0}`; `rutter project list` shows them")]
    NoProject(String),
    /// The user accepted a proposal that cannot be carried out.
    #[error("could not accept it: {0}")]
    NotAccepted(String),
    /// No session has this name or id.
    #[error("no session is known as `{0}`; `rutter sessions list --all` shows them")]
    NoSession(String),
}

/// The result of an operation of the store.
pub type StoreResult<T = ()> = Result<T, StoreError>;

impl StoreError {
    /// Returns true if the error means that the store cannot be written or locked.
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

/// Returns a function that turns an I/O error into a [`StoreError`] with the operation and the path.
pub(crate) fn io_error<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> StoreError + use<'a> {
    move |mut source| match UnsafePath::extract(&mut source) {
        Some(reason) => StoreError::Unsafe(reason),
        None if source.kind() == io::ErrorKind::StorageFull => StoreError::Full,
        None => StoreError::Io { what, path: path.to_owned(), source },
    }
}

impl Store {
    /// Opens the store in a data directory. Creates or migrates the database if needed, and opens it read-only if it
    /// cannot be written.
    ///
    /// If the file is corrupt, moves it aside and creates a new database; [`Store::set_aside`] then returns its path.
    pub fn open(folder: &Path, now: Time) -> StoreResult<Self> {
        let files = DataDir::new(folder);
        files.make_folder().map_err(io_error("make", folder))?;
        files.secure()?;
        if data_dir::check_path(&files.database())
            .map_err(io_error("open", &files.database()))?
            .is_none()
        {
            let making = files.lock_for_changes().map_err(io_error("lock", folder))?;
            create_database(&files, &making)?;
        }
        match Self::open_writable(&files) {
            Err(StoreError::Damaged(_)) => {
                let aside = replace_damaged_database(&files, now, |files| {
                    let found = open_database(&files.database(), data_dir::LOCK_TIMEOUT)
                        .and_then(|found| Ok(schema::detect_schema(&found)?));
                    Ok(matches!(found, Err(StoreError::Damaged(_))))
                })?;
                let mut store = Self::open_writable(&files)?;
                store.set_aside = aside;
                Ok(store)
            }
            Err(error) if error.is_read_only() => Self::open_read_only(&files),
            opened => opened,
        }
    }

    /// Opens the store without writing anything: neither the database nor SQLite's files next to it.
    fn open_read_only(files: &DataDir) -> StoreResult<Self> {
        let path = files.database();
        let using = files.lock_in_use(data_dir::LOCK_TIMEOUT).ok();
        let connection = wal_image::open_image(files)?;
        match schema::detect_schema(&connection)? {
            schema::SchemaState::Newer(found) => return Err(StoreError::Newer { path, found }),
            schema::SchemaState::Foreign => return Err(StoreError::Foreign { path }),
            schema::SchemaState::Current => {}
            schema::SchemaState::Older | schema::SchemaState::Empty => {
                let why = files.why_unwritable();
                return Err(StoreError::ReadOnly(format!("an older rutter wrote it, and {why}")));
            }
        }
        connection.set_prepared_statement_cache_capacity(hook_store::STATEMENT_CACHE_CAPACITY);
        let inode = inode(&path);
        Ok(Self {
            connection,
            files: files.clone(),
            set_aside: None,
            author: None,
            inode,
            is_read_only: true,
            changed: ChangedRows::default(),
            _using: using,
        })
    }

    /// Returns true if the store cannot be written.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Fails if the store cannot be written; the error has the reason and the command to type.
    fn check_writable(&self) -> StoreResult {
        if self.is_read_only {
            return Err(StoreError::ReadOnly(self.files.why_unwritable()));
        }
        Ok(())
    }

    fn open_writable(files: &DataDir) -> StoreResult<Self> {
        let path = files.database();
        let using =
            files.lock_in_use(data_dir::LOCK_TIMEOUT).map_err(io_error("open", &files.log()))?;
        let mut connection = open_database(&path, data_dir::LOCK_TIMEOUT)?;
        match schema::detect_schema(&connection)? {
            schema::SchemaState::Newer(found) => return Err(StoreError::Newer { path, found }),
            schema::SchemaState::Foreign => return Err(StoreError::Foreign { path }),
            schema::SchemaState::Current => {}
            schema::SchemaState::Older | schema::SchemaState::Empty => {
                let _making = files.lock_for_changes().map_err(io_error("lock", files.folder()))?;
                enable_wal(&connection)?;
                schema::migrate(&mut connection)?;
                // It does not have what an older program has written meanwhile.
                let path = files.fingerprints();
                remove_file(files).map_err(io_error("remove", &path))?;
            }
        }
        // The database has our schema, so the last process that closes it may checkpoint the WAL.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        configure_connection(&connection)?;
        // As in hooks: a server runs the same statements over and over.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(hook_store::STATEMENT_CACHE_CAPACITY);
        // An acknowledged commit also survives a power cut. Unlike a hook, a command has time for the sync.
        connection.pragma_update(None, "synchronous", "FULL")?;
        set_lock_retry(&mut connection)?;
        let changed = ChangedRows::follow(&mut connection)?;
        let inode = inode(&path);
        let is_read_only = connection.is_readonly(rusqlite::MAIN_DB)?;
        Ok(Self {
            connection,
            files: files.clone(),
            set_aside: None,
            inode,
            author: None,
            is_read_only,
            changed,
            _using: Some(using),
        })
    }

    /// Returns true if this handle can be used for another request: its file is still in place and has the current
    /// schema, and no process is creating, migrating, repairing or moving aside a database. Servers that cache a handle
    /// check it before each use.
    pub fn is_reusable(&self) -> bool {
        !self.is_read_only
            && self.files.is_unlocked()
            && self.inode.is_some()
            && inode(&self.files.database()) == self.inode
            && matches!(schema::detect_schema(&self.connection), Ok(schema::SchemaState::Current))
    }

    /// Returns the path of the damaged database that was moved aside when this store was opened.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// Returns the data directory of the store.
    pub fn files(&self) -> &DataDir {
        &self.files
    }

    /// Runs a change in one transaction.
    fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> StoreResult<T>,
    ) -> StoreResult<T> {
        self.check_writable()?;
        self.changed.clear();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        documents::update_documents(&transaction)?;
        self.changed.add_fingerprints(&transaction, &self.files)?;
        transaction.commit()?;
        Ok(value)
    }
}

/// Opens an existing database. It does not create one (only [`create`] does, and always a complete one), and closing it
/// does not checkpoint: the file may be corrupt or belong to a newer program. Only one thread may use the connection at
/// a time.
pub(crate) fn open_database(path: &Path, patience: Duration) -> StoreResult<Connection> {
    data_dir::check_path(path).map_err(io_error("open", path))?;
    Ok(open_connection(path, patience)?)
}

/// Opens a database that [`data_dir::check_path`] has accepted. The check is necessary because SQLite refuses a
/// symbolic link in place of the WAL and its index, but follows one in place of the database.
fn open_connection(path: &Path, patience: Duration) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// Interval at which a command or server retries a lock that another process holds, and the number of retries.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_micros(500);
const MAX_LOCK_RETRIES: u128 = data_dir::LOCK_TIMEOUT.as_nanos() / LOCK_RETRY_INTERVAL.as_nanos();

/// Makes a connection wait for locks as long as a command does. SQLite's own handler sleeps longer each time, up to
/// 100 ms; with eight processes that write constantly, one write in twenty waited that long.
pub(crate) fn set_lock_retry(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|asked| {
        let go_on = u128::try_from(asked).is_ok_and(|asked| asked < MAX_LOCK_RETRIES);
        if go_on {
            std::thread::sleep(LOCK_RETRY_INTERVAL);
        }
        go_on
    }))
}

fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().ok().map(|metadata| metadata.ino())
}

/// Sets the properties that are stored in the database file.
fn enable_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA journal_mode = WAL")
}

/// Sets the properties that every connection needs, including those of hooks.
pub(crate) fn configure_connection(connection: &Connection) -> rusqlite::Result<()> {
    // Overwrite deleted rows, and keep temporary tables out of other files.
    connection.execute_batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY",
    )
}

/// Creates the database under a temporary name and renames it, so that no process ever opens an incomplete one.
fn create_database(files: &DataDir, _making: &FolderLock) -> StoreResult {
    let path = files.database();
    if path.exists() {
        return Ok(());
    }
    let fresh = files.folder().join("rutter.db.new");
    let parts = ["", "-wal", "-shm", "-journal"].map(|end| data_dir::with_suffix(&fresh, end));
    let clear = || {
        parts
            .iter()
            .try_for_each(|part| data_dir::remove_if_exists(part))
            .map_err(io_error("remove", &fresh))
    };
    // A killed process may have left these files. The lock guarantees that no other process is using them.
    clear()?;
    let made = (|| {
        data_dir::private_options()
            .write(true)
            .create_new(true)
            .open(&fresh)
            .map_err(io_error("create", &fresh))?;
        let mut connection = open_database(&fresh, data_dir::LOCK_TIMEOUT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        // Switch to WAL mode last. Closing checkpoints the WAL and reports no error if the disk is full; the database
        // would then be renamed without the rows that are only in the WAL.
        schema::migrate(&mut connection)?;
        enable_wal(&connection)?;
        remove_file(files).map_err(io_error("remove", &files.fingerprints()))?;
        connection.close().map_err(|(_, error)| error)?;
        files.move_wal_aside(None).map_err(io_error("put aside", &files.wal()))?;
        std::fs::rename(&fresh, &path).map_err(io_error("create", &path))
    })();
    if made.is_err() {
        drop(clear());
    }
    made
}

/// Moves a damaged database aside and creates a new one, unless another process has repaired it before this one got the
/// lock.
fn replace_damaged_database(
    files: &DataDir,
    now: Time,
    damaged: impl FnOnce(&DataDir) -> StoreResult<bool>,
) -> StoreResult<Option<PathBuf>> {
    let making = files.lock_for_changes().map_err(io_error("lock", files.folder()))?;
    if files.database().exists() && !damaged(files)? {
        return Ok(None);
    }
    let alone = files.lock_unused().map_err(io_error("put aside", &files.database()))?;
    let aside = if files.database().exists() {
        Some(
            files
                .move_database_aside(&making, &alone, now)
                .map_err(io_error("put aside", &files.database()))?,
        )
    } else {
        None
    };
    create_database(files, &making)?;
    Ok(aside)
}
