//! Runs programs that may hang, with a time limit.

use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Maximum output that is read from a program.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;
/// Interval for polling the exit of a process that has closed its output.
const EXIT_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// The result of a process that has ended or was killed.
#[derive(Debug)]
pub struct ProcessResult {
    /// Exit code. None if a signal ended the process.
    pub exit: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// Up to 1 MiB of the output.
    pub stdout: Vec<u8>,
    /// Up to 1 MiB of the error output.
    pub stderr: Vec<u8>,
    /// True if the process exceeded the time limit.
    pub late: bool,
    /// Duration from the start to the end of the process.
    pub took: Duration,
}

/// A process group that does not outlive this process, even if this process is killed.
#[derive(Debug)]
pub struct ProcessGroup {
    /// A shell that reserves the group id and kills the group when its stdin closes. Only this process has the write
    /// end. The leader starts before the first process joins, so there is no moment without protection.
    leader: Child,
}

impl ProcessGroup {
    /// Starts the leader of a new group.
    pub fn create() -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "read -r _; kill -KILL 0"])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self { leader: command.spawn()? })
    }

    /// Returns the id of the group.
    pub fn id(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// Kills all processes of the group.
    fn end(&self) {
        // An error means that the group has already ended.
        let _ = kill_process_group(self.id(), Signal::KILL);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
        drop(self.leader.wait());
    }
}

/// Runs a command with input that it need not read. The process does not outlive this one.
pub fn run_with_limit(
    command: &mut Command,
    stdin: &[u8],
    limit: Duration,
) -> io::Result<ProcessResult> {
    // Children of the command can be killed with it.
    run_in_group(&ProcessGroup::create()?, command, stdin, limit)
}

/// Runs a command like [`run_with_limit`], in a group that several runs share. A run that exceeds the limit ends the group,
/// which then takes no further process.
pub fn run_in_group(
    group: &ProcessGroup,
    command: &mut Command,
    stdin: &[u8],
    limit: Duration,
) -> io::Result<ProcessResult> {
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group.id().as_raw_nonzero().get())
        .spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let stdout = spawn_reader(child.stdout.take());
    let stderr = spawn_reader(child.stderr.take());
    let left = || limit.saturating_sub(begun.elapsed());
    let (said, done) = receive_output(&stdout, left());
    let ended = done && wait_for_exit(&mut child, left())?;
    let took = begun.elapsed();
    if !ended {
        group.end();
    }
    let status = child.wait()?;
    let (complained, _) = receive_output(
        &stderr,
        if ended { left().max(EXIT_POLL_INTERVAL) } else { EXIT_POLL_INTERVAL },
    );
    Ok(ProcessResult {
        exit: status.code(),
        signal: status.signal(),
        stdout: said,
        stderr: complained,
        late: !ended,
        took,
    })
}

/// Reads a pipe in a separate thread, because the pipe may never close.
fn spawn_reader(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(pipe.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes));
            drop(sender.send(bytes));
        });
    }
    receiver
}

fn receive_output(pipe: &mpsc::Receiver<Vec<u8>>, limit: Duration) -> (Vec<u8>, bool) {
    match pipe.recv_timeout(limit) {
        Ok(bytes) => (bytes, true),
        Err(_) => (Vec::new(), false),
    }
}

/// Waits until a process has ended. Returns false if the limit passes first.
pub fn wait_for_exit(child: &mut Child, limit: Duration) -> io::Result<bool> {
    let begun = Instant::now();
    while child.try_wait()?.is_none() {
        if begun.elapsed() >= limit {
            return Ok(false);
        }
        thread::sleep(EXIT_POLL_INTERVAL);
    }
    Ok(true)
}
