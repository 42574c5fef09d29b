//! `cargo xtask eval commands`: plays the Bash calls of recorded histories into the binary, and lists what it says about
//! failing commands.
//!
//! A *repeat* is a failing command with the program and error of an earlier one. It can be answered if a
//! variant had worked before; both are read from the memory, so a variant that the product does not recognise is not
//! counted.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use rutter_memory::command_episode::{CommandEndingKind, CommandEpisode};
use rutter_memory::{Store, Time};
use serde_json::Value;

use super::history::HistoryPlayer;

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
        let player = HistoryPlayer::new(&binary, folder.path());
        let counts = play(&player, Path::new(history))?;
        let store = Store::open(&player.memory(), Time::from_millis(0))?;
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
fn play(player: &HistoryPlayer<'_>, history: &Path) -> Result<CommandCounts> {
    let mut counts = CommandCounts::default();
    let is_bash = |payload: &Value| {
        let event = payload["hook_event_name"].as_str().unwrap_or_default();
        payload["tool_name"] == "Bash" && event.starts_with("PostToolUse")
    };
    let keep = |payload: &Value| is_bash(payload) || payload["hook_event_name"] == "SessionStart";
    player.play(history, keep, |call| {
        if !is_bash(call.payload) {
            return;
        }
        counts.calls += 1;
        let is_run = call.label["run"].is_object();
        counts.failing += usize::from(call.event() == "PostToolUseFailure" && !is_run);
        if call.said.contains(" failed here before with ") {
            let command = call.payload["tool_input"]["command"].as_str().unwrap_or_default();
            counts.said.push((command.chars().take(200).collect(), call.said.clone()));
        }
    })?;
    Ok(counts)
}
