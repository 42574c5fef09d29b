//! Payloads in the client's form.

use serde_json::{Value, json};

use super::{BASE_PLACEHOLDER, ChangeMethod, SimulatedSession};
use crate::diff;
use crate::history::{GitAction, HistoryStep};
use crate::runs::CheckoutState;

/// Minimum milliseconds between two steps, and maximum of the random part.
const PAUSE_MILLIS: (i64, usize) = (3_000, 55_000);

impl SimulatedSession {
    /// Adds a payload with the common fields and the current files.
    pub(super) fn emit(&mut self, fields: Value, note: &str, git: Vec<GitAction>) {
        let extra = i64::try_from(self.dice.below(PAUSE_MILLIS.1)).unwrap_or_default();
        self.clock += PAUSE_MILLIS.0 + extra;
        let writes = self.writes();
        let session = format!(
            "{:08x}-{:04x}-4000-8000-{:012x}",
            self.seed & 0xffff_ffff,
            self.session,
            self.seed
        );
        let root = self.root();
        let cwd = if self.shell_folder.is_empty() {
            root.clone()
        } else {
            format!("{root}/{}", self.shell_folder)
        };
        let mut payload = json!({
            "session_id": session,
            "transcript_path": format!("{BASE_PLACEHOLDER}/transcripts/{session}.jsonl"),
            "cwd": cwd,
        });
        let Value::Object(own) = &mut payload else { return };
        let event = fields["hook_event_name"].as_str().unwrap_or_default().to_owned();
        if event != "SessionStart" {
            own.insert(
                "prompt_id".to_owned(),
                json!(format!("{:08x}-0000-4000-8000-000000000000", self.session)),
            );
        }
        if event == "UserPromptSubmit" || event.contains("ToolUse") {
            own.insert("permission_mode".to_owned(), json!("default"));
        }
        if event.contains("ToolUse") {
            own.insert("effort".to_owned(), json!({ "level": "medium" }));
        }
        if let Some(agent) = &self.agent {
            own.insert("agent_id".to_owned(), json!(agent));
            own.insert("agent_type".to_owned(), json!("general-purpose"));
        }
        if let Value::Object(fields) = fields {
            own.extend(fields);
        }
        self.steps.push(HistoryStep {
            at: self.clock,
            checkout: self.here,
            payload,
            writes,
            git,
            note: note.to_owned(),
        });
    }

    /// Returns the files that changed since the last payload, by path from the base.
    fn writes(&mut self) -> Vec<(String, Option<String>)> {
        let mut now = std::collections::BTreeMap::new();
        for checkout in &self.checkouts {
            for (path, file) in &checkout.state.tree.files {
                now.insert(format!("{}/{path}", checkout.folder), file.text());
            }
        }
        let mut writes: Vec<(String, Option<String>)> = now
            .iter()
            .filter(|(path, text)| self.disk.get(*path) != Some(*text))
            .map(|(path, text)| (path.clone(), Some(text.clone())))
            .collect();
        let gone = self.disk.keys().filter(|path| !now.contains_key(*path));
        writes.extend(gone.map(|path| (path.clone(), None)));
        self.disk = now;
        writes
    }

    /// Sends the two payloads of an edit of one file.
    pub(super) fn edit_file(
        &mut self,
        hand: &ChangeMethod,
        file: &str,
        before: &CheckoutState,
        after: &CheckoutState,
        kind: &str,
    ) {
        let path = format!("{}/{file}", self.root());
        let old = before.tree.text(file);
        let new = after.tree.text(file).unwrap_or_default();
        let original = old.clone().unwrap_or_default();
        let patch = diff::structured_patch(&original, &new);
        let is_write = *hand == ChangeMethod::Write || old.is_none();
        let (tool, input, response) = if is_write {
            let kind = if old.is_some() { "update" } else { "create" };
            let patch = if old.is_some() { patch } else { json!([]) };
            (
                "Write",
                json!({ "file_path": path, "content": new }),
                json!({
                    "type": kind, "filePath": path, "content": new, "structuredPatch": patch,
                    "originalFile": old, "userModified": false,
                }),
            )
        } else {
            let (from, to) = replaced_text(&original, &new);
            (
                "Edit",
                json!({
                    "file_path": path, "old_string": from, "new_string": to, "replace_all": false,
                }),
                json!({
                    "filePath": path, "oldString": from, "newString": to,
                    "originalFile": original, "structuredPatch": patch,
                    "userModified": false, "replaceAll": false,
                }),
            )
        };
        let call = json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        });
        self.emit_call(call, "", Vec::new());
        let here = self.here;
        match after.tree.files.get(file) {
            Some(text) => {
                self.checkouts[here].state.tree.files.insert(file.to_owned(), text.clone());
            }
            None => {
                self.checkouts[here].state.tree.files.remove(file);
            }
        }
        let done = json!({
            "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
            "tool_response": response, "duration_ms": 4 + self.dice.below(9),
        });
        self.emit_call_again(done, &format!("{tool} {file}   [{kind}]"), Vec::new());
    }
}

/// Returns the text that an edit replaces and its replacement: whole lines that occur only once in the file.
fn replaced_text(old: &str, new: &str) -> (String, String) {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
        (old.split('\n').collect(), new.split('\n').collect());
    let most = old_lines.len().min(new_lines.len());
    let mut start = (0..most).take_while(|at| old_lines[*at] == new_lines[*at]).count();
    let mut end = (0..most - start)
        .take_while(|at| old_lines[old_lines.len() - 1 - at] == new_lines[new_lines.len() - 1 - at])
        .count();
    loop {
        let (old_end, new_end) = (old_lines.len() - end, new_lines.len() - end);
        let from = old_lines[start..old_end].join("\n");
        // A mere removal of lines would leave a line end behind.
        let is_unique = !from.trim().is_empty()
            && old.matches(&from).count() == 1
            && (new_end > start || old_end == start);
        if is_unique || (start == 0 && end == 0) {
            return (from, new_lines[start..new_end].join("\n"));
        }
        // The tool refuses a text that occurs twice, so include one more line on either side.
        start = start.saturating_sub(1);
        end = end.saturating_sub(1);
    }
}
