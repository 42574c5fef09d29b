//! Exports every row, referenced rows first.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::{ExportRecord, RowOrigin};
use crate::change::StoredChange;
use crate::experience::Experience;
use crate::origin::Origin;
use crate::project::ProjectKey;
use crate::store::{
    SCHEMA_VERSION, Store, StoreError, StoreResult, command_episodes, episodes, ghaps, injections,
    memories, outcomes, projects, sessions, values,
};

/// The result of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExportReport {
    /// Number of rows.
    pub rows: usize,
}

/// The rows of one table.
struct ExportTable {
    /// The SELECT clause that the reader of the table expects.
    select: &'static str,
    /// Filter by project (?1, all if NULL) and order.
    rest: &'static str,
    read: fn(&Connection, &Row<'_>) -> rusqlite::Result<ExportRecord>,
}

const EXPORT_TABLES: [ExportTable; 12] = [
    ExportTable {
        select: "SELECT * FROM project",
        rest: "WHERE ?1 IS NULL OR key = ?1 ORDER BY id",
        read: |connection, row| projects::read_project(connection, row).map(ExportRecord::Project),
    },
    // Includes sessions that began in another project and continued here. The export does not name that other project.
    ExportTable {
        select: "SELECT session.*, coalesce(?1, project.key) AS project_key
                 FROM session JOIN project ON project.id = session.project",
        rest: "WHERE ?1 IS NULL OR project.key = ?1
                  OR session.id IN (SELECT session FROM ghap WHERE project = (SELECT id FROM project WHERE key = ?1))
                  OR session.id IN (SELECT session FROM outcome WHERE project = (SELECT id FROM project WHERE key = ?1))
               ORDER BY session.id",
        read: |_, row| sessions::read_session(row).map(ExportRecord::Session),
    },
    ExportTable {
        select: outcomes::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY outcome.id",
        read: |_, row| outcomes::read_outcome(row).map(ExportRecord::Outcome),
    },
    ExportTable {
        select: ghaps::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY ghap.id",
        read: |connection, row| {
            ghaps::read_full_ghap(connection, row).map(|ghap| ExportRecord::Ghap(Box::new(ghap)))
        },
    },
    ExportTable {
        select: "SELECT experience.*, project.key AS project_key, ghap.uid AS ghap_uid
                 FROM experience JOIN project ON project.id = experience.project JOIN ghap ON ghap.id = experience.ghap",
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY experience.id",
        read: |_, row| {
            Ok(ExportRecord::Experience(Experience {
                id: row.get("uid")?,
                project: row.get("project_key")?,
                ghap: row.get("ghap_uid")?,
                tier: row.get("tier")?,
                created: row.get("created")?,
            }))
        },
    },
    ExportTable {
        select: memories::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY memory.id",
        read: |_, row| memories::read_memory(row).map(ExportRecord::Memory),
    },
    ExportTable {
        select: values::SELECT_VALUE,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY value.id",
        read: |_, row| values::read_value(row).map(ExportRecord::Value),
    },
    ExportTable {
        select: episodes::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY episode.id",
        read: |_, row| episodes::read_episode(row).map(|episode| ExportRecord::Episode(Box::new(episode))),
    },
    ExportTable {
        select: command_episodes::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY command_episode.id",
        read: |_, row| {
            command_episodes::read_command_episode(row)
                .map(|episode| ExportRecord::CommandEpisode(Box::new(episode)))
        },
    },
    ExportTable {
        select: "SELECT change.*, project.key AS project_key
                 FROM change JOIN project ON project.id = change.project",
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY change.id",
        read: |_, row| {
            Ok(ExportRecord::Change(StoredChange {
                id: row.get("uid")?,
                project: row.get("project_key")?,
                root: row.get("root")?,
                change: episodes::read_change(row)?,
            }))
        },
    },
    ExportTable {
        select: injections::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY injection.id",
        read: |_, row| injections::read_injection(row).map(ExportRecord::Injection),
    },
    ExportTable {
        select: "SELECT * FROM origin",
        rest: "WHERE writer IS NOT NULL AND (?1 IS NULL OR row IN (
                   SELECT uid FROM outcome WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM ghap WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM memory WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM value WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM command_episode WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM episode WHERE project = (SELECT id FROM project WHERE key = ?1)))
               ORDER BY row",
        read: |_, row| {
            let origin = Origin {
                writer: row.get("writer")?,
                checkout: row.get("checkout")?,
                session: row.get("session")?,
                agent: row.get("agent")?,
                import: None,
            };
            Ok(ExportRecord::Origin(RowOrigin { row: row.get("row")?, origin }))
        },
    },
];

/// Passes every row to `take`. An invalid row is passed as its error.
fn for_each_row<E: From<StoreError>>(
    connection: &Connection,
    project: Option<&ProjectKey>,
    mut take: impl FnMut(rusqlite::Result<ExportRecord>) -> Result<(), E>,
) -> Result<(), E> {
    for table in EXPORT_TABLES {
        let mut all = connection
            .prepare(&format!("{} {}", table.select, table.rest))
            .map_err(StoreError::from)?;
        let mut rows = all.query(params![project]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            take((table.read)(connection, row))?;
        }
    }
    Ok(())
}

/// Counts the invalid rows.
pub(crate) fn count_invalid_rows(connection: &Connection) -> StoreResult<usize> {
    let mut count = 0;
    for_each_row::<StoreError>(connection, None, |record| {
        count += usize::from(record.is_err());
        Ok(())
    })?;
    Ok(count)
}

impl Store {
    /// Exports every row, or those of one project, from one snapshot.
    pub fn export<E: From<StoreError>>(
        &mut self,
        project: Option<&ProjectKey>,
        mut take: impl FnMut(&ExportRecord) -> Result<(), E>,
    ) -> Result<ExportReport, E> {
        let moment = self.connection.unchecked_transaction().map_err(StoreError::from)?;
        take(&ExportRecord::RutterExport { schema: SCHEMA_VERSION })?;
        let mut rows = 0;
        for_each_row(&self.connection, project, |record| {
            let record = record.map_err(StoreError::from)?;
            // An origin is a part of its row.
            rows += usize::from(!matches!(record, ExportRecord::Origin(_)));
            take(&record)
        })?;
        moment.rollback().map_err(StoreError::from)?;
        Ok(ExportReport { rows })
    }

    /// Collects every valid row, and returns the number of invalid ones.
    pub(crate) fn export_readable(&mut self, into: &mut Vec<ExportRecord>) -> StoreResult<usize> {
        let mut refused = 0;
        for_each_row::<StoreError>(&self.connection, None, |record| {
            match record {
                Ok(record) => into.push(record),
                Err(_) => refused += 1,
            }
            Ok(())
        })?;
        Ok(refused)
    }
}
