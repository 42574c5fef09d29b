use std::fs;
use std::os::unix::fs::{chown, lchown, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rutter_memory::config::ProjectIdentity;
use rutter_memory::project::{IgnoredGitFile, LocatedProject, WorkTree, WorkTreeSurvey};
use rutter_memory::store::entry::ProjectPlace;

use crate::git_world::{GitWorld, all_keys, folder_key, git_key, mirror_key};

/// A user id that no user here has.
const STRANGER_USER_ID: u32 = 54_321;

/// Asserts that the folder is a separate project by its path, and that the reason is reported.
fn assert_goes_by_path(folder: &Path, reason: impl Fn(&IgnoredGitFile) -> bool) {
    let located = LocatedProject::find(folder);
    assert_eq!(all_keys(&located), [folder_key(folder)]);
    assert_eq!((&located.root, &located.home), (&folder.to_owned(), &folder.to_owned()));
    assert!(located.ignored.as_ref().is_some_and(reason), "{located:?}");
    assert_eq!(WorkTree::containing(folder), None);
    assert_eq!(WorkTreeSurvey::inspect(folder).changed, None);
}

fn is_other_checkout(ignored: &IgnoredGitFile) -> bool {
    matches!(ignored, IgnoredGitFile::OtherCheckout(_))
}

fn is_foreign(ignored: &IgnoredGitFile) -> bool {
    matches!(ignored, IgnoredGitFile::ForeignOwner(_))
}

fn is_too_large(ignored: &IgnoredGitFile) -> bool {
    matches!(ignored, IgnoredGitFile::LargeConfig(_))
}

/// Writes the layout of a repository, as an archive could contain it.
fn write_git_layout(git_dir: &Path, config: &str) {
    for part in ["objects", "refs"] {
        fs::create_dir_all(git_dir.join(part)).unwrap();
    }
    fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git_dir.join("config"), config).unwrap();
}

