//! `rutter init`: adds rutter's hooks, permission rules and MCP server to the client's settings.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rutter_check::settings::is_same_path;
use rutter_memory::project::WorkTree;
use rutter_memory::quote::PathLine as _;
use serde_json::Value;

use super::{notify, plugin};
use crate::cli::install::{InitArgs, ScopeArgs};
use crate::environment::Environment;
use crate::install::{
    FileChange, GitExclude, InstallDirection, InstallRecords, InstallScope, InstallStep,
    InstallTarget, ProgramReference, WantedContent, apply_steps, build_server_entry,
    choose_program, find_ask_rule, find_deny_rule, hook_groups, hook_program, is_program_found,
    is_shared_hook, other_installs, server, tool_rules, tools_without_rule,
};
use crate::shell;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

pub(crate) fn run(args: &InitArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let scope = chosen_scope(&args.scope)?;
    if let Some(folder) = &args.scope.plugin {
        return plugin::init_plugin(folder, args.bin.as_deref(), args.dry_run, env, ui);
    }
    let folder = env.working_dir()?;
    refuse_foreign_home(env)?;
    let path = settings_path(scope, env)?;
    if scope == InstallScope::Project
        && let Some(user) = InstallScope::User.settings_file(folder, env.client.as_deref())
        && is_same_path(&path, &user)
    {
        return Err(CommandError::Refused(format!(
            "{} is your own settings file for every folder, and team hooks do nothing there; \
             use `rutter init --user`",
            path.to_line()
        )));
    }
    let start = choose_program(scope, args.bin.as_deref(), env)?;
    let denied = find_deny_rule(folder, env.client.as_deref());
    let asked = find_ask_rule(folder, env.client.as_deref()).filter(|_| denied.is_none());
    let hooks = hook_groups(&start);
    let events: BTreeSet<&str> = hooks.iter().map(|group| group.event.as_str()).collect();
    let mut what = format!("hooks on {} events", events.len());
    let mut places = vec![WantedContent::Hooks(hooks)];
    if !args.no_allow && denied.is_none() {
        places.push(WantedContent::Rule(true));
        let _ = write!(
            what,
            ", and {} rules that let the agent call rutter's tools (not {})",
            tool_rules(server::SERVER_RULE).count(),
            tools_without_rule().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(" and ")
        );
    }
    let settings = InstallTarget::for_settings(path, places);
    let servers = server_site(scope, env, Some(build_server_entry(&start)))?;
    let records = InstallRecords::in_data_dir(&env.data);
    // Plans every file before it changes the first one.
    let mut steps = vec![
        settings.plan(InstallDirection::Install, &records)?,
        servers.plan(InstallDirection::Install, &records)?,
    ];
    let private = steps[0].change.path().to_owned();
    let exclude = GitExclude::find(folder, &private).filter(|_| scope.is_private());
    let tracked = exclude.as_ref().is_some_and(GitExclude::is_tracked);
    if tracked {
        ui.print_note(&format!(
            "git tracks {}, which will contain a path of this machine; run `git rm --cached {}` \
             to stop tracking it",
            private.to_line(),
            shell::quote_word(&private.strip_prefix(folder).unwrap_or(&private).to_string_lossy())
        ))?;
    }
    let exclude = exclude.filter(|_| !tracked);
    let exclude = exclude_change(exclude.map(|exclude| exclude.plan_addition()), ui)?;
    if let Some(record) = &mut steps[0].record {
        record.made.exclude |= exclude.as_ref().is_some_and(FileChange::creates);
    }

    if !args.dry_run {
        // Opens the store first, because that can fail: a hook without a store is useless.
        drop(env.open_store(ui)?);
    }
    let over_http = steps.iter().find(|step| step.over_http);
    let over_http = over_http.map(|step| step.change.path().to_owned());
    let warn = |ui: &mut Ui<'_>| {
        if let Some(path) = &over_http {
            ui.print_note(&format!(
                "{} registers the server over HTTP, and rutter keeps that: the tools work while \
                 `rutter mcp --http` runs",
                path.to_line()
            ))?;
        }
        if !args.no_allow {
            warn_denied_rule(denied.as_ref(), ui)?;
            warn_ask_rule(asked.as_ref(), ui)?;
        }
        print_warnings(scope, &start, env, ui)
    };
    if steps.iter().all(|step| step.change.is_unchanged()) && exclude.is_none() {
        writeln!(ui.out, "{} already runs rutter; nothing to do", private.to_line())?;
        return warn(ui);
    }
    if args.dry_run {
        print_changed_files(&steps, exclude.as_ref(), &what, false, ui)?;
        writeln!(ui.out)?;
        show_changes(&steps, exclude.as_ref(), ui)?;
        warn(ui)?;
        return Ok(ui.print_note("nothing was changed; run it again without --dry-run")?);
    }

    let (steps, _) = apply_steps(steps, &records, env.now)?;
    if let Some(Err(failure)) = exclude.as_ref().map(FileChange::apply) {
        ui.print_note(&format!("git will show {} as a new file: {failure}", private.to_line()))?;
    }
    // Prints after the changes: a reader that closes the pipe must not leave them half done.
    print_changed_files(&steps, exclude.as_ref(), &what, true, ui)?;
    if args.verbose {
        writeln!(ui.out)?;
        show_changes(&steps, exclude.as_ref(), ui)?;
    }
    warn(ui)?;
    writeln!(ui.out, "\nThe memory is in {}.", env.data.to_line())?;
    print_next_steps(scope, &start, &steps, folder, ui)?;
    notify::ask_notify_level(env, ui)
}

