//! `rutter task`: the tasks of a checkout, in the index of `.claude/memory/task-index.json`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_gates::{
    IndexFault, MissingDeliverable, OpenDependency, StartOptions, StatusChange, TASK_INDEX_PATH,
    Task, TaskError, TaskFile, TaskFileError, TaskIndex, TaskProgress, TaskStatus,
    check_deliverables, parse_task_list,
};
use rutter_memory::Time;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::cli::task::{
    FailTaskArgs, FinishTaskArgs, ImportTasksArgs, ListTasksArgs, NextTaskArgs, ShowTaskArgs,
    StartTaskArgs, TaskCommand,
};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count, one_line};
use crate::{CommandError, CommandResult};

/// Time to wait for another program that changes the index.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// Largest list that is imported.
const MAX_IMPORT_BYTES: u64 = 16 * 1024 * 1024;
/// Number of contradictions of an index that are printed.
const PRINTED_FAULTS: usize = 5;

/// A task with what follows from the other tasks.
#[derive(Serialize)]
struct TaskRow<'a> {
    #[serde(flatten)]
    task: &'a Task,
    progress: Option<TaskProgress>,
    open_dependencies: Vec<OpenDependency>,
}

impl<'a> TaskRow<'a> {
    fn new(task: &'a Task, index: &TaskIndex) -> Self {
        Self {
            task,
            progress: index.progress(task),
            open_dependencies: index.open_dependencies(task),
        }
    }
}

/// The index of the checkout in which a command runs.
struct CheckoutTasks {
    root: PathBuf,
    file: TaskFile,
}

impl CheckoutTasks {
    fn locate(env: &Environment) -> CommandResult<Self> {
        let root = env.locate_project()?.root;
        Ok(Self { file: TaskFile::in_checkout(&root), root })
    }

    fn load(&self) -> CommandResult<TaskIndex> {
        self.file.load().map_err(|error| self.describe(error))
    }

    fn update(
        &self,
        change: impl FnMut(&mut TaskIndex) -> Result<Vec<StatusChange>, TaskError>,
    ) -> CommandResult<Vec<StatusChange>> {
        self.file.update(LOCK_WAIT, change).map_err(|error| self.describe(error))
    }

    fn describe(&self, error: TaskFileError) -> CommandError {
        let path = self.file.path().to_line();
        CommandError::Refused(match error {
            TaskFileError::Missing => format!(
                "there is no {TASK_INDEX_PATH} in {}; write the tasks as a list (`- title`) into a file and run `rutter task import FILE`",
                self.root.to_line()
            ),
            TaskFileError::Exists => {
                format!("{path} exists already and was not changed; remove it to begin anew")
            }
            TaskFileError::Task(error) => return refuse(&error),
            TaskFileError::Locked(_) | TaskFileError::Contended => {
                format!("{path} {error}; nothing was changed; try again")
            }
            error => format!(
                "{path} {}; nothing was changed; fix that and try again",
                one_line(&error.to_string())
            ),
        })
    }
}

pub(crate) fn run(command: &TaskCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let tasks = CheckoutTasks::locate(env)?;
    match command {
        TaskCommand::List(args) => list_tasks(args, &tasks, ui),
        TaskCommand::Show(args) => show_task(args, &tasks, ui),
        TaskCommand::Next(args) => show_next(args, &tasks, ui),
        TaskCommand::Start(args) => start_task(args, &tasks, env, ui),
        TaskCommand::Done(args) => finish_task(args, &tasks, env, ui),
        TaskCommand::Fail(args) => fail_task(args, &tasks, env, ui),
        TaskCommand::Import(args) => import_tasks(args, &tasks, ui),
    }
}

/// Returns the time of a change: a full second, because the times of files may be a little behind the clock.
fn change_time(env: &Environment) -> String {
    Time::from_millis(env.now.millis() / 1000 * 1000).to_string()
}

/// Turns a refusal into a message that says what to type.
fn refuse(error: &TaskError) -> CommandError {
    let advice = match error {
        TaskError::Unknown { .. } => "`rutter task list` lists them".to_owned(),
        TaskError::DuplicateId { .. } => format!("correct {TASK_INDEX_PATH}"),
        TaskError::HasChildren { .. } => "use the id of one of these".to_owned(),
        TaskError::OpenDependencies { .. } => "finish that first, or add --force".to_owned(),
        TaskError::NotStartable { .. } => "add --force to start it all the same".to_owned(),
        TaskError::Done { .. } => "`rutter task start ID --reopen` does that".to_owned(),
        TaskError::NotStarted { id, .. } => format!("run `rutter task start {id}` first"),
    };
    CommandError::Refused(one_line(&format!("{error}; {advice}")))
}

