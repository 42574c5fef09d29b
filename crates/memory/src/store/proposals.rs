//! Proposals that wait for the user's decision: memories that an agent wants to apply everywhere, and parts of imports.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::export_record::ExportRecord;
use super::{Store, StoreError, StoreResult, memories};
use crate::memory::Memory;
use crate::origin::ImportBatch;
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

/// A change that takes effect when the user accepts it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The id.
    pub id: Id,
    /// The proposed change.
    pub what: ProposedChange,
    /// The import that made the proposal.
    pub import: Option<ImportBatch>,
    /// The time of the proposal.
    pub at: Time,
}

/// The change of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposedChange {
    /// Applies a memory of one project to every project.
    Everywhere(Memory),
    /// Adds a row of an import.
    Row(Box<ExportRecord>),
}

impl ProposedChange {
    /// Returns the text for the user's decision.
    pub fn text(&self) -> Clean {
        match self {
            Self::Everywhere(memory) => memory.text.clone(),
            Self::Row(record) => match record.as_ref() {
                ExportRecord::Memory(memory) => memory.text.clone(),
                ExportRecord::Value(value) => value.text.clone(),
                ExportRecord::Alias(alias) => {
                    Clean::new(&format!("{} is the project {}", alias.key, alias.project))
                }
                _ => Clean::default(),
            },
        }
    }
}

const SELECT: &str =
    "SELECT proposal.uid AS uid, proposal.row AS row, proposal.record AS record, proposal.at AS at,
        import_batch.uid AS batch, import_batch.file AS file, import_batch.at AS imported,
        import_batch.accepted IS NOT NULL AS is_accepted
    FROM proposal LEFT JOIN import_batch ON import_batch.id = proposal.batch";

/// Proposes a row of an import, unless the same row is already proposed.
pub(crate) fn propose_record(
    connection: &Connection,
    record: &ExportRecord,
    batch: i64,
    now: Time,
) -> rusqlite::Result<()> {
    let text = serde_json::to_string(record).unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO proposal (uid, record, batch, at) SELECT ?1, ?2, ?3, ?4
             WHERE NOT EXISTS (SELECT 1 FROM proposal WHERE record = ?2)",
        )?
        .execute(params![Id::new(now), text, batch, now])?;
    Ok(())
}

/// Counts the proposals of an import.
pub(crate) fn count_waiting(connection: &Connection, batch: i64) -> rusqlite::Result<usize> {
    connection
        .query_row("SELECT count(*) FROM proposal WHERE batch = ?1", [batch], |row| row.get(0))
}

/// Deletes proposals of aliases that involve a project key.
pub(crate) fn delete_alias_proposals(connection: &Connection, key: &ProjectKey) -> StoreResult {
    for proposal in all_proposals(connection)? {
        if let ProposedChange::Row(record) = &proposal.what
            && let ExportRecord::Alias(alias) = record.as_ref()
            && (alias.key == *key || alias.project == *key)
        {
            connection.execute("DELETE FROM proposal WHERE uid = ?1", [proposal.id])?;
        }
    }
    Ok(())
}

/// Returns every proposal, the oldest first.
pub(crate) fn all_proposals(connection: &Connection) -> StoreResult<Vec<Proposal>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} ORDER BY proposal.id"))?;
    let mut rows = rows.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(read_proposal(connection, row)?);
    }
    Ok(found)
}

fn read_proposal(connection: &Connection, row: &Row<'_>) -> StoreResult<Option<Proposal>> {
    let what = match (row.get::<_, Option<Id>>("row")?, row.get::<_, Option<String>>("record")?) {
        (Some(memory), _) => {
            Some(ProposedChange::Everywhere(memories::load_memory(connection, memory)?))
        }
        (None, Some(record)) => {
            serde_json::from_str(&record).ok().map(|record| ProposedChange::Row(Box::new(record)))
        }
        (None, None) => None,
    };
    let import = match row.get::<_, Option<Id>>("batch")? {
        Some(id) => Some(ImportBatch {
            id,
            file: row.get("file")?,
            at: row.get("imported")?,
            is_accepted: row.get("is_accepted")?,
        }),
        None => None,
    };
    let (id, at) = (row.get("uid")?, row.get("at")?);
    Ok(what.map(|what| Proposal { id, what, import, at }))
}

pub(crate) fn load_proposal(connection: &Connection, id: Id) -> StoreResult<Proposal> {
    let query = format!("{SELECT} WHERE proposal.uid = ?1");
    let found = connection
        .prepare_cached(&query)?
        .query_row([id], |row| Ok(read_proposal(connection, row)))
        .optional()?;
    found
        .transpose()?
        .flatten()
        .ok_or_else(|| StoreError::NotFound { what: "proposal", id: id.into() })
}

impl Store {
    /// Proposes to apply a memory of one project to every project. It stays in its project until the user accepts.
    pub fn propose_everywhere(&mut self, memory: Id, now: Time) -> StoreResult {
        self.write(|transaction| {
            memories::load_memory(transaction, memory)?;
            transaction.execute(
                "INSERT INTO proposal (uid, row, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![Id::new(now), memory, now],
            )?;
            Ok(())
        })
    }

    /// Returns every proposal, the oldest first.
    pub fn proposals(&self) -> StoreResult<Vec<Proposal>> {
        all_proposals(&self.connection)
    }

    /// Deletes a proposal. A memory that it is about stays in its project.
    pub fn reject_proposal(&mut self, id: Id) -> StoreResult {
        self.write(|transaction| {
            transaction.execute("DELETE FROM proposal WHERE uid = ?1", [id])?;
            Ok(())
        })
    }
}
