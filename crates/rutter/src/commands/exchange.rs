//! `rutter export` and `rutter import jsonl`.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use indicatif::{ProgressBar, ProgressStyle};
use rutter_memory::Store;
use rutter_memory::project::ProjectKey;
use rutter_memory::store::{Exported, Record};

use crate::cli::Format;
use crate::cli::memory::{ExportArgs, ImportArgs, ImportCommand};
use crate::environment::Environment;
use crate::ui::Ui;
use crate::{Failure, file, shell};

pub(crate) fn export(args: &ExportArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    store.gather(env.now)?;
    let project = match &args.project {
        Some(name) => Some(super::project::named(name, &store, env)?.project.key),
        None => None,
    };
    match &args.output {
        None => write(&mut store, project.as_ref(), ui.out).map(drop),
        Some(path) => {
            let exported = file::write(path, |out| write(&mut store, project.as_ref(), out))?;
            Ok(ui.remark(&format!("{} rows in {}", exported.rows, path.display()))?)
        }
    }
}

fn write(
    store: &mut Store,
    project: Option<&ProjectKey>,
    out: &mut dyn Write,
) -> Result<Exported, Failure> {
    store.export::<Failure>(project, |record: &Record| {
        serde_json::to_writer(&mut *out, record).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })
}

pub(crate) fn import(
    command: &ImportCommand,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let args = match command {
        ImportCommand::Jsonl(args) => args,
        ImportCommand::Other(words) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            let typed: Vec<_> = words.iter().map(|word| shell::word(word)).collect();
            return Err(Failure::Usage(format!(
                "the format is missing; type `rutter import jsonl {}`",
                typed.join(" ")
            )));
        }
    };
    let ImportArgs { file: path, format } = args;
    let mut store = env.store(ui)?;
    let (input, length): (Box<dyn Read + '_>, Option<u64>) = if path.as_os_str() == "-" {
        (Box::new(&mut *ui.input), None)
    } else {
        let refuse =
            |error: io::Error| Failure::Refused(format!("cannot read {}: {error}", path.display()));
        let file = File::open(path).map_err(refuse)?;
        let metadata = file.metadata().map_err(refuse)?;
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    // Draws nothing where stderr is no terminal.
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    let imported = store.import(BufReader::new(input), |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let imported = imported?;
    if format.chosen() == Format::Json {
        return ui.json(&imported);
    }
    Ok(writeln!(
        ui.out,
        "{} added, {} updated, {} here already",
        imported.added, imported.updated, imported.kept
    )?)
}
