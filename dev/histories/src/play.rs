//! Plays a history into the product and records the product's texts and the changes to its episodes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::history::{GitAction, History, HistoryStep};
use crate::world::BASE_PLACEHOLDER;

mod binary;
mod in_process;

pub use binary::Binary;
pub use in_process::InProcess;

/// Time at which every history begins, in milliseconds since 1970.
pub const START_MILLIS: i64 = 1_763_200_000_000;

/// The parts of an episode that are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeView {
    /// Id.
    pub id: String,
    /// Test name as the runner prints it.
    pub test: Option<String>,
    /// Other text that identifies the failure: error, signature, file.
    pub words: String,
    /// Checkout.
    pub root: String,
    /// Ending; None while it is open.
    pub ending: Option<String>,
}

/// A product that receives payloads and keeps episodes.
pub trait Product {
    /// Handles a payload and returns the text for the model.
    fn handle_payload(&mut self, payload: &Value, root: &Path, at: i64) -> Result<String>;

    /// Returns every episode.
    fn episodes(&mut self) -> Result<Vec<EpisodeView>>;

    /// Returns the log entries since the last call.
    fn faults(&mut self) -> Vec<String>;

    /// Returns true if the product uses the clock of the history, so that files must have its times too.
    fn has_own_clock(&self) -> bool;
}

/// The opening or closing of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeEvent {
    /// Step of the payload.
    pub step: usize,
    /// The episode at that time.
    pub episode: EpisodeView,
    /// True if the episode was opened, false if it was closed.
    pub is_opened: bool,
}

/// The result of playing a history.
#[derive(Debug, Clone, Default)]
pub struct PlayedHistory {
    /// Text for the model after each step; empty for silence.
    pub said: Vec<String>,
    /// Episodes that were opened and closed.
    pub events: Vec<EpisodeEvent>,
    /// Faults that the product logged, with their steps.
    pub faults: Vec<(usize, String)>,
}

/// Temporary folders for playing a history.
#[derive(Debug)]
pub struct PlayFolders {
    folder: tempfile::TempDir,
}

impl PlayFolders {
    /// Creates the folders.
    pub fn new() -> Result<Self> {
        Ok(Self { folder: tempfile::Builder::new().prefix("rutter-history-").tempdir()? })
    }

    /// Returns the folder that has the checkouts.
    pub fn base(&self) -> Result<PathBuf> {
        let base = self.folder.path().join("work");
        std::fs::create_dir_all(&base)?;
        Ok(base.canonicalize()?)
    }

    /// Returns the data directory.
    pub fn memory(&self) -> PathBuf {
        self.folder.path().join("memory")
    }
}

/// Plays a history into a product.
pub fn play_history(
    history: &History,
    stage: &PlayFolders,
    product: &mut dyn Product,
) -> Result<PlayedHistory> {
    let base = stage.base()?;
    let mut played = PlayedHistory::default();
    let mut known: BTreeMap<String, EpisodeView> = BTreeMap::new();
    for folder in &history.folders {
        make_checkout(&base.join(folder), &history.project.name)?;
    }
    let mut is_committed = false;
    for (index, step) in history.steps.iter().enumerate() {
        for action in &step.git {
            run_git(&base.join(&history.folders[action.checkout]), action)
                .with_context(|| format!("seed {}, step {index}", history.seed))?;
        }
        write_files(&base, step, product.has_own_clock())?;
        if history.uses_git && !is_committed {
            is_committed = true;
            for folder in &history.folders {
                commit_all(&base.join(folder))?;
            }
        }
        let payload = replace_base(&step.payload, &base.display().to_string());
        let root = base.join(&history.folders[step.checkout]);
        let said = product.handle_payload(&payload, &root, START_MILLIS + step.at)?;
        played.said.push(said);
        played.faults.extend(product.faults().into_iter().map(|fault| (index, fault)));
        let event = payload["hook_event_name"].as_str().unwrap_or_default();
        if !event.starts_with("PostToolUse") || payload["tool_name"] != "Bash" {
            continue;
        }
        for episode in product.episodes()? {
            let before = known.insert(episode.id.clone(), episode.clone());
            let event =
                |is_opened| EpisodeEvent { step: index, episode: episode.clone(), is_opened };
            if before.is_none() {
                played.events.push(event(true));
            }
            let was_open = before.is_none_or(|before| before.ending.is_none());
            if episode.ending.is_some() && was_open {
                played.events.push(event(false));
            }
        }
    }
    Ok(played)
}

/// Replaces the placeholder of the base folder in all strings.
pub fn replace_base(value: &Value, base: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(BASE_PLACEHOLDER, base)),
        Value::Array(values) => values.iter().map(|value| replace_base(value, base)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), replace_base(value, base))).collect()
        }
        other => other.clone(),
    }
}

/// Creates a folder that is a checkout of the project's remote, without running git.
fn make_checkout(root: &Path, name: &str) -> Result<()> {
    let git = root.join(".git");
    std::fs::create_dir_all(git.join("objects"))?;
    std::fs::create_dir_all(git.join("refs/heads"))?;
    write_file(&git.join("HEAD"), "ref: refs/heads/main\n")?;
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Ada\n\temail = ada@example.com\n[remote \"origin\"]\n\turl = https://example.com/ada/{name}.git\n"
    );
    write_file(&git.join("config"), &config)
}

#[expect(clippy::disallowed_methods, reason = "files of a scratch folder")]
fn write_file(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Brings the files to the state of a step. Files that git has changed already are compared, not written.
fn write_files(base: &Path, step: &HistoryStep, has_own_clock: bool) -> Result<()> {
    for (path, text) in &step.writes {
        let to = base.join(path);
        if !step.git.is_empty() {
            let found = std::fs::read_to_string(&to).ok();
            ensure!(found == *text, "git left {path} as {found:?}, expected {text:?}");
            continue;
        }
        match text {
            Some(text) => {
                if let Some(folder) = to.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                write_file(&to, text)?;
                if path.rsplit('.').next() == Some("sh") {
                    use std::os::unix::fs::PermissionsExt as _;
                    std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755))?;
                }
                if has_own_clock {
                    let millis = u64::try_from(START_MILLIS + step.at)?;
                    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
                    std::fs::File::options().write(true).open(&to)?.set_modified(time)?;
                }
            }
            None => std::fs::remove_file(&to).with_context(|| path.clone())?,
        }
    }
    Ok(())
}

fn commit_all(root: &Path) -> Result<()> {
    for arguments in [&["add", "-A"][..], &["commit", "-q", "--allow-empty", "-m", "First version"]]
    {
        git(root, arguments)?;
    }
    Ok(())
}

fn run_git(root: &Path, action: &GitAction) -> Result<()> {
    let arguments: Vec<&str> = action.arguments.iter().map(String::as_str).collect();
    git(root, &arguments)
}

fn git(root: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Returns the text for the model from a hook's output.
fn context_text(stdout: &str) -> String {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return String::new() };
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Writes a configuration without short deadlines, so that a busy machine does not affect the result.
fn write_config(path: &Path) -> Result<()> {
    write_file(path, &rutter_testkit::long_deadlines())
}
