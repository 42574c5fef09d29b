//! The part of `rutter config check` about a `.claude/hooks/config.yaml`.

use std::fmt::Write as _;
use std::path::Path;

use rutter_memory::config::{YamlKey, YamlMeaning, read_hooks_yaml};
use rutter_memory::quote::PathLine as _;
use serde_json::{Value as Json, json};

use crate::cli::Format;
use crate::ui::{Ui, format_count, one_line};
use crate::{CommandError, CommandResult};

/// The size limit of the file.
const MAX_YAML_BYTES: u64 = 1 << 20;

/// Prints the meaning of each key of the file for rutter, and the lines to add to rutter's configuration.
pub(super) fn print_report(path: &Path, format: Format, ui: &mut Ui<'_>) -> CommandResult {
    if format == Format::Json {
        let report = report_json(path)?;
        return ui.print_json(&json!({ "files": [], "findings": [], "hooks_yaml": report }));
    }
    let keys = read_keys(path)?;
    writeln!(
        ui.out,
        "{}: neither Claude Code nor rutter uses this file. It has {}:",
        path.to_line(),
        format_count(keys.len() as u64, "key")
    )?;
    let width = keys.iter().map(|key| one_line(&key.path).chars().count()).max().unwrap_or(0);
    for key in &keys {
        let name = one_line(&key.path);
        let meaning = match &key.meaning {
            YamlMeaning::Key { key, set, is_default, note } => {
                let default = if *is_default { " (the default)" } else { "" };
                let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{key} = {}{default}{note}", one_line(set))
            }
            YamlMeaning::Nothing(why) => format!("has no effect: {why}"),
        };
        writeln!(ui.out, "  {name:<width$}  {meaning}")?;
    }
    let file = to_toml(&keys);
    if file.is_empty() {
        return Ok(writeln!(ui.out, "All its values are the defaults.")?);
    }
    writeln!(
        ui.out,
        "The same settings in rutter's own configuration (`rutter config path` \
                      prints its path):"
    )?;
    Ok(ui.out.write_all(file.as_bytes())?)
}

/// Returns the meaning of each key as JSON.
pub(super) fn report_json(path: &Path) -> CommandResult<Json> {
    Ok(json!({ "path": path, "keys": read_keys(path)? }))
}

/// Returns the keys that differ from the defaults, as TOML.
fn to_toml(keys: &[YamlKey]) -> String {
    let mut text = String::new();
    let mut last = "";
    for key in keys {
        if let YamlMeaning::Key { key, set, is_default: false, .. } = &key.meaning {
            let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
            if section != last {
                let _ = writeln!(text, "\n[{section}]");
                last = section;
            }
            let _ = writeln!(text, "{name} = {set}");
        }
    }
    text
}

fn read_keys(path: &Path) -> CommandResult<Vec<YamlKey>> {
    let refuse = |why: String| CommandError::Refused(format!("{}: {why}", path.to_line()));
    let metadata = path.metadata().map_err(|error| refuse(error.to_string()))?;
    // A pipe would be waited for.
    if !metadata.is_file() {
        return Err(refuse("it is not a file".to_owned()));
    }
    if metadata.len() > MAX_YAML_BYTES {
        return Err(refuse("it is longer than 1 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    read_hooks_yaml(&text).map_err(|error| refuse(error.to_string()))
}
