//! The product as users run it: one process for each payload.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rutter_testkit::MIN_DEADLINE_VARIABLE;
use serde_json::Value;

use super::{EpisodeView, PlayFolders, Product, context_text};

/// The product's program.
#[derive(Debug)]
pub struct Binary {
    program: PathBuf,
    memory: PathBuf,
    home: PathBuf,
}

impl Binary {
    /// Creates a data directory in the folder of a stage.
    pub fn new(program: &Path, stage: &PlayFolders) -> Result<Self> {
        let memory = stage.memory();
        let home = stage.base()?.join("home");
        std::fs::create_dir_all(&memory)?;
        std::fs::create_dir_all(&home)?;
        let binary = Self { program: program.canonicalize()?, memory, home };
        binary.command(&["maintain"]).output().context("rutter maintain")?;
        Ok(binary)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.home)
            .env("RUTTER_HOME", &self.memory)
            .envs([MIN_DEADLINE_VARIABLE])
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Product for Binary {
    fn handle_payload(&mut self, payload: &Value, root: &Path, _at: i64) -> Result<String> {
        let folder = payload["cwd"].as_str().context("a payload has a folder")?;
        let mut child = self
            .command(&["hook"])
            .current_dir(folder)
            .env("CLAUDE_PROJECT_DIR", root)
            .spawn()
            .with_context(|| self.program.display().to_string())?;
        if let Some(stdin) = &mut child.stdin {
            stdin.write_all(payload.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "rutter hook ended with {}", output.status);
        Ok(context_text(&String::from_utf8_lossy(&output.stdout)))
    }

    fn episodes(&mut self) -> Result<Vec<EpisodeView>> {
        // Maintenance first imports the spool.
        self.command(&["maintain"]).output()?;
        let output = self.command(&["export"]).output()?;
        ensure!(
            output.status.success(),
            "rutter export: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let mut views = Vec::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)?;
            let Some(episode) = record.get("episode") else { continue };
            let word = |key: &str| episode[key].as_str().unwrap_or_default().to_owned();
            views.push(EpisodeView {
                id: word("id"),
                test: episode["test"].as_str().map(str::to_owned),
                words: format!("{} | {} | {}", word("error"), word("signature"), word("file")),
                root: word("root"),
                ending: episode["ending"]["how"].as_str().map(str::to_owned),
            });
        }
        Ok(views)
    }

    fn faults(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn has_own_clock(&self) -> bool {
        false
    }
}
