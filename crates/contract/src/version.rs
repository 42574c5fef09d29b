//! Client versions and the differences between them.
//!
//! Facts in the table carry the version that introduced them. Two clients were measured answer by answer;
//! for other versions the same table is read at that version, and [`Contract::note`] tells the user.

use std::fmt;
use std::str::FromStr;

/// A client version, `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
    /// Third number.
    pub patch: u16,
}

impl Version {
    /// Creates a version from its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    pub(crate) const fn from_tuple(v: (u16, u16, u16)) -> Self {
        Self::new(v.0, v.1, v.2)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The error for a text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseVersionError(String);

impl fmt::Display for ParseVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a client version; give three numbers as `claude --version` prints them, for example {}",
            self.0,
            Contract::NEWEST
        )
    }
}

impl std::error::Error for ParseVersionError {}

impl FromStr for Version {
    type Err = ParseVersionError;

    /// Parses `2.1.325`, `v2.1.325`, or the output of `claude --version` (`2.1.325 (Claude Code)`).
    fn from_str(text: &str) -> Result<Self, ParseVersionError> {
        let bad = || ParseVersionError(text.chars().take(40).collect());
        let word = text.split_whitespace().next().ok_or_else(bad)?;
        let mut numbers = word.strip_prefix('v').unwrap_or(word).split('.').map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            if digits { part.parse::<u16>().map_err(|_| bad()) } else { Err(bad()) }
        });
        let mut next = || numbers.next().unwrap_or_else(|| Err(bad()));
        let version = Self::new(next()?, next()?, next()?);
        if numbers.next().is_some() { Err(bad()) } else { Ok(version) }
    }
}

/// The hook contract of one client version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contract {
    asked: Version,
    version: Version,
}

impl Contract {
    /// The newest measured client.
    pub const NEWEST: Version = Version::new(2, 1, 325);
    /// All measured clients, oldest first.
    pub const MEASURED: [Version; 2] = [Version::new(2, 1, 197), Self::NEWEST];

    /// Returns the contract of the newest measured client.
    pub const fn newest() -> Self {
        Self { asked: Self::NEWEST, version: Self::NEWEST }
    }

    /// Returns the contract of `client`, clamped to the range of measured versions.
    pub fn for_client(client: Version) -> Self {
        let version = client.clamp(Self::MEASURED[0], Self::NEWEST);
        Self { asked: client, version }
    }

    /// Returns the version at which the table is read.
    pub const fn version(self) -> Version {
        self.version
    }

    /// Returns a note for the user if the requested client was not measured.
    pub fn note(self) -> Option<String> {
        let Self { asked, version } = self;
        if asked > version {
            return Some(format!(
                "client {asked} is newer than the newest one measured; answering for {version}"
            ));
        }
        if asked < version {
            return Some(format!(
                "client {asked} is older than the oldest one measured; answering for {version}"
            ));
        }
        let measured = Self::MEASURED.contains(&asked);
        (!measured).then(|| {
            format!(
                "client {asked} was not measured; answering from the versions recorded in the table \
                 (measured: {} and {})",
                Self::MEASURED[0],
                Self::MEASURED[1]
            )
        })
    }

    /// Returns true if this contract has a feature that `since` introduced.
    pub fn has(self, since: Version) -> bool {
        since <= self.version
    }

    /// Returns true if exit 2 blocks even with JSON on stdout that fails validation. Before, such a gate failed open.
    pub fn exit_2_blocks_despite_invalid_json(self) -> bool {
        self.has(Version::new(2, 1, 214))
    }

    /// Returns true if `{…}` that does not parse is an error. Before, it was plain text, and on the context
    /// events the raw text went to the model. The change lies somewhere between the two measured clients;
    /// the newer behaviour is assumed only for the newer one.
    pub fn unparsable_object_is_an_error(self) -> bool {
        self.has(Self::NEWEST)
    }

    /// Returns true if the client skips only a malformed handler (except under `PreToolUse` and
    /// `PermissionRequest`). Before, it voided its whole settings file. Dated like
    /// [`Self::unparsable_object_is_an_error`].
    pub fn malformed_handler_is_skipped_alone(self) -> bool {
        self.has(Self::NEWEST)
    }

    /// Returns true if the client reads the handler key `onFailure`.
    pub fn reads_on_failure(self) -> bool {
        self.has(Version::new(2, 1, 295))
    }

    /// Returns true if the reason of a `block` on `SessionStart` goes to the model, although it blocks nothing.
    /// The newer client drops it. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn session_start_passes_reason_on(self, event: crate::EventName) -> bool {
        event == crate::EventName::SessionStart && !self.has(Self::NEWEST)
    }

    /// Returns true if on `PreToolUse` a `hookSpecificOutput` hides the reason of a top-level `block`.
    /// The newer client passes it on. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn output_hides_block_reason(self) -> bool {
        !self.has(Self::NEWEST)
    }

    /// Returns true if on `PreToolUse` exit 2 blocks although the JSON names another event; stderr is lost.
    /// Before, the tool ran. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn unreadable_exit_2_blocks_tools(self) -> bool {
        self.has(Self::NEWEST)
    }

    /// Returns true if on `PreToolUse` the turn goes on after a denied call in spite of `continue: false`. The
    /// newer client ends it. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn block_outweighs_stop(self) -> bool {
        !self.has(Self::NEWEST)
    }

    /// Returns true if exit 2 blocks in spite of `async: true` in an object of several lines. Before, it did not.
    /// Dated like [`Self::unparsable_object_is_an_error`].
    pub fn late_async_exit_2_blocks(self) -> bool {
        self.has(Self::NEWEST)
    }

    /// Returns true if output after `async: true` on the first line is context on events with plain stdout as
    /// context. The newer client drops it. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn late_output_is_context(self) -> bool {
        !self.has(Self::NEWEST)
    }

    /// Returns true if `PermissionRequest` fires in a plain headless run. The older client fires it only if a
    /// user can be asked. Dated like [`Self::unparsable_object_is_an_error`].
    pub fn asks_permission_headless(self) -> bool {
        self.has(Self::NEWEST)
    }

    /// Returns true if the client refuses a top-level `decision` of `allow`, `deny` or `ask` with a hint at the
    /// right field. Before, the message was only `(root): Invalid input`.
    pub fn hints_at_permission_decision(self) -> bool {
        self.has(Self::NEWEST)
    }
}

