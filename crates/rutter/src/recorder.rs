//! `rutter contract recorded-run`: starts a hook of the user between the client and the hook, and records the call.
//!
//! The client starts it on every tool call, so it is handled before the command line is parsed. The hook gets the bytes of stdin,
//! the environment, the working directory and the process group of this process, and its output, exit code and signal pass
//! unchanged. A fault of the recording changes none of these.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use rutter_check::settings::{PROGRAM_WORD, RECORDER_WORDS, SHELL_OPTION};
use rutter_hooks::silence::SilenceReason;
use rutter_memory::Time;
use rutter_memory::config::Config;
use rutter_memory::hook_recording::{
    CallEnding, HookRecording, MAX_OUTPUT_BYTES, MAX_PAYLOAD_BYTES, ObservedCall, RecordedCall,
};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::DataDir;

use crate::environment;
use crate::hook::run_behind;

/// Bytes that are passed on at once.
const CHUNK_BYTES: usize = 16 * 1024;
/// Longest wait for the rest of a payload that the hook did not read.
const PAYLOAD_TIMEOUT: Duration = Duration::from_millis(50);
/// Time between two looks at a hook that has closed its outputs and still runs.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Size of a call above which a process that the client does not wait for writes the record.
const LARGE_CALL_BYTES: usize = 32 * 1024;
/// The shell that the client uses, whatever `shell` says.
const SHELL: &str = "/bin/sh";
/// Process number of the hook, for the signal handler.
static HOOK_PROCESS: AtomicI32 = AtomicI32::new(0);

/// The command line of the recorder.
struct RecordedStart<'a> {
    event: &'a str,
    hook: &'a str,
    way: HookWay<'a>,
}

/// The start of a hook.
enum HookWay<'a> {
    Shell(&'a OsStr),
    Program { program: &'a OsStr, arguments: &'a [OsString] },
}

/// Exit code of this process if recording panics.
static EXIT_CODE: AtomicU8 = AtomicU8::new(1);

/// Runs a hook and records the call, if the arguments of this process ask for it. Returns the exit code. `leave` ends the process
/// with an exit code.
pub fn run_recorded_hook(arguments: &[OsString], leave: fn(u8)) -> Option<u8> {
    let start = RecordedStart::parse(arguments)?;
    // A panic must not replace the answer of the hook, which has passed.
    std::panic::set_hook(Box::new(move |_| leave(EXIT_CODE.load(Ordering::Relaxed))));
    let time = environment::current_time();
    let begun = Instant::now();
    // The shell says what is wrong with a program in the words that the client knows.
    let child = match start.spawn().or_else(|_| start.spawn_in_shell()) {
        Ok(child) => child,
        Err(error) => {
            drop(writeln!(io::stderr(), "{SHELL}: {error}"));
            return Some(126);
        }
    };
    let (seen, status) = pass_through(child);
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => CallEnding::Exit(code),
        (None, signal) => CallEnding::Signal(signal.unwrap_or_default()),
    };
    let exit = match ending {
        CallEnding::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        CallEnding::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
    };
    EXIT_CODE.store(exit, Ordering::Relaxed);
    if !environment::is_rutter_off() {
        if seen.size() > LARGE_CALL_BYTES {
            let write = || record(&start, &seen, time, ending, micros);
            if !run_behind(|| leave(0), write) {
                write();
            }
        } else {
            record(&start, &seen, time, ending, micros);
        }
    }
    if let CallEnding::Signal(signal) = ending {
        end_by_signal(signal);
    }
    Some(exit)
}

impl<'a> RecordedStart<'a> {
    /// Parses `contract recorded-run EVENT ID -- PROGRAM …` and `contract recorded-run EVENT ID -c LINE`.
    fn parse(arguments: &'a [OsString]) -> Option<Self> {
        let [first, second, event, hook, way, command @ ..] = arguments else { return None };
        if first != RECORDER_WORDS[0] || second != RECORDER_WORDS[1] {
            return None;
        }
        let way = match command {
            [line] if way == SHELL_OPTION => HookWay::Shell(line),
            [program, arguments @ ..] if way == PROGRAM_WORD => {
                HookWay::Program { program, arguments }
            }
            _ => return None,
        };
        Some(Self { event: event.to_str()?, hook: hook.to_str()?, way })
    }

    fn spawn(&self) -> io::Result<Child> {
        spawn_hook(match &self.way {
            HookWay::Shell(line) => {
                let mut command = Command::new(SHELL);
                command.arg("-c").arg(line);
                command
            }
            HookWay::Program { program, arguments } => {
                let mut command = Command::new(program);
                command.args(*arguments);
                command
            }
        })
    }

    /// Starts the program by a shell, which also runs scripts without a first line and reports a missing program.
    fn spawn_in_shell(&self) -> io::Result<Child> {
        let HookWay::Program { program, arguments } = &self.way else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut command = Command::new(SHELL);
        command.args(["-c", "\"$@\"", SHELL]).arg(program).args(*arguments);
        spawn_hook(command)
    }

