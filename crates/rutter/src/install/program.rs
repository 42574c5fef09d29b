//! Which program the hooks run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::table::PROGRAM;
use crate::Failure;
use crate::environment::Environment;

/// The path that goes into the settings: what was named, else this very program.
pub(crate) fn choose(named: Option<&Path>, env: &Environment) -> Result<String, Failure> {
    let path = match named {
        Some(named) => {
            let path = env.folder()?.join(named);
            // Without `.` in it; `..` stays, for what it leads to is the system's to say.
            std::path::absolute(&path).unwrap_or(path)
        }
        None => running(env)?,
    };
    let metadata = path.metadata().map_err(|error| {
        refused(&path, &format!("cannot be used: {error}"), "give the path of a rutter with --bin")
    })?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(refused(&path, "is no program", "give the path of a rutter with --bin"));
    }
    if path.file_name().is_none_or(|name| name != PROGRAM) {
        return Err(refused(
            &path,
            "is not called `rutter`, by which `rutter uninstall` finds its entries",
            "make a link of that name and give it with --bin",
        ));
    }
    match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(refused(
            &path,
            "is a path that JSON cannot hold",
            "make a link elsewhere and give it with --bin",
        )),
    }
}

/// This program, by the name that will still be right after an update: a package manager replaces what a link in `PATH`
/// leads to, and the system only tells where it leads today.
fn running(env: &Environment) -> Result<PathBuf, Failure> {
    let Some(running) = &env.program else {
        return Err(Failure::Refused(
            "this system does not tell where rutter is; give its path with --bin".to_owned(),
        ));
    };
    let mut links =
        env.search.iter().map(|folder| folder.join(PROGRAM)).filter(|link| link.is_absolute());
    let link = links.find(|link| link.canonicalize().is_ok_and(|real| real == *running));
    Ok(link.unwrap_or_else(|| running.clone()))
}

/// The folder that cargo built a program into, if it was not installed from there.
pub(crate) fn build_folder(program: &str) -> Option<&Path> {
    Path::new(program).ancestors().find(|folder| is_build_folder(folder))
}

/// Whether cargo builds into a folder.
fn is_build_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "target")
        && ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| folder.join(mark).is_file())
}

fn refused(path: &Path, what: &str, advice: &str) -> Failure {
    Failure::Refused(format!("{} {what}; {advice}", path.display()))
}
