//! The task index of a checkout: a tree of tasks with states, in a JSON document.
//!
//! The format is that of claude-code-sub-agent-collective: `{"version": …, "tasks": [{"id", "type", "title", "status",
//! "parent", "children", "dependencies", "deliverables", "agent", "progress"}]}`. Unknown fields and their order are kept.
//! Files are in [`TaskFile`](crate::TaskFile).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::index_fault::IndexFault;
use crate::json_layout::JsonLayout;
use crate::task::{Task, TaskStatus};
use crate::task_tree::{NamedParent, Positions, find_dependency_faults, resolve_parents};

/// The reason why a text is no task index.
#[derive(Debug, Error)]
pub enum IndexError {
    /// The text is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The text is not JSON.
    #[error("is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The document has no tasks.
    #[error("has no list `tasks`")]
    NoTasks,
}

/// A dependency that is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenDependency {
    /// The task.
    pub id: String,
    /// Its state, or None if it does not exist.
    pub status: Option<TaskStatus>,
}

/// The reason why the state of a task is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskError {
    /// No task has the id.
    #[error("no task has the id {id}")]
    Unknown {
        /// The id.
        id: String,
    },
    /// Several tasks have the id.
    #[error("several tasks have the id {id}")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The task has children, which decide its state.
    #[error("{id} has children, and its status follows from theirs: {}", children.join(", "))]
    HasChildren {
        /// The task.
        id: String,
        /// Its children.
        children: Vec<String>,
    },
    /// The task waits for others.
    #[error("{id} waits for {}", describe_open(open))]
    OpenDependencies {
        /// The task.
        id: String,
        /// What it waits for.
        open: Vec<OpenDependency>,
    },
    /// The task is blocked, or has an unknown state.
    #[error("the status of {id} is {status}")]
    NotStartable {
        /// The task.
        id: String,
        /// Its state.
        status: TaskStatus,
    },
    /// The task, or a task above it, is done.
    #[error("{done} is done, and nothing but reopening it takes it back")]
    Done {
        /// The task that is done.
        done: String,
    },
    /// The task was not started.
    #[error("{id} is not in progress but {status}")]
    NotStarted {
        /// The task.
        id: String,
        /// Its state.
        status: TaskStatus,
    },
}

fn describe_open(open: &[OpenDependency]) -> String {
    let describe = |open: &OpenDependency| match open.status {
        Some(status) => format!("{} ({status})", open.id),
        None => format!("{} (does not exist)", open.id),
    };
    open.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Permissions for the start of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StartOptions {
    /// Starts a task in spite of open dependencies, or of a state that forbids it.
    pub force: bool,
    /// Starts a task that is done, or whose parent is. Takes the states of its ancestors back to in progress.
    pub reopen: bool,
}

/// Number of children of a task, and of those that are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TaskProgress {
    /// Children that are done.
    pub completed: usize,
    /// All children.
    pub total: usize,
}

/// A change of the state of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// The task.
    pub id: String,
    /// The state before.
    pub from: TaskStatus,
    /// The state after.
    pub to: TaskStatus,
}

/// A task index.
#[derive(Debug, Clone)]
pub struct TaskIndex {
    document: Value,
    layout: JsonLayout,
    tasks: Vec<Task>,
    /// For each task, the position of its entry in the document.
    entries: Vec<usize>,
    parents: Vec<Option<usize>>,
    positions: Positions,
    faults: Vec<IndexFault>,
    is_changed: bool,
}

impl TaskIndex {
    /// Parses an index. Contradictions in it are [faults](Self::faults), not errors.
    pub fn parse(bytes: &[u8]) -> Result<Self, IndexError> {
        let text = std::str::from_utf8(bytes).map_err(|_| IndexError::NotUtf8)?;
        let (layout, body) = JsonLayout::detect(text);
        let document: Value = serde_json::from_str(body)?;
        Self::from_document(document, layout)
    }

    /// Creates an index of entries, each an object as in the file.
    pub fn from_entries(entries: Vec<Value>) -> Result<Self, IndexError> {
        let mut document = Map::new();
        document.insert("version".to_owned(), "1.0.0".into());
        document.insert("tasks".to_owned(), Value::Array(entries));
        Self::from_document(Value::Object(document), JsonLayout::default())
    }

