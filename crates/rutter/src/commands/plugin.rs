//! `rutter init --plugin` and `rutter uninstall --plugin`: writes a client plugin into a folder, or removes it.

use std::path::Path;

use rutter_memory::quote::PathLine as _;

use super::init::refuse_foreign_home;
use crate::CommandResult;
use crate::environment::Environment;
use crate::install::{
    InstallRecords, InstallScope, InstallStep, PLUGIN_SERVER_RULE, apply_steps, choose_program,
    plugin, tool_rules,
};
use crate::shell;
use crate::ui::Ui;

pub(super) fn init_plugin(
    folder: &Path,
    named: Option<&Path>,
    dry_run: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let folder = env.working_dir()?.join(folder);
    let start = choose_program(InstallScope::Plugin, named, env)?;
    let records = InstallRecords::in_data_dir(&env.data);
    let changes = plugin::plan_plugin_install(&folder, &start, &records)?;
    if changes.is_empty() {
        return Ok(writeln!(ui.out, "{} already has the plugin; nothing to do", folder.to_line())?);
    }
    if dry_run {
        changes.iter().try_for_each(|(change, _)| change.print_diff(ui))?;
        return Ok(ui.print_note("nothing was changed; run it again without --dry-run")?);
    }
    refuse_foreign_home(env)?;
    drop(env.open_store(ui)?);
    let steps = changes.into_iter().map(|(change, text)| {
        let record = plugin::whole_file_record(&change, &text, &records);
        InstallStep::for_whole_file(change, Some(record), 0)
    });
    let (steps, _) = apply_steps(steps.collect(), &records, env.now)?;
    for InstallStep { change, .. } in &steps {
        let verb = if change.creates() { "made" } else { "changed" };
        writeln!(ui.out, "{verb} {}", change.path().to_line())?;
    }
    let shown = shell::quote_word(&folder.to_string_lossy());
    writeln!(ui.out, "\nFor one session:   claude --plugin-dir {shown}")?;
    writeln!(ui.out, "For all sessions:  claude plugin marketplace add {shown}")?;
    writeln!(ui.out, "                   claude plugin install rutter@rutter")?;
    writeln!(
        ui.out,
        "A plugin cannot allow its own tools. Claude Code asks before each call unless you add \
         this to your settings:\n{}",
        serde_json::json!({ "permissions": { "allow": tool_rules(PLUGIN_SERVER_RULE).collect::<Vec<_>>() } })
    )?;
    Ok(writeln!(ui.out, "`rutter uninstall --plugin {shown}` removes the files.")?)
}

pub(super) fn uninstall_plugin(
    folder: &Path,
    dry_run: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let folder = env.working_dir()?.join(folder);
    let records = InstallRecords::in_data_dir(&env.data);
    let start = choose_program(InstallScope::Plugin, None, env)?;
    let (changes, edited) = plugin::plan_plugin_removal(&folder, &start, &records)?;
    if changes.is_empty() && edited.is_empty() {
        return Ok(writeln!(ui.out, "{} has no files of rutter", folder.to_line())?);
    }
    if dry_run {
        changes.iter().try_for_each(|change| change.print_diff(ui))?;
    } else {
        let steps = changes.into_iter().map(|change| {
            let made = records.load(change.contents().target()).map(|record| record.made);
            InstallStep::for_whole_file(change, None, made.unwrap_or_default().folder_count())
        });
        let (steps, forgotten) = apply_steps(steps.collect(), &records, env.now)?;
        if let Err(error) = forgotten {
            ui.print_note(&format!(
                "could not remove the install record in {}: {error}",
                env.data.to_line()
            ))?;
        }
        for InstallStep { change, .. } in &steps {
            writeln!(ui.out, "removed {}", change.path().to_line())?;
        }
    }
    for path in edited {
        ui.print_note(&format!(
            "{} was edited, so it was kept; remove it with `rm`",
            path.to_line()
        ))?;
    }
    if dry_run {
        return Ok(ui.print_note("nothing was changed; run it again without --dry-run")?);
    }
    Ok(writeln!(
        ui.out,
        "Claude Code keeps its own copy of an installed plugin; remove it with `claude plugin \
         uninstall rutter@rutter`."
    )?)
}
