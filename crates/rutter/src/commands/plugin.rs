//! `rutter init --plugin` and `rutter uninstall --plugin`: writes a client plugin into a folder, or removes it.

use std::path::Path;

use super::init::as_oneself;
use crate::Failure;
use crate::environment::Environment;
use crate::install::{
    PLUGIN_RULE, Records, Scope, Step, carry_out, choose_start, plugin, tool_rules,
};
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
    as_oneself(env)?;
    drop(env.store(ui)?);
    let steps = changes.into_iter().map(|(change, text)| {
        let record = plugin::record(&change, &text, &records);
        Step::whole(change, Some(record), 0)
    });
    let (steps, _) = carry_out(steps.collect(), &records, env.now)?;
    for Step { change, .. } in &steps {
        let verb = if change.creates() { "made" } else { "changed" };
        writeln!(ui.out, "{verb} {}", change.path().display())?;
    }
    let shown = shell::word(&folder.to_string_lossy());
    writeln!(ui.out, "\nFor one session:  claude --plugin-dir {shown}")?;
    writeln!(ui.out, "For good:         claude plugin marketplace add {shown}")?;
    writeln!(ui.out, "                  claude plugin install rutter@rutter")?;
    writeln!(
        ui.out,
        "No plugin may allow its own tools. So that the client does not ask at every call, add this to the settings:\n\
         {}",
        serde_json::json!({ "permissions": { "allow": tool_rules(PLUGIN_RULE).collect::<Vec<_>>() } })
    )?;
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
        let steps = changes.into_iter().map(|change| {
            let made = records.get(change.contents().target()).map(|record| record.made);
            Step::whole(change, None, made.unwrap_or_default().folders())
        });
        let (steps, forgotten) = carry_out(steps.collect(), &records, env.now)?;
        if let Err(error) = forgotten {
            ui.remark(&format!("a note about this stays in {}: {error}", env.data.display()))?;
        }
        for Step { change, .. } in &steps {
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
