//! The command line: what can be typed, and its help. Nothing here touches the world.
//!
//! Help, completions, man pages and `docs/reference/commands.md` all come from these types.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rutter_contract::version::Version;
use rutter_contract::{EventName, UnknownEvent};

pub mod config;
pub mod demo;
pub mod install;
pub mod memory;
pub mod server;
pub mod steer;
pub mod values;

/// A learning memory for coding agents, and a toolkit for their hooks.
///
/// Claude Code's hooks fail silently: a wrong key is dropped without a word. Rutter knows the whole
/// contract, measured on the real client.
#[derive(Debug, Parser)]
#[command(name = "rutter", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 clean, 1 findings or a refused operation, 2 wrong usage.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it work, in a minute: two sessions of a scripted agent, heard by the real hooks
    ///
    /// Needs no client and no network. Project and memory are in a temporary folder that is removed at the end; nothing
    /// of yours is read or changed.
    Demo(demo::DemoArgs),
    /// The hook contract of Claude Code: events, schemas, payloads
    Contract {
        /// What to do with it.
        #[command(subcommand)]
        command: ContractCommand,
    },
    /// Have Claude Code run rutter: adds its hooks to the settings of this folder, of yours, of a team, or makes a plugin
    ///
    /// Other people's entries, and the layout of the file, stay as they are. Run it again after an update. To see every
    /// line that would change: rutter init --dry-run
    Init(install::InitArgs),
    /// Take rutter's hooks out of the settings again, and leave everything else as it was
    ///
    /// The memory is kept.
    Uninstall(install::UninstallArgs),
    /// What you set out to do: goal, hypothesis, action, prediction
    Ghap {
        /// What to do with it.
        #[command(subcommand)]
        command: memory::GhapCommand,
    },
    /// Remember something
    ///
    /// What is remembered already in the same words is not added again. For example:
    /// rutter remember "CI runs on Postgres 17, not 16" --category fact --tag ci
    Remember(memory::RememberArgs),
    /// List what is remembered here, the newest first
    Memories(memory::MemoriesArgs),
    /// Change a memory, or the lesson of a GHAP
    Edit(memory::EditArgs),
    /// Say what a run of tests, a build or a check said, and how that was decided
    ///
    /// Reads what it printed from stdin; nothing is stored. For example:
    /// pytest > log; rutter outcome --command pytest --exit $? < log
    Outcome(memory::OutcomeArgs),
    /// Forget rows, and every byte they were written with
    ///
    /// What would go is listed first. The log and damaged databases that were put aside go as well, because
    /// nobody can say what is in them. Without a terminal it needs --yes.
    Forget(memory::ForgetCommand),
    /// Write everything out as lines of JSON
    Export(memory::ExportArgs),
    /// Take rows in, list what was taken in, and take it out again
    Import {
        /// What to do.
        #[command(subcommand)]
        command: memory::ImportCommand,
    },
    /// Decide what waits for you: imports, values, memories that are to hold everywhere
    ///
    /// Agents and files propose; nothing of it holds beyond its project until you accept it.
    Review(memory::ReviewArgs),
    /// Show any row by its id, and where it came from
    Show(memory::ShowRowArgs),
    /// Find what was learnt or remembered, by words and by meaning
    ///
    /// For example: rutter recall "the total is wrong after a discount" --why
    Recall(memory::RecallArgs),
    /// Failures that were followed: what was tried, and what turned them green
    Episodes {
        /// What to do with them.
        #[command(subcommand)]
        command: memory::EpisodesCommand,
    },
    /// What many lessons have in common: clusters of experiences, and what was made of them
    ///
    /// What three experiences or more have in common is a cluster. A value says it in a sentence, and opens later sessions.
    Values {
        /// What to do with them.
        #[command(subcommand)]
        command: values::ValuesCommand,
    },
    /// What would be put before an agent for a prompt, exactly as it would read it
    ///
    /// Without a prompt: what a new session begins with. In a session of the client, what is in its context already is
    /// left out. For example:
    /// rutter context "the cache test is flaky again" --why
    Context(steer::ContextArgs),
    /// Where things stand here: session, GHAP, runs, failures, and how much there is
    Status(steer::StatusArgs),
    /// Sessions of the client, and what happened in them
    Sessions {
        /// What to do with them.
        #[command(subcommand)]
        command: steer::SessionsCommand,
    },
    /// What agents of this project were shown: when, on which event, how likely it was meant
    Injections(steer::InjectionsArgs),
    /// Leave agents alone: hooks neither record nor say anything until it is ended
    ///
    /// `RUTTER=off` in the environment of a client does the same for that client.
    Pause(steer::PauseArgs),
    /// The projects there is something about
    Project {
        /// What to do with them.
        #[command(subcommand)]
        command: memory::ProjectCommand,
    },
    /// Find every way in which hooks die silently, and say what to type
    ///
    /// Looks, from the folder it is typed in, at the client, its settings and servers, our entries in them and the program they
    /// run, runs each hook and the server in a scratch memory, and looks at the memory itself. Ends with 1 if something does not work; warnings and
    /// notes are no failure. docs/reference/doctor.md has every code.
    Doctor(memory::DoctorArgs),
    /// What you have decided: which hooks speak, how much, where, and what is kept
    Config {
        /// What to do with it.
        #[command(subcommand)]
        command: config::ConfigCommand,
    },
    /// Let the .rutter.toml of this checkout have what it wants, as long as it stays as it is
    ///
    /// Until then it can make rutter do less, and never more. What it wants is shown first. Without a terminal it needs
    /// --yes.
    Trust(config::TrustArgs),
    /// Take in what hooks left in the spool, keep the bounds, fold the log of changes into the database
    ///
    /// Hooks start it when there is something to do. It leaves when another one is at it.
    Tend(memory::TendArgs),
    /// Serve the memory to an agent as tools, by MCP through stdin and stdout
    ///
    /// The client starts it; `rutter init` registers it. For a client that cannot start programs: rutter mcp --http
    Mcp(server::McpArgs),
    /// Call one of the tools that an agent has, and print what it gives
    ///
    /// For example: rutter call search_experiences '{"query": "rounding"}'
    Call(server::CallArgs),
    /// Take in an event of the client, as its hooks do: payload on stdin, answer on stdout, always exit 0
    Hook(memory::HookArgs),
    /// Print a completion script for a shell
    ///
    /// For example: rutter completions fish > ~/.config/fish/completions/rutter.fish
    Completions(CompletionsArgs),
}

