//! Changes in a checkout, as they are stored.

use rusqlite::{Connection, Row, params};

use crate::change::Change;
use crate::store::StoreResult;
use crate::{Clean, Time};

/// Returns the changes in a checkout since a time, oldest first.
pub(crate) fn changes_since(
    connection: &Connection,
    project: i64,
    root: &Clean,
    since: Time,
) -> StoreResult<Vec<Change>> {
    let mut rows = connection.prepare_cached(
        "SELECT sort, name, patch, at, made_by FROM change WHERE project = ?1 AND root = ?2 AND at >= ?3 ORDER BY at, id",
    )?;
    Ok(rows.query_map(params![project, root, since], read_change)?.collect::<Result<_, _>>()?)
}

pub(crate) fn read_change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        kind: row.get("sort")?,
        name: row.get("name")?,
        patch: row.get("patch")?,
        at: row.get("at")?,
        made_by: row.get("made_by")?,
        reason: None,
        is_certain: false,
    })
}
