//! `rutter hook`: what a client starts on its events.
//!
//! Everything here must be able to fail without anybody noticing. A panic, a payload that is none, a memory that is
//! locked, broken, full or not there: all end in silence, exit code 0 and, where there is a place for it, a line in the
//! log. Nothing of the command line's machinery is touched.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rutter_contract::input::Wire;
use rutter_memory::hook::{Around, guard_cut_payload, hear};
use rutter_memory::store::Files;
use rutter_memory::{Clean, log, pause, tally};

use crate::{environment, install};

mod worker;

/// Length of a payload above which only its head is used: the rest is a file or an output that no lesson is drawn from.
const MAX_PAYLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Whose hook it is where a plugin has it started.
const PLUGIN: &str = install::Scope::Plugin.word();
/// As much as a pipe holds.
const PIPE: usize = 64 * 1024;
/// Longest time that the client waits for a hook, whatever hangs, a disk for instance. Deadlines for speaking are much
/// shorter.
const WATCHDOG_TIMEOUT: Duration = Duration::from_secs(1);
/// Time that a hook has for a line in the log, once the other is gone.
const MIN_LOG_TIME: Duration = Duration::from_millis(20);

/// Takes in an event from stdin, and returns what to print. `leave` ends the process at once. `from` is whose file started
/// it, where that is one that others get as well.
///
/// This process reads the payload and waits; everything that touches the disk is done by a worker, a process of its own.
pub fn run(event: Option<&str>, from: Option<&str>, leave: fn()) -> String {
    let begun = Instant::now();
    if environment::is_off() {
        return String::new();
    }
    environment::accept_sudo_user();
    let Ok(data) = environment::data() else { return String::new() };
    let files = Files::new(data);
    fail_silently(&files, leave);
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    let payload = read(begun);
    let left = || WATCHDOG_TIMEOUT.saturating_sub(begun.elapsed()).max(MIN_LOG_TIME);
    let work = || handle_event(&files, payload, event, from, (parent, begun));
    if let Some(answer) = worker::run(left(), leave, work) {
        return answer;
    }
    // The log may hang as well.
    worker::run(MIN_LOG_TIME, leave, || {
        if files.secure().is_ok() {
            let line = Clean::new(&format!("hook: {LATE}"));
            drop(log::append(&files, environment::now(), &line));
        }
        String::new()
    })
    .unwrap_or_default()
}

/// Handles an event, and returns what to print.
///
/// Nearly every call of a day is none of ours, and all that a client waits for then is what stands before `hear` here: so
/// nothing is opened, started or looked up until there is something to do.
fn handle_event(
    files: &Files,
    payload: Result<Vec<u8>, CutPayload>,
    event: Option<&str>,
    from: Option<&str>,
    (parent, begun): (Option<u32>, Instant),
) -> String {
    // A folder that others can change is closed, or left alone.
    match files.secure() {
        Ok(None) => {}
        Ok(Some(mode)) => drop(log::append_closed(files, environment::now(), mode)),
        Err(_) => return String::new(),
    }
    let around = || Around {
        files: files.clone(),
        now: environment::now(),
        begun,
        window: environment::bash_window(),
        started_in: environment::client_folder(),
        parent,
        config: environment::config_file().unwrap_or_default(),
        home: environment::home,
        called: environment::called,
        // A plugin brings its server along with its hooks.
        has_tools: if from == Some(PLUGIN) { |_| Some(true) } else { has_tools },
        foreign_server: install::foreign_server,
    };
    let heard = match payload {
        Ok(payload) if from.is_some_and(|from| is_left_to_another(from, &payload)) => {
            return String::new();
        }
        Ok(payload) => hear(&payload, event, around),
        Err(CutPayload { head, reason }) => {
            let mut heard = guard_cut_payload(&head, event, around);
            heard.faults.push(Clean::new(reason));
            heard
        }
    };
    if let Some((event, session)) = &heard.event
        && !pause::is_paused(files, session)
    {
        drop(tally::count(files, *event, environment::now()));
    }
    for fault in &heard.faults {
        drop(log::append(files, environment::now(), &Clean::new(&format!("hook: {fault}"))));
    }
    for note in &heard.notes {
        drop(log::append(files, environment::now(), note));
    }
    if heard.tend {
        tend(files);
    }
    heard.stdout
}

/// Whether a client that was started in a folder has our server, where that can be told.
fn has_tools(folder: &Path) -> Option<bool> {
    let file = environment::client_file()?;
    install::is_registered(folder, environment::client_home().as_deref(), &file)
}

/// Whether the settings of the user run rutter on this event as well, so that it is heard without us.
fn is_left_to_another(from: &str, payload: &[u8]) -> bool {
    let Ok(wire) = Wire::parse(payload) else { return false };
    let Some(event) = wire.hook_event_name() else { return false };
    let folder = environment::client_folder().or_else(|| std::env::current_dir().ok());
    folder.is_some_and(|folder| {
        install::steps_back(&install::Asker {
            from,
            event: &event,
            folder: &folder,
            client: environment::client_home().as_deref(),
            home: environment::home().as_deref(),
            version: environment::client_version(),
        })
    })
}

/// Why a payload that has not come to its end is not waited for any longer.
const LATE: &str = "ended after a second, for what it waited for did not come";

/// A payload that was not read to its end.
struct CutPayload {
    head: Vec<u8>,
    reason: &'static str,
}

/// Reads the payload, as long as there is patience left for it.
fn read(begun: Instant) -> Result<Vec<u8>, CutPayload> {
    let mut payload = Vec::with_capacity(PIPE);
    match read_into(&mut payload, begun) {
        Ok(()) => Ok(payload),
        Err(reason) => Err(CutPayload { head: payload, reason }),
    }
}

fn read_into(payload: &mut Vec<u8>, begun: Instant) -> Result<(), &'static str> {
    let stdin = rustix::stdio::stdin();
    loop {
        let left = WATCHDOG_TIMEOUT.checked_sub(begun.elapsed()).ok_or(LATE)?;
        let left = Timespec::try_from(left).map_err(|_| LATE)?;
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(LATE),
            Err(Errno::INTR) => continue,
            // What is wrong with it, the read will tell.
            Ok(_) | Err(_) => {}
        }
        if payload.capacity() - payload.len() < PIPE / 4 {
            payload.reserve(payload.len());
        }
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(payload)) {
            Ok(0) => return Ok(()),
            Ok(_) if payload.len() > MAX_PAYLOAD_BYTES => {
                return Err("a payload of more than 8 MiB was passed over");
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Err("the payload could not be read"),
        }
    }
}

/// A panic is a line in the log, and the end.
fn fail_silently(files: &Files, leave: fn()) {
    let files = files.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // Where, not what: the message may quote the payload.
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        let line = Clean::new(&format!("hook: a panic{place}"));
        if files.secure().is_ok() {
            drop(log::append(&files, environment::now(), &line));
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
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The client may end the group of its hook with the hook.
        .process_group(0);
    // By a path that holds from there as well. Where nothing is set, the configuration is not beside the memory.
    if environment::has_home() {
        command.env("RUTTER_HOME", files.folder());
    }
    drop(command.spawn());
}
