//! `rutter forget`: deletes rows, and every byte of them.

use rutter_memory::Store;
use rutter_memory::hook_recording::HookRecording;
use rutter_memory::quote::PathLine as _;
use rutter_memory::store::{ForgetResult, ForgettableRow, ProjectSummary};
use serde_json::json;

use crate::ask;
use crate::cli::Format;
use crate::cli::memory::ForgetCommandArgs;
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};
use crate::{CommandError, CommandResult};

/// The rows to delete.
enum ForgetTarget {
    Rows(Vec<ForgettableRow>),
    Project(Box<ProjectSummary>),
    All,
}

pub(crate) fn run(args: &ForgetCommandArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // A search only finds rows in the store, so drain the spool first.
    store.drain_spool(env.now)?;
    let what = find_target(args, &store, env)?;
    if matches!(&what, ForgetTarget::Rows(rows) if rows.is_empty()) {
        ui.print_note("no row contains all of these words; nothing was deleted")?;
        if args.format.chosen() == Format::Json {
            ui.print_json(&ForgetResult { erased: true, ..ForgetResult::default() })?;
        }
        return Ok(());
    }
    print_target(&what, &store, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(CommandError::Refused(
                "not on a terminal, so rutter cannot ask for confirmation, and this cannot be \
                 undone; add --yes"
                    .to_owned(),
            ));
        }
        if !ask::confirm("Delete this permanently?", ui)? {
            writeln!(ui.err, "nothing was deleted")?;
            return Err(CommandError::Declined);
        }
    }
    let forgotten = match &what {
        ForgetTarget::Rows(rows) => store.forget(rows, args.what.query.as_deref())?,
        ForgetTarget::Project(summary) => store.forget_project(summary.project.id)?,
        ForgetTarget::All => store.forget_all()?,
    };
    let recordings = HookRecording::list(&env.data_dir());
    if matches!(what, ForgetTarget::All) {
        for (recording, _) in &recordings {
            recording.clear()?;
        }
    } else if !recordings.is_empty() {
        ui.print_note(
            "recorded calls of hooks are not searched; `rutter contract record clear` deletes them",
        )?;
    }
    match args.format.chosen() {
        Format::Json => ui.print_json(&json!({
            "rows": forgotten.rows, "erased": forgotten.erased,
            "files": forgotten.files.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        }))?,
        Format::Text => writeln!(ui.out, "forgot {}", format_count(forgotten.rows as u64, "row"))?,
    }
    if forgotten.erased {
        Ok(())
    } else {
        Err(CommandError::Refused(
            "the rows are deleted, but another process still uses the write-ahead log, which \
             has their bytes; run `rutter maintain` when that process has ended"
                .to_owned(),
        ))
    }
}

fn find_target(
    args: &ForgetCommandArgs,
    store: &Store,
    env: &Environment,
) -> CommandResult<ForgetTarget> {
    let what = &args.what;
    if let Some(id) = &what.id {
        return Ok(ForgetTarget::Rows(vec![store.find_row(id)?]));
    }
    if let Some(query) = &what.query {
        if query.trim().is_empty() {
            return Err(CommandError::Usage(
                "--query needs words; --all forgets everything".to_owned(),
            ));
        }
        return Ok(ForgetTarget::Rows(store.find_rows_with_words(query)?));
    }
    if let Some(name) = &what.project {
        return Ok(ForgetTarget::Project(Box::new(super::project::find_project(
            name, store, env,
        )?)));
    }
    Ok(ForgetTarget::All)
}

/// Lists the rows that would be deleted, before the confirmation.
fn print_target(what: &ForgetTarget, store: &Store, ui: &mut Ui<'_>) -> CommandResult {
    match what {
        ForgetTarget::Rows(rows) => {
            for row in rows {
                writeln!(ui.err, "  {} {:<7} {}", row.id.short(), row.kind, first_line(&row.text))?;
            }
        }
        ForgetTarget::Project(summary) => {
            let project = &summary.project;
            let holds = super::project::describe_row_counts(summary);
            writeln!(ui.err, "  {} ({}): {holds}", project.name, project.key)?;
        }
        ForgetTarget::All => {
            for summary in store.projects()? {
                writeln!(ui.err, "  {} ({})", summary.project.name, summary.project.key)?;
            }
            writeln!(ui.err, "  everything, in every project")?;
        }
    }
    for path in store.files().list_set_aside()? {
        writeln!(
            ui.err,
            "  the damaged database {}, because it may contain the rows too",
            path.to_line()
        )?;
    }
    Ok(())
}
