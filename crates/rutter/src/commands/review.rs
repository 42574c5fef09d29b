//! `rutter review`: lists, accepts and rejects everything that waits for a decision of the user.

use rutter_memory::config::ProjectFileTrust;
use rutter_memory::quote::{PathLine as _, format_field};
use rutter_memory::store::{
    BatchSummary, ExportRecord, Proposal, ProposedChange, ValueEdit, ValueFilter,
};
use rutter_memory::value::{Value, ValueStanding};
use rutter_memory::{Id, IdSuffix, Store, StoreError};
use serde_json::json;

use super::config::FolderConfig;
use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::{ReviewArgs, ReviewCommand, ReviewIdsArgs};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};

/// A row that waits for a decision of the user.
enum WaitingRow {
    Proposal(Box<Proposal>),
    Import(BatchSummary),
    Value(Box<Value>),
}

impl WaitingRow {
    const fn id(&self) -> Id {
        match self {
            Self::Proposal(proposal) => proposal.id,
            Self::Import(import) => import.batch.id,
            Self::Value(value) => value.id,
        }
    }

    /// Returns the kind of decision, in a few words.
    fn kind(&self) -> &'static str {
        match self {
            Self::Import(_) => "import",
            Self::Value(_) => "value",
            Self::Proposal(proposal) => match &proposal.what {
                ProposedChange::Everywhere(_) => "everywhere",
                ProposedChange::Row(record) => match record.as_ref() {
                    ExportRecord::Memory(_) => "imported everywhere",
                    ExportRecord::Value(value) if value.project.is_none() => {
                        "imported value, everywhere"
                    }
                    ExportRecord::Value(_) => "imported value",
                    _ => "imported alias",
                },
            },
        }
    }

    fn text(&self) -> String {
        match self {
            // The whole text, because the user accepts all of it.
            Self::Value(value) => format_field(&value.text),
            Self::Proposal(proposal) => format_field(&proposal.what.text()),
            Self::Import(import) => format!(
                "{}: {}, {} more wait",
                first_line(&import.batch.file),
                format_count(import.rows as u64, "row"),
                import.waiting
            ),
        }
    }
}

/// Returns everything that waits: imports, their proposals, proposals of agents, and proposed values.
fn all_waiting(store: &Store) -> Result<Vec<WaitingRow>, StoreError> {
    let imports = store.imports()?.into_iter().filter(|import| !import.batch.is_accepted);
    let mut waiting: Vec<WaitingRow> = imports.map(WaitingRow::Import).collect();
    waiting.extend(store.proposals()?.into_iter().map(|one| WaitingRow::Proposal(Box::new(one))));
    let proposed =
        ValueFilter { standing: Some(ValueStanding::Proposed), ..ValueFilter::default() };
    let values = store.values(&proposed)?;
    waiting.extend(values.into_iter().map(|held| WaitingRow::Value(Box::new(held.value))));
    Ok(waiting)
}

pub(crate) fn run(args: &ReviewArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    store.refresh_values(env.now)?;
    match &args.command {
        None => list_waiting(args, &store, env, ui),
        Some(ReviewCommand::Accept(ids)) => decide_rows(ids, true, &mut store, env, ui),
        Some(ReviewCommand::Reject(ids)) => decide_rows(ids, false, &mut store, env, ui),
    }
}

fn list_waiting(
    args: &ReviewArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let waiting = all_waiting(store)?;
    // `rutter trust` shows and decides an untrusted configuration file of the checkout.
    let untrusted = FolderConfig::find(env)
        .ok()
        .filter(|here| here.loaded.project == ProjectFileTrust::Untrusted)
        .map(|here| here.project_file());
    if args.format.chosen() == Format::Json {
        let waiting: Vec<_> = waiting
            .iter()
            .map(|one| {
                json!({
                    "short": one.id().short(), "id": one.id(), "kind": one.kind(), "text": one.text(),
                })
            })
            .collect();
        return ui.print_json(&json!({ "waiting": waiting, "untrusted_file": untrusted }));
    }
    if let Some(path) = &untrusted {
        ui.print_note(&format!(
            "{} is not trusted; `rutter trust` shows the requested changes",
            path.to_line()
        ))?;
    }
    if waiting.is_empty() {
        return Ok(ui.print_note("nothing waits for review")?);
    }
    for one in &waiting {
        writeln!(ui.out, "{} {}: {}", one.id().short(), one.kind(), one.text())?;
    }
    Ok(ui.print_note("run `rutter review accept ID…` or `rutter review reject ID…`")?)
}

fn decide_rows(
    ids: &ReviewIdsArgs,
    accept: bool,
    store: &mut Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let waiting = all_waiting(store)?;
    // Resolves all ids before it decides the first row.
    let chosen =
        ids.ids.iter().map(|id| find_waiting(&waiting, id)).collect::<Result<Vec<_>, _>>()?;
    for one in chosen {
        let text = one.text();
        match (one, accept) {
            (WaitingRow::Proposal(proposal), true) => store.accept_proposal(proposal.id)?,
            (WaitingRow::Proposal(proposal), false) => store.reject_proposal(proposal.id)?,
            (WaitingRow::Import(import), true) => {
                store.accept_import(import.batch.id, env.now)?;
            }
            (WaitingRow::Import(import), false) => {
                store.undo_import(import.batch.id)?;
            }
            (WaitingRow::Value(value), true) => {
                let edit =
                    ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
                store.edit_value(value.id, &edit, env.now)?;
            }
            (WaitingRow::Value(value), false) => {
                store.retire_value(value.id, env.now)?;
            }
        }
        let word = if accept { "accepted" } else { "rejected" };
        writeln!(ui.out, "{} {word}: {text}", one.id().short())?;
    }
    Ok(())
}

fn find_waiting<'a>(waiting: &'a [WaitingRow], id: &IdSuffix) -> CommandResult<&'a WaitingRow> {
    let mut found = waiting.iter().filter(|one| id.matches(one.id()));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(StoreError::NotFound { what: "waiting row", id: id.clone() }.into()),
        (Some(_), Some(_)) => {
            Err(StoreError::Ambiguous { id: id.clone(), count: 2 + found.count() }.into())
        }
    }
}