/// `rutter contract …`
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    /// List the hook events: when each fires, what it may answer, what the client does
    Events(EventsArgs),
    /// Print the JSON Schema of what a hook may answer, or of what it is sent
    Schema(SchemaArgs),
    /// Say what the client will do with a hook's answer
    ///
    /// Reads what the hook printed from stdin. The verdict is that of a headless run; where an interactive
    /// session differs it says so. For example:
    /// ./my-hook < payload.json | rutter contract explain PreToolUse
    Explain(ExplainArgs),
    /// Print a realistic payload to try a hook on
    ///
    /// The payloads were captured from the real client. Where none was, one is built from the event
    /// table and stderr says so. For example: rutter contract payload PreToolUse --tool Edit | ./my-hook
    Payload(PayloadArgs),
}

/// Which client the answer is for.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// The version of Claude Code, as `claude --version` prints it [default: the newest measured]
    #[arg(long, value_name = "VERSION")]
    pub client: Option<Version>,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArgs {
    /// Print JSON; short for `--format json`
    #[arg(long)]
    pub json: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The ways a report can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl FormatArgs {
    /// The format that was asked for.
    pub fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// `rutter contract events`
#[derive(Debug, Args)]
pub struct EventsArgs {
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
    /// For which client.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// `rutter contract schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The event, spelt as the client spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// The schema of the payload instead of the answer
    #[arg(long)]
    pub input: bool,
    /// One self-contained document, without references to other files
    #[arg(long)]
    pub bundle: bool,
    /// For which client.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// `rutter contract explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The event, spelt as the client spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// The exit code of the hook
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=255))]
    pub exit: i32,
    /// What the hook printed to stderr
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub stderr: String,
    /// For which client.
    #[command(flatten)]
    pub client: ClientArgs,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter contract payload`
#[derive(Debug, Args)]
pub struct PayloadArgs {
    /// The event, spelt as the client spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// A call of this tool (Bash, Edit, mcp__server__tool, …)
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

/// Reads the name of an event, and tells the shells which there are.
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
        // The whole value stays out of the message: it may be a payload that was pasted by mistake.
        value.to_string_lossy().parse().map_err(|error: UnknownEvent| {
            clap::Error::raw(ErrorKind::InvalidValue, format!("{error}\n")).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(EventName::ALL.into_iter().map(|event| PossibleValue::new(event.as_str()))))
    }
}

/// The definition that help, completions and man pages are made from.
pub fn command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_sound() {
        super::command().debug_assert();
    }
}
