use super::*;

fn find(line: &str, exit: i32, output: &str) -> Option<(String, String)> {
    let place = RunPlace { root: std::path::Path::new("/srv/app"), folder: "" };
    let found = FailedCommand::find(&CommandLine::parse(line), &place, Some(exit), output)?;
    Some((found.form.program, found.signature))
}

#[test]
fn failures_have_command_and_shape() {
    for (line, exit, output, program, signature) in [
        (
            "python3 gen.py",
            1,
            "Traceback (most recent call last):\n  File \"gen.py\", line 1\nModuleNotFoundError: No module named 'yaml'",
            "gen.py",
            "ModuleNotFoundError: No module named …",
        ),
        (
            "git add a.rs && git commit -m 'x y'",
            128,
            "error: gpg failed to sign the data\nfatal: failed to write commit object",
            "git commit",
            "error: gpg failed to sign the data",
        ),
        (
            "git rebase main",
            128,
            "fatal: Unable to create '/srv/app/.git/index.lock': File exists.",
            "git rebase",
            "fatal: Unable to create … File exists.",
        ),
        (
            "cd web && gh pr diff 88 --stat",
            1,
            "unknown flag: --stat\n\nUsage:",
            "gh pr diff",
            "unknown flag: --stat",
        ),
        (
            "gh api repos/a/b/issues/7",
            1,
            "gh: Not Found (HTTP 404)",
            "gh api",
            "gh: Not Found (HTTP 404)",
        ),
        (
            "ruff format",
            127,
            "/bin/bash: line 1: ruff: command not found",
            "ruff format",
            "… line #: ruff: command not found",
        ),
        (
            "git push 2>&1",
            1,
            "To github.com:a/b.git\n ! [rejected] main -> main (fetch first)\nerror: failed to push",
            "git push",
            "! [rejected] main -> main (fetch first)",
        ),
    ] {
        let expected = Some((program.to_owned(), signature.to_owned()));
        assert_eq!(find(line, exit, output), expected, "{line}");
    }
}

#[test]
fn exploration_is_left_out() {
    for (line, exit, output) in [
        ("grep -rn total src", 1, ""),
        ("rg total nowhere", 2, "rg: nowhere: No such file or directory (os error 2)"),
        ("ls missing", 2, "ls: cannot access 'missing': No such file or directory"),
        ("cat a.txt && git status", 1, "cat: a.txt: No such file or directory"),
        ("which ruff", 1, "ruff not found"),
        ("test -f a", 1, ""),
        ("diff a b", 1, "1c1\n< error: a"),
        ("curl -f http://localhost:1", 7, "curl: (7) Failed to connect"),
        ("kill 4242", 1, "kill: no such process"),
        ("git grep total", 1, ""),
        ("git rev-parse --verify nope", 128, "fatal: Needed a single revision"),
        ("git log | grep -c error", 1, "0"),
        ("git merge topic", 1, "CONFLICT (content): Merge conflict in a\nerror: could not apply"),
        ("git commit -m a", 1, "On branch main\nnothing to commit, working tree clean"),
        ("git fetch", 128, "fatal: unable to access: Could not resolve host: example.com"),
        ("python3 gen.py", 1, "Traceback (most recent call last):\nValueError: 3"),
        ("ssh host 'deploy now'", 1, "error: no plan"),
        ("deploy now", 124, "error: x"),
        ("deploy now", 143, "error: x"),
        ("for i in 1 2; do deploy $i; done", 1, "error: x"),
        ("deploy || recover", 1, "error: x"),
        ("build-a && build-b", 1, "error: x"),
    ] {
        assert_eq!(find(line, exit, output), None, "{line}");
    }
}

#[test]
fn logs_are_no_errors() {
    let log = format!("{}error: Cannot find module 'x'", "compiled a file\n".repeat(50));
    assert_eq!(find("deploy now", 1, &log), None);
    assert_eq!(find("git commit -m a", 1, &log), None);
    let usage = format!("error: no such flag --x\n{}", "  --flag  a flag\n".repeat(50));
    assert!(find("deploy now", 1, &usage).is_some());
}
