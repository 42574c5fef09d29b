//! `rutter trust`: grants the configuration file of a checkout full effect until the file changes.

use rutter_memory::config::keys::{KEYS, Value};
use rutter_memory::config::{Config, Mistake, Standing, preview, project_bytes, trust};
use serde_json::{Value as Json, json};

use super::config::Here;
use crate::Failure;
use crate::ask;
use crate::cli::Format;
use crate::cli::config::TrustArgs;
use crate::environment::Environment;
use crate::ui::Ui;

pub(crate) fn run(args: &TrustArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let json = args.format.chosen() == Format::Json;
    if args.list {
        return list(json, env, ui);
    }
    let here = Here::find(env)?;
    let path = here.project();
    if args.revoke {
        let was = trust::revoke(&env.data, &here.root).map_err(|error| unwritten(env, &error))?;
        return match (json, was) {
            (true, _) => ui.json(&json!({ "file": path, "trusted": false, "was_trusted": was })),
            (false, true) => Ok(writeln!(ui.out, "{} is no longer trusted", path.display())?),
            (false, false) => Ok(
                ui.remark(&format!("{} was not trusted; there is nothing to do", path.display()))?
            ),
        };
    }

    let bytes = match project_bytes(&here.root) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(Failure::Refused(format!(
                "there is no {}; nothing is to be trusted here",
                path.display()
            )));
        }
        Err(finding) => return Err(Failure::Refused(finding.to_string())),
    };
    if here.loaded.project == Standing::Trusted {
        ui.remark(&format!("{} is trusted already; there is nothing to do", path.display()))?;
        return if json {
            ui.json(&json!({ "file": path, "trusted": true, "changes": [] }))
        } else {
            Ok(())
        };
    }
    let user = env.config_file.as_deref().unwrap_or_else(|| "".as_ref());
    let after = preview(user, &here.root, &bytes);
    for finding in after.findings.iter().filter(|finding| finding.file == path) {
        if finding.mistake == Mistake::Syntax {
            return Err(Failure::Refused(finding.to_string()));
        }
        ui.remark(&finding.to_string())?;
    }
    let changes = changes(&here.loaded.config, &after.config);
    announce(&changes, &path, ui)?;
    if !args.yes {
        if !ui.terminal {
            return Err(Failure::Refused(
                "there is no terminal to ask on; look at what it wants, and add --yes".to_owned(),
            ));
        }
        if !ask::agreed("Trust it, as long as it stays as it is?", ui)? {
            writeln!(ui.err, "nothing was trusted")?;
            return Err(Failure::Declined);
        }
    }
    // Records the bytes that the user saw, not the current content of the file.
    trust::record(&env.data, &here.root, &bytes).map_err(|error| unwritten(env, &error))?;
    if json {
        let changes: Vec<Json> = changes
            .iter()
            .map(|(key, before, after)| json!({ "key": key, "before": before, "after": after }))
            .collect();
        return ui.json(&json!({ "file": path, "trusted": true, "changes": changes }));
    }
    writeln!(ui.out, "{} is trusted, as long as it stays as it is", path.display())?;
    Ok(writeln!(ui.out, "`rutter trust --revoke` takes this back.")?)
}

/// Returns the keys with different values, each with the old and the new value.
fn changes(before: &Config, after: &Config) -> Vec<(String, Value, Value)> {
    KEYS.iter()
        .map(|key| (key.path(), key.value(before), key.value(after)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

fn announce(
    changes: &[(String, Value, Value)],
    path: &std::path::Path,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    if changes.is_empty() {
        writeln!(ui.err, "{} wants nothing that it does not have already", path.display())?;
        return Ok(());
    }
    writeln!(ui.err, "{} wants:", path.display())?;
    for (key, before, after) in changes {
        writeln!(ui.err, "  {key} = {after}  (now {before})")?;
    }
    Ok(())
}

fn list(json: bool, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let known = trust::list(&env.data).map_err(|error| {
        Failure::Refused(format!(
            "what is trusted cannot be read in {}: {error}; put that right and try again",
            env.data.display()
        ))
    })?;
    if json {
        let known: Vec<Json> = known
            .iter()
            .map(|trusted| json!({ "root": trusted.root, "unchanged": trusted.holds() }))
            .collect();
        return ui.json(&known);
    }
    if known.is_empty() {
        return Ok(ui.remark("no file of a checkout is trusted")?);
    }
    for trusted in known {
        let state = if trusted.holds() { "" } else { " (changed or gone, so not trusted)" };
        writeln!(ui.out, "{}{state}", trusted.root)?;
    }
    Ok(())
}

fn unwritten(env: &Environment, error: &std::io::Error) -> Failure {
    Failure::Refused(format!(
        "it cannot be noted in {}: {error}; nothing was changed, put that right and try again",
        env.data.display()
    ))
}
