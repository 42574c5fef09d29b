//! `rutter project`: lists, shows and merges the projects of the memory.

use std::path::Path;

use rutter_memory::quote::{PathLine as _, format_field};
use rutter_memory::store::ProjectSummary;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::{Store, StoreError};
use serde::Serialize;

use crate::ask;
use crate::cli::Format;
use crate::cli::memory::{ProjectCommand, ProjectListArgs, ProjectMergeArgs, ProjectShowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};
use crate::{CommandError, CommandResult};

pub(crate) fn run(command: &ProjectCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        ProjectCommand::List(args) => list_projects(args, env, ui),
        ProjectCommand::Show(args) => show_project(args, env, ui),
        ProjectCommand::Merge(args) => merge_projects(args, env, ui),
    }
}

/// Returns the project with this name; an empty name is the project of the current folder.
pub(super) fn find_project(
    name: &str,
    store: &Store,
    env: &Environment,
) -> CommandResult<ProjectSummary> {
    if !name.is_empty() {
        return Ok(store.find_project_by_name(name)?);
    }
    let place = env.owner()?.place;
    match store.project(&place)? {
        Some(project) => Ok(store.find_project_by_name(project.key.as_str())?),
        None => Err(StoreError::NoProject(place.key.to_string()).into()),
    }
}

fn list_projects(args: &ProjectListArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let projects = env.open_store(ui)?.projects()?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&projects);
    }
    if projects.is_empty() {
        return Ok(ui.print_note("no project has rows yet")?);
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
    Ok(ui.print_table(["ID", "NAME", "GHAPS", "EPISODES", "MEMORIES", "OUTCOMES", "KEY"], rows)?)
}

fn show_project(args: &ProjectShowArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let store = env.open_store(ui)?;
    let name = args.name.as_deref().unwrap_or_default();
    // Prints remarks first: the project of a folder may be new, and the remarks about the folder explain that.
    let (earlier, ignored) = if name.is_empty() {
        let located = env.locate_project()?;
        (store.earlier_projects(&ProjectPlace::from(&located))?, located.ignored)
    } else {
        (Vec::new(), None)
    };
    if let Some(ignored) = &ignored {
        ui.print_note(&format!("{ignored}; {}", ignored.advice()))?;
    }
    let found = find_project(name, &store, env);
    for other in &earlier {
        let other_id = other.project.id.short();
        let merge = match &found {
            Ok(summary) => {
                format!(
                    "run `rutter project merge {other_id} {}` to merge them",
                    summary.project.id.short()
                )
            }
            Err(_) => format!(
                "once this project has rows, run `rutter project merge {other_id} \"\"` to \
                 merge them"
            ),
        };
        ui.print_note(&format!(
            "project {} was in this folder before and has {}; {merge}",
            other.project.key,
            describe_row_counts(other),
        ))?;
    }
    let summary = found?;
    if args.format.chosen() == Format::Json {
        let ignored = ignored.as_ref().map(ToString::to_string);
        return ui.print_json(&ProjectJson { summary: &summary, earlier: &earlier, ignored });
    }
    let project = &summary.project;
    writeln!(ui.out, "{} {}", project.id.short(), format_field(&project.name))?;
    writeln!(ui.out, "  key      {}", project.key)?;
    for alias in &project.aliases {
        writeln!(ui.out, "  also     {alias}")?;
    }
    writeln!(ui.out, "  folder   {}", Path::new(project.root.as_str()).to_line())?;
    writeln!(ui.out, "  since    {}", project.created)?;
    Ok(writeln!(ui.out, "  holds    {}", describe_row_counts(&summary))?)
}

/// A project as `rutter project show --json` prints it.
#[derive(Serialize)]
struct ProjectJson<'a> {
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
pub(super) fn describe_row_counts(summary: &ProjectSummary) -> String {
    [
        format_count(summary.ghaps, "GHAP"),
        format_count(summary.episodes, "episode"),
        format_count(summary.memories, "memory"),
        format_count(summary.values, "value"),
        format_count(summary.outcomes, "outcome"),
        format_count(summary.sessions, "session"),
    ]
    .join(", ")
}

fn merge_projects(args: &ProjectMergeArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let (from, into) =
        (find_project(&args.from, &store, env)?, find_project(&args.into, &store, env)?);
    if from.project.id == into.project.id {
        return Err(CommandError::Refused(format!(
            "`{}` and `{}` are already the same project",
            args.from, args.into
        )));
    }
    print_merge_plan(&from, &into, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(CommandError::Refused(
                "not on a terminal, so rutter cannot ask for confirmation, and a merge cannot \
                 be undone; add --yes"
                    .to_owned(),
            ));
        }
        if !ask::confirm("Merge them permanently?", ui)? {
            writeln!(ui.err, "nothing was merged")?;
            return Err(CommandError::Declined);
        }
    }
    store.merge_projects(from.project.id, into.project.id)?;
    let summary = find_project(into.project.key.as_str(), &store, env)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&summary);
    }
    Ok(writeln!(ui.out, "{} is part of {} now", from.project.key, into.project.key)?)
}

/// Prints both projects with their row counts, before the confirmation.
fn print_merge_plan(
    from: &ProjectSummary,
    into: &ProjectSummary,
    ui: &mut Ui<'_>,
) -> CommandResult {
    writeln!(ui.err, "  from  {}: {}", from.project.key, describe_row_counts(from))?;
    Ok(writeln!(ui.err, "  into  {}: {}", into.project.key, describe_row_counts(into))?)
}
