//! Memories in the database.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::ProjectPlace;
use super::tables::{list_to_json, read_list};
use super::{Store, StoreError, StoreResult, origins, projects};
use crate::applies_when::{unite_phrases, validate_phrases};
use crate::memory::{self, Memory, MemoryCategory, MemoryError};
use crate::project::ProjectKey;
use crate::same_words::has_same_words;
use crate::{Clean, Id, Time};

/// A memory to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewMemory<'a> {
    /// The project in which it applies, or None for every project.
    pub place: Option<&'a ProjectPlace>,
    /// The category.
    pub category: MemoryCategory,
    /// The text.
    pub text: &'a str,
    /// The importance, from 0 to 1.
    pub importance: f64,
    /// Words to find it by.
    pub tags: &'a [String],
    /// When it applies, in the words of a user who needs it.
    pub applies_when: &'a [String],
}

/// Changes to a memory. An unset field keeps its old value.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryEdit<'a> {
    /// The text.
    pub text: Option<&'a str>,
    /// The category.
    pub category: Option<MemoryCategory>,
    /// The importance, from 0 to 1.
    pub importance: Option<f64>,
    /// Words to find it by.
    pub tags: Option<&'a [String]>,
    /// When it applies, in the words of a user who needs it.
    pub applies_when: Option<&'a [String]>,
}

/// A filter for memories.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Only memories that apply in this project: those of the project and those for every project.
    pub project: Option<ProjectKey>,
    /// Only memories for every project.
    pub everywhere: bool,
    /// Only this category.
    pub category: Option<MemoryCategory>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only memories before this position, as returned by [`Store::memory_position`].
    pub before: Option<i64>,
    /// Maximum number.
    pub limit: Option<usize>,
}

pub(crate) const SELECT: &str = "SELECT memory.*, project.key AS project_key FROM memory LEFT JOIN project ON project.id = memory.project";

pub(crate) fn read_memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        category: row.get("category")?,
        text: row.get("text")?,
        importance: row.get("importance")?,
        tags: read_list(row, "tags")?,
        applies_when: read_list(row, "applies_when")?,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}

/// Inserts a memory unchanged, or replaces the one with the same id. A replacement without phrases, perhaps of a program
/// that does not know them, keeps the old ones.
pub(crate) fn upsert_memory(
    connection: &Connection,
    project: Option<i64>,
    memory: &Memory,
) -> StoreResult {
    connection
        .prepare_cached(
            "INSERT INTO memory (uid, project, category, text, importance, tags, created, changed, applies_when)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (uid) DO UPDATE SET project = excluded.project, category = excluded.category,
                 text = excluded.text, importance = excluded.importance, tags = excluded.tags,
                 created = excluded.created, changed = excluded.changed,
                 applies_when = CASE excluded.applies_when WHEN '[]' THEN applies_when ELSE excluded.applies_when END",
        )?
        .execute(params![
            memory.id,
            project,
            memory.category,
            memory.text,
            memory.importance,
            list_to_json(&memory.tags),
            memory.created,
            memory.changed,
            list_to_json(&memory.applies_when),
        ])?;
    Ok(())
}

/// The result of writing a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RememberResult {
    /// The new memory, or the existing one with the same words.
    pub memory: Memory,
    /// True if the memory existed before, so that at most its phrases were written.
    pub is_known: bool,
    /// True if a known memory got phrases that it did not have.
    pub has_new_phrases: bool,
}

impl Store {
    /// Writes a memory, unless the project has one of the same category with the same words. The comparison ignores
    /// case, spaces and punctuation. A known memory gets the new phrases.
    pub fn remember(&mut self, new: &NewMemory<'_>, now: Time) -> StoreResult<RememberResult> {
        let memory = Memory {
            id: Id::new(now),
            project: None,
            category: new.category,
            text: memory::validate_memory_text(new.text)?,
            importance: memory::validate_importance(new.importance)?,
            tags: memory::validate_tags(new.tags)?,
            applies_when: validate_phrases(new.applies_when).map_err(MemoryError::from)?,
            created: now,
            changed: now,
        };
        let author = self.author.clone();
        self.write(|transaction| {
            let project = new
                .place
                .map(|place| projects::ensure_project(transaction, place, now))
                .transpose()?;
            if let Some(known) = find_same_words(transaction, project, &memory)? {
                return add_phrases(transaction, known, &memory.applies_when, now);
            }
            upsert_memory(transaction, project, &memory)?;
            origins::insert_origin_if_known(transaction, memory.id, author.as_ref())?;
            let memory = load_memory(transaction, memory.id)?;
            Ok(RememberResult { memory, is_known: false, has_new_phrases: false })
        })
    }

