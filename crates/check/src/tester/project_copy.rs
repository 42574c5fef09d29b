//! A copy of a project for hooks, which may change anything.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use thiserror::Error;

/// Largest project that is copied.
pub const MAX_COPY_BYTES: u64 = 100 * 1024 * 1024;
/// Number of files and folders up to which a project is copied.
const MAX_COPY_ENTRIES: usize = 50_000;
/// Folders that are left out: they are large, and hooks hardly read them.
const SKIPPED_FOLDERS: [&str; 3] = [".git", "node_modules", "target"];

/// The reason for which a project was not copied.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The project is larger than [`MAX_COPY_BYTES`], or has too many files.
    #[error("the project has more than 100 MB or 50000 files")]
    TooLarge,
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The result of copying a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedProject {
    /// Number of copied files.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
    /// Number of folders that were left out.
    pub skipped_folders: usize,
    /// Number of files that could not be read.
    pub unreadable: usize,
}

/// Copies a project without its repository and its dependencies. A repository becomes an empty one on the same branch.
pub fn copy_project(from: &Path, to: &Path) -> Result<CopiedProject, CopyError> {
    let mut copied = CopiedProject::default();
    let mut entries = 0_usize;
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((source, target)) = folders.pop() {
        fs::create_dir_all(&target)?;
        let Ok(list) = fs::read_dir(&source) else {
            copied.unreadable += 1;
            continue;
        };
        for entry in list {
            let entry = entry?;
            entries += 1;
            if entries > MAX_COPY_ENTRIES {
                return Err(CopyError::TooLarge);
            }
            let (path, name) = (entry.path(), entry.file_name());
            let target = target.join(&name);
            // A copy may lie below the project, for example in its `tmp` folder.
            if path == to {
                continue;
            }
            let kind = entry.file_type()?;
            let is_skipped = SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped);
            if kind.is_dir() && is_skipped {
                copied.skipped_folders += 1;
                if name == ".git" {
                    create_empty_repository(&path, &target)?;
                }
            } else if kind.is_dir() {
                folders.push((path, target));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&path)?, &target)?;
            } else if kind.is_file() {
                copied.bytes += entry.metadata()?.len();
                if copied.bytes > MAX_COPY_BYTES {
                    return Err(CopyError::TooLarge);
                }
                match fs::copy(&path, &target) {
                    Ok(_) => copied.files += 1,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        copied.unreadable += 1;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(copied)
}

/// Creates a repository without commits, on the branch of another one.
fn create_empty_repository(from: &Path, to: &Path) -> io::Result<()> {
    for folder in ["objects", "refs/heads"] {
        fs::create_dir_all(to.join(folder))?;
    }
    let head = fs::read_to_string(from.join("HEAD")).ok();
    let head = head.filter(|head| head.starts_with("ref: "));
    let head = head.unwrap_or_else(|| "ref: refs/heads/main\n".to_owned());
    File::create(to.join("HEAD"))?.write_all(head.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_file(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn copies_without_repository_and_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write_file(&from.join("src/a.sh"), "echo");
        write_file(&from.join(".git/HEAD"), "ref: refs/heads/topic\n");
        write_file(&from.join(".git/objects/pack/big"), "x");
        write_file(&from.join("web/node_modules/x/index.js"), "x");
        std::os::unix::fs::symlink("src/a.sh", from.join("link")).unwrap();
        let copied = copy_project(&from, &to).unwrap();
        assert_eq!((copied.files, copied.bytes, copied.skipped_folders), (1, 4, 2));
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "echo");
        assert_eq!(fs::read_to_string(to.join(".git/HEAD")).unwrap(), "ref: refs/heads/topic\n");
        assert!(!to.join(".git/objects/pack").exists() && !to.join("web/node_modules").exists());
    }

    #[test]
    fn refuses_large_project() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        write_file(&from.join("big"), "");
        File::options()
            .write(true)
            .open(from.join("big"))
            .unwrap()
            .set_len(MAX_COPY_BYTES + 1)
            .unwrap();
        let error = copy_project(&from, &folder.path().join("to")).unwrap_err();
        assert!(matches!(error, CopyError::TooLarge), "{error}");
    }

    #[test]
    fn copy_below_project_ends() {
        let folder = tempfile::tempdir().unwrap();
        write_file(&folder.path().join("a"), "a");
        let copied = copy_project(folder.path(), &folder.path().join("tmp-copy")).unwrap();
        assert_eq!(copied.files, 1);
    }
}
