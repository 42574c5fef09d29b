use super::*;

fn place() -> RunPlace<'static> {
    RunPlace { root: Path::new("/srv/app"), folder: "" }
}

fn form(line: &str) -> CommandForm {
    let line = CommandLine::parse(line);
    CommandForm::new(line.commands.last().unwrap(), &place()).unwrap()
}

/// Compares a failing command with one that worked, and describes the difference.
fn compare(failed: &str, output: &str, between: &[&str], worked: &str) -> String {
    let failure = FailureEvidence {
        output,
        is_path_missing: crate::failed_command::FailedCommand::is_path_missing(output),
        calls: 1,
    };
    let between: Vec<CommandForm> = between.iter().map(|line| form(line)).collect();
    match form(failed).compare(&form(worked), failure, &between) {
        VariantRelation::Same => "same".to_owned(),
        VariantRelation::Unclear => "unclear".to_owned(),
        VariantRelation::Explained(found) => {
            let mut parts = Vec::new();
            parts.extend(found.removed.iter().map(|part| format!("- {part}")));
            parts.extend(found.added.iter().map(|part| format!("+ {part}")));
            parts.extend(found.folder.iter().map(|folder| format!("in {folder}")));
            parts.extend(found.before.iter().map(|before| format!("after {before}")));
            parts.join(" ")
        }
    }
}

#[test]
fn program_has_subcommand() {
    for (line, program) in [
        ("git commit -m 'a b'", "git commit"),
        ("git -c commit.gpgsign=false commit -m x", "git commit"),
        ("git -C api status", "git status"),
        ("gh pr diff 88 --stat", "gh pr diff"),
        ("gh api repos/a/b/pulls/1", "gh api"),
        ("docker compose up -d", "docker compose up"),
        ("mise run test:ci", "mise run test:ci"),
        ("python3 -m http.server 80", "http.server"),
        ("sed -i s/a/b/ x", "sed"),
        ("./scripts/deploy.sh --now", "deploy.sh"),
        ("timeout 60 terraform apply", "terraform apply"),
    ] {
        assert_eq!(form(line).program, program, "{line}");
    }
}

#[test]
fn differences_explain_failures() {
    let signing = "error: gpg failed to sign the data\nfatal: failed to write commit object";
    let lock = "fatal: Unable to create '/srv/app/.git/index.lock': File exists.";
    let rejected =
        "! [rejected] main -> main (fetch first)\nhint: use 'git pull' before pushing again";
    for (failed, output, between, worked, expected) in [
        (
            "git commit -m 'add a'",
            signing,
            &[][..],
            "git -c commit.gpgsign=false commit -m 'add a cart'",
            "+ -c commit.gpgsign=false",
        ),
        ("git commit -m a", signing, &[], "git commit --no-gpg-sign -m a", "+ --no-gpg-sign"),
        (
            "gh pr diff 88 --stat",
            "unknown flag: --stat",
            &[],
            "gh pr diff 91 --name-only",
            "- --stat + --name-only",
        ),
        (
            "git show --no-stat HEAD",
            "fatal: unrecognized argument: --no-stat",
            &[],
            "git show HEAD --format= -- src/a.rs",
            "- --no-stat",
        ),
        (
            "git rebase main",
            lock,
            &["rm -f .git/index.lock"],
            "git rebase --continue",
            "after rm -f .git/index.lock",
        ),
        ("git push", rejected, &["git pull --rebase"], "git push", "after git pull --rebase"),
        (
            "git checkout master",
            "error: pathspec 'master' did not match",
            &[],
            "git checkout main",
            "- master + main",
        ),
        ("npm install", "npm error Missing package.json", &[], "cd web && npm install", "in web"),
        (
            "npm install",
            "npm error use --legacy-peer-deps to accept",
            &[],
            "npm install --legacy-peer-deps",
            "+ --legacy-peer-deps",
        ),
        (
            "mise run build",
            "mise: tool go not installed",
            &["mise install"],
            "mise run build",
            "after mise install",
        ),
        (
            "python3 gen.py",
            "ModuleNotFoundError: x",
            &[],
            "PYTHONPATH=. python3 gen.py",
            "+ PYTHONPATH=.",
        ),
        (
            "rtk bun test a.ts",
            "error: unrecognized subcommand 'bun'",
            &[],
            "bun test --watch b.ts",
            "- rtk",
        ),
        ("pip install x", "bash: pip: command not found", &[], "pip3 install x", "- pip + pip3"),
        (
            "python gen.py",
            "zsh: command not found: python",
            &[],
            "python3 gen.py",
            "- python + python3",
        ),
        (
            "deploy",
            "deploy: command not found",
            &[],
            ".venv/bin/deploy",
            "- deploy + .venv/bin/deploy",
        ),
        ("timeout 9 deploy now", "command not found: timeout", &[], "deploy now", "- timeout"),
        (
            "git push",
            "fatal: no upstream branch, use\n git push --set-upstream origin x",
            &[],
            "git push -u origin x",
            "+ -u origin + x",
        ),
        (
            "alembic check",
            "alembic: command not found",
            &["source .venv/bin/activate"],
            "alembic check",
            "after source .venv/bin/activate",
        ),
        ("ruff format", "ruff: command not found", &[], "uv run ruff format", "+ uv run"),
        (
            "gh api repos/a/b/pulls/1/comments/22",
            "gh: Not Found (HTTP 404)",
            &[],
            "gh api 'repos/a/b/pulls/comments/22'",
            "- repos/a/b/pulls/#/comments/# + repos/a/b/pulls/comments/#",
        ),
    ] {
        assert_eq!(compare(failed, output, between, worked), expected, "{failed} ► {worked}");
    }
}

