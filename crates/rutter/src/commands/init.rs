//! `rutter init`: adds rutter's hooks, permission rule and MCP server to the client's settings.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rutter_memory::project::WorkTree;
use serde_json::Value;

use super::{notify, plugin};
use crate::Failure;
use crate::cli::install::{InitArgs, ScopeArgs};
use crate::environment::Environment;
use crate::install::{
    Change, Exclude, Place, Records, Scope, Site, Start, Step, Way, asked, beside, carry_out,
    choose_start, denied, groups, is_found, is_same, is_shared, program_of, server_entry,
};
use crate::shell;
use crate::ui::Ui;

pub(crate) fn run(args: &InitArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let scope = chosen(&args.scope)?;
    if let Some(folder) = &args.scope.plugin {
        return plugin::init(folder, args.bin.as_deref(), args.dry_run, env, ui);
    }
    let folder = env.folder()?;
    as_oneself(env)?;
    let path = settings_of(scope, env)?;
    if scope == Scope::Project
        && let Some(user) = Scope::User.settings(folder, env.client.as_deref())
        && is_same(&path, &user)
    {
        return Err(Failure::Refused(format!(
            "{} is the file of your own settings, for every folder: what is written there for a team would step back for \
             itself; `rutter init --user` is for that file",
            path.display()
        )));
    }
    let start = choose_start(scope, args.bin.as_deref(), env)?;
    let denied = denied(folder, env.client.as_deref());
    let asked = asked(folder, env.client.as_deref()).filter(|_| denied.is_none());
    let hooks = groups(&start);
    let events: BTreeSet<&str> = hooks.iter().map(|group| group.event.as_str()).collect();
    let mut what = format!("hooks on {} events", events.len());
    let mut places = vec![Place::Hooks(hooks)];
    if !args.no_allow && denied.is_none() {
        places.push(Place::Rule(true));
        what.push_str(", and a rule that lets the agent call rutter's tools");
    }
    let settings = Site::settings(path, places);
    let servers = servers_of(scope, env, Some(server_entry(&start)))?;
    let records = Records::within(&env.data);
    // Plans every file before it changes the first one.
    let mut steps = vec![settings.plan(Way::In, &records)?, servers.plan(Way::In, &records)?];
    let private = steps[0].change.path().to_owned();
    let exclude = Exclude::of(folder, &private).filter(|_| scope.is_private());
    let tracked = exclude.as_ref().is_some_and(Exclude::is_tracked);
    if tracked {
        ui.remark(&format!(
            "git tracks {}, which is to name a path of this machine; `git rm --cached {}` ends that",
            private.display(),
            shell::word(&private.strip_prefix(folder).unwrap_or(&private).to_string_lossy())
        ))?;
    }
    let exclude = exclude.filter(|_| !tracked);
    let exclude = git_list(exclude.map(|exclude| exclude.add()), ui)?;
    if let Some(record) = &mut steps[0].record {
        record.made.exclude |= exclude.as_ref().is_some_and(Change::creates);
    }

    if !args.dry_run {
        // Opens the store first, because that can fail: a hook without a store is useless.
        drop(env.store(ui)?);
    }
    let over_http = steps.iter().find(|step| step.over_http);
    let over_http = over_http.map(|step| step.change.path().to_owned());
    let warn = |ui: &mut Ui<'_>| {
        if let Some(path) = &over_http {
            ui.remark(&format!(
                "{} has registered the server over HTTP, and that stays as it is: the tools are there while `rutter mcp --http` \
                 runs",
                path.display()
            ))?;
        }
        if !args.no_allow {
            tell_denied(denied.as_ref(), ui)?;
            tell_asked(asked.as_ref(), ui)?;
        }
        warn(scope, &start, env, ui)
    };
    if steps.iter().all(|step| step.change.is_none()) && exclude.is_none() {
        writeln!(ui.out, "{} runs rutter already; there is nothing to do", private.display())?;
        return warn(ui);
    }
    if args.dry_run {
        summarise(&steps, exclude.as_ref(), &what, false, ui)?;
        writeln!(ui.out)?;
        show(&steps, exclude.as_ref(), ui)?;
        warn(ui)?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }

    let (steps, _) = carry_out(steps, &records, env.now)?;
    if let Some(Err(failure)) = exclude.as_ref().map(Change::apply) {
        ui.remark(&format!("git will show {}: {failure}", private.display()))?;
    }
    // Prints after the changes: a reader that closes the pipe must not leave them half done.
    summarise(&steps, exclude.as_ref(), &what, true, ui)?;
    if args.verbose {
        writeln!(ui.out)?;
        show(&steps, exclude.as_ref(), ui)?;
    }
    warn(ui)?;
    writeln!(ui.out, "\nThe memory is in {}.", env.data.display())?;
    next(scope, &start, &steps, folder, ui)?;
    notify::ask(env, ui)
}

