//! `cargo xtask eval commands`: plays the Bash calls of recorded histories into the binary, and lists what it says about
//! failing commands.
//!
//! A history has one payload per line, with the home folder of its developer as `@BASE@`, and labels for commands that
//! are runs. A *repeat* is a failing command with the program and error of an earlier one. It can be answered if a
//! variant had worked before; both are read from the memory, so a variant that the product does not recognise is not
//! counted.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rutter_memory::command_episode::{CommandEndingKind, CommandEpisode};
use rutter_memory::{Store, Time};
use serde_json::Value;

/// Number of calls after which maintenance runs.
const MAINTENANCE_CALLS: usize = 500;

/// Counts of one history.
#[derive(Default)]
struct CommandCounts {
    calls: usize,
    /// Failing commands that are labelled as no run.
    failing: usize,
    /// The command and what was said about it.
    said: Vec<(String, String)>,
}

/// Plays histories, and prints the counts and every text.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (binary, histories) = match words {
        ["--binary", binary, histories @ ..] => (PathBuf::from(binary), histories),
        histories => (crate::dist::build_release(root)?, histories),
    };
    ensure!(!histories.is_empty(), "no history is named");
    for history in histories {
        let folder = tempfile::tempdir()?;
        let counts = play(&binary, Path::new(history), folder.path())?;
        let store = Store::open(&folder.path().join("store"), Time::from_millis(0))?;
        let mut episodes = store.command_episodes(None, None)?;
        episodes.reverse();
        print_report(history, &counts, &episodes);
    }
    Ok(())
}

fn print_report(history: &str, counts: &CommandCounts, episodes: &[CommandEpisode]) {
    let of = |how: CommandEndingKind| {
        let is = |one: &&CommandEpisode| one.ending.as_ref().is_some_and(|end| end.how == how);
        episodes.iter().filter(is).count()
    };
    let is_same = |one: &CommandEpisode, other: &CommandEpisode| {
        (&one.project, &one.program, &one.signature)
            == (&other.project, &other.program, &other.signature)
    };
    let (mut repeats, mut across, mut answerable) = (0, 0, 0);
    for (at, episode) in episodes.iter().enumerate() {
        let earlier: Vec<_> = episodes[..at].iter().filter(|one| is_same(one, episode)).collect();
        repeats += usize::from(!earlier.is_empty());
        let others = || earlier.iter().filter(|one| one.session != episode.session);
        across += usize::from(others().next().is_some());
        answerable += usize::from(others().any(|one| one.variant().is_some()));
    }
    println!("{history}");
    println!("  {} Bash calls, {} failing commands that are no run", counts.calls, counts.failing);
    println!(
        "  {} followed: {} with a variant that worked, {} worked unchanged, {} left",
        episodes.len(),
        of(CommandEndingKind::Worked),
        of(CommandEndingKind::Same),
        episodes.len() - of(CommandEndingKind::Worked) - of(CommandEndingKind::Same),
    );
    println!(
        "  {repeats} repeats, {across} across sessions, {answerable} of these with a known variant; {} texts shown",
        counts.said.len()
    );
    for episode in episodes {
        let worked = episode.variant().map_or("", |variant| variant.command.as_str());
        println!("  - {} | {} | {worked}", episode.command, episode.signature);
    }
    for (command, said) in &counts.said {
        println!("\n  > {command}\n    {said}");
    }
}

/// Plays the Bash calls and session starts of a history.
fn play(binary: &Path, history: &Path, folder: &Path) -> Result<CommandCounts> {
    let base = folder.join("work").to_string_lossy().into_owned();
    let start = |arguments: &[&str], cwd: &Path| {
        let mut command = Command::new(binary);
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").current_dir(cwd);
        command.env("HOME", folder).env("RUTTER_HOME", folder.join("store"));
        command.env("RUTTER_MIN_DEADLINE_MS", "1000");
        command
    };
    let mut unpack = Command::new("xz")
        .arg("-dc")
        .arg(history)
        .stdout(Stdio::piped())
        .spawn()
        .context("xz is needed")?;
    let lines = BufReader::new(unpack.stdout.take().context("a pipe")?).lines();
    let mut counts = CommandCounts::default();
    let mut sessions = BTreeSet::new();
    for (number, line) in lines.enumerate() {
        let event: Value = serde_json::from_str(&line?.replace("@BASE@", &base))?;
        if number == 0 {
            for root in event["roots"].as_array().context("no `roots`")? {
                make_checkout(Path::new(root.as_str().context("a path")?), &event["repo"])?;
            }
            ensure!(start(&["maintain"], folder).output()?.status.success(), "no memory");
            continue;
        }
        let payload = &event["payload"];
        let name = payload["hook_event_name"].as_str().unwrap_or_default();
        let is_bash = payload["tool_name"] == "Bash" && name.starts_with("PostToolUse");
        if !is_bash && name != "SessionStart" {
            continue;
        }
        sessions.insert(payload["session_id"].as_str().unwrap_or_default().to_owned());
        let cwd = PathBuf::from(payload["cwd"].as_str().context("no `cwd`")?);
        std::fs::create_dir_all(&cwd)?;
        let mut hook = start(&["hook"], &cwd);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        hook.stdin.take().context("a pipe")?.write_all(payload.to_string().as_bytes())?;
        let said = hook.wait_with_output()?.stdout;
        if !is_bash {
            continue;
        }
        counts.calls += 1;
        if counts.calls.is_multiple_of(MAINTENANCE_CALLS) {
            start(&["maintain"], folder).output()?;
        }
        let is_run = event["label"]["run"].is_object();
        counts.failing += usize::from(name == "PostToolUseFailure" && !is_run);
        let said: Value = serde_json::from_slice(&said).unwrap_or_default();
        let said = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        if said.contains(" failed here before with ") {
            let command = payload["tool_input"]["command"].as_str().unwrap_or_default();
            counts.said.push((command.chars().take(200).collect(), said.to_owned()));
        }
    }
    unpack.wait()?;
    start(&["maintain"], folder).output()?;
    Ok(counts)
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
        std::fs::File::create(git.join(file))?.write_all(text.as_bytes())?;
    }
    Ok(())
}
