//! The files that are checked: those that a client reads here, or those that were named.

use std::path::{Path, PathBuf};

use rutter_check::lint::{LintFile, LintMachine};
use rutter_check::settings::{
    SettingsLayer, SettingsSource, enabled_plugins, load_layers, load_plugin_layers,
};
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;

use crate::doctor::ClientEnvironment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// Loads the files, and describes the machine on which their hooks run.
pub(super) fn load_files(
    paths: &[PathBuf],
    places: &ClientEnvironment,
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult<(Vec<LintFile>, LintMachine)> {
    let machine = LintMachine {
        folder: Some(places.files.folder.clone()),
        home: places.files.home.clone(),
        search: places.search.clone(),
    };
    let mut layers = Vec::new();
    if paths.is_empty() {
        layers = load_layers(&places.files, contract);
        let plugins = enabled_plugins(&layers, &places.files);
        layers.extend(load_plugin_layers(&plugins, contract));
    }
    for path in paths {
        load_path(path, contract, ui, &mut layers)?;
    }
    Ok((layers.into_iter().filter_map(LintFile::from_layer).collect(), machine))
}

fn load_path(
    path: &Path,
    contract: Contract,
    _ui: &mut Ui<'_>,
    layers: &mut Vec<SettingsLayer>,
) -> CommandResult {
    if !path.exists() {
        let message = format!("{} does not exist; give a file or a folder", path.to_line());
        return Err(CommandError::Usage(message));
    }
    layers.push(SettingsLayer::load(SettingsSource::Project, path, None, contract));
    Ok(())
}
