use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rutter_memory::project::{LocatedProject, ProjectKey, WorkTree};

use crate::git_world::{GitWorld, all_keys, folder_key, git_key, mirror_key};

#[test]
fn remote_key_keeps_earlier_aliases() {
    let Some(world) = GitWorld::with_git("a repository that gets a remote") else { return };
    let folder = world.create_dir("work/Thing");
    let before = LocatedProject::find(&folder);
    assert_eq!(all_keys(&before), [folder_key(&folder)]);

    world.git(&folder, &["init", "--quiet"]);
    let dot_git = folder.join(".git");
    let without = world.locate_like_git(&folder);
    assert_eq!(all_keys(&without), [git_key(&dot_git), folder_key(&folder)]);
    assert_eq!((without.name.as_str(), without.branch.as_deref()), ("Thing", Some("main")));

    world.git(&folder, &["remote", "add", "origin", "https://me:secret@GitHub.com/Owner/Repo.git"]);
    let with = world.locate_like_git(&folder);
    assert_eq!(
        all_keys(&with),
        ["github.com/owner/repo", &git_key(&dot_git), &folder_key(&folder)]
    );
    assert_eq!(with.name, "Repo");
    assert!(!format!("{with:?}").contains("secret"));
}

#[test]
fn subfolders_and_links_share_project() {
    let Some(world) = GitWorld::with_git("folders of a repository") else { return };
    let folder = world.with_remote("repo", "git@example.org:o/r.git");
    let inside = world.create_dir("repo/a/b");
    symlink(&inside, world.path("link")).unwrap();
    fs::write(inside.join("file"), "").unwrap();
    let located = world.locate_like_git(&folder);
    assert_eq!(world.locate_like_git(&inside), located);
    assert_eq!(world.locate_like_git(&world.path("link")), located);
    assert_eq!(LocatedProject::find(&inside.join("file")), located);
    // The client may name a folder that has been deleted since.
    assert_eq!(LocatedProject::find(&inside.join("gone/deeper")), located);
    let deep = world.create_dir(&format!("repo/{}", "d/".repeat(500)));
    assert_eq!(world.locate_like_git(&deep), located);
}

#[test]
fn clones_share_but_namesakes_differ() {
    let Some(world) = GitWorld::with_git("clones") else { return };
    let one = world.with_remote("one/thing", "https://example.org/o/thing");
    let two = world.with_remote("two/thing", "ssh://git@example.org/o/thing.git");
    let other = world.with_remote("three/thing", "https://example.org/p/thing");
    let local = world.repository("four/thing");
    let key = |folder| world.locate_like_git(folder).key;
    assert_eq!(key(&one), key(&two));
    assert_ne!(key(&one), key(&other));
    assert_ne!(key(&local), key(&other));
    assert_ne!(key(&local), key(&world.repository("five/thing")));
}

#[test]
fn worktrees_share_project_keys() {
    let Some(world) = GitWorld::with_git("worktrees") else { return };
    let main = world.repository("main");
    let tree = world.path("elsewhere/tree");
    world.git(&main, &["worktree", "add", "--quiet", "-b", "feature/x", tree.to_str().unwrap()]);
    world.git(&main, &["init", "--quiet", "--bare", "../server.git"]);
    for remote in [None, Some("https://example.org/o/r"), Some("../server.git")] {
        if let Some(remote) = remote {
            world.git(&main, &["config", "remote.origin.url", remote]);
        }
        let (here, there) = (world.locate_like_git(&main), world.locate_like_git(&tree));
        assert_eq!(all_keys(&here), all_keys(&there));
        assert_eq!(here.name, there.name);
        assert_eq!((&here.root, &there.root), (&main, &tree));
        assert_eq!(there.branch.as_deref(), Some("feature/x"));
    }
    assert_eq!(LocatedProject::find(&main).key.as_str(), mirror_key(&world.path("server.git")));
    world.git(&tree, &["checkout", "--quiet", "--detach"]);
    assert_eq!(world.locate_like_git(&tree).branch, None);
}

