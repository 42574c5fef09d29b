//! Sessions of a client: when they live, and when they are over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};
use rutter_redact::choice;

/// A session that nobody has seen for so long is over, whatever its process does.
pub const SILENCE: Duration = Duration::from_hours(12);

choice! {
    /// How a session came to be.
    Source, "source of a session" {
        /// The client was started.
        Startup = "startup",
        /// An earlier session goes on.
        Resume = "resume",
        /// The user cleared the conversation.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A copy of another session goes its own way.
        Fork = "fork",
        /// Commands typed outside a client: one standing session per project.
        CommandLine = "command-line",
        /// A server that no client told its session.
        Server = "server",
    }
}

/// One session of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its identity here.
    pub id: Id,
    /// What the client calls it.
    pub client: Clean,
    /// The project it began in.
    pub project: ProjectKey,
    /// How it began, last time it did.
    pub source: Source,
    /// When it was first seen.
    pub started: Time,
    /// When it was last seen. Never moves back.
    pub seen: Time,
    /// When it ended, as far as it has.
    pub ended: Option<Time>,
    /// The client's process, as far as it is known.
    pub process: Option<Process>,
    /// Which arm of a comparison it is in.
    pub cohort: Option<Clean>,
    /// How many tools it has called.
    pub calls: u64,
    /// When what it had been shown last left its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<Time>,
}

/// A process, by more than its number: numbers come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in the clock ticks since boot that the kernel counts; unknown off Linux.
    pub began: Option<u64>,
}

impl Process {
    /// A process that runs now.
    pub fn of(pid: u32) -> Self {
        Self { pid, began: began(pid) }
    }

    /// Whether it still runs.
    pub fn runs(self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw)
        else {
            return false;
        };
        // Another user's process cannot be signalled, but it runs.
        let there = !matches!(rustix::process::test_kill_process(pid), Err(error) if error == rustix::io::Errno::SRCH);
        there && (self.began.is_none() || self.began == began(self.pid))
    }
}

/// Field 22 of `/proc/PID/stat`. The second field is the name in parentheses, which may hold anything.
fn began(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

impl Session {
    /// Whether it is over: it ended, or its process is gone, or it was not seen for [`SILENCE`].
    pub fn over(&self, now: Time) -> bool {
        self.ended.is_some()
            || now.since(self.seen) >= SILENCE
            || self.process.is_some_and(|process| !process.runs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        let now = Time::from_millis(1_763_208_825_120);
        Session {
            id: Id::new(now),
            client: Clean::new("b3e3"),
            project: ProjectKey::new("dir:/x"),
            source: Source::Startup,
            started: now,
            seen: now,
            ended: None,
            process: None,
            cohort: None,
            calls: 0,
            refreshed: None,
        }
    }

    #[test]
    fn twelve_hours_of_silence_end_it() {
        let session = session();
        let later = |hours: u64| {
            Time::from_millis(session.seen.millis() + i64::try_from(hours).unwrap() * 3_600_000)
        };
        assert!(!session.over(later(11)));
        assert!(session.over(later(12)));
        // A clock that was set back makes nothing old.
        assert!(!session.over(Time::from_millis(0)));
    }

    #[test]
    fn it_lives_as_long_as_its_process() {
        let mut session = session();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        session.process = Some(Process::of(child.id()));
        assert!(!session.over(session.seen));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(session.over(session.seen));
    }

    #[test]
    fn a_number_that_came_again_is_another_process() {
        let mut me = Process::of(std::process::id());
        assert!(me.runs());
        if let Some(began) = me.began {
            me.began = Some(began + 1);
            assert!(!me.runs());
        }
        assert!(!Process { pid: 0, began: None }.runs());
        assert!(!Process { pid: u32::MAX, began: None }.runs());
    }

    #[test]
    fn an_ended_session_is_over() {
        let mut session = session();
        session.ended = Some(session.seen);
        assert!(session.over(session.seen));
    }
}
