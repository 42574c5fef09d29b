//! Findings about settings files and their combined effect, and the part of them that is about rutter.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_check::settings::{
    FileLocation, HookEntry, LayerState, SIMPLE_VARIABLE, SettingsFault, SettingsLayer,
    SettingsSource, find_disabled_hooks, find_env_setting, find_managed_hooks_only,
    find_plugin_hooks_only, is_truthy,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use rutter_memory::Time;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;

use super::finding::DoctorFinding;
use super::places::ClientEnvironment;
use super::{codes, faults};
use crate::install::is_our_hook;
use crate::shell;
use crate::ui::format_count;

/// Prefix of the temporary files that `init` writes next to settings files.
const TEMP_FILE_PREFIX: &str = ".rutter-";
/// Age above which such a temporary file counts as abandoned. Writing one takes a moment.
const ABANDONED_FILE_AGE: Duration = Duration::from_hours(1);

/// A settings file in the report.
#[derive(Debug, Serialize)]
pub(crate) struct LayerReport {
    pub(crate) whose: SettingsSource,
    pub(crate) path: PathBuf,
    pub(crate) state: LayerState,
    /// Number of entries under `hooks` that the client can load.
    pub(crate) hooks: usize,
    /// Number of loadable entries that run rutter.
    pub(crate) ours: usize,
}

impl LayerReport {
    pub(crate) fn new(layer: &SettingsLayer) -> Self {
        Self {
            whose: layer.whose,
            path: layer.path.clone(),
            state: layer.state,
            hooks: layer.entries.len(),
            ours: our_entries(std::slice::from_ref(layer)).count(),
        }
    }
}

/// Returns the loadable entries that run rutter.
pub(crate) fn our_entries(layers: &[SettingsLayer]) -> impl Iterator<Item = &HookEntry> {
    layers.iter().flat_map(|layer| &layer.entries).filter(|entry| is_our_hook(&entry.handler))
}

/// Returns the events of rutter entries that the client cannot load.
pub(crate) fn lost_events(layers: &[SettingsLayer]) -> impl Iterator<Item = EventName> {
    layers.iter().flat_map(|layer| &layer.faults).filter_map(faults::lost_event)
}

/// Returns true if a file has entries that run rutter, loadable or not.
pub(crate) fn has_our_entries(layer: &SettingsLayer) -> bool {
    let layer = std::slice::from_ref(layer);
    our_entries(layer).next().is_some() || lost_events(layer).next().is_some()
}

/// Returns true if a file cannot be parsed but mentions rutter.
pub(crate) fn may_have_our_entries(layer: &SettingsLayer) -> bool {
    layer.faults.iter().any(|fault| match fault {
        SettingsFault::Document(fault) => fault.mentions(super::PROGRAM_NAME),
        _ => false,
    })
}

/// Returns the findings about the faults of settings files.
pub(crate) fn check_layers(layers: &[SettingsLayer]) -> impl Iterator<Item = DoctorFinding> {
    layers.iter().flat_map(|layer| &layer.faults).map(faults::settings_fault_finding)
}

/// Returns a note for each file whose hooks are recorded.
pub(crate) fn find_recorded_hooks(layers: &[SettingsLayer]) -> Vec<DoctorFinding> {
    let recorded = layers.iter().filter_map(|layer| {
        let hooks = layer.document.as_ref()?.recorded_hooks;
        (hooks > 0).then(|| {
            let what = format!("{} recorded", format_count(hooks as u64, "hook"));
            DoctorFinding::new(&codes::HOOKS_RECORDED, what)
                .with_location(FileLocation::whole_file(&layer.path))
        })
    });
    recorded.collect()
}

