//! Recorded calls of hooks: the payload, the answer, and the end of each.
//!
//! A recording is a folder of a project with two files of lines, [`CALLS_FILE`] and the older [`OLDER_CALLS_FILE`]. One line is
//! one call as JSON. All texts are redacted before they are written. Lines are appended by one write each, so hooks that run at
//! the same time do not mix their lines. This module neither runs hooks nor judges their answers.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use rutter_redact::checksum::fnv1a;
use rutter_redact::redact;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Time;
use crate::data_dir::{
    DataDir, FolderLock, make_subfolder, open_for_append, read_options, remove_if_exists, write_new,
};

/// Name of the file to which calls are appended.
pub const CALLS_FILE: &str = "calls.jsonl";
/// Name of the file with the calls before those of [`CALLS_FILE`].
pub const OLDER_CALLS_FILE: &str = "calls.1.jsonl";
/// Name of the file with the path of the project.
const FOLDER_FILE: &str = "folder";
/// Size in bytes above which the file of calls becomes the older one. A project has at most twice as much.
pub const MAX_CALLS_FILE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest text of a payload or an output in bytes.
pub const MAX_RECORDED_BYTES: usize = 256 * 1024;
/// Bytes that are read in addition, so that a secret at the cut is whole when it is redacted.
const REDACTION_MARGIN_BYTES: usize = 64 * 1024;
/// Number of bytes of each output that [`RecordedCall::new`] needs at most.
pub const MAX_OUTPUT_BYTES: usize = MAX_RECORDED_BYTES + REDACTION_MARGIN_BYTES;
/// Longest payload in bytes whose long texts are shortened. A longer one is not recorded.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Length in bytes to which the texts of a payload that is too long are cut.
const SHORTENED_TEXT_BYTES: usize = 8 * 1024;
/// Longest command in bytes.
const MAX_COMMAND_BYTES: usize = 4 * 1024;
/// Start of every line.
const LINE_START: &[u8] = b"{\"time\":";
/// Replacement of a value that a rule for named secrets would leave without valid JSON.
const NAMED_SECRET: &str = "[redacted:secret]";

/// A part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallPart {
    /// The payload.
    Payload,
    /// The output.
    Stdout,
    /// The error output.
    Stderr,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnding {
    /// The hook exited with this code.
    Exit(i32),
    /// This signal ended the hook.
    Signal(i32),
}

/// A call as the recorder saw it, with all secrets.
#[derive(Debug, Clone, Copy)]
pub struct ObservedCall<'a> {
    /// The time of the start.
    pub time: Time,
    /// The event, if the payload names none.
    pub event: &'a str,
    /// The id of the hook.
    pub hook: &'a str,
    /// The command of the hook.
    pub command: &'a str,
    /// The version of the client.
    pub client: Option<&'a str>,
    /// The payload.
    pub payload: &'a [u8],
    /// The output, or its first [`MAX_OUTPUT_BYTES`].
    pub stdout: &'a [u8],
    /// The error output, or its first [`MAX_OUTPUT_BYTES`].
    pub stderr: &'a [u8],
    /// The end.
    pub ending: CallEnding,
    /// The duration in microseconds.
    pub micros: u64,
}

/// A recorded call of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// The time of the start.
    pub time: Time,
    /// The event.
    pub event: String,
    /// The id of the hook, a checksum of its event and its command.
    pub hook: String,
    /// The command of the hook.
    pub command: String,
    /// The version of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The payload, as the text of one JSON value. Empty if it was too long.
    pub payload: String,
    /// The output.
    pub stdout: String,
    /// The error output.
    pub stderr: String,
    /// The end.
    pub ending: CallEnding,
    /// The duration in microseconds.
    pub micros: u64,
    /// The parts from which secrets were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<CallPart>,
    /// The parts that are not whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CallPart>,
}

impl RecordedCall {
    /// Creates the record of a call: removes secrets, and shortens what is too long.
    pub fn new(call: &ObservedCall<'_>) -> Self {
        let (mut redacted, mut cut) = (Vec::new(), Vec::new());
        let mut keep = |part, text: KeptText| {
            if text.is_redacted {
                redacted.push(part);
            }
            if text.is_cut {
                cut.push(part);
            }
            text.text
        };
        let payload = keep(CallPart::Payload, keep_payload(call.payload));
        let stdout = keep(CallPart::Stdout, keep_output(call.stdout));
        let stderr = keep(CallPart::Stderr, keep_output(call.stderr));
        let command = redact(cut_text(call.command, MAX_COMMAND_BYTES)).into_owned();
        Self {
            time: call.time,
            event: call.event.to_owned(),
            hook: call.hook.to_owned(),
            command,
            client: call.client.map(str::to_owned),
            payload,
            stdout,
            stderr,
            ending: call.ending,
            micros: call.micros,
            redacted,
            cut,
        }
    }

