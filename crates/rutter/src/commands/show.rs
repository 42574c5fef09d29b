//! `rutter show`: prints any row by its id, with its origin.

use rutter_memory::Id;
use rutter_memory::quote::format_field;
use rutter_memory::store::{ForgettableKind, ForgettableRow, ProposedChange};
use serde_json::json;

use super::{episodes, ghap};
use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::{EpisodesCommand, EpisodesShowArgs, ShowRowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, one_line};

/// Returns a description of a row's origin, or None if no origin is recorded.
pub(super) fn describe_origin(
    row: Id,
    store: &rutter_memory::Store,
    env: &Environment,
) -> CommandResult<Option<String>> {
    Ok(store.origin(row)?.map(|origin| origin.describe(env.now)))
}

/// Returns a description of the origin of a proposal.
fn describe_proposal_origin(
    id: Id,
    store: &rutter_memory::Store,
    env: &Environment,
) -> CommandResult<String> {
    let waiting = store.proposals()?.into_iter().find(|proposal| proposal.id == id);
    Ok(match waiting.map(|proposal| (proposal.import, proposal.what)) {
        Some((Some(batch), _)) => {
            format!("waits for `rutter review`, imported from {}", format_field(&batch.file))
        }
        Some((None, ProposedChange::Everywhere(memory))) => {
            let origin = describe_origin(memory.id, store, env)?.unwrap_or_default();
            format!("waits for `rutter review`, proposed by {origin}")
        }
        _ => "waits for `rutter review`".to_owned(),
    })
}

pub(crate) fn run(args: &ShowRowArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    store.try_drain_spool(env.now)?;
    let ForgettableRow { kind, id, text } = store.find_row(&args.id)?;
    let format = args.format.chosen();
    match kind {
        ForgettableKind::Ghap => {
            return ghap::show::print_with_origin(&store.ghap(id)?, &store, format, env, ui);
        }
        ForgettableKind::Episode => {
            let show = EpisodesShowArgs { id: id.into(), format: args.format };
            return episodes::run(&EpisodesCommand::Show(show), env, ui);
        }
        ForgettableKind::Command => {
            return episodes::show_command(&store.command_episode(id)?, &store, format, env, ui);
        }
        ForgettableKind::Memory
        | ForgettableKind::Outcome
        | ForgettableKind::Change
        | ForgettableKind::Value
        | ForgettableKind::Proposal => {}
    }
    let origin = if kind == ForgettableKind::Proposal {
        Some(describe_proposal_origin(id, &store, env)?)
    } else {
        describe_origin(id, &store, env)?
    };
    if format == Format::Json {
        return ui.print_json(&json!({
            "short": id.short(), "id": id, "kind": kind, "text": text, "origin": origin,
        }));
    }
    writeln!(ui.out, "{} {kind}: {}", id.short(), one_line(&text))?;
    let origin = origin.unwrap_or_else(|| {
        "unknown: an older rutter wrote this row, without its origin".to_owned()
    });
    Ok(writeln!(ui.out, "  {:<11} {origin}", "origin")?)
}
