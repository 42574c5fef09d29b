//! Repositories, archives and other users that try to get the memories of another project, or to slow down a hook.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::hook::assert_silent;
use crate::mcp_stdio::StdioServer;
use crate::support::TestHome;

const REMOTE: &str = "https://example.org/ada/shop";

impl TestHome {
    /// Runs a command in another directory.
    fn run_in_dir(&self, folder: &str, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args);
        CommandOutput::run(command.current_dir(self.path(folder)).stdin(Stdio::null()))
    }

    /// Creates a repository in a directory and returns its path. An empty `remote` adds no remote.
    fn create_repository(&self, folder: &str, remote: &str) -> PathBuf {
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
        drop(CommandOutput::run(&mut git).assert_success());
    }

    fn remember_in(&self, folder: &str, text: &str) {
        drop(self.run_in_dir(folder, &["remember", text, "--category", "fact"]).assert_success());
    }

    /// Returns the payload of a failing test run in another directory.
    fn failing_run_in(&self, folder: &str, session: &str) -> Value {
        let mut payload = self.failing_run(session);
        payload["cwd"] = json!(self.path(folder));
        payload
    }

    /// Returns key, number of memories and number of outcomes of every project.
    fn project_counts(&self) -> Vec<(String, u64, u64)> {
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
        let shown = self
            .run_in_dir(folder, &["config", "show", "--origin", "--json"])
            .assert_success()
            .stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["files"]["project"]["standing"] == "trusted"
    }
}

/// Returns the key of a project that is identified by its path.
fn path_key(folder: &Path) -> String {
    format!("dir:{}", folder.display())
}

fn require_git(what: &str) -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    if !is_there {
        rutter_testkit::skip_test(what, "there is no git");
    }
    is_there
}

#[test]
fn huge_git_config_keeps_recording() {
    if !require_git("huge configurations") {
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
        let home = TestHome::new();
        home.write_config(&[]);
        let folder = home.create_repository("ship", "");
        fs::write(folder.join(".git/config"), &shape).unwrap();
        home.ok(&["maintain"]);
        let begun = Instant::now();
        assert_silent(&home.hook(&home.failing_run("one")));
        // A release build takes about 10 ms; a hook gives up after one second.
        assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
        let key = format!("git:{}/.git", folder.display());
        assert_eq!(home.project_counts(), [(key, 0, 1)], "{shape:.40}");
        let begun = Instant::now();
        let shown = home.rutter(&["project", "show"]).assert_success();
        home.ok(&["recall", "anything"]);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        // A file that is too large to be read is reported.
        let is_large = shape.len() > 256 * 1024;
        assert_eq!(shown.stderr.contains("is not read"), is_large, "{}", shown.stderr);
        let ailments = home.doctor_codes();
        assert_eq!(
            ailments.iter().any(|code| code == "config-git-ignored"),
            is_large,
            "{ailments:?}"
        );
    }
}

