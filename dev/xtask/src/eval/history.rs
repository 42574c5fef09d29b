//! A recorded history: the payloads that a client sent to its hooks, one in each line, with the files as they were at
//! each moment. This module plays one into the binary.
//!
//! The first line has the checkouts and the name of the repository. `@BASE@` stands for the home folder of the developer.
//! Commands that are runs have a label.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Number of played calls after which maintenance runs.
const MAINTENANCE_CALLS: usize = 500;

/// A payload that was played, and what the hook said.
pub(super) struct PlayedCall<'a> {
    pub(super) payload: &'a Value,
    pub(super) label: &'a Value,
    /// The text for the model; empty if there is none.
    pub(super) said: String,
}

impl PlayedCall<'_> {
    /// Returns the name of the hook event.
    pub(super) fn event(&self) -> &str {
        self.payload["hook_event_name"].as_str().unwrap_or_default()
    }
}

/// A binary with a memory and checkouts of its own.
pub(super) struct HistoryPlayer<'a> {
    binary: &'a Path,
    folder: &'a Path,
}

impl<'a> HistoryPlayer<'a> {
    /// Creates a player whose memory and checkouts are in `folder`.
    pub(super) const fn new(binary: &'a Path, folder: &'a Path) -> Self {
        Self { binary, folder }
    }

    /// Returns the folder of the memory.
    pub(super) fn memory(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Plays the payloads of a history that `keep` accepts, in their order.
    pub(super) fn play(
        &self,
        history: &Path,
        keep: impl Fn(&Value) -> bool,
        mut each: impl FnMut(&PlayedCall<'_>),
    ) -> Result<()> {
        let base = self.folder.join("work");
        let base_text = base.to_string_lossy().into_owned();
        let (lines, unpack) = open_history(history)?;
        let mut played = 0_usize;
        for (number, line) in lines.enumerate() {
            let event: Value = serde_json::from_str(&line?.replace("@BASE@", &base_text))?;
            if number == 0 {
                for root in event["roots"].as_array().context("no `roots`")? {
                    let root = Path::new(root.as_str().context("a path")?);
                    make_checkout(root, &event["repo"])?;
                }
                ensure!(self.maintain()?, "no memory");
                continue;
            }
            write_files(&event["files"], &base)?;
            let payload = &event["payload"];
            if !keep(payload) {
                continue;
            }
            let said = self.call_hook(payload, &event["env"])?;
            each(&PlayedCall { payload, label: &event["label"], said });
            played += 1;
            if played.is_multiple_of(MAINTENANCE_CALLS) {
                self.maintain()?;
            }
        }
        if let Some(mut unpack) = unpack {
            ensure!(unpack.wait()?.success(), "xz cannot read {}", history.display());
        }
        self.maintain()?;
        Ok(())
    }

    /// Calls the hook and returns its text for the model.
    fn call_hook(&self, payload: &Value, variables: &Value) -> Result<String> {
        let cwd = PathBuf::from(payload["cwd"].as_str().context("no `cwd`")?);
        std::fs::create_dir_all(&cwd)?;
        let mut hook = self.command(&["hook"], &cwd);
        let variables: BTreeMap<String, String> =
            serde_json::from_value(variables.clone()).unwrap_or_default();
        let mut hook = hook.envs(variables).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        hook.stdin.take().context("a pipe")?.write_all(payload.to_string().as_bytes())?;
        let said = hook.wait_with_output()?.stdout;
        let said: Value = serde_json::from_slice(&said).unwrap_or_default();
        let said = said["hookSpecificOutput"]["additionalContext"].as_str();
        Ok(said.unwrap_or_default().to_owned())
    }

    fn maintain(&self) -> Result<bool> {
        Ok(self.command(&["maintain"], self.folder).output()?.status.success())
    }

    fn command(&self, arguments: &[&str], cwd: &Path) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").current_dir(cwd);
        command.env("HOME", self.folder).env("RUTTER_HOME", self.memory());
        command.env("RUTTER_MIN_DEADLINE_MS", "1000");
        command
    }
}

/// The lines of a history, and the process that unpacks them.
type HistoryLines = (std::io::Lines<Box<dyn BufRead>>, Option<Child>);

/// Opens a history, which `xz` may have packed.
fn open_history(history: &Path) -> Result<HistoryLines> {
    let name = || history.display().to_string();
    if history.extension().is_none_or(|extension| extension != "xz") {
        let file: Box<dyn BufRead> =
            Box::new(BufReader::new(File::open(history).with_context(name)?));
        return Ok((file.lines(), None));
    }
    let mut unpack = Command::new("xz");
    unpack.arg("-dc").arg(history).stdout(Stdio::piped());
    let mut unpack = unpack.spawn().context("xz is needed")?;
    let pipe: Box<dyn BufRead> = Box::new(BufReader::new(unpack.stdout.take().context("a pipe")?));
    Ok((pipe.lines(), Some(unpack)))
}

/// Writes the files that changed before a payload: pairs of a path and a text.
fn write_files(files: &Value, base: &Path) -> Result<()> {
    for pair in files.as_array().into_iter().flatten() {
        let (Some(path), Some(text)) = (pair[0].as_str().map(Path::new), pair[1].as_str()) else {
            continue;
        };
        if path.starts_with(base) && !path.is_dir() {
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            File::create(path)?.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// Creates the git files of a checkout, which decide its project.
fn make_checkout(root: &Path, repository: &Value) -> Result<()> {
    let git = root.join(".git");
    for folder in ["objects", "refs/heads"] {
        std::fs::create_dir_all(git.join(folder))?;
    }
    let name = repository.as_str().unwrap_or_default().replace('+', "/");
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        (
            "config",
            format!(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/{name}.git\n"
            ),
        ),
    ] {
        File::create(git.join(file))?.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_history_is_read() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("history.jsonl");
        File::create(&path)?.write_all(b"{\"roots\":[]}\n{\"payload\":{}}\n")?;
        let (lines, unpack) = open_history(&path)?;
        assert_eq!(lines.collect::<Result<Vec<_>, _>>()?.len(), 2);
        assert!(unpack.is_none());
        Ok(())
    }

    #[test]
    fn files_outside_base_are_ignored() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (inside, outside) = (folder.path().join("work/a/b.py"), folder.path().join("c.py"));
        let base = folder.path().join("work");
        write_files(&json!([[inside, "b = 1\n"], [outside, "c = 1\n"], [base, "no file"]]), &base)?;
        assert_eq!(std::fs::read_to_string(&inside)?, "b = 1\n");
        assert!(!outside.exists());
        Ok(())
    }
}
