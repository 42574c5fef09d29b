//! `rutter project`: lists, shows and merges the projects of the memory.

use rutter_memory::store::ProjectSummary;
use rutter_memory::store::entry::Place;
use rutter_memory::{Store, StoreError};
use serde::Serialize;

use crate::Failure;
use crate::ask;
use crate::cli::Format;
use crate::cli::memory::{ProjectCommand, ProjectListArgs, ProjectMergeArgs, ProjectShowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, count, first_line};

pub(crate) fn run(
    command: &ProjectCommand,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    match command {
        ProjectCommand::List(args) => list(args, env, ui),
        ProjectCommand::Show(args) => show(args, env, ui),
        ProjectCommand::Merge(args) => merge(args, env, ui),
    }
}

/// Returns the project with this name; an empty name is the project of the current folder.
pub(super) fn named(
    name: &str,
    store: &Store,
    env: &Environment,
) -> Result<ProjectSummary, Failure> {
    if !name.is_empty() {
        return Ok(store.project_named(name)?);
    }
    let place = env.owner()?.place;
    match store.project(&place)? {
        Some(project) => Ok(store.project_named(project.key.as_str())?),
        None => Err(StoreError::NoProject(place.key.to_string()).into()),
    }
}

fn list(args: &ProjectListArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let projects = env.store(ui)?.projects()?;
    if args.format.chosen() == Format::Json {
        return ui.json(&projects);
    }
    if projects.is_empty() {
        return Ok(ui.remark("nothing is known about any project yet")?);
    }
    let rows = projects.iter().map(|summary| {
        [
            summary.project.id.short(),
            first_line(&summary.project.name),
            summary.ghaps.to_string(),
            summary.episodes.to_string(),
            summary.memories.to_string(),
            summary.outcomes.to_string(),
            summary.project.key.to_string(),
        ]
    });
    Ok(ui.table(["ID", "NAME", "GHAPS", "EPISODES", "MEMORIES", "OUTCOMES", "KEY"], rows)?)
}

fn show(args: &ProjectShowArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let store = env.store(ui)?;
    let name = args.name.as_deref().unwrap_or_default();
    // Prints remarks first: the project of a folder may be new, and the remarks about the folder explain that.
    let (earlier, ignored) = if name.is_empty() {
        let located = env.located()?;
        (store.earlier_projects(&Place::from(&located))?, located.ignored)
    } else {
        (Vec::new(), None)
    };
    if let Some(ignored) = &ignored {
        ui.remark(&format!("{ignored}; {}", ignored.advice()))?;
    }
    let found = named(name, &store, env);
    for other in &earlier {
        let other_id = other.project.id.short();
        let merge = match &found {
            Ok(summary) => {
                format!(
                    "`rutter project merge {other_id} {}` joins them",
                    summary.project.id.short()
                )
            }
            Err(_) => format!(
                "once something is recorded here, `rutter project merge {other_id} \"\"` joins them"
            ),
        };
        ui.remark(&format!(
            "{} was at this folder before and is a separate project with {}; {merge}",
            other.project.key,
            holds(other),
        ))?;
    }
    let summary = found?;
    if args.format.chosen() == Format::Json {
        let ignored = ignored.as_ref().map(ToString::to_string);
        return ui.json(&Shown { summary: &summary, earlier: &earlier, ignored });
    }
    let project = &summary.project;
    writeln!(ui.out, "{} {}", project.id.short(), project.name)?;
    writeln!(ui.out, "  key      {}", project.key)?;
    for alias in &project.aliases {
        writeln!(ui.out, "  also     {alias}")?;
    }
    writeln!(ui.out, "  folder   {}", project.root)?;
    writeln!(ui.out, "  since    {}", project.created)?;
    Ok(writeln!(ui.out, "  holds    {}", holds(&summary))?)
}

/// A project as `rutter project show --json` prints it.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    summary: &'a ProjectSummary,
    /// Separate projects that were in this folder before.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    earlier: &'a [ProjectSummary],
    /// The part of git's files that was ignored for the project identity, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<String>,
}

/// Returns the row counts of a project as text.
pub(super) fn holds(summary: &ProjectSummary) -> String {
    [
        count(summary.ghaps, "GHAP"),
        count(summary.episodes, "episode"),
        count(summary.memories, "memory"),
        count(summary.values, "value"),
        count(summary.outcomes, "outcome"),
        count(summary.sessions, "session"),
    ]
    .join(", ")
}

fn merge(args: &ProjectMergeArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    let (from, into) = (named(&args.from, &store, env)?, named(&args.into, &store, env)?);
    if from.project.id == into.project.id {
        return Err(Failure::Refused(format!(
            "`{}` and `{}` are one project already",
            args.from, args.into
        )));
    }
    announce(&from, &into, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(Failure::Refused(
                "there is no terminal to ask on, and a merge cannot be undone; add --yes"
                    .to_owned(),
            ));
        }
        if !ask::agreed("Merge them for good?", ui)? {
            writeln!(ui.err, "nothing was merged")?;
            return Err(Failure::Declined);
        }
    }
    store.merge_projects(from.project.id, into.project.id)?;
    let summary = named(into.project.key.as_str(), &store, env)?;
    if args.format.chosen() == Format::Json {
        return ui.json(&summary);
    }
    Ok(writeln!(ui.out, "{} is part of {} now", from.project.key, into.project.key)?)
}

/// Prints both projects with their row counts, before the confirmation.
fn announce(from: &ProjectSummary, into: &ProjectSummary, ui: &mut Ui<'_>) -> Result<(), Failure> {
    writeln!(ui.err, "  from  {}: {}", from.project.key, holds(from))?;
    Ok(writeln!(ui.err, "  into  {}: {}", into.project.key, holds(into))?)
}
