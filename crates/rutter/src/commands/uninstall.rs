//! `rutter uninstall`: the settings as they were.

use std::path::Path;

use super::init::{as_oneself, chosen, git_list, malformed, settings_of};
use super::plugin;
use crate::Failure;
use crate::cli::install::UninstallArgs;
use crate::environment::Environment;
use crate::install::{Change, Contents, Exclude, Records, Scope, beside, is_empty, uninstall};
use crate::shell;
use crate::ui::Ui;

pub(crate) fn run(args: &UninstallArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if let Some(folder) = &args.scope.plugin {
        return plugin::uninstall(folder, args.dry_run, env, ui);
    }
    let scope = chosen(&args.scope);
    let folder = env.folder()?;
    as_oneself(env)?;
    let records = Records::within(&env.data);
    let alone = if args.dry_run { Ok(None) } else { records.alone_if_there() };
    let _alone = alone.map_err(|error| {
        Failure::Refused(format!(
            "the notes about settings in {} cannot be used: {error}; nothing was changed, put that right and try again",
            env.data.display()
        ))
    })?;
    let contents = Contents::read(&settings_of(scope, env)?)?;
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
        let path = settings.path().display();
        let others = beside(scope, folder, env.client.as_deref());
        if others.is_empty() {
            let hint = if scope == Scope::User {
                ""
            } else {
                "; if `rutter init` was run in another folder, go there"
            };
            writeln!(ui.out, "nothing of rutter's is in {path}{hint}")?;
        }
        for (other, there, _) in others {
            writeln!(
                ui.out,
                "nothing of rutter's is in {path}, but in {}: `rutter uninstall --{}`",
                there.display(),
                other.word()
            )?;
        }
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
    if settings.removes() {
        let left = settings.contents().remove_folders(made.folders());
        bequeath(left, settings.path(), folder, &records);
    }
    if let Err(error) = records.set(target, None) {
        ui.remark(&format!("a note about this stays in {}: {error}", env.data.display()))?;
    }
    changes.into_iter().try_for_each(|change| change.show(ui))?;
    if env.data.exists() {
        let word = shell::word(&env.data.to_string_lossy());
        writeln!(
            ui.out,
            "\nThe memory is kept in {}; `rm -r {word}` removes it.",
            env.data.display()
        )?;
    }
    Ok(())
}

/// Leaves the folders that could not go to the other settings file in them, if that is ours as well: it was there first, and goes
/// last.
fn bequeath(left: usize, path: &Path, folder: &Path, records: &Records) {
    if left == 0 {
        return;
    }
    for scope in [Scope::Local, Scope::Project] {
        let other = scope.settings(folder, None).filter(|other| other != path);
        let Some(contents) = other.and_then(|other| Contents::read(&other).ok()) else { continue };
        if let Some(mut record) = records.get(contents.target()) {
            record.made.folder = true;
            record.made.above = record.made.above.max(left - 1);
            // Without it a folder stays that is empty, and nothing else.
            drop(records.set(contents.target(), Some(&record)));
            return;
        }
    }
}
