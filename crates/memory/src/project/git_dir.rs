//! Git directories: finds the target of a `.git`, and decides if it can be trusted.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::config::GitConfig;
use super::{IgnoredGitFile, owner, place};

/// Maximum size of a file that contains one name or path.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// Maximum size of a configuration. That of a real repository has a few hundred bytes per branch and remote.
const MAX_CONFIG_BYTES: u64 = 1 << 18;

/// The result of reading the `.git` of a folder.
pub(super) enum DotGit {
    /// A git directory that is owned by the user. [`GitDir::belongs_to`] checks if it belongs to this folder.
    Leads(GitDir),
    /// A `.git` file without a valid target.
    Broken,
    /// A git directory that is not read.
    Ignored(IgnoredGitFile),
    Absent,
}

impl DotGit {
    /// Reads the `.git` of a folder.
    pub(super) fn inspect(folder: &Path) -> Self {
        let path = folder.join(".git");
        let Ok(mut metadata) = path.symlink_metadata() else { return Self::Absent };
        let is_link = metadata.is_symlink();
        if is_link {
            // The owner of a link chooses its target, even one that belongs to the user.
            if !owner::is_trusted_owner(metadata.uid()) {
                return Self::Ignored(IgnoredGitFile::ForeignOwner(path));
            }
            match path.metadata() {
                Ok(target) => metadata = target,
                Err(_) => return Self::Absent,
            }
        }
        if !owner::is_trusted_owner(metadata.uid()) {
            return Self::Ignored(IgnoredGitFile::ForeignOwner(path));
        }
        if !metadata.is_file() {
            // An empty or damaged folder counts as absent.
            let found = GitDir::open(&path, !is_link);
            return found.map_or(Self::Absent, Self::check_common_owner);
        }
        let Some(text) = place::read_regular_file(&path, MAX_LINE_BYTES) else {
            return Self::Broken;
        };
        let Some(target) = text.strip_prefix(b"gitdir: ") else { return Self::Broken };
        let target = folder.join(place::path_from_bytes(trim_line_end(target)));
        match target.metadata() {
            Ok(found) if !owner::is_trusted_owner(found.uid()) => {
                Self::Ignored(IgnoredGitFile::ForeignOwner(target))
            }
            Ok(_) => GitDir::open(&target, false).map_or(Self::Broken, Self::check_common_owner),
            Err(_) => Self::Broken,
        }
    }

    fn check_common_owner(git_dir: GitDir) -> Self {
        // The owner of the directory that a worktree shares was not checked yet.
        if git_dir.is_linked && !git_dir.is_owned() {
            return Self::Ignored(IgnoredGitFile::ForeignOwner(git_dir.common));
        }
        Self::Leads(git_dir)
    }
}

/// A git directory: it has a `HEAD`, and objects and refs, which a worktree shares with another directory.
pub(super) struct GitDir {
    pub(super) path: PathBuf,
    /// The directory that all worktrees share.
    pub(super) common: PathBuf,
    /// True for a linked worktree, which shares the objects and refs of another git directory.
    pub(super) is_linked: bool,
    /// True if it is the `.git` folder itself, and not the target of a file or link of that name.
    is_plain: bool,
    pub(super) branch: Option<String>,
}

impl GitDir {
    /// Opens the git directory at this path, with the same checks as git.
    pub(super) fn open(path: &Path, is_plain: bool) -> Option<Self> {
        let GitHead { branch } = GitHead::read(&path.join("HEAD"))?;
        let shared = place::read_regular_file(&path.join("commondir"), MAX_LINE_BYTES)
            .map(|shared| path.join(place::path_from_bytes(trim_line_end(&shared))));
        // Only a worktree of a repository can share it, and its git directory is in `worktrees` of that repository.
        let shared = shared.filter(|common| {
            let worktrees = canonical_or_given(common).join("worktrees");
            canonical_or_given(path).parent() == Some(worktrees.as_path())
        });
        let is_linked = shared.is_some();
        let common = shared.unwrap_or_else(|| path.to_owned());
        for part in ["objects", "refs"] {
            rustix::fs::access(common.join(part), Access::EXEC_OK).ok()?;
        }
        Some(Self { path: path.to_owned(), common, is_linked, is_plain, branch })
    }

    /// Returns true if this directory and the one that it shares belong to the user.
    pub(super) fn is_owned(&self) -> bool {
        [&self.path, &self.common]
            .into_iter()
            .all(|path| path.metadata().is_ok_and(|found| owner::is_trusted_owner(found.uid())))
    }

    /// Reads the configuration. Also returns the path of a file that is too large.
    pub(super) fn read_config(&self) -> (GitConfig, Option<PathBuf>) {
        let mut config = GitConfig::default();
        let mut too_large = None;
        let mut add = |config: &mut GitConfig, path: PathBuf| match place::read_regular_file(
            &path,
            MAX_CONFIG_BYTES,
        ) {
            Some(text) => drop(config.add(&text)),
            None if path
                .metadata()
                .is_ok_and(|found| found.is_file() && found.len() > MAX_CONFIG_BYTES) =>
            {
                too_large = Some(path);
            }
            None => {}
        };
        add(&mut config, self.common.join("config"));
        // A linked worktree with a remote of its own would be in another project than its repository.
        if !self.is_linked && config.is_true(b"extensions.worktreeconfig") {
            add(&mut config, self.path.join("config.worktree"));
        }
        (config, too_large)
    }