#[test]
fn copies_share_unless_identity_is_path() {
    if !require_git("identities") {
        return;
    }
    let home = TestHome::new();
    home.write_config(&[]);
    let own = home.create_repository("ship", REMOTE);
    let copy = home.create_repository("copy", REMOTE);
    let store = |text: &str| {
        home.remember_in("ship", &format!("{text} of the ship"));
        let mut mcp = home.command(&["mcp"]);
        mcp.current_dir(&copy);
        let mut server = StdioServer::start_initialized(mcp);
        let fact = json!({ "content": format!("{text} of the copy"), "category": "fact" });
        assert_eq!(server.call_tool("remember", &fact)["result"]["isError"], false);
        server.finish();
        assert_silent(&home.hook(&home.failing_run_in("copy", text)));
    };
    store("shared");
    let shared = "example.org/ada/shop".to_owned();
    assert_eq!(home.project_counts(), [(shared.clone(), 2, 1)]);

    let config = home.memory().join("config.toml");
    let plain = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("identity = \"path\"\n{plain}")).unwrap();
    store("own");
    let apart = vec![(path_key(&copy), 1, 1), (path_key(&own), 1, 0), (shared.clone(), 2, 1)];
    assert_eq!(home.project_counts(), apart);
    // The copy cannot read the memories of the original.
    let found = home.run_in_dir("copy", &["memories", "--json"]).assert_success().stdout;
    assert!(found.contains("own of the copy") && !found.contains("of the ship"), "{found}");
    // A project file cannot join them again, trusted or not.
    fs::write(copy.join(".rutter.toml"), "identity = \"remote\"\n").unwrap();
    home.remember_in("copy", "not trusted");
    drop(home.run_in_dir("copy", &["trust", "--yes"]));
    home.remember_in("copy", "trusted");
    let check = home.run_in_dir("copy", &["config", "check"]);
    assert!(check.stdout.contains("a project file cannot set `identity`"), "{check:?}");
    assert_eq!(home.project_counts()[0], (path_key(&copy), 3, 1));
    assert_eq!(home.project_counts()[2], (shared.clone(), 2, 1));
    // A project file may separate itself although the user's configuration does not.
    fs::write(&config, plain).unwrap();
    home.remember_in("ship", "shared again");
    home.remember_in("copy", "shared again by the copy");
    assert_eq!(home.project_counts()[2], (shared.clone(), 4, 1));
    fs::write(copy.join(".rutter.toml"), "identity = \"path\"\n").unwrap();
    home.remember_in("copy", "alone");
    assert_eq!(home.project_counts()[0], (path_key(&copy), 4, 1));
}

#[test]
fn only_users_merge_projects() {
    if !require_git("merges") {
        return;
    }
    for is_forwards in [true, false] {
        let home = TestHome::new();
        home.write_config(&[]);
        home.create_repository("ship", REMOTE);
        home.remember_in("ship", "known before");
        let folder = home.create_repository("boat", "");
        home.remember_in("boat", "without a remote");
        home.git("boat", &["remote", "add", "origin", REMOTE]);
        assert_silent(&home.hook(&home.failing_run_in("boat", "one")));
        home.remember_in("boat", "with the remote");
        let (boat, ship) = (format!("git:{}/.git", folder.display()), "example.org/ada/shop");
        assert_eq!(home.project_counts(), [(ship.to_owned(), 2, 1), (boat.clone(), 1, 0)]);
        let shown = home.run_in_dir("boat", &["project", "show"]).assert_success();
        assert!(shown.stdout.contains("key      example.org/ada/shop"), "{}", shown.stdout);
        assert!(shown.stderr.contains("was in this folder before and has"), "{}", shown.stderr);
        assert!(shown.stderr.contains("`rutter project merge "), "{}", shown.stderr);
        let order = if is_forwards { [&*boat, ship] } else { [ship, &*boat] };
        let refused = home.rutter(&["project", "merge", order[0], order[1]]);
        assert_eq!(refused.exit, Some(1));
        assert_eq!(home.project_counts().len(), 2);
        home.ok(&["project", "merge", order[0], order[1], "--yes"]);
        home.remember_in("boat", "after the merge");
        home.remember_in("ship", "and in the other place");
        assert_eq!(home.project_counts(), [(order[1].to_owned(), 5, 1)]);
        let shown = home.run_in_dir("boat", &["project", "show"]).assert_success();
        assert_eq!(shown.stderr, "");
    }
}

#[test]
fn changed_remote_moves_no_memory() {
    if !require_git("changed remotes") {
        return;
    }
    let home = TestHome::new();
    home.create_repository("ship", REMOTE);
    home.create_repository("bank", "https://example.org/ada/bank");
    home.remember_in("ship", "of the ship");
    home.remember_in("bank", "of the bank");
    home.git("ship", &["remote", "set-url", "origin", "https://example.org/ada/bank"]);
    home.remember_in("ship", "claims the bank");
    home.git("ship", &["remote", "set-url", "origin", "../bank"]);
    home.remember_in("ship", "claims the folder");
    let found = home.project_counts();
    let count =
        |key: &str| found.iter().find(|(known, ..)| known == key).map(|(_, count, _)| *count);
    assert_eq!(count("example.org/ada/shop"), Some(1), "{found:?}");
    assert_eq!(found.iter().map(|(_, count, _)| count).sum::<u64>(), 4);
    let bank = home.run_in_dir("bank", &["memories", "--json"]).assert_success().stdout;
    assert!(!bank.contains("of the ship"), "{bank}");
}

