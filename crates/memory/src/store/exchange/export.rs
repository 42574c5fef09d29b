//! Exports every row, referenced rows first.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::{Record, RowOrigin};
use crate::change::Noted;
use crate::experience::Experience;
use crate::origin::Origin;
use crate::project::ProjectKey;
use crate::store::{
    Store, StoreError, VERSION, episodes, ghaps, injections, memories, outcomes, projects,
    sessions, values,
};

/// The result of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Exported {
    /// Number of rows.
    pub rows: usize,
}

/// The rows of one table.
struct Table {
    /// The SELECT clause that the reader of the table expects.
    select: &'static str,
    /// Filter by project (?1, all if NULL) and order.
    rest: &'static str,
    read: fn(&Connection, &Row<'_>) -> rusqlite::Result<Record>,
}

const TABLES: [Table; 11] = [
    Table {
        select: "SELECT * FROM project",
        rest: "WHERE ?1 IS NULL OR key = ?1 ORDER BY id",
        read: |connection, row| projects::read(connection, row).map(Record::Project),
    },
    // Includes sessions that began in another project and continued here. The export does not name that other project.
    Table {
        select: "SELECT session.*, coalesce(?1, project.key) AS project_key
                 FROM session JOIN project ON project.id = session.project",
        rest: "WHERE ?1 IS NULL OR project.key = ?1
                  OR session.id IN (SELECT session FROM ghap WHERE project = (SELECT id FROM project WHERE key = ?1))
                  OR session.id IN (SELECT session FROM outcome WHERE project = (SELECT id FROM project WHERE key = ?1))
               ORDER BY session.id",
        read: |_, row| sessions::read(row).map(Record::Session),
    },
    Table {
        select: outcomes::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY outcome.id",
        read: |_, row| outcomes::read(row).map(Record::Outcome),
    },
    Table {
        select: ghaps::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY ghap.id",
        read: |connection, row| {
            ghaps::read_whole(connection, row).map(|ghap| Record::Ghap(Box::new(ghap)))
        },
    },
    Table {
        select: "SELECT experience.*, project.key AS project_key, ghap.uid AS ghap_uid
                 FROM experience JOIN project ON project.id = experience.project JOIN ghap ON ghap.id = experience.ghap",
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY experience.id",
        read: |_, row| {
            Ok(Record::Experience(Experience {
                id: row.get("uid")?,
                project: row.get("project_key")?,
                ghap: row.get("ghap_uid")?,
                tier: row.get("tier")?,
                created: row.get("created")?,
            }))
        },
    },
    Table {
        select: memories::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY memory.id",
        read: |_, row| memories::read(row).map(Record::Memory),
    },
    Table {
        select: values::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY value.id",
        read: |_, row| values::read(row).map(Record::Value),
    },
    Table {
        select: episodes::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY episode.id",
        read: |_, row| episodes::read(row).map(|episode| Record::Episode(Box::new(episode))),
    },
    Table {
        select: "SELECT change.*, project.key AS project_key
                 FROM change JOIN project ON project.id = change.project",
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY change.id",
        read: |_, row| {
            Ok(Record::Change(Noted {
                id: row.get("uid")?,
                project: row.get("project_key")?,
                root: row.get("root")?,
                change: episodes::read_change(row)?,
            }))
        },
    },
    Table {
        select: injections::SELECT,
        rest: "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY injection.id",
        read: |_, row| injections::read(row).map(Record::Injection),
    },
    Table {
        select: "SELECT * FROM origin",
        rest: "WHERE writer IS NOT NULL AND (?1 IS NULL OR row IN (
                   SELECT uid FROM outcome WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM ghap WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM memory WHERE project = (SELECT id FROM project WHERE key = ?1)
                   UNION ALL SELECT uid FROM value WHERE project = (SELECT id FROM project WHERE key = ?1)
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
            Ok(Record::Origin(RowOrigin { row: row.get("row")?, origin }))
        },
    },
];

/// Passes every row to `take`. An invalid row is passed as its error.
fn walk<E: From<StoreError>>(
    connection: &Connection,
    project: Option<&ProjectKey>,
    mut take: impl FnMut(rusqlite::Result<Record>) -> Result<(), E>,
) -> Result<(), E> {
    for table in TABLES {
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
pub(crate) fn unreadable(connection: &Connection) -> Result<usize, StoreError> {
    let mut count = 0;
    walk::<StoreError>(connection, None, |record| {
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
        mut take: impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<Exported, E> {
        let moment = self.connection.unchecked_transaction().map_err(StoreError::from)?;
        take(&Record::RutterExport { schema: VERSION })?;
        let mut rows = 0;
        walk(&self.connection, project, |record| {
            let record = record.map_err(StoreError::from)?;
            // An origin is a part of its row.
            rows += usize::from(!matches!(record, Record::Origin(_)));
            take(&record)
        })?;
        moment.rollback().map_err(StoreError::from)?;
        Ok(Exported { rows })
    }

    /// Collects every valid row, and returns the number of invalid ones.
    pub(crate) fn export_readable(&mut self, into: &mut Vec<Record>) -> Result<usize, StoreError> {
        let mut refused = 0;
        walk::<StoreError>(&self.connection, None, |record| {
            match record {
                Ok(record) => into.push(record),
                Err(_) => refused += 1,
            }
            Ok(())
        })?;
        Ok(refused)
    }
}
