//! The definition of the command line and its help text. Parsing reads no files and has no side effects.
//!
//! Help, completions, man pages and `docs/reference/commands.md` all come from these types.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rutter_contract::version::Version;
use rutter_contract::{EventName, UnknownEvent};

pub mod author;
pub mod config;
pub mod demo;
pub mod fix;
pub mod gate;
mod help;
pub mod hook_test;
pub mod install;
pub mod lint;
pub mod live;
pub mod memory;
pub mod record;
pub mod server;
pub mod steer;
pub mod task;
pub mod values;

/// A learning memory for coding agents, and a toolkit for their hooks.
///
/// Claude Code's hooks fail silently: a wrong key is dropped without an error message. Rutter has the whole hook
/// contract, measured on the real client.
#[derive(Debug, Parser)]
#[command(name = "rutter", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 findings or a refused operation, 2 wrong usage.")]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Show rutter at work in one minute, with a scripted agent
    ///
    /// Plays two sessions through the real hooks. Needs neither Claude Code nor a network. The project and the memory are in a temporary folder that is removed at
    /// the end; your own files are neither read nor changed.
    Demo(demo::DemoArgs),
    /// Look up Claude Code's hook contract: events, schemas, payloads
    Contract {
        /// The subcommand.
        #[command(subcommand)]
        command: ContractCommand,
    },
    /// Add rutter's hooks and tools to Claude Code
    ///
    /// Without options, for you in this folder. Existing entries and the layout of the file stay unchanged. Run it again
    /// after an update.
    Init(install::InitArgs),
    /// Remove rutter's hooks and tools from Claude Code
    ///
    /// All other settings, and the memory, are kept.
    Uninstall(install::UninstallArgs),
    /// Enable gates, which deny calls of an agent by rules
    ///
    /// All gates are off until you enable one for a project.
    Gate {
        /// The subcommand.
        #[command(subcommand)]
        command: gate::GateCommand,
    },
    /// Manage the tasks of this checkout: order, states, deliverables
    ///
    /// The tasks are in .claude/memory/task-index.json, in the format of claude-code-sub-agent-collective. Fields that
    /// Rutter does not know are kept.
    Task {
        /// The subcommand.
        #[command(subcommand)]
        command: task::TaskCommand,
    },
    /// Record and resolve a GHAP: goal, hypothesis, action, prediction
    Ghap {
        /// The subcommand.
        #[command(subcommand)]
        command: memory::GhapCommand,
    },
    /// Store a memory
    ///
    /// Nothing is added if a memory with the same words exists.
    Remember(memory::RememberArgs),
    /// List the memories that apply to this project, newest first
    Memories(memory::MemoriesArgs),
    /// Change a memory, or the lesson of a GHAP
    Edit(memory::MemoryEditArgs),
    /// Explain how rutter reads the output of a test run, build or check
    ///
    /// Reads the output from stdin and stores nothing.
    Outcome(memory::OutcomeArgs),
    /// Delete rows, and erase every byte of them from the files
    ///
    /// Lists the rows first. Also deletes the log and damaged databases that were set aside, because their content is
    /// unknown. Without a terminal it needs --yes.
    Forget(memory::ForgetCommandArgs),
    /// Export the memory as lines of JSON
    Export(memory::ExportArgs),
    /// Import rows from a JSONL file, list the imports, or undo one
    Import {
        /// The subcommand.
        #[command(subcommand)]
        command: memory::ImportCommand,
    },
    /// Accept or reject proposals: imports, values, memories
    ///
    /// Lists the proposals if you give no subcommand. Agents and imported files can only propose a row that applies to
    /// every project: it takes effect once you accept it.
    Review(memory::ReviewArgs),
    /// Show any row by its id, with its origin
    Show(memory::ShowRowArgs),
    /// Search lessons and memories by words and by meaning
    Recall(memory::RecallArgs),
    /// List or show past failures, and the changes that fixed them
    Episodes {
        /// The subcommand.
        #[command(subcommand)]
        command: memory::EpisodesCommand,
    },
    /// Manage values: lessons that several experiences have in common
    ///
    /// A cluster is a group of three or more similar experiences. A value states their common lesson in one sentence,
    /// and is shown at the start of later sessions.
    Values {
        /// The subcommand.
        #[command(subcommand)]
        command: values::ValuesCommand,
    },
    /// Print the context that an agent would get for a prompt
    ///
    /// Without a prompt: the context at the start of a new session. Inside a Claude Code session, rows that are already
    /// in its context are left out.
    Context(steer::ContextArgs),
    /// Show the state of this project: session, GHAP, runs, failures
    Status(steer::StatusArgs),
    /// List or show Claude Code sessions and their events
    Sessions {
        /// The subcommand.
        #[command(subcommand)]
        command: steer::SessionsCommand,
    },
    /// List the rows that agents of this project were shown
    ///
    /// Prints the time, the event and the estimated relevance of each row.
    Injections(steer::InjectionsArgs),
    /// Pause the hooks, or end a pause
    ///
    /// Paused hooks record nothing and print nothing until you run `rutter pause --off`. `RUTTER=off` in the environment of Claude Code does the same for that process.
    Pause(steer::PauseArgs),
    /// List, show or merge projects
    Project {
        /// The subcommand.
        #[command(subcommand)]
        command: memory::ProjectCommand,
    },
    /// Find hooks that fail silently, and print how to fix them
    ///
    /// Checks, from the current folder, Claude Code, its settings and servers, rutter's entries in them and the program
    /// they run. Runs each hook and the server with a scratch memory, and checks the memory itself. Exits with 1 if
    /// something does not work; warnings and notes do not count. docs/reference/doctor.md lists every code.
    Doctor(memory::DoctorArgs),
    /// Show, check or locate the configuration
    Config {
        /// The subcommand.
        #[command(subcommand)]
        command: config::ConfigCommand,
    },
    /// Trust the .rutter.toml of this checkout until the file changes
    ///
    /// An untrusted file can only make rutter do less. Prints the requested changes first. Without a terminal it needs
    /// --yes.
    Trust(config::TrustArgs),
    /// Maintain the memory: store waiting entries, delete old runs
    ///
    /// Stores the entries that hooks could not write in time, applies the retention limits, checkpoints the write-ahead
    /// log, and updates the search files and the clusters. Hooks start it when there is work. It exits if another one is
    /// running.
    #[command(alias = "tend")]
    Maintain(memory::MaintainArgs),
    /// Serve the memory to an agent as MCP tools
    ///
    /// Uses stdin and stdout. Claude Code starts it; `rutter init` registers it. For a client that cannot start programs
    /// use --http.
    Mcp(server::McpArgs),
    /// Call one of the MCP tools and print its result
    Call(server::CallArgs),
    /// Handle a hook event: payload on stdin, answer on stdout
    ///
    /// Claude Code starts it; `rutter init` registers it. Always exits with 0.
    Hook(memory::HookArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// `rutter contract …`
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    /// List the hook events: when each fires, which answers it takes, and their effect
    Events(ContractEventsArgs),
    /// Print the JSON Schema of a hook's answer, or of its payload
    Schema(ContractSchemaArgs),
    /// Explain the effect of a hook's answer on Claude Code
    ///
    /// Reads the hook's stdout from stdin. The verdict is for a headless run, with a note if an interactive session
    /// differs.
    Explain(ContractExplainArgs),
    /// Print a realistic payload to try a hook on
    ///
    /// Payloads are captured from the real client. Without a capture, the payload is built from the event table, and
    /// stderr has a note.
    Payload(ContractPayloadArgs),
    /// Find mistakes in settings, plugins and hook scripts that Claude Code does not report
    ///
    /// Checks every file that a client started here reads, or the given paths. Exits with 1 if a hook does not work;
    /// with `--deny warnings` also for warnings.
    Lint(lint::LintArgs),
    /// List the rules of `contract lint`, or print the page of one
    Rules(lint::RulesArgs),
    /// Run a hook as Claude Code does, on realistic, provoking and hostile payloads, and say what it blocks
    ///
    /// Runs on a copy of the project with an empty home folder, and without a network where the system allows. Asks before
    /// it runs a command. Exits with 1 if the hook has a defect. A hook that is silent on every payload is unknown, not good.
    Test(hook_test::HookTestArgs),
    /// Correct the answers that a hook script prints, in the script itself
    ///
    /// Prints the corrections as a diff. Only literal answers are corrected: `echo`, `printf`, here-documents, `jq -n`, and
    /// objects of Python and JavaScript. Exits with 1 if a mistake is left.
    Fix(fix::FixArgs),
    /// Record what the client sends to hooks and what they answer
    ///
    /// Puts a recorder in front of the command hooks of the settings, which passes everything on unchanged. `off` restores the
    /// settings exactly. Secrets are removed before anything is written.
    Record {
        /// The subcommand.
        #[command(subcommand)]
        command: record::RecordCommand,
    },
    /// Run hooks again on what was recorded, and compare the verdicts
    ///
    /// Runs the hooks as the settings have them now, or the given command, on a copy of the project like `contract test`. Exits
    /// with 1 if a verdict differs. With --client it compares the verdicts of the recorded answers, and runs nothing.
    Replay(record::ReplayArgs),
    /// Run hooks in the installed Claude Code, offline against a scripted model, and say what it did with their answers
    ///
    /// Runs on a copy of the project with an empty home folder. The client gets a made-up key and an address on this machine.
    /// Asks before it runs a command. Exits with 1 if a hook did not fire, or if its answer was lost.
    Live(live::LiveArgs),
    /// Print a correct answer of a hook, for shell scripts
    ///
    /// Exits with 2 if the client would drop the answer: a guard that is written wrongly then blocks.
    Answer(author::AnswerArgs),
    /// Print a field of the payload on stdin, for shell scripts
    ///
    /// Prints a text as it is, and any other value as JSON. Exits with 1 if the payload does not have the field.
    Field(author::FieldArgs),
    /// Run a hook that was written for other documentation, and correct its input and answer
    ///
    /// Adds the keys that such hooks read (tool, command, exit_code, stdout, phase, userPrompt) to the payload on stdin, and
    /// turns an answer that Claude Code would drop into one that works. A right answer passes unchanged.
    Adapt(author::AdaptArgs),
}