#[test]
fn git_file_cannot_borrow_checkout() {
    let Some(world) = GitWorld::with_git("borrowed git directories") else { return };
    let victim = world.with_remote("victim", "https://example.org/o/victim");
    let tree = world.path("tree");
    world.git(&victim, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let library = world.repository("library");
    world.git(&victim, &["submodule", "--quiet", "add", library.to_str().unwrap(), "lib"]);
    for (number, target) in
        ["../victim/.git", "../victim/.git/worktrees/tree", "../victim/.git/modules/lib"]
            .iter()
            .enumerate()
    {
        let evil = world.create_dir(&format!("evil-{number}"));
        fs::write(evil.join(".git"), format!("gitdir: {target}\n")).unwrap();
        assert_goes_by_path(&evil, is_other_checkout);
        let linked = world.create_dir(&format!("linked-{number}"));
        symlink(target, linked.join(".git")).unwrap();
        assert_goes_by_path(&linked, is_other_checkout);
        // Folders below belong to the same project.
        let deeper = world.create_dir(&format!("evil-{number}/src"));
        assert_eq!(LocatedProject::find(&deeper).key.as_str(), folder_key(&evil));
    }
    // A bare repository beside its worktrees belongs to its parent folder and to no other.
    let shop = world.create_dir("shop");
    world.git(&shop, &["init", "--quiet", "--bare", ".bare"]);
    fs::write(shop.join(".git"), "gitdir: ./.bare\n").unwrap();
    assert_eq!(LocatedProject::find(&shop).key.as_str(), git_key(&shop.join(".bare")));
    let evil = world.create_dir("evil-bare");
    fs::write(evil.join(".git"), "gitdir: ../shop/.bare\n").unwrap();
    assert_goes_by_path(&evil, is_other_checkout);
    // Other names of a worktree's `.git` file.
    let (chained, hard) = (world.create_dir("chained"), world.create_dir("hard"));
    symlink(tree.join(".git"), chained.join(".git")).unwrap();
    fs::hard_link(tree.join(".git"), hard.join(".git")).unwrap();
    assert_goes_by_path(&chained, is_other_checkout);
    assert_goes_by_path(&hard, is_other_checkout);
    for (folder, expected) in [(&victim, "example.org/o/victim"), (&tree, "example.org/o/victim")] {
        assert_eq!(world.locate_like_git(folder).key.as_str(), expected);
    }
    world.locate_like_git(&victim.join("lib"));
}

#[test]
fn moved_worktree_uses_path() {
    let Some(world) = GitWorld::with_git("moved worktrees") else { return };
    let main = world.repository("main");
    let (tree, moved) = (world.path("tree"), world.path("moved"));
    world.git(&main, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    fs::rename(&tree, &moved).unwrap();
    assert_goes_by_path(&moved, is_other_checkout);
    world.git(&moved, &["worktree", "repair"]);
    assert_eq!(world.locate_like_git(&moved).key.as_str(), git_key(&main.join(".git")));
    // Reached through a symlink, it is still the same file.
    symlink(&moved, world.path("link")).unwrap();
    assert_eq!(LocatedProject::find(&world.path("link")), world.locate_like_git(&moved));
}

#[test]
fn worktree_config_chooses_no_remote() {
    let Some(world) = GitWorld::with_git("worktree configuration") else { return };
    let main = world.repository("main");
    world.git(&main, &["remote", "add", "origin", "https://example.org/eve/ship"]);
    world.git(&main, &["config", "extensions.worktreeConfig", "true"]);
    let tree = main.join("sub/tree");
    world.git(&main, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let config = main.join(".git/worktrees/tree/config.worktree");
    for text in [
        "[remote \"origin\"]\n\turl =\n\turl = https://example.org/ada/shop\n",
        "[url \"https://example.org/ada/shop\"]\n\tinsteadOf = https://example.org/eve/ship\n",
    ] {
        fs::write(&config, text).unwrap();
        let key = LocatedProject::find(&tree).key;
        assert_eq!(key.as_str(), "example.org/eve/ship");
        assert_eq!(key, LocatedProject::find(&main).key);
    }
}

#[test]
fn git_directory_cannot_choose_root() {
    let Some(world) = GitWorld::with_git("work trees that are named") else { return };
    let victim = world.repository("victim");
    let named = victim.display().to_string();
    let evil = world.create_dir("evil");
    let git = evil.join(".git");
    write_git_layout(&git, &format!("[core]\nbare = false\nworktree = {named}\n"));
    for part in ["worktrees/x", "modules/y"] {
        let inner = git.join(part);
        write_git_layout(&inner, &format!("[core]\nworktree = {named}\n"));
        fs::write(inner.join("commondir"), "../..\n").unwrap();
        fs::write(inner.join("gitdir"), format!("{named}/.git\n")).unwrap();
    }
    for folder in [&evil, &git, &git.join("worktrees/x"), &git.join("modules/y")] {
        let located = LocatedProject::find(folder);
        assert!(located.root.starts_with(&evil), "{folder:?}: {located:?}");
        assert!(located.home.starts_with(&evil), "{folder:?}: {located:?}");
        assert!(!all_keys(&located).concat().contains(&named), "{folder:?}: {located:?}");
    }
}

#[test]
fn commondir_chains_lead_nowhere() {
    let Some(world) = GitWorld::with_git("shared directories that are claimed") else { return };
    let victim = world.with_remote("victim", "https://example.org/o/victim");
    let name = victim.file_name().unwrap().to_str().unwrap();
    let evil = world.create_dir("evil");
    let git = evil.join(".git");
    write_git_layout(&git, "");
    for chain in [
        format!("../../{name}/.git"),
        format!("../../evil/../{name}/.git"),
        format!("./../.././{name}/.git/."),
        victim.join(".git").display().to_string(),
        format!("{}/.git/worktrees/..", victim.display()),
    ] {
        fs::write(git.join("commondir"), &chain).unwrap();
        assert_eq!(
            all_keys(&LocatedProject::find(&evil)),
            [git_key(&git), folder_key(&evil)],
            "{chain}"
        );
    }
    // A `worktrees` folder that is a symlink into the victim.
    let forged = world.create_dir("forged");
    write_git_layout(&forged.join("g/.git"), "");
    fs::create_dir_all(victim.join(".git/worktrees")).unwrap();
    symlink(victim.join(".git/worktrees"), forged.join("g/.git/worktrees")).unwrap();
    fs::write(forged.join(".git"), "gitdir: g/.git/worktrees/x\n").unwrap();
    assert_eq!(LocatedProject::find(&forged).key.as_str(), folder_key(&forged));
}

#[test]
fn included_files_name_no_remote() {
    let Some(world) = GitWorld::with_git("included configurations") else { return };
    let folder = world.repository("repo");
    let config = folder.join(".git/config");
    let plain = fs::read_to_string(&config).unwrap();
    let remote = "[remote \"origin\"]\nurl = https://example.org/o/victim\n";
    fs::write(folder.join("tracked"), remote).unwrap();
    for include in [
        "[include]\npath = ../tracked\n".to_owned(),
        format!("[includeIf \"gitdir:{}/\"]\npath = ../tracked\n", folder.display()),
    ] {
        fs::write(&config, format!("{plain}{include}")).unwrap();
        assert_eq!(
            world.git(&folder, &["remote", "get-url", "origin"]),
            "https://example.org/o/victim"
        );
        assert_eq!(
            LocatedProject::find(&folder).key.as_str(),
            git_key(&folder.join(".git")),
            "{include}"
        );
    }
}

#[test]
fn pipes_and_devices_do_not_block() {
    let world = GitWorld::new();
    let begun = Instant::now();
    let make = |path: &Path, kind| mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for kind in [FileType::Fifo, FileType::Socket] {
        let folder = world.create_dir(&format!("dot-git-{kind:?}"));
        make(&folder.join(".git"), kind);
        assert_eq!(all_keys(&LocatedProject::find(&folder)), [folder_key(&folder)]);
        for part in ["HEAD", "config", "commondir", "index"] {
            let folder = world.create_dir(&format!("{part}-{kind:?}"));
            let git = folder.join(".git");
            write_git_layout(&git, "");
            drop(fs::remove_file(git.join(part)));
            make(&git.join(part), kind);
            let located = LocatedProject::find(&folder);
            assert_eq!(located.root, folder);
            WorkTreeSurvey::inspect(&folder);
        }
    }
    for device in ["/dev/zero", "/dev/tty", "/proc/self/mem"] {
        let folder = world.create_dir(&format!("link{}", device.replace('/', "-")));
        let git = folder.join(".git");
        write_git_layout(&git, "");
        fs::remove_file(git.join("config")).unwrap();
        symlink(device, git.join("config")).unwrap();
        assert_eq!(all_keys(&LocatedProject::find(&folder)), [git_key(&git), folder_key(&folder)]);
        fs::remove_dir_all(&git).unwrap();
        symlink(device, &git).unwrap();
        assert_eq!(LocatedProject::find(&folder).root, folder);
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn odd_configurations_match_git() {
    let Some(world) = GitWorld::with_git("odd configurations") else { return };
    let folder = world.repository("repo");
    let config = folder.join(".git/config");
    let core = "[core]\nrepositoryformatversion = 0\nbare = false\n";
    let remote = "[remote \"origin\"]\nurl = https://example.org/o/r\n";
    let crlf = format!("{core}{remote}").replace('\n', "\r\n");
    for text in [crlf.clone(), format!("\u{feff}{core}{remote}"), format!("\u{feff}{crlf}")] {
        fs::write(&config, text).unwrap();
        assert_eq!(world.locate_like_git(&folder).key.as_str(), "example.org/o/r");
    }
    let own = git_key(&folder.join(".git"));
    for (url, expected) in [
        ("https://example.org/o/r\u{0}/evil", "example.org/o/r"),
        (&*format!("https://example.org/{}", "r".repeat(100_000)), &*own),
        ("dir://home/ada/shop", "dir://home/ada/shop"),
    ] {
        fs::write(&config, format!("{core}[remote \"origin\"]\nurl = {url}\n")).unwrap();
        let located = LocatedProject::find(&folder);
        assert_eq!(located.key.as_str(), expected);
        assert_eq!(format!("dir:{}", ProjectPlace::from(&located).checkout()), folder_key(&folder));
    }
}

#[test]
fn large_configurations_are_read_fast() {
    let Some(world) = GitWorld::with_git("large configurations") else { return };
    let folder = world.repository("repo");
    let config = folder.join(".git/config");
    let own = git_key(&folder.join(".git"));
    let long = "x".repeat(120 * 1024);
    let remote = |number: u32| format!("[remote \"r{number}\"]\nurl=u\n");
    let empty = |number: u32| format!("[remote \"r{number}\"]\n");
    let shapes = [
        (0..47_000).map(remote).collect(),
        (0..47_000).map(empty).collect(),
        "[a]\n".repeat(60_000),
        "[a]\n".repeat(300_000),
        "x".repeat(1 << 20),
        format!("[remote \"o\"]\nurl = {}\n", "x".repeat(200 * 1024)),
        format!("[remote \"{long}\"]\n{}", "url = a\n".repeat(16 * 1024)),
        format!("[remote \"{}\"]\n{}", "x".repeat(2000), "url=\n".repeat(50 * 1024)),
        format!("[{long}]\n{}", "a\n".repeat(60 * 1024)),
        format!("[url \"b\"]\n{}", "insteadOf = a\n".repeat(18 * 1024)),
    ];
    for text in shapes {
        fs::write(&config, &text).unwrap();
        let begun = Instant::now();
        let located = LocatedProject::find(&folder);
        // A generous limit: this build is not optimised and shares the machine.
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}: {:.40}", begun.elapsed(), text);
        assert_eq!(located.key.as_str(), own, "{text:.40}");
        let is_large = text.len() > 256 * 1024;
        assert_eq!(located.ignored.as_ref().is_some_and(is_too_large), is_large, "{text:.40}");
    }
}

#[test]
fn index_of_long_names_is_bounded() {
    let Some(world) = GitWorld::with_git("large indexes") else { return };
    let folder = world.repository("repo");
    // In version 4 of the index, a name can repeat any part of the previous one.
    let entry = |name: &[u8], cut: u8| {
        let mut entry = vec![0; 62];
        entry[24..28].copy_from_slice(&0o100_644_u32.to_be_bytes());
        entry.push(cut);
        entry.extend(name);
        entry.push(0);
        entry
    };
    let count = 40_000_u32;
    let mut index = [b"DIRC", &4_u32.to_be_bytes()[..], &count.to_be_bytes()].concat();
    index.extend(entry(&vec![b'x'; 1 << 20], 0));
    for _ in 1..count {
        index.extend(entry(b"y", 0));
    }
    index.extend([0; 24]);
    fs::write(folder.join(".git/index"), index).unwrap();
    let begun = Instant::now();
    assert_eq!(WorkTreeSurvey::inspect(&folder).changed, None);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn ignores_directories_of_other_users() {
    let Some(world) = GitWorld::with_git("directories of other users") else { return };
    if !rustix::process::geteuid().is_root() {
        rutter_testkit::skip_test("directories of other users", "only root can give a file away");
        return;
    }
    let give = |path: &Path| chown(path, Some(STRANGER_USER_ID), None).unwrap();
    let plain = world.with_remote("plain", "https://example.org/o/victim");
    give(&plain.join(".git"));
    assert_goes_by_path(&plain, is_foreign);
    // A stranger's repository in a shared folder does not claim the folders below it.
    let shared = world.create_dir("shared");
    write_git_layout(
        &shared.join(".git"),
        "[remote \"origin\"]\nurl = https://example.org/o/victim\n",
    );
    give(&shared.join(".git"));
    for name in ["shared/mine", "shared/yours"] {
        assert_goes_by_path(&world.create_dir(name), is_foreign);
    }
    // A stranger's symlink to a directory of the user.
    let (own, below) = (world.path("own"), world.create_dir("linked/mine"));
    let apart = world.create_dir("apart");
    world.git(&apart, &["init", "--quiet", "--separate-git-dir", own.to_str().unwrap()]);
    let link = world.path("linked/.git");
    symlink(&own, &link).unwrap();
    lchown(&link, Some(STRANGER_USER_ID), None).unwrap();
    assert_goes_by_path(&below, is_foreign);
    // A stranger's `.git` file, and a `.git` file that leads to a stranger's directory.
    let separate = world.path("separate");
    let work = world.create_dir("work");
    world.git(&work, &["init", "--quiet", "--separate-git-dir", separate.to_str().unwrap()]);
    assert_eq!(world.locate_like_git(&work).key.as_str(), git_key(&separate));
    give(&work.join(".git"));
    assert_goes_by_path(&work, is_foreign);
    chown(work.join(".git"), Some(0), None).unwrap();
    give(&separate);
    assert_goes_by_path(&work, is_foreign);
    // A stranger's directory that a worktree shares.
    let (main, tree) = (world.repository("main"), world.path("tree"));
    world.git(&main, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    give(&main.join(".git"));
    assert_goes_by_path(&tree, is_foreign);
    assert_eq!(
        LocatedProject::find(&main.join(".git/refs")).ignored.as_ref().map(is_foreign),
        Some(true)
    );
    // A mirror of another user gives its clones no key.
    let mirror = world.path("mirror.git");
    world.git(&world.path(""), &["init", "--quiet", "--bare", "mirror.git"]);
    let clone = world.with_remote("clone", mirror.to_str().unwrap());
    assert_eq!(LocatedProject::find(&clone).key.as_str(), mirror_key(&mirror));
    give(&mirror);
    assert_eq!(LocatedProject::find(&clone).key.as_str(), git_key(&clone.join(".git")));
}

#[test]
fn local_remote_cannot_claim_project() {
    let Some(world) = GitWorld::with_git("local remotes") else { return };
    let victim = world.repository("victim");
    let bare = world.create_dir("project");
    world.git(&bare, &["init", "--quiet", "--bare", ".bare"]);
    fs::write(bare.join(".git"), "gitdir: ./.bare\n").unwrap();
    let own_key = LocatedProject::find(&bare).key;
    let folder = world.repository("folder");
    world.git(&folder, &["remote", "add", "origin", "."]);
    let own = git_key(&folder.join(".git"));
    let absolute = victim.display().to_string();
    for url in [
        "../victim",
        "../victim/.git",
        "./../victim",
        "../folder/../victim",
        ".",
        "..",
        "/",
        "../nowhere",
        "/srv/git/nowhere.git",
        &absolute,
        &format!("file://{absolute}"),
        &format!("file://localhost{absolute}/.git"),
        &format!("file://{}", victim.join(".git").display()),
    ] {
        world.git(&folder, &["remote", "set-url", "origin", url]);
        assert_eq!(
            all_keys(&world.locate_like_git(&folder)),
            [&*own, &folder_key(&folder)],
            "{url}"
        );
    }
    // A clone of a bare repository is not one of its worktrees.
    world.git(&folder, &["remote", "set-url", "origin", "../project/.bare"]);
    let located = world.locate_like_git(&folder);
    assert_eq!(located.key.as_str(), mirror_key(&bare.join(".bare")));
    assert_ne!(located.key, own_key);
    assert!(!located.aliases.contains(&own_key));
}

#[test]
fn embedded_bare_repository_is_no_mirror() {
    let Some(world) = GitWorld::with_git("embedded mirrors") else { return };
    let clone = world.with_remote("clone", "https://example.org/o/clone");
    let embedded = clone.join("lib.git");
    write_git_layout(
        &embedded,
        "[core]\nbare = true\n[remote \"origin\"]\nurl = https://example.org/o/victim\n",
    );
    let copy = world.with_remote("copy", embedded.to_str().unwrap());
    assert_eq!(LocatedProject::find(&copy).key.as_str(), git_key(&copy.join(".git")));
}

#[test]
fn identity_by_path_keeps_checkouts_apart() {
    let Some(world) = GitWorld::with_git("identities") else { return };
    let url = "https://example.org/o/r";
    let (one, two) = (world.with_remote("one", url), world.with_remote("two", url));
    let tree = world.path("tree");
    world.git(&one, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let find = |folder: &Path| LocatedProject::find(folder).identified_by(ProjectIdentity::Path);
    assert_eq!(LocatedProject::find(&one).key, LocatedProject::find(&two).key);
    assert_eq!(all_keys(&find(&one)), [folder_key(&one), git_key(&one.join(".git"))]);
    assert_eq!(all_keys(&find(&two)), [folder_key(&two), git_key(&two.join(".git"))]);
    assert_eq!(all_keys(&find(&tree)), all_keys(&find(&one)));
    assert_eq!((find(&tree).name.as_str(), find(&tree).root), ("one", tree));
    for folder in [&one, &two] {
        for located in [LocatedProject::find(folder), find(folder)] {
            assert_eq!(
                format!("dir:{}", ProjectPlace::from(&located).checkout()),
                folder_key(folder)
            );
        }
    }
    // Without git nothing changes.
    let plain = world.create_dir("plain");
    assert_eq!(find(&plain), LocatedProject::find(&plain));
}
