//! The files that are checked: those that a client reads here, or those that were named.

use std::path::{Path, PathBuf};

use rutter_check::lint::{LintFile, LintMachine};
use rutter_check::settings::{
    ClientFiles, HookFile, HookFileKind, PluginFault, SettingsLayer, load_folder_layers,
    load_plugin_folder,
};
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;

use crate::doctor::ClientEnvironment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The files with hooks, and the faults of plugins that are not those of one file.
#[derive(Default)]
pub(super) struct LoadedFiles {
    pub(super) files: Vec<LintFile>,
    pub(super) plugin_faults: Vec<PluginFault>,
}

/// Describes the machine on which the hooks run.
pub(super) fn describe_machine(places: &ClientEnvironment) -> LintMachine {
    let shell = Path::new("/bin/sh").canonicalize().ok();
    LintMachine {
        home: places.files.home.clone(),
        search: places.search.clone(),
        has_bash_as_sh: shell.is_some_and(|shell| shell.ends_with("bash")),
    }
}

/// Loads the named files, or else all files that a client reads here.
pub(super) fn load_files(
    paths: &[PathBuf],
    places: &ClientEnvironment,
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult<LoadedFiles> {
    let mut loaded = LoadedFiles::default();
    if paths.is_empty() {
        loaded.add_folder(&places.files, contract);
    }
    for path in paths {
        if path.as_os_str() == "-" {
            let bytes = ui.read_stdin()?;
            let file = HookFile::from_name(Path::new("-"), None);
            let layer = file.and_then(|file| file.parse(&bytes, contract));
            loaded.add_layer(layer, None, None, contract);
        } else {
            loaded.add_path(path, places, contract)?;
        }
    }
    Ok(loaded)
}

impl LoadedFiles {
    /// Adds everything that a client reads in a folder.
    fn add_folder(&mut self, files: &ClientFiles, contract: Contract) {
        let found = load_folder_layers(files, contract);
        self.plugin_faults.extend(found.plugin_faults);
        for layer in found.layers {
            let plugin = layer.entries.iter().find_map(|entry| entry.plugin.clone());
            self.add_layer(Some(layer), plugin.as_deref(), Some(&files.folder), contract);
        }
    }

    fn add_path(
        &mut self,
        path: &Path,
        places: &ClientEnvironment,
        contract: Contract,
    ) -> CommandResult {
        let failure = |what: &str| CommandError::Usage(format!("{} {what}", path.to_line()));
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if whole.symlink_metadata().is_err() {
            return Err(failure("does not exist; give a file or a folder"));
        }
        let config = places.files.config.as_deref();
        let Some(file) = HookFile::classify(&whole, config) else {
            return Err(failure(
                "cannot contain hooks; give a settings file, a hooks.json, a plugin.json, a skill, \
                 agent or command, or the folder of a project or plugin",
            ));
        };
        match file.kind {
            HookFileKind::ProjectFolder => {
                // Only the files of the folder, not those of the user.
                let files = ClientFiles { folder: file.path, ..ClientFiles::default() };
                self.add_folder(&files, contract);
            }
            HookFileKind::PluginFolder => {
                let folder = file.path.canonicalize().unwrap_or(file.path);
                let plugin = load_plugin_folder(&folder, contract);
                self.plugin_faults.extend(plugin.faults);
                for layer in plugin.layers {
                    self.add_layer(Some(layer), Some(&folder), Some(&folder), contract);
                }
            }
            HookFileKind::PluginHooks | HookFileKind::PluginManifest => {
                let Some(folder) = file.plugin.as_deref() else { return Ok(()) };
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                let here = whole.canonicalize().unwrap_or(whole);
                let plugin = load_plugin_folder(&folder, contract);
                let faults = plugin.faults.into_iter();
                self.plugin_faults.extend(faults.filter(|fault| fault.location.file == here));
                let mut layers = plugin.layers.into_iter();
                let layer = layers.find(|layer| layer.path == here);
                let layer = layer.or_else(|| file.load(contract));
                self.add_layer(layer, Some(&folder), Some(&folder), contract);
            }
            HookFileKind::Settings(_) | HookFileKind::Markdown(_) | HookFileKind::UnknownJson => {
                let project = project_of(&whole);
                self.add_layer(
                    file.load(contract),
                    file.plugin.as_deref(),
                    project.as_deref(),
                    contract,
                );
            }
        }
        Ok(())
    }

    fn add_layer(
        &mut self,
        layer: Option<SettingsLayer>,
        plugin: Option<&Path>,
        project: Option<&Path>,
        contract: Contract,
    ) {
        let (plugin, project) = (plugin.map(Path::to_owned), project.map(Path::to_owned));
        let file = layer.and_then(|layer| LintFile::from_layer(layer, plugin, project, contract));
        self.files.extend(file);
    }
}

/// Returns the folder that contains the `.claude` folder of a file.
fn project_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.ends_with(".claude"))?.parent().map(Path::to_owned)
}
