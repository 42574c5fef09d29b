//! `rutter uninstall`: removes rutter from the client's settings and restores the files.

use std::path::Path;

use rutter_memory::quote::PathLine as _;

use super::contract::record;
use super::init::{
    chosen_scope, exclude_change, refuse_foreign_home, server_site, settings_path, show_changes,
};
use super::plugin;
use crate::CommandResult;
use crate::cli::install::UninstallArgs;
use crate::environment::Environment;
use crate::install::{
    FileChange, GitExclude, InstallDirection, InstallRecords, InstallScope, InstallTarget,
    WantedContent, apply_steps, other_installs,
};
use crate::shell;
use crate::ui::Ui;

pub(crate) fn run(args: &UninstallArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let scope = chosen_scope(&args.scope)?;
    if let Some(folder) = &args.scope.plugin {
        return plugin::uninstall_plugin(folder, args.dry_run, env, ui);
    }
    refuse_foreign_home(env)?;
    // Recorded hooks start rutter, which may be removed next.
    record::turn_off_everywhere(args.dry_run, env, ui)?;
    let folder = env.working_dir()?;
    let places = vec![WantedContent::Hooks(Vec::new()), WantedContent::Rule(false)];
    let settings = InstallTarget::for_settings(settings_path(scope, env)?, places);
    let servers = server_site(scope, env, None)?;
    let records = InstallRecords::in_data_dir(&env.data);
    let steps = vec![
        settings.plan(InstallDirection::Uninstall, &records)?,
        servers.plan(InstallDirection::Uninstall, &records)?,
    ];
    let path = steps[0].change.path().to_owned();
    let made = records.load(steps[0].change.contents().target()).map(|record| record.made);
    let exclude = GitExclude::find(folder, &path).filter(|_| scope.is_private());
    let exclude = exclude.map(|exclude| exclude.plan_removal(made.unwrap_or_default().exclude));
    let exclude = exclude_change(exclude, ui)?;

    let over_http = steps.iter().find(|step| step.over_http);
    let over_http = over_http.map(|step| step.change.path().to_owned());
    if steps.iter().all(|step| step.change.is_unchanged()) && exclude.is_none() {
        print_nothing_found(scope, &path, env, ui)?;
        return remark_over_http(over_http.as_deref(), ui);
    }
    if args.dry_run {
        show_changes(&steps, exclude.as_ref(), ui)?;
        remark_over_http(over_http.as_deref(), ui)?;
        return Ok(ui.print_note("nothing was changed; run it again without --dry-run")?);
    }
    let (steps, forgotten) = apply_steps(steps, &records, env.now)?;
    if let Some(Err(failure)) = exclude.as_ref().map(FileChange::apply) {
        ui.print_note(&format!(
            "could not remove rutter's line from git's exclude file: {failure}"
        ))?;
    }
    if let Err(error) = forgotten {
        ui.print_note(&format!(
            "could not remove the install record in {}: {error}",
            env.data.to_line()
        ))?;
    }
    show_changes(&steps, exclude.as_ref(), ui)?;
    for other in steps.iter().filter_map(|step| step.needed_by.as_ref()) {
        ui.print_note(&format!(
            "the server stays registered, because {} also runs rutter and Claude Code has one \
             list of servers for the whole repository; run `rutter uninstall` there to remove it",
            other.to_line()
        ))?;
    }
    remark_over_http(over_http.as_deref(), ui)?;
    if env.data.exists() {
        let word = shell::quote_word(&env.data.to_string_lossy());
        writeln!(
            ui.out,
            "\nThe memory is kept in {}; `rm -r {word}` removes it.",
            env.data.to_line()
        )?;
    }
    Ok(())
}

/// Prints a remark about a server that was registered by hand, over HTTP.
fn remark_over_http(path: Option<&Path>, ui: &mut Ui<'_>) -> CommandResult {
    let Some(path) = path else { return Ok(()) };
    Ok(ui.print_note(&format!(
        "{} still has the HTTP server, which you registered yourself; run `claude mcp remove \
         rutter` to remove it",
        path.to_line()
    ))?)
}

/// Prints that this scope has no entries of rutter, and which other scopes have.
fn print_nothing_found(
    scope: InstallScope,
    path: &Path,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let path = path.to_line();
    let others = other_installs(scope, env.working_dir()?, env.client.as_deref());
    if others.is_empty() {
        let hint = if scope == InstallScope::User {
            ""
        } else {
            "; if you ran `rutter init` in another folder, go there"
        };
        writeln!(ui.out, "{path} has no entries of rutter{hint}")?;
    }
    for (other, there, _) in others {
        writeln!(
            ui.out,
            "{path} has no entries of rutter, but {} has: run `rutter uninstall --{}`",
            there.to_line(),
            other.as_str()
        )?;
    }
    Ok(())
}
