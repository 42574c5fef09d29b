//! Reads and safely replaces files of the user and the client.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use rutter_memory::quote::PathLine as _;

use super::document::MalformedFile;
use crate::{CommandError, CommandResult};

/// Mode of new files. Only the owner has access, because settings may hold keys.
const NEW_FILE_MODE: u32 = 0o600;

/// A file as it was when it was read.
#[derive(Debug)]
pub(crate) struct FileContents {
    /// Path as given by the caller.
    path: PathBuf,
    /// Path without symbolic links. A link stays a link, and its target is written.
    target: PathBuf,
    /// None if the file does not exist.
    bytes: Option<Vec<u8>>,
}

/// The text of a file.
pub(crate) struct FileText<'a> {
    /// The byte order mark before the text, or an empty string. The client skips it.
    mark: &'static str,
    pub(crate) body: &'a str,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl FileText<'_> {
    /// Returns the bytes of a new text, with the same byte order mark.
    pub(crate) fn encode(&self, body: &str) -> Vec<u8> {
        [self.mark, body].concat().into_bytes()
    }
}

impl FileContents {
    pub(crate) fn load(path: &Path) -> CommandResult<Self> {
        let refused = |what: &str| {
            CommandError::Refused(format!(
                "{} {what}; nothing was changed; fix that and try again",
                path.to_line()
            ))
        };
        let failed = |error: io::Error| refused(&format!("cannot be read: {error}"));
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(link) = path.ancestors().skip(1).find(|folder| folder.is_symlink())
                    && !link.exists()
                {
                    return Err(refused(&format!(
                        "is in {}, a broken symbolic link",
                        link.to_line()
                    )));
                }
                let target = match (path.parent().map(Path::canonicalize), path.file_name()) {
                    (Some(Ok(folder)), Some(name)) => folder.join(name),
                    _ => path.to_owned(),
                };
                return Ok(Self { path: path.to_owned(), target, bytes: None });
            }
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let target = path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => refused("is a broken symbolic link"),
            _ => failed(error),
        })?;
        // Reading a pipe might never end.
        if !target.metadata().map_err(failed)?.is_file() {
            return Err(refused("is not a file"));
        }
        let bytes = fs::read(&target).map_err(failed)?;
        Ok(Self { path: path.to_owned(), target, bytes: Some(bytes) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path without symbolic links.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Returns the number of missing folders above the file.
    pub(crate) fn missing_folders(&self) -> usize {
        self.target.ancestors().skip(1).take_while(|folder| !folder.exists()).count()
    }

    /// Removes up to this many empty folders above the file, the innermost first. Returns the number of folders that
    /// remain.
    pub(crate) fn remove_folders(&self, folders: usize) -> usize {
        // The system refuses to remove a folder that is not empty.
        let around = self.target.ancestors().skip(1).take(folders);
        folders - around.take_while(|folder| fs::remove_dir(folder).is_ok()).count()
    }

    /// Returns the text of the file, which is empty if the file does not exist.
    pub(crate) fn decode(&self) -> Result<FileText<'_>, MalformedFile> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        let text = str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            MalformedFile::unreadable(&valid, valid.len(), "this is not UTF-8")
        })?;
        Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(body) => FileText { mark: BYTE_ORDER_MARK, body },
            None => FileText { mark: "", body: text },
        })
    }

    /// Replaces the content, or deletes the file, if it has not changed since it was read.
    pub(crate) fn replace(&self, after: Option<&[u8]>) -> CommandResult {
        self.try_replace(after).map_err(|error| self.write_failure(&error))
    }

    /// Does the same as `replace`, but reports a concurrent change as [busy](io::ErrorKind::ResourceBusy).
    pub(super) fn try_replace(&self, after: Option<&[u8]>) -> io::Result<()> {
        let missing = if after.is_some() { self.missing_folders() } else { 0 };
        if missing > 0
            && let Some(folder) = self.target.parent()
        {
            fs::create_dir_all(folder)?;
        }
        let done = match after {
            Some(after) => self.write(after),
            None => self.check_unchanged().and_then(|()| fs::remove_file(&self.target)),
        };
        done.inspect_err(|_| {
            self.remove_folders(missing);
        })
    }

    fn write(&self, after: &[u8]) -> io::Result<()> {
        let folder = self.target.parent().ok_or(io::ErrorKind::NotFound)?;
        if folder.metadata()?.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "its folder is read-only"));
        }
        // The temporary file is removed on every early return.
        let mut beside = tempfile::Builder::new()
            .prefix(".rutter-")
            .permissions(fs::Permissions::from_mode(NEW_FILE_MODE))
            .tempfile_in(folder)?;
        beside.write_all(after)?;
        if self.bytes.is_some() {
            // A rename does not check write permission on the file that it replaces.
            let old = OpenOptions::new().write(true).open(&self.target)?.metadata()?;
            if old.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
            }
            let new = beside.as_file().metadata()?;
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                fchown(beside.as_file(), Some(old.uid()), Some(old.gid()))?;
            }
            beside.as_file().set_permissions(old.permissions())?;
        }
        beside.as_file().sync_all()?;
        self.check_unchanged()?;
        match self.bytes {
            Some(_) => beside.persist(&self.target)?,
            None => beside.persist_noclobber(&self.target)?,
        };
        // Makes the rename survive a power cut. If the folder cannot be synced, nothing more can be done.
        drop(File::open(folder).and_then(|folder| folder.sync_all()));
        Ok(())
    }

    /// Fails if the file has changed since it was read.
    fn check_unchanged(&self) -> io::Result<()> {
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now == self.bytes {
            return Ok(());
        }
        let what = "another program changed it just now";
        Err(io::Error::new(io::ErrorKind::ResourceBusy, what))
    }

    pub(super) fn write_failure(&self, error: &io::Error) -> CommandError {
        CommandError::Refused(format!(
            "could not write {}: {error}; nothing was changed; fix that and try again",
            self.path.to_line()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_file(path: &Path, text: &str) {
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn file_names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn keeps_concurrently_changed_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let absent = FileContents::load(&path).unwrap();
        write_file(&path, "one");
        let one = FileContents::load(&path).unwrap();
        write_file(&path, "two");
        for (contents, after) in
            [(&absent, Some(&b"mine"[..])), (&one, Some(b"mine")), (&one, None)]
        {
            let failure = contents.replace(after).unwrap_err().to_string();
            assert!(failure.contains("another program changed it"), "{failure}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "two");
            assert_eq!(file_names(folder.path()), ["file"]);
        }
        FileContents::load(&path).unwrap().replace(Some(b"three")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        FileContents::load(&path).unwrap().replace(None).unwrap();
        assert!(file_names(folder.path()).is_empty());
    }

    #[test]
    fn rejects_non_files() {
        let folder = tempfile::tempdir().unwrap();
        let failure = FileContents::load(folder.path()).unwrap_err().to_string();
        assert!(failure.contains("is not a file; nothing was changed"), "{failure}");
    }
}
