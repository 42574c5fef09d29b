//! A recorder around a hook: it runs the hook as the client would, passes every byte on, and keeps a copy.
//!
//! The client starts the recorder in place of the hook, with the hook's stdin, environment and working directory. The
//! recorder ends as the hook ends, with the same exit code or by the same signal.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::sandbox::write_file;
use crate::tester::{HookStart, HookTrial, TrialEnding};

/// Time that the output of an ended hook gets to arrive. A process that the hook left behind may hold the pipe.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_millis(300);
/// Exit code of a recorder whose hook cannot be started, as a shell has it.
const NOT_FOUND_EXIT: i32 = 127;

/// A recorded run of a hook.
#[derive(Debug, Clone)]
pub struct RecordedHookRun {
    /// The payload.
    pub stdin: Vec<u8>,
    /// The output so far.
    pub stdout: Vec<u8>,
    /// The error output so far.
    pub stderr: Vec<u8>,
    /// Time of the start, in milliseconds since 1970.
    pub started_ms: u64,
    /// The end. None if the client killed the hook.
    pub end: Option<RecordedHookEnd>,
}

/// The end of a recorded run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedHookEnd {
    /// Exit code. None if a signal ended the hook, or if it could not be started.
    pub exit: Option<i32>,
    /// The signal that ended the hook.
    pub signal: Option<i32>,
    /// The reason for which the hook could not be started.
    pub fault: Option<String>,
    /// Duration in microseconds.
    pub took_us: u64,
    /// Time of the end, in microseconds since 1970.
    pub ended_us: u64,
}

impl RecordedHookRun {
    /// Returns the run as a trial. A run without an end timed out, because the client kills no hook for another reason
    /// while it waits for one.
    pub fn trial(&self) -> HookTrial {
        let ending = match &self.end {
            None => TrialEnding::TimedOut,
            Some(RecordedHookEnd { fault: Some(fault), .. }) => {
                TrialEnding::NotStarted(fault.clone())
            }
            Some(RecordedHookEnd { exit: Some(code), .. }) => TrialEnding::Exited(*code),
            Some(end) => TrialEnding::Killed(end.signal.unwrap_or_default()),
        };
        let took = self.end.as_ref().map(|end| Duration::from_micros(end.took_us));
        HookTrial {
            ending,
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            took: took.unwrap_or_default(),
        }
    }

    /// Returns the time of the end, in microseconds since 1970. Hooks that were killed come last.
    pub fn ended_us(&self) -> u64 {
        self.end.as_ref().map_or(u64::MAX, |end| end.ended_us)
    }
}

/// Returns the recorded runs in a folder, in the order of their starts.
pub fn read_hook_runs(folder: &Path) -> Vec<RecordedHookRun> {
    let mut runs = Vec::new();
    for number in 1.. {
        let call = folder.join("calls").join(number.to_string());
        if !call.is_dir() {
            break;
        }
        let read = |name: &str| fs::read(call.join(name)).unwrap_or_default();
        let started = String::from_utf8_lossy(&read("start")).trim().parse().unwrap_or_default();
        runs.push(RecordedHookRun {
            stdin: read("stdin"),
            stdout: read("stdout"),
            stderr: read("stderr"),
            started_ms: started,
            end: serde_json::from_slice(&read("end")).ok(),
        });
    }
    runs
}

/// Runs a hook with this process's stdin, passes its output on, and records all of it in a new folder below `folder`.
pub fn record_hook_run(
    folder: &Path,
    start: &HookStart,
    out: impl Write + Send + 'static,
    err: impl Write + Send + 'static,
) -> io::Result<ExitStatus> {
    let call = create_call_folder(folder)?;
    let begun = Instant::now();
    write_file(&call.join("start"), now().as_millis().to_string().as_bytes())?;
    let mut command = start.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            copy_stream(io::stdin(), io::sink(), &call.join("stdin"));
            let mut err = err;
            drop(writeln!(err, "{}: {error}", start.to_line()));
            let fault = Some(error.to_string());
            write_end(&call, begun, None, fault)?;
            return Ok(ExitStatus::from_raw(NOT_FOUND_EXIT << 8));
        }
    };
    let (tell_read, read) = mpsc::channel();
    if let Some(pipe) = child.stdin.take() {
        let path = call.join("stdin");
        thread::spawn(move || {
            copy_stream(io::stdin(), pipe, &path);
            let _ = tell_read.send(());
        });
    }
    let (tell, done) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        let (path, tell) = (call.join("stdout"), tell.clone());
        thread::spawn(move || {
            copy_stream(pipe, out, &path);
            let _ = tell.send(());
        });
    }
    if let Some(pipe) = child.stderr.take() {
        let path = call.join("stderr");
        thread::spawn(move || {
            copy_stream(pipe, err, &path);
            let _ = tell.send(());
        });
    }
    let status = child.wait()?;
    // The client waits for the end of the output too, up to the time limit of the hook.
    let mut is_held = false;
    for _ in 0..2 {
        is_held |= done.recv_timeout(OUTPUT_GRACE_PERIOD) == Err(mpsc::RecvTimeoutError::Timeout);
    }
    while is_held && done.recv().is_ok() {}
    // A hook that reads nothing may end before its payload has arrived.
    let _ = read.recv_timeout(OUTPUT_GRACE_PERIOD);
    write_end(&call, begun, Some(status), None)?;
    Ok(status)
}

/// Creates the folder of a call. Of several recorders that start at the same time, one gets each number.
fn create_call_folder(folder: &Path) -> io::Result<PathBuf> {
    let calls = folder.join("calls");
    fs::create_dir_all(&calls)?;
    let mut number = 1_u32;
    loop {
        let call = calls.join(number.to_string());
        match fs::create_dir(&call) {
            Ok(()) => return Ok(call),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Copies a stream into another one and into a file, piece by piece. Goes on if the reader is gone.
fn copy_stream(mut from: impl Read, to: impl Write, path: &Path) {
    let Ok(mut file) = File::create(path) else { return };
    let mut to = Some(to);
    let mut piece = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        drop(file.write_all(&piece[..read]));
        if let Some(open) = &mut to
            && open.write_all(&piece[..read]).and_then(|()| open.flush()).is_err()
        {
            to = None;
        }
    }
}

fn write_end(
    call: &Path,
    begun: Instant,
    status: Option<ExitStatus>,
    fault: Option<String>,
) -> io::Result<()> {
    let end = RecordedHookEnd {
        exit: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        fault,
        took_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        ended_us: u64::try_from(now().as_micros()).unwrap_or(u64::MAX),
    };
    let part = call.join("end.part");
    write_file(&part, &serde_json::to_vec(&end)?)?;
    fs::rename(part, call.join("end"))
}

#[expect(clippy::disallowed_methods, reason = "hooks of several processes are put in order")]
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
