//! The `rutter` binary: the only file that prints and exits.
//!
//! A client starts `rutter hook` on every tool call, so this subcommand is handled before any other setup.

use std::ffi::OsStr;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use rutter::cli;
use rutter::ui::{Terminal, Ui};
use rutter_memory::quote::sanitize_line;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == "hook") {
        let mut event = arguments.next();
        let mut from = None;
        if event.as_ref().is_some_and(|word| word == "--from") {
            from = arguments.next();
            event = arguments.next();
        }
        // A request for help comes from a user, not from a client.
        if !event.as_ref().is_some_and(|word| word == "--help" || word == "-h") {
            let [event, from] = [&event, &from].map(|word| word.as_deref().and_then(OsStr::to_str));
            return run_hook(event, from);
        }
    }
    if let Some(code) = run_recorded_hook().or_else(run_quick_command) {
        return code;
    }
    let cli = cli::parse_arguments();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut err = io::stderr().lock();
    let mut input = io::stdin().lock();
    // Questions go to stderr, so that results can still be piped.
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let screen = Terminal::from_stdout();
    let mut ui = Ui { input: &mut input, out: &mut out, err: &mut err, terminal, screen };
    let result = rutter::run(&cli, &mut ui);
    // A command that fails with findings has printed them to the buffer, so flush before looking at the result.
    let result = out.flush().map_err(Into::into).and(result);
    // The rest of the buffer cannot be written. Dropping the writer would try again.
    drop(out.into_parts());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_silent() {
                for line in format!("error: {failure}").lines() {
                    drop(writeln!(err, "{}", sanitize_line(line, false)));
                }
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Runs a hook of the user and records the call. Returns None for all other commands.
fn run_recorded_hook() -> Option<ExitCode> {
    #[expect(
        clippy::exit,
        reason = "under `panic = \"abort\"` nothing else ends a process that panics"
    )]
    fn leave(exit: u8) {
        std::process::exit(exit.into());
    }
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    rutter::recorder::run_recorded_hook(&arguments, leave).map(ExitCode::from)
}

/// Runs a command that scripts start on every tool call. Returns None for all other commands.
fn run_quick_command() -> Option<ExitCode> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect::<Option<_>>()?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.first() != Some(&"contract") {
        return None;
    }
    if let Some(code) = rutter::live_recorder::run_recorder(&words) {
        return Some(code);
    }
    let result = rutter::quick::run_quick_command(&words, io::stdin().lock())?;
    drop(io::stderr().write_all(&result.stderr));
    let mut out = io::stdout().lock();
    drop(out.write_all(&result.stdout).and_then(|()| out.flush()));
    Some(ExitCode::from(result.exit))
}

/// Runs the hook. The exit code is always 0.
fn run_hook(event: Option<&str>, from: Option<&str>) -> ExitCode {
    #[expect(
        clippy::exit,
        reason = "a panic must not be heard, and under `panic = \"abort\"` nothing else is"
    )]
    fn leave() {
        std::process::exit(0);
    }
    if io::stdin().is_terminal() {
        let hint = "Claude Code starts `rutter hook` and writes a payload to its stdin; run \
                    `rutter init` to register it";
        drop(writeln!(io::stderr(), "{hint}"));
        return ExitCode::SUCCESS;
    }
    let said = rutter::hook::run(event, from, leave);
    if said.is_empty() {
        return ExitCode::SUCCESS;
    }
    let mut out = io::stdout().lock();
    drop(out.write_all(said.as_bytes()).and_then(|()| out.flush()));
    ExitCode::SUCCESS
}
