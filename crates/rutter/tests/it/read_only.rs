//! Commands and tools on a read-only store.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rutter_testkit::{CommandOutput, report_skip};

use crate::support::TestHome;

/// A user id that is neither root nor the user of the test.
const OTHER_USER_ID: u32 = 54_321;

/// Commands that read, each with a part of its output.
const READ_COMMANDS: [(&[&str], &str); 14] = [
    (&["memories"], "the mast is made of oak"),
    (&["recall", "mast oak"], "the mast is made of oak"),
    (&["episodes", "list"], "test_total"),
    (&["values", "list"], ""),
    (&["sessions", "list"], "one"),
    (&["status"], "ship"),
    (&["injections"], ""),
    (&["export"], "the mast is made of oak"),
    (&["context"], "measure before you cut"),
    (&["project", "list"], "ship"),
    (&["ghap", "list"], "CRLF files parse"),
    (&["call", "status", "{}"], "\"memories\": 2"),
    (&["call", "recall_memories", "{\"query\": \"mast oak\"}"], "the mast is made of oak"),
    (&["call", "assemble_context", "{\"query\": \"mast oak\"}"], "the mast is made of oak"),
];

/// Commands that write.
const WRITE_COMMANDS: [&[&str]; 5] = [
    &["remember", "another", "--category", "fact"],
    &["forget", "--query", "mast", "--yes"],
    &["maintain"],
    &["ghap", "abandon", "--reason", "x"],
    &["call", "remember", "{\"content\": \"x\", \"category\": \"fact\"}"],
];

/// The files of SQLite next to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SqliteFiles {
    /// No files: the last process has checkpointed the WAL.
    Nothing,
    /// The WAL and its index.
    LogAndIndex,
    /// Only the WAL: the files were copied without the index.
    Log,
}

fn filled_store(beside: SqliteFiles) -> TestHome {
    let home = TestHome::new();
    home.write_config(&[]);
    fs::set_permissions(home.memory(), fs::Permissions::from_mode(0o700)).unwrap();
    home.ok(&["remember", "the mast is made of oak", "--category", "fact"]);
    let preference = "measure before you cut";
    home.ok(&["remember", preference, "--category", "preference", "--importance", "1"]);
    drop(home.start_ghap());
    home.ok(&["maintain"]);
    // A hook leaves the WAL in place.
    assert_eq!(home.hook(&home.failing_run("one")).exit, Some(0));
    match beside {
        SqliteFiles::Nothing => home.ok(&["maintain"]),
        SqliteFiles::LogAndIndex => {}
        SqliteFiles::Log => fs::remove_file(home.memory().join("rutter.db-shm")).unwrap(),
    }
    assert_eq!(home.memory().join("rutter.db-wal").exists(), beside != SqliteFiles::Nothing);
    home
}

/// Runs the commands that read and those that write, and returns a message for every wrong result.
fn wrong_results(mut run: impl FnMut(&[&str]) -> CommandOutput, reason: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (args, text) in READ_COMMANDS {
        let ran = run(args);
        if ran.exit != Some(0) || !ran.stdout.contains(text) {
            faults.push(format!("{args:?}: {ran}"));
        }
    }
    for args in WRITE_COMMANDS {
        let ran = run(args);
        let said = ran.stderr.contains("cannot be written: ") && ran.stderr.contains(reason);
        if ran.exit != Some(1) || !said {
            faults.push(format!("{args:?}: {ran}"));
        }
    }
    let report = run(&["doctor", "--json"]).stdout;
    if !report.contains("\"memory-unwritable\"") || report.contains("\"memory-damaged\"") {
        faults.push(report);
    }
    faults
}

#[test]
fn read_only_disk_can_be_read() {
    for beside in [SqliteFiles::Nothing, SqliteFiles::LogAndIndex, SqliteFiles::Log] {
        let home = filled_store(beside);
        let memory = home.memory();
        let mount = |args: &[&str]| {
            let mut command = Command::new("mount");
            command.args(args).arg(&memory).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !mount(&["--bind", memory.to_str().unwrap()]) {
            return report_skip("a read-only disk", "this machine lets nobody mount one");
        }
        let is_read_only = mount(&["-o", "remount,ro,bind"]);
        let faults = wrong_results(|args| home.rutter(args), "mounted read-only");
        let unmounted = Command::new("umount").arg(&memory).status().unwrap();
        assert!(unmounted.success() && is_read_only);
        assert_eq!(faults, [] as [&str; 0], "{beside:?}");
    }
}

/// Gives a directory and its contents to another user, and removes the write permission.
fn give_away(path: &Path) -> std::io::Result<()> {
    lchown(path, Some(OTHER_USER_ID), Some(OTHER_USER_ID))?;
    let is_folder = path.is_dir();
    if is_folder {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path())?;
        }
    }
    fs::set_permissions(path, fs::Permissions::from_mode(if is_folder { 0o500 } else { 0o400 }))
}

#[test]
fn read_only_files_can_be_read() {
    for beside in [SqliteFiles::Nothing, SqliteFiles::LogAndIndex, SqliteFiles::Log] {
        let home = filled_store(beside);
        if give_away(&home.memory()).is_err() {
            return report_skip("a memory without the right to write", "this is not root");
        }
        // The parent directories must be accessible.
        for path in [home.path(""), home.path("ship"), home.path("user")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let binary: PathBuf = home.path("rutter");
        fs::copy(env!("CARGO_BIN_EXE_rutter"), &binary).unwrap();
        let run = |args: &[&str]| {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={OTHER_USER_ID}"), format!("--regid={OTHER_USER_ID}")]);
            command.arg("--clear-groups").arg(&binary).args(args).env_clear();
            command.env("PATH", "/usr/bin:/bin").env("RUTTER_HOME", home.memory());
            command.env("HOME", home.path("user")).current_dir(home.path("ship"));
            CommandOutput::run(command.stdin(Stdio::null()))
        };
        if !Command::new("setpriv").arg("--version").output().is_ok_and(|ran| ran.status.success())
        {
            return report_skip("a memory without the right to write", "setpriv is missing");
        }
        assert_eq!(wrong_results(run, "chmod -R u+w"), [] as [&str; 0], "{beside:?}");
    }
}
