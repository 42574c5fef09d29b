//! Skills, agents and commands: markdown files that may have hooks in their frontmatter.
//!
//! Measured on clients 2.1.325 and 2.1.197: skills and commands of the project, the user's folder and (skills only)
//! plugins run their hooks once they are invoked, agents outside plugins while they run. The newer client runs hooks of
//! the project's agents only in a trusted folder. Files that a plugin's manifest names elsewhere are left out.

use std::path::{Path, PathBuf};

use rutter_contract::version::Contract;

use super::layers::{LayerState, SettingsFault, SettingsLayer, SettingsSource};

/// Depth to which folders of agents and commands are searched. Links may lead in a circle.
const MAX_SEARCH_DEPTH: usize = 8;
/// Largest number of files in one such folder.
const MAX_MARKDOWN_FILES: usize = 10_000;

/// The folders of markdown files in a client or plugin folder, in the order in which they are read.
const MARKDOWN_FOLDERS: [(&str, SettingsSource); 3] = [
    ("skills", SettingsSource::Skill),
    ("agents", SettingsSource::Agent),
    ("commands", SettingsSource::Command),
];

/// Reads the markdown files of a folder that have hooks, or may be meant to: of `.claude` in a project, of the client's
/// configuration folder, or of a plugin. For a plugin, `plugin` is the same folder again.
pub(super) fn load_markdown_layers(
    folder: &Path,
    plugin: Option<&Path>,
    contract: Contract,
) -> Vec<SettingsLayer> {
    let mut layers = Vec::new();
    for (name, source) in MARKDOWN_FOLDERS {
        let paths = find_markdown_files(&folder.join(name), source);
        let load = |path: PathBuf| SettingsLayer::load(source, &path, plugin, contract);
        layers.extend(paths.into_iter().map(load).filter(has_hooks));
    }
    layers
}

/// Returns the source of a markdown file by the names of its folders, and the folder that contains `skills`, `agents`
/// or `commands`.
pub(super) fn markdown_source(path: &Path) -> Option<(SettingsSource, &Path)> {
    if path.file_name()? == "SKILL.md" {
        return Some((SettingsSource::Skill, path.ancestors().nth(3)?));
    }
    if path.extension()? != "md" {
        return None;
    }
    path.ancestors().skip(1).find_map(|folder| {
        let name = folder.file_name()?;
        let (_, source) = MARKDOWN_FOLDERS.into_iter().skip(1).find(|(known, _)| name == *known)?;
        Some((source, folder.parent()?))
    })
}

/// Returns true if a file defines hooks, or cannot be read and mentions them.
fn has_hooks(layer: &SettingsLayer) -> bool {
    let mentions = |fault: &SettingsFault| match fault {
        SettingsFault::Document(fault) => fault.text().is_none() || fault.mentions("hooks"),
        _ => true,
    };
    match layer.state {
        LayerState::Absent | LayerState::Blank => false,
        LayerState::Void | LayerState::Read => {
            let document = layer.document.as_deref();
            document.is_some_and(|document| document.root.get("hooks").is_some())
                || layer.faults.iter().any(mentions)
        }
    }
}

/// Returns the markdown files of a folder, sorted by path.
fn find_markdown_files(folder: &Path, source: SettingsSource) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if source == SettingsSource::Skill {
        let skills = list_folder(folder).into_iter().map(|skill| skill.join("SKILL.md"));
        found.extend(skills.filter(|path| path.exists()));
    } else {
        search_folder(folder, MAX_SEARCH_DEPTH, &mut found);
    }
    found
}

fn search_folder(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for path in list_folder(folder) {
        if found.len() >= MAX_MARKDOWN_FILES {
            return;
        }
        if path.is_dir() {
            if let Some(deeper) = depth.checked_sub(1) {
                search_folder(&path, deeper, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

fn list_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn finds_files_with_hooks() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = "---\nname: a\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\n---\n";
        for (path, text) in [
            ("skills/a/SKILL.md", hooks),
            ("skills/b/SKILL.md", "---\nname: b\n---\n"),
            ("skills/SKILL.md", hooks),
            ("skills/a/other.md", hooks),
            ("agents/deep/er/a.md", hooks),
            ("agents/broken.md", "---\nhooks:\n  - *\n---\n"),
            ("agents/other.md", "---\nname:\n  - *\n---\n"),
            ("commands/c.md", hooks),
            ("commands/c.txt", hooks),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        let layers = load_markdown_layers(folder.path(), None, Contract::newest());
        let seen: Vec<_> = layers
            .iter()
            .map(|layer| {
                let path = layer.path.strip_prefix(folder.path()).unwrap().to_str().unwrap();
                (layer.whose.as_str(), path, layer.state, layer.entries.len())
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("skill", "skills/a/SKILL.md", LayerState::Read, 1),
                ("agent", "agents/broken.md", LayerState::Void, 0),
                ("agent", "agents/deep/er/a.md", LayerState::Read, 1),
                ("command", "commands/c.md", LayerState::Read, 1),
            ]
        );
        assert_eq!(layers[0].entries[0].place.position, Some((6, 11)));
        // The client ignores hooks of agents and commands of a plugin.
        let layers = load_markdown_layers(folder.path(), Some(folder.path()), Contract::newest());
        let read: Vec<_> = layers
            .iter()
            .filter(|layer| layer.state == LayerState::Read)
            .map(|layer| layer.whose)
            .collect();
        assert_eq!(read, [SettingsSource::Skill]);
    }
}