/// Lists each changed file with rutter's entries in it, one line per file.
fn print_changed_files(
    steps: &[InstallStep<'_>],
    exclude: Option<&FileChange>,
    what: &str,
    is_done: bool,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let (changed, made) =
        if is_done { ("changed", "made") } else { ("would change", "would make") };
    let steps = steps.iter().map(|step| &step.change).zip([what, "rutter's MCP server"]);
    let files = steps.chain(exclude.map(|change| (change, "keeps the settings file out of git")));
    for (change, what) in files.filter(|(change, _)| !change.is_unchanged()) {
        let verb = if change.creates() { made } else { changed };
        writeln!(ui.out, "{verb} {}: {what}", change.path().to_line())?;
    }
    Ok(())
}

/// Prints the next steps for the user.
fn print_next_steps(
    scope: InstallScope,
    start: &ProgramReference,
    steps: &[InstallStep<'_>],
    folder: &Path,
    ui: &mut Ui<'_>,
) -> CommandResult {
    // The option as the user has to type it again.
    let option =
        if scope == InstallScope::Local { String::new() } else { format!(" --{}", scope.as_str()) };
    match scope {
        InstallScope::User => writeln!(
            ui.out,
            "Start claude in any folder: new sessions run the hooks and have the tools."
        )?,
        InstallScope::Project | InstallScope::Plugin => writeln!(
            ui.out,
            "Commit {}: new sessions in this folder then run the hooks and have the tools, for \
             everyone who has {}.\nClaude Code asks each person once whether to use the server; \
             newer versions suggest not to. Without rutter the hooks do nothing. If a person's \
             own settings run rutter, these hooks do nothing either.",
            steps.iter().map(|step| step.change.path().to_line()).collect::<Vec<_>>().join(" and "),
            match start.program() {
                path if path.contains('/') => path.to_owned(),
                name => format!("{name} in PATH"),
            }
        )?,
        InstallScope::Local => writeln!(
            ui.out,
            "Start claude in this folder: new sessions run the hooks and have the tools."
        )?,
    }
    writeln!(
        ui.out,
        "Claude Code may warn about hooks and ask whether you trust the folder. These hooks run \
         only `{} hook`, and in a terminal they do not run until you say yes.",
        start.program()
    )?;
    if scope != InstallScope::User
        && let Some(WorkTree { root, .. }) = WorkTree::containing(folder)
        && folder.canonicalize().is_ok_and(|folder| folder != root)
    {
        writeln!(
            ui.out,
            "The hooks do not run in other folders of the repository; to change that, run \
             `rutter init{option}` in {}.",
            root.to_line()
        )?;
    }
    Ok(writeln!(ui.out, "`rutter doctor` checks them, `rutter uninstall{option}` removes them.")?)
}

/// Shows the changes, file by file.
pub(super) fn show_changes(
    steps: &[InstallStep<'_>],
    exclude: Option<&FileChange>,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let changes = steps.iter().map(|step| &step.change).filter(|change| !change.is_unchanged());
    changes.chain(exclude).try_for_each(|change| change.print_diff(ui))
}

/// Returns the requested scope, by default the local one.
pub(super) fn chosen_scope(args: &ScopeArgs) -> CommandResult<InstallScope> {
    if args.global {
        return Err(CommandError::Usage(
            "there is no option --global; use --user to install rutter for you in every folder"
                .to_owned(),
        ));
    }
    Ok(if args.user {
        InstallScope::User
    } else if args.project {
        InstallScope::Project
    } else {
        InstallScope::Local
    })
}

/// Refuses to write as root into the home of another user, because that user's client could not read the files.
pub(super) fn refuse_foreign_home(env: &Environment) -> CommandResult {
    let Some(home) = env.client.as_deref().and_then(Path::parent) else { return Ok(()) };
    match home.metadata().map(|home| home.uid()) {
        Ok(owner) if owner != 0 && rustix::process::geteuid().is_root() => {
            Err(CommandError::Refused(format!(
                "you are root, but {} belongs to another user, who could not read the new \
                 files; run the command as that user, without sudo",
                home.to_line()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the settings file of a scope. Only the user scope needs a home directory.
pub(super) fn settings_path(scope: InstallScope, env: &Environment) -> CommandResult<PathBuf> {
    scope.settings_file(env.working_dir()?, env.client.as_deref()).ok_or_else(no_home_failure)
}

/// Returns the file in which a scope registers MCP servers, with rutter's entry to add, or None to remove it.
pub(super) fn server_site(
    scope: InstallScope,
    env: &Environment,
    entry: Option<Value>,
) -> CommandResult<InstallTarget> {
    let folder = env.working_dir()?;
    let file = env.client_file.as_deref();
    let (path, keys) = scope.servers_file(folder, file).ok_or_else(|| match file {
        Some(_) => CommandError::Refused(format!(
            "{} is not valid UTF-8, so Claude Code cannot store settings for it; go to another \
             folder, or use `--user`",
            folder.to_line()
        )),
        None => no_home_failure(),
    })?;
    Ok(InstallTarget::for_servers(scope, folder, path, keys, entry))
}

fn no_home_failure() -> CommandError {
    CommandError::Refused(
        "no home folder is known, so there is no place for your settings; set HOME".to_owned(),
    )
}

/// Prints a remark if a deny rule covers rutter's tools.
fn warn_denied_rule(denied: Option<&(PathBuf, String)>, ui: &mut Ui<'_>) -> CommandResult {
    let Some((path, rule)) = denied else { return Ok(()) };
    Ok(ui.print_note(&format!(
        "{} denies `{rule}`, so the agent does not see rutter's tools; remove that rule and run \
         `rutter init` again",
        path.to_line()
    ))?)
}

/// Prints a remark if an ask rule overrides rutter's allow rule.
fn warn_ask_rule(asked: Option<&(PathBuf, String)>, ui: &mut Ui<'_>) -> CommandResult {
    let Some((path, rule)) = asked else { return Ok(()) };
    Ok(ui.print_note(&format!(
        "{} has the `ask` rule `{rule}`, so Claude Code asks before each call of a rutter tool; \
         remove that rule to change it",
        path.to_line()
    ))?)
}

/// Warns of a program that is not found, and of hooks that would run twice.
fn print_warnings(
    scope: InstallScope,
    start: &ProgramReference,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let program = start.program();
    if scope.is_shared() && !is_program_found(program, env) {
        ui.print_note(&if program.contains('/') {
            format!(
                "{program} does not exist, so the hooks do nothing on this machine; install \
                     rutter there"
            )
        } else {
            format!(
                "{program} is not in PATH, so the hooks do nothing on this machine; run `cargo \
                 install --path crates/rutter`"
            )
        })?;
    }
    for (other, path, entry) in other_installs(scope, env.working_dir()?, env.client.as_deref()) {
        // The client runs identical commands once, and shared hooks step back by themselves.
        let steps_back = is_shared_hook(&entry) || scope.is_shared();
        let own = start.hook_entry();
        if !steps_back && ["command", "args"].iter().any(|key| own.get(key) != entry.get(key)) {
            let how = match hook_program(&entry) {
                Some(other) if other == program => "in another way".to_owned(),
                other => format!("by {}", other.unwrap_or("another program")),
            };
            ui.print_note(&format!(
                "{} also runs rutter, {how}: every event would be recorded twice; run `rutter \
                 uninstall --{}` to remove it",
                path.to_line(),
                other.as_str()
            ))?;
        }
    }
    Ok(())
}

/// Returns the change of git's exclude file. An error with that file is only a remark, never a reason to refuse.
pub(super) fn exclude_change(
    change: Option<CommandResult<Option<FileChange>>>,
    ui: &mut Ui<'_>,
) -> CommandResult<Option<FileChange>> {
    match change.transpose() {
        Ok(change) => Ok(change.flatten()),
        Err(failure) => {
            ui.print_note(&format!("could not update git's exclude file: {failure}"))?;
            Ok(None)
        }
    }
}
