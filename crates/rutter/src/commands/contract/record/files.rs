//! Settings files with the recorder, and the list of them in the data directory.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rutter_check::settings::{RecorderEdit, add_recorder, remove_recorder};
use rutter_contract::EventName;
use rutter_memory::data_dir::{DataDir, FolderLock, read_own, replace_private};
use rutter_memory::quote::PathLine as _;
use serde_json::Value;

use crate::install::FileContents;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// A settings file that may have hooks.
pub(super) struct RecordedFile {
    contents: FileContents,
}

/// A planned change of a settings file.
pub(super) struct PlannedText {
    pub(super) text: String,
    /// Number of hooks that have the recorder, or had it.
    pub(super) entries: usize,
    pub(super) is_changed: bool,
    /// True if the text still has a hook with the recorder, in another form.
    pub(super) has_rest: bool,
}

impl RecordedFile {
    /// Loads a file. Returns None if it does not exist, or is not a text that the client can parse.
    pub(super) fn load(path: &Path, ui: &mut Ui<'_>) -> CommandResult<Option<Self>> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let contents = FileContents::load(path)?;
        let is_json = match contents.decode() {
            Ok(text) => text.body.trim().is_empty() || remove_recorder(text.body).is_some(),
            Err(_) => false,
        };
        if !is_json {
            let mentions = contents.bytes().is_some_and(|bytes| {
                String::from_utf8_lossy(bytes).contains("contract recorded-run")
            });
            let path = path.to_line();
            if mentions {
                return Err(CommandError::Refused(format!(
                    "{path} is recorded, but is not JSON any more; correct it and run `rutter contract record off` again"
                )));
            }
            ui.print_note(&format!("left alone: {path} is not JSON"))?;
            return Ok(None);
        }
        Ok(Some(Self { contents }))
    }

    /// Plans to add the recorder. An entry of another path of rutter gets this one. Returns None for a blank file.
    pub(super) fn add_recorder(
        &self,
        program: &str,
        identify: &dyn Fn(EventName, &Value) -> Option<String>,
    ) -> Option<PlannedText> {
        let before = self.contents.decode().ok()?;
        let plain = remove_recorder(before.body)?.text;
        let RecorderEdit { text, entries } = add_recorder(&plain, program, identify)?;
        let is_changed = text != before.body;
        Some(PlannedText { text, entries, is_changed, has_rest: false })
    }

    /// Plans to remove the recorder. Returns None for a blank file.
    pub(super) fn remove_recorder(&self) -> Option<PlannedText> {
        let before = self.contents.decode().ok()?;
        let RecorderEdit { text, entries } = remove_recorder(before.body)?;
        let has_rest = text.contains("contract recorded-run ");
        Some(PlannedText { is_changed: text != before.body, text, entries, has_rest })
    }

    /// Writes a text, if no other program has changed the file since it was read.
    pub(super) fn write(&self, text: &str) -> CommandResult {
        let before = self.contents.decode().map_err(|error| {
            CommandError::Refused(format!("{}{error}", self.contents.path().to_line()))
        })?;
        self.contents.replace(Some(&before.encode(text)))
    }
}

/// The list of settings files to which the recorder was added.
pub(crate) struct RecordedFiles {
    data: PathBuf,
}

impl RecordedFiles {
    pub(crate) fn in_data_dir(data: &Path) -> Self {
        Self { data: data.to_owned() }
    }

    fn list_path(&self) -> PathBuf {
        DataDir::new(&self.data).recordings().join("settings-files")
    }

    /// Returns the paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let bytes = read_own(&self.list_path()).unwrap_or_default();
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| PathBuf::from(std::ffi::OsString::from_vec(part.to_vec()))).collect()
    }

    pub(super) fn note(&mut self, path: &Path) -> CommandResult {
        self.change(|paths| {
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        })
    }

    pub(super) fn forget(&mut self, path: &Path) -> CommandResult {
        if self.paths().iter().any(|known| known == path) {
            self.change(|paths| paths.retain(|known| known != path))?;
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<PathBuf>)) -> CommandResult {
        let list = self.list_path();
        if let Some(folder) = list.parent() {
            rutter_memory::data_dir::make_subfolder(folder)?;
            let _lock = FolderLock::take_within(folder, std::time::Duration::from_secs(2))?;
            let mut paths = self.paths();
            change(&mut paths);
            let bytes: Vec<u8> = paths
                .iter()
                .flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0]))
                .collect();
            replace_private(&list, &bytes)?;
        }
        Ok(())
    }
}
