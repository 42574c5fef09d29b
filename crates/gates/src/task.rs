//! A task of the task index: its state, what it depends on, and what it must leave behind.

use std::fmt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskStatus {
    /// Not started.
    Pending,
    /// Started and not finished.
    InProgress,
    /// Finished.
    Done,
    /// Given up after an attempt.
    Failed,
    /// Cannot be started for a reason that the index does not know.
    Blocked,
    /// A state that is not known here. Such a task is neither started nor finished.
    Other,
}

impl TaskStatus {
    /// The states that a task can be given.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Done, Self::Failed, Self::Blocked];

    /// Parses a state. `in_progress`, `In Progress` and `completed` are read too.
    pub fn parse(text: &str) -> Self {
        let plain = text.trim().to_lowercase().replace(['_', ' '], "-");
        match plain.as_str() {
            "pending" => Self::Pending,
            "in-progress" => Self::InProgress,
            "done" | "completed" => Self::Done,
            "failed" => Self::Failed,
            "blocked" => Self::Blocked,
            _ => Self::Other,
        }
    }

    /// Returns the text in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A file, a folder or a set of files that a task must leave behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deliverable {
    /// Path or pattern (`src/**/*.rs`), relative to the checkout.
    pub path: String,
    /// True if a file from before the start of the task does not count.
    pub newer_than_start: bool,
}

/// A task of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// The id, such as `1.2.3`.
    pub id: String,
    /// The type, such as `epic`, `feature` or `task`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The title; empty if there is none.
    pub title: String,
    /// The state.
    pub status: TaskStatus,
    /// The parent. In an index, only a parent that exists.
    pub parent: Option<String>,
    /// The children, in their order in the file. In an index, only those that have this task as their parent.
    pub children: Vec<String>,
    /// The tasks that must be done before this one is started.
    pub dependencies: Vec<String>,
    /// What the task must leave behind.
    pub deliverables: Vec<Deliverable>,
    /// The agent that works on the task.
    pub agent: Option<String>,
    /// The time at which the task was started.
    #[serde(rename = "startedAt", serialize_with = "write_time")]
    pub started_at: Option<SystemTime>,
}

impl Task {
    /// Returns true if the task has no children.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Reads an entry of the index. Returns None if it has no id. Missing fields are empty.
    pub(crate) fn read(entry: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(id_text);
        let newer = entry.get("newerThanStart").and_then(Value::as_bool).unwrap_or(false);
        let deliverables = listed(entry, "deliverables");
        Some(Self {
            id: text("id")?,
            kind: text("type"),
            title: text("title").unwrap_or_default(),
            status: text("status").map_or(TaskStatus::Pending, |status| TaskStatus::parse(&status)),
            parent: text("parent"),
            children: listed(entry, "children").filter_map(id_text).collect(),
            dependencies: listed(entry, "dependencies").filter_map(id_text).collect(),
            deliverables: deliverables.filter_map(|value| read_deliverable(value, newer)).collect(),
            agent: text("agent"),
            started_at: entry.get("startedAt").and_then(read_time),
        })
    }
}

/// Returns the values of a list. A single value counts as a list of one.
fn listed<'a>(entry: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    let values = match entry.get(key) {
        None => [].as_slice(),
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
    };
    values.iter()
}

/// Returns a text, or a number as text: ids are also written as numbers. Returns None if it is blank.
fn id_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn read_deliverable(value: &Value, newer: bool) -> Option<Deliverable> {
    if let Value::Object(fields) = value {
        let path = fields.get("path").and_then(id_text)?;
        let own = fields.get("newerThanStart").and_then(Value::as_bool);
        return Some(Deliverable { path, newer_than_start: own.unwrap_or(newer) });
    }
    Some(Deliverable { path: id_text(value)?, newer_than_start: newer })
}

/// Reads a time: RFC 3339, or milliseconds since the epoch.
fn read_time(value: &Value) -> Option<SystemTime> {
    let time = match value {
        Value::String(text) => text.trim().parse::<jiff::Timestamp>().ok()?,
        Value::Number(millis) => jiff::Timestamp::from_millisecond(millis.as_i64()?).ok()?,
        _ => return None,
    };
    Some(time.into())
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn write_time<S: Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    let time = time.and_then(|time| jiff::Timestamp::try_from(time).ok());
    time.map(|time| time.to_string()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(entry: &Value) -> Option<Task> {
        Task::read(entry.as_object().unwrap())
    }

    #[test]
    fn missing_fields_are_empty() {
        let task = read(&json!({ "id": 7 })).unwrap();
        assert_eq!((task.id.as_str(), task.status), ("7", TaskStatus::Pending));
        assert!(task.children.is_empty() && task.deliverables.is_empty() && task.is_leaf());
        assert_eq!(read(&json!({ "title": "no id" })), None);
        assert_eq!(read(&json!({ "id": " " })), None);
    }

    #[test]
    fn foreign_forms_are_read() {
        let task = read(&json!({
            "id": "1.2", "status": "In_Progress", "children": null, "dependencies": "1.1",
            "deliverables": ["a.rs", { "path": "b.rs", "newerThanStart": true }, 7, null],
            "startedAt": "2026-01-02T03:04:05Z", "agent": 5, "parent": 1,
        }))
        .unwrap();
        assert_eq!(task.status, TaskStatus::InProgress);
        assert_eq!((task.dependencies, task.parent), (vec!["1.1".to_owned()], Some("1".into())));
        let newer: Vec<bool> = task.deliverables.iter().map(|item| item.newer_than_start).collect();
        assert_eq!(newer, [false, true, false]);
        assert!(task.started_at.is_some());
        let millis = read(&json!({ "id": "1", "startedAt": 1_767_323_045_000_i64 })).unwrap();
        assert_eq!(millis.started_at, task.started_at);
        assert_eq!(TaskStatus::parse("in review"), TaskStatus::Other);
    }
}
