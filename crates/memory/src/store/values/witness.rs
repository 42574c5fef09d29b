//! Counts independent experiences: only those confirm each other.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, params};

use crate::ghap::GhapStatus;
use crate::store::{StoreResult, origins, tables};
use crate::{Clean, Id, Time};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// The features that make two experiences independent. Two of the same session and day count as one, and so do two of
/// the same failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Witness {
    session: i64,
    day: i64,
    /// The tests that failed around it, or the signatures of failures outside of tests.
    failures: BTreeSet<Clean>,
}

/// Counts the independent experiences among these.
pub(super) fn count_independent(witnesses: impl IntoIterator<Item = Witness>) -> u32 {
    let (mut times, mut failures) = (HashSet::new(), BTreeSet::new());
    let mut count = 0;
    for witness in witnesses {
        if !witness.failures.is_disjoint(&failures) || !times.insert((witness.session, witness.day))
        {
            continue;
        }
        failures.extend(witness.failures);
        count += 1;
    }
    count
}

/// Returns the features of a GHAP, its status and its project. Returns None for an unconfirmed import.
pub(super) fn load_witness(
    connection: &Connection,
    ghap: Id,
) -> StoreResult<Option<(Witness, GhapStatus, i64)>> {
    // The claims of an imported file about its runs are not evidence.
    if origins::is_unconfirmed_import(connection, ghap)? {
        return Ok(None);
    }
    let mut select = connection.prepare_cached(
        "SELECT session, coalesce(resolved, changed) AS ended, status, project, outcome, created, agent
         FROM ghap WHERE uid = ?1",
    )?;
    let mut rows = select.query([ghap])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (session, ended): (i64, Time) = (row.get("session")?, row.get("ended")?);
    let failures = if let Some(outcome) = row.get("outcome")? {
        failures_of_run(connection, outcome)?
    } else {
        let (begun, agent): (Time, String) = (row.get("created")?, row.get("agent")?);
        failures_of_session(connection, session, &agent, begun, ended)?
    };
    let day = ended.millis().div_euclid(DAY_MILLIS);
    Ok(Some((Witness { session, day, failures }, row.get("status")?, row.get("project")?)))
}

/// Returns the failures that a run reported or fixed.
fn failures_of_run(connection: &Connection, outcome: i64) -> StoreResult<BTreeSet<Clean>> {
    let mut failures: BTreeSet<Clean> = connection
        .prepare_cached("SELECT failing, signature FROM outcome WHERE id = ?1")?
        .query_row([outcome], |row| {
            let failing: Vec<Clean> = tables::read_list(row, "failing")?;
            let signature: Option<Clean> = row.get("signature")?;
            let is_no_test = failing.is_empty();
            Ok(failing.into_iter().chain(signature.filter(|_| is_no_test)).collect())
        })?;
    let mended = connection
        .prepare_cached("SELECT coalesce(test, signature) FROM episode WHERE closed = ?1")?
        .query_map([outcome], |row| row.get(0))?
        .collect::<Result<Vec<Clean>, _>>()?;
    failures.extend(mended);
    Ok(failures)
}

/// Returns the failures of an agent's session during a GHAP that no run resolved.
fn failures_of_session(
    connection: &Connection,
    session: i64,
    agent: &str,
    begun: Time,
    ended: Time,
) -> StoreResult<BTreeSet<Clean>> {
    let mut select = connection.prepare_cached(
        "SELECT failing FROM outcome
         WHERE session = ?1 AND coalesce(agent, '') = ?2 AND verdict = 'failed' AND at <= ?4 AND at >= coalesce(
             -- What failed last when it was begun is most likely what it was begun for.
             (SELECT max(at) FROM outcome WHERE session = ?1 AND coalesce(agent, '') = ?2 AND verdict = 'failed' AND at < ?3),
             ?3)",
    )?;
    let mut rows = select.query(params![session, agent, begun, ended])?;
    let mut failures = BTreeSet::new();
    while let Some(row) = rows.next()? {
        failures.extend(tables::read_list(row, "failing")?);
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(session: i64, day: i64, failures: &[&str]) -> Witness {
        let failures = failures.iter().map(|failure| Clean::new(failure)).collect();
        Witness { session, day, failures }
    }

    #[test]
    fn same_session_or_failure_counts_once() {
        assert_eq!(count_independent([]), 0);
        assert_eq!(count_independent([at(1, 1, &[]), at(1, 1, &[]), at(1, 1, &[])]), 1);
        assert_eq!(count_independent([at(1, 1, &[]), at(1, 2, &[]), at(2, 2, &[])]), 3);
        assert_eq!(count_independent([at(1, 1, &["a"]), at(2, 2, &["a"]), at(3, 3, &["b"])]), 2);
        // One shared failure is enough, even if others differ.
        let beside = [at(1, 1, &["a", "x"]), at(2, 2, &["a", "y"]), at(3, 3, &["z", "a"])];
        assert_eq!(count_independent(beside), 1);
    }
}
