//! What is known about a command that is about to run.

use rusqlite::Connection;

use super::StoreResult;
use crate::fingerprints::{FingerprintKind, fingerprint};
use crate::{Clean, Id};

/// Returns the fingerprint of a command by its form.
pub fn command_fingerprint(form: &str) -> u64 {
    fingerprint(FingerprintKind::FailingCommand, form)
}

/// Returns the forms of a command line under which its failures are known.
pub fn command_forms(command: &str) -> impl Iterator<Item = &str> {
    std::iter::once(command.trim())
}

/// Returns the row and the line to show before a command that failed here before and has a variant that works. No row
/// has such a command yet.
#[expect(clippy::unnecessary_wraps, reason = "the rows will be read from the database")]
pub(super) fn command_hint(
    _connection: &Connection,
    _project: i64,
    _command: &str,
) -> StoreResult<Option<(Id, Clean)>> {
    Ok(None)
}
