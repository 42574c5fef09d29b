//! Running the binary.

use std::io::Write as _;
use std::process::{Command, Stdio};

use rutter_testkit::Ran;

/// The binary with an environment that no user's settings reach.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.args(args).env_clear().env("HOME", "/nonexistent").env("COLUMNS", "100");
    command
}

/// Runs the binary with this on its stdin. It need not read it.
pub(crate) fn rutter_with(args: &[&str], stdin: &[u8]) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("piped");
    let bytes = stdin.to_vec();
    // From a thread of its own: a binary that writes before it has read would wait for us for ever.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    output.into()
}

/// Runs the binary to its end.
pub(crate) fn rutter(args: &[&str]) -> Ran {
    Ran::of(&mut command(args))
}
