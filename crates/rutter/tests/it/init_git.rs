use std::fs;
use std::path::Path;
use std::process::Command;

use rutter_testkit::{CommandOutput, skip_test};

use crate::support::{TestHome, assert_output};

/// Creates a project that is a Git repository. Reports a skip and returns None if git is missing.
fn git_project() -> Option<TestHome> {
    let home = TestHome::new();
    if Command::new("git").arg("--version").output().is_err() {
        skip_test("settings inside a repository", "there is no git");
        return None;
    }
    run_git(&home, &home.path("ship"), &["init", "--quiet"]);
    run_git(&home, &home.path("ship"), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    Some(home)
}

fn run_git(home: &TestHome, folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(args).current_dir(folder);
    git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path(""));
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    CommandOutput::run(&mut git).assert_success().stdout
}

fn exclude_list(home: &TestHome) -> String {
    fs::read_to_string(home.path("ship/.git/info/exclude")).unwrap_or_default()
}

/// Returns the line of the report and the part of the diff that are about git's exclude file.
fn lines_about_exclude(shown: &str) -> String {
    let report = shown.lines().filter(|line| line.ends_with("out of git"));
    let diff = shown
        .lines()
        .skip_while(|line| !(line.starts_with("--- ") && line.ends_with("/.git/info/exclude")));
    report.chain(diff.take_while(|line| !line.is_empty())).collect::<Vec<_>>().join("\n")
}

