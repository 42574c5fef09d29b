//! The surroundings in which hooks run: a copy of the project, an empty home, and a process that can harm nothing else where
//! the system allows that.
//!
//! The command prepares a scratch folder and starts itself twice: a process that enters namespaces of its own, and the first
//! process in them, which runs all hooks. A namespace for each run would cost more than most hooks.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum as _;
use rutter_check::tester::{
    CopyError, HookStart, TRIAL_SESSION_ID, TrialEnvironment, copy_project, transcript_path,
};
use serde::Serialize;
use serde_json::json;

use super::sandbox::{
    FileView, add_with_target, end_with_parent, enter_namespaces, program_folders, restrict_files,
};
use crate::cli::hook_test::{HookTestArgs, Namespaces};
use crate::doctor::ClientEnvironment;
use crate::environment;
use crate::scratch::ScratchFolder;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The measures that keep hooks away from the user's files and the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a measure of its own")]
pub(in crate::commands::contract) struct Isolation {
    /// True if the hooks ran on a copy of the project.
    pub(in crate::commands::contract) project_copy: bool,
    /// True if the hooks had an empty home folder.
    pub(in crate::commands::contract) scratch_home: bool,
    /// True if the hooks had no network.
    pub(in crate::commands::contract) no_network: bool,
    /// True if all files outside the scratch folder, and outside the project with `--in-place`, were read-only.
    pub(in crate::commands::contract) read_only_files: bool,
    /// True if the hooks could not read the user's home folder, except folders of programs and scripts of hooks.
    pub(in crate::commands::contract) hidden_home: bool,
    /// True if the hooks saw only their own processes, which ended with the run.
    pub(in crate::commands::contract) own_processes: bool,
}

/// The folders of a run.
pub(in crate::commands::contract) struct TrialFolder {
    pub(in crate::commands::contract) environment: TrialEnvironment,
    root: PathBuf,
}

/// A command that runs hooks: what the processes are started with, and where hooks run.
#[derive(Debug)]
pub(in crate::commands::contract) struct HookRunStart<'a> {
    /// The words of the command line of the processes, without a command behind `--`.
    pub(in crate::commands::contract) words: Vec<OsString>,
    /// The command behind `--`.
    pub(in crate::commands::contract) command: &'a [String],
    /// True if hooks run in the project itself.
    pub(in crate::commands::contract) in_place: bool,
}

impl TrialFolder {
    /// Creates the folders, with a copy of the project if the hooks may not run in it.
    fn create(project: &Path, args: &HookRunStart<'_>, root: PathBuf) -> CommandResult<Self> {
        let folder = Self::open(project, args, root);
        let refused = |error: io::Error| {
            CommandError::Refused(format!(
                "could not prepare the scratch folder: {error}; set TMPDIR to a folder with room"
            ))
        };
        if !args.in_place {
            copy_project(project, &folder.environment.project).map_err(|error| {
                match error {
                CopyError::TooLarge => CommandError::Refused(
                    "the project has more than 100 MB or 50000 files, and hooks run on a copy; add \
                     --in-place to run them in the project itself"
                        .to_owned(),
                ),
                CopyError::Io(error) => refused(error),
            }
            })?;
        }
        create_files(&folder.environment).map_err(refused)?;
        Ok(folder)
    }

    /// Returns the folders below `root` that another process has created.
    fn open(project: &Path, args: &HookRunStart<'_>, root: PathBuf) -> Self {
        let project = if args.in_place { project.to_owned() } else { root.join("project") };
        let mut environment = TrialEnvironment {
            project,
            temporary: root.join("tmp"),
            variables: environment::hook_variables(),
            home: root.join("home"),
            is_copy: !args.in_place,
        };
        environment.variables.push(("RUTTER_HOME".into(), root.join("memory").into()));
        Self { environment, root }
    }

    pub(in crate::commands::contract) fn path(&self) -> &Path {
        &self.root
    }
}

