//! `rutter hook`: what a client starts on its events.
//!
//! Everything here must be able to fail without anybody noticing. A panic, a payload that is none, a memory that is
//! locked, broken, full or not there: all end in silence, exit code 0 and, where there is a place for it, a line in the
//! log. Nothing of the command line's machinery is touched.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rutter_contract::input::Wire;
use rutter_memory::hook::{Around, Heard, hear};
use rutter_memory::store::Files;
use rutter_memory::{Clean, log, pause, tally};

use crate::{environment, install};

/// A payload that is longer is not read: it holds a file or an output that no lesson is drawn from.
const PAYLOAD: usize = 8 * 1024 * 1024;
/// Whose hook it is where a plugin has it started.
const PLUGIN: &str = install::Scope::Plugin.word();
/// As much as a pipe holds.
const PIPE: usize = 64 * 1024;
/// Whatever hangs, a disk for instance, the client does not wait for it longer than this. Deadlines for speaking are much
/// shorter; what is recorded late is recorded.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a hook has left to write its line, once its patience is gone.
const MOMENT: Duration = Duration::from_millis(20);

/// Takes in an event from stdin, and returns what to print. `leave` ends the process at once. `from` is whose file started
/// it, where that is one that others get as well.
///
/// Nearly every call of a day is none of ours, and all that a client waits for then is what stands before `hear` here: so
/// nothing is opened, started or looked up until there is something to do.
pub fn run(event: Option<&str>, from: Option<&str>, leave: fn()) -> String {
    let begun = Instant::now();
    if environment::is_off() {
        return String::new();
    }
    environment::accept_sudo_user();
    let Ok(data) = environment::data() else { return String::new() };
    let files = Files::new(data);
    fail_silently(&files, leave);
    // Until here, and while reading and parsing, nothing can hang that is not waited for with an eye on the clock.
    let watched = Once::new();
    let watch = || watched.call_once(|| leave_in_time(&files, begun, leave));
    let payload = read(begun);
    watch();
    // A folder that others can change is closed, or left alone.
    match files.secure() {
        Ok(None) => {}
        Ok(Some(mode)) => drop(log::append_closed(&files, environment::now(), mode)),
        Err(_) => return String::new(),
    }
    let heard = match payload {
        Ok(payload) if from.is_some_and(|from| is_left_to_another(from, &payload, &watch)) => {
            return String::new();
        }
        Ok(payload) => hear(&payload, event, || {
            watch();
            Around {
                files: files.clone(),
                now: environment::now(),
                begun,
                window: environment::bash_window(),
                started_in: environment::client_folder(),
                parent: rustix::process::getppid()
                    .map(|pid| pid.as_raw_nonzero().get().unsigned_abs()),
                config: environment::config_file().unwrap_or_default(),
                home: environment::home,
                called: environment::called,
                // A plugin brings its server along with its hooks.
                has_tools: if from == Some(PLUGIN) { |_| Some(true) } else { has_tools },
                foreign_server: install::foreign_server,
            }
        }),
        Err(fault) => Heard { faults: vec![Clean::new(fault)], ..Heard::default() },
    };
    if let Some((event, session)) = &heard.event {
        watch();
        if !pause::is_paused(&files, session) {
            drop(tally::count(&files, *event, environment::now()));
        }
    }
    for fault in &heard.faults {
        watch();
        drop(log::append(&files, environment::now(), &Clean::new(&format!("hook: {fault}"))));
    }
    for note in &heard.notes {
        drop(log::append(&files, environment::now(), note));
    }
    if heard.tend {
        watch();
        tend(&files);
    }
    heard.stdout
}

/// Whether a client that was started in a folder has our server, where that can be told.
fn has_tools(folder: &Path) -> Option<bool> {
    let file = environment::client_file()?;
    install::is_registered(folder, environment::client_home().as_deref(), &file)
}

/// Whether the settings of the user run rutter on this event as well, so that it is heard without us.
fn is_left_to_another(from: &str, payload: &[u8], watch: &dyn Fn()) -> bool {
    // A disk that hangs is waited for no longer here than anywhere.
    watch();
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

/// Reads the payload, as long as there is patience left for it.
fn read(begun: Instant) -> Result<Vec<u8>, &'static str> {
    let stdin = rustix::stdio::stdin();
    let mut payload = Vec::with_capacity(PIPE);
    loop {
        let left = PATIENCE.checked_sub(begun.elapsed()).ok_or(LATE)?;
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
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => return Ok(payload),
            Ok(_) if payload.len() > PAYLOAD => {
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

/// Ends a hook that hangs.
fn leave_in_time(files: &Files, begun: Instant, leave: fn()) {
    let files = files.clone();
    drop(std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        std::thread::sleep(PATIENCE.saturating_sub(begun.elapsed()).max(MOMENT));
        // The log may hang as well.
        let logged = std::thread::spawn(move || {
            drop(log::append(&files, environment::now(), &Clean::new(&format!("hook: {LATE}"))));
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
