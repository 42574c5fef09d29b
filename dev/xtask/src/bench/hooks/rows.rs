//! The measured program starts, in the order of a round.

use std::time::Duration;

use super::payloads::BenchPayloads;

/// Limits: of a call that concerns nothing by its median, of each tool's hooks by their 95th percentile.
const NOOP_LIMIT: TimeLimit = TimeLimit::Ratio(1.3);
const COMMAND_LIMIT: TimeLimit = TimeLimit::Within(Duration::from_millis(10));
const EDIT_LIMIT: TimeLimit = TimeLimit::Within(Duration::from_millis(4));
/// The payload contains the whole file: for 1 MB, passing and reading it alone takes over a millisecond.
const LONG_EDIT_LIMIT: TimeLimit = TimeLimit::Within(Duration::from_millis(6));
const SESSION_START_LIMIT: TimeLimit = TimeLimit::Within(Duration::from_millis(15));
const SESSION_END_LIMIT: TimeLimit = TimeLimit::Within(Duration::from_millis(10));
/// Maximum time of any hook on a command.
const COMMAND_DEADLINE: TimeLimit = TimeLimit::Always(Duration::from_millis(100));

/// The limit of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeLimit {
    /// No limit: the row is a baseline.
    None,
    /// Maximum multiple of a program that does nothing, by the median.
    Ratio(f64),
    /// Maximum 95th percentile.
    Within(Duration),
    /// Maximum of all starts.
    Always(Duration),
}

/// The store that a hook works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BenchStore {
    /// The seeded store.
    Usual,
    /// A store that does not exist yet.
    Missing,
    /// A copy of the seeded store, locked by another writer during the row.
    Locked,
}

pub(super) enum StartedProgram {
    Other(&'static str),
    Hook(BenchStore),
}

/// The expected output of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedHookOutput {
    Nothing,
    /// Context for the model.
    Context,
    /// Any output.
    Anything,
}

/// A program start in each round.
pub(super) struct HookRow {
    pub(super) name: &'static str,
    pub(super) starts: StartedProgram,
    /// Builds the payload of a round.
    pub(super) payload: fn(&BenchPayloads, usize) -> Vec<u8>,
    pub(super) answer: ExpectedHookOutput,
    /// The limit; `None` for a row that only prepares the next one and is not reported.
    pub(super) promise: Option<TimeLimit>,
}

const fn hook_row(
    name: &'static str,
    promise: TimeLimit,
    payload: fn(&BenchPayloads, usize) -> Vec<u8>,
) -> HookRow {
    HookRow {
        name,
        starts: StartedProgram::Hook(BenchStore::Usual),
        payload,
        answer: ExpectedHookOutput::Nothing,
        promise: Some(promise),
    }
}

const fn program_row(name: &'static str, program: &'static str) -> HookRow {
    HookRow {
        starts: StartedProgram::Other(program),
        answer: ExpectedHookOutput::Anything,
        ..hook_row(name, TimeLimit::None, |told, _| told.before_command())
    }
}

/// All rows, in order.
pub(super) const HOOK_ROWS: &[HookRow] = &[
    program_row("`/bin/true`", "/bin/true"),
    program_row("`/bin/cat`, which reads the payload and prints it", "/bin/cat"),
    // The failures of the round before are fixed. The first call notes that in the fingerprint file.
    HookRow {
        promise: None,
        ..hook_row("the first call after a green run", NOOP_LIMIT, |told, _| told.before_command())
    },
    hook_row("PreToolUse, nothing to say", NOOP_LIMIT, |told, _| told.before_command()),
    hook_row("PreToolUse of an edit, nothing to say", NOOP_LIMIT, |told, _| told.before_edit()),
    hook_row("a command that is no run (`ls`)", COMMAND_LIMIT, |told, _| told.listing()),
    hook_row("an edit, nothing is failing", EDIT_LIMIT, |told, _| told.edited()),
    hook_row("the same in a file of 1 MB", LONG_EDIT_LIMIT, |told, _| told.edited_long()),
    // The first one of a session offers to start a GHAP.
    HookRow {
        answer: ExpectedHookOutput::Anything,
        ..hook_row("a red run, never seen before", COMMAND_LIMIT, BenchPayloads::failed)
    },
    hook_row("PreToolUse of a command while it is failing", EDIT_LIMIT, |told, _| {
        told.before_command()
    }),
    hook_row("an edit while it is failing", EDIT_LIMIT, |told, _| told.edited()),
    hook_row("the same in a file of 1 MB, while it is failing", LONG_EDIT_LIMIT, |told, _| {
        told.edited_long()
    }),
    hook_row("the green run, 30,000 characters", COMMAND_LIMIT, BenchPayloads::passed),
    HookRow {
        answer: ExpectedHookOutput::Context,
        ..hook_row(
            "a red run that was fixed before: shows the fix",
            COMMAND_LIMIT,
            BenchPayloads::failed_as_before,
        )
    },
    HookRow {
        promise: None,
        ..hook_row("the green run after it", COMMAND_LIMIT, |told, _| told.passed_as_before())
    },
    HookRow {
        answer: ExpectedHookOutput::Context,
        ..hook_row("SessionStart", SESSION_START_LIMIT, BenchPayloads::session_start)
    },
    hook_row("SessionEnd", SESSION_END_LIMIT, BenchPayloads::session_end),
    HookRow {
        starts: StartedProgram::Hook(BenchStore::Missing),
        ..hook_row("a red run, no database yet: spools it", COMMAND_LIMIT, BenchPayloads::failed)
    },
    HookRow {
        starts: StartedProgram::Hook(BenchStore::Locked),
        ..hook_row(
            "a red run, the database is locked: waits, spools it",
            COMMAND_DEADLINE,
            BenchPayloads::failed,
        )
    },
];