#[test]
fn git_ignores_local_settings() {
    let Some(home) = git_project() else { return };
    fs::write(home.path("ship/.git/info/exclude"), "*.tmp\n").unwrap();
    let ran = home.init(&["-v"]).assert_success();
    assert_eq!(run_git(&home, &home.path("ship"), &["status", "--short"]), "");
    assert_output!(home, lines_about_exclude(&ran.stdout), @r#"
    changed [HOME]/ship/.git/info/exclude: keeps the settings file out of git
    --- [HOME]/ship/.git/info/exclude
    +++ [HOME]/ship/.git/info/exclude
    @@ -1 +1,3 @@
     *.tmp
    +# rutter: hooks with a path of this machine; `rutter uninstall` takes this away
    +/.claude/settings.local.json
    "#);
    assert!(home.init(&[]).assert_success().stdout.contains("nothing to do"));
    home.ok(&["uninstall"]);
    assert_eq!(exclude_list(&home), "*.tmp\n");
    assert_eq!(run_git(&home, &home.path("ship"), &["status", "--short"]), "");
}

#[test]
fn exclude_list_is_restored_exactly() {
    let Some(home) = git_project() else { return };
    let path = home.path("ship/.git/info/exclude");
    for text in ["", "\n", "a", "a\n", "a\r\n", "# x\n\n", ".claude/settings.local.json.bak"] {
        fs::write(&path, text).unwrap();
        drop(home.init(&[]).assert_success());
        assert_eq!(run_git(&home, &home.path("ship"), &["status", "--short"]), "", "{text:?}");
        home.ok(&["uninstall"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // A line that excludes the file already stays, and `init` adds none.
    for text in [".claude/settings.local.json\n", "/.claude/\n", "**/.claude/settings.local.json\n"]
    {
        fs::write(&path, text).unwrap();
        drop(home.init(&[]).assert_success());
        assert_eq!(exclude_list(&home), text);
        home.ok(&["uninstall"]);
        assert_eq!(exclude_list(&home), text);
    }
    fs::remove_file(&path).unwrap();
    fs::write(home.path("ship/.gitignore"), "target\n.claude/settings.local.json\n").unwrap();
    drop(home.init(&[]).assert_success());
    assert!(!path.exists());
    home.ok(&["uninstall"]);
    fs::remove_file(home.path("ship/.gitignore")).unwrap();
    drop(home.init(&[]).assert_success());
    assert!(path.exists());
    home.ok(&["uninstall"]);
    assert!(!path.exists());
}

#[test]
fn subdirectory_has_own_settings() {
    let Some(home) = git_project() else { return };
    let inside = home.path("ship/crates/[a] b*");
    fs::create_dir_all(&inside).unwrap();
    let program = home.program("bin");
    let run = |args: &[&str]| {
        CommandOutput::run(home.command(args).current_dir(&inside)).assert_success()
    };
    let ran = run(&["init", "--bin", &program]);
    assert!(inside.join(".claude/settings.local.json").exists());
    assert_output!(home, ran.stdout.rsplit_once("\n\n").unwrap().1, @"
    The memory is in [HOME]/memory.
    Start claude in this folder: new sessions run the hooks and have the tools.
    Claude Code may warn about hooks and ask whether you trust the folder. These hooks run only `[HOME]/bin/rutter hook`, and in a terminal they do not run until you say yes.
    The hooks do not run in other folders of the repository; to change that, run `rutter init` in [HOME]/ship.
    `rutter doctor` checks them, `rutter uninstall` removes them.
    ");
    assert_eq!(run_git(&home, &home.path("ship"), &["status", "--short"]), "");
    let nothing = home.rutter(&["uninstall"]).assert_success();
    assert!(nothing.stdout.contains(" has no entries of rutter"), "{nothing}");
    drop(run(&["uninstall"]));
    assert!(!inside.join(".claude").exists());
    assert!(!exclude_list(&home).contains("rutter"));
}

#[test]
fn worktree_shares_exclude_list() {
    let Some(home) = git_project() else { return };
    let tree = home.path("tree");
    run_git(&home, &home.path("ship"), &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let program = home.program("bin");
    let run =
        |args: &[&str]| CommandOutput::run(home.command(args).current_dir(&tree)).assert_success();
    let before = exclude_list(&home);
    drop(run(&["init", "--bin", &program]));
    assert!(tree.join(".claude/settings.local.json").exists());
    assert!(exclude_list(&home).contains("/.claude/settings.local.json"));
    assert_eq!(run_git(&home, &tree, &["status", "--short"]), "");
    drop(run(&["uninstall"]));
    assert_eq!(exclude_list(&home), before);
    assert!(!tree.join(".claude").exists());
    // The line goes with the last worktree that needs it.
    drop(run(&["init", "--bin", &program]));
    drop(home.init(&[]).assert_success());
    drop(run(&["uninstall"]));
    assert_eq!(run_git(&home, &home.path("ship"), &["status", "--short"]), "");
    home.ok(&["uninstall"]);
    assert_eq!(exclude_list(&home), before);
}

#[test]
fn tracked_settings_are_reported() {
    let Some(home) = git_project() else { return };
    home.write_settings("{}");
    run_git(&home, &home.path("ship"), &["add", "--force", ".claude/settings.local.json"]);
    run_git(&home, &home.path("ship"), &["commit", "--quiet", "-m", "settings"]);
    let before = exclude_list(&home);
    let ran = home.init(&[]).assert_success();
    let advice = "which will contain a path of this machine; run `git rm --cached .claude/settings.local.json` to stop tracking it";
    assert!(ran.stderr.contains(advice), "{ran}");
    assert_eq!(exclude_list(&home), before, "no list would help");
    run_git(
        &home,
        &home.path("ship"),
        &["rm", "--quiet", "--cached", ".claude/settings.local.json"],
    );
    assert_eq!(home.init(&[]).assert_success().stderr, "");
    assert!(exclude_list(&home).contains("/.claude/settings.local.json"));
}

#[test]
fn broken_git_is_ignored() {
    let home = TestHome::new();
    for made in [true, false] {
        if made {
            fs::create_dir(home.path("ship/.git")).unwrap();
        } else {
            fs::remove_dir(home.path("ship/.git")).unwrap();
            fs::write(home.path("ship/.git"), "gitdir: /nowhere\n").unwrap();
        }
        let ran = home.init(&[]).assert_success();
        assert!(ran.stderr.is_empty(), "{ran}");
        home.ok(&["uninstall"]);
        assert!(!home.path("ship/.claude").exists());
    }
}

#[test]
fn unusable_exclude_list_is_noted() {
    let Some(home) = git_project() else { return };
    let path = home.path("ship/.git/info/exclude");
    drop(fs::remove_file(&path));
    fs::create_dir(&path).unwrap();
    let ran = home.init(&[]).assert_success();
    assert!(ran.stderr.starts_with("note: could not update git's exclude file: "), "{ran}");
    assert!(home.settings().exists());
    home.ok(&["uninstall"]);
    assert!(!home.settings().exists());
}