    /// Returns the payload as a value. None if it is not whole JSON.
    pub fn payload_value(&self) -> Option<Value> {
        serde_json::from_str(&self.payload).ok()
    }
}

/// A text that may be stored.
struct KeptText {
    text: String,
    is_redacted: bool,
    is_cut: bool,
}

/// Removes secrets from an output as a record does. Outputs of a hook that runs again are compared in this form.
pub fn redact_output(bytes: &[u8]) -> String {
    keep_output(bytes).text
}

fn keep_output(bytes: &[u8]) -> KeptText {
    let is_long = bytes.len() > MAX_RECORDED_BYTES;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_OUTPUT_BYTES)]);
    let (clean, is_redacted) = redact_text(&text);
    let text = if is_long { cut_text(&clean, MAX_RECORDED_BYTES).to_owned() } else { clean };
    KeptText { text, is_redacted, is_cut: is_long }
}

/// Removes the secrets of a text, by the names and values of an object if it is JSON.
fn redact_text(text: &str) -> (String, bool) {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(text)
    {
        let is_redacted = redact_value(&mut value);
        let text = if is_redacted { value.to_string() } else { text.to_owned() };
        return (text, is_redacted);
    }
    // A sequence for a terminal could hide a secret from the rules.
    let clean = if text.contains('\u{1b}') {
        crate::Clean::new(text).as_str().to_owned()
    } else {
        redact(text).into_owned()
    };
    let is_redacted = clean != text;
    (clean, is_redacted)
}

fn keep_payload(bytes: &[u8]) -> KeptText {
    let dropped = KeptText { text: String::new(), is_redacted: false, is_cut: true };
    if bytes.len() > MAX_PAYLOAD_BYTES {
        return dropped;
    }
    let text = String::from_utf8_lossy(bytes);
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return keep_output(bytes) };
    let is_redacted = redact_value(&mut value);
    let is_long = text.len() > MAX_RECORDED_BYTES;
    if is_long {
        shorten_texts(&mut value);
    }
    let kept = if is_redacted || is_long { value.to_string() } else { text.trim_end().to_owned() };
    if kept.len() > MAX_RECORDED_BYTES {
        return dropped;
    }
    KeptText { text: kept, is_redacted, is_cut: is_long }
}

/// Removes the secrets of all texts in a value. Returns true if there was one.
fn redact_value(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let (clean, is_redacted) = redact_text_once(text);
            if is_redacted {
                *text = clean;
            }
            is_redacted
        }
        Value::Array(items) => {
            let mut is_redacted = false;
            for item in items {
                is_redacted |= redact_value(item);
            }
            is_redacted
        }
        Value::Object(members) => {
            let mut is_redacted = false;
            for (key, value) in members.iter_mut() {
                is_redacted |= redact_value(value);
                is_redacted |= redact_member(key, value);
            }
            if members.keys().any(|key| redact(key) != *key) {
                let all = std::mem::take(members);
                members
                    .extend(all.into_iter().map(|(key, value)| (redact(&key).into_owned(), value)));
                is_redacted = true;
            }
            is_redacted
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn redact_text_once(text: &str) -> (String, bool) {
    let clean = if text.contains('\u{1b}') {
        crate::Clean::new(text).as_str().to_owned()
    } else {
        match redact(text) {
            std::borrow::Cow::Borrowed(clean) if clean.len() == text.len() => {
                return (String::new(), false);
            }
            clean => clean.into_owned(),
        }
    };
    let is_redacted = clean != text;
    (clean, is_redacted)
}

/// Removes a value that is a secret by its name. Returns true if it was one.
fn redact_member(key: &str, value: &mut Value) -> bool {
    let is_short = match &*value {
        Value::String(text) => text.len() < SHORTENED_TEXT_BYTES,
        Value::Number(_) => true,
        _ => false,
    };
    if !is_short {
        return false;
    }
    let Ok(name) = serde_json::to_string(key) else { return false };
    let text = if value.is_string() { value.to_string() } else { format!("\"{value}\"") };
    let pair = format!("{{{name}: {text}}}");
    let clean = redact(&pair);
    if clean == pair {
        return false;
    }
    let found = serde_json::from_str::<Value>(&clean).ok();
    let found = found.and_then(|object| object.get(key).cloned()).filter(Value::is_string);
    *value = found.unwrap_or_else(|| NAMED_SECRET.into());
    true
}

/// Cuts the long texts of a value.
fn shorten_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > SHORTENED_TEXT_BYTES => {
            *text = format!("{}…", cut_text(text, SHORTENED_TEXT_BYTES));
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_texts),
        Value::Object(members) => members.values_mut().for_each(shorten_texts),
        _ => {}
    }
}

