//! `rutter hook`, the process that a client starts for each hook event.
//!
//! A failure here must not disturb the client. A panic, an invalid payload, or a store that is locked, broken, full or
//! missing leads to no output, exit code 0 and, if possible, a line in the log. The code of the command line is not
//! used.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rutter_contract::EventName;
use rutter_contract::input::RawPayload;
use rutter_hooks::event_counts;
use rutter_hooks::{FilteredCall, HookEnv, HookResult, guard_cut_payload, handle_event};
use rutter_memory::cached_file::{CachedContent, CachedFile, read_cached};
use rutter_memory::config::GateFault;
use rutter_memory::fingerprints::{self, Fingerprints};
use rutter_memory::store::DataDir;
use rutter_memory::{Clean, log, pause};

use crate::{environment, install};

mod worker;

pub(crate) use worker::run_behind;

/// Length of a payload above which only its head is used: the rest is a file or an output that yields no lesson.
const MAX_PAYLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Largest configuration file that is searched for gates; larger ones are not read at all.
const MAX_CONFIG_BYTES: usize = 64 * 1024;
/// The `--from` argument of hooks that a plugin registers.
const PLUGIN_SCOPE_NAME: &str = install::InstallScope::Plugin.as_str();
/// Capacity of a pipe.
const PIPE_CAPACITY_BYTES: usize = 64 * 1024;
/// Longest time that the client waits for a hook, even if a disk hangs. The deadlines for output are much shorter.
const WATCHDOG_TIMEOUT: Duration = Duration::from_secs(1);
/// Time for writing a log line after a worker has timed out.
const MIN_LOG_TIME: Duration = Duration::from_millis(20);

/// Handles an event from stdin, and returns the text to print. `leave` ends the process at once. `from` is the scope of
/// the settings file that started the hook, given only for files that several users share.
///
/// This process only reads the payload, and the fingerprint file if that is in memory. Usually that decides that a tool call
/// concerns nothing. Otherwise it waits for a separate worker process, which does everything that touches the disk.
pub fn run(event: Option<&str>, from: Option<&str>, leave: fn()) -> String {
    let begun = Instant::now();
    if environment::is_rutter_off() {
        return String::new();
    }
    let Ok(data) = environment::data_dir() else { return String::new() };
    let files = DataDir::new(data);
    install_panic_hook(&files, leave);
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    let payload = read_payload(begun);
    if let Ok(payload) = &payload
        && let Some(call) = FilteredCall::parse(payload)
        && let Some(known) = Fingerprints::read_cached(&files)
        && !concerns_memory(&call, &known)
        && !known.must_count(environment::current_time())
        && !may_have_gate(&call, &files, |path| read_cached(path, MAX_CONFIG_BYTES, true))
    {
        return String::new();
    }
    let fault_answer = payload.as_ref().ok().and_then(|payload| gate_fault_answer(payload));
    environment::accept_sudo_user();
    let left = || WATCHDOG_TIMEOUT.saturating_sub(begun.elapsed()).max(MIN_LOG_TIME);
    let work = || event_output(&files, payload, event, from, (parent, begun));
    if let Some(answer) = worker::run(left(), leave, work) {
        return answer;
    }
    // The log may hang as well.
    let logged = worker::run(MIN_LOG_TIME, leave, || {
        if files.secure().is_ok() {
            let line = Clean::new(&format!("hook: {TIMEOUT_FAULT}"));
            drop(log::append_line(&files, environment::current_time(), &line));
        }
        String::new()
    });
    drop(logged);
    fault_answer.unwrap_or_default()
}

/// Returns the answer to a call of a tool that writes, for the case that the worker does not answer: a denial, if the user's
/// configuration has a gate that is closed on a fault.
fn gate_fault_answer(payload: &[u8]) -> Option<String> {
    let config = environment::config_file_path()?;
    let CachedFile::Found(found) = read_cached(&config, MAX_CONFIG_BYTES, true) else {
        return None;
    };
    let has = |word: &str| found.bytes.windows(word.len()).any(|window| window == word.as_bytes());
    // Before anything is parsed: nearly every configuration has none.
    if !has("gates") || !has(GateFault::Closed.as_str()) {
        return None;
    }
    let is_ruled = FilteredCall::parse(payload)?.may_be_gated();
    is_ruled.then(rutter_hooks::gate_fault_answer)
}

