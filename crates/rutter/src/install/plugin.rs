//! Rutter as a plugin of the client: its files, and the check that existing files are ours.
//!
//! A plugin is shared, so its hooks contain no path of this machine. The folder also contains a marketplace with this
//! plugin only: without one, a client can load the folder for a session, but not install it.

use std::path::{Path, PathBuf};

use rutter_memory::quote::PathLine as _;
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::server;
use super::table::{HookGroup, ProgramReference, hook_groups};
use super::{FileChange, FileContents, InstallRecord, InstallRecords};
use crate::{CommandError, CommandResult};

/// Name of the plugin, its marketplace and its folder.
const PLUGIN_NAME: &str = "rutter";
const DESCRIPTION: &str = "A learning memory: records predictions, results and lessons, and \
                           recalls them when they apply";

/// A file of the plugin.
pub(crate) struct PluginFile {
    /// Path relative to the plugin's folder.
    path: &'static str,
    text: String,
}

/// Returns the files in the order of creation. The first one creates the folder itself, so removal in reverse order
/// leaves no created folder behind.
fn plugin_files(start: &ProgramReference) -> [PluginFile; 6] {
    let version = env!("CARGO_PKG_VERSION");
    let author = json!({ "name": env!("CARGO_PKG_AUTHORS") });
    let manifest = json!({
        "name": PLUGIN_NAME,
        "version": version,
        "description": DESCRIPTION,
        "author": author,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["memory", "hooks", "learning"],
    });
    let marketplace = json!({
        "name": PLUGIN_NAME,
        "owner": author,
        "description": "The rutter plugin",
        "plugins": [{ "name": PLUGIN_NAME, "source": "./", "description": DESCRIPTION }],
    });
    let mut hooks = json!({ "description": DESCRIPTION, "hooks": {} });
    for HookGroup { event, value } in hook_groups(start) {
        let of_event = &mut hooks["hooks"][event.as_str()];
        match of_event.as_array_mut() {
            Some(groups) => groups.push(value),
            None => *of_event = json!([value]),
        }
    }
    let servers =
        json!({ "mcpServers": { server::SERVER_NAME: server::build_server_entry(start) } });
    [
        PluginFile { path: ".claude-plugin/plugin.json", text: to_pretty_json(&manifest) },
        PluginFile { path: ".claude-plugin/marketplace.json", text: to_pretty_json(&marketplace) },
        PluginFile { path: "hooks/hooks.json", text: to_pretty_json(&hooks) },
        PluginFile { path: ".mcp.json", text: to_pretty_json(&servers) },
        PluginFile { path: "README.md", text: include_str!("plugin/README.md").to_owned() },
        PluginFile {
            path: "skills/ghap/SKILL.md",
            text: include_str!("plugin/SKILL.md").to_owned(),
        },
    ]
}

fn to_pretty_json(value: &Value) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::new());
    // Serializing a Value into memory cannot fail.
    drop(value.serialize(&mut serializer));
    String::from_utf8(out).unwrap_or_default() + "\n"
}

/// The owner of an existing file at the path of a plugin file.
enum FileOwner {
    /// The file is missing, or unchanged since `init`: it may be replaced and removed.
    Ours,
    /// The file has other content.
    Theirs,
}

fn file_owner(contents: &FileContents, records: &InstallRecords, text: &str) -> FileOwner {
    let Some(bytes) = contents.bytes() else { return FileOwner::Ours };
    // A record may be missing: on another machine, or after a hundred other installations.
    if bytes == text.as_bytes() {
        return FileOwner::Ours;
    }
    let record = records.load(contents.target());
    let kept = record.zip(str::from_utf8(bytes).ok());
    match kept.and_then(|(record, text)| record.undo(text)) {
        Some(before) if before.is_empty() => FileOwner::Ours,
        _ => FileOwner::Theirs,
    }
}

/// Returns the changes that make a folder a plugin, each with its resulting text. Fails if a file with other content is
/// in the way.
pub(crate) fn plan_plugin_install(
    folder: &Path,
    start: &ProgramReference,
    records: &InstallRecords,
) -> CommandResult<Vec<(FileChange, String)>> {
    let mut changes = Vec::new();
    for PluginFile { path, text } in plugin_files(start) {
        let contents = FileContents::load(&folder.join(path))?;
        if let FileOwner::Theirs = file_owner(&contents, records, &text) {
            return Err(CommandError::Refused(format!(
                "{} was not written by rutter or was edited, so nothing was changed; move it \
                 away and try again, or choose another folder",
                contents.path().to_line()
            )));
        }
        let change = FileChange::new(contents, Some(text.clone().into_bytes()));
        if !change.is_unchanged() {
            changes.push((change, text));
        }
    }
    Ok(changes)
}

/// Returns the changes that remove the files, and the paths of files that stay because they were edited.
pub(crate) fn plan_plugin_removal(
    folder: &Path,
    start: &ProgramReference,
    records: &InstallRecords,
) -> CommandResult<(Vec<FileChange>, Vec<PathBuf>)> {
    let (mut changes, mut edited) = (Vec::new(), Vec::new());
    for PluginFile { path, text } in plugin_files(start).into_iter().rev() {
        let contents = FileContents::load(&folder.join(path))?;
        match file_owner(&contents, records, &text) {
            FileOwner::Ours if contents.bytes().is_none() => {}
            FileOwner::Ours => changes.push(FileChange::new(contents, None)),
            FileOwner::Theirs => edited.push(contents.path().to_owned()),
        }
    }
    Ok((changes, edited))
}

/// Returns the record of a file that belongs to rutter as a whole.
pub(crate) fn whole_file_record(
    change: &FileChange,
    text: &str,
    records: &InstallRecords,
) -> InstallRecord {
    let earlier = records.load(change.contents().target()).map(|record| record.made);
    InstallRecord::for_whole_file(
        text,
        earlier.unwrap_or_default().with_created_file(change.contents()),
    )
}
