//! Memories in the database.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::Place;
use super::tables::{list, to_json};
use super::{Store, StoreError, origins, projects};
use crate::memory::{self, Category, Memory};
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

/// A memory to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewMemory<'a> {
    /// The project in which it applies, or None for every project.
    pub place: Option<&'a Place>,
    /// The category.
    pub category: Category,
    /// The text.
    pub text: &'a str,
    /// The importance, from 0 to 1.
    pub importance: f64,
    /// Words to find it by.
    pub tags: &'a [String],
}

/// Changes to a memory. An unset field keeps its old value.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryEdit<'a> {
    /// The text.
    pub text: Option<&'a str>,
    /// The category.
    pub category: Option<Category>,
    /// The importance, from 0 to 1.
    pub importance: Option<f64>,
    /// Words to find it by.
    pub tags: Option<&'a [String]>,
}

/// A filter for memories.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Only memories that apply in this project: those of the project and those for every project.
    pub project: Option<ProjectKey>,
    /// Only memories for every project.
    pub everywhere: bool,
    /// Only this category.
    pub category: Option<Category>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only memories before this position, as returned by [`Store::memory_position`].
    pub before: Option<i64>,
    /// Maximum number.
    pub limit: Option<usize>,
}

pub(crate) const SELECT: &str = "SELECT memory.*, project.key AS project_key FROM memory LEFT JOIN project ON project.id = memory.project";

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        category: row.get("category")?,
        text: row.get("text")?,
        importance: row.get("importance")?,
        tags: list(row, "tags")?,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}

/// Inserts a memory unchanged, or replaces the one with the same id.
pub(crate) fn put(
    connection: &Connection,
    project: Option<i64>,
    memory: &Memory,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO memory (uid, project, category, text, importance, tags, created, changed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (uid) DO UPDATE SET project = excluded.project, category = excluded.category,
                 text = excluded.text, importance = excluded.importance, tags = excluded.tags,
                 created = excluded.created, changed = excluded.changed",
        )?
        .execute(params![
            memory.id,
            project,
            memory.category,
            memory.text,
            memory.importance,
            to_json(&memory.tags),
            memory.created,
            memory.changed,
        ])?;
    Ok(())
}

/// The result of writing a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The new memory, or the existing one with the same words.
    pub memory: Memory,
    /// True if the memory existed before, so that nothing was written.
    pub is_known: bool,
}

impl Store {
    /// Writes a memory, unless the project has one of the same category with the same words. The comparison ignores
    /// case, spaces and punctuation.
    pub fn remember(&mut self, new: &NewMemory<'_>, now: Time) -> Result<Remembered, StoreError> {
        let memory = Memory {
            id: Id::new(now),
            project: None,
            category: new.category,
            text: memory::text(new.text)?,
            importance: memory::importance(new.importance)?,
            tags: memory::tags(new.tags)?,
            created: now,
            changed: now,
        };
        let author = self.author.clone();
        self.write(|transaction| {
            let project =
                new.place.map(|place| projects::row_of(transaction, place, now)).transpose()?;
            if let Some(known) = same_words(transaction, project, &memory)? {
                return Ok(Remembered { memory: one(transaction, known)?, is_known: true });
            }
            put(transaction, project, &memory)?;
            origins::insert_if_known(transaction, memory.id, author.as_ref())?;
            Ok(Remembered { memory: one(transaction, memory.id)?, is_known: false })
        })
    }

    /// Returns a memory by its id.
    pub fn memory(&self, id: Id) -> Result<Memory, StoreError> {
        one(&self.connection, id)
    }

    /// Returns memories, the newest first.
    pub fn memories(&self, filter: &MemoryFilter) -> Result<Vec<Memory>, StoreError> {
        let mut memories = self.connection.prepare_cached(&format!(
            "{SELECT} WHERE (?1 IS NULL OR project.key = ?1 OR memory.project IS NULL)
                 AND (NOT ?2 OR memory.project IS NULL) AND (?3 IS NULL OR category = ?3)
                 AND (?4 IS NULL OR memory.id < ?4)
             ORDER BY memory.id DESC"
        ))?;
        let mut rows = memories.query(params![
            filter.project,
            filter.everywhere,
            filter.category,
            filter.before
        ])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()?
            && filter.limit.is_none_or(|limit| found.len() < limit)
        {
            let memory = read(row)?;
            if filter.tags.iter().all(|tag| memory.tags.iter().any(|own| own.as_str() == tag)) {
                found.push(memory);
            }
        }
        Ok(found)
    }

    /// Changes a memory.
    pub fn edit_memory(
        &mut self,
        id: Id,
        edit: &MemoryEdit<'_>,
        now: Time,
    ) -> Result<Memory, StoreError> {
        let text: Option<Clean> = edit.text.map(memory::text).transpose()?;
        let importance = edit.importance.map(memory::importance).transpose()?;
        let tags = edit.tags.map(memory::tags).transpose()?;
        self.write(|transaction| {
            let old = one(transaction, id)?;
            transaction.execute(
                "UPDATE memory SET text = ?2, category = ?3, importance = ?4, tags = ?5, changed = max(changed + 1, ?6)
                 WHERE uid = ?1",
                params![
                    id,
                    text.as_ref().unwrap_or(&old.text),
                    edit.category.unwrap_or(old.category),
                    importance.unwrap_or(old.importance),
                    to_json(tags.as_ref().unwrap_or(&old.tags)),
                    now,
                ],
            )?;
            origins::take_over(transaction, id)?;
            one(transaction, id)
        })
    }
}

/// Returns the memory of the same project and category that has the same words.
fn same_words(
    connection: &Connection,
    project: Option<i64>,
    memory: &Memory,
) -> Result<Option<Id>, StoreError> {
    // Imported rows that were not accepted do not count.
    let mut rows = connection.prepare_cached(&format!(
        "SELECT uid, text FROM memory WHERE project IS ?1 AND category = ?2 AND {} ORDER BY id",
        origins::is_own("memory.uid")
    ))?;
    let mut rows = rows.query(params![project, memory.category])?;
    while let Some(row) = rows.next()? {
        if memory::has_same_words(row.get_ref(1)?.as_str().unwrap_or_default(), &memory.text) {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}

pub(crate) fn one(connection: &Connection, id: Id) -> Result<Memory, StoreError> {
    let query = format!("{SELECT} WHERE memory.uid = ?1");
    let found = connection.prepare_cached(&query)?.query_row([id], read).optional()?;
    found.ok_or_else(|| StoreError::NotFound { what: "memory", id: id.into() })
}
