//! Data directories that other users can change: open permissions, files of other users, and symbolic links.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_testkit::{CommandOutput, report_skip};
use serde_json::json;

use crate::hook::assert_silent;
use crate::support::{TestHome, read_tree};

/// A user id that is neither root nor the user of the test.
const OTHER_USER_ID: u32 = 54_321;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn file_mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// Runs the hooks of one session: start, failure, edit, shell command, prompt, stop.
fn play_session(home: &TestHome) {
    let prompt = json!({ "prompt": "why does test_total fail" });
    let command = json!({ "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": { "command": "sed -i s/a/b/ shop/cart.py" } });
    for payload in [
        home.event("one", "SessionStart", &json!({ "source": "startup" })),
        home.failing_run("one"),
        home.edit("one"),
        home.event("one", "PreToolUse", &command),
        home.event("one", "UserPromptSubmit", &prompt),
        home.event("one", "Stop", &json!({})),
    ] {
        let ran = home.hook(&payload);
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{payload}: {ran}");
    }
}

#[test]
fn hook_closes_writable_data_dir() {
    for open in [0o777, 0o770, 0o702] {
        let home = TestHome::new();
        home.write_config(&[]);
        home.ok(&["remember", "x", "--category", "fact"]);
        set_mode(&home.memory(), open);
        set_mode(&home.memory().join("rutter.db"), 0o666);
        set_mode(&home.memory().join("log"), 0o777);
        assert_silent(&home.hook(&home.failing_run("one")));
        assert_eq!(file_mode(&home.memory()) & 0o777, 0o700);
        assert_eq!(file_mode(&home.memory().join("rutter.db")), 0o600);
        assert_eq!(file_mode(&home.memory().join("log")), 0o700);
        // The hook continues afterwards: the run is recorded.
        assert_eq!(home.json(&["episodes", "list"]).as_array().unwrap().len(), 1);
        assert_eq!(home.doctor_codes(), ["memory-was-open"]);
        let said = home.rutter(&["doctor", "--json"]).stdout;
        assert!(
            said.contains(&format!("(mode {open:04o}); the permission was removed at 2")),
            "{said}"
        );
    }
}

#[test]
fn command_closes_writable_data_dir() {
    let home = TestHome::new();
    home.ok(&["remember", "x", "--category", "fact"]);
    set_mode(&home.memory(), 0o777);
    assert_eq!(home.doctor_codes(), ["memory-writable-by-others"]);
    let ran = home.rutter(&["memories"]).assert_success();
    assert_eq!(ran.stderr.matches("warning: other users could write to").count(), 1, "{ran}");
    assert_eq!(file_mode(&home.memory()), 0o700);
    assert_eq!(home.rutter(&["memories"]).assert_success().stderr, "");
    assert_eq!(home.doctor_codes(), ["memory-was-open"]);
    set_mode(&home.memory(), 0o777);
    let repaired = home.rutter(&["doctor", "--repair"]);
    assert!(repaired.stdout.contains("closed    "), "{repaired}");
    assert_eq!(file_mode(&home.memory()), 0o700);
}

#[test]
fn only_own_dirs_are_closed() {
    // A sticky directory like /tmp, a directory with other files, and a file.
    for (name, is_sticky) in [("shared", true), ("project", false)] {
        let home = TestHome::new();
        let folder = home.path(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        set_mode(&folder.join("notes.txt"), 0o666);
        if is_sticky {
            fs::remove_file(folder.join("notes.txt")).unwrap();
        }
        let open = if is_sticky { 0o1777 } else { 0o777 };
        set_mode(&folder, open);
        let before = read_tree(&folder);
        let payload = home.failing_run("one").to_string();
        assert_silent(&home.hook_with(payload.as_bytes(), &[("RUTTER_HOME", &folder)]));
        let mut command = home.command(&["remember", "x", "--category", "fact"]);
        let ran = CommandOutput::run(command.env("RUTTER_HOME", &folder).stdin(Stdio::null()));
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains("which is not a folder that rutter made"), "{ran}");
        let mut command = home.command(&["doctor", "--repair"]);
        let ran = CommandOutput::run(command.env("RUTTER_HOME", &folder).stdin(Stdio::null()));
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert_eq!((file_mode(&folder), read_tree(&folder)), (open, before));
        if !is_sticky {
            assert_eq!(file_mode(&folder.join("notes.txt")), 0o666);
        }
    }
    let home = TestHome::new();
    let file = home.path("device");
    fs::write(&file, "").unwrap();
    set_mode(&file, 0o666);
    let payload = home.failing_run("one").to_string();
    assert_silent(&home.hook_with(payload.as_bytes(), &[("RUTTER_HOME", &file)]));
    let mut command = home.command(&["memories"]);
    assert_eq!(
        CommandOutput::run(command.env("RUTTER_HOME", &file).stdin(Stdio::null())).exit,
        Some(1)
    );
    assert_eq!(file_mode(&file), 0o666);
}

