//! Finding the repository that a folder is in, as git finds it.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::config::Config;
use super::place;

/// The most that is read of a configuration, and of a `.git` file: git's own limit for the latter.
const FILE_LIMIT: u64 = 1 << 20;

/// The most that is read of a file that holds one name or path.
const LINE_LIMIT: u64 = 1 << 16;

/// A repository, seen from one of its work trees. Paths are canonical.
pub(super) struct Repository {
    /// The folder of the work tree; of a bare repository, the git directory.
    pub(super) root: PathBuf,
    /// The one folder that stands for all its worktrees: the main one, or the bare repository.
    pub(super) home: PathBuf,
    /// The git directory that its worktrees share.
    pub(super) common_dir: PathBuf,
    /// The branch checked out here.
    pub(super) branch: Option<String>,
    /// Its own configuration.
    pub(super) config: Config,
}

/// What a walk upwards ends at.
pub(super) enum Found {
    Repository(Repository),
    /// A `.git` file that leads nowhere, as in a worktree whose repository was moved. git gives up at it rather
    /// than take the repository around it for this one; so the folder that holds it is a place of its own.
    Broken(PathBuf),
    Nothing,
}

/// Looks for a repository in a folder and those around it.
pub(super) fn discover(folder: &Path) -> Found {
    for around in folder.ancestors() {
        match dot_git(around) {
            DotGit::Leads(git_dir) => {
                return Found::Repository(Repository::open(git_dir, Some(around)));
            }
            DotGit::Broken => return Found::Broken(around.to_owned()),
            DotGit::Absent => {}
        }
        // The inside of a `.git`. A bare repository is not taken for one, as with git's `safe.bareRepository=explicit`: a clone
        // can have its files, and would choose by them whose memory it is given. What is called `.git` no clone can have.
        if around.components().any(|part| part.as_os_str() == ".git")
            && let Some(git_dir) = GitDir::at(around)
        {
            return Found::Repository(Repository::open(git_dir, None));
        }
    }
    Found::Nothing
}

impl Repository {
    /// The repository that git would fetch from, given this path.
    pub(super) fn served_at(path: &Path) -> Option<Self> {
        let mut with_suffix = path.as_os_str().to_owned();
        with_suffix.push(".git");
        for folder in [path, Path::new(&with_suffix)] {
            if let DotGit::Leads(git_dir) = dot_git(folder) {
                return Some(Self::open(git_dir, Some(folder)));
            }
            if let Some(git_dir) = GitDir::at(folder) {
                return Some(Self::open(git_dir, None));
            }
        }
        None
    }

    /// A short name for people.
    pub(super) fn name(&self) -> String {
        name_of(&self.home)
    }

    fn open(git_dir: GitDir, work_tree: Option<&Path>) -> Self {
        let common_dir = canonical(&git_dir.common);
        let linked = git_dir.linked;
        let mut config = Config::default();
        config.add(&place::read(&common_dir.join("config"), FILE_LIMIT).unwrap_or_default());
        if config.is_true(b"extensions.worktreeconfig") {
            let own = git_dir.path.join("config.worktree");
            config.add(&place::read(&own, FILE_LIMIT).unwrap_or_default());
        }
        let root = git_dir.work_tree(work_tree, &config);
        let home = match common_dir.parent() {
            _ if !linked => root.clone(),
            Some(main) if common_dir.ends_with(".git") => main.to_owned(),
            _ => common_dir.clone(),
        };
        Self { root, home, common_dir, branch: git_dir.branch, config }
    }
}

/// The name of a repository in this folder: `x` of `/srv/x`, `/srv/x.git` and `/srv/x/.bare`.
pub(super) fn name_of(folder: &Path) -> String {
    let name = place::last_name(folder);
    let plain = name.strip_suffix(".git").unwrap_or(&name);
    match folder.parent() {
        Some(parent) if plain.is_empty() || plain == ".bare" => place::last_name(parent),
        _ => plain.to_owned(),
    }
}

/// The index of a work tree, and the length of the hashes in it.
pub(super) fn index_of(work_tree: &Path) -> Option<(PathBuf, usize)> {
    let DotGit::Leads(git_dir) = dot_git(work_tree) else { return None };
    let mut config = Config::default();
    config.add(&place::read(&git_dir.common.join("config"), FILE_LIMIT).unwrap_or_default());
    let is_sha256 = config.last(b"extensions.objectformat").is_some_and(|name| name == b"sha256");
    Some((git_dir.path.join("index"), if is_sha256 { 32 } else { 20 }))
}

