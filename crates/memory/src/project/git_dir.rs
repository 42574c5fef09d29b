//! Git directories: finds the target of a `.git`, and decides if it can be trusted.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::config::Config;
use super::{Ignored, owner, place};

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
    Ignored(Ignored),
    Absent,
}

impl DotGit {
    /// Reads the `.git` of a folder.
    pub(super) fn of(folder: &Path) -> Self {
        let path = folder.join(".git");
        let Ok(mut metadata) = path.symlink_metadata() else { return Self::Absent };
        let is_link = metadata.is_symlink();
        if is_link {
            // The owner of a link chooses its target, even one that belongs to the user.
            if !owner::is_trusted(metadata.uid()) {
                return Self::Ignored(Ignored::ForeignOwner(path));
            }
            match path.metadata() {
                Ok(target) => metadata = target,
                Err(_) => return Self::Absent,
            }
        }
        if !owner::is_trusted(metadata.uid()) {
            return Self::Ignored(Ignored::ForeignOwner(path));
        }
        if !metadata.is_file() {
            // An empty or damaged folder counts as absent.
            let found = GitDir::at(&path, !is_link);
            return found.map_or(Self::Absent, Self::leads);
        }
        let Some(text) = place::read(&path, MAX_LINE_BYTES) else { return Self::Broken };
        let Some(target) = text.strip_prefix(b"gitdir: ") else { return Self::Broken };
        let target = folder.join(place::path(line(target)));
        match target.metadata() {
            Ok(found) if !owner::is_trusted(found.uid()) => {
                Self::Ignored(Ignored::ForeignOwner(target))
            }
            Ok(_) => GitDir::at(&target, false).map_or(Self::Broken, Self::leads),
            Err(_) => Self::Broken,
        }
    }

    fn leads(git_dir: GitDir) -> Self {
        // The owner of the directory that a worktree shares was not checked yet.
        if git_dir.is_linked && !git_dir.is_owned() {
            return Self::Ignored(Ignored::ForeignOwner(git_dir.common));
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
    pub(super) fn at(path: &Path, is_plain: bool) -> Option<Self> {
        let Head { branch } = Head::read(&path.join("HEAD"))?;
        let shared = place::read(&path.join("commondir"), MAX_LINE_BYTES)
            .map(|shared| path.join(place::path(line(&shared))));
        // Only a worktree of a repository can share it, and its git directory is in `worktrees` of that repository.
        let shared = shared.filter(|common| {
            let worktrees = canonical(common).join("worktrees");
            canonical(path).parent() == Some(worktrees.as_path())
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
            .all(|path| path.metadata().is_ok_and(|found| owner::is_trusted(found.uid())))
    }

    /// Reads the configuration. Also returns the path of a file that is too large.
    pub(super) fn read_config(&self) -> (Config, Option<PathBuf>) {
        let mut config = Config::default();
        let mut too_large = None;
        let mut add =
            |config: &mut Config, path: PathBuf| match place::read(&path, MAX_CONFIG_BYTES) {
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
        if config.is_true(b"extensions.worktreeconfig") {
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
    pub(super) fn belongs_to(&self, folder: &Path, config: &Config) -> bool {
        if self.is_plain {
            return true;
        }
        if self.is_linked {
            // Compares the folders, because the file may be another link to the same one.
            let back = self.worktree_dot_git();
            let named =
                back.as_deref().filter(|back| back.ends_with(".git")).and_then(Path::parent);
            return named.is_some_and(|named| is_same(named, folder));
        }
        match config.last(b"core.worktree") {
            Some(named) => is_same(&self.path.join(place::path(named)), folder),
            // A bare repository belongs to no folder, unless it is inside of it.
            None if config.is_true(b"core.bare") => {
                canonical(&self.path).starts_with(canonical(folder))
            }
            None => !canonical(&self.path).ends_with(".git"),
        }
    }

    /// Returns the work tree of a git directory that was found from the inside, or the git directory itself. The work
    /// tree's `.git` has to lead back here: a git directory must not claim any folder that it names.
    pub(super) fn work_tree(&self, config: &Config) -> PathBuf {
        let git_dir = canonical(&self.path);
        let named = if self.is_linked {
            self.worktree_dot_git().and_then(|back| back.parent().map(Path::to_owned))
        } else {
            config.last(b"core.worktree").map(|named| self.path.join(place::path(named)))
        };
        if let Some(named) = named.and_then(|named| named.canonicalize().ok())
            && let DotGit::Leads(back) = DotGit::of(&named)
            && canonical(&back.path) == git_dir
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
        let text = place::read(&self.path.join("gitdir"), MAX_LINE_BYTES)?;
        Some(self.path.join(place::path(line(&text))))
    }
}

/// Returns true if two paths lead to the same folder, also through a bind mount.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// The content of `HEAD`.
struct Head {
    branch: Option<String>,
}

impl Head {
    /// Reads a `HEAD` that git accepts: symbolic, as text or as an old-style link, or a commit id.
    fn read(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            let target = path.read_link().ok()?;
            return Self::symbolic(target.as_os_str().as_encoded_bytes());
        }
        let text = place::read(path, MAX_LINE_BYTES)?;
        if let Some(target) = text.strip_prefix(b"ref:") {
            return Self::symbolic(target.trim_ascii_start());
        }
        let id = text.get(..40)?.iter().all(u8::is_ascii_hexdigit);
        id.then_some(Self { branch: None })
    }

    fn symbolic(target: &[u8]) -> Option<Self> {
        let name = target.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
        if !name.starts_with(b"refs/") {
            return None;
        }
        let branch = name.strip_prefix(b"refs/heads/");
        // The placeholder of a reftable repository, for programs that do not support it.
        let branch = branch.filter(|branch| *branch != b".invalid" && !branch.is_empty());
        Some(Self { branch: branch.map(|branch| place::spell(place::path(branch))) })
    }
}

/// Returns the text of a file with one line, without the line end.
fn line(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &text[..end.map_or(0, |end| end + 1)]
}

pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| place::settle(path))
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
            Head::read(&path).map(|head| head.branch.unwrap_or_else(|| "-".to_owned()))
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
