//! `rutter show`: any row by its id, with where it came from.

use rutter_memory::Id;
use rutter_memory::store::{Forgettable, Row};
use serde_json::json;

use super::{episodes, ghap};
use crate::Failure;
use crate::cli::Format;
use crate::cli::memory::{EpisodesCommand, EpisodesShowArgs, ShowRowArgs};
use crate::environment::Environment;
use crate::ui::{Ui, one_line};

/// The origin of a row in words; none where nobody wrote it down.
pub(super) fn origin(
    row: Id,
    store: &rutter_memory::Store,
    env: &Environment,
) -> Result<Option<String>, Failure> {
    Ok(store.origin(row)?.map(|origin| origin.describe(env.now)))
}

pub(crate) fn run(args: &ShowRowArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    store.gather_if_free(env.now)?;
    let Row { kind, id, text } = store.row(&args.id)?;
    let format = args.format.chosen();
    match kind {
        Forgettable::Ghap => return ghap::show::whole(&store.ghap(id)?, &store, format, env, ui),
        Forgettable::Episode => {
            let show = EpisodesShowArgs { id: id.into(), format: args.format };
            return episodes::run(&EpisodesCommand::Show(show), env, ui);
        }
        Forgettable::Memory
        | Forgettable::Outcome
        | Forgettable::Change
        | Forgettable::Value
        | Forgettable::Proposal => {}
    }
    let origin = origin(id, &store, env)?;
    if format == Format::Json {
        return ui.json(&json!({
            "short": id.short(), "id": id, "kind": kind, "text": text, "origin": origin,
        }));
    }
    writeln!(ui.out, "{} {kind}: {}", id.short(), one_line(&text))?;
    let origin =
        origin.unwrap_or_else(|| "not recorded: the row is older than origins are".to_owned());
    Ok(writeln!(ui.out, "  {:<11} {origin}", "origin")?)
}
