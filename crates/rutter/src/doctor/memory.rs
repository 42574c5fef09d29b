//! Checks of the data directory, the log, the configuration and the project identity.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access, statvfs};
use rutter_check::settings::FileLocation;
use rutter_memory::config::{ConfigMistake, FilePosition, HOOKS_YAML, HookSettings, LoadedConfig};
use rutter_memory::log::LOG_FILES;
use rutter_memory::project::LocatedProject;
use rutter_memory::store::DataDir;
use rutter_memory::store::doctor::{self, StoreHealth, StoreProblem};
use rutter_memory::{log, pause};

use super::codes;
use super::finding::DoctorFinding;
use super::places::ClientEnvironment;
use crate::environment::{self, Environment};
use crate::shell;

/// Free disk space below which the next test run may not be recorded.
const MIN_FREE_DISK_BYTES: u64 = 50 * 1024 * 1024;
/// Age above which faults in the log are not reported any more.
const MAX_FAULT_AGE: Duration = Duration::from_hours(7 * 24);
/// Number of recent faults that are shown.
const MAX_SHOWN_FAULTS: usize = 3;
/// Characters of each fault that are shown.
const MAX_FAULT_CHARS: usize = 160;

/// Checks the data directory.
pub(crate) fn check_memory(env: &Environment, findings: &mut Vec<DoctorFinding>) -> StoreHealth {
    let unreadable = |what: String| {
        DoctorFinding::new(&codes::MEMORY_UNREADABLE, what)
            .with_location(FileLocation::whole_file(&env.data))
    };
    let none = || StoreHealth { folder: env.data.clone(), ..StoreHealth::default() };
    // Without access to a parent folder, the data directory only seems to be missing.
    if let Err(error) = env.data.metadata()
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        findings.push(unreadable(format!("this cannot be read: {error}")));
        return none();
    }
    let health = match doctor::check_store(&env.data) {
        Ok(health) => health,
        Err(error) => {
            findings.push(unreadable(error.to_string()));
            return none();
        }
    };
    let mut found = health.findings.clone();
    // An unreadable file has its own finding from above.
    found.extend(doctor::find_neglected(&env.data, env.now).unwrap_or_default());
    // All files that others may read become one finding.
    let open = found.iter().filter(|finding| finding.ailment == StoreProblem::Readable).count();
    let mut first = true;
    for finding in found {
        let mut what = finding.what;
        let mut advice = finding.advice;
        if finding.ailment == StoreProblem::Readable && open > 1 {
            if !std::mem::take(&mut first) {
                continue;
            }
            what = format!("other users can read this, and {} more of the memory", open - 1);
            "rutter doctor --repair".clone_into(&mut advice);
        }
        if let Some(file) = &finding.file {
            advice = advice.replace("FILE", &shell::quote_word(&file.to_string_lossy()));
        }
        let database = env.data_dir().database();
        // A database that this user may not read is not reported as damaged.
        if finding.ailment == StoreProblem::Damaged && access(&database, Access::READ_OK).is_err() {
            findings.push(
                DoctorFinding::new(&codes::MEMORY_UNREADABLE, what)
                    .with_location(FileLocation::whole_file(&database)),
            );
            continue;
        }
        let Some(code) = codes::find_code(finding.ailment.as_str()) else { continue };
        let mut shown = DoctorFinding::new(code, what).with_advice(advice);
        shown.place = finding.file.as_deref().map(FileLocation::whole_file);
        findings.push(shown);
    }
    for path in find_special_files(&env.data_dir()) {
        let advice = format!("rm {}", shell::quote_word(&path.to_string_lossy()));
        let finding =
            DoctorFinding::new(&codes::MEMORY_UNREADABLE, "this is not a file").with_advice(advice);
        findings.push(finding.with_location(FileLocation::whole_file(&path)));
    }
    check_data_dir_writable(&env.data, findings);
    check_log(env, findings);
    health
}

