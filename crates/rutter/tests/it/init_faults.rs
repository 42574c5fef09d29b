use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rutter_testkit::{CommandOutput, report_skip};

use crate::support::{TestHome, assert_output};

/// Returns the sorted names in a directory.
fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn malformed_settings_are_refused() {
    let home = TestHome::new();
    for (text, place) in [
        ("{\n  \"a\": 1,\n}\n", "3:1: this is not JSON: expected a key"),
        ("// mine\n{}\n", "1:1: this is not JSON: expected a value"),
        ("{\n  \"ä\": \"ö\", /* x */ \"b\": 1 }", "2:13: this is not JSON: expected a key"),
        ("{ \"a\": [1, 2,] }", "1:14: this is not JSON"),
        ("{ \"a\": 1", "1:9: this is not JSON"),
        ("{} {}", "1:4: this is not JSON: expected the end"),
        ("[]\n", "1:1: this has to be an object"),
        ("\n null", "2:2: this has to be an object"),
        ("{ \"hooks\": [] }", "1:12: `hooks` has to be an object"),
        ("{ \"hooks\": null }", "1:12: `hooks` has to be an object"),
        ("{ \"hooks\": {\n\"Stop\": {} } }", "2:9: `Stop` has to be an array"),
        ("{ \"hooks\": {}, \"hooks\": {} }", "1:16: a second `hooks`"),
        ("{ \"hooks\": { \"Stop\": [], \"St\\u006fp\": [] } }", "1:26: a second `Stop`"),
        ("\u{feff}[]", "1:1: this has to be an object"),
    ] {
        home.write_settings(text);
        for command in ["init", "uninstall"] {
            let ran = if command == "init" { home.init(&[]) } else { home.rutter(&[command]) };
            assert_eq!(ran.exit, Some(1), "{text}: {ran}");
            let start = format!("error: {}:{place}", home.settings().display());
            assert!(ran.stderr.starts_with(&start), "{text}: {ran}");
            let advice = format!("Mend it and run `rutter {command}` again\n");
            assert!(ran.stderr.ends_with(&advice) && ran.stdout.is_empty(), "{ran}");
            assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
        }
    }
    assert!(!home.memory().exists(), "a refused `init` makes no memory");
    home.write_settings(b"{\n\"a\": \"\xff\"}");
    let ran = home.init(&[]);
    assert!(ran.stderr.contains(":2:7: this is not UTF-8"), "{ran}");
    assert_eq!(file_names(&home.path("ship/.claude")), ["settings.local.json"]);
}

#[test]
fn linked_settings_stay_linked() {
    let home = TestHome::new();
    fs::create_dir_all(home.path("ship/.claude")).unwrap();
    fs::create_dir(home.path("dotfiles")).unwrap();
    let real = home.path("dotfiles/claude.json");
    fs::write(&real, "{\n}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../../dotfiles/claude.json", home.settings()).unwrap();
    let ran = home.init(&["-v"]).assert_success();
    let shown = format!(
        "+++ {} -> {}\n",
        home.settings().display(),
        real.canonicalize().unwrap().display()
    );
    assert!(ran.stdout.contains(&shown), "{ran}");
    assert!(home.settings().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("SessionStart"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(file_names(&home.path("dotfiles")), ["claude.json"]);
    home.ok(&["uninstall"]);
    assert!(home.settings().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\n}\n");

    fs::remove_file(&real).unwrap();
    assert_output!(home, home.init(&[]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.claude/settings.local.json is a broken symbolic link; nothing was changed; fix that and try again
    ");
    fs::remove_dir_all(home.path("ship/.claude")).unwrap();
    symlink("nowhere", home.path("ship/.claude")).unwrap();
    assert_output!(home, home.init(&[]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.claude/settings.local.json is in [HOME]/ship/.claude, a link that leads nowhere; nothing was changed; fix that and try again
    ");
}

#[test]
fn root_refuses_foreign_home() {
    let home = TestHome::new();
    fs::create_dir(home.path("theirs")).unwrap();
    if std::os::unix::fs::chown(home.path("theirs"), Some(65534), Some(65534)).is_err() {
        return report_skip("a home of somebody else", "only root can make one");
    }
    for args in [&["init", "--user"][..], &["init"], &["uninstall"]] {
        let program = home.program("bin");
        let args =
            if args[0] == "init" { [args, &["--bin", &program]].concat() } else { args.to_vec() };
        let mut command = home.command(&args);
        let ran = CommandOutput::run(command.env("HOME", home.path("theirs")).stdin(Stdio::null()));
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains("run it as that user, without sudo"), "{ran}");
    }
    assert_eq!(file_names(&home.path("theirs")), [] as [&str; 0]);
    assert!(!home.path("ship/.claude").exists());
}

#[test]
fn read_only_settings_are_refused() {
    let home = TestHome::new();
    home.write_settings("{}");
    let folder = home.path("ship/.claude");
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(&home.settings(), 0o444);
    let ran = home.init(&[]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(
        ran.stderr.contains("cannot be written: ") && ran.stderr.contains("; nothing was changed"),
        "{ran}"
    );
    assert_eq!(file_names(&folder), ["settings.local.json"]);
    set(&home.settings(), 0o644);
    set(&folder, 0o555);
    let ran = home.init(&[]);
    set(&folder, 0o755);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("read-only; nothing was changed"), "{ran}");
    assert_eq!(file_names(&folder), ["settings.local.json"]);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), "{}");

    // A directory that is missing and cannot be created.
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "a file").unwrap();
    let ran = home.init(&[]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(
        ran.stderr.starts_with("error: ") && ran.stderr.contains("nothing was changed"),
        "{ran}"
    );
}

#[test]
fn full_disk_leaves_settings_unchanged() {
    let home = TestHome::new();
    home.write_settings("{\"mine\": 1}");
    home.ok(&["memories"]);
    let program = home.program("bin");
    let mut command = Command::new("sh");
    // No file may grow at all, so writing the undo record fails first.
    command.args([
        "-c",
        "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_rutter"),
    ]);
    command.args(["init", "--bin", &program]).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("HOME", home.path("user"));
    command.env("RUTTER_HOME", home.memory()).current_dir(home.path("ship")).stdin(Stdio::null());
    let ran = CommandOutput::run(&mut command);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), "{\"mine\": 1}");
    assert_eq!(file_names(&home.path("ship/.claude")), ["settings.local.json"]);
}

