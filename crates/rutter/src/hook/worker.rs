//! The process that does a hook's work.
//!
//! A process that waits for a disk that hangs cannot be ended, and neither can one that has a thread which does: its parent
//! waits until the disk comes back. So the process that the client has started never touches the disk. It forks a worker, waits
//! for its answer for as long as a hook may take, and leaves it behind if there is none. A worker that is left behind finishes
//! when the disk is back: what is recorded late is recorded.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

/// Seconds after which a worker ends that was left behind and waits for something else than a disk.
const MAX_WORKER_SECONDS: u32 = 60;

/// Runs work in a process of its own and returns its answer, or None if that takes longer than the limit. `leave` ends a process.
/// Where no process can be made, the work is done in this one.
///
/// Nothing may have started a thread before: a fork has only the one that called it.
pub(super) fn run(limit: Duration, leave: fn(), work: impl FnOnce() -> String) -> Option<String> {
    let until = Instant::now() + limit;
    let (Ok((answer, to_client)), Ok(null)) = (
        pipe_with(PipeFlags::CLOEXEC),
        OpenOptions::new().read(true).write(true).open("/dev/null"),
    ) else {
        return Some(work());
    };
    match fork() {
        Fork::Failed => Some(work()),
        Fork::Worker => {
            drop(answer);
            // The client waits until nobody holds its pipes, and must not wait for a worker that hangs.
            if dup2_stdin(&null).and(dup2_stdout(&null)).and(dup2_stderr(&null)).is_ok() {
                drop(File::from(to_client).write_all(work().as_bytes()));
            }
            leave();
            None
        }
        Fork::Parent(worker) => {
            drop(to_client);
            let answer = read_until(&answer, until)?;
            // It has closed its end, so it is about to end. Whoever does not wait for it leaves its number in use.
            let _ = waitpid(worker, WaitOptions::empty());
            Some(answer)
        }
    }
}

/// Runs work in a process of its own that nobody waits for. Returns false if no process can be made. `leave` ends a process.
///
/// Nothing may have started a thread before, as for [`run`].
pub(crate) fn run_behind(leave: impl FnOnce(), work: impl FnOnce()) -> bool {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else {
        return false;
    };
    match fork() {
        Fork::Failed => false,
        Fork::Worker => {
            // The client waits until nobody holds its pipes.
            if dup2_stdin(&null).and(dup2_stdout(&null)).and(dup2_stderr(&null)).is_ok() {
                work();
            }
            leave();
            true
        }
        Fork::Parent(_) => true,
    }
}

enum Fork {
    Parent(Option<Pid>),
    Worker,
    Failed,
}

#[expect(unsafe_code, reason = "neither the standard library nor rustix forks")]
fn fork() -> Fork {
    // SAFETY: this process has one thread, so no lock is held by a thread that the worker does not have, and the worker may do
    // what this process may.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: it sets a timer of the kernel's and touches no memory.
            unsafe { libc::alarm(MAX_WORKER_SECONDS) };
            Fork::Worker
        }
        number => match Pid::from_raw(number) {
            Some(worker) if number > 0 => Fork::Parent(Some(worker)),
            _ => Fork::Failed,
        },
    }
}

/// Reads until the other end is closed. Returns None if that takes too long.
fn read_until(pipe: &OwnedFd, until: Instant) -> Option<String> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let left = Timespec::try_from(left).ok()?;
        match poll(&mut [PollFd::new(&pipe.as_fd(), PollFlags::IN)], Some(&left)) {
            Ok(0) => return None,
            Err(Errno::INTR) => continue,
            Ok(_) | Err(_) => {}
        }
        if bytes.capacity() - bytes.len() < 4 * 1024 {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => return String::from_utf8(bytes).ok(),
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}
