//! Checks that keep other users out of the data directory: its owner, its mode, and the types of its files.
//!
//! The data directory itself may be a symbolic link: users move it to another disk that way. Links inside it are not
//! followed, because they could redirect a write to a file that does not belong to rutter. Pipes are not read, because
//! they could block the reader. The checks do not protect against other programs of the same user.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use super::DataDir;
use crate::quote::PathLine as _;

/// Mode bits that let others change the content of a folder.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Mode bit of a folder that all users share, like `/tmp`.
const STICKY_BIT: u32 = 0o1000;
/// Names of the files that rutter stores in its data directory, and prefixes of further names.
const OWN_NAMES: [&str; 17] = [
    "recordings",
    "spool",
    "log",
    "snapshots",
    "backups",
    "vectors",
    "vectors.new",
    "terms",
    "terms.new",
    "fingerprints",
    "fingerprints.new",
    "tally",
    "paused",
    "paused.new",
    "trusted",
    "trusted.new",
    "config.toml",
];
const OWN_NAME_PREFIXES: [&str; 3] = ["rutter.db", "http-token", super::WORKSHOP_PREFIX];
/// Mode bits that give others any access.
const OPEN_TO_OTHERS: u32 = 0o077;

/// The reason why a file or folder of the memory is not used.
#[derive(Debug, Error)]
pub enum UnsafePath {
    /// The path belongs to another user.
    #[error(
        "{path} belongs to another user (uid {owner}), who could change it; run `sudo chown -R $(id -u) '{path}'` if it is \
         yours, or set RUTTER_HOME to a folder of your own",
        path = path.to_line()
    )]
    Owner {
        /// The file or folder.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Others may write to the data directory, and changing its mode failed.
    #[error(
        "other users can write to {path} (mode {mode:04o}), and `chmod go= '{path}'` failed: \
         {source}; set RUTTER_HOME to a folder that only you can write to",
        path = path.to_line()
    )]
    Writable {
        /// The folder.
        path: PathBuf,
        /// Mode of the folder.
        mode: u32,
        /// The error of changing the mode.
        source: io::Error,
    },
    /// Others may write to the data directory, and rutter must not close it: it contains other files, or all users
    /// share it.
    #[error(
        "other users can write to {path} (mode {mode:04o}), which is not a folder that rutter \
         made; run `chmod go-w '{path}'`, or set RUTTER_HOME to a folder for rutter only",
        path = path.to_line()
    )]
    Shared {
        /// The folder.
        path: PathBuf,
        /// Mode of the folder.
        mode: u32,
    },
    /// The path is a symbolic link.
    #[error(
        "{path} is a symbolic link, and rutter does not write through links in its data folder; \
         run `rm '{path}'`, or replace it with its target",
        path = .0.to_line()
    )]
    Link(PathBuf),
    /// The path is not a regular file: a pipe, a device or a folder.
    #[error(
        "{path} is not a regular file, so rutter does not use it; run `rm -r '{path}'` if you \
         do not need it",
        path = .0.to_line()
    )]
    NotPlain(PathBuf),
}

impl UnsafePath {
    /// Extracts the reason from an I/O error, if it contains one.
    pub fn extract(error: &mut io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>()?;
        let inner = std::mem::replace(error, io::Error::from(io::ErrorKind::Other)).into_inner()?;
        inner.downcast().ok().map(|reason| *reason)
    }
}

impl From<UnsafePath> for io::Error {
    fn from(reason: UnsafePath) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, reason)
    }
}

impl DataDir {
    /// Makes sure that only this user can write to the data directory. If others may write to it, removes their
    /// permissions from it and from all files of rutter in it, and returns the previous mode. A missing directory is
    /// safe. A file in place of the directory fails later, when it is opened.
    ///
    /// Only a directory that contains nothing but files of rutter is closed: `RUTTER_HOME` may name any path, including
    /// `/tmp` and `/dev/null`.
    pub fn secure(&self) -> Result<Option<u32>, UnsafePath> {
        let Ok(found) = fs::metadata(&self.folder) else { return Ok(None) };
        if !found.is_dir() {
            return Ok(None);
        }
        check_owner(&self.folder, &found)?;
        let mode = found.mode() & 0o7777;
        if mode & WRITABLE_BY_OTHERS == 0 {
            return Ok(None);
        }
        match close_to_others(&self.folder) {
            Ok(_) => Ok(Some(mode)),
            // A read-only file system cannot be written, even if the mode allows it.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(None),
            Err(mut source) => Err(UnsafePath::extract(&mut source).unwrap_or_else(|| {
                UnsafePath::Writable { path: self.folder.clone(), mode, source }
            })),
        }
    }

