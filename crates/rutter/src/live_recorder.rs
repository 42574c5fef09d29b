//! `rutter contract record-hook`: runs a hook in the real client and records it. Only `contract live` registers it.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use rustix::process::{Signal, getpid, kill_process};
use rutter_check::live::record_hook_run;
use rutter_check::tester::HookStart;
use std::os::unix::process::ExitStatusExt as _;

/// The words of a recorder's command line, before the folder.
pub(crate) const RECORDER_WORDS: [&str; 2] = ["contract", "record-hook"];

/// Runs the recorder if the arguments are those of one. Ends like the hook.
pub fn run_recorder(arguments: &[&str]) -> Option<ExitCode> {
    let (folder, start) = match arguments {
        ["contract", "record-hook", folder, "--shell", line] => {
            (folder, HookStart::Shell((*line).to_owned()))
        }
        ["contract", "record-hook", folder, "--exec", program, args @ ..] => {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            (folder, HookStart::Exec { program: (*program).to_owned(), args })
        }
        _ => return None,
    };
    let Ok(status) = record_hook_run(Path::new(folder), &start, io::stdout(), io::stderr()) else {
        return Some(ExitCode::FAILURE);
    };
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