/// Finds pipes, folders and other special files in the place of regular files: reading a pipe may block for ever.
pub(super) fn find_special_files(files: &DataDir) -> Vec<PathBuf> {
    let log = files.log();
    let mut paths = vec![files.event_counts(), files.fingerprints(), files.paused()];
    paths.extend(LOG_FILES.map(|name| log.join(name)));
    paths.retain(|path| path.metadata().is_ok_and(|found| !found.is_file()));
    paths
}

/// Checks that the data directory is writable and its disk has free space.
fn check_data_dir_writable(data: &Path, findings: &mut Vec<DoctorFinding>) {
    let Some(there) = data.ancestors().find(|folder| folder.exists()) else { return };
    if !there.is_dir() {
        let finding = DoctorFinding::new(&codes::MEMORY_UNWRITABLE, "this is not a folder");
        return findings.push(finding.with_location(FileLocation::whole_file(there)));
    }
    if let Err(error) = access(there, Access::WRITE_OK) {
        let what = format!("cannot write here: {error}");
        findings.push(
            DoctorFinding::new(&codes::MEMORY_UNWRITABLE, what)
                .with_location(FileLocation::whole_file(there)),
        );
    }
    let database = data.join("rutter.db");
    if access(there, Access::WRITE_OK).is_ok()
        && access(&database, Access::READ_OK).is_ok()
        && let Err(error) = access(&database, Access::WRITE_OK)
    {
        let what = format!("cannot write to the database: {error}");
        let advice = format!("chmod u+w {}", shell::quote_word(&database.to_string_lossy()));
        let finding = DoctorFinding::new(&codes::MEMORY_UNWRITABLE, what)
            .with_location(FileLocation::whole_file(&database));
        findings.push(finding.with_advice(advice));
    }
    if let Ok(disk) = statvfs(there) {
        findings.extend(check_free_space(there, disk.f_bavail.saturating_mul(disk.f_frsize)));
    }
}

fn check_free_space(folder: &Path, left: u64) -> Option<DoctorFinding> {
    (left < MIN_FREE_DISK_BYTES).then(|| {
        let what = format!("{} are free on the disk of the memory", crate::ui::format_size(left));
        DoctorFinding::new(&codes::DISK_FULL, what).with_location(FileLocation::whole_file(folder))
    })
}

/// Reports recent hook faults and permission changes from the log.
fn check_log(env: &Environment, findings: &mut Vec<DoctorFinding>) {
    let files = env.data_dir();
    if !find_special_files(&files).is_empty() {
        return;
    }
    let closings =
        log::permission_changes(&files, env.now.minus(MAX_FAULT_AGE)).unwrap_or_default();
    if let Some((at, what)) = closings.last() {
        let finding = DoctorFinding::new(&codes::MEMORY_WAS_OPEN, format!("{what} at {at}"));
        findings.push(finding.with_location(FileLocation::whole_file(&env.data)));
    }
    let Ok(faults) = log::hook_faults(&files, env.now.minus(MAX_FAULT_AGE)) else { return };
    if faults.is_empty() {
        return;
    }
    let last = faults.iter().skip(faults.len().saturating_sub(MAX_SHOWN_FAULTS));
    let last: Vec<String> = last
        .map(|(at, fault)| {
            format!("{at} {}", fault.chars().take(MAX_FAULT_CHARS).collect::<String>())
        })
        .collect();
    let count = crate::ui::format_count(faults.len() as u64, "time");
    let what = format!("hooks failed {count} in the last 7 days; the last: {}", last.join(" | "));
    let path = files.log().join("rutter.log");
    let advice = format!("grep ' hook: ' {}", shell::quote_word(&path.to_string_lossy()));
    findings.push(
        DoctorFinding::new(&codes::LOG_FAULTS, what)
            .with_location(FileLocation::whole_file(&path))
            .with_advice(advice),
    );
}

/// Reports git files that are ignored when the project of this folder is identified.
pub(crate) fn check_project_identity(located: &LocatedProject, findings: &mut Vec<DoctorFinding>) {
    if let Some(ignored) = &located.ignored {
        let finding = DoctorFinding::new(&codes::CONFIG_GIT_IGNORED, ignored.to_string());
        findings.push(
            finding
                .with_location(FileLocation::whole_file(ignored.path()))
                .with_advice(ignored.advice()),
        );
    }
}