    /// Returns the command as a line.
    fn command_line(&self) -> String {
        match &self.way {
            HookWay::Shell(line) => line.to_string_lossy().into_owned(),
            HookWay::Program { program, arguments } => {
                let words =
                    std::iter::once(*program).chain(arguments.iter().map(OsString::as_os_str));
                words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

#[expect(unsafe_code, reason = "the standard library sets no signal of the parent's death")]
fn spawn_hook(mut command: Command) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(target_os = "linux")]
    // SAFETY: the closure runs between fork and exec and makes one system call, which allocates and locks nothing.
    unsafe {
        command.pre_exec(|| {
            // A client that kills this process at the end of its time means the hook.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let child = command.spawn()?;
    HOOK_PROCESS.store(child.id().cast_signed(), Ordering::Relaxed);
    let handler: extern "C" fn(libc::c_int) = pass_signal;
    // SAFETY: the handler only calls `kill`, which may be called in a handler.
    unsafe {
        libc::signal(libc::SIGTERM, handler as libc::sighandler_t);
    }
    Ok(child)
}

/// Passes a signal on to the hook, which may want to clean up.
#[expect(unsafe_code, reason = "a signal handler")]
extern "C" fn pass_signal(signal: libc::c_int) {
    let process = HOOK_PROCESS.load(Ordering::Relaxed);
    if process > 0 {
        // SAFETY: the call may be made in a handler, and the process is a child that was not waited for.
        unsafe { libc::kill(process, signal) };
    }
}

/// Ends this process as the hook ended.
#[expect(unsafe_code, reason = "the standard library raises no signals")]
fn end_by_signal(signal: i32) {
    // SAFETY: plain system calls. The hook has written its core already.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// The bytes that passed.
#[derive(Default)]
struct SeenBytes {
    payload: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl SeenBytes {
    fn size(&self) -> usize {
        self.payload.len() + self.stdout.len() + self.stderr.len()
    }
}

/// Appends as much as is kept.
fn keep(kept: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let room = limit.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Passes the bytes of all three pipes until the hook has ended.
fn pass_through(mut child: Child) -> (SeenBytes, ExitStatus) {
    let mut seen = SeenBytes::default();
    let mut input = InputPipe::new(child.stdin.take().map(OwnedFd::from));
    let mut outputs =
        [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut status = None;
    loop {
        let is_closed = outputs.iter().all(Option::is_none);
        if is_closed && status.is_none() {
            status =
                if input.is_idle() { child.wait().ok() } else { child.try_wait().ok().flatten() };
        }
        if is_closed && (status.is_some() || input.is_idle()) {
            break;
        }
        let ready = wait_until_ready(&input, &outputs, is_closed);
        let Ok([can_read_input, can_write_input, out, err]) = ready else { break };
        if can_read_input {
            input.read_from(stdin.as_fd(), &mut buffer, &mut seen.payload);
        }
        if can_write_input {
            input.write_pending();
        }
        if out && !pass_output(outputs[0].as_ref(), stdout.as_fd(), &mut buffer, &mut seen.stdout) {
            outputs[0] = None;
        }
        if err && !pass_output(outputs[1].as_ref(), stderr.as_fd(), &mut buffer, &mut seen.stderr) {
            outputs[1] = None;
        }
    }
    drop((outputs, input.pipe.take()));
    let status =
        status.map_or_else(|| child.wait(), Ok).unwrap_or_else(|_| ExitStatus::from_raw(256));
    HOOK_PROCESS.store(0, Ordering::Relaxed);
    let until = Instant::now() + PAYLOAD_TIMEOUT;
    while !input.has_ended && is_readable_until(until) {
        input.read_from(stdin.as_fd(), &mut buffer, &mut seen.payload);
    }
    (seen, status)
}

/// The way of the payload to the hook.
struct InputPipe {
    /// None after the hook has closed it, or has got all of the payload.
    pipe: Option<OwnedFd>,
    /// Bytes that the hook has not taken yet.
    pending: Vec<u8>,
    /// True after the end of stdin.
    has_ended: bool,
}

impl InputPipe {
    fn new(pipe: Option<OwnedFd>) -> Self {
        if let Some(pipe) = &pipe {
            // The hook may read slowly while it writes. Its own end stays as it is.
            let _ = rustix::io::ioctl_fionbio(pipe, true);
        }
        Self { pipe, pending: Vec::new(), has_ended: false }
    }

    /// Returns true if nothing more can pass.
    fn is_idle(&self) -> bool {
        self.has_ended && self.pipe.is_none()
    }

    fn wants_input(&self) -> bool {
        !self.has_ended && self.pending.is_empty()
    }

    fn wants_output(&self) -> bool {
        self.pipe.is_some() && !self.pending.is_empty()
    }

    fn read_from(&mut self, stdin: impl AsFd, buffer: &mut [u8], kept: &mut Vec<u8>) {
        let count = match read(stdin, &mut *buffer) {
            Ok(0) => {
                self.has_ended = true;
                0
            }
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => {
                self.has_ended = true;
                0
            }
        };
        // One byte more than the longest payload shows that it is too long.
        keep(kept, &buffer[..count], MAX_PAYLOAD_BYTES + 1);
        if self.pipe.is_some() {
            self.pending.extend_from_slice(&buffer[..count]);
        }
        self.write_pending();
    }

    fn write_pending(&mut self) {
        if let Some(pipe) = &self.pipe
            && !self.pending.is_empty()
        {
            match write(pipe, &self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(Errno::INTR | Errno::AGAIN) => {}
                // The hook does not want it.
                Err(_) => {
                    self.pending.clear();
                    self.pipe = None;
                }
            }
        }
        if self.has_ended && self.pending.is_empty() {
            self.pipe = None;
        }
    }
}

/// Waits until a pipe is ready. Returns which: stdin, the hook's stdin, its stdout, its stderr.
fn wait_until_ready(
    input: &InputPipe,
    outputs: &[Option<OwnedFd>; 2],
    is_closed: bool,
) -> Result<[bool; 4], Errno> {
    let stdin = io::stdin();
    let mut pipes = Vec::with_capacity(4);
    let mut places = Vec::with_capacity(4);
    if input.wants_input() {
        pipes.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        places.push(0);
    }
    if let Some(pipe) = input.pipe.as_ref().filter(|_| input.wants_output()) {
        pipes.push(PollFd::new(pipe, PollFlags::OUT));
        places.push(1);
    }
    for (index, pipe) in outputs.iter().enumerate() {
        if let Some(pipe) = pipe {
            pipes.push(PollFd::new(pipe, PollFlags::IN));
            places.push(index + 2);
        }
    }
    let limit = is_closed.then(|| timespec(EXIT_POLL_INTERVAL));
    let mut ready = [false; 4];
    match poll(&mut pipes, limit.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(ready),
        Err(error) => return Err(error),
    }
    for (place, pipe) in places.into_iter().zip(&pipes) {
        ready[place] = !pipe.revents().is_empty();
    }
    Ok(ready)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// Returns true if stdin has something to read before a time.
fn is_readable_until(until: Instant) -> bool {
    let left = until.saturating_duration_since(Instant::now());
    let stdin = io::stdin();
    let mut pipes = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    matches!(poll(&mut pipes, Some(&timespec(left))), Ok(count) if count > 0)
}

/// Passes bytes of an output on. Returns false after its end, and if the client does not want more.
fn pass_output(
    from: Option<&OwnedFd>,
    to: impl AsFd,
    buffer: &mut [u8],
    kept: &mut Vec<u8>,
) -> bool {
    let Some(from) = from else { return false };
    let count = match read(from, &mut *buffer) {
        Ok(0) => return false,
        Ok(count) => count,
        Err(Errno::INTR | Errno::AGAIN) => return true,
        Err(_) => return false,
    };
    let bytes = &buffer[..count];
    keep(kept, bytes, MAX_OUTPUT_BYTES);
    write_all(to, bytes)
}

fn write_all(to: impl AsFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(&to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut pipes = [PollFd::new(&to, PollFlags::OUT)];
                if poll(&mut pipes, None).is_err_and(|error| error != Errno::INTR) {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
    true
}

/// Writes the record. A fault is not reported: the answer of the hook has passed already.
fn record(
    start: &RecordedStart<'_>,
    seen: &SeenBytes,
    time: Time,
    ending: CallEnding,
    micros: u64,
) {
    let Ok(data) = environment::data_dir() else { return };
    let Some(project) = project_folder() else { return };
    let files = DataDir::new(data);
    // A folder that other users can change is not used.
    if files.secure().is_err() {
        return;
    }
    if is_silent(&files, &project) {
        return;
    }
    let client = environment::client_version().map(|version| version.to_string());
    let call = RecordedCall::new(&ObservedCall {
        time,
        event: start.event,
        hook: start.hook,
        command: &start.command_line(),
        client: client.as_deref(),
        payload: &seen.payload,
        stdout: &seen.stdout,
        stderr: &seen.stderr,
        ending,
        micros,
    });
    drop(HookRecording::of_project(&files, &project).append(&call, &project));
}

/// Returns true if the user has excluded the folder, or has paused rutter.
fn is_silent(files: &DataDir, project: &Path) -> bool {
    let root = LocatedProject::find(project).root;
    let user = environment::config_file_path().unwrap_or_default();
    let config = Config::load(&user, Some(&root), files.folder()).config;
    let session = environment::env_variable("CLAUDE_CODE_SESSION_ID");
    let session = session.as_ref().and_then(|session| session.to_str());
    SilenceReason::check(files, &config, session, project, environment::home_dir).is_some()
}

/// Returns the folder in which the client was started, without symbolic links.
fn project_folder() -> Option<PathBuf> {
    let folder = environment::client_start_dir().or_else(environment::process_folder)?;
    Some(folder.canonicalize().unwrap_or(folder))
}
