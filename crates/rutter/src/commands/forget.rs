//! `rutter forget`: deletes rows, and every byte of them.

use rutter_memory::Store;
use rutter_memory::store::{Forgotten, ProjectSummary, Row};
use serde_json::json;

use crate::Failure;
use crate::ask;
use crate::cli::Format;
use crate::cli::memory::ForgetCommand;
use crate::environment::Environment;
use crate::ui::{Ui, count, first_line};

/// The rows to delete.
enum What {
    Rows(Vec<Row>),
    Project(Box<ProjectSummary>),
    All,
}

pub(crate) fn run(args: &ForgetCommand, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    // A search only finds rows in the store, so drain the spool first.
    store.gather(env.now)?;
    let what = find(args, &store, env)?;
    if matches!(&what, What::Rows(rows) if rows.is_empty()) {
        ui.remark("nothing holds all of these words; nothing was forgotten")?;
        if args.format.chosen() == Format::Json {
            ui.json(&Forgotten { erased: true, ..Forgotten::default() })?;
        }
        return Ok(());
    }
    announce(&what, &store, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(Failure::Refused(
                "there is no terminal to ask on, and forgetting is for good; add --yes".to_owned(),
            ));
        }
        if !ask::agreed("Forget this for good?", ui)? {
            writeln!(ui.err, "nothing was forgotten")?;
            return Err(Failure::Declined);
        }
    }
    let forgotten = match &what {
        What::Rows(rows) => store.forget(rows, args.what.query.as_deref())?,
        What::Project(summary) => store.forget_project(summary.project.id)?,
        What::All => store.forget_all()?,
    };
    match args.format.chosen() {
        Format::Json => ui.json(&json!({
            "rows": forgotten.rows, "erased": forgotten.erased,
            "files": forgotten.files.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        }))?,
        Format::Text => writeln!(ui.out, "forgot {}", count(forgotten.rows as u64, "row"))?,
    }
    if forgotten.erased {
        Ok(())
    } else {
        Err(Failure::Refused(
            "the rows are gone, but another process still reads the log of changes, where their bytes are; run \
             `rutter tend` when it has ended"
                .to_owned(),
        ))
    }
}

fn find(args: &ForgetCommand, store: &Store, env: &Environment) -> Result<What, Failure> {
    let what = &args.what;
    if let Some(id) = &what.id {
        return Ok(What::Rows(vec![store.row(id)?]));
    }
    if let Some(query) = &what.query {
        if query.trim().is_empty() {
            return Err(Failure::Usage("--query needs words; --all forgets everything".to_owned()));
        }
        return Ok(What::Rows(store.rows_with(query)?));
    }
    if let Some(name) = &what.project {
        return Ok(What::Project(Box::new(super::project::named(name, store, env)?)));
    }
    Ok(What::All)
}

/// Lists the rows that would be deleted, before the confirmation.
fn announce(what: &What, store: &Store, ui: &mut Ui<'_>) -> Result<(), Failure> {
    match what {
        What::Rows(rows) => {
            for row in rows {
                writeln!(ui.err, "  {} {:<7} {}", row.id.short(), row.kind, first_line(&row.text))?;
            }
        }
        What::Project(summary) => {
            let project = &summary.project;
            let holds = super::project::holds(summary);
            writeln!(ui.err, "  {} ({}): {holds}", project.name, project.key)?;
        }
        What::All => {
            for summary in store.projects()? {
                writeln!(ui.err, "  {} ({})", summary.project.name, summary.project.key)?;
            }
            writeln!(ui.err, "  everything, in every project")?;
        }
    }
    for path in store.files().set_aside()? {
        writeln!(ui.err, "  the damaged database {}, because it may hold it too", path.display())?;
    }
    Ok(())
}