#[test]
fn closed_pipe_does_not_stop_init() {
    let home = TestHome::new();
    // More than a buffer holds, so that output is written before the end.
    home.write_settings(format!("{{\"long\": \"{}\"}}", "x ".repeat(200_000)));
    let mut child = home
        .command(&["init", "--bin", &home.program("bin")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(fs::read_to_string(home.settings()).unwrap().contains("SessionStart"));
}

#[test]
fn build_dir_program_is_refused() {
    let home = TestHome::new();
    // The binary under test is in a build directory, which may be deleted and take the hooks with it.
    for args in [&["init"][..], &["init", "--dry-run"], &["init", "--user"]] {
        let ran = home.rutter(args);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains(" is a build in "), "{ran}");
        assert!(ran.stderr.contains("`cargo install --path crates/rutter`"), "{ran}");
        assert!(!home.path("ship/.claude").exists() && !home.memory().exists(), "{ran}");
    }
    // An explicit `--bin` is accepted.
    let ran = home.rutter(&["init", "--dry-run", "--bin", env!("CARGO_BIN_EXE_rutter")]);
    assert_eq!(ran.exit, Some(0), "{ran}");

    assert_output!(home, home.rutter(&["init", "--bin", "nowhere/rutter"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/nowhere/rutter cannot be used: No such file or directory (os error 2); pass the path of a rutter program with --bin
    ");
    fs::write(home.path("ship/rutter"), "").unwrap();
    assert_output!(home, home.rutter(&["init", "--bin", "./rutter"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/rutter is not a program; pass the path of a rutter program with --bin
    ");
    fs::rename(home.program("bin"), home.path("bin/other")).unwrap();
    assert_output!(home, home.rutter(&["init", "--bin", "../bin/other"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/../bin/other is not called `rutter`, and `rutter uninstall` finds its entries by that name; make a link with that name and pass its path with --bin
    ");
    assert!(!home.path("ship/.claude").exists());
    fs::set_permissions(home.path("ship/rutter"), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = home.rutter(&["init", "-v", "--bin", "./rutter"]).assert_success();
    let path = format!("\"command\": \"{}\"", home.path("ship/rutter").display());
    assert!(ran.stdout.contains(&path), "{ran}");
}

#[test]
fn program_is_named_by_path_entry() {
    let home = TestHome::new();
    let versions = home.path("versions/1.0");
    fs::create_dir_all(&versions).unwrap();
    fs::create_dir(home.path("bin")).unwrap();
    // A copy, because a link would lead back into the build directory.
    fs::copy(env!("CARGO_BIN_EXE_rutter"), versions.join("rutter")).unwrap();
    symlink(versions.join("rutter"), home.path("bin/rutter")).unwrap();
    let run = |search: &str| {
        let mut command = Command::new(versions.join("rutter"));
        command.args(["init", "--dry-run"]).env_clear().env("RUTTER_HOME", home.memory());
        command.env("HOME", home.path("user"));
        CommandOutput::run(command.env("PATH", search).current_dir(home.path("ship")))
            .assert_success()
            .stdout
    };
    let command = |path: &Path| format!("\"command\": \"{}\"", path.display());
    let real = versions.canonicalize().unwrap().join("rutter");
    assert!(run("/usr/bin:/bin").contains(&command(&real)));
    let search = format!("/usr/bin::{}", home.path("bin").display());
    assert!(run(&search).contains(&command(&home.path("bin/rutter"))));
}

#[test]
fn foreign_settings_keep_owner() {
    let home = TestHome::new();
    home.write_settings("{}");
    if std::os::unix::fs::chown(home.settings(), Some(65534), Some(65534)).is_err() {
        return report_skip("a file of somebody else", "only root can make one");
    }
    drop(home.init(&[]).assert_success());
    let metadata = fs::metadata(home.settings()).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&metadata), 65534);
}
