//! `rutter trust`: grants the configuration file of a checkout full effect until the file changes.

use rutter_memory::config::keys::{ConfigValue, KEYS};
use rutter_memory::config::{
    Config, ConfigMistake, ProjectFileTrust, preview_trusted, read_project_file, trust,
};
use rutter_memory::quote::PathLine as _;
use serde_json::{Value as Json, json};

use super::config::FolderConfig;
use crate::ask;
use crate::cli::Format;
use crate::cli::config::TrustArgs;
use crate::environment::Environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

pub(crate) fn run(args: &TrustArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let json = args.format.chosen() == Format::Json;
    if args.list {
        return list_trusted(json, env, ui);
    }
    let here = FolderConfig::find(env)?;
    let path = here.project_file();
    if args.revoke {
        let was = trust::revoke_trust(&env.data, &here.root)
            .map_err(|error| trust_write_failure(env, &error))?;
        return match (json, was) {
            (true, _) => {
                ui.print_json(&json!({ "file": path, "trusted": false, "was_trusted": was }))
            }
            (false, true) => Ok(writeln!(ui.out, "{} is no longer trusted", path.to_line())?),
            (false, false) => {
                Ok(ui.print_note(&format!("{} was not trusted; nothing to do", path.to_line()))?)
            }
        };
    }

    let bytes = match read_project_file(&here.root) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(CommandError::Refused(format!(
                "{} does not exist, so there is nothing to trust",
                path.to_line()
            )));
        }
        Err(finding) => return Err(CommandError::Refused(finding.to_string())),
    };
    if here.loaded.project == ProjectFileTrust::Trusted {
        ui.print_note(&format!("{} is already trusted; nothing to do", path.to_line()))?;
        return if json {
            ui.print_json(&json!({ "file": path, "trusted": true, "changes": [] }))
        } else {
            Ok(())
        };
    }
    let user = env.config_file.as_deref().unwrap_or_else(|| "".as_ref());
    let after = preview_trusted(user, &here.root, &bytes);
    for finding in after.findings.iter().filter(|finding| finding.file == path) {
        if finding.mistake == ConfigMistake::Syntax {
            return Err(CommandError::Refused(finding.to_string()));
        }
        ui.print_note(&finding.to_string())?;
    }
    let changes = changed_keys(&here.loaded.config, &after.config);
    print_changed_keys(&changes, &path, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(CommandError::Refused(
                "not on a terminal, so rutter cannot ask for confirmation; check the changes \
                 above, and add --yes"
                    .to_owned(),
            ));
        }
        if !ask::confirm("Trust this file until it changes?", ui)? {
            writeln!(ui.err, "nothing was trusted")?;
            return Err(CommandError::Declined);
        }
    }
    // Records the bytes that the user saw, not the current content of the file.
    trust::record_trust(&env.data, &here.root, &bytes)
        .map_err(|error| trust_write_failure(env, &error))?;
    if json {
        let changes: Vec<Json> = changes
            .iter()
            .map(|(key, before, after)| json!({ "key": key, "before": before, "after": after }))
            .collect();
        return ui.print_json(&json!({ "file": path, "trusted": true, "changes": changes }));
    }
    writeln!(ui.out, "{} is trusted until it changes", path.to_line())?;
    Ok(writeln!(ui.out, "`rutter trust --revoke` revokes the trust.")?)
}

/// Returns the keys with different values, each with the old and the new value.
fn changed_keys(before: &Config, after: &Config) -> Vec<(String, ConfigValue, ConfigValue)> {
    KEYS.iter()
        .map(|key| (key.path(), key.value(before), key.value(after)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

fn print_changed_keys(
    changes: &[(String, ConfigValue, ConfigValue)],
    path: &std::path::Path,
    ui: &mut Ui<'_>,
) -> CommandResult {
    if changes.is_empty() {
        writeln!(ui.err, "{} requests no changes", path.to_line())?;
        return Ok(());
    }
    writeln!(ui.err, "{} wants:", path.to_line())?;
    for (key, before, after) in changes {
        writeln!(ui.err, "  {key} = {after}  (now {before})")?;
    }
    Ok(())
}

fn list_trusted(json: bool, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let known = trust::list_trusted(&env.data).map_err(|error| {
        CommandError::Refused(format!(
            "could not read the list of trusted files in {}: {error}; fix that and try again",
            env.data.to_line()
        ))
    })?;
    if json {
        let known: Vec<Json> = known
            .iter()
            .map(|trusted| json!({ "root": trusted.root, "unchanged": trusted.is_unchanged() }))
            .collect();
        return ui.print_json(&known);
    }
    if known.is_empty() {
        return Ok(ui.print_note("no file is trusted")?);
    }
    for trusted in known {
        let state = if trusted.is_unchanged() { "" } else { " (changed or gone, so not trusted)" };
        writeln!(ui.out, "{}{state}", trusted.root)?;
    }
    Ok(())
}

fn trust_write_failure(env: &Environment, error: &std::io::Error) -> CommandError {
    CommandError::Refused(format!(
        "could not write {}: {error}; nothing was changed; fix that and try again",
        env.data.to_line()
    ))
}