/// Returns true if a tool call may concern the memory.
fn concerns_memory(call: &FilteredCall<'_>, known: &Fingerprints) -> bool {
    call.concerns_memory(known, environment::process_folder)
}

/// Returns true if a gate may be enabled that a tool call concerns.
fn may_have_gate(
    call: &FilteredCall<'_>,
    files: &DataDir,
    read: impl Fn(&Path) -> CachedFile,
) -> bool {
    // A configuration that is not found enables nothing.
    let config = environment::config_file_path();
    config.is_some_and(|config| call.may_have_gate(&config, &files.trusted(), read))
}

/// Reads a file for [`may_have_gate`] in the worker, which may wait for the disk.
fn read_waiting(path: &Path) -> CachedFile {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return CachedFile::Missing,
        Err(_) => return CachedFile::Unknown,
    };
    if !found.is_file() || found.len() > MAX_CONFIG_BYTES as u64 {
        return CachedFile::Unknown;
    }
    std::fs::read(path).map_or(CachedFile::Unknown, |bytes| {
        CachedFile::Found(CachedContent {
            bytes,
            owner: found.uid(),
            modified_seconds: found.mtime(),
        })
    })
}

/// Returns the result of a tool call that concerns nothing, by the fingerprint file.
fn skip_call(payload: &[u8], files: &DataDir) -> Option<HookResult> {
    let call = FilteredCall::parse(payload)?;
    let known = Fingerprints::read(files)?;
    // Most silent calls are not counted; this one came here because the files were not in the kernel's caches.
    let is_counted = known.must_count(environment::current_time());
    let event = is_counted.then(|| (EventName::PreToolUse, call.session()));
    let is_silent = !concerns_memory(&call, &known)
        && !may_have_gate(&call, files, |path| match read_cached(path, MAX_CONFIG_BYTES, true) {
            CachedFile::Unknown => read_waiting(path),
            known => known,
        });
    is_silent.then(|| HookResult { event, ..HookResult::default() })
}

/// Handles an event, and returns the text to print.
///
/// Most events need no work, and then the client waits only for the code before `handle_event`. So that code opens, starts and
/// looks up nothing.
fn event_output(
    files: &DataDir,
    payload: Result<Vec<u8>, CutPayload>,
    event: Option<&str>,
    from: Option<&str>,
    (parent, begun): (Option<u32>, Instant),
) -> String {
    // A data directory that other users can change is restricted. If that fails, it is not used.
    match files.secure() {
        Ok(None) => {}
        Ok(Some(mode)) => {
            drop(log::append_permission_change(files, environment::current_time(), mode));
        }
        Err(_) => return String::new(),
    }
    let env = || HookEnv {
        files: files.clone(),
        now: environment::current_time(),
        started_at: begun,
        min_deadline: environment::min_hook_deadline(),
        window: environment::bash_output_window(),
        started_in: environment::client_start_dir(),
        parent,
        config: environment::config_file_path().unwrap_or_default(),
        home: environment::home_dir,
        own_command: environment::agent_command,
        // A plugin brings its server along with its hooks.
        has_tools: if from == Some(PLUGIN_SCOPE_NAME) { |_| Some(true) } else { has_tools },
        foreign_server: install::find_foreign_server,
    };
    let result = match payload {
        Ok(payload) if from.is_some_and(|from| defers_to_other_entry(from, &payload)) => {
            return String::new();
        }
        Ok(payload) => {
            skip_call(&payload, files).unwrap_or_else(|| handle_event(&payload, event, env))
        }
        Err(CutPayload { head, reason }) => {
            let mut result = guard_cut_payload(&head, event, env);
            result.errors.push(Clean::new(reason));
            result
        }
    };
    if let Some((event, session)) = &result.event
        && !pause::is_paused(files, session)
    {
        let now = environment::current_time();
        let counted = event_counts::count_event(files, *event, now);
        if counted.is_ok() && *event == EventName::PreToolUse {
            drop(fingerprints::note_counted(files, now));
        }
    }
    for fault in &result.errors {
        drop(log::append_line(
            files,
            environment::current_time(),
            &Clean::new(&format!("hook: {fault}")),
        ));
    }
    for note in &result.notes {
        drop(log::append_line(files, environment::current_time(), note));
    }
    if result.needs_maintenance {
        start_maintenance(files);
    }
    result.stdout
}