/// Creates the home folder, the folder for temporary files, and the transcript that payloads name.
fn create_files(environment: &TrialEnvironment) -> io::Result<()> {
    fs::create_dir_all(&environment.temporary)?;
    let transcript = transcript_path(environment);
    if let Some(folder) = transcript.parent() {
        fs::create_dir_all(folder)?;
    }
    let cwd = environment.project.to_string_lossy();
    let mut file = File::create(transcript)?;
    for (role, content) in [
        ("user", json!("add a test for the parser")),
        ("assistant", json!([{ "type": "text", "text": "I added a test." }])),
    ] {
        let line = json!({
            "type": role,
            "message": { "role": role, "content": content },
            "sessionId": TRIAL_SESSION_ID,
            "cwd": cwd,
            "uuid": "9d1c8f2e-0b7a-4c53-8e21-5f6a7b8c9d0e",
            "timestamp": "2026-01-01T12:00:00.000Z",
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}

/// Starts the processes that run the hooks, and returns their result. `read_results` gets the scratch folder afterwards.
pub(in crate::commands::contract) fn start(
    project: &Path,
    args: &HookRunStart<'_>,
    ui: &mut Ui<'_>,
    read_results: impl FnOnce(&Path, &mut Ui<'_>) -> CommandResult,
) -> CommandResult {
    let scratch = ScratchFolder::open("test")?;
    // Programs resolve their working directory, and payloads must name the same path.
    let root = scratch.path().canonicalize()?;
    TrialFolder::create(project, args, root.clone())?;
    ui.out.flush()?;
    let status = own_command(args, &root, None)?.status()?;
    let results = read_results(&root, ui);
    scratch.close()?;
    results?;
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(CommandError::Usage("the run was refused".to_owned())),
        Some(_) => Err(CommandError::Findings),
        None => Err(signal_failure()),
    }
}

/// Enters namespaces and starts the process in them.
pub(in crate::commands::contract) fn start_in_namespaces(
    args: &HookRunStart<'_>,
    root: &Path,
) -> CommandResult {
    // The first process of a namespace runs hooks. If it came here, each process would start another one.
    if std::process::id() == 1 {
        return Err(CommandError::Refused("the run cannot start in itself".to_owned()));
    }
    end_with_parent();
    // A hook must not write to the terminal. An error means that there is none.
    let _ = rustix::process::setsid();
    let namespaces = enter_namespaces();
    let status = own_command(args, root, Some(namespaces))?.status()?;
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(CommandError::Usage("the run was refused".to_owned())),
        Some(_) => Err(CommandError::Findings),
        None => Err(signal_failure()),
    }
}

/// Restricts this process, which runs the hooks, and returns the folders and the measures.
pub(in crate::commands::contract) fn enter<'a>(
    project: &Path,
    starts: impl Iterator<Item = (&'a HookStart, Option<&'a Path>)>,
    args: &HookRunStart<'_>,
    (root, namespaces): (&Path, Namespaces),
    places: &ClientEnvironment,
) -> CommandResult<(TrialFolder, Isolation)> {
    end_with_parent();
    let folder = TrialFolder::open(project, args, root.to_owned());
    let mut isolation = Isolation {
        project_copy: !args.in_place,
        scratch_home: true,
        no_network: namespaces != Namespaces::Shared,
        read_only_files: false,
        hidden_home: false,
        own_processes: namespaces == Namespaces::Own,
    };
    if namespaces == Namespaces::Own {
        let home = places.files.home.as_deref();
        let mut kept = program_folders(&places.search, home);
        if Some(project) != home {
            add_with_target(project, &mut kept);
        }
        for (start, plugin) in starts {
            if let Some(plugin) = plugin {
                add_with_target(plugin, &mut kept);
            }
            add_named_files(start, home, &mut kept);
        }
        let mut writable = vec![root.to_owned()];
        writable.extend(args.in_place.then(|| project.to_owned()));
        let view = FileView {
            empty: root.join("empty"),
            temporary: folder.environment.temporary.clone(),
            writable,
            kept,
            home: home.map(Path::to_owned),
        };
        if let Ok(hidden_home) = restrict_files(&view) {
            isolation.read_only_files = true;
            isolation.hidden_home = hidden_home;
        }
        // The working directory is below the mounts, where it can be written to.
        std::env::set_current_dir(&folder.environment.project)?;
    }
    Ok((folder, isolation))
}

/// Adds the files that a command names by absolute paths: with their folders, because a script may load its neighbours.
/// The home folder itself is not added.
fn add_named_files(start: &HookStart, home: Option<&Path>, kept: &mut Vec<PathBuf>) {
    let line = start.to_line();
    let is_end = |sign: char| sign.is_whitespace() || "\"';&|()<>".contains(sign);
    for path in line.split(is_end).map(Path::new).filter(|path| path.is_absolute()) {
        let Ok(target) = path.canonicalize() else { continue };
        for path in [path, &target] {
            let is_above_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
            let folder = if path.is_dir() { Some(path) } else { path.parent() };
            match folder.filter(|folder| folder.components().count() > 2 && !is_above_home(folder))
            {
                Some(folder) => add_with_target(folder, kept),
                None if path.is_file() => add_with_target(path, kept),
                None => {}
            }
        }
    }
}

/// Returns the command of the process that enters namespaces, or that of the process in them.
fn own_command(
    args: &HookRunStart<'_>,
    root: &Path,
    namespaces: Option<Namespaces>,
) -> CommandResult<Command> {
    let program = environment::current_program().ok_or_else(|| {
        CommandError::Refused("cannot find the program of this process; start it again".to_owned())
    })?;
    let mut command = Command::new(program);
    // Before the command behind `--`, which would take the options for its own.
    command.args(&args.words).arg("--scratch").arg(root).stdin(Stdio::null());
    if let Some(value) = namespaces.and_then(|namespaces| namespaces.to_possible_value()) {
        command.args(["--namespaces", value.get_name()]);
    }
    if !args.command.is_empty() {
        command.arg("--").args(args.command);
    }
    Ok(command)
}

fn signal_failure() -> CommandError {
    let message = "a signal ended the run: the hook may have killed the process that started it; look for `kill` in it";
    CommandError::Refused(message.to_owned())
}

/// Returns the start of the processes of a test.
pub(in crate::commands::contract) fn test_start(args: &HookTestArgs) -> HookRunStart<'_> {
    let mut words: Vec<OsString> = ["contract", "test", "--yes"].map(OsString::from).to_vec();
    let mut add = |option: &str, value: OsString| words.extend([option.into(), value]);
    if let Some(event) = args.event {
        add("--event", event.as_str().into());
    }
    for tool in &args.tool {
        add("--tool", tool.into());
    }
    if let Some(budget) = args.budget {
        add("--budget", budget.to_string().into());
    }
    if let Some(path) = &args.settings {
        add("--settings", path.into());
    }
    if let Some(client) = args.client.client {
        add("--client", client.to_string().into());
    }
    if let Some(format) = args.chosen_format().to_possible_value() {
        add("--format", format.get_name().into());
    }
    for path in &args.tests {
        add("--tests", path.into());
    }
    if args.update {
        words.push("--update".into());
    }
    if args.in_place {
        words.push("--in-place".into());
    }
    HookRunStart { words, command: &args.command, in_place: args.in_place }
}