    fn from_document(document: Value, layout: JsonLayout) -> Result<Self, IndexError> {
        let list = document.get("tasks").and_then(Value::as_array).ok_or(IndexError::NoTasks)?;
        let (mut tasks, mut entries, mut named) = (Vec::new(), Vec::new(), Vec::new());
        let mut positions = Positions::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut faults = Vec::new();
        for (position, entry) in list.iter().enumerate() {
            let fields = entry.as_object();
            let Some((fields, task)) =
                fields.and_then(|fields| Some((fields, Task::read(fields)?)))
            else {
                faults.push(IndexFault::NoId { position: position + 1 });
                continue;
            };
            if positions.contains_key(&task.id) {
                *counts.entry(task.id).or_insert(1) += 1;
                continue;
            }
            if task.status == TaskStatus::Other {
                let status = fields.get("status").and_then(Value::as_str).unwrap_or_default();
                let status = status.to_owned();
                faults.push(IndexFault::UnknownStatus { id: task.id.clone(), status });
            }
            named.push(if fields.contains_key("parent") {
                NamedParent::Given
            } else {
                NamedParent::Missing
            });
            positions.insert(task.id.clone(), tasks.len());
            entries.push(position);
            tasks.push(task);
        }
        let duplicates = counts.into_iter();
        faults.extend(duplicates.map(|(id, count)| IndexFault::DuplicateId { id, count }));
        let parents = resolve_parents(&mut tasks, &named, &positions, &mut faults);
        find_dependency_faults(&tasks, &parents, &positions, &mut faults);
        let is_changed = false;
        Ok(Self { document, layout, tasks, entries, parents, positions, faults, is_changed })
    }

    /// Renders the file, in the layout that it had.
    pub fn render(&self) -> Vec<u8> {
        self.layout.render(&self.document)
    }

    /// Returns all tasks, in the order of the file.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the task with an id.
    pub fn find(&self, id: &str) -> Option<&Task> {
        self.positions.get(id).map(|position| &self.tasks[*position])
    }

    /// Returns the contradictions in the file.
    pub fn faults(&self) -> &[IndexFault] {
        &self.faults
    }

    /// Returns true if a state was changed since the index was read.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the progress of a task with children. Computed, not read.
    pub fn progress(&self, task: &Task) -> Option<TaskProgress> {
        let statuses: Vec<TaskStatus> = self.child_statuses(task).collect();
        (!statuses.is_empty()).then(|| count_progress(&statuses))
    }

    fn child_statuses(&self, task: &Task) -> impl Iterator<Item = TaskStatus> {
        task.children.iter().filter_map(|child| self.find(child)).map(|child| child.status)
    }

    /// Returns the ancestors of a task, its parent first.
    pub fn ancestors(&self, task: &Task) -> Vec<&Task> {
        let mut found = Vec::new();
        let mut at = self.positions.get(&task.id).copied();
        while let Some(parent) = at.and_then(|at| self.parents[at]) {
            found.push(&self.tasks[parent]);
            at = Some(parent);
        }
        found
    }

    /// Returns the dependencies of a task and of its ancestors that are not done.
    pub fn open_dependencies(&self, task: &Task) -> Vec<OpenDependency> {
        let mut open: Vec<OpenDependency> = Vec::new();
        for holder in std::iter::once(task).chain(self.ancestors(task)) {
            for id in &holder.dependencies {
                let status = self.find(id).map(|dependency| dependency.status);
                if status != Some(TaskStatus::Done) && !open.iter().any(|known| known.id == *id) {
                    open.push(OpenDependency { id: id.clone(), status });
                }
            }
        }
        open
    }

    /// Returns the first pending task without children whose dependencies are done.
    pub fn next_task(&self) -> Option<&Task> {
        self.tasks.iter().find(|task| {
            task.is_leaf()
                && task.status == TaskStatus::Pending
                && self.open_dependencies(task).is_empty()
        })
    }

    /// Starts a task. `at` is the time as RFC 3339. Returns the changes of this task and its ancestors; none if the task is
    /// in progress already.
    pub fn start(
        &mut self,
        id: &str,
        at: &str,
        options: StartOptions,
    ) -> Result<Vec<StatusChange>, TaskError> {
        let (position, task) = self.leaf(id)?;
        if task.status == TaskStatus::InProgress {
            return Ok(Vec::new());
        }
        let above = self.ancestors(task);
        let done = std::iter::once(task).chain(above).find(|task| task.status == TaskStatus::Done);
        if let Some(done) = done
            && !options.reopen
        {
            return Err(TaskError::Done { done: done.id.clone() });
        }
        let open = self.open_dependencies(task);
        if !options.force {
            if matches!(task.status, TaskStatus::Blocked | TaskStatus::Other) {
                return Err(TaskError::NotStartable { id: id.to_owned(), status: task.status });
            }
            if !open.is_empty() {
                return Err(TaskError::OpenDependencies { id: id.to_owned(), open });
            }
        }
        let is_reopened = done.is_some();
        self.tasks[position].started_at = at.parse::<jiff::Timestamp>().ok().map(Into::into);
        if let Some(entry) = self.entry_mut(position) {
            entry.insert("startedAt".to_owned(), at.into());
            entry.shift_remove("completedAt");
            entry.shift_remove("failedAt");
        }
        Ok(self.set_status(position, TaskStatus::InProgress, is_reopened))
    }

    /// Marks a task that is in progress as done. Does not look at its deliverables. Returns the changes of this task and its
    /// ancestors; none if it is done already.
    pub fn finish(&mut self, id: &str, at: &str) -> Result<Vec<StatusChange>, TaskError> {
        let (position, task) = self.leaf(id)?;
        match task.status {
            TaskStatus::Done => return Ok(Vec::new()),
            TaskStatus::InProgress => {}
            status => return Err(TaskError::NotStarted { id: id.to_owned(), status }),
        }
        if let Some(entry) = self.entry_mut(position) {
            entry.insert("completedAt".to_owned(), at.into());
        }
        Ok(self.set_status(position, TaskStatus::Done, false))
    }