/// A behaviour that differs between the measured clients.
#[derive(Debug, Clone, Copy)]
pub struct ClientDifference {
    /// The compared input.
    pub compared: &'static str,
    /// The behaviour of the older measured client.
    pub before: &'static str,
    /// The behaviour of the newer measured client.
    pub after: &'static str,
    /// Returns true if a [`Contract`] has the newer behaviour.
    pub holds: fn(Contract) -> bool,
}

/// The differences between the measured clients beyond the events, fields and values that the table dates.
pub static DIFFERENCES: &[ClientDifference] = &[
    ClientDifference {
        compared: "exit 2 with JSON that fails validation",
        before: "does not block: the gate fails open",
        after: "blocks with stderr",
        holds: Contract::exit_2_blocks_despite_invalid_json,
    },
    ClientDifference {
        compared: "stdout that starts with `{`, ends with `}` and does not parse",
        before: "plain text, injected on the events whose plain stdout is context",
        after: "an error; nothing is injected",
        holds: Contract::unparsable_object_is_an_error,
    },
    ClientDifference {
        compared: "a malformed handler in a settings file",
        before: "voids the whole file",
        after: "skipped alone; under PreToolUse or PermissionRequest it still voids the whole file",
        holds: Contract::malformed_handler_is_skipped_alone,
    },
    ClientDifference {
        compared: "the handler key `onFailure`",
        before: "unknown, ignored",
        after: "`block` makes a failing handler count as exit 2",
        holds: Contract::reads_on_failure,
    },
    ClientDifference {
        compared: "top-level `decision` of `allow`, `deny` or `ask`",
        before: "refused with `(root): Invalid input`",
        after: "refused with a hint at `hookSpecificOutput.permissionDecision`",
        holds: Contract::hints_at_permission_decision,
    },
    ClientDifference {
        compared: "the reason of `decision: block` on SessionStart, where it blocks nothing",
        before: "goes to the model",
        after: "dropped",
        holds: |contract| !contract.session_start_passes_reason_on(crate::EventName::SessionStart),
    },
    ClientDifference {
        compared: "the reason of `decision: block` on PreToolUse beside a hookSpecificOutput",
        before: "hidden: the model reads \"Blocked by hook\"",
        after: "goes to the model",
        holds: |contract| !contract.output_hides_block_reason(),
    },
    ClientDifference {
        compared: "exit 2 on PreToolUse with JSON that names another event",
        before: "does not block: the tool runs",
        after: "blocks, and stderr is lost",
        holds: Contract::unreadable_exit_2_blocks_tools,
    },
    ClientDifference {
        compared: "text behind a first line `{\"async\":true}`, where plain stdout is context",
        before: "goes to the model",
        after: "dropped",
        holds: |contract| !contract.late_output_is_context(),
    },
    ClientDifference {
        compared: "PermissionRequest in a plain headless run",
        before: "does not fire",
        after: "fires",
        holds: Contract::asks_permission_headless,
    },
    ClientDifference {
        compared: "exit 2 with `async: true` in an object of several lines",
        before: "does not block",
        after: "blocks",
        holds: Contract::late_async_exit_2_blocks,
    },
    ClientDifference {
        compared: "`continue: false` on PreToolUse beside a deny or exit 2",
        before: "the call is blocked and the turn goes on",
        after: "the call is blocked and the turn ends",
        holds: |contract| !contract.block_outweighs_stop(),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_client_output() {
        for text in ["2.1.325", "v2.1.325", "2.1.325 (Claude Code)"] {
            assert_eq!(text.parse(), Ok(Version::new(2, 1, 325)), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_versions() {
        for text in
            ["", "2.1", "2.1.325.1", "2.1.x", "2.1.-3", "2..3", "+2.1.3", "2.1.99999", "latest"]
        {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
        let message = "latest".parse::<Version>().unwrap_err().to_string();
        assert!(message.contains("`latest`") && message.contains("2.1.325"), "{message}");
    }

    #[test]
    fn notes_unmeasured_clients_only() {
        for version in Contract::MEASURED {
            assert_eq!(Contract::for_client(version).note(), None);
        }
        let note = |text: &str| Contract::for_client(text.parse().unwrap()).note().unwrap();
        assert!(note("2.2.0").contains("newer") && note("2.2.0").contains("2.1.325"));
        assert!(note("2.0.0").contains("older") && note("2.0.0").contains("2.1.197"));
        assert!(note("2.1.250").contains("not measured"));
    }

    #[test]
    fn differences_separate_measured_clients() {
        let [old, new] = Contract::MEASURED.map(Contract::for_client);
        for difference in DIFFERENCES {
            assert!(!(difference.holds)(old), "{}", difference.compared);
            assert!((difference.holds)(new), "{}", difference.compared);
        }
    }
}
