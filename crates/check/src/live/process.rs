//! The client process: started in a separate process group, with piped input and output and a time limit.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Time to wait for further output after the client's exit: a process that it left behind may hold the other
/// end of the pipe.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The way in which a client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnding {
    /// The client exited with this code.
    Exited(i32),
    /// This signal ended the client.
    Signalled(i32),
    /// The time limit passed, and the client was killed with all its children.
    TimedOut,
}

/// The output of a client.
#[derive(Debug, Default)]
pub(super) struct ProcessOutput {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// A running client.
pub(super) struct ClientProcess {
    child: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    deadline: Instant,
    exited: Receiver<()>,
    lines: Receiver<String>,
    stdout: PipeReader,
    stderr: PipeReader,
    /// True if the process group has been killed.
    ended: bool,
}

/// The bytes of a pipe so far, and a signal for its end.
struct PipeReader {
    text: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl ClientProcess {
    /// Starts a command with a time limit. `group` is a process group to join; it is killed together with the command.
    pub(super) fn start(
        mut command: Command,
        limit: Duration,
        group: Option<Pid>,
    ) -> io::Result<Self> {
        let deadline = Instant::now() + limit;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A separate group can be killed as one, with the hooks and servers that the client started.
        let mut child = command.process_group(Pid::as_raw(group)).spawn()?;
        let own = Pid::from_child(&child);
        let group = group.unwrap_or(own);
        let stdin = child.stdin.take();
        let (tell, lines) = mpsc::channel();
        let stdout = PipeReader::read(child.stdout.take(), Some(tell));
        let stderr = PipeReader::read(child.stderr.take(), None);
        let (gone, exited) = mpsc::channel();
        std::thread::spawn(move || {
            // Not reaped here, so that the group's number stays taken until the group is killed.
            let _ = waitid(WaitId::Pid(own), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = gone.send(());
        });
        Ok(Self { child, group, stdin, deadline, exited, lines, stdout, stderr, ended: false })
    }

    /// Writes a line to the client's stdin.
    pub(super) fn write_line(&mut self, line: &str) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Ok(()) };
        stdin.write_all(line.as_bytes())?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// Returns the next line of stdout; `Ok(None)` after `patience` without one, an error if none can follow.
    pub(super) fn next_line(&self, patience: Duration) -> Result<Option<String>, EndOfLines> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(EndOfLines::TimeIsUp);
        }
        match self.lines.recv_timeout(patience.min(left)) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EndOfLines::Gone),
        }
    }

    /// Closes stdin and waits for the exit; kills the client at the deadline.
    pub(super) fn finish(mut self) -> io::Result<(ProcessEnding, ProcessOutput)> {
        drop(self.stdin.take());
        let left = self.deadline.saturating_duration_since(Instant::now());
        let in_time = self.exited.recv_timeout(left).is_ok();
        let status = self.kill_group()?;
        let ending = match (in_time, status.code()) {
            (false, _) => ProcessEnding::TimedOut,
            (true, Some(code)) => ProcessEnding::Exited(code),
            (true, None) => ProcessEnding::Signalled(status.signal().unwrap_or_default()),
        };
        Ok((
            ending,
            ProcessOutput {
                stdout: self.stdout.wait_for_text(),
                stderr: self.stderr.wait_for_text(),
            },
        ))
    }

    /// Kills the client with its whole group.
    fn kill_group(&mut self) -> io::Result<std::process::ExitStatus> {
        // An error means that the group has ended already.
        let _ = kill_process_group(self.group, Signal::KILL);
        // From here on the system may reuse the group's number.
        self.ended = true;
        self.child.wait()
    }

    /// Returns stderr so far.
    pub(super) fn stderr_so_far(&self) -> String {
        self.stderr.so_far()
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        // Even an exited client may have left children behind.
        if !self.ended {
            drop(self.kill_group());
        }
    }
}

/// The reason for which no further line follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndOfLines {
    /// The client has closed its stdout.
    Gone,
    /// The deadline has passed.
    TimeIsUp,
}

impl PipeReader {
    fn read(
        pipe: Option<impl io::Read + Send + 'static>,
        tell: Option<mpsc::Sender<String>>,
    ) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = mpsc::channel();
        if let Some(pipe) = pipe {
            let text = Arc::clone(&text);
            std::thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                let mut line = Vec::new();
                while pipe.by_ref().read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                    text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&line);
                    if let Some(tell) = &tell {
                        // In a run without a conversation the receiver is not used.
                        drop(tell.send(String::from_utf8_lossy(&line).trim_end().to_owned()));
                    }
                    line.clear();
                }
                let _ = end.send(());
            });
        }
        Self { text, ended }
    }

    fn so_far(&self) -> String {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn wait_for_text(&self) -> String {
        // At the end of the pipe or after the timeout, return the text so far.
        let _ = self.ended.recv_timeout(OUTPUT_GRACE_PERIOD);
        self.so_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(program: &str, limit: Duration) -> ClientProcess {
        let mut command = Command::new("sh");
        command.args(["-c", program]);
        ClientProcess::start(command, limit, None).unwrap()
    }

    /// Returns true if a process has ended, reaped or not.
    #[cfg(target_os = "linux")]
    fn has_ended(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
    }

    #[cfg(target_os = "linux")]
    fn assert_ends(pid: &str) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !has_ended(pid) {
            assert!(Instant::now() < deadline, "{pid} lives on");
            std::thread::yield_now();
        }
    }

    #[test]
    fn records_output_and_exit() {
        let mut process =
            shell("read word; echo got $word; echo oh >&2; exit 3", OUTPUT_GRACE_PERIOD * 10);
        process.write_line("this").unwrap();
        assert_eq!(process.next_line(OUTPUT_GRACE_PERIOD * 10), Ok(Some("got this".to_owned())));
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, ProcessEnding::Exited(3));
        assert_eq!((&printed.stdout[..], &printed.stderr[..]), ("got this\n", "oh\n"));
        let (ending, _) = shell("kill -TERM $$", OUTPUT_GRACE_PERIOD * 10).finish().unwrap();
        assert_eq!(ending, ProcessEnding::Signalled(15));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn timeout_kills_children() {
        let process = shell("sleep 300 & echo $!; sleep 300", Duration::from_millis(300));
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, ProcessEnding::TimedOut);
        assert_ends(printed.stdout.trim());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn finish_kills_leftover_children() {
        let process = shell("sleep 300 >/dev/null 2>&1 & echo $!", OUTPUT_GRACE_PERIOD * 10);
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, ProcessEnding::Exited(0));
        assert_ends(printed.stdout.trim());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn drop_kills_process() {
        let process = shell("echo $$; sleep 300", OUTPUT_GRACE_PERIOD * 100);
        let pid = process.next_line(OUTPUT_GRACE_PERIOD * 10).unwrap().unwrap();
        drop(process);
        assert_ends(&pid);
    }
}
