//! The surroundings in which hooks run: a copy of the project, an empty home, and no network where the system allows.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::ValueEnum as _;
use rutter_check::tester::{
    CopyError, TRIAL_SESSION_ID, TrialEnvironment, copy_project, transcript_path,
};
use serde::Serialize;
use serde_json::json;

use crate::cli::hook_test::HookTestArgs;
use crate::environment;
use crate::process;
use crate::scratch::ScratchFolder;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The program that starts another one without a network, and its options.
const UNSHARE: [&str; 4] = ["unshare", "--user", "--map-current-user", "--net"];
/// Time limit for finding out whether the system allows that.
const UNSHARE_TIMEOUT: Duration = Duration::from_secs(5);

/// The measures that keep hooks away from the user's files and the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::commands::contract) struct Isolation {
    /// True if the hooks ran on a copy of the project.
    pub(in crate::commands::contract) project_copy: bool,
    /// True if the hooks had an empty home folder.
    pub(in crate::commands::contract) scratch_home: bool,
    /// True if the hooks had no network.
    pub(in crate::commands::contract) no_network: bool,
}

/// The folders of a run.
pub(in crate::commands::contract) struct TrialFolder {
    pub(in crate::commands::contract) environment: TrialEnvironment,
    pub(in crate::commands::contract) isolation: Isolation,
    scratch: ScratchFolder,
}

impl TrialFolder {
    /// Creates the folders, with a copy of the project if the hooks may not run in it.
    pub(in crate::commands::contract) fn create(
        project: &Path,
        args: &HookTestArgs,
    ) -> CommandResult<Self> {
        Self::create_for(project, args.in_place, args.without_network)
    }

    /// Creates the folders of a run, which may be in the project itself, or without a network.
    pub(in crate::commands::contract) fn create_for(
        project: &Path,
        in_place: bool,
        without_network: bool,
    ) -> CommandResult<Self> {
        let scratch = ScratchFolder::open("test")?;
        // Programs resolve their working directory, and payloads must name the same path.
        let root = scratch.path().canonicalize()?;
        let (copy, home) = (root.join("project"), root.join("home"));
        let mut environment = TrialEnvironment {
            project: project.to_owned(),
            temporary: root.join("tmp"),
            variables: environment::hook_variables(),
            home,
        };
        environment.variables.push(("RUTTER_HOME".into(), root.join("memory").into()));
        let refused = |error: io::Error| {
            CommandError::Refused(format!(
                "could not prepare the scratch folder: {error}; set TMPDIR to a folder with room"
            ))
        };
        if !in_place {
            copy_project(project, &copy).map_err(|error| {
                match error {
                CopyError::TooLarge => CommandError::Refused(
                    "the project has more than 100 MB or 50000 files, and hooks run on a copy; add \
                     --in-place to run them in the project itself"
                        .to_owned(),
                ),
                CopyError::Io(error) => refused(error),
            }
            })?;
            environment.project = copy;
        }
        create_files(&environment).map_err(refused)?;
        let isolation =
            Isolation { project_copy: !in_place, scratch_home: true, no_network: without_network };
        Ok(Self { environment, isolation, scratch })
    }

    pub(in crate::commands::contract) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Waits for processes that hooks have left behind, and removes the folders.
    pub(in crate::commands::contract) fn close(self) -> CommandResult {
        self.scratch.close()
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

/// Runs this command again in a process without a network, and returns its result. Returns None if the system does not
/// allow that.
pub(in crate::commands::contract) fn run_without_network(
    args: &HookTestArgs,
    ui: &mut Ui<'_>,
) -> CommandResult<Option<CommandResult>> {
    run_words_without_network(&command_words(args), ui)
}

/// Runs rutter with these words in a process without a network, and returns its result. Returns None if the system does not
/// allow that.
pub(in crate::commands::contract) fn run_words_without_network(
    words: &[OsString],
    ui: &mut Ui<'_>,
) -> CommandResult<Option<CommandResult>> {
    let Some(program) = environment::current_program() else { return Ok(None) };
    let mut probe = unshare_command();
    probe.arg("true");
    let probed = process::run_with_limit(&mut probe, b"", UNSHARE_TIMEOUT);
    if !probed.is_ok_and(|ended| ended.exit == Some(0)) {
        return Ok(None);
    }
    ui.out.flush()?;
    let mut command = unshare_command();
    command.arg(program).args(words).stdin(Stdio::null());
    let status = command.status()?;
    Ok(Some(match status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(CommandError::Usage("the run without a network was refused".to_owned())),
        Some(_) => Err(CommandError::Findings),
        None => Err(CommandError::Refused(
            "a signal ended the run: the hook may have killed the process that started it; look for \
             `kill` in it"
                .to_owned(),
        )),
    }))
}

fn unshare_command() -> Command {
    let mut command = Command::new(UNSHARE[0]);
    command.args(&UNSHARE[1..]);
    command
}

/// Returns the command line of the process without a network.
fn command_words(args: &HookTestArgs) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["contract", "test", "--yes", "--without-network"].map(OsString::from).to_vec();
    let mut add = |option: &str, value: OsString| words.extend([option.into(), value]);
    if let Some(event) = args.event {
        add("--event", event.as_str().into());
    }
    for tool in &args.tool {
        add("--tool", tool.into());
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
    if args.in_place {
        words.push("--in-place".into());
    }
    if !args.command.is_empty() {
        words.push("--".into());
        words.extend(args.command.iter().map(OsString::from));
    }
    words
}
