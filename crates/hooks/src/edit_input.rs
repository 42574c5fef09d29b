//! The input of the tools that edit a text file.

use std::borrow::Cow;

use rutter_contract::input::RawPayload;
use serde::Deserialize;

/// The input of `Edit`, `MultiEdit` or `Write`.
#[derive(Debug, Deserialize)]
pub(crate) struct EditInput<'a> {
    #[serde(borrow, rename = "file_path")]
    pub(crate) file: Cow<'a, str>,
    #[serde(borrow, flatten)]
    edit: Option<TextEdit<'a>>,
    #[serde(borrow, default)]
    edits: Vec<TextEdit<'a>>,
    /// The whole new text.
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
}

/// The replacement of a text by another one.
#[derive(Debug, Deserialize)]
struct TextEdit<'a> {
    #[serde(borrow, rename = "old_string")]
    old: Cow<'a, str>,
    #[serde(borrow, rename = "new_string")]
    new: Cow<'a, str>,
    #[serde(default)]
    replace_all: bool,
}

/// Returns true if a tool has this input.
pub(crate) fn edits_text(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "Write")
}

/// Returns the file of an edit, without reading the texts.
pub(crate) fn edited_file<'a>(wire: &RawPayload<'a>) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct EditedFile<'a> {
        #[serde(borrow, rename = "file_path")]
        file: Cow<'a, str>,
    }
    let input: EditedFile<'_> = serde_json::from_str(wire.raw("tool_input")?).ok()?;
    Some(input.file)
}

impl<'a> EditInput<'a> {
    /// Parses the input of a call. Returns None if it is none of an edit.
    pub(crate) fn parse(wire: &RawPayload<'a>) -> Option<Self> {
        serde_json::from_str(wire.raw("tool_input")?).ok()
    }

    fn edits(&self) -> impl Iterator<Item = &TextEdit<'a>> {
        self.edit.iter().chain(&self.edits)
    }

    /// Applies the edit to the text of the file. Returns None if the client would refuse it.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        if let Some(content) = &self.content {
            return Some(content.to_string());
        }
        let mut text = text.to_owned();
        for TextEdit { old, new, replace_all } in self.edits() {
            if old.is_empty() || !text.contains(&**old) {
                return None;
            }
            text = if *replace_all {
                text.replace(&**old, new)
            } else {
                text.replacen(&**old, new, 1)
            };
        }
        Some(text)
    }
}
