//! `rutter uninstall`: removes rutter from the client's settings and restores the files.

use std::path::Path;

use super::init::{as_oneself, chosen, git_list, servers_of, settings_of, show};
use super::plugin;
use crate::Failure;
use crate::cli::install::UninstallArgs;
use crate::environment::Environment;
use crate::install::{Change, Exclude, Place, Records, Scope, Site, Way, beside, carry_out};
use crate::shell;
use crate::ui::Ui;

pub(crate) fn run(args: &UninstallArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let scope = chosen(&args.scope)?;
    if let Some(folder) = &args.scope.plugin {
        return plugin::uninstall(folder, args.dry_run, env, ui);
    }
    as_oneself(env)?;
    let folder = env.folder()?;
    let places = vec![Place::Hooks(Vec::new()), Place::Rule(false)];
    let settings = Site::settings(settings_of(scope, env)?, places);
    let servers = servers_of(scope, env, None)?;
    let records = Records::within(&env.data);
    let steps = vec![settings.plan(Way::Out, &records)?, servers.plan(Way::Out, &records)?];
    let path = steps[0].change.path().to_owned();
    let made = records.get(steps[0].change.contents().target()).map(|record| record.made);
    let exclude = Exclude::of(folder, &path).filter(|_| scope.is_private());
    let exclude = exclude.map(|exclude| exclude.remove(made.unwrap_or_default().exclude));
    let exclude = git_list(exclude, ui)?;

    let over_http = steps.iter().find(|step| step.over_http);
    let over_http = over_http.map(|step| step.change.path().to_owned());
    if steps.iter().all(|step| step.change.is_none()) && exclude.is_none() {
        tell_nothing(scope, &path, env, ui)?;
        return tell_over_http(over_http.as_deref(), ui);
    }
    if args.dry_run {
        show(&steps, exclude.as_ref(), ui)?;
        tell_over_http(over_http.as_deref(), ui)?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }
    let (steps, forgotten) = carry_out(steps, &records, env.now)?;
    if let Some(Err(failure)) = exclude.as_ref().map(Change::apply) {
        ui.remark(&format!("git's list still has a line of rutter's: {failure}"))?;
    }
    if let Err(error) = forgotten {
        ui.remark(&format!("a note about this stays in {}: {error}", env.data.display()))?;
    }
    show(&steps, exclude.as_ref(), ui)?;
    for other in steps.iter().filter_map(|step| step.needed_by.as_ref()) {
        ui.remark(&format!(
            "the server stays registered, because {} runs rutter as well and the client has one list for the whole \
             repository; `rutter uninstall` there takes it out",
            other.display()
        ))?;
    }
    tell_over_http(over_http.as_deref(), ui)?;
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

/// Prints a remark about a server that was registered by hand, over HTTP.
fn tell_over_http(path: Option<&Path>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    Ok(ui.remark(&format!(
        "{} still has the server over HTTP, which was registered by hand; `claude mcp remove rutter` takes it out",
        path.display()
    ))?)
}

/// Prints that this scope has no entries of rutter, and which other scopes have.
fn tell_nothing(
    scope: Scope,
    path: &Path,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let path = path.display();
    let others = beside(scope, env.folder()?, env.client.as_deref());
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
    Ok(())
}