#[test]
fn foreign_data_dir_is_refused() {
    let home = TestHome::new();
    home.ok(&["remember", "x", "--category", "fact"]);
    if chown(home.memory(), Some(OTHER_USER_ID), None).is_err() {
        return report_skip("a folder of another user", "this is not root");
    }
    let before = read_tree(&home.memory());
    play_session(&home);
    assert_eq!(read_tree(&home.memory()), before);
    for args in
        [&["memories"][..], &["remember", "y", "--category", "fact"], &["maintain"], &["pause"]]
    {
        let ran = home.rutter(args);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains("belongs to another user (uid 54321)"), "{ran}");
        assert!(
            ran.stderr.contains("sudo chown -R") && ran.stderr.contains("RUTTER_HOME"),
            "{ran}"
        );
    }
    assert_eq!(read_tree(&home.memory()), before);
    assert_eq!(home.doctor_codes(), ["memory-of-another-user"]);
}

#[test]
fn foreign_data_file_is_refused() {
    for name in ["rutter.db", "spool", "spool/current.jsonl", "log", "log/rutter.log", "tally"] {
        let home = TestHome::new();
        // Without a database, hooks write to the spool.
        fs::create_dir(home.memory()).unwrap();
        set_mode(&home.memory(), 0o700);
        let path = home.memory().join(name);
        if matches!(name, "spool" | "log") {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
        }
        set_mode(&path, if path.is_dir() { 0o777 } else { 0o666 });
        if chown(&path, Some(OTHER_USER_ID), None).is_err() {
            return report_skip("a file of another user", "this is not root");
        }
        play_session(&home);
        if path.is_dir() {
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "{name}");
        } else {
            assert_eq!(fs::read(&path).unwrap(), b"", "{name}");
        }
        assert!(home.doctor_codes().contains(&"memory-of-another-user".to_owned()), "{name}");
    }
}

/// Every file and directory that rutter writes in its data directory; true for a directory.
const DATA_DIR_ENTRIES: [(&str, bool); 18] = [
    ("rutter.db", false),
    ("rutter.db-wal", false),
    ("rutter.db-shm", false),
    ("rutter.db.new", false),
    ("spool", true),
    ("spool/current.jsonl", false),
    ("spool/held.jsonl", false),
    ("log", true),
    ("log/rutter.log", false),
    ("log/rutter.log.1", false),
    ("snapshots", true),
    ("vectors", false),
    ("terms", false),
    ("tally", false),
    ("paused", false),
    ("trusted", false),
    ("http-token", false),
    ("backups", true),
];

