//! The arguments of `rutter task`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rutter_gates::TaskStatus;

use super::FormatArgs;

/// `rutter task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List the tasks of this checkout
    List(ListTasksArgs),
    /// Show a task: what it waits for, and which of its deliverables are missing
    Show(ShowTaskArgs),
    /// Show the first task that can be started
    ///
    /// That is the first pending task without children whose dependencies, and those of its parents, are done.
    Next(NextTaskArgs),
    /// Start a task
    ///
    /// Refused while a dependency is not done.
    Start(StartTaskArgs),
    /// Mark a task as done, if its deliverables are there
    ///
    /// Each deliverable must be a file with content, and a pattern must match one. Names those that are missing, and exits
    /// with 1. The parents follow: they are done when all their children are.
    Done(FinishTaskArgs),
    /// Mark a task as failed
    Fail(FailTaskArgs),
    /// Create the index from a list of tasks
    ///
    /// FILE is a list in Markdown, in which the items below an item are its children, or, with the ending .json, an index or
    /// an array of its tasks. Items may end with (after 1.1), (files `src/cart.py`, tests/*.py) and (agent NAME); ticked
    /// items are done. An index that exists is never changed.
    Import(ImportTasksArgs),
}

/// The states by which tasks can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListedStatus {
    /// Not started
    Pending,
    /// Started
    InProgress,
    /// Finished
    Done,
    /// Given up
    Failed,
    /// Cannot be started
    Blocked,
}

impl From<ListedStatus> for TaskStatus {
    fn from(status: ListedStatus) -> Self {
        match status {
            ListedStatus::Pending => Self::Pending,
            ListedStatus::InProgress => Self::InProgress,
            ListedStatus::Done => Self::Done,
            ListedStatus::Failed => Self::Failed,
            ListedStatus::Blocked => Self::Blocked,
        }
    }
}

/// `rutter task list`
#[derive(Debug, Args)]
pub struct ListTasksArgs {
    /// Only tasks with this status
    #[arg(long, value_enum, value_name = "STATUS")]
    pub status: Option<ListedStatus>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task show`
#[derive(Debug, Args)]
pub struct ShowTaskArgs {
    /// The id of the task, such as 1.2
    #[arg(value_name = "ID")]
    pub id: String,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task next`
#[derive(Debug, Args)]
pub struct NextTaskArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task start`
#[derive(Debug, Args)]
pub struct StartTaskArgs {
    /// The id of the task, such as 1.2
    #[arg(value_name = "ID")]
    pub id: String,
    /// Start the task although dependencies are open, or although it is blocked
    #[arg(long)]
    pub force: bool,
    /// Start the task again although it, or a parent, is done
    #[arg(long)]
    pub reopen: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task done`
#[derive(Debug, Args)]
pub struct FinishTaskArgs {
    /// The id of the task, such as 1.2
    #[arg(value_name = "ID")]
    pub id: String,
    /// Demand that each deliverable was changed since the task was started
    #[arg(long)]
    pub newer: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task fail`
#[derive(Debug, Args)]
pub struct FailTaskArgs {
    /// The id of the task, such as 1.2
    #[arg(value_name = "ID")]
    pub id: String,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter task import`
#[derive(Debug, Args)]
pub struct ImportTasksArgs {
    /// The list of tasks
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}