/// Finds temporary copies of settings that a killed writer left behind. They may contain tokens, as settings do.
pub(crate) fn find_leftovers(layers: &[SettingsLayer], now: Time) -> Vec<DoctorFinding> {
    let mut folders: Vec<&Path> = layers
        .iter()
        .filter(|layer| !matches!(layer.whose, SettingsSource::Managed | SettingsSource::Plugin))
        .filter_map(|layer| layer.path.parent())
        .collect();
    folders.sort_unstable();
    folders.dedup();
    let mut findings = Vec::new();
    for entry in folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten() {
        let Ok(entry) = entry else { continue };
        let changed = entry.metadata().and_then(|found| found.modified()).map(Time::from);
        let old = changed.is_ok_and(|changed| now.since(changed) > ABANDONED_FILE_AGE);
        if old && entry.file_name().to_string_lossy().starts_with(TEMP_FILE_PREFIX) {
            let path = entry.path();
            let what = "a killed process left this temporary copy of a settings file";
            let advice = format!("rm {}", shell::quote_word(&path.to_string_lossy()));
            let finding = DoctorFinding::new(&codes::SETTINGS_LEFTOVER, what)
                .with_location(FileLocation::whole_file(&path));
            findings.push(finding.with_advice(advice));
        }
    }
    findings
}

/// Finds settings that disable hooks, after precedence.
pub(crate) fn check_switches(
    layers: &[SettingsLayer],
    places: &ClientEnvironment,
    contract: Contract,
    data: &Path,
) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    if let Some(place) = find_disabled_hooks(layers) {
        let what = "`disableAllHooks` is true here, and no settings of higher precedence change that: no hook runs";
        findings.push(DoctorFinding::new(&codes::HOOKS_DISABLED, what).with_location(place));
    }
    let ours_managed = our_entries(layers).any(|entry| entry.whose == SettingsSource::Managed);
    if let Some(place) = find_managed_hooks_only(layers).filter(|_| !ours_managed) {
        let what = "`allowManagedHooksOnly`: only hooks of the organisation run";
        findings.push(DoctorFinding::new(&codes::HOOKS_MANAGED_ONLY, what).with_location(place));
    }
    if let Some(place) = find_plugin_hooks_only(layers).filter(|_| !ours_managed) {
        let what =
            "`strictPluginOnlyCustomization`: only hooks of plugins run, not those of settings";
        findings.push(DoctorFinding::new(&codes::HOOKS_MANAGED_ONLY, what).with_location(place));
    }
    findings.extend(check_env_settings(layers, places, contract, data));
    findings
}

/// Finds variables in the `env` settings that change the behaviour of hooks.
fn check_env_settings(
    layers: &[SettingsLayer],
    places: &ClientEnvironment,
    contract: Contract,
    data: &Path,
) -> Vec<DoctorFinding> {
    let set = |name: &'static str| find_env_setting(layers, name, contract);
    let mut findings = Vec::new();
    if let Some((_, place)) = set("RUTTER").filter(|(value, _)| value == "off") {
        let what = "`env` sets RUTTER=off: hooks record nothing and say nothing";
        findings.push(DoctorFinding::new(&codes::ENV_OFF, what).with_location(place));
    }
    if let Some((_, place)) = set(SIMPLE_VARIABLE).filter(|(value, _)| is_truthy(value)) {
        let what = "`env` sets CLAUDE_CODE_SIMPLE: the client runs no hooks";
        findings.push(DoctorFinding::new(&codes::ENV_SIMPLE, what).with_location(place));
    }
    let names = ["RUTTER_HOME", "XDG_DATA_HOME", "HOME"];
    let said = names.map(|name| set(name).map(|(value, place)| (name, value, place)));
    let here = &places.variables;
    let [home, data_home, user] = [
        (&said[0], &here.rutter_home),
        (&said[1], &here.data_home),
        (&said[2], &places.files.home),
    ]
    .map(|(said, here)| match said {
        Some((_, value, _)) => Some(PathBuf::from(value)),
        None => here.clone(),
    });
    // The same rule by which hooks find their data directory; see `crate::environment`.
    let there = home.filter(|home| !home.as_os_str().is_empty()).or_else(|| {
        data_home
            .filter(|folder| folder.is_absolute())
            .or_else(|| {
                user.filter(|user| user.is_absolute()).map(|user| user.join(".local/share"))
            })
            .map(|folder| folder.join("rutter"))
    });
    let moved = there.is_some_and(|there| places.files.folder.join(there) != data);
    if let Some((name, _, place)) = said.into_iter().flatten().next().filter(|_| moved) {
        let what = format!(
            "`env` sets {name}: hooks use another memory than the {} of this command",
            data.to_line()
        );
        findings.push(DoctorFinding::new(&codes::ENV_MOVES, what).with_location(place));
    }
    findings
}