    /// Returns true if the folder that led here by its `.git` is a checkout of this repository.
    ///
    /// A `.git` file or link can name any git directory of the machine, and an archive can contain one. A linked
    /// worktree is named in its git directory, a submodule in `core.worktree`. The folder of `git init
    /// --separate-git-dir` is named nowhere; then it is enough that the git directory is not the `.git` of another
    /// folder.
    pub(super) fn belongs_to(&self, folder: &Path, config: &GitConfig) -> bool {
        if self.is_plain {
            return true;
        }
        if self.is_linked {
            // Compares the folders, because the file may be another link to the same one.
            let back = self.worktree_dot_git();
            let named =
                back.as_deref().filter(|back| back.ends_with(".git")).and_then(Path::parent);
            return named.is_some_and(|named| is_same_folder(named, folder));
        }
        match config.last_value(b"core.worktree") {
            Some(named) => is_same_folder(&self.path.join(place::path_from_bytes(named)), folder),
            // A bare repository belongs to no folder, unless it is inside of it.
            None if config.is_true(b"core.bare") => {
                canonical_or_given(&self.path).starts_with(canonical_or_given(folder))
            }
            None => !canonical_or_given(&self.path).ends_with(".git"),
        }
    }

    /// Returns the work tree of a git directory that was found from the inside, or the git directory itself. The work
    /// tree's `.git` has to lead back here: a git directory must not claim any folder that it names.
    pub(super) fn work_tree(&self, config: &GitConfig) -> PathBuf {
        let git_dir = canonical_or_given(&self.path);
        let named = if self.is_linked {
            self.worktree_dot_git().and_then(|back| back.parent().map(Path::to_owned))
        } else {
            config
                .last_value(b"core.worktree")
                .map(|named| self.path.join(place::path_from_bytes(named)))
        };
        if let Some(named) = named.and_then(|named| named.canonicalize().ok())
            && let DotGit::Leads(back) = DotGit::inspect(&named)
            && canonical_or_given(&back.path) == git_dir
        {
            return named;
        }
        match git_dir.parent() {
            Some(parent) if git_dir.ends_with(".git") && !config.is_true(b"core.bare") => {
                parent.to_owned()
            }
            _ => git_dir,
        }
    }

    /// Returns the path of a linked worktree's `.git` file, from its git directory.
    fn worktree_dot_git(&self) -> Option<PathBuf> {
        let text = place::read_regular_file(&self.path.join("gitdir"), MAX_LINE_BYTES)?;
        Some(self.path.join(place::path_from_bytes(trim_line_end(&text))))
    }
}

/// Returns true if two paths lead to the same folder, also through a bind mount.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// The content of `HEAD`.
struct GitHead {
    branch: Option<String>,
}

impl GitHead {
    /// Reads a `HEAD` that git accepts: symbolic, as text or as an old-style link, or a commit id.
    fn read(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            let target = path.read_link().ok()?;
            return Self::parse_symbolic(target.as_os_str().as_encoded_bytes());
        }
        let text = place::read_regular_file(path, MAX_LINE_BYTES)?;
        if let Some(target) = text.strip_prefix(b"ref:") {
            return Self::parse_symbolic(target.trim_ascii_start());
        }
        let id = text.get(..40)?.iter().all(u8::is_ascii_hexdigit);
        id.then_some(Self { branch: None })
    }

    fn parse_symbolic(target: &[u8]) -> Option<Self> {
        let name = target.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
        if !name.starts_with(b"refs/") {
            return None;
        }
        let branch = name.strip_prefix(b"refs/heads/");
        // The placeholder of a reftable repository, for programs that do not support it.
        let branch = branch.filter(|branch| *branch != b".invalid" && !branch.is_empty());
        Some(Self {
            branch: branch.map(|branch| place::spell_path(place::path_from_bytes(branch))),
        })
    }
}

/// Returns the text of a file with one line, without the line end.
fn trim_line_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &text[..end.map_or(0, |end| end + 1)]
}

pub(super) fn canonical_or_given(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| place::canonical_folder(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_symbolic_or_an_id() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("HEAD");
        let head = |text: &[u8]| {
            let mut file = std::fs::File::create(&path).unwrap();
            std::io::Write::write_all(&mut file, text).unwrap();
            GitHead::read(&path).map(|head| head.branch.unwrap_or_else(|| "-".to_owned()))
        };
        assert_eq!(head(b"ref: refs/heads/main\n").as_deref(), Some("main"));
        assert_eq!(head(b"ref:refs/heads/a/b \r\n").as_deref(), Some("a/b"));
        assert_eq!(head(b"ref: refs/heads/\xff").as_deref(), Some("%FF"));
        assert_eq!(head(b"ref: refs/heads/.invalid\n").as_deref(), Some("-"));
        assert_eq!(head(b"ref: refs/bisect/x\n").as_deref(), Some("-"));
        assert_eq!(head(&[b'a'; 40]).as_deref(), Some("-"));
        assert_eq!(head(&[b'0'; 64]).as_deref(), Some("-"));
        assert_eq!(head(b""), None);
        assert_eq!(head(b"ref: main\n"), None);
        assert_eq!(head(&[b'a'; 39]), None);
        assert_eq!(head(&[b'g'; 40]), None);
    }
}