/// Lists each changed file with rutter's entries in it, one line per file.
fn summarise(
    steps: &[Step<'_>],
    exclude: Option<&Change>,
    what: &str,
    is_done: bool,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let (changed, made) =
        if is_done { ("changed", "made") } else { ("would change", "would make") };
    let steps = steps.iter().map(|step| &step.change).zip([what, "the server of rutter's tools"]);
    let files = steps.chain(exclude.map(|change| (change, "keeps the settings file out of git")));
    for (change, what) in files.filter(|(change, _)| !change.is_none()) {
        let verb = if change.creates() { made } else { changed };
        writeln!(ui.out, "{verb} {}: {what}", change.path().display())?;
    }
    Ok(())
}

/// Prints the next steps for the user.
fn next(
    scope: Scope,
    start: &Start,
    steps: &[Step<'_>],
    folder: &Path,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    // The option as the user has to type it again.
    let option = if scope == Scope::Local { String::new() } else { format!(" --{}", scope.word()) };
    match scope {
        Scope::User => writeln!(
            ui.out,
            "Start claude in any folder: new sessions run the hooks and have the tools."
        )?,
        Scope::Project | Scope::Plugin => writeln!(
            ui.out,
            "Commit {}: for everybody who has {}, new sessions in this folder run the hooks and have the \
             tools.\nThe client asks everybody once whether to use the server, and a newer one proposes not to; who has \
             no rutter notices nothing else. Where somebody's own settings run rutter, these hooks step back.",
            steps
                .iter()
                .map(|step| step.change.path().display().to_string())
                .collect::<Vec<_>>()
                .join(" and "),
            match start.program() {
                path if path.contains('/') => path.to_owned(),
                name => format!("{name} in PATH"),
            }
        )?,
        Scope::Local => writeln!(
            ui.out,
            "Start claude in this folder: new sessions run the hooks and have the tools."
        )?,
    }
    writeln!(
        ui.out,
        "Claude Code may warn that hooks run commands and ask whether you trust the folder: these run only `{} hook`, and in a \
         terminal none of them runs until you say yes.",
        start.program()
    )?;
    if scope != Scope::User
        && let Some(WorkTree { root, .. }) = WorkTree::around(folder)
        && folder.canonicalize().is_ok_and(|folder| folder != root)
    {
        writeln!(
            ui.out,
            "Elsewhere in the repository the hooks do not run; for that, `rutter init{option}` in {}.",
            root.display()
        )?;
    }
    Ok(writeln!(
        ui.out,
        "`rutter doctor` tells whether they work, `rutter uninstall{option}` takes this back."
    )?)
}

/// Shows the changes, file by file.
pub(super) fn show(
    steps: &[Step<'_>],
    exclude: Option<&Change>,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let changes = steps.iter().map(|step| &step.change).filter(|change| !change.is_none());
    changes.chain(exclude).try_for_each(|change| change.show(ui))
}

/// Returns the requested scope, by default the local one.
pub(super) fn chosen(args: &ScopeArgs) -> Result<Scope, Failure> {
    if args.global {
        return Err(Failure::Usage(
            "there is no --global; for you in every folder, type --user".to_owned(),
        ));
    }
    Ok(if args.user {
        Scope::User
    } else if args.project {
        Scope::Project
    } else {
        Scope::Local
    })
}

/// Refuses to write as root into the home of another user, because that user's client could not read the files.
pub(super) fn as_oneself(env: &Environment) -> Result<(), Failure> {
    let Some(home) = env.client.as_deref().and_then(Path::parent) else { return Ok(()) };
    match home.metadata().map(|home| home.uid()) {
        Ok(owner) if owner != 0 && rustix::process::geteuid().is_root() => {
            Err(Failure::Refused(format!(
                "this is root, and {} belongs to somebody else, who could not read what it makes; run it as that user, \
                 without sudo",
                home.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the settings file of a scope. Only the user scope needs a home directory.
pub(super) fn settings_of(scope: Scope, env: &Environment) -> Result<PathBuf, Failure> {
    scope.settings(env.folder()?, env.client.as_deref()).ok_or_else(homeless)
}

/// Returns the file in which a scope registers MCP servers, with rutter's entry to add, or None to remove it.
pub(super) fn servers_of(
    scope: Scope,
    env: &Environment,
    entry: Option<Value>,
) -> Result<Site, Failure> {
    let folder = env.folder()?;
    let file = env.client_file.as_deref();
    let (path, keys) = scope.servers(folder, file).ok_or_else(|| match file {
        Some(_) => Failure::Refused(format!(
            "{} is a path that JSON cannot hold, so the client can keep nothing for it; go to another folder, or use \
             `--user`",
            folder.display()
        )),
        None => homeless(),
    })?;
    Ok(Site::servers(scope, folder, path, keys, entry))
}

fn homeless() -> Failure {
    Failure::Refused(
        "there is no home folder, so the client keeps nothing of yours; set HOME".to_owned(),
    )
}

/// Prints a remark if a deny rule covers rutter's tools.
fn tell_denied(denied: Option<&(PathBuf, String)>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let Some((path, rule)) = denied else { return Ok(()) };
    Ok(ui.remark(&format!(
        "{} denies `{rule}`, so no tool of rutter's was allowed and the agent sees none; without that rule, `rutter init` \
         allows them",
        path.display()
    ))?)
}

/// Prints a remark if an ask rule overrides rutter's allow rule.
fn tell_asked(asked: Option<&(PathBuf, String)>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let Some((path, rule)) = asked else { return Ok(()) };
    Ok(ui.remark(&format!(
        "{} has the client ask for `{rule}`, and that rule wins: it asks before every call of a tool until the rule is taken out",
        path.display()
    ))?)
}

/// Warns of a program that is not found, and of hooks that would run twice.
fn warn(scope: Scope, start: &Start, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let program = start.program();
    if scope.is_shared() && !is_found(program, env) {
        ui.remark(&if program.contains('/') {
            format!("there is no {program} here, so on this machine the hooks do nothing; put a rutter there")
        } else {
            format!(
                "there is no {program} in PATH here, so on this machine the hooks do nothing; `cargo install --path \
                 crates/rutter` puts one there"
            )
        })?;
    }
    for (other, path, entry) in beside(scope, env.folder()?, env.client.as_deref()) {
        // The client runs identical commands once, and shared hooks step back by themselves.
        let steps_back = is_shared(&entry) || scope.is_shared();
        let own = start.handler();
        if !steps_back && ["command", "args"].iter().any(|key| own.get(key) != entry.get(key)) {
            let how = match program_of(&entry) {
                Some(other) if other == program => "in another way".to_owned(),
                other => format!("by {}", other.unwrap_or("another program")),
            };
            ui.remark(&format!(
                "{} runs rutter as well, {how}: every event would be heard twice; `rutter uninstall --{}` takes that out",
                path.display(),
                other.word()
            ))?;
        }
    }
    Ok(())
}

/// Returns the change of git's exclude file. An error with that file is only a remark, never a reason to refuse.
pub(super) fn git_list(
    change: Option<Result<Option<Change>, Failure>>,
    ui: &mut Ui<'_>,
) -> Result<Option<Change>, Failure> {
    match change.transpose() {
        Ok(change) => Ok(change.flatten()),
        Err(failure) => {
            ui.remark(&format!("git's list of files to leave alone: {failure}"))?;
            Ok(None)
        }
    }
}
