//! Running the binary.

use std::process::Command;

use rutter_testkit::Ran;

/// The binary with an environment that no user's settings reach.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.args(args).env_clear().env("HOME", "/nonexistent").env("COLUMNS", "100");
    command
}

/// Runs the binary to its end.
pub(crate) fn rutter(args: &[&str]) -> Ran {
    Ran::of(&mut command(args))
}
