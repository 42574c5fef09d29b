//! Rutter as a plugin of the client: its files, and the check that existing files are ours.
//!
//! A plugin is shared, so its hooks contain no path of this machine. The folder also contains a marketplace with this
//! plugin only: without one, a client can load the folder for a session, but not install it.

use std::path::{Path, PathBuf};

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::server;
use super::table::{Group, Start, groups};
use super::{Change, Contents, Record, Records};
use crate::Failure;

/// Name of the plugin, its marketplace and its folder.
const NAME: &str = "rutter";
const DESCRIPTION: &str = "A learning memory: what was predicted, what really happened, and the lesson when it matters again";

/// A file of the plugin.
pub(crate) struct File {
    /// Path relative to the plugin's folder.
    path: &'static str,
    text: String,
}

/// Returns the files in the order of creation. The first one creates the folder itself, so removal in reverse order
/// leaves no created folder behind.
fn files(start: &Start) -> [File; 6] {
    let version = env!("CARGO_PKG_VERSION");
    let author = json!({ "name": env!("CARGO_PKG_AUTHORS") });
    let manifest = json!({
        "name": NAME,
        "version": version,
        "description": DESCRIPTION,
        "author": author,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["memory", "hooks", "learning"],
    });
    let marketplace = json!({
        "name": NAME,
        "owner": author,
        "description": "Rutter, and nothing else",
        "plugins": [{ "name": NAME, "source": "./", "description": DESCRIPTION }],
    });
    let mut hooks = json!({ "description": DESCRIPTION, "hooks": {} });
    for Group { event, value } in groups(start) {
        let of_event = &mut hooks["hooks"][event.as_str()];
        match of_event.as_array_mut() {
            Some(groups) => groups.push(value),
            None => *of_event = json!([value]),
        }
    }
    let servers = json!({ "mcpServers": { server::NAME: server::entry(start) } });
    [
        File { path: ".claude-plugin/plugin.json", text: pretty(&manifest) },
        File { path: ".claude-plugin/marketplace.json", text: pretty(&marketplace) },
        File { path: "hooks/hooks.json", text: pretty(&hooks) },
        File { path: ".mcp.json", text: pretty(&servers) },
        File { path: "README.md", text: include_str!("plugin/README.md").to_owned() },
        File { path: "skills/ghap/SKILL.md", text: include_str!("plugin/SKILL.md").to_owned() },
    ]
}

fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::new());
    // Serializing a Value into memory cannot fail.
    drop(value.serialize(&mut serializer));
    String::from_utf8(out).unwrap_or_default() + "\n"
}

/// The owner of an existing file at the path of a plugin file.
enum There {
    /// The file is missing, or unchanged since `init`: it may be replaced and removed.
    Ours,
    /// The file has other content.
    Theirs,
}

fn there(contents: &Contents, records: &Records, text: &str) -> There {
    let Some(bytes) = contents.bytes() else { return There::Ours };
    // A record may be missing: on another machine, or after a hundred other installations.
    if bytes == text.as_bytes() {
        return There::Ours;
    }
    let record = records.get(contents.target());
    let kept = record.zip(str::from_utf8(bytes).ok());
    match kept.and_then(|(record, text)| record.undo(text)) {
        Some(before) if before.is_empty() => There::Ours,
        _ => There::Theirs,
    }
}

/// Returns the changes that make a folder a plugin, each with its resulting text. Fails if a file with other content is
/// in the way.
pub(crate) fn install(
    folder: &Path,
    start: &Start,
    records: &Records,
) -> Result<Vec<(Change, String)>, Failure> {
    let mut changes = Vec::new();
    for File { path, text } in files(start) {
        let contents = Contents::read(&folder.join(path))?;
        if let There::Theirs = there(&contents, records, &text) {
            return Err(Failure::Refused(format!(
                "{} is not what rutter left there, so it is left alone, and nothing was changed; move it away and try \
                 again, or name another folder",
                contents.path().display()
            )));
        }
        let change = Change::new(contents, Some(text.clone().into_bytes()));
        if !change.is_none() {
            changes.push((change, text));
        }
    }
    Ok(changes)
}

/// Returns the changes that remove the files, and the paths of files that stay because they were edited.
pub(crate) fn uninstall(
    folder: &Path,
    start: &Start,
    records: &Records,
) -> Result<(Vec<Change>, Vec<PathBuf>), Failure> {
    let (mut changes, mut edited) = (Vec::new(), Vec::new());
    for File { path, text } in files(start).into_iter().rev() {
        let contents = Contents::read(&folder.join(path))?;
        match there(&contents, records, &text) {
            There::Ours if contents.bytes().is_none() => {}
            There::Ours => changes.push(Change::new(contents, None)),
            There::Theirs => edited.push(contents.path().to_owned()),
        }
    }
    Ok((changes, edited))
}

/// Returns the record of a file that belongs to rutter as a whole.
pub(crate) fn record(change: &Change, text: &str, records: &Records) -> Record {
    let earlier = records.get(change.contents().target()).map(|record| record.made);
    Record::whole(text, earlier.unwrap_or_default().and(change.contents()))
}