fn list_tasks(args: &ListTasksArgs, tasks: &CheckoutTasks, ui: &mut Ui<'_>) -> CommandResult {
    let index = tasks.load()?;
    let status: Option<TaskStatus> = args.status.map(Into::into);
    let listed = index.tasks().iter();
    let listed = listed.filter(|task| status.is_none_or(|status| task.status == status));
    if args.format.chosen() == Format::Json {
        let rows: Vec<TaskRow<'_>> = listed.map(|task| TaskRow::new(task, &index)).collect();
        let faults: Vec<Value> = index.faults().iter().map(describe_fault).collect();
        return ui.print_json(&json!({ "path": TASK_INDEX_PATH, "tasks": rows, "faults": faults }));
    }
    let rows: Vec<[String; 4]> = listed
        .map(|task| {
            let progress = index.progress(task);
            let progress =
                progress.map(|progress| format!("{}/{}", progress.completed, progress.total));
            [
                one_line(&task.id),
                task.status.to_string(),
                progress.unwrap_or_default(),
                first_line(&task.title),
            ]
        })
        .collect();
    if rows.is_empty() {
        ui.print_note("no task has this status")?;
    } else {
        ui.print_table(["id", "status", "done", "title"], rows)?;
    }
    print_faults(index.faults(), ui)
}

fn describe_fault(fault: &IndexFault) -> Value {
    let mut fields = json!(fault);
    fields["message"] = json!(fault.to_string());
    fields
}

fn print_faults(faults: &[IndexFault], ui: &mut Ui<'_>) -> CommandResult {
    for fault in faults.iter().take(PRINTED_FAULTS) {
        ui.print_note(&one_line(&fault.to_string()))?;
    }
    let more = faults.len().saturating_sub(PRINTED_FAULTS);
    if more > 0 {
        let more = format_count(more as u64, "more contradiction");
        ui.print_note(&format!("{more}; `rutter task list --json` lists all"))?;
    }
    Ok(())
}

fn show_task(args: &ShowTaskArgs, tasks: &CheckoutTasks, ui: &mut Ui<'_>) -> CommandResult {
    let index = tasks.load()?;
    let unknown = || refuse(&TaskError::Unknown { id: args.id.clone() });
    let task = index.find(&args.id).ok_or_else(unknown)?;
    let missing = check_deliverables(task, &tasks.root, false);
    if args.format.chosen() == Format::Json {
        let mut report = json!(TaskRow::new(task, &index));
        report["missing_deliverables"] = json!(missing);
        return ui.print_json(&report);
    }
    writeln!(ui.out, "{}  {}", one_line(&task.id), one_line(&task.title))?;
    writeln!(ui.out, "status        {}", task.status)?;
    if let Some(parent) = &task.parent {
        writeln!(ui.out, "parent        {}", one_line(parent))?;
    }
    if let Some(progress) = index.progress(task) {
        let children = one_line(&task.children.join(", "));
        writeln!(
            ui.out,
            "children      {children} ({} of {} done)",
            progress.completed, progress.total
        )?;
    }
    if let Some(agent) = &task.agent {
        writeln!(ui.out, "agent         {}", one_line(agent))?;
    }
    if !task.dependencies.is_empty() {
        writeln!(ui.out, "dependencies  {}", one_line(&task.dependencies.join(", ")))?;
    }
    let open = index.open_dependencies(task);
    if !open.is_empty() {
        let open: Vec<&str> = open.iter().map(|open| open.id.as_str()).collect();
        writeln!(ui.out, "waits for     {}", one_line(&open.join(", ")))?;
    }
    for deliverable in &task.deliverables {
        let found = missing.iter().find(|missing| missing.path == deliverable.path);
        let state = found.map_or_else(|| "is there".to_owned(), |found| found.reason.to_string());
        writeln!(ui.out, "deliverable   {} {state}", one_line(&deliverable.path))?;
    }
    Ok(())
}

fn show_next(args: &NextTaskArgs, tasks: &CheckoutTasks, ui: &mut Ui<'_>) -> CommandResult {
    let index = tasks.load()?;
    let next = index.next_task();
    if args.format.chosen() == Format::Json {
        let next = next.map(|task| TaskRow::new(task, &index));
        return ui.print_json(&json!({ "task": next }));
    }
    if let Some(task) = next {
        return Ok(writeln!(ui.out, "{}  {}", one_line(&task.id), first_line(&task.title))?);
    }
    let count = |status: TaskStatus| {
        let found = index.tasks().iter().filter(|task| task.is_leaf() && task.status == status);
        (status, found.count())
    };
    let counts = TaskStatus::ALL.into_iter().map(count).filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(status, count)| format!("{count} {status}")).collect();
    let counts = if counts.is_empty() { "there are none".to_owned() } else { counts.join(", ") };
    Ok(writeln!(ui.out, "No task can be started: {counts}.")?)
}

