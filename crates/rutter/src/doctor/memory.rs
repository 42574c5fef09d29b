//! Checks of the data directory, the log, the configuration and the project identity.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access, statvfs};
use rutter_memory::config::{HOOKS_YAML, Hooks, Loaded, Mistake, Position};
use rutter_memory::project::Located;
use rutter_memory::store::Files;
use rutter_memory::store::doctor::{self, Ailment, Health};
use rutter_memory::{log, pause};

use super::codes;
use super::finding::{Finding, Place};
use super::places::Places;
use crate::environment::{self, Environment};
use crate::shell;

/// Free disk space below which the next test run may not be recorded.
const LITTLE: u64 = 50 * 1024 * 1024;
/// Age above which faults in the log are not reported any more.
const RECENT: Duration = Duration::from_hours(7 * 24);
/// Number of recent faults that are shown.
const FEW: usize = 3;
/// Characters of each fault that are shown.
const LINE: usize = 160;

/// Checks the data directory.
pub(crate) fn examine(env: &Environment, findings: &mut Vec<Finding>) -> Health {
    let unreadable =
        |what: String| Finding::new(&codes::MEMORY_UNREADABLE, what).at(Place::file(&env.data));
    let none = || Health { folder: env.data.clone(), ..Health::default() };
    // Without access to a parent folder, the data directory only seems to be missing.
    if let Err(error) = env.data.metadata()
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        findings.push(unreadable(format!("this cannot be read: {error}")));
        return none();
    }
    let health = match doctor::examine(&env.data) {
        Ok(health) => health,
        Err(error) => {
            findings.push(unreadable(error.to_string()));
            return none();
        }
    };
    let mut found = health.findings.clone();
    // An unreadable file has its own finding from above.
    found.extend(doctor::neglected(&env.data, env.now).unwrap_or_default());
    // All files that others may read become one finding.
    let open = found.iter().filter(|finding| finding.ailment == Ailment::Readable).count();
    let mut first = true;
    for finding in found {
        let mut what = finding.what;
        let mut advice = finding.advice;
        if finding.ailment == Ailment::Readable && open > 1 {
            if !std::mem::take(&mut first) {
                continue;
            }
            what = format!("others may read this, and {} more of the memory", open - 1);
            "rutter doctor --repair".clone_into(&mut advice);
        }
        if let Some(file) = &finding.file {
            advice = advice.replace("FILE", &shell::word(&file.to_string_lossy()));
        }
        let database = env.files().database();
        // A database that this user may not read is not reported as damaged.
        if finding.ailment == Ailment::Damaged && access(&database, Access::READ_OK).is_err() {
            findings.push(Finding::new(&codes::MEMORY_UNREADABLE, what).at(Place::file(&database)));
            continue;
        }
        let Some(code) = codes::of(finding.ailment.as_str()) else { continue };
        let mut shown = Finding::new(code, what).advise(advice);
        shown.place = finding.file.as_deref().map(Place::file);
        findings.push(shown);
    }
    for path in strange_files(&env.files()) {
        let advice = format!("rm {}", shell::word(&path.to_string_lossy()));
        let finding = Finding::new(&codes::MEMORY_UNREADABLE, "this is no file").advise(advice);
        findings.push(finding.at(Place::file(&path)));
    }
    room(&env.data, findings);
    faults(env, findings);
    health
}

/// Finds pipes, folders and other special files in the place of regular files: reading a pipe may block for ever.
pub(super) fn strange_files(files: &Files) -> Vec<PathBuf> {
    let log = files.log();
    let mut paths =
        vec![files.tally(), files.paused(), log.join("rutter.log"), log.join("rutter.log.1")];
    paths.retain(|path| path.metadata().is_ok_and(|found| !found.is_file()));
    paths
}

/// Checks that the data directory is writable and its disk has free space.
fn room(data: &Path, findings: &mut Vec<Finding>) {
    let Some(there) = data.ancestors().find(|folder| folder.exists()) else { return };
    if !there.is_dir() {
        let finding = Finding::new(&codes::MEMORY_UNWRITABLE, "this is no folder");
        return findings.push(finding.at(Place::file(there)));
    }
    if let Err(error) = access(there, Access::WRITE_OK) {
        let what = format!("nothing can be written here: {error}");
        findings.push(Finding::new(&codes::MEMORY_UNWRITABLE, what).at(Place::file(there)));
    }
    let database = data.join("rutter.db");
    if access(there, Access::WRITE_OK).is_ok()
        && access(&database, Access::READ_OK).is_ok()
        && let Err(error) = access(&database, Access::WRITE_OK)
    {
        let what = format!("nothing can be written to the database: {error}");
        let advice = format!("chmod u+w {}", shell::word(&database.to_string_lossy()));
        let finding = Finding::new(&codes::MEMORY_UNWRITABLE, what).at(Place::file(&database));
        findings.push(finding.advise(advice));
    }
    if let Ok(disk) = statvfs(there) {
        findings.extend(shortage(there, disk.f_bavail.saturating_mul(disk.f_frsize)));
    }
}

fn shortage(folder: &Path, left: u64) -> Option<Finding> {
    (left < LITTLE).then(|| {
        let what = format!("{} are left on the disk of the memory", crate::ui::size(left));
        Finding::new(&codes::DISK_FULL, what).at(Place::file(folder))
    })
}