#[test]
fn worktrees_of_a_bare_repository_share() {
    let Some(world) = GitWorld::with_git("worktrees of a bare repository") else { return };
    let source = world.repository("source");
    let folder = world.create_dir("project");
    world.git(&folder, &["clone", "--quiet", "--bare", source.to_str().unwrap(), ".bare"]);
    fs::write(folder.join(".git"), "gitdir: ./.bare\n").unwrap();
    world.git(&folder, &["remote", "remove", "origin"]);
    world.git(&folder, &["worktree", "add", "--quiet", "-b", "topic", "topic"]);
    let (above, tree) =
        (world.locate_like_git(&folder), world.locate_like_git(&folder.join("topic")));
    assert_eq!(above.key.as_str(), git_key(&folder.join(".bare")));
    assert_eq!(above.key, tree.key);
    assert_eq!((above.name.as_str(), tree.name.as_str()), ("project", "project"));
    assert_eq!(above.root, folder);
}

#[test]
fn submodule_is_separate_project() {
    let Some(world) = GitWorld::with_git("submodules") else { return };
    let library = world.repository("library");
    let above = world.with_remote("above", "https://example.org/o/above");
    let url = library.to_str().unwrap();
    world.git(&above, &["submodule", "--quiet", "add", url, "deps/library"]);
    let inside = above.join("deps/library");
    let located = world.locate_like_git(&inside);
    let modules = above.join(".git/modules/deps/library");
    assert_eq!(located.key.as_str(), git_key(&modules));
    world.git(&inside, &["remote", "set-url", "origin", "git@example.org:o/library"]);
    let located = world.locate_like_git(&inside);
    assert_eq!(
        all_keys(&located),
        ["example.org/o/library", &git_key(&modules), &folder_key(&inside)]
    );
    assert_eq!(world.locate_like_git(&modules).root, inside);
    assert_eq!(world.locate_like_git(&above.join("deps")).key.as_str(), "example.org/o/above");
}

#[test]
fn nested_repository_is_separate_project() {
    let Some(world) = GitWorld::with_git("nested repositories") else { return };
    let outer = world.with_remote("outer", "https://example.org/o/outer");
    let inner = world.with_remote("outer/vendor/inner", "https://example.org/o/inner");
    assert_eq!(world.locate_like_git(&inner).key.as_str(), "example.org/o/inner");
    assert_eq!(world.locate_like_git(&outer.join("vendor")).key.as_str(), "example.org/o/outer");
}

