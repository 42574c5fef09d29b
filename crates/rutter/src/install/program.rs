//! Chooses the program that hooks run, and the way in which it is started.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rutter_memory::quote::PathLine as _;

use super::InstallScope;
use super::table::{PROGRAM_NAME, ProgramReference};
use crate::environment::Environment;
use crate::{CommandError, CommandResult};

/// Returns the way in which the client starts rutter in a scope: by the given path, else by the path of this program,
/// or by its name if the scope is shared between machines.
pub(crate) fn choose_program(
    scope: InstallScope,
    named: Option<&Path>,
    env: &Environment,
) -> CommandResult<ProgramReference> {
    if !scope.is_shared() {
        return Ok(ProgramReference::Path(program_path(named, env)?));
    }
    let program = match named {
        // The program need not exist here: the file is for other machines too.
        Some(named) if named.is_absolute() => {
            let path = check_program_name(named)?;
            if path.contains('\'') {
                return Err(program_failure(
                    named,
                    "contains a quotation mark, which a shell would misread",
                    "make a link to it elsewhere and pass its path with --bin",
                ));
            }
            path
        }
        Some(named) => {
            return Err(program_failure(
                named,
                "is a relative path, which differs from folder to folder, and this file is for \
                 the whole team",
                "give a path that is the same on every machine, or omit --bin to use the \
                 `rutter` in PATH",
            ));
        }
        None => PROGRAM_NAME.to_owned(),
    };
    Ok(ProgramReference::Shared { program, scope })
}

/// Returns true if a shell would find the program by this name.
pub(crate) fn is_program_found(program: &str, env: &Environment) -> bool {
    let is_program = |path: &Path| {
        let metadata = path.metadata();
        metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    env.search.iter().any(|folder| is_program(&folder.join(program)))
}

/// Returns the path of a program on this machine.
fn program_path(named: Option<&Path>, env: &Environment) -> CommandResult<String> {
    let path = match named {
        Some(named) => {
            let path = env.working_dir()?.join(named);
            // Removes `.` components. `..` stays, because its meaning depends on symbolic links.
            std::path::absolute(&path).unwrap_or(path)
        }
        None => stable_program_path(env)?,
    };
    let metadata = path.metadata().map_err(|error| {
        program_failure(
            &path,
            &format!("cannot be used: {error}"),
            "pass the path of a rutter program with --bin",
        )
    })?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(program_failure(
            &path,
            "is not a program",
            "pass the path of a rutter program with --bin",
        ));
    }
    let path = check_program_name(&path)?;
    if named.is_none()
        && let Some(target) = cargo_target_folder(&path)
    {
        return Err(CommandError::Refused(format!(
            "{path} is a build in {}: the next `cargo clean` deletes it, and the hooks stop \
             working; run `cargo install --path crates/rutter`, or pass another program with \
             `--bin PATH`",
            target.to_line()
        )));
    }
    Ok(path)
}

/// Checks that the path has the name by which `uninstall` finds entries again.
fn check_program_name(path: &Path) -> CommandResult<String> {
    if path.file_name().is_none_or(|name| name != PROGRAM_NAME) {
        return Err(program_failure(
            path,
            "is not called `rutter`, and `rutter uninstall` finds its entries by that name",
            "make a link with that name and pass its path with --bin",
        ));
    }
    match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(program_failure(
            path,
            "is not valid UTF-8, which JSON needs",
            "make a link to it elsewhere and pass its path with --bin",
        )),
    }
}

/// Returns the path of this program that stays valid after an update: a package manager changes the target of a link in
/// `PATH`, and the system only reports the current target.
fn stable_program_path(env: &Environment) -> CommandResult<PathBuf> {
    let Some(running) = &env.program else {
        return Err(CommandError::Refused(
            "the path of the running rutter is unknown; pass it with --bin".to_owned(),
        ));
    };
    let mut links =
        env.search.iter().map(|folder| folder.join(PROGRAM_NAME)).filter(|link| link.is_absolute());
    let link = links.find(|link| link.canonicalize().is_ok_and(|real| real == *running));
    Ok(link.unwrap_or_else(|| running.clone()))
}

/// Returns the cargo target folder that contains a program, if any.
pub(crate) fn cargo_target_folder(program: &str) -> Option<&Path> {
    Path::new(program).ancestors().find(|folder| is_cargo_target_folder(folder))
}

/// Returns true if a folder is a cargo target folder.
fn is_cargo_target_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "target")
        && ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| folder.join(mark).is_file())
}

fn program_failure(path: &Path, what: &str, advice: &str) -> CommandError {
    CommandError::Refused(format!("{} {what}; {advice}", path.to_line()))
}
