//! Merge of two projects into one.

use rusqlite::{Connection, Params, params};

use super::{Store, StoreResult, ghaps, sessions, tables, values};
use crate::{Clean, Id};

impl Store {
    /// Moves all rows and keys of one project to another, so that both places share them from now on.
    pub fn merge_projects(&mut self, from: Id, into: Id) -> StoreResult {
        self.write(|transaction| {
            let number = |id: Id| {
                transaction
                    .query_row("SELECT id FROM project WHERE uid = ?1", [id], |row| row.get(0))
            };
            let (from, into): (i64, i64) = (number(from)?, number(into)?);
            if from == into {
                return Ok(());
            }
            transaction
                .execute("UPDATE project_alias SET merged = 1 WHERE project = ?1", [from])?;
            merge_rows(transaction, from, into)?;
            values::unite_duplicates(transaction)
        })
    }
}

/// Moves all rows and keys of one project to another, and deletes the first.
fn merge_rows(connection: &Connection, from: i64, into: i64) -> StoreResult {
    merge_standing_sessions(connection, from, into)?;
    // An agent of one session may have an active GHAP in each project.
    keep_youngest_ghaps(connection, "project IN (?1, ?2)", "session, agent", params![from, into])?;
    // The same failure may have an open episode in each project.
    connection.execute(
        "UPDATE episode SET how = 'left', ended = seen WHERE how IS NULL AND project = ?1
            AND EXISTS (SELECT 1 FROM episode AS other WHERE other.how IS NULL AND other.project = ?2
                           AND other.root = episode.root AND other.signature = episode.signature
                           AND other.scope IS episode.scope)",
        [from, into],
    )?;
    // Both projects may have counted the same command.
    connection.execute("DELETE FROM unfollowed WHERE project = ?1", [from])?;
    for table in tables::PROJECT_TABLES {
        connection.execute(
            &format!("UPDATE {table} SET project = ?2 WHERE project = ?1"),
            [from, into],
        )?;
    }
    connection.execute("DELETE FROM project WHERE id = ?1", [from])?;
    Ok(())
}

/// Merges the standing sessions of two projects, so that commands typed in either place share one session.
fn merge_standing_sessions(connection: &Connection, from: i64, into: i64) -> StoreResult {
    let name = |project: i64| -> rusqlite::Result<Clean> {
        let id =
            connection
                .query_row("SELECT uid FROM project WHERE id = ?1", [project], |row| row.get(0))?;
        Ok(sessions::standing_session_name(id))
    };
    let (from, into) = (name(from)?, name(into)?);
    let taken: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1)",
        [&into],
        |row| row.get(0),
    )?;
    if !taken {
        connection
            .execute("UPDATE session SET client = ?2 WHERE client = ?1", params![from, into])?;
        return Ok(());
    }
    let both = "session IN (SELECT id FROM session WHERE client IN (?1, ?2))";
    keep_youngest_ghaps(connection, both, "agent", params![from, into])?;
    for table in ["ghap", "outcome", "injection"] {
        connection.execute(
            &format!(
                "UPDATE {table} SET session = (SELECT id FROM session WHERE client = ?2)
                 WHERE session = (SELECT id FROM session WHERE client = ?1)"
            ),
            params![from, into],
        )?;
    }
    connection.execute("DELETE FROM session WHERE client = ?1", [from])?;
    Ok(())
}

/// Keeps the youngest active GHAP of each agent and session that will be merged, and abandons the others.
fn keep_youngest_ghaps(
    connection: &Connection,
    of: &str,
    each: &str,
    params: impl Params,
) -> StoreResult {
    let older = connection
        .prepare(&format!(
            "SELECT uid FROM ghap WHERE status = 'active' AND {of} AND id NOT IN (
                 SELECT max(id) FROM ghap WHERE status = 'active' AND {of} GROUP BY {each}
             )"
        ))?
        .query_map(params, |row| row.get(0))?
        .collect::<Result<Vec<Id>, _>>()?;
    older.into_iter().try_for_each(|id| Ok(ghaps::abandon_merged(connection, id)?))
}