    /// Explains why the memory cannot be written, with a command that fixes it.
    pub fn why_unwritable(&self) -> String {
        let folder = self.folder.to_line();
        let is_mounted_read_only = rustix::fs::statvfs(&self.folder)
            .is_ok_and(|disk| disk.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY));
        if is_mounted_read_only {
            format!(
                "{folder} is on a file system that is mounted read-only (mount it writable, or set RUTTER_HOME to another folder)"
            )
        } else {
            format!(
                "you may not write to {folder} or to a file in it (run `chmod -R u+w '{folder}'`, or set RUTTER_HOME to another folder)"
            )
        }
    }

    /// Returns the symbolic links in the data directory, except the user's configuration.
    pub fn symbolic_links(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for folder in
            [self.folder.clone(), self.spool(), self.log(), self.snapshots(), self.recordings()]
        {
            // A folder that is a link was found one level above.
            if folder != self.folder && !fs::symlink_metadata(&folder).is_ok_and(|at| at.is_dir()) {
                continue;
            }
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_symlink() && entry.file_name() != "config.toml" {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns the files and folders of the memory that belong to another user, or the data directory alone if it does.
    pub fn files_of_others(&self) -> io::Result<Vec<PathBuf>> {
        if !is_ours(&fs::metadata(&self.folder)?) {
            return Ok(vec![self.folder.clone()]);
        }
        let configuration = self.folder.join("config.toml");
        let mut found = walk(&self.folder)?;
        found.retain(|(path, metadata)| !is_ours(metadata) && *path != configuration);
        Ok(found.into_iter().map(|(path, _)| path).collect())
    }

    /// Returns the files and folders of the memory that others may read or write.
    pub fn open_to_others(&self) -> io::Result<Vec<PathBuf>> {
        open_to_others(&self.folder)
    }
}

/// Returns true if rutter stores a file of this name in its data directory.
fn is_own_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    OWN_NAMES.contains(&&*name) || OWN_NAME_PREFIXES.iter().any(|own| name.starts_with(own))
}

/// Returns true if a folder contains only files of rutter.
fn has_only_own_files(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if !is_own_name(&entry?.file_name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the folder and everything below it, sorted, without following links.
fn walk(folder: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    // The data directory itself may be a link.
    let mut rest = vec![(folder.to_owned(), fs::metadata(folder)?)];
    while let Some((path, metadata)) = rest.pop() {
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                let path = entry?.path();
                match fs::symlink_metadata(&path) {
                    Ok(metadata) => rest.push((path, metadata)),
                    // Another process removed it meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        found.push((path, metadata));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// Returns the folder and its files of rutter, as far as others may read or write them. The modes of the user's own
/// files, including the configuration, are up to the user.
fn open_to_others(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let configuration = folder.join("config.toml");
    let mut found = walk(folder)?;
    found.retain(|(path, metadata)| {
        let first = path.strip_prefix(folder).ok().and_then(|path| path.iter().next());
        metadata.mode() & OPEN_TO_OTHERS != 0
            && !metadata.is_symlink()
            && *path != configuration
            && first.is_none_or(is_own_name)
    });
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// Removes all rights of others from a data directory and all files of rutter in it. Returns the changed paths.
pub(crate) fn close_to_others(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let found = fs::metadata(folder)?;
    let mode = found.mode() & 0o7777;
    let is_shared =
        mode & STICKY_BIT != 0 || (mode & WRITABLE_BY_OTHERS != 0 && !has_only_own_files(folder)?);
    if !found.is_dir() || is_shared {
        return Err(UnsafePath::Shared { path: folder.to_owned(), mode }.into());
    }
    let close = |path: &Path| {
        let mode = fs::symlink_metadata(path)?.mode();
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7700))
    };
    // The folder comes first, so that no other user can add files from then on.
    if mode & OPEN_TO_OTHERS != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o7700))?;
    }
    let mut changed = open_to_others(folder)?;
    changed.retain(|path| path != folder);
    for path in &changed {
        match close(path) {
            // It belongs to another user, which is an error when it is opened.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            done => done?,
        }
    }
    if mode & OPEN_TO_OTHERS != 0 {
        changed.insert(0, folder.to_owned());
    }
    Ok(changed)
}

/// Returns true if a file belongs to this user or to root, who can change every file anyway.
fn is_ours(metadata: &Metadata) -> bool {
    metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw()
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), UnsafePath> {
    if is_ours(metadata) {
        return Ok(());
    }
    Err(UnsafePath::Owner { path: path.to_owned(), owner: metadata.uid() })
}

/// Checks the file at a path inside the data directory. Returns None if it does not exist.
pub fn check_path(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(UnsafePath::Link(path.to_owned()).into()),
        Ok(found) => {
            check_owner(path, &found)?;
            if !found.is_file() && !found.is_dir() {
                return Err(UnsafePath::NotPlain(path.to_owned()).into());
            }
            Ok(Some(found))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a file inside the data directory. Fails if a symbolic link, a file of another user or anything but a regular
/// file is in its place. The options come from [`private_options`](super::private_options) or [`read_options`](super::read_options), which
/// follow no link and wait for no pipe.
pub fn open_own(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => {
            UnsafePath::Link(path.to_owned()).into()
        }
        // A pipe without a reader.
        Some(code) if code == Errno::NXIO.raw_os_error() => {
            UnsafePath::NotPlain(path.to_owned()).into()
        }
        _ => error,
    })?;
    let metadata = file.metadata()?;
    check_owner(path, &metadata)?;
    if !metadata.is_file() {
        return Err(UnsafePath::NotPlain(path.to_owned()).into());
    }
    Ok(file)
}

/// Reads a file inside the data directory. Fails if a symbolic link, a file of another user or anything but a regular
/// file is in its place.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_own(path, &super::read_options())?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text file inside the data directory, under the conditions of [`read_own`].
pub fn read_own_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_own(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}
