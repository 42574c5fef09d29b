//! Repositories, archives and other users that try to get the memories of another project, or to slow down a hook.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::hook::silent;
use crate::mcp_lines::Server;
use crate::support::Home;

const REMOTE: &str = "https://example.org/ada/shop";

impl Home {
    /// Runs a command in another directory.
    fn inside_of(&self, folder: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        Ran::of(command.current_dir(self.path(folder)).stdin(Stdio::null()))
    }

    /// Creates a repository in a directory and returns its path. An empty `remote` adds no remote.
    fn repository(&self, folder: &str, remote: &str) -> PathBuf {
        let path = self.path(folder);
        fs::create_dir_all(&path).unwrap();
        self.git(folder, &["init", "-q"]);
        if !remote.is_empty() {
            self.git(folder, &["remote", "add", "origin", remote]);
        }
        path.canonicalize().unwrap()
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let identity = ["-c", "user.name=n", "-c", "user.email=e"];
        let mut git = Command::new("git");
        git.args(identity).args(args).current_dir(self.path(folder)).env("HOME", self.path("user"));
        drop(Ran::of(&mut git).success());
    }

    fn remember_in(&self, folder: &str, text: &str) {
        drop(self.inside_of(folder, &["remember", text, "--category", "fact"]).success());
    }

    /// Returns the payload of a failing test run in another directory.
    fn red_in(&self, folder: &str, session: &str) -> Value {
        let mut payload = self.red(session);
        payload["cwd"] = json!(self.path(folder));
        payload
    }

    /// Returns key, number of memories and number of outcomes of every project.
    fn projects(&self) -> Vec<(String, u64, u64)> {
        let list = self.json(&["project", "list"]);
        let mut found: Vec<_> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|project| {
                let key = project["key"].as_str().unwrap().to_owned();
                (key, project["memories"].as_u64().unwrap(), project["outcomes"].as_u64().unwrap())
            })
            .collect();
        found.sort();
        found
    }

    fn has_trusted_file(&self, folder: &str) -> bool {
        let shown =
            self.inside_of(folder, &["config", "show", "--origin", "--json"]).success().stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["files"]["project"]["standing"] == "trusted"
    }
}

/// Returns the key of a project that is identified by its path.
fn by_path(folder: &Path) -> String {
    format!("dir:{}", folder.display())
}

fn needs_git(what: &str) -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    if !is_there {
        rutter_testkit::skip(what, "there is no git");
    }
    is_there
}

#[test]
fn huge_git_configuration_keeps_the_record() {
    if !needs_git("huge configurations") {
        return;
    }
    let remote = |number: u32| format!("[remote \"r{number}\"]\nurl=https://e.org/{number}\n");
    let shapes = [
        (0..47_000).map(remote).collect(),
        (0..5_000).map(remote).collect(),
        "[a]\n".repeat(300_000),
        "x".repeat(1 << 20),
        format!("[remote \"{}\"]\n{}", "x".repeat(120 * 1024), "url = a\n".repeat(15 * 1024)),
    ];
    for shape in shapes {
        let home = Home::new();
        home.set(&[]);
        let folder = home.repository("ship", "");
        fs::write(folder.join(".git/config"), &shape).unwrap();
        home.ok(&["tend"]);
        let begun = Instant::now();
        silent(&home.hook(&home.red("one")));
        // A release build takes about 10 ms; a hook gives up after one second.
        assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
        let key = format!("git:{}/.git", folder.display());
        assert_eq!(home.projects(), [(key, 0, 1)], "{shape:.40}");
        let begun = Instant::now();
        let shown = home.rutter(&["project", "show"]).success();
        home.ok(&["recall", "anything"]);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        // A file that is too large to be read is reported.
        let is_large = shape.len() > 256 * 1024;
        assert_eq!(shown.stderr.contains("is not read"), is_large, "{}", shown.stderr);
        let ailments = home.ailments();
        assert_eq!(
            ailments.iter().any(|code| code == "config-git-ignored"),
            is_large,
            "{ailments:?}"
        );
    }
}

