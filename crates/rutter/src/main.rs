//! The `rutter` binary: the only file that prints and exits.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use rutter::{cli::Cli, ui::Ui};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut err = io::stderr().lock();
    let mut input = io::stdin().lock();
    // Questions go to stderr, so that results can still be piped.
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let result =
        rutter::run(&cli, &mut Ui { input: &mut input, out: &mut out, err: &mut err, terminal });
    // A command that has findings has printed them; they must arrive as well.
    let result = out.flush().map_err(Into::into).and(result);
    // What is still buffered has nowhere to go; dropping the writer would try again.
    drop(out.into_parts());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_silent() {
                drop(writeln!(err, "error: {failure}"));
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