#[test]
fn locates_bare_and_git_directories() {
    let Some(world) = GitWorld::with_git("bare repositories") else { return };
    let bare = world.create_dir("server/thing.git");
    world.git(&bare, &["init", "--quiet", "--bare"]);
    // git accepts such a folder as a repository unless `safe.bareRepository` is `explicit`. A clone can contain one.
    assert_eq!(LocatedProject::find(&bare).key.as_str(), folder_key(&bare));

    let plain = world.repository("plain");
    let tree = world.path("tree");
    world.git(&plain, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    assert_eq!(LocatedProject::find(&plain.join(".git/refs")), world.locate_like_git(&plain));
    assert_eq!(
        LocatedProject::find(&plain.join(".git/worktrees/tree")),
        world.locate_like_git(&tree)
    );
}

#[test]
fn tracked_files_cannot_change_project() {
    let Some(world) = GitWorld::with_git("embedded repositories") else { return };
    let clone = world.with_remote("clone", "https://example.org/o/clone");
    let victim = world.with_remote("victim", "https://example.org/o/victim");
    let own = LocatedProject::find(&clone);
    let lib = world.create_dir("clone/lib");
    world.git(&lib, &["init", "--quiet", "--bare"]);
    let remote = "[remote \"origin\"]\nurl = https://example.org/o/victim\n";
    let work_tree = format!("[core]\nbare = false\nworktree = {}\n", victim.display());
    for config in [remote.to_owned(), format!("{work_tree}{remote}")] {
        fs::write(lib.join("config"), config).unwrap();
        for folder in [&lib, &lib.join("refs"), &clone] {
            let found = LocatedProject::find(folder);
            assert_eq!((found.key, found.root), (own.key.clone(), clone.clone()));
        }
    }
    // Nor does a `commondir` file that claims another git directory.
    let other = world.repository("other");
    fs::write(other.join(".git/commondir"), victim.join(".git").to_str().unwrap()).unwrap();
    assert_eq!(LocatedProject::find(&other).key.as_str(), git_key(&other.join(".git")));
    assert_eq!(LocatedProject::find(&victim).root, victim);
}

#[test]
fn work_tree_finds_common_directory() {
    let Some(world) = GitWorld::with_git("work trees") else { return };
    let main = world.repository("main");
    let (tree, inside) = (world.path("tree"), world.create_dir("main/a/b"));
    world.git(&main, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let around = |folder: &Path| {
        WorkTree::containing(folder).map(|WorkTree { root, common_dir }| (root, common_dir))
    };
    assert_eq!(around(&inside), Some((main.clone(), main.join(".git"))));
    assert_eq!(around(&tree), Some((tree.clone(), main.join(".git"))));
    assert_eq!(around(&main.join(".git/info")), None);
    assert_eq!(around(&main.join(".git/worktrees/tree")), None);
    let bare = world.create_dir("thing.git");
    world.git(&bare, &["init", "--quiet", "--bare"]);
    assert_eq!(around(&bare), None);
    assert_eq!(around(&world.create_dir("without")), None);
}

#[test]
fn clones_of_a_bare_repository_share() {
    let Some(world) = GitWorld::with_git("local clones") else { return };
    let bare = world.create_dir("server/thing.git");
    world.git(&bare, &["init", "--quiet", "--bare"]);
    let clone = |url: &str, name: &str| {
        world.git(&world.path(""), &["clone", "--quiet", url, name]);
        world.locate_like_git(&world.path(name))
    };
    let path = bare.to_str().unwrap();
    for (url, name) in [
        (path, "by-path"),
        (&path[..path.len() - 4], "by-short-path"),
        (&format!("file://{path}"), "by-url"),
    ] {
        let located = clone(url, name);
        let folder = world.path(name);
        let expected = [mirror_key(&bare), git_key(&folder.join(".git")), folder_key(&folder)];
        assert_eq!(all_keys(&located), expected);
        assert_eq!(located.name, "thing");
    }
    let relative = world.path("by-path");
    world.git(&relative, &["remote", "set-url", "origin", "../server/thing.git"]);
    assert_eq!(world.locate_like_git(&relative).key.as_str(), mirror_key(&bare));
    // An origin that itself has an origin on the network.
    world.git(&bare, &["remote", "add", "origin", "https://example.org/o/thing"]);
    let located = world.locate_like_git(&relative);
    assert_eq!(located.key.as_str(), "example.org/o/thing");
    assert_eq!(located.aliases[0].as_str(), mirror_key(&bare));
    // A deleted origin gives no key. Data stored under it is still found through the git directory.
    fs::remove_dir_all(&bare).unwrap();
    assert_eq!(LocatedProject::find(&relative).key.as_str(), git_key(&relative.join(".git")));
}

#[test]
fn circular_origins_terminate() {
    let Some(world) = GitWorld::with_git("origins in a circle") else { return };
    for (name, origin) in [("one.git", "../two.git"), ("two.git", "../one.git")] {
        world.git(&world.path(""), &["init", "--quiet", "--bare", name]);
        world.git(&world.path(name), &["remote", "add", "origin", origin]);
    }
    let clone = world.with_remote("clone", "../one.git");
    let mirrors = ["two.git", "one.git"].map(|name| mirror_key(&world.path(name)));
    assert_eq!(all_keys(&world.locate_like_git(&clone))[..2], mirrors);
}

#[test]
fn damaged_url_leaks_no_password() {
    let Some(world) = GitWorld::with_git("damaged addresses") else { return };
    let folder = world.with_remote("repo", "https//me:secret@example.org/o/r");
    let located = world.locate_like_git(&folder);
    assert_eq!(located.key.as_str(), git_key(&folder.join(".git")));
    assert!(!format!("{located:?}").contains("secret"));
}

#[test]
fn remote_matches_git_fetch() {
    let Some(world) = GitWorld::with_git("remotes") else { return };
    let folder = world.repository("repo");
    let git = |arguments: &[&str]| world.git(&folder, arguments);
    git(&["remote", "add", "upstream", "https://example.org/up/r"]);
    assert_eq!(world.locate_like_git(&folder).key.as_str(), "example.org/up/r");
    git(&["remote", "add", "fork", "https://example.org/fork/r"]);
    assert_eq!(world.locate_like_git(&folder).key.as_str(), git_key(&folder.join(".git")));
    git(&["remote", "add", "origin", "gh:me/r"]);
    git(&["remote", "set-url", "--add", "origin", "https://mirror.example.org/me/r"]);
    git(&["config", "url.https://token@github.com/.insteadOf", "gh:"]);
    let fetched = git(&["remote", "get-url", "origin"]);
    assert_eq!(fetched, "https://token@github.com/me/r");
    assert_eq!(world.locate_like_git(&folder).key.as_str(), "github.com/me/r");
}

#[test]
fn reads_worktree_configuration() {
    let Some(world) = GitWorld::with_git("configurations of worktrees") else { return };
    let folder = world.repository("repo");
    let git = |arguments: &[&str]| world.git(&folder, arguments);
    git(&["config", "extensions.worktreeConfig", "true"]);
    git(&["config", "--worktree", "remote.origin.url", "https://example.org/o/r"]);
    assert_eq!(git(&["remote", "get-url", "origin"]), "https://example.org/o/r");
    assert_eq!(world.locate_like_git(&folder).key.as_str(), "example.org/o/r");
}

#[test]
fn separate_work_tree_locations() {
    let Some(world) = GitWorld::with_git("work trees elsewhere") else { return };
    let folder = world.repository("repo");
    let tree = world.create_dir("tree/inside");
    // Unlike git: nothing in that folder leads back to the repository.
    world.git(&folder, &["config", "core.worktree", "../../tree"]);
    assert_eq!(LocatedProject::find(&folder).root, folder);
    assert_eq!(LocatedProject::find(&tree).key.as_str(), folder_key(&tree));
    // The reverse: a `.git` file in the work tree.
    let work = world.create_dir("work");
    let separate = world.path("separate");
    world.git(&work, &["init", "--quiet", "--separate-git-dir", separate.to_str().unwrap()]);
    assert_eq!(all_keys(&world.locate_like_git(&work)), [git_key(&separate), folder_key(&work)]);
    // And a symlink in its place, to a directory that is not the `.git` of another folder.
    let linked = world.create_dir("linked");
    symlink(&separate, linked.join(".git")).unwrap();
    let located = world.locate_like_git(&linked);
    assert_eq!((located.key.as_str(), &located.root), (&*git_key(&separate), &linked));
}

#[test]
fn broken_repositories_are_skipped() {
    let Some(world) = GitWorld::with_git("broken repositories") else { return };
    let outer = world.with_remote("outer", "https://example.org/o/r");
    for (name, damage) in [
        ("empty", &|_: &Path| {} as _),
        ("no-head", &|git: &Path| fs::create_dir_all(git.join("objects")).unwrap()),
        ("no-objects", &|git: &Path| fs::write(git.join("HEAD"), "ref: refs/heads/main").unwrap()),
        ("bad-head", &|git: &Path| {
            fs::create_dir_all(git.join("objects")).unwrap();
            fs::create_dir_all(git.join("refs")).unwrap();
            fs::write(git.join("HEAD"), "main").unwrap();
        }),
    ] as [(&str, &dyn Fn(&Path)); 4]
    {
        let inner = world.create_dir(&format!("outer/{name}"));
        fs::create_dir(inner.join(".git")).unwrap();
        damage(&inner.join(".git"));
        assert_eq!(world.locate_like_git(&inner), world.locate_like_git(&outer), "{name}");
    }
    // git stops at a `.git` file that leads nowhere.
    let lost = world.create_dir("outer/lost");
    let deeper = world.create_dir("outer/lost/deeper");
    for text in ["gitdir: /nowhere\n", "gitdir: \n", "gitdir:x", "", "\u{0}"] {
        fs::write(lost.join(".git"), text).unwrap();
        assert_ne!(world.run_git(&deeper, &["rev-parse", "--git-dir"]).exit, Some(0), "{text}");
        let located = LocatedProject::find(&deeper);
        assert_eq!(
            (all_keys(&located), &located.root),
            (vec![&*folder_key(&lost)], &lost),
            "{text}"
        );
    }
}

#[test]
fn unreadable_config_falls_back_to_git() {
    let Some(world) = GitWorld::with_git("unreadable configurations") else { return };
    let folder = world.with_remote("repo", "https://example.org/o/r");
    let config = folder.join(".git/config");
    let plain = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{plain}\n# {}", "x".repeat(1 << 20))).unwrap();
    let own = git_key(&folder.join(".git"));
    assert_eq!(LocatedProject::find(&folder).key.as_str(), own);
    fs::write(&config, format!("{plain}\n\u{0}\u{1}")).unwrap();
    assert_eq!(LocatedProject::find(&folder).key.as_str(), "example.org/o/r");
    fs::remove_file(&config).unwrap();
    fs::create_dir(&config).unwrap();
    assert_eq!(LocatedProject::find(&folder).key.as_str(), own);
}

#[test]
fn reads_branch_where_possible() {
    let Some(world) = GitWorld::with_git("branches") else { return };
    let unborn = world.create_dir("unborn");
    world.git(&unborn, &["init", "--quiet", "-b", "trunk"]);
    assert_eq!(world.locate_like_git(&unborn).branch.as_deref(), Some("trunk"));
    // A symlink as `HEAD`, as in very old repositories.
    let linked = world.repository("linked");
    fs::remove_file(linked.join(".git/HEAD")).unwrap();
    symlink("refs/heads/main", linked.join(".git/HEAD")).unwrap();
    assert_eq!(world.locate_like_git(&linked).branch.as_deref(), Some("main"));

    let tables = world.create_dir("tables");
    let made = world.run_git(&tables, &["init", "--quiet", "--ref-format=reftable"]);
    if made.exit != Some(0) {
        rutter_testkit::skip_test("a reftable repository", "this git makes none");
        return;
    }
    let located = LocatedProject::find(&tables);
    assert_eq!(located.key.as_str(), git_key(&tables.join(".git")));
    assert_eq!(located.branch, None);
}

#[test]
fn reads_sha256_repository() {
    let Some(world) = GitWorld::with_git("SHA-256 repositories") else { return };
    let folder = world.create_dir("long");
    world.git(&folder, &["init", "--quiet", "--object-format=sha256"]);
    world.git(&folder, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    world.git(&folder, &["checkout", "--quiet", "--detach"]);
    assert_eq!(world.locate_like_git(&folder).branch, None);
}

#[test]
fn odd_folder_names_stay_distinct() {
    let world = GitWorld::new();
    let folders: Vec<PathBuf> = [&b"\xff"[..], b"\xfe", b"%FF", "\u{fffd}".as_bytes(), b"a\nb"]
        .iter()
        .map(|name| world.path("").join(OsStr::from_bytes(name)))
        .collect();
    let mut keys: Vec<ProjectKey> = folders
        .iter()
        .map(|folder| {
            fs::create_dir(folder).unwrap();
            let located = LocatedProject::find(folder);
            assert_eq!(&located.root, folder);
            assert!(!located.name.contains(char::is_control));
            located.key
        })
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), folders.len());
}

#[test]
fn odd_paths_have_absolute_root() {
    for path in ["", ".", "..", "/", "//", "/nowhere/at/all", "relative/nowhere", "/proc/self/fd/0"]
    {
        let located = LocatedProject::find(Path::new(path));
        assert!(located.root.is_absolute(), "{path}: {located:?}");
    }
    let endless = PathBuf::from(format!("/{}", "nowhere/".repeat(100_000)));
    assert!(LocatedProject::find(&endless).key.as_str().len() < 5_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any content of the files there is a result, without control characters.
    #[test]
    fn arbitrary_git_files_never_panic(
        head in prop_oneof![Just(b"ref: refs/heads/x".to_vec()), any::<Vec<u8>>()],
        config in any::<Vec<u8>>(),
        common in prop::option::of(any::<Vec<u8>>()),
        file in prop::option::of(any::<Vec<u8>>()),
    ) {
        let world = GitWorld::new();
        let git = world.create_dir("repo/.git");
        world.create_dir("repo/.git/objects");
        world.create_dir("repo/.git/refs");
        let config = [&b"[remote \"origin\"]\nurl = "[..], &config].concat();
        fs::write(git.join("HEAD"), head).unwrap();
        fs::write(git.join("config"), config).unwrap();
        if let Some(common) = common {
            fs::write(git.join("commondir"), common).unwrap();
        }
        let inner = world.create_dir("repo/inner");
        if let Some(file) = file {
            fs::write(inner.join(".git"), [b"gitdir: ", &*file].concat()).unwrap();
        }
        for folder in [&git, &inner] {
            let located = LocatedProject::find(folder);
            prop_assert!(!all_keys(&located).concat().contains(char::is_control));
            prop_assert!(!located.name.contains(char::is_control));
        }
    }
}