/// The client version that the output is for.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// The version of Claude Code, as `claude --version` prints it [default: the newest measured]
    #[arg(long, value_name = "VERSION")]
    pub client: Option<Version>,
}

/// The output format of a report.
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArgs {
    /// Print JSON; short for `--format json`
    #[arg(long)]
    pub json: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
}

impl FormatArgs {
    /// Returns the requested format; `--json` wins.
    pub fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// `rutter contract events`
#[derive(Debug, Args)]
pub struct ContractEventsArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// `rutter contract schema`
#[derive(Debug, Args)]
pub struct ContractSchemaArgs {
    /// The event name, as Claude Code spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// Print the schema of the payload instead of the answer
    #[arg(long)]
    pub input: bool,
    /// Print a self-contained document, without references to other files
    #[arg(long)]
    pub bundle: bool,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// `rutter contract explain`
#[derive(Debug, Args)]
pub struct ContractExplainArgs {
    /// The event name, as Claude Code spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// The exit code of the hook
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=255))]
    pub exit: i32,
    /// The text that the hook printed to stderr
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub stderr: String,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter contract payload`
#[derive(Debug, Args)]
pub struct ContractPayloadArgs {
    /// The event name, as Claude Code spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// Print the payload of a call of this tool (Bash, Edit, mcp__server__tool, …)
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
}

/// `rutter completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Parses the name of an event, and lists all names for shell completions.
#[derive(Debug, Clone)]
struct EventParser;

impl TypedValueParser for EventParser {
    type Value = EventName;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<EventName, clap::Error> {
        // The error message omits the value: it may be a payload that was pasted by mistake.
        value.to_string_lossy().parse().map_err(|error: UnknownEvent| {
            clap::Error::raw(ErrorKind::InvalidValue, format!("{error}\n")).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(EventName::ALL.into_iter().map(|event| PossibleValue::new(event.as_str()))))
    }
}

/// Returns the definition from which help, completions and man pages are generated.
pub fn clap_command() -> clap::Command {
    help::add_help(Cli::command())
}

/// Parses the arguments of this process. Prints help, version and usage errors, and exits after them.
pub fn parse_arguments() -> Cli {
    let matches = clap_command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    #[test]
    fn cli_definition_is_valid() {
        super::clap_command().debug_assert();
    }
}
