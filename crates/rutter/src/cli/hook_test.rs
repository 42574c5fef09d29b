//! The arguments of `rutter contract test`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rutter_contract::EventName;

use super::{ClientArgs, EventParser};

/// `rutter contract test`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct HookTestArgs {
    /// The event name, as Claude Code spells it [default: the events that the script names, or all events of the settings]
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Option<EventName>,
    /// Only calls of this tool; may be repeated [default: the tools that were recorded]
    #[arg(long, value_name = "TOOL")]
    pub tool: Vec<String>,
    /// The settings file, plugin or project folder with the hooks [default: what a client reads here]
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub settings: Option<PathBuf>,
    /// Run the tests of these files (*.hooktest.toml) instead of the built-in payloads
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["settings", "event", "tool"])]
    pub tests: Vec<PathBuf>,
    /// The longest time of a hook in milliseconds, for 95 % of the payloads [default: 50 to 10000, by the event; only shown]
    #[arg(long, value_name = "MS", conflicts_with = "tests")]
    pub budget: Option<u64>,
    /// Write the observed verdicts, texts and exit codes into the test files, for tests that fail or expect nothing
    #[arg(long, requires = "tests")]
    pub update: bool,
    /// Run the commands without asking
    #[arg(long)]
    pub yes: bool,
    /// Run in the project folder itself, not in a copy
    #[arg(long)]
    pub in_place: bool,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
    /// Print JSON; short for `--format json`
    #[arg(long)]
    pub json: bool,
    /// The output format; `junit` and `tap` are for --tests
    #[arg(long, value_enum, default_value_t = HookTestFormat::Text)]
    pub format: HookTestFormat,
    /// The stage of the run.
    #[command(flatten)]
    pub stage: StageArgs,
    /// The command of the hook: one argument for a shell, several for a program with arguments
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<String>,
}

/// The output formats of `rutter contract test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookTestFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
    /// JUnit XML, for CI
    Junit,
    /// Test Anything Protocol
    Tap,
}

/// The namespaces of the process that runs the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Namespaces {
    /// Those of the user.
    Shared,
    /// A network of its own, which has no interfaces.
    Network,
    /// A network, mounts and processes of its own.
    Own,
}

/// The arguments of the processes that a run of hooks starts. People give none of them.
#[derive(Debug, Clone, Default, Args)]
pub struct StageArgs {
    /// The scratch folder, for the process that runs the hooks and the one that starts it.
    #[arg(long, hide = true)]
    pub scratch: Option<PathBuf>,
    /// The namespaces, for the process that runs the hooks.
    #[arg(long, hide = true, value_enum)]
    pub namespaces: Option<Namespaces>,
}

impl StageArgs {
    /// Returns the scratch folder and the namespaces of the process that runs the hooks. None for other processes.
    pub fn of_run(&self) -> Option<(&Path, Namespaces)> {
        self.scratch.as_deref().zip(self.namespaces)
    }

    /// Returns the scratch folder if this is the process that enters namespaces.
    pub fn of_start(&self) -> Option<&Path> {
        self.scratch.as_deref().filter(|_| self.namespaces.is_none())
    }
}

impl HookTestArgs {
    /// Returns the requested format; `--json` wins.
    pub fn chosen_format(&self) -> HookTestFormat {
        if self.json { HookTestFormat::Json } else { self.format }
    }
}
