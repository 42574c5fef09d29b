//! `rutter doctor`: is everything well, and what to do where it is not.

use rutter_memory::config::Mistake;
use rutter_memory::project::Located;
use rutter_memory::store::doctor::{self, Health};
use serde_json::json;

use crate::Failure;
use crate::cli::Format;
use crate::cli::memory::DoctorArgs;
use crate::environment::Environment;
use crate::ui::{Ui, size};

pub(crate) fn run(args: &DoctorArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let repaired = if args.repair { Some(doctor::repair(&env.data, env.now)?) } else { None };
    let mut health = doctor::examine(&env.data)?;
    health.findings.extend(configuration(env));
    if args.format.chosen() == Format::Json {
        let salvaged: Vec<_> = repaired
            .iter()
            .flat_map(|repaired| &repaired.salvaged)
            .map(|(path, salvaged)| json!({ "file": path.to_string_lossy(), "rows": salvaged }))
            .collect();
        ui.json(&json!({ "health": health, "salvaged": salvaged }))?;
    } else {
        for (path, salvaged) in repaired.iter().flat_map(|repaired| &repaired.salvaged) {
            writeln!(
                ui.out,
                "salvaged {}: {} rows read, {} new here, {} refused; the file is kept",
                path.display(),
                salvaged.read,
                salvaged.saved,
                salvaged.refused
            )?;
        }
        text(&health, ui)?;
    }
    if health.findings.is_empty() { Ok(()) } else { Err(Failure::Findings) }
}

/// What is wrong with the files of the configuration. That one is not trusted is the user's choice, and no fault.
fn configuration(env: &Environment) -> impl Iterator<Item = doctor::Finding> {
    let root = env.folder().ok().map(|folder| Located::find(folder).root);
    let findings = env.config(root.as_deref()).findings.into_iter();
    findings.filter(|finding| finding.mistake != Mistake::NotTrusted).map(|finding| {
        doctor::Finding {
            what: format!("{}: {}", finding.place(), finding.what),
            advice: finding.advice,
        }
    })
}

fn text(health: &Health, ui: &mut Ui<'_>) -> Result<(), Failure> {
    writeln!(ui.out, "memory    {}", health.folder.display())?;
    match health.schema {
        Some(schema) => writeln!(ui.out, "database  schema {schema}, {}", size(health.database))?,
        None if health.database == 0 => {
            writeln!(ui.out, "database  none yet; the first command that needs one makes it")?;
        }
        None => writeln!(ui.out, "database  unreadable, {}", size(health.database))?,
    }
    writeln!(
        ui.out,
        "waiting   {} in the log of changes, {} in the spool",
        size(health.wal),
        size(health.spool)
    )?;
    for path in &health.set_aside {
        writeln!(ui.out, "aside     {}", path.display())?;
    }
    for finding in &health.findings {
        writeln!(ui.out, "problem   {}\n          -> {}", finding.what, finding.advice)?;
    }
    if health.findings.is_empty() {
        writeln!(ui.out, "all is well")?;
    }
    Ok(())
}
