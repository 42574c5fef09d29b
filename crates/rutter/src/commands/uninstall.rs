//! `rutter uninstall`: the settings as they were.

use std::fs;

use super::init::{git_list, malformed};
use crate::Failure;
use crate::cli::install::UninstallArgs;
use crate::environment::Environment;
use crate::install::{Change, Contents, Exclude, Records, Scope, is_empty, uninstall};
use crate::ui::Ui;

pub(crate) fn run(args: &UninstallArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let scope = Scope::Local;
    let folder = env.folder()?;
    let contents = Contents::read(&scope.settings(folder))?;
    let records = Records::within(&env.data);
    let known = records.get(contents.target());
    let made = known.as_ref().map(|record| record.made).unwrap_or_default();

    let text = contents.text().map_err(|error| malformed(&contents, &error, "uninstall"))?;
    let after = match known.as_ref().and_then(|record| record.undo(text.body)) {
        Some(original) => original,
        None => uninstall(text.body).map_err(|error| malformed(&contents, &error, "uninstall"))?,
    };
    let unchanged = after == text.body;
    let gone = contents.bytes().is_none() || (made.file && is_empty(&after) && !unchanged);
    let after = (!gone).then(|| text.with(&after));
    let exclude = Exclude::of(folder, contents.path()).filter(|_| scope.is_private());
    let exclude = git_list(exclude.map(|exclude| exclude.remove(made.exclude)), ui)?;
    let settings = Change::new(contents, after);

    if settings.is_none() && exclude.is_none() {
        writeln!(
            ui.out,
            "nothing of rutter's is in {}; if `rutter init` was run in another folder, go there",
            settings.path().display()
        )?;
        return Ok(());
    }
    let changes = (!settings.is_none()).then_some(&settings).into_iter().chain(&exclude);
    if args.dry_run {
        changes.into_iter().try_for_each(|change| change.show(ui))?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }
    if !settings.is_none() {
        settings.apply()?;
    }
    if let Some(Err(failure)) = exclude.as_ref().map(Change::apply) {
        ui.remark(&format!("git's list still has a line of rutter's: {failure}"))?;
    }
    let target = settings.contents().target();
    if settings.removes()
        && made.folder
        && let Some(folder) = target.parent()
    {
        // Refused by the system when something else is in it, which is as it should be.
        drop(fs::remove_dir(folder));
    }
    if let Err(error) = records.set(target, None) {
        ui.remark(&format!("a note about this stays in {}: {error}", env.data.display()))?;
    }
    changes.into_iter().try_for_each(|change| change.show(ui))?;
    if env.data.exists() {
        let data = env.data.display();
        writeln!(ui.out, "\nThe memory is kept in {data}; `rm -r '{data}'` removes it.")?;
    }
    Ok(())
}
