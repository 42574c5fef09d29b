//! Advice that depends on the file of a finding and on its owner.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rutter_check::settings::{SettingsLayer, SettingsSource};

use super::codes;
use super::finding::DoctorFinding;
use crate::environment::{self, Environment};
use crate::shell;

/// Placeholder for the `rutter init` command in advice without a known file.
const INIT_COMMAND: &str = "rutter init";

/// Completes the advice of all findings by the files that they are about.
pub(super) fn complete_advice(
    findings: &mut [DoctorFinding],
    layers: &[SettingsLayer],
    env: &Environment,
) {
    let user = rustix::process::geteuid().as_raw();
    let home = environment::home_dir();
    for finding in findings {
        let Some(file) = finding.place.as_ref().map(|place| place.file.clone()) else { continue };
        let layer = layers.iter().find(|layer| layer.path == file);
        if let Some(advice) = layer.and_then(|layer| init_for_layer(&finding.advice, layer)) {
            finding.advice = advice;
        }
        let own = if finding.code == &codes::SETTINGS_UNREADABLE {
            match layer {
                // Users cannot take ownership of an organisation's file.
                Some(layer) if layer.whose == SettingsSource::Managed => continue,
                _ => vec![file.clone()],
            }
        } else if [&codes::MEMORY_UNREADABLE, &codes::MEMORY_UNWRITABLE].contains(&finding.code) {
            vec![env.data.clone()]
        } else {
            continue;
        };
        if let Some(path) = find_foreign_path(&file, user)
            && let Some(advice) = chown_command(&path, &own, home.as_deref())
        {
            finding.advice = advice;
        }
    }
}

/// Adds to `rutter init` the option for the file of the layer, unless it is the default file.
fn init_for_layer(advice: &str, layer: &SettingsLayer) -> Option<String> {
    let (before, rest) = advice.split_once(INIT_COMMAND)?;
    // More specific advice already contains an option.
    if !(rest.is_empty() || rest.starts_with(" --bin")) {
        return None;
    }
    let with = |option: &str| Some(format!("{before}{INIT_COMMAND}{option}{rest}"));
    match layer.whose {
        SettingsSource::Local
        | SettingsSource::Skill
        | SettingsSource::Agent
        | SettingsSource::Command => None,
        SettingsSource::Project => with(" --project"),
        SettingsSource::User => with(" --user"),
        SettingsSource::Plugin => with(" --plugin DIR"),
        SettingsSource::Checkout => {
            Some(format!("{before}{}{INIT_COMMAND}{rest}", cd_command(layer)?))
        }
        SettingsSource::Managed => Some(codes::HOOKS_MANAGED_ONLY.advice.to_owned()),
    }
}

/// Returns the `rutter init` command for a kind of settings file.
pub(super) fn init_command(whose: SettingsSource) -> String {
    with_scope_option(INIT_COMMAND, whose)
}

/// Adds to `rutter init` in advice about a server the option for the kind of file.
pub(super) fn with_scope_option(advice: &str, whose: SettingsSource) -> String {
    let option = match whose {
        SettingsSource::Project => " --project",
        SettingsSource::User => " --user",
        SettingsSource::Plugin => " --plugin DIR",
        SettingsSource::Local
        | SettingsSource::Checkout
        | SettingsSource::Managed
        | SettingsSource::Skill
        | SettingsSource::Agent
        | SettingsSource::Command => "",
    };
    advice.replacen(INIT_COMMAND, &format!("{INIT_COMMAND}{option}"), 1)
}

/// Returns the rank by which one of two competing entries is removed, the highest first. Managed settings rank lowest,
/// because users cannot remove anything from them.
pub(super) const fn removal_rank(whose: SettingsSource) -> u8 {
    match whose {
        SettingsSource::Managed => 0,
        SettingsSource::Local => 1,
        SettingsSource::Checkout => 2,
        SettingsSource::User => 3,
        SettingsSource::Project => 4,
        SettingsSource::Plugin => 5,
        SettingsSource::Skill | SettingsSource::Agent | SettingsSource::Command => 6,
    }
}

/// Returns the command that removes rutter from a file.
pub(super) fn removal_command(layer: &SettingsLayer) -> Option<String> {
    Some(match layer.whose {
        SettingsSource::Local => "rutter uninstall --local".to_owned(),
        SettingsSource::Checkout => format!("{}rutter uninstall --local", cd_command(layer)?),
        SettingsSource::User => "rutter uninstall --user".to_owned(),
        SettingsSource::Project => "rutter uninstall --project".to_owned(),
        SettingsSource::Plugin => {
            format!("claude plugin disable {}", shell::quote_word(layer.plugin.as_ref()?))
        }
        SettingsSource::Managed
        | SettingsSource::Skill
        | SettingsSource::Agent
        | SettingsSource::Command => return None,
    })
}

/// Returns the `cd` command to the folder that contains the file's `.claude` folder.
fn cd_command(layer: &SettingsLayer) -> Option<String> {
    let folder = layer.path.parent()?.parent()?;
    Some(format!("cd {} && ", shell::quote_word(&folder.to_string_lossy())))
}

/// Returns the path, or its nearest visible parent folder, if it belongs to another user.
fn find_foreign_path(path: &Path, user: u32) -> Option<PathBuf> {
    let (seen, found) =
        path.ancestors().find_map(|path| Some((path, path.symlink_metadata().ok()?)))?;
    (found.uid() != user).then(|| seen.to_owned())
}

/// Returns the command that gives a path to the user. Limited to files of rutter or the client and to the home folder:
/// taking over everything below `/var` would be worse than any finding.
fn chown_command(path: &Path, own: &[PathBuf], home: Option<&Path>) -> Option<String> {
    let owned = own.iter().find(|own| path.starts_with(own));
    let homely = home.is_some_and(|home| path != home && path.starts_with(home));
    let path = match owned {
        // Usually the other files of the memory have the same owner, so the command covers the whole folder.
        Some(own) => own,
        None if homely => path,
        None => return None,
    };
    let all = if path.is_dir() { "-R " } else { "" };
    Some(format!("sudo chown {all}\"$USER\" {}", shell::quote_word(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_advises_chown_of_system_paths() {
        let own = [PathBuf::from("/var/lib/rutter")];
        let home = Some(Path::new("/home/ada"));
        let advised = |path: &str| chown_command(Path::new(path), &own, home);
        for path in ["/", "/var", "/var/lib", "/home", "/home/ada", "/home/bob/x"] {
            assert_eq!(advised(path), None, "{path}");
        }
        let whole = Some("sudo chown \"$USER\" /var/lib/rutter".to_owned());
        assert_eq!(advised("/var/lib/rutter"), whole);
        assert_eq!(advised("/var/lib/rutter/rutter.db"), whole);
        let inside = Some("sudo chown \"$USER\" '/home/ada/my files'".to_owned());
        assert_eq!(advised("/home/ada/my files"), inside);
    }
}