#[test]
fn other_purposes_explain_nothing() {
    for (failed, output, worked, expected) in [
        ("git commit -m a", "error: hook failed", "git commit --no-verify -m a", "unclear"),
        ("git push", "! [rejected] main (non-fast-forward)", "git push --force", "unclear"),
        ("terraform apply", "Error: no credentials", "terraform apply --help", "unclear"),
        ("git diff main...HEAD", "fatal: bad revision", "git diff docs/", "unclear"),
        ("python3 gen.py --all", "ValueError: x", "python3 gen.py", "unclear"),
        ("git commit -m a", "error: gpg failed", "git commit -m b", "same"),
        ("timeout 9 deploy", "error: no plan", "timeout 60 deploy", "same"),
        (
            "gh api repos/a/b/pulls/1/comments/22",
            "gh: Not Found",
            "gh api repos/a/b/pulls/1/comments/23",
            "same",
        ),
        ("docker run img", "Error: no such image", "docker run -d -p 80:80 other", "unclear"),
        (
            "git add x.rs",
            "fatal: pathspec 'x.rs' did not match any files",
            "git add src/x.rs",
            "unclear",
        ),
    ] {
        assert_eq!(compare(failed, output, &[], worked), expected, "{failed} ► {worked}");
    }
}

#[test]
fn fingerprints_ignore_values() {
    assert_eq!(
        form("git commit -m 'add a cart'").fingerprint(),
        form("git commit -m 'fix the sum'").fingerprint()
    );
    assert_eq!(form("git show 8312232").fingerprint(), form("git show 23c05e9").fingerprint());
    assert_ne!(form("git show HEAD").fingerprint(), form("git show --stat HEAD").fingerprint());
    assert_ne!(form("cd a && npm i").fingerprint(), form("cd b && npm i").fingerprint());
}

#[test]
fn differences_apply_once() {
    let difference = CommandDifference {
        removed: vec![Clean::new("--stat")],
        added: vec![Clean::new("--name-only")],
        ..CommandDifference::default()
    };
    assert!(form("gh pr diff 7 --stat").can_take(&difference));
    assert!(!form("gh pr diff 7 --web").can_take(&difference));
    assert!(form("gh pr diff 7 --name-only").has_taken(&difference));
    let signing = CommandDifference {
        added: vec![Clean::new("-c commit.gpgsign=false")],
        ..Default::default()
    };
    assert!(form("git commit -m a").can_take(&signing));
    assert!(!form("git -c commit.gpgsign=false commit -m a").can_take(&signing));
}

#[test]
fn hidden_status_proves_nothing() {
    let succeeded = |line: &str, is_clean: bool| {
        succeeded_commands(&CommandLine::parse(line), &place(), is_clean)
            .into_iter()
            .map(|form| form.program)
            .collect::<Vec<_>>()
    };
    assert_eq!(succeeded("git add a && git commit -m b", true), ["git add", "git commit"]);
    assert_eq!(succeeded("git push; git status", true), ["git status"]);
    assert_eq!(succeeded("git push || true", true), Vec::<String>::new());
    assert_eq!(succeeded("git push 2>&1 | tail -3", false), ["tail"]);
    assert_eq!(succeeded("git push 2>&1 | tail -3", true), ["git push", "tail"]);
}