#[test]
fn copies_share_unless_identity_is_path() {
    if !needs_git("identities") {
        return;
    }
    let home = Home::new();
    home.set(&[]);
    let own = home.repository("ship", REMOTE);
    let copy = home.repository("copy", REMOTE);
    let store = |text: &str| {
        home.remember_in("ship", &format!("{text} of the ship"));
        let mut mcp = home.command(&["mcp"]);
        mcp.current_dir(&copy);
        let mut server = Server::of(mcp);
        let fact = json!({ "content": format!("{text} of the copy"), "category": "fact" });
        assert_eq!(server.call("remember", &fact)["result"]["isError"], false);
        server.ends();
        silent(&home.hook(&home.red_in("copy", text)));
    };
    store("shared");
    let shared = "example.org/ada/shop".to_owned();
    assert_eq!(home.projects(), [(shared.clone(), 2, 1)]);

    let config = home.memory().join("config.toml");
    let plain = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("identity = \"path\"\n{plain}")).unwrap();
    store("own");
    let apart = vec![(by_path(&copy), 1, 1), (by_path(&own), 1, 0), (shared.clone(), 2, 1)];
    assert_eq!(home.projects(), apart);
    // The copy cannot read the memories of the original.
    let found = home.inside_of("copy", &["memories", "--json"]).success().stdout;
    assert!(found.contains("own of the copy") && !found.contains("of the ship"), "{found}");
    // A project file cannot join them again, trusted or not.
    fs::write(copy.join(".rutter.toml"), "identity = \"remote\"\n").unwrap();
    home.remember_in("copy", "not trusted");
    drop(home.inside_of("copy", &["trust", "--yes"]));
    home.remember_in("copy", "trusted");
    let check = home.inside_of("copy", &["config", "check"]);
    assert!(check.stdout.contains("a project cannot decide `identity`"), "{check:?}");
    assert_eq!(home.projects()[0], (by_path(&copy), 3, 1));
    assert_eq!(home.projects()[2], (shared.clone(), 2, 1));
    // A project file may separate itself although the user's configuration does not.
    fs::write(&config, plain).unwrap();
    home.remember_in("ship", "shared again");
    home.remember_in("copy", "shared again by the copy");
    assert_eq!(home.projects()[2], (shared.clone(), 4, 1));
    fs::write(copy.join(".rutter.toml"), "identity = \"path\"\n").unwrap();
    home.remember_in("copy", "alone");
    assert_eq!(home.projects()[0], (by_path(&copy), 4, 1));
}

#[test]
fn projects_are_merged_by_a_person_alone() {
    if !needs_git("merges") {
        return;
    }
    for is_forwards in [true, false] {
        let home = Home::new();
        home.set(&[]);
        home.repository("ship", REMOTE);
        home.remember_in("ship", "known before");
        let folder = home.repository("boat", "");
        home.remember_in("boat", "without a remote");
        home.git("boat", &["remote", "add", "origin", REMOTE]);
        silent(&home.hook(&home.red_in("boat", "one")));
        home.remember_in("boat", "with the remote");
        let (boat, ship) = (format!("git:{}/.git", folder.display()), "example.org/ada/shop");
        assert_eq!(home.projects(), [(ship.to_owned(), 2, 1), (boat.clone(), 1, 0)]);
        let shown = home.inside_of("boat", &["project", "show"]).success();
        assert!(shown.stdout.contains("key      example.org/ada/shop"), "{}", shown.stdout);
        assert!(shown.stderr.contains("is a separate project with"), "{}", shown.stderr);
        assert!(shown.stderr.contains("`rutter project merge "), "{}", shown.stderr);
        let order = if is_forwards { [&*boat, ship] } else { [ship, &*boat] };
        let refused = home.rutter(&["project", "merge", order[0], order[1]]);
        assert_eq!(refused.exit, Some(1));
        assert_eq!(home.projects().len(), 2);
        home.ok(&["project", "merge", order[0], order[1], "--yes"]);
        home.remember_in("boat", "after the merge");
        home.remember_in("ship", "and in the other place");
        assert_eq!(home.projects(), [(order[1].to_owned(), 5, 1)]);
        let shown = home.inside_of("boat", &["project", "show"]).success();
        assert_eq!(shown.stderr, "");
    }
}

#[test]
fn changed_remote_takes_no_memory_along() {
    if !needs_git("changed remotes") {
        return;
    }
    let home = Home::new();
    home.repository("ship", REMOTE);
    home.repository("bank", "https://example.org/ada/bank");
    home.remember_in("ship", "of the ship");
    home.remember_in("bank", "of the bank");
    home.git("ship", &["remote", "set-url", "origin", "https://example.org/ada/bank"]);
    home.remember_in("ship", "claims the bank");
    home.git("ship", &["remote", "set-url", "origin", "../bank"]);
    home.remember_in("ship", "claims the folder");
    let found = home.projects();
    let count =
        |key: &str| found.iter().find(|(known, ..)| known == key).map(|(_, count, _)| *count);
    assert_eq!(count("example.org/ada/shop"), Some(1), "{found:?}");
    assert_eq!(found.iter().map(|(_, count, _)| count).sum::<u64>(), 4);
    let bank = home.inside_of("bank", &["memories", "--json"]).success().stdout;
    assert!(!bank.contains("of the ship"), "{bank}");
}

