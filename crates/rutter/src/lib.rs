//! The commands of `rutter`, as a library, so that the task runner can document and package them.
//!
//! `main.rs` is the binary. Everything here returns [`CommandError`]s and writes to a [`ui::Ui`]; only the
//! binary prints and exits.

mod ask;
mod atomic_file;
pub mod cli;
mod command_error;
mod commands;
mod demo;
pub mod doctor;
mod environment;
mod harmless;
pub mod hook;
mod install;
pub mod live_recorder;
pub mod quick;
pub mod recorder;
mod scratch;
mod shell;
pub mod ui;
mod values_page;

use std::io::Write as _;

pub use command_error::{CommandError, CommandResult};
use rutter_check::process;

/// Runs a parsed command line.
pub fn run(cli: &cli::Cli, ui: &mut ui::Ui<'_>) -> CommandResult {
    use cli::{CliCommand, ContractCommand};

    environment::accept_sudo_user();
    // Exports must stay importable and the MCP server speaks a protocol, so their output is not filtered. Scripts for
    // shells, and events, payloads and schemas, have no text of others.
    if matches!(
        cli.command,
        CliCommand::Export(_)
            | CliCommand::Mcp(_)
            | CliCommand::Completions(_)
            | CliCommand::Contract {
                command: ContractCommand::Events(_)
                    | ContractCommand::Schema(_)
                    | ContractCommand::Payload(_)
            }
    ) {
        return run_command(cli, ui);
    }
    let colours = ui.screen.is_some_and(|screen| screen.colours);
    let mut out = harmless::HarmlessWriter::new(&mut *ui.out, colours);
    let mut err = harmless::HarmlessWriter::new(&mut *ui.err, colours);
    let done = run_command(
        cli,
        &mut ui::Ui {
            input: &mut *ui.input,
            out: &mut out,
            err: &mut err,
            terminal: ui.terminal,
            screen: ui.screen,
        },
    );
    out.flush()?;
    err.flush()?;
    done
}

fn run_command(cli: &cli::Cli, ui: &mut ui::Ui<'_>) -> CommandResult {
    use cli::CliCommand;

    // Commands without a store must work without a home folder.
    match &cli.command {
        CliCommand::Contract { command } => return commands::contract::run(command, ui),
        CliCommand::Completions(args) => return commands::completions::run(args, ui),
        CliCommand::Demo(args) => return commands::demo::run(args, ui),
        // The binary handles hooks before it parses the command line. Only a caller of the library gets here.
        CliCommand::Hook(_) => return Ok(()),
        CliCommand::Outcome(args) => return commands::outcome::run(args, ui),
        _ => {}
    }
    run_in_environment(cli, &environment::Environment::from_process()?, ui)
}

fn run_in_environment(
    cli: &cli::Cli,
    env: &environment::Environment,
    ui: &mut ui::Ui<'_>,
) -> CommandResult {
    use cli::CliCommand;

    // Doctor reports an unsafe data directory itself. Settings can be read and removed without it.
    if !matches!(
        cli.command,
        CliCommand::Doctor(_) | CliCommand::Config { .. } | CliCommand::Uninstall(_)
    ) {
        env.secure_data(ui)?;
    }
    match &cli.command {
        CliCommand::Contract { .. }
        | CliCommand::Completions(_)
        | CliCommand::Demo(_)
        | CliCommand::Outcome(_)
        | CliCommand::Hook(_) => Ok(()),
        CliCommand::Init(args) => commands::init::run(args, env, ui),
        CliCommand::Uninstall(args) => commands::uninstall::run(args, env, ui),
        CliCommand::Gate { command } => commands::gate::run(command, env, ui),
        CliCommand::Task { command } => commands::task::run(command, env, ui),
        CliCommand::Ghap { command } => commands::ghap::run(command, env, ui),
        CliCommand::Remember(args) => commands::memories::remember(args, env, ui),
        CliCommand::Memories(args) => commands::memories::list_memories(args, env, ui),
        CliCommand::Edit(args) => commands::memories::edit_row(args, env, ui),
        CliCommand::Forget(args) => commands::forget::run(args, env, ui),
        CliCommand::Export(args) => commands::exchange::export(args, env, ui),
        CliCommand::Import { command } => commands::exchange::import(command, env, ui),
        CliCommand::Review(args) => commands::review::run(args, env, ui),
        CliCommand::Show(args) => commands::show::run(args, env, ui),
        CliCommand::Recall(args) => commands::recall::run(args, env, ui),
        CliCommand::Episodes { command } => commands::episodes::run(command, env, ui),
        CliCommand::Values { command } => commands::values::run(command, env, ui),
        CliCommand::Context(args) => commands::context::run(args, env, ui),
        CliCommand::Status(args) => commands::status::run(args, env, ui),
        CliCommand::Sessions { command } => commands::sessions::run(command, env, ui),
        CliCommand::Injections(args) => commands::injections::run(args, env, ui),
        CliCommand::Pause(args) => commands::pause::run(args, env, ui),
        CliCommand::Project { command } => commands::project::run(command, env, ui),
        CliCommand::Doctor(args) => commands::doctor::run(args, env, ui),
        CliCommand::Config { command } => commands::config::run(command, env, ui),
        CliCommand::Trust(args) => commands::trust::run(args, env, ui),
        CliCommand::Mcp(args) => commands::mcp::serve(args, env, ui),
        CliCommand::Call(args) => commands::mcp::call_tool(args, env, ui),
        CliCommand::Maintain(args) => commands::maintain::run(args, env, ui),
    }
}
