//! Checks of the programs that our entries run: they must exist, run, be rutter, and be safe to run.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rutter_check::settings::FileLocation;
use rutter_memory::quote::PathLine as _;

use super::codes;
use super::entry::LaunchCommand;
use super::finding::{DoctorFinding, display_name};
use super::places::{ClientEnvironment, is_executable};
use crate::install::cargo_target_folder;
use crate::process;
use crate::shell;

/// True if this program is linked statically, or if the target has no static programs.
pub(crate) const IS_STATIC_BUILD: bool =
    cfg!(any(target_feature = "crt-static", not(target_os = "linux")));
/// Time limit for printing the version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// Characters of a program's error output that are repeated.
const MAX_STDERR_CHARS: usize = 120;

/// Returns a note if this program is linked dynamically: the hooks then start more slowly.
pub(crate) fn check_linking(is_static: bool) -> Option<DoctorFinding> {
    let what = "this build is linked dynamically and starts more slowly";
    (!is_static).then(|| DoctorFinding::new(&codes::BUILD_DYNAMIC, what))
}

/// Examines the program of an entry. Returns true if it can be run.
pub(crate) fn examine_program(
    start: &LaunchCommand,
    place: FileLocation,
    places: &ClientEnvironment,
    findings: &mut Vec<DoctorFinding>,
) -> bool {
    let Some(path) = resolve_program(start, places) else {
        findings.push(missing_program_finding(start, place));
        return false;
    };
    if let Some(finding) = check_executable(&path, &place) {
        findings.push(finding);
        return false;
    }
    let mut command = Command::new(&path);
    command.arg("--version").current_dir("/");
    if let Some(finding) = check_version(&mut command, &path, &place) {
        let stops = finding.code != &codes::PROGRAM_VERSION;
        findings.push(finding);
        if stops {
            return false;
        }
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if let Some(folder) = real.to_str().and_then(cargo_target_folder) {
        let what = format!(
            "{} is a build in {}, which the next `cargo clean` deletes",
            path.to_line(),
            folder.to_line()
        );
        findings
            .push(DoctorFinding::new(&codes::PROGRAM_IS_BUILD, what).with_location(place.clone()));
    }
    findings.extend(
        check_writable_by_others(&real, user_id()).map(|finding| finding.with_location(place)),
    );
    true
}

/// Returns the path of an entry's program, or None if its name is not found.
pub(crate) fn resolve_program(
    start: &LaunchCommand,
    places: &ClientEnvironment,
) -> Option<PathBuf> {
    match start {
        LaunchCommand::Exec { program, .. } if program.contains('/') => {
            Some(places.files.folder.join(program))
        }
        // The guarded line itself tests that the path exists.
        LaunchCommand::Guarded { program, .. } if program.contains('/') => {
            Some(places.files.folder.join(program)).filter(|path| path.exists())
        }
        LaunchCommand::Exec { program, .. } | LaunchCommand::Guarded { program, .. } => {
            places.find_program(program)
        }
        LaunchCommand::Shell { word, .. } => {
            let bare = word.trim_matches(['"', '\'']);
            let path = match (bare.strip_prefix("$HOME/"), bare.strip_prefix("~/")) {
                (Some(rest), _) if !word.starts_with('\'') => path_in_home(places, rest)?,
                (_, Some(rest)) if word.starts_with('~') => path_in_home(places, rest)?,
                _ => bare.to_owned(),
            };
            if path.contains(['$', '`']) {
                return expand_with_shell(word, places);
            }
            if path.contains('/') {
                Some(places.files.folder.join(path))
            } else {
                places.find_program(&path)
            }
        }
    }
}

/// Lets a shell expand a word. Callers must ensure that the word comes from the user, not from an untrusted checkout.
fn expand_with_shell(word: &str, places: &ClientEnvironment) -> Option<PathBuf> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("command -v {word}")]).current_dir(&places.files.folder);
    let ended = process::run_with_limit(&mut shell, b"", VERSION_TIMEOUT).ok()?;
    let said = String::from_utf8(ended.stdout).ok()?;
    (ended.exit == Some(0)).then(|| places.files.folder.join(said.trim_end()))
}

fn path_in_home(places: &ClientEnvironment, rest: &str) -> Option<String> {
    let home = places.files.home.as_ref()?;
    Some(home.join(rest).to_str()?.to_owned())
}

fn missing_program_finding(start: &LaunchCommand, place: FileLocation) -> DoctorFinding {
    match start {
        LaunchCommand::Guarded { program, .. } if program.contains('/') => {
            let what = format!(
                "this looks for {}, which does not exist, so it does nothing",
                display_name(program)
            );
            let advice = "install rutter there, or choose another path: rutter init --bin PATH";
            DoctorFinding::new(&codes::PROGRAM_NOT_IN_PATH, what)
                .with_location(place)
                .with_advice(advice)
        }
        LaunchCommand::Guarded { .. } => {
            let what = "this looks for `rutter` in PATH, where it is missing, so it does nothing";
            DoctorFinding::new(&codes::PROGRAM_NOT_IN_PATH, what).with_location(place)
        }
        LaunchCommand::Exec { program: name, .. } | LaunchCommand::Shell { word: name, .. } => {
            let what = format!("the program `{}` does not exist", display_name(name));
            DoctorFinding::new(&codes::PROGRAM_MISSING, what).with_location(place)
        }
    }
}

