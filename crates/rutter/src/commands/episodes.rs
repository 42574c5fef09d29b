//! `rutter episodes`: lists or shows followed failures, and the changes that fixed them.

use rutter_memory::Store;
use rutter_memory::change::{Change, ChangeKind};
use rutter_memory::command_episode::{CommandDifference, CommandEndingKind, CommandEpisode};
use rutter_memory::episode::{Episode, EpisodeEndingKind};
use rutter_memory::quote::format_field;
use rutter_memory::store::EpisodeFilter;
use serde::Serialize;

use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::{EpisodesCommand, EpisodesListArgs, EpisodesShowArgs, ending_name};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};

pub(crate) fn run(command: &EpisodesCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Includes rows that hooks could only write to the spool.
    store.try_drain_spool(env.now)?;
    match command {
        EpisodesCommand::List(args) if args.commands => list_commands(args, &store, env, ui),
        EpisodesCommand::List(args) => list_episodes(args, &store, env, ui),
        EpisodesCommand::Show(args) => show_episode(args, &store, env, ui),
    }
}

/// An episode with its state, changes and origin.
#[derive(Serialize)]
struct EpisodeOutput<'a> {
    /// The short id.
    short: String,
    /// `open`, or the stored name of the way it ended.
    state: &'static str,
    /// The number of times that this failure was fixed in its project.
    times_fixed: u32,
    /// The changes so far; empty if the episode has ended.
    changes: Vec<Change>,
    /// A description of the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(flatten)]
    episode: &'a Episode,
}

impl<'a> EpisodeOutput<'a> {
    fn new(episode: &'a Episode, store: &Store, env: &Environment) -> CommandResult<Self> {
        let how = episode.ending.as_ref().map(|ending| ending.how);
        Ok(Self {
            short: episode.id.short(),
            state: how.map_or("open", EpisodeEndingKind::as_str),
            times_fixed: store.times_fixed(episode)?,
            changes: if how.is_none() { store.changes_of(episode)? } else { Vec::new() },
            origin: super::show::describe_origin(episode.id, store, env)?,
            episode,
        })
    }

    /// Returns the state for people. JSON has the stored name, so that scripts continue to work.
    fn state_label(&self) -> &'static str {
        self.episode.ending.as_ref().map_or("open", |ending| ending_name(ending.how))
    }

    /// Returns the changes of the fix, or the changes so far if the episode is open.
    fn shown_changes(&self) -> &[Change] {
        self.episode.ending.as_ref().map_or(&self.changes, |ending| &ending.fix)
    }
}

fn list_episodes(
    args: &EpisodesListArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let project = if args.all { None } else { store.project(&env.owner()?.place)? };
    let episodes = if project.is_none() && !args.all {
        Vec::new()
    } else {
        let project = project.map(|project| project.key);
        let limit = Some(args.limit);
        store.episodes(&EpisodeFilter { project, open: args.open, how: args.ending, limit })?
    };
    let shown = episodes
        .iter()
        .map(|episode| EpisodeOutput::new(episode, store, env))
        .collect::<Result<Vec<_>, _>>()?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&shown);
    }
    if shown.is_empty() {
        let hint = if args.all {
            ""
        } else {
            " in this project; add `--all` to list other \
                                              projects"
        };
        return Ok(ui.print_note(&format!("no failure was recorded{hint}"))?);
    }
    let rows = shown.iter().map(|shown| {
        let episode = shown.episode;
        let fix = match shown.shown_changes() {
            [] => String::new(),
            [first, rest @ ..] => {
                let mut others: Vec<&str> =
                    rest.iter().map(|change| change.name.as_str()).collect();
                others.sort_unstable();
                others.dedup();
                others.retain(|other| *other != first.name.as_str());
                match others.len() {
                    0 => first_line(&first.name),
                    more => format!("{} +{more}", first_line(&first.name)),
                }
            }
        };
        [
            shown.short.clone(),
            shown.state_label().to_owned(),
            episode.seen.to_string(),
            episode.attempts.to_string(),
            first_line(episode.test.as_ref().unwrap_or(&episode.error)),
            fix,
        ]
    });
    Ok(ui.print_table(["ID", "STATE", "LAST FAILED", "RUNS", "FAILURE", "CHANGED"], rows)?)
}

/// A command episode with its state.
#[derive(Serialize)]
struct CommandOutput<'a> {
    /// The short id.
    short: String,
    /// `open`, or the stored name of the way it ended.
    state: &'static str,
    /// A description of the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(flatten)]
    episode: &'a CommandEpisode,
}

