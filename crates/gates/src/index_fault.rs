//! Faults of a task index: what contradicts itself. An index with faults is read as far as it makes sense.

use serde::Serialize;
use thiserror::Error;

/// A fault of a task index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Error)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum IndexFault {
    /// An entry of the list is no task.
    #[error("entry {position} of `tasks` has no id, so it is left out")]
    NoId {
        /// Number of the entry, from 1.
        position: usize,
    },
    /// Several tasks have one id. The first counts.
    #[error("{id} is the id of {count} tasks; only the first counts")]
    DuplicateId {
        /// The id.
        id: String,
        /// Number of tasks.
        count: usize,
    },
    /// A task has a state that is not known here.
    #[error("{id} has the unknown status `{status}`")]
    UnknownStatus {
        /// The task.
        id: String,
        /// The state in the file.
        status: String,
    },
    /// The parent of a task does not exist.
    #[error("{id} has the parent {parent}, which does not exist")]
    UnknownParent {
        /// The task.
        id: String,
        /// The parent.
        parent: String,
    },
    /// A list of children names a task that does not exist.
    #[error("{id} lists the child {child}, which does not exist")]
    UnknownChild {
        /// The task with the list.
        id: String,
        /// The child.
        child: String,
    },
    /// A dependency does not exist, so it is never done.
    #[error("{id} depends on {dependency}, which does not exist")]
    UnknownDependency {
        /// The task.
        id: String,
        /// The dependency.
        dependency: String,
    },
    /// A list of children contains a task with another parent, which counts.
    #[error("{id} lists the child {child}, whose parent is {parent}; the parent counts")]
    ForeignChild {
        /// The task with the list.
        id: String,
        /// The child.
        child: String,
        /// The parent of the child, or `none`.
        parent: String,
    },
    /// A task is missing in the list of its parent. It counts as a child.
    #[error("{id} is missing in the children of its parent {parent}; it counts as one")]
    UnlistedChild {
        /// The task.
        id: String,
        /// Its parent.
        parent: String,
    },
    /// Tasks are their own ancestors. The first of them counts as one without a parent.
    #[error("the parents go in a circle: {}; {} counts as a task without a parent", ids.join(" → "), ids[0])]
    ParentCycle {
        /// The tasks, each before its parent.
        ids: Vec<String>,
    },
    /// Tasks wait for each other, so none of them can be started.
    #[error("the dependencies go in a circle: {}; none of them can be started", ids.join(" → "))]
    DependencyCycle {
        /// The tasks, each before one that it waits for.
        ids: Vec<String>,
    },
}