fn check_executable(path: &Path, place: &FileLocation) -> Option<DoctorFinding> {
    let shown = path.to_line();
    match path.metadata() {
        Err(error) => {
            let what = format!("{shown} cannot be run: {error}");
            Some(DoctorFinding::new(&codes::PROGRAM_MISSING, what).with_location(place.clone()))
        }
        Ok(_) if !is_executable(path) => {
            let what = format!("{shown} is not an executable file");
            let finding = DoctorFinding::new(&codes::PROGRAM_NOT_EXECUTABLE, what)
                .with_location(place.clone());
            Some(if path.is_file() {
                finding
                    .with_advice(format!("chmod +x {}", shell::quote_word(&path.to_string_lossy())))
            } else {
                finding
            })
        }
        Ok(_) => None,
    }
}

/// Runs a program for its version, and returns a finding if it fails, is not rutter or has another version.
fn check_version(
    command: &mut Command,
    path: &Path,
    place: &FileLocation,
) -> Option<DoctorFinding> {
    let shown = path.to_line();
    let broken = |why: &str| {
        let what = format!("{shown} does not run: {why}");
        Some(DoctorFinding::new(&codes::PROGRAM_BROKEN, what).with_location(place.clone()))
    };
    let ended = match process::run_with_limit(command, b"", VERSION_TIMEOUT) {
        Ok(ended) => ended,
        // A shell would interpret the file as a script.
        Err(error) => return broken(&error.to_string()),
    };
    if ended.late {
        return broken("it did not print its version within five seconds");
    }
    let said = String::from_utf8_lossy(&ended.stdout);
    let of = said.trim().strip_prefix("rutter ");
    match (ended.exit, of) {
        (Some(0), Some(env!("CARGO_PKG_VERSION"))) => None,
        (Some(0), Some(version)) => {
            let what = format!(
                "{shown} is rutter {}, but this is {}",
                display_name(version),
                env!("CARGO_PKG_VERSION")
            );
            Some(DoctorFinding::new(&codes::PROGRAM_VERSION, what).with_location(place.clone()))
        }
        (Some(0), None) => {
            let what = format!("{shown} is not rutter: `--version` prints another name");
            Some(DoctorFinding::new(&codes::PROGRAM_OTHER, what).with_location(place.clone()))
        }
        (Some(code), _) => {
            let complaint = String::from_utf8_lossy(&ended.stderr);
            let line: String = complaint
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(MAX_STDERR_CHARS)
                .collect();
            broken(format!("exit {code} {line}").trim())
        }
        (None, _) => broken("a signal ended it"),
    }
}

/// Returns a finding if other users can change the program: they own it, or may write to it or to a folder above it.
/// A folder with the sticky bit is safe.
fn check_writable_by_others(path: &Path, user: u32) -> Option<DoctorFinding> {
    const OTHERS_WRITE_MODE: u32 = 0o002;
    const STICKY_MODE: u32 = 0o1000;
    path.ancestors().find_map(|path| {
        let found = path.symlink_metadata().ok()?;
        let mode = found.permissions().mode();
        let sticky = found.is_dir() && mode & STICKY_MODE != 0;
        let open = mode & OTHERS_WRITE_MODE != 0 && !sticky && !found.is_symlink();
        let strange = found.uid() != 0 && found.uid() != user;
        let shown = path.to_line();
        let word = shell::quote_word(&path.to_string_lossy());
        let (what, advice) = match (open, strange, found.uid() == user) {
            // The owner could restore the permission.
            (true, true, _) => (
                format!(
                    "other users can write to {shown}, and you cannot change that; use a \
                         copy of your own"
                ),
                "rutter init --bin PATH".to_owned(),
            ),
            (true, false, true) => (
                format!("other users can write to {shown}, so they control what the hooks run"),
                format!("chmod go-w {word}"),
            ),
            (true, false, false) => (
                format!("other users can write to {shown}, so they control what the hooks run"),
                format!("sudo chmod go-w {word}"),
            ),
            (false, true, _) if found.is_file() => (
                format!(
                    "{shown} belongs to another user, who controls what the hooks run; use \
                         a copy of your own"
                ),
                "rutter init --bin PATH".to_owned(),
            ),
            (false, ..) => return None,
        };
        Some(DoctorFinding::new(&codes::PROGRAM_WRITABLE, what).with_advice(advice))
    })
}

fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}
