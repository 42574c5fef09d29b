use std::os::unix::fs::FileExt as _;
use std::process::{Command, Stdio};

use rutter_testkit::{CommandOutput, report_skip};

use crate::support::{TestHome, assert_output};

/// Runs the binary under a resource limit of the shell.
fn run_limited(home: &TestHome, limit: &str, args: &[&str]) -> CommandOutput {
    let mut command = Command::new("sh");
    // Without the trap, SIGXFSZ kills the process before it can print an error.
    command.args([
        "-c",
        &format!("trap '' XFSZ; {limit}; exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_rutter"),
    ]);
    command.args(args).env_clear().env("PATH", "/usr/bin:/bin").env("RUTTER_HOME", home.memory());
    CommandOutput::run(command.current_dir(home.path("ship")).stdin(Stdio::null()))
}

#[test]
fn full_disk_loses_nothing() {
    let home = TestHome::new();
    home.ok(&["remember", "before", "--category", "fact"]);
    let before = home.rutter(&["export"]).stdout;
    let long = "much ".repeat(1_900);
    // In blocks of 512 bytes: the WAL has room for one page.
    let ran = run_limited(&home, "ulimit -f 9", &["remember", &long, "--category", "fact"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.starts_with("error: the ") && ran.stderr.contains("nothing was"), "{ran}");
    assert_eq!(home.rutter(&["export"]).stdout, before);
    // With free space again, the command succeeds.
    home.ok(&["remember", &long, "--category", "fact"]);
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
}

#[test]
fn full_disk_leaves_no_partial_store() {
    let home = TestHome::new();
    let ran = run_limited(&home, "ulimit -f 9", &["remember", "x", "--category", "fact"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    let left: Vec<_> =
        std::fs::read_dir(home.memory()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    home.ok(&["remember", "x", "--category", "fact"]);
}

/// Creates a home with its data directory on a 900 KB disk. Returns None if the test may not mount one.
fn small_disk_home() -> Option<TestHome> {
    let home = TestHome::new();
    std::fs::create_dir(home.memory()).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=900k,mode=700", "none"])
        .arg(home.memory())
        .stderr(Stdio::null())
        .status();
    if mounted.is_ok_and(|status| status.success()) {
        return Some(home);
    }
    report_skip("a small disk of its own", "this machine lets nobody mount one");
    None
}

#[test]
fn full_mounted_disk_loses_nothing() {
    let Some(home) = small_disk_home() else { return };
    let ballast = home.memory().join("ballast");
    std::fs::write(&ballast, vec![0; 256 * 1024]).unwrap();
    let long = "much ".repeat(1_900);
    let full = (0..50)
        .map(|number| home.rutter(&["remember", &format!("{long}{number}"), "--category", "fact"]))
        .find(|ran| ran.exit != Some(0));
    std::fs::remove_file(ballast).unwrap();
    let listed = home.rutter(&["memories", "--json"]);
    let unmounted = Command::new("umount").arg(home.memory()).status().unwrap();
    assert!(unmounted.success());
    let full = full.expect("the disk was never full");
    assert_eq!(full.exit, Some(1), "{full}");
    assert!(full.stderr.contains("is full") && full.stderr.contains("; nothing was"), "{full}");
    let listed: serde_json::Value = serde_json::from_str(&listed.assert_success().stdout).unwrap();
    assert!(listed.as_array().unwrap().len() > 3, "{listed}");
}

/// If the disk is too full to create the store, a later command creates it, and no file counts as damaged.
#[test]
fn store_is_created_after_full_disk() {
    let Some(home) = small_disk_home() else { return };
    let ballast = home.memory().join("ballast");
    let mut begun = Vec::new();
    for kilobytes in (200..900).step_by(50) {
        std::fs::write(&ballast, vec![0; kilobytes * 1024]).unwrap();
        begun.push(home.rutter(&["remember", "x", "--category", "fact"]));
        std::fs::remove_file(&ballast).unwrap();
        begun.push(home.rutter(&["remember", "y", "--category", "fact"]));
        let left = std::fs::read_dir(home.memory()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap()).collect();
        for entry in &left {
            let name = entry.file_name().into_string().unwrap();
            assert!(!name.contains("damaged") && !name.contains(".new"), "{kilobytes}: {name}");
            if entry.path().is_dir() {
                std::fs::remove_dir_all(entry.path()).unwrap();
            } else {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    let unmounted = Command::new("umount").arg(home.memory()).status().unwrap();
    assert!(unmounted.success());
    for pair in begun.chunks(2) {
        assert_eq!(pair[1].exit, Some(0), "{} {}", pair[0], pair[1]);
    }
    let refused: Vec<_> = begun.iter().filter(|ran| ran.exit == Some(1)).collect();
    assert!(!refused.is_empty());
    for ran in refused {
        assert!(ran.stderr.contains("full") || ran.stderr.contains("space"), "{ran}");
    }
}

#[test]
fn foreign_data_dir_is_reported() {
    let home = TestHome::new();
    home.ok(&["remember", "x", "--category", "fact"]);
    // The parent directories must be accessible for the error to come from the data directory.
    for path in [home.path(""), home.path("ship")] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let binary = home.path("rutter");
    std::fs::copy(env!("CARGO_BIN_EXE_rutter"), &binary).unwrap();
    let as_nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary).args(args);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("RUTTER_HOME", home.memory());
        command.current_dir(home.path("ship")).stdin(Stdio::null()).output()
    };
    match as_nobody(&["--version"]) {
        Ok(output) if output.status.success() => {}
        _ => {
            return report_skip(
                "a folder of somebody else",
                "setpriv is missing, or this is not root",
            );
        }
    }
    for args in [&["memories"][..], &["remember", "y", "--category", "fact"], &["maintain"]] {
        let ran = CommandOutput::from(as_nobody(args).unwrap());
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.starts_with("error: ") && !ran.stderr.contains("panicked"), "{ran}");
    }
    // A directory that can be read but not written.
    for (name, mode) in [("", 0o755), ("log", 0o755), ("rutter.db", 0o644)] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(home.memory().join(name), mode).unwrap();
    }
    let ran = CommandOutput::from(as_nobody(&["remember", "y", "--category", "fact"]).unwrap());
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("could not write to the memory"), "{ran}");
    assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 1);
    let found = CommandOutput::from(as_nobody(&["doctor"]).unwrap());
    assert!(found.stdout.contains("[memory-unwritable]"), "{found}");
    // Five open files and directories cause one finding. A repair closes all of them.
    assert_eq!(home.doctor_codes(), ["memory-readable"]);
    let repaired = home.rutter(&["doctor", "--repair"]);
    assert_eq!(repaired.stdout.matches("closed    ").count(), 5, "{repaired}");
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
}

#[test]
fn damaged_database_is_salvaged() {
    let home = TestHome::new();
    home.ok(&["remember", "worth saving", "--category", "fact"]);
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
    let database = home.memory().join("rutter.db");
    std::fs::OpenOptions::new()
        .write(true)
        .open(&database)
        .unwrap()
        .write_all_at(&[0; 4096], 0)
        .unwrap();
    let ran = home.rutter(&["doctor"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.contains("-> rutter doctor --repair"), "{ran}");
    let ran = home.rutter(&["memories", "--json"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "[]\n"));
    assert!(ran.stderr.contains("the database was damaged and is kept as"), "{ran}");
    let ran = home.rutter(&["doctor", "--repair"]);
    assert!(ran.stdout.contains("rows read"), "{ran}");
    assert!(ran.stdout.contains("\n          memory: 1 rows\n"), "{ran}");
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
    assert_eq!(home.json(&["memories"])[0]["text"], "worth saving");
}

#[test]
fn newer_database_stays_unchanged() {
    let home = TestHome::new();
    home.ok(&["remember", "x", "--category", "fact"]);
    let database = home.memory().join("rutter.db");
    // SQLite stores the user version at byte 60.
    std::fs::OpenOptions::new()
        .write(true)
        .open(&database)
        .unwrap()
        .write_all_at(&99_u32.to_be_bytes(), 60)
        .unwrap();
    let before = std::fs::read(&database).unwrap();
    assert_output!(home, home.rutter(&["memories"]), @"
    exit 1
    --- stderr
    error: a newer rutter wrote [HOME]/memory/rutter.db (schema 99, this version supports 10); update rutter
    ");
    assert_output!(home, home.rutter(&["maintain"]), @"
    exit 1
    --- stderr
    error: a newer rutter wrote [HOME]/memory/rutter.db (schema 99, this version supports 10); update rutter
    ");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn tend_prints_its_work() {
    let home = TestHome::new();
    // A detached run does not recreate a data directory that the user has deleted.
    assert_output!(home, home.rutter(&["maintain", "--detached"]), @"exit 0");
    assert!(!home.memory().exists());
    home.ok(&["maintain"]);
    assert_output!(home, home.rutter(&["maintain", "--detached"]), @"
    exit 0
    --- stdout
    0 entries stored, 0 expired rows deleted, write-ahead log merged into the database
    ");
    assert_output!(home, home.rutter(&["maintain", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "drained": 0,
      "held": 0,
      "refused": 0,
      "retired": 0,
      "filed": false,
      "grouped": 0,
      "folded": true
    }
    "#);
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
}