enum DotGit {
    Leads(GitDir),
    Broken,
    Absent,
}

/// What the `.git` of a folder leads to.
fn dot_git(folder: &Path) -> DotGit {
    let path = folder.join(".git");
    match path.metadata() {
        Err(_) => DotGit::Absent,
        Ok(metadata) if metadata.is_file() => {
            let target = place::read(&path, FILE_LIMIT).and_then(|text| {
                let target = line(text.strip_prefix(b"gitdir: ")?);
                GitDir::at(&folder.join(place::path(target)))
            });
            target.map_or(DotGit::Broken, DotGit::Leads)
        }
        // An empty or damaged folder is passed over, as if it were not there.
        Ok(_) => GitDir::at(&path).map_or(DotGit::Absent, DotGit::Leads),
    }
}

/// A git directory: one with a `HEAD`, and objects and refs of its own or of the directory it shares.
struct GitDir {
    path: PathBuf,
    common: PathBuf,
    /// Whether it is a worktree's, and shares another one's objects and refs.
    linked: bool,
    branch: Option<String>,
}

impl GitDir {
    /// The git directory at this path, by git's own test for one.
    fn at(path: &Path) -> Option<Self> {
        let Head { branch } = Head::read(&path.join("HEAD"))?;
        let shared = place::read(&path.join("commondir"), LINE_LIMIT)
            .map(|shared| path.join(place::path(line(&shared))));
        // What shares a repository is one of its worktrees, and has its folder there.
        let shared = shared.filter(|common| {
            let worktrees = canonical(common).join("worktrees");
            canonical(path).parent() == Some(worktrees.as_path())
        });
        let linked = shared.is_some();
        let common = shared.unwrap_or_else(|| path.to_owned());
        for part in ["objects", "refs"] {
            rustix::fs::access(common.join(part), Access::EXEC_OK).ok()?;
        }
        Some(Self { path: path.to_owned(), common, linked, branch })
    }

    /// The work tree's folder, given the one that holds the `.git`, if there is one.
    fn work_tree(&self, holder: Option<&Path>, config: &Config) -> PathBuf {
        // Of a folder whose `.git` does not lead back here, `core.worktree` says nothing: it would let a repository speak for
        // any folder.
        if !self.linked
            && let Some(named) = config.last(b"core.worktree")
            && let Ok(named) = self.path.join(place::path(named)).canonicalize()
            && let DotGit::Leads(back) = dot_git(&named)
            && canonical(&back.path) == canonical(&self.path)
        {
            return named;
        }
        if let Some(holder) = holder {
            return canonical(holder);
        }
        // Inside a git directory that has a work tree, that one is meant.
        let git_dir = canonical(&self.path);
        let back = place::read(&git_dir.join("gitdir"), LINE_LIMIT).filter(|_| self.linked);
        let back = back.map(|back| git_dir.join(place::path(line(&back))));
        let dot_git = back.as_deref().filter(|back| back.exists()).unwrap_or(&git_dir);
        match dot_git.parent() {
            Some(parent) if dot_git.ends_with(".git") && !config.is_true(b"core.bare") => {
                canonical(parent)
            }
            _ => git_dir,
        }
    }
}

/// What is checked out.
struct Head {
    branch: Option<String>,
}

impl Head {
    /// A `HEAD` that git accepts: a symbolic one, as text or as a link of old, or a commit's id.
    fn read(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            let target = path.read_link().ok()?;
            return Self::symbolic(target.as_os_str().as_encoded_bytes());
        }
        let text = place::read(path, LINE_LIMIT)?;
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
        // What a reftable repository has there, for programs that would misread it.
        let branch = branch.filter(|branch| *branch != b".invalid" && !branch.is_empty());
        Some(Self { branch: branch.map(|branch| place::spell(place::path(branch))) })
    }
}

/// The text of a file that holds one line.
fn line(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &text[..end.map_or(0, |end| end + 1)]
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| place::settle(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_called_by_the_folder_that_says_something() {
        for (folder, name) in [
            ("/srv/x", "x"),
            ("/srv/x.git", "x"),
            ("/srv/x/.git", "x"),
            ("/srv/x/.bare", "x"),
            ("/srv/.dotfiles", ".dotfiles"),
            ("/", "/"),
        ] {
            assert_eq!(name_of(Path::new(folder)), name, "{folder}");
        }
    }

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
