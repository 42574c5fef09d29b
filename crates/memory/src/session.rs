//! Sessions of a client: their life and their end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};
use rutter_redact::choice;

/// A session that was not seen for this long is over, even if its process still runs.
pub const SESSION_TIMEOUT: Duration = Duration::from_hours(12);

choice! {
    /// The way a session started.
    StoredSessionSource, "source of a session" {
        /// The client was started.
        Startup = "startup",
        /// An earlier session was resumed.
        Resume = "resume",
        /// The user cleared the conversation.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A copy of another session continues separately.
        Fork = "fork",
        /// Commands typed outside a client: one standing session per project.
        CommandLine = "command-line",
        /// A server without a session id from its client.
        Server = "server",
    }
}

/// A session of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Id of the row.
    pub id: Id,
    /// The client's name for the session.
    pub client: Clean,
    /// The project in which it began.
    pub project: ProjectKey,
    /// The way it started most recently.
    pub source: StoredSessionSource,
    /// Time when it was first seen.
    pub started: Time,
    /// Time when it was last seen. Never moves back.
    pub seen: Time,
    /// Time when it ended, if it has.
    pub ended: Option<Time>,
    /// The client's process, if it is known.
    pub process: Option<SessionProcess>,
    /// The cohort of an experiment that it belongs to.
    pub cohort: Option<Clean>,
    /// Number of tool calls.
    pub calls: u64,
    /// Time when the rows shown to it last left its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<Time>,
}

/// A process, identified by more than its number, because numbers are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionProcess {
    /// Process id.
    pub pid: u32,
    /// Start time in kernel clock ticks since boot; unknown outside of Linux.
    pub began: Option<u64>,
}

impl SessionProcess {
    /// Identifies a process that runs now.
    pub fn from_pid(pid: u32) -> Self {
        Self { pid, began: read_process_start(pid) }
    }

    /// Returns true if it still runs.
    pub fn is_running(self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw)
        else {
            return false;
        };
        // Another user's process cannot be signalled, but it runs.
        let there = !matches!(rustix::process::test_kill_process(pid), Err(error) if error == rustix::io::Errno::SRCH);
        there && (self.began.is_none() || self.began == read_process_start(self.pid))
    }
}

/// Reads field 22 of `/proc/PID/stat`. The second field is the name in parentheses, which may contain any character.
fn read_process_start(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

impl Session {
    /// Returns true if the session is over: it ended, its process is gone, or it was not seen for [`SESSION_TIMEOUT`].
    pub fn is_over(&self, now: Time) -> bool {
        self.ended.is_some()
            || now.since(self.seen) >= SESSION_TIMEOUT
            || self.process.is_some_and(|process| !process.is_running())
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
            source: StoredSessionSource::Startup,
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
        assert!(!session.is_over(later(11)));
        assert!(session.is_over(later(12)));
        // A clock that was set back ends no session.
        assert!(!session.is_over(Time::from_millis(0)));
    }

    #[test]
    fn ends_with_its_process() {
        let mut session = session();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        session.process = Some(SessionProcess::from_pid(child.id()));
        assert!(!session.is_over(session.seen));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(session.is_over(session.seen));
    }

    #[test]
    fn reused_pid_is_another_process() {
        let mut me = SessionProcess::from_pid(std::process::id());
        assert!(me.is_running());
        if let Some(began) = me.began {
            me.began = Some(began + 1);
            assert!(!me.is_running());
        }
        assert!(!SessionProcess { pid: 0, began: None }.is_running());
        assert!(!SessionProcess { pid: u32::MAX, began: None }.is_running());
    }

    #[test]
    fn an_ended_session_is_over() {
        let mut session = session();
        session.ended = Some(session.seen);
        assert!(session.is_over(session.seen));
    }
}