#[test]
fn trust_cannot_be_borrowed() {
    if !require_git("trust") {
        return;
    }
    let home = TestHome::new();
    let folder = home.create_repository("ship", REMOTE);
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
    home.create_repository("worktree", REMOTE);
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
fn foreign_git_dir_is_ignored() {
    if !require_git("directories of other users") {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        rutter_testkit::skip_test("directories of other users", "only root can give a file away");
        return;
    }
    let home = TestHome::new();
    home.write_config(&[]);
    let folder = home.create_repository("ship", REMOTE);
    home.remember_in("ship", "mine");
    chown(folder.join(".git"), Some(54_321), None).unwrap();
    assert_silent(&home.hook(&home.failing_run("one")));
    home.remember_in("ship", "by its path");
    let shared = "example.org/ada/shop".to_owned();
    assert_eq!(home.project_counts(), [(path_key(&folder), 1, 1), (shared.clone(), 1, 0)]);
    let shown = home.rutter(&["project", "show"]).assert_success().stderr;
    assert!(shown.contains("belongs to another user"), "{shown}");
    assert!(home.doctor_codes().iter().any(|code| code == "config-git-ignored"));
    // With sudo, the repositories of the invoking user still count.
    let mut sudo = home.command(&["remember", "with sudo", "--category", "fact"]);
    drop(CommandOutput::run(sudo.env("SUDO_UID", "54321").stdin(Stdio::null())).assert_success());
    assert_eq!(home.project_counts()[1], (shared, 2, 0));
}

#[test]
fn ignored_paths_are_escaped() {
    let home = TestHome::new();
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
        let ran = CommandOutput::run(command.current_dir(&folder).stdin(Stdio::null()));
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!printed.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}: {printed:?}");
        if args[0] != "remember" {
            assert!(printed.contains("points to the repository of another checkout"), "{printed}");
        }
    }
}