#[test]
fn trust_is_not_borrowed() {
    if !needs_git("trust") {
        return;
    }
    let home = Home::new();
    let folder = home.repository("ship", REMOTE);
    home.git("ship", &["commit", "-q", "--allow-empty", "-m", "first"]);
    let wants = "[scope]\nrecall = \"everywhere\"\n";
    fs::write(folder.join(".rutter.toml"), wants).unwrap();
    home.ok(&["trust", "--yes"]);
    assert!(home.has_trusted_file("ship"));
    symlink(&folder, home.path("link")).unwrap();
    assert!(home.has_trusted_file("link"), "a link leads to the same folder");
    let evil = |name: &str| {
        let path = home.path(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(".rutter.toml"), wants).unwrap();
        path
    };
    // The same file elsewhere, with every way of pointing at the trusted checkout.
    evil("plain");
    fs::write(evil("file").join(".git"), format!("gitdir: {}/.git\n", folder.display())).unwrap();
    symlink(folder.join(".git"), evil("linked").join(".git")).unwrap();
    evil("worktree");
    home.repository("worktree", REMOTE);
    home.git("worktree", &["config", "core.worktree", folder.to_str().unwrap()]);
    home.git("ship", &["worktree", "add", "-q", home.path("tree").to_str().unwrap()]);
    evil("tree");
    symlink(folder.join(".rutter.toml"), {
        fs::create_dir(home.path("link-to-file")).unwrap();
        home.path("link-to-file/.rutter.toml")
    })
    .unwrap();
    for name in ["plain", "file", "linked", "worktree", "tree", "link-to-file"] {
        assert!(!home.has_trusted_file(name), "{name}");
    }
    // From inside a forged worktree directory that points at the trusted checkout.
    let forged = home.path("worktree/.git/worktrees/x");
    fs::create_dir_all(&forged).unwrap();
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("commondir", "../..\n".to_owned()),
        ("gitdir", format!("{}/.git\n", folder.display())),
    ] {
        fs::write(forged.join(file), text).unwrap();
    }
    assert!(!home.has_trusted_file("worktree/.git/worktrees/x"));
    // A moved checkout, and a file with one more byte.
    fs::rename(&folder, home.path("moved")).unwrap();
    assert!(!home.has_trusted_file("moved"));
    fs::rename(home.path("moved"), &folder).unwrap();
    assert!(home.has_trusted_file("ship"));
    fs::write(folder.join(".rutter.toml"), format!("{wants}\n")).unwrap();
    assert!(!home.has_trusted_file("ship"));
}

#[test]
fn foreign_git_directory_decides_nothing() {
    if !needs_git("directories of other users") {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        rutter_testkit::skip("directories of other users", "only root can give a file away");
        return;
    }
    let home = Home::new();
    home.set(&[]);
    let folder = home.repository("ship", REMOTE);
    home.remember_in("ship", "mine");
    chown(folder.join(".git"), Some(54_321), None).unwrap();
    silent(&home.hook(&home.red("one")));
    home.remember_in("ship", "by its path");
    let shared = "example.org/ada/shop".to_owned();
    assert_eq!(home.projects(), [(by_path(&folder), 1, 1), (shared.clone(), 1, 0)]);
    let shown = home.rutter(&["project", "show"]).success().stderr;
    assert!(shown.contains("belongs to another user"), "{shown}");
    assert!(home.ailments().iter().any(|code| code == "config-git-ignored"));
    // With sudo, the repositories of the invoking user still count.
    let mut sudo = home.command(&["remember", "with sudo", "--category", "fact"]);
    drop(Ran::of(sudo.env("SUDO_UID", "54321").stdin(Stdio::null())).success());
    assert_eq!(home.projects()[1], (shared, 2, 0));
}

#[test]
fn ignored_paths_are_printed_harmless() {
    let home = Home::new();
    let name = "deep\u{1b}]0;owned\u{7}\u{202e}";
    let folder = home.path("ship").join(name);
    let victim = home.path("victim");
    for part in ["objects", "refs"] {
        fs::create_dir_all(victim.join(".git").join(part)).unwrap();
    }
    fs::write(victim.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(".git"), format!("gitdir: {}/.git\n", victim.display())).unwrap();
    for args in [&["remember", "x", "--category", "fact"][..], &["project", "show"], &["doctor"]] {
        let mut command = home.command(args);
        let ran = Ran::of(command.current_dir(&folder).stdin(Stdio::null()));
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!printed.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}: {printed:?}");
        if args[0] != "remember" {
            assert!(printed.contains("leads to the repository of another checkout"), "{printed}");
        }
    }
}