/// Reports recent hook faults and permission changes from the log.
fn faults(env: &Environment, findings: &mut Vec<Finding>) {
    let files = env.files();
    if !strange_files(&files).is_empty() {
        return;
    }
    let closings = log::closings(&files, env.now.minus(RECENT)).unwrap_or_default();
    if let Some((at, what)) = closings.last() {
        let finding = Finding::new(&codes::MEMORY_WAS_OPEN, format!("{what} at {at}"));
        findings.push(finding.at(Place::file(&env.data)));
    }
    let Ok(faults) = log::faults(&files, env.now.minus(RECENT)) else { return };
    if faults.is_empty() {
        return;
    }
    let last = faults.iter().skip(faults.len().saturating_sub(FEW));
    let last: Vec<String> = last
        .map(|(at, fault)| format!("{at} {}", fault.chars().take(LINE).collect::<String>()))
        .collect();
    let count = crate::ui::count(faults.len() as u64, "time");
    let what = format!(
        "hooks could not do their work {count} in the last 7 days; the last: {}",
        last.join(" | ")
    );
    let path = files.log().join("rutter.log");
    let advice = format!("grep ' hook: ' {}", shell::word(&path.to_string_lossy()));
    findings.push(Finding::new(&codes::LOG_FAULTS, what).at(Place::file(&path)).advise(advice));
}

/// Reports git files that are ignored when the project of this folder is identified.
pub(crate) fn identity(located: &Located, findings: &mut Vec<Finding>) {
    if let Some(ignored) = &located.ignored {
        let finding = Finding::new(&codes::CONFIG_GIT_IGNORED, ignored.to_string());
        findings.push(finding.at(Place::file(ignored.path())).advise(ignored.advice()));
    }
}

/// Reports the decisions of the configuration, the checkout and the environment that affect hooks.
pub(crate) fn decisions(
    loaded: &Loaded,
    env: &Environment,
    places: &Places,
    findings: &mut Vec<Finding>,
) {
    for found in &loaded.findings {
        let code = match found.mistake {
            Mistake::Unreadable | Mistake::Syntax => &codes::CONFIG_VOID,
            Mistake::NotTrusted => &codes::CONFIG_UNTRUSTED,
            Mistake::UnknownKey | Mistake::Replaced | Mistake::WrongValue | Mistake::UserOnly => {
                &codes::CONFIG_WRONG
            }
        };
        let position =
            found.position.map(|Position { line, column }| (line as usize, column as usize));
        let place = Place { file: found.file.clone(), position };
        findings
            .push(Finding::new(code, found.what.clone()).at(place).advise(found.advice.clone()));
    }
    let yaml = Located::find(&places.folder).root.join(HOOKS_YAML);
    if yaml.is_file() {
        let what = "neither the client nor rutter acts on this file; `rutter config check` says which of its keys rutter has";
        findings.push(Finding::new(&codes::CONFIG_HOOKS_YAML, what).at(Place::file(&yaml)));
    }
    let off = switched_off(&loaded.config.hooks);
    if !off.is_empty() {
        let what = format!("the configuration switches off {}", off.join(", "));
        findings.push(Finding::new(&codes::HOOK_OFF, what));
    }
    let home = environment::home();
    if loaded.config.scope.excludes(&places.folder, home.as_deref()) {
        let what = "`scope.exclude` has this folder: hooks neither record nor say anything here";
        findings.push(Finding::new(&codes::FOLDER_EXCLUDED, what).at(Place::file(&places.folder)));
    }
    let files = env.files();
    let strange = strange_files(&files).contains(&files.paused());
    let paused = if strange { Vec::new() } else { pause::paused(&files).unwrap_or_default() };
    let own = env.session();
    if paused.iter().any(|one| one == pause::EVERYTHING) {
        let what = "everything is paused: hooks neither record nor say anything";
        findings.push(Finding::new(&codes::PAUSED, what).at(Place::file(&files.paused())));
    } else if own.is_some_and(|own| paused.iter().any(|one| one == own.as_str())) {
        let what = "this session is paused: hooks neither record nor say anything in it";
        let finding = Finding::new(&codes::PAUSED, what).at(Place::file(&files.paused()));
        findings.push(finding.advise("rutter pause --session --off"));
    }
    if places.variables.off {
        let what = "RUTTER=off is set here: hooks of a client that is started from here do nothing";
        findings.push(Finding::new(&codes::SWITCHED_OFF, what));
    }
}

/// Returns the configuration tables of disabled hooks.
fn switched_off(hooks: &Hooks) -> Vec<String> {
    let all = [
        ("session_start", hooks.session_start.enabled),
        ("user_prompt_submit", hooks.user_prompt_submit.enabled),
        ("ghap_checkin", hooks.ghap_checkin.enabled),
        ("outcome_capture", hooks.outcome_capture.enabled),
        ("edits", hooks.edits.enabled),
        ("subagent_start", hooks.subagent_start.enabled),
        ("pre_compact", hooks.pre_compact.enabled),
        ("stop", hooks.stop.enabled),
        ("session_end", hooks.session_end.enabled),
    ];
    all.iter().filter(|(_, on)| !on).map(|(name, _)| format!("hooks.{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_named() {
        let folder = Path::new("/memory");
        assert_eq!(shortage(folder, LITTLE), None);
        let finding = shortage(folder, LITTLE - 1).unwrap();
        assert_eq!(finding.code.name, "disk-full");
        assert_eq!(finding.place, Some(Place::file(folder)));
        assert_eq!(finding.what, "49 MiB are left on the disk of the memory");
    }
}
