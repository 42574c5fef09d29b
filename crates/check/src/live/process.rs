//! The client as a process: started in a group of its own, fed, read, and ended in time.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long output may keep coming after the client has gone: a process that it left behind may hold
/// the other end.
const GRACE: Duration = Duration::from_secs(2);

/// How a client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Not by itself: time was up, and it was killed with all it had started.
    TimedOut,
}

/// What a client printed.
#[derive(Debug, Default)]
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// A running client.
pub(super) struct Process {
    child: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    deadline: Instant,
    exited: Receiver<()>,
    lines: Receiver<String>,
    stdout: Stream,
    stderr: Stream,
    /// Whether the group was ended.
    ended: bool,
}

/// What came over a pipe so far, and word of its end.
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Process {
    /// Starts a command; it is killed when `limit` has passed. `group` is a process group to join, which is ended with it.
    pub(super) fn start(
        mut command: Command,
        limit: Duration,
        group: Option<Pid>,
    ) -> io::Result<Self> {
        let deadline = Instant::now() + limit;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own can be ended as one, with the hooks and servers that the client started.
        let mut child = command.process_group(Pid::as_raw(group)).spawn()?;
        let own = Pid::from_child(&child);
        let group = group.unwrap_or(own);
        let stdin = child.stdin.take();
        let (tell, lines) = mpsc::channel();
        let stdout = Stream::read(child.stdout.take(), Some(tell));
        let stderr = Stream::read(child.stderr.take(), None);
        let (gone, exited) = mpsc::channel();
        std::thread::spawn(move || {
            // Left unreaped, so that the group's number stays taken until the group was ended.
            let _ = waitid(WaitId::Pid(own), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = gone.send(());
        });
        Ok(Self { child, group, stdin, deadline, exited, lines, stdout, stderr, ended: false })
    }

    /// Writes a line to the client's stdin.
    pub(super) fn tell(&mut self, line: &str) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Ok(()) };
        stdin.write_all(line.as_bytes())?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// The next line of stdout; `Ok(None)` when none came within `patience`, an error when none will.
    pub(super) fn line(&self, patience: Duration) -> Result<Option<String>, Silent> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Silent::TimeIsUp);
        }
        match self.lines.recv_timeout(patience.min(left)) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Silent::Gone),
        }
    }

    /// Closes stdin and waits for the end, which comes in time or is made.
    pub(super) fn finish(mut self) -> io::Result<(Ending, Printed)> {
        drop(self.stdin.take());
        let left = self.deadline.saturating_duration_since(Instant::now());
        let in_time = self.exited.recv_timeout(left).is_ok();
        let status = self.end()?;
        let ending = match (in_time, status.code()) {
            (false, _) => Ending::TimedOut,
            (true, Some(code)) => Ending::Exited(code),
            (true, None) => Ending::Signalled(status.signal().unwrap_or_default()),
        };
        Ok((ending, Printed { stdout: self.stdout.all(), stderr: self.stderr.all() }))
    }

    /// Ends the client with its whole group.
    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        // A group that has ended already is what we want.
        let _ = kill_process_group(self.group, Signal::KILL);
        // From here on the number may be another group's.
        self.ended = true;
        self.child.wait()
    }

    /// What came over stderr so far.
    pub(super) fn complaints(&self) -> String {
        self.stderr.so_far()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A client that is gone may have left children behind.
        if !self.ended {
            drop(self.end());
        }
    }
}

/// Why no further line comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silent {
    /// The client has closed its stdout.
    Gone,
    /// The deadline has passed.
    TimeIsUp,
}

impl Stream {
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
                        // Nobody listens in a run that is not a conversation.
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

    fn all(&self) -> String {
        // Ended, or no longer worth waiting for: either way the text so far is what there is.
        let _ = self.ended.recv_timeout(GRACE);
        self.so_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(program: &str, limit: Duration) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", program]);
        Process::start(command, limit, None).unwrap()
    }

    /// Whether a process has ended; whether somebody has looked after it is not ours to say.
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
    fn what_it_prints_and_how_it_ends_is_kept() {
        let mut process = shell("read word; echo got $word; echo oh >&2; exit 3", GRACE * 10);
        process.tell("this").unwrap();
        assert_eq!(process.line(GRACE * 10), Ok(Some("got this".to_owned())));
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, Ending::Exited(3));
        assert_eq!((&printed.stdout[..], &printed.stderr[..]), ("got this\n", "oh\n"));
        let (ending, _) = shell("kill -TERM $$", GRACE * 10).finish().unwrap();
        assert_eq!(ending, Ending::Signalled(15));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn time_is_up_for_all_it_started() {
        let process = shell("sleep 300 & echo $!; sleep 300", Duration::from_millis(300));
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, Ending::TimedOut);
        assert_ends(printed.stdout.trim());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_it_leaves_behind_is_ended_too() {
        let process = shell("sleep 300 >/dev/null 2>&1 & echo $!", GRACE * 10);
        let (ending, printed) = process.finish().unwrap();
        assert_eq!(ending, Ending::Exited(0));
        assert_ends(printed.stdout.trim());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn one_that_is_dropped_is_ended() {
        let process = shell("echo $$; sleep 300", GRACE * 100);
        let pid = process.line(GRACE * 10).unwrap().unwrap();
        drop(process);
        assert_ends(&pid);
    }
}
