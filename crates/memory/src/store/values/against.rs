//! Evidence against values: predictions that failed although, or because, the belief behind them was the value.
//!
//! Each failure is compared with each value once and the result is stored; otherwise every value would read every
//! failure again whenever a row is new.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, Row, params};

use super::witness::{Witness, count_independent, load_witness};
use super::{BELIEF_COLUMNS, Belief, Sentence};
use crate::store::StoreResult;
use crate::value::{Value, ValueStanding};
use crate::{Id, Time};

/// A failed prediction and the belief behind it.
struct FailedPrediction {
    ghap: Id,
    at: Time,
    document: i64,
    belief: Belief,
}

impl FailedPrediction {
    /// Reads a failure from its columns, or returns None if the belief is unknown.
    fn from_row(row: &Row<'_>) -> StoreResult<Option<Self>> {
        let Some(belief) = Belief::from_row(row, 3)? else { return Ok(None) };
        Ok(Some(Self { ghap: row.get(0)?, at: row.get(1)?, document: row.get(2)?, belief }))
    }
}

/// Returns the columns of a failure.
fn failure_columns() -> String {
    format!("ghap.uid, ghap.resolved, document.id, {BELIEF_COLUMNS}")
}

/// Failures that values have to be compared with.
pub(super) struct FailedPredictions {
    /// Last document that is included.
    seen: i64,
    /// Row id of each value and the last document that it was compared with; 0 if it was not compared yet.
    weighed: HashMap<Id, (i64, i64)>,
    /// Failures after the first of these documents.
    newer: Vec<FailedPrediction>,
    /// All failures that count, for values that were not compared yet.
    all: Vec<FailedPrediction>,
}

impl FailedPredictions {
    /// Reads the failures that are new to any of these values.
    pub(super) fn load(connection: &Connection, values: &[Value]) -> StoreResult<Self> {
        let seen = connection
            .prepare_cached(
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document'",
            )?
            .query_row([], |row| row.get(0))?;
        let weighed: HashMap<Id, (i64, i64)> = connection
            .prepare_cached("SELECT uid, id, weighed FROM value WHERE standing != 'retired'")?
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<Result<_, _>>()?;
        let mut failures = Self { seen, weighed, newer: Vec::new(), all: Vec::new() };
        let numbers = failures.weighed.values().map(|(_, weighed)| *weighed);
        if let Some(first) = numbers.filter(|weighed| *weighed != 0).min() {
            let query = format!(
                "SELECT {} FROM document CROSS JOIN ghap ON ghap.uid = document.row
                 WHERE document.id > ?1 AND document.axis = 'full' AND document.kind = 'experience'
                    AND ghap.status = 'falsified'",
                failure_columns()
            );
            failures.newer = select_failures(connection, &query, params![first])?;
        }
        let unheld = |value: &&Value| matches!(failures.weighed.get(&value.id), Some((_, 0)));
        if let Some(since) = values.iter().filter(unheld).map(|value| value.since).min() {
            let query = format!(
                "SELECT {} FROM ghap JOIN document ON document.row = ghap.uid AND document.axis = 'full'
                 WHERE ghap.status = 'falsified' AND ghap.resolved > ?1",
                failure_columns()
            );
            failures.all = select_failures(connection, &query, params![since])?;
        }
        Ok(failures)
    }

    /// Counts the independent failures against a value that is not retired.
    pub(super) fn count_against(&self, connection: &Connection, value: &Value) -> StoreResult<u32> {
        debug_assert_ne!(value.standing, ValueStanding::Retired);
        let Some((number, weighed)) = self.weighed.get(&value.id).copied() else { return Ok(0) };
        if weighed != self.seen {
            let sentence = Sentence::new(&value.text);
            let mut forget = connection.prepare_cached(
                "DELETE FROM against WHERE value = ?1 AND ghap = coalesce(?2, ghap)",
            )?;
            let mut keep =
                connection.prepare_cached("INSERT INTO against (value, ghap) VALUES (?1, ?2)")?;
            let new = if weighed == 0 {
                forget.execute(params![number, None::<Id>])?;
                &self.all
            } else {
                &self.newer
            };
            for failure in new.iter().filter(|failure| failure.document > weighed) {
                // An earlier version of the text may have been compared before.
                forget.execute(params![number, failure.ghap])?;
                if failure.at > value.since && failure.belief.is_based_on(&sentence) {
                    keep.execute(params![number, failure.ghap])?;
                }
            }
        }
        connection
            .prepare_cached("UPDATE value SET weighed = ?2 WHERE id = ?1")?
            .execute(params![number, self.seen])?;
        let against: Vec<Id> = connection
            .prepare_cached(
                // Failures that count as harmful effects of showing the value are counted there.
                "SELECT ghap.uid FROM against JOIN ghap ON ghap.uid = against.ghap
                 WHERE against.value = ?1 AND ghap.status = 'falsified' AND ghap.resolved > ?2
                    AND coalesce((SELECT project FROM value WHERE id = ?1), ghap.project) = ghap.project AND NOT EXISTS (
                     SELECT 1 FROM injection WHERE injection.session = ghap.session AND injection.row = ?3
                        AND injection.effect = 'hurt' AND injection.came = ghap.resolved)
                 ORDER BY ghap.id",
            )?
            .query_map(params![number, value.since, value.id], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut witnesses: Vec<Witness> = Vec::new();
        for ghap in against {
            witnesses.extend(load_witness(connection, ghap)?.map(|(witness, ..)| witness));
        }
        Ok(count_independent(witnesses))
    }
}

fn select_failures(
    connection: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
) -> StoreResult<Vec<FailedPrediction>> {
    let mut select = connection.prepare_cached(query)?;
    let mut rows = select.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(FailedPrediction::from_row(row)?);
    }
    Ok(found)
}

/// Marks a new value as compared with all earlier failures, so that they do not count.
pub(super) fn skip_earlier_failures(connection: &Connection, value: Id) -> StoreResult {
    connection
        .prepare_cached(
            "UPDATE value SET weighed = (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document')
             WHERE uid = ?1",
        )?
        .execute([value])?;
    Ok(())
}

/// Returns the GHAPs that failed against a value.
pub(super) fn ghaps_against(connection: &Connection, value: Id) -> StoreResult<BTreeSet<Id>> {
    let mut ghaps = connection.prepare_cached(
        "SELECT ghap FROM against JOIN value ON value.id = against.value WHERE value.uid = ?1",
    )?;
    Ok(ghaps.query_map([value], |row| row.get(0))?.collect::<Result<_, _>>()?)
}
