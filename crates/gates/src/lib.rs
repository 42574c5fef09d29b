//! Gates: decide whether a tool call of an agent may go on.
//!
//! The gate for tests ([`decide_change`]) asks for the test of an implementation file before that file is written. It is
//! deterministic: it looks at the path, the texts before and after the change, and the files of the project, and asks no
//! model. Doubt lets the call pass.
//!
//! [`written_files`] finds the files that a shell command plainly writes. [`FileRole`] says what a file is by its path,
//! [`test_places`] where its tests may be, and [`ChangeEffect`] what a change does to it.

mod change_effect;
mod declarations;
mod file_role;
mod language;
mod project_tree;
mod test_habit;
mod test_places;
mod tests_first;
mod written_files;

pub use change_effect::ChangeEffect;
pub use file_role::{FileRole, is_generated_text};
pub use language::Language;
pub use project_tree::ProjectTree;
pub use test_places::{TestPlace, test_places};
pub use tests_first::{
    ChangeDecision, FileChange, PassReason, TestsFirstSettings, decide_change, render_denial,
};
pub use written_files::{WrittenFile, command_changes, written_files};
