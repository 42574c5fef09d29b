//! `rutter export` and `rutter import`: writes and reads the memory as lines of JSON.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use indicatif::{ProgressBar, ProgressStyle};
use rutter_memory::Store;
use rutter_memory::project::ProjectKey;
use rutter_memory::quote::PathLine as _;
use rutter_memory::store::{
    ExportRecord, ExportReport, ImportFile, ImportReport, ImportSummary, WhoseRows,
};

use crate::cli::Format;
use crate::cli::memory::{
    ExportArgs, ImportCommand, ImportJsonlArgs, ImportListArgs, ImportUndoArgs,
};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count};
use crate::{CommandError, CommandResult, ask, atomic_file, shell};

pub(crate) fn export(args: &ExportArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    store.drain_spool(env.now)?;
    let project = match &args.project {
        Some(name) => Some(super::project::find_project(name, &store, env)?.project.key),
        None => None,
    };
    match &args.output {
        None => write_records(&mut store, project.as_ref(), ui.out).map(drop),
        Some(path) => {
            let exported = atomic_file::write_atomically(path, |out| {
                write_records(&mut store, project.as_ref(), out)
            })?;
            Ok(ui.print_note(&format!("{} rows in {}", exported.rows, path.to_line()))?)
        }
    }
}

fn write_records(
    store: &mut Store,
    project: Option<&ProjectKey>,
    out: &mut dyn Write,
) -> CommandResult<ExportReport> {
    store.export::<CommandError>(project, |record: &ExportRecord| {
        serde_json::to_writer(&mut *out, record).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })
}

pub(crate) fn import(command: &ImportCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        ImportCommand::Jsonl(args) => import_file(args, env, ui),
        ImportCommand::List(args) => list_imports(args, env, ui),
        ImportCommand::Undo(args) => undo_import(args, env, ui),
        ImportCommand::Other(words) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            let typed: Vec<_> = words.iter().map(|word| shell::quote_word(word)).collect();
            Err(CommandError::Usage(format!(
                "the format is missing; type `rutter import jsonl {}`",
                typed.join(" ")
            )))
        }
    }
}

fn import_file(args: &ImportJsonlArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let ImportJsonlArgs { file: path, own, yes, format } = args;
    let is_piped = path.as_os_str() == "-";
    let file = {
        let (input, length): (Box<dyn Read + '_>, Option<u64>) = if is_piped {
            (Box::new(&mut *ui.input), None)
        } else {
            let refuse = |error: io::Error| {
                CommandError::Refused(format!("cannot read {}: {error}", path.to_line()))
            };
            let file = File::open(path).map_err(refuse)?;
            let metadata = file.metadata().map_err(refuse)?;
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        // Draws only on a terminal.
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
            bar.set_style(style);
        }
        // Reads the input before it locks the database: a pipe can be slow, and hooks must not wait for it.
        let file = ImportFile::read(BufReader::new(input), |bytes| bar.inc(bytes));
        bar.finish_and_clear();
        file?
    };
    let mut store = env.open_store(ui)?;
    print_import_summary(&store.summarize_import(&file)?, *own, ui)?;
    if !yes {
        if !ui.terminal || is_piped {
            return Err(CommandError::Refused(
                "not on a terminal, so rutter cannot ask for confirmation; check the summary \
                 above, and add --yes"
                    .to_owned(),
            ));
        }
        if !ask::confirm("Import this?", ui)? {
            writeln!(ui.err, "nothing was imported")?;
            return Err(CommandError::Declined);
        }
    }
    let whose = if *own { WhoseRows::Own } else { WhoseRows::Foreign };
    let name = if is_piped { "stdin".into() } else { path.to_string_lossy() };
    let imported = store.import(&file, &name, whose, env.now)?;
    if format.chosen() == Format::Json {
        return ui.print_json(&imported);
    }
    let ImportReport { added, updated, kept, waiting, left_out } = imported;
    writeln!(ui.out, "{added} added, {updated} updated, {kept} already present")?;
    if left_out > 0 {
        let rows = format_count(left_out as u64, "row");
        ui.print_note(&format!(
            "{rows} skipped: open failures and injections of the other machine"
        ))?;
    }
    if !own && added + waiting > 0 {
        ui.print_note(&format!(
            "the rows are marked as imported, and {waiting} more wait for your decision: \
             `rutter review` lists them, `rutter import undo` removes the import"
        ))?;
    }
    Ok(())
}

/// Prints a summary of the file, so that the user can decide.
fn print_import_summary(summary: &ImportSummary, own: bool, ui: &mut Ui<'_>) -> io::Result<()> {
    for project in &summary.projects {
        let known = if project.is_known { "known here" } else { "new here" };
        writeln!(
            ui.err,
            "project {} ({}, {known}): {}, {}, {}, {}, {}",
            first_line(&project.name),
            first_line(project.key.as_str()),
            format_count(project.runs as u64, "run"),
            format_count(project.episodes as u64, "failure"),
            format_count(project.ghaps as u64, "GHAP"),
            format_plural(project.memories, "memory", "memories"),
            format_count(project.values as u64, "value"),
        )?;
    }
    for text in &summary.everywhere {
        writeln!(ui.err, "for every project: {}", first_line(text))?;
    }
    for text in &summary.accepted_values {
        writeln!(ui.err, "accepted value: {}", first_line(text))?;
    }
    if own {
        return Ok(());
    }
    for (key, project) in &summary.aliases {
        let (key, project) = (first_line(key.as_str()), first_line(project.as_str()));
        writeln!(ui.err, "folders known as {key} would share the project {project}")?;
    }
    Ok(())
}

fn format_plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn list_imports(args: &ImportListArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let imports = env.open_store(ui)?.imports()?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&imports);
    }
    if imports.is_empty() {
        return Ok(ui.print_note("there are no imported rows")?);
    }
    let rows = imports.iter().map(|import| {
        [
            import.batch.id.short(),
            import.batch.at.to_string(),
            if import.batch.is_accepted { "accepted" } else { "not accepted" }.to_owned(),
            import.rows.to_string(),
            import.waiting.to_string(),
            first_line(&import.batch.file),
        ]
    });
    Ok(ui.print_table(["ID", "WHEN", "STATE", "ROWS", "WAITING", "FILE"], rows)?)
}

fn undo_import(args: &ImportUndoArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let wanted = args.id.as_ref().map(|id| store.import_id(id)).transpose()?;
    let imports = store.imports()?;
    let found = imports.iter().find(|import| wanted.is_none_or(|id| import.batch.id == id));
    let Some(import) = found else {
        return Err(CommandError::Refused("there are no imported rows".to_owned()));
    };
    let name = first_line(&import.batch.file);
    let rows = format_count((import.rows + import.waiting) as u64, "row");
    ui.print_note(&format!("{rows} of {name}, imported {}", import.batch.at))?;
    if !args.yes {
        if !ui.terminal {
            return Err(CommandError::Refused(
                "not on a terminal, so rutter cannot ask for confirmation, and this cannot be \
                 undone; add --yes"
                    .to_owned(),
            ));
        }
        if !ask::confirm("Delete them permanently?", ui)? {
            writeln!(ui.err, "nothing was changed")?;
            return Err(CommandError::Declined);
        }
    }
    let gone = store.undo_import(import.batch.id)?;
    Ok(writeln!(ui.out, "removed {}", format_count(gone.rows as u64, "row"))?)
}
