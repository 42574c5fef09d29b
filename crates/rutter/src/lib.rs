//! The commands of `rutter`, as a library, so that the task runner can document and package them.
//!
//! `main.rs` is the binary. Everything here returns [`Failure`]s and writes to a [`ui::Ui`]; only the
//! binary prints and exits.

mod ask;
pub mod cli;
mod commands;
mod demo;
pub mod doctor;
mod environment;
mod failure;
mod file;
mod harmless;
pub mod hook;
mod install;
mod report;
mod scratch;
mod shell;
pub mod ui;

use std::io::Write as _;

pub use failure::Failure;

/// Runs a parsed command line.
pub fn run(cli: &cli::Cli, ui: &mut ui::Ui<'_>) -> Result<(), Failure> {
    use cli::Command;

    environment::accept_sudo_user();
    // Commands without a store must work without a home folder.
    match &cli.command {
        Command::Contract { command } => return commands::contract::run(command, ui),
        Command::Completions(args) => return commands::completions::run(args, ui),
        Command::Demo(args) => return commands::demo::run(args, ui),
        // The binary handles hooks before it parses the command line. Only a caller of the library gets here.
        Command::Hook(_) => return Ok(()),
        Command::Outcome(args) => return commands::outcome::run(args, ui),
        _ => {}
    }
    let env = environment::Environment::read()?;
    // Exports must stay importable and the MCP server speaks a protocol, so their output is not filtered.
    if matches!(cli.command, Command::Export(_) | Command::Mcp(_)) {
        return run_in(cli, &env, ui);
    }
    let colours = ui.screen.is_some_and(|screen| screen.colours);
    let mut out = harmless::HarmlessWriter::new(&mut *ui.out, colours);
    let mut err = harmless::HarmlessWriter::new(&mut *ui.err, colours);
    let done = run_in(
        cli,
        &env,
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

fn run_in(
    cli: &cli::Cli,
    env: &environment::Environment,
    ui: &mut ui::Ui<'_>,
) -> Result<(), Failure> {
    use cli::Command;

    // Doctor reports an unsafe data directory itself. Settings can be read and removed without it.
    if !matches!(cli.command, Command::Doctor(_) | Command::Config { .. } | Command::Uninstall(_)) {
        env.secure_data(ui)?;
    }
    match &cli.command {
        Command::Contract { .. }
        | Command::Completions(_)
        | Command::Demo(_)
        | Command::Outcome(_)
        | Command::Hook(_) => Ok(()),
        Command::Init(args) => commands::init::run(args, env, ui),
        Command::Uninstall(args) => commands::uninstall::run(args, env, ui),
        Command::Ghap { command } => commands::ghap::run(command, env, ui),
        Command::Remember(args) => commands::memories::remember(args, env, ui),
        Command::Memories(args) => commands::memories::list(args, env, ui),
        Command::Edit(args) => commands::memories::edit(args, env, ui),
        Command::Forget(args) => commands::forget::run(args, env, ui),
        Command::Export(args) => commands::exchange::export(args, env, ui),
        Command::Import { command } => commands::exchange::import(command, env, ui),
        Command::Review(args) => commands::review::run(args, env, ui),
        Command::Show(args) => commands::show::run(args, env, ui),
        Command::Recall(args) => commands::recall::run(args, env, ui),
        Command::Episodes { command } => commands::episodes::run(command, env, ui),
        Command::Values { command } => commands::values::run(command, env, ui),
        Command::Context(args) => commands::context::run(args, env, ui),
        Command::Status(args) => commands::status::run(args, env, ui),
        Command::Sessions { command } => commands::sessions::run(command, env, ui),
        Command::Injections(args) => commands::injections::run(args, env, ui),
        Command::Pause(args) => commands::pause::run(args, env, ui),
        Command::Project { command } => commands::project::run(command, env, ui),
        Command::Doctor(args) => commands::doctor::run(args, env, ui),
        Command::Config { command } => commands::config::run(command, env, ui),
        Command::Trust(args) => commands::trust::run(args, env, ui),
        Command::Mcp(args) => commands::mcp::serve(args, env, ui),
        Command::Call(args) => commands::mcp::call(args, env, ui),
        Command::Tend(args) => commands::tend::run(args, env, ui),
    }
}
