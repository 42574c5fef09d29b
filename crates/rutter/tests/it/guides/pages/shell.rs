//! The shell that runs the commands of a page.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rutter_testkit::MIN_DEADLINE_VARIABLE;

/// The reader's home directory in pages.
pub(super) const HOME: &str = "/home/ada";

/// A shell in the repository of a user who has installed rutter but not used it.
pub(super) struct PageShell {
    child: Child,
    input: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// The directory that serves as the root of the reader's machine.
    folder: tempfile::TempDir,
    files: usize,
}

/// The result of a command.
pub(super) struct CommandResult {
    pub(super) exit: i32,
    /// Stdout and stderr in the order they were written.
    pub(super) output: String,
}

impl PageShell {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let home = base.join(&HOME[1..]);
        let project = home.join("shop");
        fs::create_dir_all(home.join(".cargo/bin")).unwrap();
        install_rutter(&home.join(".cargo/bin/rutter"));
        // Written as files, because git may be missing.
        for folder in ["objects", "refs/heads", "info"] {
            fs::create_dir_all(project.join(".git").join(folder)).unwrap();
        }
        write_file(&project.join(".git/HEAD"), "ref: refs/heads/main\n");
        let remote = "[remote \"origin\"]\n\turl = https://github.com/ada/shop.git\n";
        write_file(&project.join(".git/config"), &format!("[core]\n\tbare = false\n{remote}"));
        // The user's hook in the README.
        write_file(&project.join("my-hook"), "#!/bin/sh\ncat >/dev/null\n");
        fs::set_permissions(project.join("my-hook"), fs::Permissions::from_mode(0o755)).unwrap();

        let mut child = Command::new("sh")
            .env_clear()
            .envs([MIN_DEADLINE_VARIABLE])
            .env("HOME", &home)
            .env("PATH", format!("{}/.cargo/bin:/usr/bin:/bin", home.display()))
            .env("COLUMNS", "100")
            .current_dir(&project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, answers, folder, files: 0 }
    }

    /// Returns the directory that serves as the root of the reader's machine.
    pub(super) fn root_dir(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes a file in a new directory and returns its path.
    pub(super) fn add_file(&mut self, name: &str, text: &str) -> PathBuf {
        self.files += 1;
        let folder = self.root_dir().join(format!("files/{}", self.files));
        fs::create_dir_all(&folder).unwrap();
        write_file(&folder.join(name), text);
        folder.join(name)
    }

    /// Runs a command. Returns None if the shell has ended.
    pub(super) fn run_command(&mut self, command: &str) -> Option<CommandResult> {
        // Sourced from a file: it may have several lines, cannot read the lines that control this shell, and can change
        // its directory.
        let script = self.add_file("command", &format!("{command}\n"));
        let output = script.with_file_name("output");
        let line =
            format!(". {} </dev/null >{} 2>&1; echo $?\n", script.display(), output.display());
        let input = self.input.as_mut()?;
        input.write_all(line.as_bytes()).and_then(|()| input.flush()).ok()?;
        let mut exit = String::new();
        self.answers.read_line(&mut exit).ok()?;
        let exit = exit.trim().parse().ok()?;
        let output = String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned();
        let base = self.root_dir();
        Some(CommandResult { exit, output: output.replace(base.to_str().unwrap(), "") })
    }
}

impl Drop for PageShell {
    fn drop(&mut self) {
        // The shell ends at end of file.
        drop(self.input.take());
        drop(self.child.wait());
    }
}

/// Installs the binary at the path that `cargo install` uses: as a hard link if possible, because it is large.
fn install_rutter(path: &Path) {
    let built = env!("CARGO_BIN_EXE_rutter");
    if fs::hard_link(built, path).is_err() {
        fs::copy(built, path).unwrap();
    }
}

fn write_file(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}
