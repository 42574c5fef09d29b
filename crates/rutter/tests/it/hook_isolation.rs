use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::hook_test::{HookProject, list};

/// Runs the lines of a script, whose output it returns, with the measures. The command names no path of the script.
fn run_script(project: &HookProject, lines: &str, args: &[&str]) -> (Value, String) {
    let text =
        format!("{{ {lines}\n}} > \"$TMPDIR/said\" 2>&1\ncat \"$TMPDIR/said\" >&2\nexit 2\n");
    fs::write(project.path().join("script"), text).unwrap();
    let all = [args, &["--event", "Setup", "--", "sh", "script"][..]].concat();
    let report = project.test_json(&all);
    let mut texts = report["hooks"][0]["answers"].as_array().into_iter().flatten();
    let text = texts.find_map(|answer| answer["texts"][0].as_str()).unwrap_or_default();
    (report["isolation"].clone(), text.to_owned())
}

/// Returns true if the system has user namespaces. Without them, there is nothing to test.
fn is_protected(isolation: &Value) -> bool {
    isolation["read_only_files"] == true
}

#[test]
fn other_files_cannot_be_written() {
    let project = HookProject::new(&[("notes.txt", "mine")]);
    let folder = project.folder.path();
    // Not below `/tmp`, which is another folder for a hook.
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (home, outside) = (folder.join("home"), elsewhere.path().join("log"));
    fs::write(&outside, "old\n").unwrap();
    let (original, temporary) =
        (project.path().join("notes.txt"), Path::new("/tmp/rutter-hook-wrote"));
    let line = format!(
        "for file in {} {} {} {} ./copied \"$HOME/home\" \"$TMPDIR/temporary\"; do \
         (echo changed >> $file) 2>/dev/null && echo wrote $file || echo kept $file; done; \
         rm -rf {}/* 2>/dev/null; echo > /dev/null && echo null",
        home.join("x").display(),
        outside.display(),
        original.display(),
        temporary.display(),
        project.path().display(),
    );
    let (isolation, said) = run_script(&project, &line, &[]);
    if !is_protected(&isolation) {
        return;
    }
    assert_eq!(said.matches("wrote ").count(), 4, "the copy, its home, and two temporary: {said}");
    assert_eq!(said.matches("kept ").count(), 3, "{said}");
    assert!(said.ends_with("null\n"), "{said}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(&original).unwrap(), "mine");
    assert!(!list(&home).contains(&"x".to_owned()) && !temporary.exists());
    assert_eq!(list(&folder.join("tmp")), [""; 0], "the scratch folder is removed");
}

#[test]
fn home_is_hidden_except_scripts() {
    let project = HookProject::new(&[]);
    let home = project.folder.path().join("home");
    let script = "home=$(dirname \"$(dirname \"$0\")\")\ncat \"$home/.ssh/id\" >&2\nls -A \"$home\" >&2\nexit 2\n";
    for (name, text) in [(".ssh/id", "secret"), ("hooks/guard.sh", script)] {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), text).unwrap();
    }
    let line = format!("cd {}; sh ~/hooks/guard.sh", home.display());
    let settings = serde_json::json!({ "hooks": { "Setup": [{ "hooks": [
        { "type": "command", "command": line },
    ] }] } });
    fs::write(project.path().join("hooks.json"), settings.to_string()).unwrap();
    let report = project.test_json(&["--settings", "hooks.json"]);
    if !is_protected(&report["isolation"]) {
        return;
    }
    assert_eq!(report["isolation"]["hidden_home"], true);
    let said = report["hooks"][0]["answers"][0]["texts"][0].as_str().unwrap();
    assert!(!said.contains("secret") && said.ends_with("\nhooks\n"), "{said}");
}

#[test]
fn in_place_writes_only_the_project() {
    let project = HookProject::new(&[("notes.txt", "mine")]);
    let outside = project.folder.path().join("outside");
    let line = format!("echo new > notes.txt; echo new > {}", outside.display());
    let (isolation, _) = run_script(&project, &line, &["--in-place"]);
    assert_eq!(fs::read_to_string(project.path().join("notes.txt")).unwrap(), "new\n");
    assert!(!is_protected(&isolation) || !outside.exists());
}

#[test]
fn processes_end_with_the_run() {
    let project = HookProject::new(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // The daemon leaves the session, the process group and its parent, and holds the lock of a file of the test.
    let lock = project.path().join("lock");
    fs::write(&lock, "").unwrap();
    let line = format!(
        "kill -KILL $PPID 1; (setsid sh -c 'exec flock {} sleep 600' >/dev/null 2>&1 </dev/null & ); \
         ls -d /proc/[0-9]* | wc -l; ls -d /proc/{}; \
         bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && echo connected",
        lock.display(),
        std::process::id(),
    );
    let (isolation, said) = run_script(&project, &line, &["--in-place"]);
    if !is_protected(&isolation) {
        return;
    }
    assert_eq!(isolation["own_processes"], true);
    assert!(!said.contains("connected") && said.contains("cannot access"), "{said}");
    let count: usize = said.lines().find_map(|line| line.parse().ok()).unwrap();
    assert!(count < 30, "the processes of others are not visible: {said}");
    let free = std::process::Command::new("flock").arg("-n").arg(&lock).arg("true").status();
    assert!(free.unwrap().success(), "the daemon has ended");
}

#[test]
fn run_is_no_longer_privileged() {
    let project = HookProject::new(&[]);
    let line = "grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs' /proc/self/status; mount -o remount,bind,rw / && echo remounted; \
                unshare --user --map-root-user --mount mount -o remount,bind,rw / && echo remounted";
    let (isolation, said) = run_script(&project, line, &[]);
    if !is_protected(&isolation) {
        return;
    }
    assert_eq!(said.matches("\t0000000000000000\n").count(), 3, "{said}");
    assert!(said.contains("NoNewPrivs:\t1") && !said.contains("remounted"), "{said}");
}
