//! The hooks of `.pre-commit-hooks.yaml`, started by pre-commit itself.

use std::path::Path;
use std::process::Command;

use rutter_testkit::{CommandOutput, repository_root, skip_test};

/// A project in which pre-commit runs the hooks of this repository.
struct HookedProject {
    python: std::ffi::OsString,
    folder: tempfile::TempDir,
}

impl HookedProject {
    /// Creates the project. Returns None if pre-commit or git is missing.
    fn new() -> Option<Self> {
        let python = std::env::var_os("RUTTER_TEST_PYTHON");
        let has_module = |python: &std::ffi::OsString| {
            let found = Command::new(python).args(["-m", "pre_commit", "--version"]).output();
            found.is_ok_and(|output| output.status.success())
        };
        let has_git = Command::new("git").arg("--version").output().is_ok();
        let Some(python) = python.filter(|python| has_git && has_module(python)) else {
            skip_test(
                "the hooks for pre-commit",
                "git or pre-commit is missing; scripts/test has it",
            );
            return None;
        };
        let project = Self { python, folder: tempfile::tempdir().unwrap() };
        let hooks = project.folder.path().join("hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        std::fs::create_dir_all(project.project().join(".claude")).unwrap();
        let definition = repository_root().join(".pre-commit-hooks.yaml");
        std::fs::copy(definition, hooks.join(".pre-commit-hooks.yaml")).unwrap();
        for folder in [&hooks, &project.project()] {
            project.git(folder, &["init", "-q"]);
        }
        project.git(&hooks, &["add", "-A"]);
        project.git(&hooks, &["commit", "-q", "-m", "hooks"]);
        Some(project)
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn command(&self, program: &std::ffi::OsStr, folder: &Path) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_rutter")).parent().unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display()))
            .env("HOME", self.folder.path())
            .env("PRE_COMMIT_HOME", self.folder.path().join("cache"))
            .env("RUTTER_HOME", self.folder.path().join("memory"))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "ada")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "ada@localhost")));
        command
    }

    fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut command = self.command("git".as_ref(), folder);
        let done = CommandOutput::run(command.args(arguments)).assert_success();
        drop(done);
    }

    /// Runs a hook on settings that are added to the index.
    fn run_hook(&self, hook: &str, settings: &str) -> CommandOutput {
        std::fs::write(self.project().join(".claude/settings.json"), settings).unwrap();
        self.git(&self.project(), &["add", "-A"]);
        let hooks = self.folder.path().join("hooks");
        let mut command = self.command(&self.python, &self.project());
        command.args(["-m", "pre_commit", "try-repo", "--all-files", "--color", "never"]);
        CommandOutput::run(command.arg(hooks).arg(hook))
    }
}

#[test]
fn pre_commit_stops_mistakes() {
    let Some(project) = HookedProject::new() else { return };
    for hook in ["rutter-lint", "rutter-lint-files"] {
        let stopped = project.run_hook(hook, r#"{"hooks": {"Stopp": []}}"#);
        assert!(stopped.stdout.contains("Failed"), "{hook}: {}", stopped.stdout);
        assert!(stopped.stdout.contains("error[event-unknown]"), "{hook}: {}", stopped.stdout);
        let passed = project.run_hook(hook, r#"{"hooks": {"Stop": []}}"#).assert_success();
        assert!(passed.stdout.contains("Passed"), "{hook}: {}", passed.stdout);
    }
}
