//! The folder under which the client stores its data about a folder: one for a whole repository.
//!
//! Measured on 2.1.325 and 2.1.197, by their search for the servers of a folder: the nearest folder upwards that
//! contains anything named `.git`; for a worktree the main checkout, or the bare repository itself. The client checks
//! less than git does, so code that finds repositories as git does gives other results and cannot be used here.

use std::path::{Path, PathBuf};

use super::file::read_regular_file;

/// Largest file of a git folder that is read. Such a file holds one path.
const MAX_POINTER_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the folder under which the client stores its data about this one, without symbolic links.
pub fn client_storage_folder(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match folder.ancestors().find(|folder| folder.join(".git").exists()) {
        Some(root) => main_checkout(root).unwrap_or_else(|| root.to_owned()),
        None => folder,
    }
}

/// Returns the main checkout of a worktree. Returns None if the folder is not a worktree known to its repository.
fn main_checkout(root: &Path) -> Option<PathBuf> {
    // `.git` may be anything. The read does not block on a pipe.
    let line = |path: PathBuf| {
        let bytes = read_regular_file(&path, MAX_POINTER_BYTES).ok()?;
        Some(str::from_utf8(&bytes).ok()?.trim().to_owned())
    };
    let pointer = line(root.join(".git"))?;
    let own = root.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = own.join(line(own.join("commondir"))?).canonicalize().ok()?;
    if own.parent()? != common.join("worktrees") {
        return None;
    }
    let back = Path::new(&line(own.join("gitdir"))?).canonicalize().ok()?;
    if back != root.join(".git") {
        return None;
    }
    if common.file_name()? == ".git" { common.parent().map(Path::to_owned) } else { Some(common) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn write_file(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn subfolder_uses_repository_root() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        let deep = top.join("work/a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(client_storage_folder(&deep), deep);
        fs::create_dir(top.join("work/.git")).unwrap();
        assert_eq!(client_storage_folder(&deep), top.join("work"));
        std::os::unix::fs::symlink(&deep, top.join("link")).unwrap();
        assert_eq!(client_storage_folder(&top.join("link")), top.join("work"));
        // Any file named `.git` counts.
        write_file(&top.join("work/a/.git"), "junk");
        assert_eq!(client_storage_folder(&deep), top.join("work/a"));
        assert_eq!(client_storage_folder(&top.join("gone")), top.join("gone"));
    }

    #[test]
    fn worktree_uses_main_checkout() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        let tree = top.join("tree");
        for (repository, expected) in [("main/.git", "main"), ("bare.git", "bare.git")] {
            let own = top.join(repository).join("worktrees/tree");
            write_file(&tree.join(".git"), &format!("gitdir: {}\n", own.display()));
            assert_eq!(client_storage_folder(&tree), tree, "its repository is gone");
            write_file(&own.join("commondir"), "../..\n");
            write_file(&own.join("gitdir"), &format!("{}\n", top.join("other/.git").display()));
            assert_eq!(
                client_storage_folder(&tree),
                tree,
                "its repository has another in its place"
            );
            write_file(&own.join("gitdir"), &format!("{}\n", tree.join(".git").display()));
            assert_eq!(client_storage_folder(&tree), top.join(expected));
        }
        // A submodule has a separate git folder as well, but is not a worktree.
        write_file(&top.join("main/.git/modules/sub/HEAD"), "ref: refs/heads/main\n");
        write_file(&top.join("main/sub/.git"), "gitdir: ../.git/modules/sub\n");
        assert_eq!(client_storage_folder(&top.join("main/sub")), top.join("main/sub"));
    }
}