#[test]
fn nested_repository_is_no_other_project() {
    if !require_git("nested repositories") {
        return;
    }
    let home = TestHome::new();
    home.write_config(&[]);
    home.create_repository("secret", REMOTE);
    home.remember_in("secret", "the vault code is in the blue drawer");
    let failing = home.failing_run_in("secret", "owner");
    assert_silent(&home.hook(&failing));
    let start = home.create_repository("ship", "https://example.org/eve/ship").clone();
    let plain = home.path("plain");
    fs::create_dir_all(&plain).unwrap();
    for (number, started_in) in [start, plain.canonicalize().unwrap()].iter().enumerate() {
        let session = format!("guest-{number}");
        let name = started_in.file_name().unwrap().to_str().unwrap();
        let nested = home.create_repository(&format!("{name}/sub"), REMOTE);
        let environment = [("CLAUDE_PROJECT_DIR", started_in.as_path())];
        let send = |event: &str, cwd: &Path, fields: &Value| {
            let mut payload = home.event(&session, event, fields);
            payload["cwd"] = json!(cwd);
            let ran = home.hook_with(payload.to_string().as_bytes(), &environment);
            ran.assert_success().stdout
        };
        // A tool call that asks for the memory, and one that writes to it.
        let mut mcp = home.command(&["mcp"]);
        mcp.current_dir(started_in).env("CLAUDE_PROJECT_DIR", started_in);
        let mut server = StdioServer::start_initialized(mcp);
        let mut call = |tool: &str, arguments: &Value| {
            let id = format!("toolu_{number}_{tool}");
            let fields = json!({
                "tool_name": format!("mcp__rutter__{tool}"), "tool_input": {}, "tool_use_id": id,
            });
            send("PreToolUse", &nested, &fields);
            let params = json!({
                "name": tool, "arguments": arguments, "_meta": { "claudecode/toolUseId": id },
            });
            let answer = server.request("tools/call", &params).to_string();
            assert!(answer.contains(r#""isError":false"#), "{answer}");
            answer
        };
        send("SessionStart", started_in, &json!({ "source": "startup" }));
        let found = call("recall_memories", &json!({ "query": "vault code drawer" }));
        assert!(!found.contains("blue drawer"), "{found}");
        call("remember", &json!({ "content": format!("planted by {name}"), "category": "fact" }));
        server.finish();
        // Hooks.
        let again = send("SessionStart", &nested, &json!({ "source": "clear" }));
        let asked = send(
            "UserPromptSubmit",
            &nested,
            &json!({ "prompt": "where is the vault code, in which drawer?" }),
        );
        for shown in [again, asked] {
            assert!(!shown.contains("blue drawer"), "{shown}");
        }
        let mut run = home.failing_run(&session);
        run["cwd"] = json!(nested);
        let ran = home.hook_with(run.to_string().as_bytes(), &environment);
        assert!(!ran.stdout.contains("seen"), "{}", ran.stdout);
    }
    let counts = home.project_counts();
    let count = |key: &str| {
        counts.iter().find(|(known, ..)| known == key).map(|(_, texts, runs)| (*texts, *runs))
    };
    assert_eq!(count("example.org/ada/shop"), Some((1, 1)), "{counts:?}");
    assert_eq!(count("example.org/eve/ship"), Some((1, 1)), "{counts:?}");
    assert_eq!(count(&path_key(&plain.canonicalize().unwrap())), Some((1, 1)), "{counts:?}");
}

#[test]
fn tools_stay_in_project_of_session() {
    if !require_git("remotes that change in a session") {
        return;
    }
    let home = TestHome::new();
    home.write_config(&[]);
    let other = home.create_repository("secret", REMOTE);
    home.remember_in("secret", "the vault code is in the blue drawer");
    let start = home.create_repository("ship", "https://example.org/eve/ship");
    let environment = [("CLAUDE_PROJECT_DIR", start.as_path())];
    let send = |event: &str, cwd: &Path, fields: &Value| {
        let mut payload = home.event("guest", event, fields);
        payload["cwd"] = json!(cwd);
        drop(home.hook_with(payload.to_string().as_bytes(), &environment).assert_success());
    };
    let mut server = StdioServer::start_initialized(home.command(&["mcp"]));
    let mut call = |id: &str, cwd: &Path, tool: &str, arguments: &Value| {
        let fields = json!({
            "tool_name": format!("mcp__rutter__{tool}"), "tool_input": {}, "tool_use_id": id,
        });
        send("PreToolUse", cwd, &fields);
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "claudecode/toolUseId": id } });
        let answer = server.request("tools/call", &params).to_string();
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        answer
    };
    let question = json!({ "query": "vault code drawer" });
    // The first event of the session is elsewhere, and later its own repository claims the other remote.
    let found = call("toolu_1", &other, "recall_memories", &question);
    assert!(!found.contains("blue drawer"), "{found}");
    home.git("ship", &["remote", "set-url", "origin", REMOTE]);
    let found = call("toolu_2", &start, "recall_memories", &question);
    assert!(!found.contains("blue drawer"), "{found}");
    call("toolu_3", &start, "remember", &json!({ "content": "planted", "category": "fact" }));
    // Calls that no hook recorded, and prompts, stay as well.
    let params = json!({ "name": "recall_memories", "arguments": question });
    let found = server.request("tools/call", &params).to_string();
    assert!(found.contains(r#""isError":false"#) && !found.contains("blue drawer"), "{found}");
    server.finish();
    let kept = |key: &str| home.project_counts().into_iter().find(|(known, ..)| known == key);
    assert_eq!(kept("example.org/ada/shop").map(|(_, texts, _)| texts), Some(1));
    assert_eq!(kept("example.org/eve/ship").map(|(_, texts, _)| texts), Some(1));
}
