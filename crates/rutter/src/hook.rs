//! `rutter hook`: what a client starts on its events.
//!
//! Everything here must be able to fail without anybody noticing. A panic, a payload that is none, a memory that is
//! locked, broken, full or not there: all end in silence, exit code 0 and, where there is a place for it, a line in the
//! log. Nothing of the command line's machinery is touched.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_memory::hook::{Around, Heard, hear};
use rutter_memory::store::Files;
use rutter_memory::{Clean, Time, log};

use crate::environment::Environment;

/// A payload that is longer is not read: it holds a file or an output that no lesson is drawn from.
const PAYLOAD: u64 = 8 * 1024 * 1024;
/// Whatever hangs, a disk for instance, the client does not wait for it longer than this. Deadlines for speaking are much
/// shorter; what is recorded late is recorded.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes in an event from stdin, and returns what to print. `leave` ends the process at once.
pub fn run(event: Option<&str>, leave: fn()) -> String {
    let begun = Instant::now();
    if crate::environment::is_off() {
        return String::new();
    }
    let Ok(env) = Environment::read() else { return String::new() };
    let files = Files::new(&env.data);
    fail_silently(&files, env.now, leave);
    let mut payload = Vec::with_capacity(16 * 1024);
    let read = std::io::stdin().lock().take(PAYLOAD + 1).read_to_end(&mut payload);
    let fault = match read {
        Ok(length) if length as u64 > PAYLOAD => {
            Some("a payload of more than 8 MiB was passed over")
        }
        Ok(_) => None,
        Err(_) => Some("the payload could not be read"),
    };
    let heard = if let Some(fault) = fault {
        Heard { faults: vec![Clean::new(fault)], ..Heard::default() }
    } else {
        let parent =
            rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        let window = crate::environment::bash_window();
        hear(
            &payload,
            event,
            &Around {
                files: files.clone(),
                now: env.now,
                begun,
                window,
                started_in: crate::environment::client_folder(),
                parent,
            },
        )
    };
    for fault in &heard.faults {
        drop(log::append(&files, env.now, &Clean::new(&format!("hook: {fault}"))));
    }
    if heard.tend {
        tend(&files);
    }
    heard.stdout
}

/// A panic is a line in the log; and a hook that hangs ends itself.
fn fail_silently(files: &Files, now: Time, leave: fn()) {
    let (files, waiting) = (files.clone(), files.clone());
    std::panic::set_hook(Box::new(move |panic| {
        // Where, not what: the message may quote the payload.
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        drop(log::append(&files, now, &Clean::new(&format!("hook: a panic{place}"))));
        leave();
    }));
    drop(std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        std::thread::sleep(PATIENCE);
        // The log may hang as well.
        let logged = std::thread::spawn(move || {
            let line =
                Clean::new("hook: ended after a second, for what it waited for did not come");
            drop(log::append(&waiting, now, &line));
        });
        for _ in 0..20 {
            if logged.is_finished() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        leave();
    }));
}

/// Starts the housekeeping, and does not wait for it.
fn tend(files: &Files) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command
        .args(["tend", "--detached"])
        .env("RUTTER_HOME", files.folder())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The client may end the group of its hook with the hook.
        .process_group(0);
    drop(command.spawn());
}
