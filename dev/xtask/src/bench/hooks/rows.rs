//! The measured program starts, in the order of a round.

use std::time::Duration;

use super::payloads::Payloads;

/// Limits: of the no-op by its median, of each tool's hooks by their 95th percentile.
const NOTHING: Promise = Promise::Ratio(3.0);
const COMMAND: Promise = Promise::Within(Duration::from_millis(10));
const EDIT: Promise = Promise::Within(Duration::from_millis(4));
/// The payload contains the whole file: for 1 MB, passing and reading it alone takes over a millisecond.
const LONG_EDIT: Promise = Promise::Within(Duration::from_millis(6));
const BEGIN: Promise = Promise::Within(Duration::from_millis(15));
const END: Promise = Promise::Within(Duration::from_millis(10));
/// Maximum time of any hook on a command.
const DEADLINE: Promise = Promise::Always(Duration::from_millis(100));

/// The limit of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Promise {
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
pub(super) enum Memory {
    /// The seeded store.
    Usual,
    /// A store that does not exist yet.
    Missing,
    /// A copy of the seeded store, locked by another writer during the row.
    Locked,
}

pub(super) enum Starts {
    Other(&'static str),
    Hook(Memory),
}

/// The expected output of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    /// Context for the model.
    Context,
    /// Any output.
    Anything,
}

/// A program start in each round.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) starts: Starts,
    /// Builds the payload of a round.
    pub(super) payload: fn(&Payloads, usize) -> Vec<u8>,
    pub(super) answer: Answer,
    /// The limit; `None` for a row that only prepares the next one and is not reported.
    pub(super) promise: Option<Promise>,
}

const fn hook(
    name: &'static str,
    promise: Promise,
    payload: fn(&Payloads, usize) -> Vec<u8>,
) -> Row {
    Row {
        name,
        starts: Starts::Hook(Memory::Usual),
        payload,
        answer: Answer::Nothing,
        promise: Some(promise),
    }
}

const fn other(name: &'static str, program: &'static str) -> Row {
    Row {
        starts: Starts::Other(program),
        answer: Answer::Anything,
        ..hook(name, Promise::None, |told, _| told.asked())
    }
}

/// All rows, in order.
pub(super) const ROWS: &[Row] = &[
    other("`/bin/true`", "/bin/true"),
    other("`/bin/cat`, which reads it and prints it", "/bin/cat"),
    hook("a tool that is about to run, and nobody works on a GHAP", NOTHING, |told, _| {
        told.asked()
    }),
    hook("a command that is no run (`ls`)", COMMAND, |told, _| told.listed()),
    hook("an edit, nothing is failing", EDIT, |told, _| told.edited()),
    hook("the same in a file of 1 MB", LONG_EDIT, |told, _| told.edited_long()),
    // The first one of a session offers to start a GHAP.
    Row {
        answer: Answer::Anything,
        ..hook("a red run, never seen before", COMMAND, Payloads::failed)
    },
    hook("an edit while it is failing", EDIT, |told, _| told.edited()),
    hook("the same in a file of 1 MB, while it is failing", LONG_EDIT, |told, _| {
        told.edited_long()
    }),
    hook("the green run, 30,000 characters", COMMAND, |told, _| told.passed()),
    Row {
        answer: Answer::Context,
        ..hook("a red run that was fixed before: says how", COMMAND, Payloads::failed_as_before)
    },
    Row { promise: None, ..hook("the green run after it", COMMAND, |told, _| told.passed()) },
    Row { answer: Answer::Context, ..hook("SessionStart", BEGIN, Payloads::began) },
    hook("SessionEnd", END, Payloads::ended),
    Row {
        starts: Starts::Hook(Memory::Missing),
        ..hook("a red run, no database yet: spools it", COMMAND, Payloads::failed)
    },
    Row {
        starts: Starts::Hook(Memory::Locked),
        ..hook("a red run, the database is locked: waits, spools it", DEADLINE, Payloads::failed)
    },
];
