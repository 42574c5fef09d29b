//! `rutter init`: the client's hooks run rutter.

use rutter_memory::project::WorkTree;

use crate::Failure;
use crate::cli::install::InitArgs;
use crate::environment::Environment;
use crate::install::{
    Change, Contents, Exclude, Made, Malformed, Record, Records, Scope, build_folder,
    choose_program, groups, install, is_installed,
};
use crate::ui::Ui;

pub(crate) fn run(args: &InitArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let scope = Scope::Local;
    let folder = env.folder()?;
    let program = choose_program(args.bin.as_deref(), env)?;
    if args.bin.is_none()
        && let Some(target) = build_folder(&program)
    {
        ui.remark(&format!(
            "{program} is a build in {}, which the next `cargo clean` takes away; `--bin PATH` names another",
            target.display()
        ))?;
    }
    let groups = groups(&program);
    let contents = Contents::read(&scope.settings(folder))?;
    let records = Records::within(&env.data);
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
    let mut made = Made {
        file: earlier.file || contents.bytes().is_none(),
        folder: earlier.folder || contents.lacks_folder(),
        exclude: earlier.exclude,
    };
    let exclude = Exclude::of(folder, contents.path()).filter(|_| scope.is_private());
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
        return Ok(writeln!(ui.out, "{path} runs rutter already; there is nothing to do")?);
    }
    let changes = (!settings.is_none()).then_some(&settings).into_iter().chain(&exclude);
    if args.dry_run {
        changes.into_iter().try_for_each(|change| change.show(ui))?;
        return Ok(ui.remark("nothing was changed; without --dry-run it is")?);
    }

    let target = settings.contents().target();
    let kept = |error: std::io::Error| {
        Failure::Refused(format!(
            "what is to be undone later cannot be noted in {}: {error}; nothing was changed, put that right and try again",
            env.data.display()
        ))
    };
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
    writeln!(ui.out, "\nThe memory is in {}.", env.data.display())?;
    writeln!(ui.out, "Start claude in this folder: new sessions run the hooks.")?;
    if let Some(WorkTree { root, .. }) = WorkTree::around(folder)
        && folder.canonicalize().is_ok_and(|folder| folder != root)
    {
        writeln!(
            ui.out,
            "Elsewhere in the repository they do not run; for that, `rutter init` in {}.",
            root.display()
        )?;
    }
    Ok(writeln!(ui.out, "`rutter uninstall` takes this back.")?)
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
