//! The files that are checked: those that a client reads here, or those that were named.

use std::path::{Path, PathBuf};

use rutter_check::lint::{LintFile, LintMachine};
use rutter_check::settings::{
    ClientFiles, HookFile, HookFileKind, PluginFault, SettingsLayer, load_folder_layers,
    load_plugin_folder,
};
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;

use super::STDIN_PATH;
use crate::doctor::ClientEnvironment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The files that a client reads together, and the faults of plugins that are not those of one file.
pub(super) struct LoadedPart {
    /// The folder in which the client is started. None if it is not known.
    project: Option<PathBuf>,
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

/// Loads the named files, or else all files that a client reads here. Files of different projects are in different
/// parts.
pub(super) fn load_files(
    paths: &[PathBuf],
    places: &ClientEnvironment,
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult<Vec<LoadedPart>> {
    let mut loader = FileLoader { parts: Vec::new(), contract };
    if paths.is_empty() {
        loader.add_folder(&places.files);
    }
    for path in paths {
        if path.as_os_str() == STDIN_PATH {
            let bytes = ui.read_stdin()?;
            let file = HookFile::from_name(Path::new(STDIN_PATH), None);
            let layer = file.and_then(|file| file.parse(&bytes, contract));
            loader.add_layer(layer, None, None);
        } else {
            loader.add_path(path, places)?;
        }
    }
    Ok(loader.parts)
}

struct FileLoader {
    parts: Vec<LoadedPart>,
    contract: Contract,
}

impl FileLoader {
    /// Returns the part of a project. Files without a known project are in a part of their own each.
    fn part(&mut self, project: Option<&Path>) -> &mut LoadedPart {
        let known = |part: &LoadedPart| project.is_some() && part.project.as_deref() == project;
        let at = self.parts.iter().position(known).unwrap_or_else(|| {
            self.parts.push(LoadedPart {
                project: project.map(Path::to_owned),
                files: Vec::new(),
                plugin_faults: Vec::new(),
            });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Adds everything that a client reads in a folder.
    fn add_folder(&mut self, files: &ClientFiles) {
        let found = load_folder_layers(files, self.contract);
        self.add_faults(found.plugin_faults, &files.folder);
        for layer in found.layers {
            let plugin = layer.entries.iter().find_map(|entry| entry.plugin.clone());
            self.add_layer(Some(layer), plugin.as_deref(), Some(&files.folder));
        }
    }

    fn add_path(&mut self, path: &Path, places: &ClientEnvironment) -> CommandResult {
        let contract = self.contract;
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
                self.add_folder(&files);
            }
            HookFileKind::PluginFolder => {
                let folder = file.path.canonicalize().unwrap_or(file.path);
                let plugin = load_plugin_folder(&folder, contract);
                self.add_faults(plugin.faults, &folder);
                for layer in plugin.layers {
                    self.add_layer(Some(layer), Some(&folder), Some(&folder));
                }
            }
            HookFileKind::PluginHooks | HookFileKind::PluginManifest => {
                let Some(folder) = file.plugin.as_deref() else { return Ok(()) };
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                let here = whole.canonicalize().unwrap_or(whole);
                let plugin = load_plugin_folder(&folder, contract);
                let mut faults = plugin.faults;
                faults.retain(|fault| fault.location.file == here);
                self.add_faults(faults, &folder);
                let mut layers = plugin.layers.into_iter();
                let layer = layers.find(|layer| layer.path == here);
                let layer = layer.or_else(|| file.load(contract));
                self.add_layer(layer, Some(&folder), Some(&folder));
            }
            HookFileKind::Settings(_) | HookFileKind::Markdown(_) | HookFileKind::UnknownJson => {
                let project = project_of(&whole);
                self.add_layer(file.load(contract), file.plugin.as_deref(), project.as_deref());
            }
        }
        Ok(())
    }

    fn add_faults(&mut self, faults: Vec<PluginFault>, project: &Path) {
        let known = &mut self.part(Some(project)).plugin_faults;
        for fault in faults {
            if !known.contains(&fault) {
                known.push(fault);
            }
        }
    }

    fn add_layer(
        &mut self,
        layer: Option<SettingsLayer>,
        plugin: Option<&Path>,
        project: Option<&Path>,
    ) {
        let (folder, owner) = (project.map(Path::to_owned), plugin.map(Path::to_owned));
        let contract = self.contract;
        let file = layer.and_then(|layer| LintFile::from_layer(layer, owner, folder, contract));
        let Some(file) = file else { return };
        let files = &mut self.part(project).files;
        // The same file may be named twice, and a folder beside a file in it.
        if !files.iter().any(|known| known.path == file.path && project.is_some()) {
            files.push(file);
        }
    }
}

/// Returns the folder that contains the `.claude` folder of a file.
fn project_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.ends_with(".claude"))?.parent().map(Path::to_owned)
}