    /// Returns a memory by its id.
    pub fn memory(&self, id: Id) -> StoreResult<Memory> {
        load_memory(&self.connection, id)
    }

    /// Returns memories, the newest first.
    pub fn memories(&self, filter: &MemoryFilter) -> StoreResult<Vec<Memory>> {
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
            let memory = read_memory(row)?;
            if filter.tags.iter().all(|tag| memory.tags.iter().any(|own| own.as_str() == tag)) {
                found.push(memory);
            }
        }
        Ok(found)
    }

    /// Changes a memory.
    pub fn edit_memory(&mut self, id: Id, edit: &MemoryEdit<'_>, now: Time) -> StoreResult<Memory> {
        let text: Option<Clean> = edit.text.map(memory::validate_memory_text).transpose()?;
        let importance = edit.importance.map(memory::validate_importance).transpose()?;
        let tags = edit.tags.map(memory::validate_tags).transpose()?;
        let phrases =
            edit.applies_when.map(validate_phrases).transpose().map_err(MemoryError::from)?;
        self.write(|transaction| {
            let old = load_memory(transaction, id)?;
            transaction.execute(
                "UPDATE memory SET text = ?2, category = ?3, importance = ?4, tags = ?5, changed = max(changed + 1, ?6),
                        applies_when = ?7
                 WHERE uid = ?1",
                params![
                    id,
                    text.as_ref().unwrap_or(&old.text),
                    edit.category.unwrap_or(old.category),
                    importance.unwrap_or(old.importance),
                    list_to_json(tags.as_ref().unwrap_or(&old.tags)),
                    now,
                    list_to_json(phrases.as_ref().unwrap_or(&old.applies_when)),
                ],
            )?;
            origins::claim_imported_row(transaction, id)?;
            load_memory(transaction, id)
        })
    }
}

/// Adds phrases to a known memory.
fn add_phrases(
    connection: &Connection,
    known: Id,
    phrases: &[Clean],
    now: Time,
) -> StoreResult<RememberResult> {
    let mut memory = load_memory(connection, known)?;
    let united = unite_phrases(&memory.applies_when, phrases);
    let has_new_phrases = united != memory.applies_when;
    if has_new_phrases {
        connection.execute(
            "UPDATE memory SET applies_when = ?2, changed = max(changed + 1, ?3) WHERE uid = ?1",
            params![known, list_to_json(&united), now],
        )?;
        memory = load_memory(connection, known)?;
    }
    Ok(RememberResult { memory, is_known: true, has_new_phrases })
}

/// Returns the memory of the same project and category that has the same words.
fn find_same_words(
    connection: &Connection,
    project: Option<i64>,
    memory: &Memory,
) -> StoreResult<Option<Id>> {
    // Imported rows that were not accepted do not count.
    let mut rows = connection.prepare_cached(&format!(
        "SELECT uid, text FROM memory WHERE project IS ?1 AND category = ?2 AND {} ORDER BY id",
        origins::own_row_condition("memory.uid")
    ))?;
    let mut rows = rows.query(params![project, memory.category])?;
    while let Some(row) = rows.next()? {
        if has_same_words(row.get_ref(1)?.as_str().unwrap_or_default(), &memory.text) {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}

pub(crate) fn load_memory(connection: &Connection, id: Id) -> StoreResult<Memory> {
    let query = format!("{SELECT} WHERE memory.uid = ?1");
    let found = connection.prepare_cached(&query)?.query_row([id], read_memory).optional()?;
    found.ok_or_else(|| StoreError::NotFound { what: "memory", id: id.into() })
}