fn start_task(
    args: &StartTaskArgs,
    tasks: &CheckoutTasks,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let at = change_time(env);
    let options = StartOptions { force: args.force, reopen: args.reopen };
    let changes = tasks.update(|index| index.start(&args.id, &at, options))?;
    if args.format.chosen() == Format::Json {
        return print_changes(&args.id, &changes, ui);
    }
    let id = one_line(&args.id);
    if changes.is_empty() {
        return Ok(writeln!(ui.out, "{id} is in progress already.")?);
    }
    writeln!(ui.out, "{}.", describe_changes(&changes))?;
    let index = tasks.load()?;
    let paths: Vec<&str> = index.find(&args.id).map_or_else(Vec::new, |task| {
        task.deliverables.iter().map(|deliverable| deliverable.path.as_str()).collect()
    });
    if !paths.is_empty() {
        writeln!(ui.out, "It must leave behind {}.", one_line(&paths.join(", ")))?;
    }
    Ok(())
}

fn finish_task(
    args: &FinishTaskArgs,
    tasks: &CheckoutTasks,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let at = change_time(env);
    let mut index = tasks.load()?;
    let missing = match index.find(&args.id) {
        Some(task) if task.status == TaskStatus::InProgress => {
            check_deliverables(task, &tasks.root, args.newer)
        }
        _ => Vec::new(),
    };
    // A task that cannot be finished has another answer than its deliverables.
    index.finish(&args.id, &at).map_err(|error| refuse(&error))?;
    if !missing.is_empty() {
        if args.format.chosen() == Format::Json {
            ui.print_json(&json!({ "id": args.id, "missing_deliverables": missing }))?;
            return Err(CommandError::Findings);
        }
        return Err(CommandError::Refused(describe_missing(&args.id, &missing)));
    }
    let changes = tasks.update(|index| index.finish(&args.id, &at))?;
    if args.format.chosen() == Format::Json {
        return print_changes(&args.id, &changes, ui);
    }
    if changes.is_empty() {
        return Ok(writeln!(ui.out, "{} is done already.", one_line(&args.id))?);
    }
    Ok(writeln!(ui.out, "{}.", describe_changes(&changes))?)
}

fn describe_missing(id: &str, missing: &[MissingDeliverable]) -> String {
    let missing: Vec<String> =
        missing.iter().map(|missing| format!("`{}` {}", missing.path, missing.reason)).collect();
    one_line(&format!(
        "{id} is not done: {}; write what is missing, or run `rutter task fail {id}`",
        missing.join(", ")
    ))
}

fn fail_task(
    args: &FailTaskArgs,
    tasks: &CheckoutTasks,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let at = change_time(env);
    let changes = tasks.update(|index| index.fail(&args.id, &at))?;
    if args.format.chosen() == Format::Json {
        return print_changes(&args.id, &changes, ui);
    }
    if changes.is_empty() {
        return Ok(writeln!(ui.out, "{} has failed already.", one_line(&args.id))?);
    }
    Ok(writeln!(ui.out, "{}.", describe_changes(&changes))?)
}

fn print_changes(id: &str, changes: &[StatusChange], ui: &mut Ui<'_>) -> CommandResult {
    ui.print_json(&json!({ "id": id, "changes": changes }))
}

fn describe_changes(changes: &[StatusChange]) -> String {
    let describe =
        |change: &StatusChange| format!("{} is {} (was {})", change.id, change.to, change.from);
    one_line(&changes.iter().map(describe).collect::<Vec<_>>().join("; "))
}

fn import_tasks(args: &ImportTasksArgs, tasks: &CheckoutTasks, ui: &mut Ui<'_>) -> CommandResult {
    let refused = |what: String| CommandError::Refused(format!("{} {what}", args.file.to_line()));
    let mut index = read_list(&args.file)
        .map_err(|what| refused(format!("{}; correct it and try again", one_line(&what))))?;
    if !index.faults().is_empty() {
        let faults = index.faults().iter().take(PRINTED_FAULTS);
        let faults: Vec<String> = faults.map(ToString::to_string).collect();
        let faults = one_line(&faults.join("; "));
        return Err(refused(format!("contradicts itself: {faults}; correct that and try again")));
    }
    index.roll_up_all();
    tasks.file.create(&index, LOCK_WAIT).map_err(|error| tasks.describe(error))?;
    let count = index.tasks().len();
    if args.format.chosen() == Format::Json {
        return ui.print_json(&json!({ "path": TASK_INDEX_PATH, "tasks": count }));
    }
    let count = format_count(count as u64, "task");
    Ok(writeln!(ui.out, "Wrote {count} to {TASK_INDEX_PATH}.")?)
}

/// Reads a list of tasks. Returns the sentence after the name of the file if that fails.
fn read_list(path: &Path) -> Result<TaskIndex, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(MAX_IMPORT_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_IMPORT_BYTES {
        return Err("is too large".to_owned());
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return match serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)) {
            Ok(Value::Array(entries)) => TaskIndex::from_entries(entries),
            _ => TaskIndex::parse(&bytes),
        }
        .map_err(|error| error.to_string());
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    let entries = parse_task_list(&text).map_err(|error| error.to_string())?;
    TaskIndex::from_entries(entries).map_err(|error| error.to_string())
}