/// Reports the decisions of the configuration, the checkout and the environment that affect hooks.
pub(crate) fn check_configuration(
    loaded: &LoadedConfig,
    env: &Environment,
    places: &ClientEnvironment,
    findings: &mut Vec<DoctorFinding>,
) {
    for found in &loaded.findings {
        let code = match found.mistake {
            ConfigMistake::Unreadable | ConfigMistake::Syntax => &codes::CONFIG_VOID,
            ConfigMistake::NotTrusted => &codes::CONFIG_UNTRUSTED,
            ConfigMistake::UnknownKey
            | ConfigMistake::Replaced
            | ConfigMistake::WrongValue
            | ConfigMistake::UserOnly => &codes::CONFIG_WRONG,
        };
        let position =
            found.position.map(|FilePosition { line, column }| (line as usize, column as usize));
        let place = FileLocation { file: found.file.clone(), position };
        findings.push(
            DoctorFinding::new(code, found.what.clone())
                .with_location(place)
                .with_advice(found.advice.clone()),
        );
    }
    let yaml = LocatedProject::find(&places.files.folder).root.join(HOOKS_YAML);
    if yaml.is_file() {
        let what = "neither the client nor rutter uses this file; `rutter config check` shows \
                    which of its keys rutter has";
        findings.push(
            DoctorFinding::new(&codes::CONFIG_HOOKS_YAML, what)
                .with_location(FileLocation::whole_file(&yaml)),
        );
    }
    let off = disabled_hooks(&loaded.config.hooks);
    if !off.is_empty() {
        let what = format!("the configuration disables {}", off.join(", "));
        findings.push(DoctorFinding::new(&codes::HOOK_OFF, what));
    }
    let home = environment::home_dir();
    if loaded.config.scope.excludes(&places.files.folder, home.as_deref()) {
        let what = "`scope.exclude` lists this folder: hooks record nothing and say nothing here";
        findings.push(
            DoctorFinding::new(&codes::FOLDER_EXCLUDED, what)
                .with_location(FileLocation::whole_file(&places.files.folder)),
        );
    }
    let files = env.data_dir();
    let strange = find_special_files(&files).contains(&files.paused());
    let paused =
        if strange { Vec::new() } else { pause::paused_sessions(&files).unwrap_or_default() };
    let own = env.session_id();
    if paused.iter().any(|one| one == pause::ALL_SESSIONS) {
        let what = "all hooks are paused: they record nothing and say nothing";
        findings.push(
            DoctorFinding::new(&codes::PAUSED, what)
                .with_location(FileLocation::whole_file(&files.paused())),
        );
    } else if own.is_some_and(|own| paused.iter().any(|one| one == own.as_str())) {
        let what = "this session is paused: its hooks record nothing and say nothing";
        let finding = DoctorFinding::new(&codes::PAUSED, what)
            .with_location(FileLocation::whole_file(&files.paused()));
        findings.push(finding.with_advice("rutter pause --session --off"));
    }
    if places.variables.off {
        let what = "RUTTER=off is set here: the hooks of a client started from here do nothing";
        findings.push(DoctorFinding::new(&codes::SWITCHED_OFF, what));
    }
}

/// Returns the configuration tables of disabled hooks.
fn disabled_hooks(hooks: &HookSettings) -> Vec<String> {
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
    fn reports_nearly_full_disk() {
        let folder = Path::new("/memory");
        assert_eq!(check_free_space(folder, MIN_FREE_DISK_BYTES), None);
        let finding = check_free_space(folder, MIN_FREE_DISK_BYTES - 1).unwrap();
        assert_eq!(finding.code.name, "disk-full");
        assert_eq!(finding.place, Some(FileLocation::whole_file(folder)));
        assert_eq!(finding.what, "49 MiB are free on the disk of the memory");
    }
}
