//! The part of `rutter config check` about a `.claude/hooks/config.yaml`.

use std::fmt::Write as _;
use std::path::Path;

use rutter_memory::config::{Meaning, YamlKey, read_hooks_yaml};
use serde_json::{Value as Json, json};

use crate::Failure;
use crate::cli::Format;
use crate::ui::{Ui, count, one_line};

/// The size limit of the file.
const MAX_BYTES: u64 = 1 << 20;

/// Prints the meaning of each key of the file for rutter, and the lines to add to rutter's configuration.
pub(super) fn tell(path: &Path, format: Format, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if format == Format::Json {
        let report = as_json(path)?;
        return ui.json(&json!({ "files": [], "findings": [], "hooks_yaml": report }));
    }
    let keys = read(path)?;
    writeln!(
        ui.out,
        "{}: Claude Code and rutter do not act on this file. It has {}:",
        path.display(),
        count(keys.len() as u64, "key")
    )?;
    let width = keys.iter().map(|key| one_line(&key.path).chars().count()).max().unwrap_or(0);
    for key in &keys {
        let name = one_line(&key.path);
        let meaning = match &key.meaning {
            Meaning::Key { key, set, is_default, note } => {
                let default = if *is_default { " (the default)" } else { "" };
                let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{key} = {}{default}{note}", one_line(set))
            }
            Meaning::Nothing(why) => format!("means nothing: {why}"),
        };
        writeln!(ui.out, "  {name:<width$}  {meaning}")?;
    }
    let file = toml(&keys);
    if file.is_empty() {
        return Ok(writeln!(ui.out, "Nothing in it differs from the defaults.")?);
    }
    writeln!(ui.out, "The same in rutter's own configuration (`rutter config path` says where):")?;
    Ok(ui.out.write_all(file.as_bytes())?)
}

/// Returns the meaning of each key as JSON.
pub(super) fn as_json(path: &Path) -> Result<Json, Failure> {
    Ok(json!({ "path": path, "keys": read(path)? }))
}

/// Returns the keys that differ from the defaults, as TOML.
fn toml(keys: &[YamlKey]) -> String {
    let mut text = String::new();
    let mut last = "";
    for key in keys {
        if let Meaning::Key { key, set, is_default: false, .. } = &key.meaning {
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

fn read(path: &Path) -> Result<Vec<YamlKey>, Failure> {
    let refuse = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
    let metadata = path.metadata().map_err(|error| refuse(error.to_string()))?;
    // A pipe would be waited for.
    if !metadata.is_file() {
        return Err(refuse("it is no file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(refuse("it is longer than 1 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    read_hooks_yaml(&text).map_err(|error| refuse(error.to_string()))
}