/// Returns the start of a text, at most this many bytes.
fn cut_text(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Returns the id of a hook: a checksum of its event and its command with arguments.
pub fn hook_id(event: &str, handler: &Value) -> String {
    let args = handler.get("args").map(Value::to_string).unwrap_or_default();
    let command = handler["command"].as_str().unwrap_or_default();
    format!("{:016x}", fnv1a([event, command, &args].join("\n").as_bytes()))
}

/// The recording of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRecording {
    folder: PathBuf,
}

impl HookRecording {
    /// Refers to the recording of the project in a folder, in which the client is started. Touches nothing.
    pub fn of_project(files: &DataDir, project: &Path) -> Self {
        let name = format!("{:016x}", fnv1a(project.as_os_str().as_encoded_bytes()));
        Self { folder: files.recordings().join(name) }
    }

    /// Returns all recordings with the paths of their projects.
    pub fn list(files: &DataDir) -> Vec<(Self, Option<PathBuf>)> {
        let entries = fs::read_dir(files.recordings()).into_iter().flatten().flatten();
        let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        let mut found: Vec<_> = folders
            .map(|folder| {
                let path = fs::read_to_string(folder.join(FOLDER_FILE)).ok().map(PathBuf::from);
                (Self { folder }, path)
            })
            .collect();
        found.sort_by(|(_, first), (_, second)| first.cmp(second));
        found
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a call. `project` is the folder of the project.
    pub fn append(&self, call: &RecordedCall, project: &Path) -> io::Result<()> {
        let path = self.folder.join(CALLS_FILE);
        let mut file = match open_for_append(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folder(project)?;
                open_for_append(&path)?
            }
            file => file?,
        };
        if file.metadata()?.len() >= MAX_CALLS_FILE_BYTES {
            self.start_new_file()?;
            file = open_for_append(&path)?;
        }
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        let written = file.write(&line)?;
        if written < line.len() {
            // The disk is full. The next line must not continue this one.
            drop(file.write(b"\n"));
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn create_folder(&self, project: &Path) -> io::Result<()> {
        if let Some(parent) = self.folder.parent() {
            make_subfolder(parent)?;
        }
        make_subfolder(&self.folder)?;
        let path = self.folder.join(FOLDER_FILE);
        // Another hook may have been faster.
        drop(write_new(&path, redact(&project.to_string_lossy()).as_bytes()));
        Ok(())
    }

    /// Makes the file of calls the older one, unless another process was faster.
    fn start_new_file(&self) -> io::Result<()> {
        let Some(_lock) = FolderLock::try_take(&self.folder)? else { return Ok(()) };
        let path = self.folder.join(CALLS_FILE);
        if fs::metadata(&path)?.len() < MAX_CALLS_FILE_BYTES {
            return Ok(());
        }
        fs::rename(&path, self.folder.join(OLDER_CALLS_FILE))
    }

    /// Returns the size of the files in bytes.
    pub fn size(&self) -> u64 {
        let size = |name: &str| fs::metadata(self.folder.join(name)).map_or(0, |file| file.len());
        size(CALLS_FILE) + size(OLDER_CALLS_FILE)
    }

    /// Iterates over the calls, oldest first. Lines that a full disk has damaged are left out.
    pub fn calls(&self) -> io::Result<impl Iterator<Item = RecordedCall> + use<>> {
        let mut files = Vec::new();
        for name in [OLDER_CALLS_FILE, CALLS_FILE] {
            match read_options().open(self.folder.join(name)) {
                Ok(file) => files.push(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files.into_iter().flat_map(read_calls))
    }

    /// Deletes all calls.
    pub fn clear(&self) -> io::Result<()> {
        for name in [CALLS_FILE, OLDER_CALLS_FILE, FOLDER_FILE] {
            remove_if_exists(&self.folder.join(name))?;
        }
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

fn read_calls(file: File) -> impl Iterator<Item = RecordedCall> {
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| parse_line(&line))
}

/// Parses a line. A line may stand behind the start of another one, which was not written to its end.
fn parse_line(line: &[u8]) -> Option<RecordedCall> {
    serde_json::from_slice(line).ok().or_else(|| {
        let at = line.windows(LINE_START.len()).rposition(|part| part == LINE_START)?;
        serde_json::from_slice(&line[at..]).ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn observed<'a>(payload: &'a [u8], stdout: &'a [u8]) -> ObservedCall<'a> {
        ObservedCall {
            time: Time::from_millis(1_000),
            event: "PreToolUse",
            hook: "00ff",
            command: "./guard.sh",
            client: Some("2.1.325"),
            payload,
            stdout,
            stderr: b"",
            ending: CallEnding::Exit(2),
            micros: 1_500,
        }
    }

    fn recording(folder: &Path) -> HookRecording {
        HookRecording::of_project(&DataDir::new(folder), Path::new("/home/ada/shop"))
    }

    #[test]
    fn calls_are_kept_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let recording = recording(folder.path());
        let payload = b"{\"b\":1,  \"a\":\"x\\u00e9\"}\n";
        let call = RecordedCall::new(&observed(payload, b"no \x07 push\n"));
        recording.append(&call, Path::new("/home/ada/shop")).unwrap();
        let calls: Vec<_> = recording.calls().unwrap().collect();
        assert_eq!(calls, std::slice::from_ref(&call));
        assert_eq!(calls[0].payload, "{\"b\":1,  \"a\":\"x\\u00e9\"}");
        assert_eq!(
            (calls[0].stdout.as_str(), calls[0].ending),
            ("no \x07 push\n", CallEnding::Exit(2))
        );
        assert_eq!((call.redacted, call.cut), (vec![], vec![]));
        let listed = HookRecording::list(&DataDir::new(folder.path()));
        assert_eq!(listed, [(recording.clone(), Some(PathBuf::from("/home/ada/shop")))]);
        recording.clear().unwrap();
        assert!(!recording.folder().exists());
        recording.clear().unwrap();
    }

    #[test]
    fn secrets_are_removed_by_name_and_form() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let payload = json!({
            "tool_input": { "command": format!("echo\n{token}"), "api_key": "k3Xw9QzLmP2v", "pin": 5 },
            "list": [{ "password": "hunter2hunter3" }],
            "text": "a harmless text",
        });
        let answer = json!({ "reason": format!("found {token}") });
        let call = RecordedCall::new(&observed(
            payload.to_string().as_bytes(),
            answer.to_string().as_bytes(),
        ));
        let line = serde_json::to_string(&call).unwrap();
        for secret in [token.as_str(), "k3Xw9QzLmP2v", "hunter2hunter3"] {
            assert!(!line.contains(secret), "{line}");
        }
        let value = call.payload_value().unwrap();
        assert_eq!(value["text"], "a harmless text");
        assert!(
            value["tool_input"]["api_key"].as_str().unwrap().starts_with("[redacted:"),
            "{value}"
        );
        assert!(
            value["list"][0]["password"].as_str().unwrap().starts_with("[redacted:"),
            "{value}"
        );
        assert_eq!(call.redacted, [CallPart::Payload, CallPart::Stdout]);
        let plain = RecordedCall::new(&observed(b"{}", format!("key {token}").as_bytes()));
        assert!(!plain.stdout.contains(&token));
    }

    #[test]
    fn long_parts_are_cut_and_marked() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        // The cut goes through the token.
        let stdout = format!("{} {token}", "x ".repeat((MAX_RECORDED_BYTES - 10) / 2));
        let payload = json!({ "a": "y".repeat(MAX_RECORDED_BYTES), "b": 7 }).to_string();
        let call = RecordedCall::new(&observed(payload.as_bytes(), stdout.as_bytes()));
        assert!(!call.stdout.contains(&token[..8]));
        assert!(call.stdout.len() <= MAX_RECORDED_BYTES);
        let value = call.payload_value().unwrap();
        assert_eq!(value["b"], 7);
        assert!(value["a"].as_str().unwrap().len() < 10_000);
        assert_eq!(call.cut, [CallPart::Payload, CallPart::Stdout]);
        let huge = json!(vec![1; MAX_RECORDED_BYTES]).to_string();
        let call = RecordedCall::new(&observed(huge.as_bytes(), b""));
        assert_eq!((call.payload.as_str(), &call.cut[..]), ("", &[CallPart::Payload][..]));
    }

    #[test]
    fn old_files_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let recording = recording(folder.path());
        let mut call = RecordedCall::new(&observed(b"{}", b""));
        recording.append(&call, Path::new("/p")).unwrap();
        for round in 1..=2 {
            let path = recording.folder().join(CALLS_FILE);
            File::options().append(true).open(path).unwrap().set_len(MAX_CALLS_FILE_BYTES).unwrap();
            call.time = Time::from_millis(round);
            recording.append(&call, Path::new("/p")).unwrap();
        }
        let times: Vec<i64> = recording.calls().unwrap().map(|call| call.time.millis()).collect();
        assert_eq!(times, [1, 2], "the file with the first call was dropped");
    }

    #[test]
    fn half_lines_cost_one_call() {
        let call = RecordedCall::new(&observed(b"{\"time\":1}", b"{\"time\":2}"));
        let line = serde_json::to_string(&call).unwrap();
        let joined = format!("{}{line}", &line[..line.len() / 2]);
        assert_eq!(parse_line(joined.as_bytes()), Some(call));
        assert_eq!(parse_line(&line.as_bytes()[..40]), None);
    }
}