/// Returns true if a client started in the folder has our server registered, or None if that cannot be determined.
fn has_tools(folder: &Path) -> Option<bool> {
    let file = environment::client_state_file()?;
    install::is_registered(folder, environment::client_config_dir().as_deref(), &file)
}

/// Returns true if the user's own settings run rutter on this event too, so that this process must not handle it again.
fn defers_to_other_entry(from: &str, payload: &[u8]) -> bool {
    let Ok(wire) = RawPayload::parse(payload) else { return false };
    let Some(event) = wire.hook_event_name() else { return false };
    let folder = environment::client_start_dir().or_else(|| std::env::current_dir().ok());
    folder.is_some_and(|folder| {
        install::defers_to_other_entry(&install::SharedHook {
            from,
            event: &event,
            folder: &folder,
            client: environment::client_config_dir().as_deref(),
            home: environment::home_dir().as_deref(),
            version: environment::client_version(),
        })
    })
}

/// Fault for a payload or a worker that did not finish before the watchdog timeout.
const TIMEOUT_FAULT: &str = "ended after one second: it was still waiting for its payload or \
                             its worker";

/// A payload that was not read to its end.
struct CutPayload {
    head: Vec<u8>,
    reason: &'static str,
}

/// Reads the payload until the watchdog timeout.
fn read_payload(begun: Instant) -> Result<Vec<u8>, CutPayload> {
    let mut payload = Vec::with_capacity(PIPE_CAPACITY_BYTES);
    match read_into(&mut payload, begun) {
        Ok(()) => Ok(payload),
        Err(reason) => Err(CutPayload { head: payload, reason }),
    }
}

fn read_into(payload: &mut Vec<u8>, begun: Instant) -> Result<(), &'static str> {
    let stdin = rustix::stdio::stdin();
    loop {
        let left = WATCHDOG_TIMEOUT.checked_sub(begun.elapsed()).ok_or(TIMEOUT_FAULT)?;
        let left = Timespec::try_from(left).map_err(|_| TIMEOUT_FAULT)?;
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(TIMEOUT_FAULT),
            Err(Errno::INTR) => continue,
            // The read below returns the error.
            Ok(_) | Err(_) => {}
        }
        if payload.capacity() - payload.len() < PIPE_CAPACITY_BYTES / 4 {
            payload.reserve(payload.len());
        }
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(payload)) {
            Ok(0) => return Ok(()),
            Ok(_) if payload.len() > MAX_PAYLOAD_BYTES => {
                return Err("a payload of more than 8 MiB was ignored");
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Err("could not read the payload"),
        }
    }
}

/// Installs a panic hook that writes a log line and ends the process.
fn install_panic_hook(files: &DataDir, leave: fn()) {
    let files = files.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // The location only: the message may quote the payload.
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        let line = Clean::new(&format!("hook: a panic{place}"));
        if files.secure().is_ok() {
            drop(log::append_line(&files, environment::current_time(), &line));
        }
        leave();
    }));
}

/// Starts the maintenance process and does not wait for it.
fn start_maintenance(files: &DataDir) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command
        .args(["maintain", "--detached"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The client may kill the process group of its hook when the hook ends.
        .process_group(0);
    // The path is absolute, because the child runs in `/`. Without RUTTER_HOME, the configuration is in another folder
    // than the data, so the variable must stay unset.
    if environment::has_rutter_home() {
        command.env("RUTTER_HOME", files.folder());
    }
    drop(command.spawn());
}