    /// Marks a task as failed. Returns the changes; none if it has failed already. A task that is done stays done.
    pub fn fail(&mut self, id: &str, at: &str) -> Result<Vec<StatusChange>, TaskError> {
        let (position, task) = self.leaf(id)?;
        match task.status {
            TaskStatus::Failed => return Ok(Vec::new()),
            TaskStatus::Done => return Err(TaskError::Done { done: id.to_owned() }),
            _ => {}
        }
        if let Some(entry) = self.entry_mut(position) {
            entry.insert("failedAt".to_owned(), at.into());
        }
        Ok(self.set_status(position, TaskStatus::Failed, false))
    }

    /// Recomputes progress and state of every task with children, from the leaves up. Returns the changes.
    pub fn roll_up_all(&mut self) -> Vec<StatusChange> {
        let mut waiting: Vec<usize> = self.tasks.iter().map(|task| task.children.len()).collect();
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|at| waiting[*at] == 0).collect();
        let mut changes = Vec::new();
        while let Some(position) = ready.pop() {
            changes.extend(self.roll_up(position, false));
            if let Some(parent) = self.parents[position] {
                waiting[parent] -= 1;
                if waiting[parent] == 0 {
                    ready.push(parent);
                }
            }
        }
        changes
    }

    /// Finds a task without children.
    fn leaf(&self, id: &str) -> Result<(usize, &Task), TaskError> {
        let unknown = || TaskError::Unknown { id: id.to_owned() };
        let position = *self.positions.get(id).ok_or_else(unknown)?;
        let task = &self.tasks[position];
        if !task.is_leaf() {
            let children = task.children.clone();
            return Err(TaskError::HasChildren { id: id.to_owned(), children });
        }
        let is_same = |fault: &IndexFault| matches!(fault, IndexFault::DuplicateId { id: of, .. } if of == id);
        if self.faults.iter().any(is_same) {
            return Err(TaskError::DuplicateId { id: id.to_owned() });
        }
        Ok((position, task))
    }

    fn entry_mut(&mut self, position: usize) -> Option<&mut Map<String, Value>> {
        self.is_changed = true;
        let entry = *self.entries.get(position)?;
        self.document.get_mut("tasks")?.get_mut(entry)?.as_object_mut()
    }

    fn set_status(
        &mut self,
        position: usize,
        to: TaskStatus,
        is_reopened: bool,
    ) -> Vec<StatusChange> {
        let mut changes: Vec<StatusChange> = self.write_status(position, to).into_iter().collect();
        let mut at = position;
        while let Some(parent) = self.parents[at] {
            changes.extend(self.roll_up(parent, is_reopened));
            at = parent;
        }
        changes
    }

    fn write_status(&mut self, position: usize, to: TaskStatus) -> Option<StatusChange> {
        let task = &mut self.tasks[position];
        let from = std::mem::replace(&mut task.status, to);
        let id = task.id.clone();
        if from == to {
            return None;
        }
        if let Some(entry) = self.entry_mut(position) {
            entry.insert("status".to_owned(), to.as_str().into());
        }
        Some(StatusChange { id, from, to })
    }

    /// Recomputes progress and state of one task. Does nothing for a task without children.
    fn roll_up(&mut self, position: usize, is_reopened: bool) -> Option<StatusChange> {
        let task = &self.tasks[position];
        let statuses: Vec<TaskStatus> = self.child_statuses(task).collect();
        if statuses.is_empty() {
            return None;
        }
        let to = rolled_up_status(task.status, &statuses, is_reopened);
        let progress = count_progress(&statuses);
        let completed: Value = progress.completed.into();
        let total: Value = progress.total.into();
        if let Some(entry) = self.entry_mut(position) {
            if let Some(Value::Object(fields)) = entry.get_mut("progress") {
                fields.insert("completed".to_owned(), completed);
                fields.insert("total".to_owned(), total);
            } else {
                let fields = json!({ "completed": completed, "total": total });
                entry.insert("progress".to_owned(), fields);
            }
        }
        self.write_status(position, to)
    }
}

fn count_progress(children: &[TaskStatus]) -> TaskProgress {
    let completed = children.iter().filter(|status| **status == TaskStatus::Done).count();
    TaskProgress { completed, total: children.len() }
}

/// Returns the state of a task with these children. A task never goes back: what is in progress does not become pending, and
/// what is done stays done unless a task below it was reopened.
pub fn rolled_up_status(
    before: TaskStatus,
    children: &[TaskStatus],
    is_reopened: bool,
) -> TaskStatus {
    use TaskStatus::{Done, InProgress};
    let is_kept = before == Done && !is_reopened;
    if children.is_empty() || is_kept {
        return before;
    }
    if children.iter().all(|status| *status == Done) {
        return Done;
    }
    let is_moving = children.iter().any(|status| matches!(status, Done | InProgress));
    if is_moving || before == Done { InProgress } else { before }
}