#[test]
fn nothing_is_written_through_links() {
    for (name, is_folder) in DATA_DIR_ENTRIES {
        for exists in [true, false] {
            for begun in [true, false] {
                let home = TestHome::new();
                home.write_config(&[]);
                set_mode(&home.memory(), 0o700);
                fs::create_dir_all(home.path("ship/shop")).unwrap();
                fs::write(home.path("ship/shop/cart.py"), "def total(items): ...\n").unwrap();
                if begun {
                    home.ok(&["remember", "the mast is made of oak", "--category", "fact"]);
                    home.ok(&["maintain"]);
                }
                let target = home.path("target");
                if is_folder && exists {
                    fs::create_dir(&target).unwrap();
                    fs::write(target.join("kept"), "as it was").unwrap();
                } else if exists {
                    fs::write(&target, "as it was").unwrap();
                }
                let link = home.memory().join(name);
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                set_mode(link.parent().unwrap(), 0o700);
                if fs::symlink_metadata(&link).is_ok_and(|found| found.is_dir()) {
                    fs::remove_dir_all(&link).unwrap();
                } else {
                    drop(fs::remove_file(&link));
                }
                symlink(&target, &link).unwrap();
                let case = format!("{name}, target {exists}, begun {begun}");
                play_session(&home);
                let ran = home.rutter(&["remember", "y", "--category", "fact"]);
                assert_eq!(ran.exit, Some(1), "{case}: {ran}");
                assert!(ran.stderr.contains("is a symbolic link"), "{case}: {ran}");
                assert!(ran.stderr.contains("run `rm '"), "{case}: {ran}");
                for args in
                    [&["maintain"][..], &["pause"], &["trust", "--yes"], &["doctor", "--repair"]]
                {
                    assert_eq!(home.rutter(args).exit, Some(1), "{case}: {args:?}");
                }
                if home.memory().join(name).is_symlink() {
                    let found = home.doctor_codes();
                    assert!(found.contains(&"memory-link".to_owned()), "{case}: {found:?}");
                }
                if is_folder && exists {
                    let left: Vec<_> = fs::read_dir(&target).unwrap().collect();
                    assert_eq!(left.len(), 1, "{case}: {left:?}");
                    assert_eq!(fs::read(target.join("kept")).unwrap(), b"as it was", "{case}");
                } else if exists {
                    assert_eq!(fs::read(&target).unwrap(), b"as it was", "{case}");
                } else {
                    assert!(fs::symlink_metadata(&target).is_err(), "{case}");
                }
            }
        }
    }
}

/// Returns true if a command ends by itself. One that waits for somebody is killed.
fn ends(home: &TestHome, args: &[&str]) -> bool {
    let mut command = home.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert_ne!(status.code(), Some(2), "{args:?} is no command");
            return true;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn pipes_in_data_dir_are_skipped() {
    let files = DATA_DIR_ENTRIES.iter().filter(|(_, is_folder)| !is_folder).map(|(name, _)| *name);
    for name in files.chain(["config.toml"]) {
        let home = TestHome::new();
        home.write_config(&[]);
        set_mode(&home.memory(), 0o700);
        fs::write(home.path("ship/.rutter.toml"), "[scope]\nrecall = \"everywhere\"\n").unwrap();
        home.ok(&["remember", "the mast is made of oak", "--category", "fact"]);
        home.ok(&["maintain"]);
        let pipe = home.memory().join(name);
        fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        drop(fs::remove_file(&pipe));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        play_session(&home);
        if !name.starts_with("log/") {
            let log = fs::read_to_string(home.memory().join("log/rutter.log")).unwrap_or_default();
            assert!(!log.contains("ended after one second"), "{name}: {log}");
        }
        for args in [
            &["status"][..],
            &["recall", "oak"],
            &["remember", "the deck is made of pine", "--category", "fact"],
            &["pause"],
            &["pause", "--off"],
            &["trust", "--list"],
            &["trust", "--yes"],
            &["config", "check"],
            &["config", "show"],
            &["injections"],
            &["export"],
            &["init"],
            &["uninstall"],
            &["forget", "--query", "oak", "--yes"],
            &["doctor"],
            &["maintain"],
            &["doctor", "--repair"],
        ] {
            assert!(ends(&home, args), "{name}: {args:?}");
        }
    }
    let home = TestHome::new();
    home.ok(&["maintain"]);
    assert!(Command::new("mkfifo").arg(home.memory().join("paused")).status().unwrap().success());
    let ran = home.rutter(&["pause"]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("paused is not a regular file"), "{ran}");
}

#[test]
fn data_dir_may_be_link() {
    let home = TestHome::new();
    fs::create_dir(home.path("disk")).unwrap();
    set_mode(&home.path("disk"), 0o700);
    symlink(home.path("disk"), home.memory()).unwrap();
    home.ok(&["remember", "x", "--category", "fact"]);
    play_session(&home);
    assert_eq!(home.json(&["episodes", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
    // The link's target is checked like any data directory.
    set_mode(&home.path("disk"), 0o777);
    assert_silent(&home.hook(&home.edit("one")));
    assert_eq!(file_mode(&home.path("disk")), 0o700);
    if chown(home.path("disk"), Some(OTHER_USER_ID), None).is_ok() {
        let before = read_tree(&home.path("disk"));
        play_session(&home);
        assert_eq!(read_tree(&home.path("disk")), before);
    }
}
