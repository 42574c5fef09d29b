//! `rutter init`: the client's hooks run rutter.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rutter_memory::project::WorkTree;

use super::plugin;
use crate::Failure;
use crate::cli::install::{InitArgs, ScopeArgs};
use crate::environment::Environment;
use crate::install::{
    Change, Contents, Exclude, Malformed, Record, Records, Scope, Start, beside, choose_start,
    groups, install, is_found, is_installed, is_same, is_shared, program_of,
};
use crate::shell;
use crate::ui::Ui;

pub(crate) fn run(args: &InitArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if let Some(folder) = &args.scope.plugin {
        return plugin::init(folder, args.bin.as_deref(), args.dry_run, env, ui);
    }
    let scope = chosen(&args.scope);
    let folder = env.folder()?;
    let path = settings_of(scope, env)?;
    as_oneself(env)?;
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
    let groups = groups(&start);
    let records = Records::within(&env.data);
    let contents = Contents::read(&path)?;
    let known = records.get(contents.target());

    let text = contents.text().map_err(|error| malformed(&contents, &error, "init"))?;
    // Where the file is what the last `init` left, this one begins with what the user had, not with what an older
    // rutter made of it.
    let original = known.as_ref().and_then(|record| record.undo(text.body));
    let before = original.as_deref().unwrap_or(text.body);
    let installed =
        install(before, &groups).map_err(|error| malformed(&contents, &error, "init"))?;
    // What an `init` made stays made for as long as something of ours is in it.
    let ours = is_installed(text.body).unwrap_or_default();
    let earlier = known.as_ref().filter(|_| ours).map(|record| record.made).unwrap_or_default();
    let mut made = earlier.and(&contents);
    let exclude = Exclude::of(folder, contents.path()).filter(|_| scope.is_private());
    let tracked = exclude.as_ref().is_some_and(Exclude::is_tracked);
    if tracked {
        ui.remark(&format!(
            "git tracks {}, which is to name a path of this machine; `git rm --cached {}` ends that",
            contents.path().display(),
            shell::word(&contents.path().strip_prefix(folder).unwrap_or(contents.path()).to_string_lossy())
        ))?;
    }
    let exclude = exclude.filter(|_| !tracked);
    let exclude = git_list(exclude.map(|exclude| exclude.add()), ui)?;
    made.exclude |= exclude.as_ref().is_some_and(Change::creates);
    let record = Record::new(before, &installed, made);
    let after = text.with(&installed.text);
    let settings = Change::new(contents, Some(after));

    if !args.dry_run {
        // First, because it can be refused: a hook without a memory is of no use.
        drop(env.store(ui)?);
    }
    if settings.is_none() && exclude.is_none() {
        let path = settings.path().display();
        writeln!(ui.out, "{path} runs rutter already; there is nothing to do")?;
        return warn(scope, &start, env, ui);
    }
    let changes = (!settings.is_none()).then_some(&settings).into_iter().chain(&exclude);
    if args.dry_run {
        changes.into_iter().try_for_each(|change| change.show(ui))?;
        warn(scope, &start, env, ui)?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }

    let target = settings.contents().target();
    let kept = |error: std::io::Error| {
        Failure::Refused(format!(
            "what is to be undone later cannot be noted in {}: {error}; nothing was changed, put that right and try again",
            env.data.display()
        ))
    };
    // Another process may have been at it since: what it noted is what has to come back if this one is refused.
    let _alone = records.alone().map_err(kept)?;
    let known = records.get(target);
    // Before the change: a process that is killed in between leaves a note too many, which fits nothing.
    records.set(target, Some(&record)).map_err(kept)?;
    if !settings.is_none()
        && let Err(failure) = settings.apply()
    {
        records.set(target, known.as_ref()).map_err(kept)?;
        return Err(failure);
    }
    if let Some(Err(failure)) = exclude.as_ref().map(Change::apply) {
        ui.remark(&format!("git will show {}: {failure}", settings.path().display()))?;
    }
    // Shown once it is done: a reader that goes away in the middle must not leave it undone.
    changes.into_iter().try_for_each(|change| change.show(ui))?;
    warn(scope, &start, env, ui)?;
    writeln!(ui.out, "\nThe memory is in {}.", env.data.display())?;
    // As the command is typed again.
    let option = if scope == Scope::Local { String::new() } else { format!(" --{}", scope.word()) };
    match scope {
        Scope::User => {
            writeln!(ui.out, "Start claude in any folder: new sessions run the hooks.")?;
        }
        Scope::Project | Scope::Plugin => writeln!(
            ui.out,
            "Commit {}: for everybody who has {}, new sessions in this folder run the hooks.\n\
             For everybody else nothing happens. Where somebody's own settings run rutter, these step back.",
            settings.path().display(),
            match start.program() {
                path if path.contains('/') => path.to_owned(),
                name => format!("{name} in PATH"),
            }
        )?,
        Scope::Local => {
            writeln!(ui.out, "Start claude in this folder: new sessions run the hooks.")?;
        }
    }
    if scope != Scope::User
        && let Some(WorkTree { root, .. }) = WorkTree::around(folder)
        && folder.canonicalize().is_ok_and(|folder| folder != root)
    {
        writeln!(
            ui.out,
            "Elsewhere in the repository they do not run; for that, `rutter init{option}` in {}.",
            root.display()
        )?;
    }
    Ok(writeln!(
        ui.out,
        "`rutter doctor` tells whether they work, `rutter uninstall{option}` takes this back."
    )?)
}

/// What was asked for; the folder's own where nothing was.
pub(super) fn chosen(args: &ScopeArgs) -> Scope {
    if args.user {
        Scope::User
    } else if args.project {
        Scope::Project
    } else {
        Scope::Local
    }
}

/// Refuses to write as root into the home of somebody else, whose client could not read it then.
pub(super) fn as_oneself(env: &Environment) -> Result<(), Failure> {
    let Some(home) = env.client.as_deref().and_then(std::path::Path::parent) else { return Ok(()) };
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

/// The settings file of a scope. Only the user's own needs a home.
pub(super) fn settings_of(scope: Scope, env: &Environment) -> Result<PathBuf, Failure> {
    scope.settings(env.folder()?, env.client.as_deref()).ok_or_else(|| {
        Failure::Refused(
            "there is no home folder, so the client has no settings of yours; set HOME".to_owned(),
        )
    })
}

/// Tells of what will not do what it seems to do: a program that is not found, and hooks that would run twice.
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
        // The client runs the same command once, and what is shared steps back by itself.
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

/// The change of git's list of files to leave alone. What is wrong with that list is no reason to refuse anything.
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

/// A file that is left alone, and what to do.
pub(super) fn malformed(contents: &Contents, error: &Malformed, verb: &str) -> Failure {
    Failure::Refused(format!(
        "{}{error}. The client skips what it cannot read, comments and trailing commas included; nothing was changed. \
         Mend it and run `rutter {verb}` again",
        contents.path().display()
    ))
}
