//! `rutter init --plugin` and `rutter uninstall --plugin`: a folder that is a plugin of the client, and is none again.

use std::path::Path;

use super::init::as_oneself;
use crate::Failure;
use crate::environment::Environment;
use crate::install::{Change, Contents, Record, Records, Scope, choose_start, plugin};
use crate::shell;
use crate::ui::Ui;

pub(super) fn init(
    folder: &Path,
    named: Option<&Path>,
    dry_run: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let folder = env.folder()?.join(folder);
    let start = choose_start(Scope::Plugin, named, env)?;
    let records = Records::within(&env.data);
    let changes = plugin::install(&folder, &start, &records)?;
    if changes.is_empty() {
        return Ok(writeln!(
            ui.out,
            "{} is the plugin already; there is nothing to do",
            folder.display()
        )?);
    }
    if dry_run {
        changes.iter().try_for_each(|(change, _)| change.show(ui))?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }
    drop(env.store(ui)?);
    as_oneself(env)?;
    let mut done: Vec<(&Change, Option<Record>)> = Vec::new();
    for (change, text) in &changes {
        let target = change.contents().target();
        let earlier = records.get(target);
        let record = plugin::record(change, text, &records);
        let noted = records.set(target, Some(&record)).map_err(|error| {
            Failure::Refused(format!(
                "what is to be undone later cannot be noted in {}: {error}; nothing was changed, put that right and try again",
                env.data.display()
            ))
        });
        if let Err(failure) = noted.and_then(|()| change.apply()) {
            drop(records.set(target, earlier.as_ref()));
            take_back(&done, &records);
            return Err(failure);
        }
        done.push((change, earlier));
    }
    for (change, _) in &changes {
        let verb = if change.creates() { "made" } else { "changed" };
        writeln!(ui.out, "{verb} {}", change.path().display())?;
    }
    let shown = shell::word(&folder.to_string_lossy());
    writeln!(ui.out, "\nFor one session:  claude --plugin-dir {shown}")?;
    writeln!(ui.out, "For good:         claude plugin marketplace add {shown}")?;
    writeln!(ui.out, "                  claude plugin install rutter@rutter")?;
    Ok(writeln!(ui.out, "`rutter uninstall --plugin {shown}` takes the files back.")?)
}

pub(super) fn uninstall(
    folder: &Path,
    dry_run: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let folder = env.folder()?.join(folder);
    let records = Records::within(&env.data);
    let start = choose_start(Scope::Plugin, None, env)?;
    let (changes, edited) = plugin::uninstall(&folder, &start, &records)?;
    if changes.is_empty() && edited.is_empty() {
        return Ok(writeln!(ui.out, "nothing of rutter's is in {}", folder.display())?);
    }
    if dry_run {
        changes.iter().try_for_each(|change| change.show(ui))?;
    } else {
        for change in &changes {
            let target = change.contents().target();
            let made = records.get(target).map(|record| record.made).unwrap_or_default();
            change.apply()?;
            change.contents().remove_folders(made.folders());
            if let Err(error) = records.set(target, None) {
                ui.remark(&format!("a note about this stays in {}: {error}", env.data.display()))?;
            }
            writeln!(ui.out, "removed {}", change.path().display())?;
        }
    }
    for path in edited {
        ui.remark(&format!("{} was edited, so it stays; `rm` removes it", path.display()))?;
    }
    if dry_run {
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }
    Ok(writeln!(
        ui.out,
        "A client that has it installed keeps its own copy: `claude plugin uninstall rutter@rutter`."
    )?)
}

/// Undoes what was done before one of the files could not be written: half a plugin is none.
fn take_back(done: &[(&Change, Option<Record>)], records: &Records) {
    for (change, earlier) in done.iter().rev() {
        let target = change.contents().target();
        let made = records.get(target).map(|record| record.made).unwrap_or_default();
        // What cannot be undone now cannot be told better than by what went wrong first.
        if let Ok(now) = Contents::read(change.path()) {
            drop(now.replace(change.contents().bytes()));
        }
        if change.creates() {
            change.contents().remove_folders(made.folders());
        }
        drop(records.set(target, earlier.as_ref()));
    }
}