impl<'a> CommandOutput<'a> {
    fn new(episode: &'a CommandEpisode, store: &Store, env: &Environment) -> CommandResult<Self> {
        let how = episode.ending.as_ref().map(|ending| ending.how);
        Ok(Self {
            short: episode.id.short(),
            state: how.map_or("open", CommandEndingKind::as_str),
            origin: super::show::describe_origin(episode.id, store, env)?,
            episode,
        })
    }
}

fn list_commands(
    args: &EpisodesListArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let project = if args.all { None } else { store.project(&env.owner()?.place)? };
    let episodes = if project.is_none() && !args.all {
        Vec::new()
    } else {
        let key = project.map(|project| project.key);
        store.command_episodes(key.as_ref(), Some(args.limit))?
    };
    let shown = episodes
        .iter()
        .map(|episode| CommandOutput::new(episode, store, env))
        .collect::<Result<Vec<_>, _>>()?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&shown);
    }
    if shown.is_empty() {
        return Ok(ui.print_note("no failed command was recorded")?);
    }
    let rows = shown.iter().map(|shown| {
        let episode = shown.episode;
        [
            shown.short.clone(),
            shown.state.to_owned(),
            episode.seen.to_string(),
            episode.failures.to_string(),
            first_line(&episode.command),
            episode.variant().map_or_else(String::new, |variant| first_line(&variant.command)),
        ]
    });
    Ok(ui.print_table(["ID", "STATE", "LAST FAILED", "TIMES", "COMMAND", "WORKED"], rows)?)
}

/// Prints a failed command and the variant that worked.
pub(super) fn show_command(
    episode: &CommandEpisode,
    store: &Store,
    format: Format,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let shown = CommandOutput::new(episode, store, env)?;
    if format == Format::Json {
        return ui.print_json(&shown);
    }
    let times = format_count(u64::from(episode.failures), "failure");
    writeln!(
        ui.out,
        "{} {} last failed {}, {times} since {}",
        shown.short, shown.state, episode.seen, episode.opened
    )?;
    let mut line = |name: &str, text: &str| writeln!(ui.out, "  {name:<11} {}", format_field(text));
    line("command", &episode.command)?;
    line("error", &episode.error)?;
    if let Some(variant) = episode.variant() {
        line("worked", &variant.command)?;
        let CommandDifference { removed, added, folder, before } = &variant.difference;
        for (name, parts) in [("without", removed), ("with", added)] {
            for part in parts {
                line(name, part)?;
            }
        }
        if let Some(folder) = folder {
            line("in", folder)?;
        }
        if let Some(before) = before {
            line("after", before)?;
        }
    }
    line("checkout", &episode.root)?;
    if let Some(origin) = &shown.origin {
        line("origin", origin)?;
    }
    Ok(())
}

fn show_episode(
    args: &EpisodesShowArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let episode = store.episode(store.episode_id(&args.id)?)?;
    let shown = EpisodeOutput::new(&episode, store, env)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&shown);
    }
    let runs = format_count(u64::from(episode.attempts), "failing run");
    let ended = episode
        .ending
        .as_ref()
        .map_or_else(|| format!("last failed {}", episode.seen), |ending| ending.at.to_string());
    writeln!(
        ui.out,
        "{} {} {ended}, {runs} since {}",
        shown.short,
        shown.state_label(),
        episode.opened
    )?;
    let selection = &episode.selection;
    let words = selection.arguments.iter().map(|argument| format!(" {argument}"));
    let folder = match selection.folder.as_str() {
        "" => String::new(),
        folder => format!(" (in {folder})"),
    };
    let command = format!("{}{}{folder}", selection.program, words.collect::<String>());
    let mut line = |name: &str, text: &str| writeln!(ui.out, "  {name:<11} {}", format_field(text));
    if let Some(test) = &episode.test {
        line("test", test)?;
    }
    if let Some(scope) = &episode.scope {
        line("package", scope)?;
    }
    line("error", &episode.error)?;
    line("run", &command)?;
    if let Some(task) = &selection.task {
        line("by", task)?;
    }
    line("checkout", &episode.root)?;
    if let Some(origin) = &shown.origin {
        line("origin", origin)?;
    }
    line("signature", &episode.signature)?;
    if shown.times_fixed > 1 {
        line("fixed", &format!("{} times in this project", shown.times_fixed))?;
    }
    for change in shown.shown_changes() {
        match change.kind {
            ChangeKind::Command => line("command", &change.name)?,
            ChangeKind::Invocation => line("run", &change.name)?,
            ChangeKind::Edit => {
                line(if change.is_certain { "fixed in" } else { "changed" }, &change.name)?;
            }
        }
        if let Some(reason) = &change.reason {
            line("  because", reason)?;
        }
        if let Some(command) = &change.made_by {
            line("  by", command)?;
        }
        for text in change.patch.lines() {
            line("", text)?;
        }
    }
    Ok(())
}
