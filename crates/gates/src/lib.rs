//! Gates: decide whether a tool call of an agent may go on.
//!
//! The gate for tests ([`decide_change`]) asks for the test of an implementation file before that file is written. It is
//! deterministic: it looks at the path, the texts before and after the change, and the files of the project, and asks no
//! model. Doubt lets the call pass.
//!
//! The task index ([`TaskIndex`], [`TaskFile`]) has the tasks of a checkout, their states and dependencies, and what each must
//! leave behind ([`check_deliverables`]). [`find_active_task`] says which of them an agent works on.
//!
//! [`written_files`] finds the files that a shell command plainly writes. [`FileRole`] says what a file is by its path,
//! [`test_places`] where its tests may be, and [`ChangeEffect`] what a change does to it.

mod active_task;
mod change_effect;
mod declarations;
mod deliverables;
mod file_pattern;
mod file_role;
mod index_fault;
mod json_layout;
mod language;
mod project_tree;
mod task;
mod task_file;
mod task_index;
mod task_list;
mod task_tree;
mod test_habit;
mod test_places;
mod tests_first;
mod written_files;

pub use active_task::{find_active_task, find_task_in_text, find_task_in_transcript};
pub use change_effect::ChangeEffect;
pub use deliverables::{MissingDeliverable, MissingReason, check_deliverables};
pub use file_role::{FileRole, is_generated_text};
pub use index_fault::IndexFault;
pub use language::Language;
pub use project_tree::ProjectTree;
pub use task::{Deliverable, Task, TaskStatus};
pub use task_file::{TASK_INDEX_PATH, TaskFile, TaskFileError, read_current_task};
pub use task_index::{
    IndexError, OpenDependency, StartOptions, StatusChange, TaskError, TaskIndex, TaskProgress,
    rolled_up_status,
};
pub use task_list::{TaskListError, parse_task_list};
pub use test_places::{TestPlace, test_places};
pub use tests_first::{
    ChangeDecision, FileChange, PassReason, TestsFirstSettings, decide_change, render_denial,
};
pub use written_files::{WrittenFile, command_changes, written_files};
