//! The lessons of a project in the order of their evidence and use, and a record of those that an agent looked up.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::ProjectPlace;
use super::ghaps::GhapOwner;
use super::reader::StoreReader;
use super::{Store, StoreResult, effects, injections, projects};
use crate::document::DocumentKind;
use crate::ghap::Tier;
use crate::injection::{Injection, LOOKUP_EVENT};
use crate::rank::{importance_factor, rank_factor};
use crate::{Clean, Id, Time};

/// Number of experiences, and of memories, that are compared: the newest, and the most important ones.
const MAX_COMPARED_ROWS: u32 = 50;

/// Reads the order from an index: a project may have 100,000 memories.
const MEMORIES_BY_IMPORTANCE: &str = "SELECT uid, text, importance, changed FROM memory
    WHERE project = ?1 AND NOT (category = 'preference' AND importance = 1.0)
    ORDER BY importance DESC, changed DESC LIMIT ?2";

/// A lesson of a project: a memory, or what a resolved GHAP taught.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectLesson {
    /// Id of the row.
    pub row: Id,
    /// The kind of the row.
    pub kind: DocumentKind,
    /// The lesson.
    pub text: Clean,
}

impl StoreReader<'_> {
    /// Returns the lessons of a project, those with the best evidence and effects first. Preferences of the greatest
    /// importance and lessons that did more harm than good are left out.
    pub fn project_lessons(
        &self,
        place: &ProjectPlace,
        now: Time,
    ) -> StoreResult<Vec<ProjectLesson>> {
        let connection = self.connection();
        let Some(project) = projects::find_project(connection, place)? else {
            return Ok(Vec::new());
        };
        let mut ranked = ranked_experiences(connection, project, now)?;
        ranked.extend(ranked_memories(connection, project, now)?);
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        Ok(ranked.into_iter().map(|(_, lesson)| lesson).collect())
    }
}

fn ranked_experiences(
    connection: &Connection,
    project: i64,
    now: Time,
) -> StoreResult<Vec<(f64, ProjectLesson)>> {
    let mut rows = connection.prepare_cached(
        "SELECT uid, coalesce(takeaway, what_worked), tier, resolved FROM ghap
         WHERE project = ?1 AND status IN ('confirmed', 'falsified') AND coalesce(takeaway, what_worked) IS NOT NULL
         ORDER BY resolved DESC LIMIT ?2",
    )?;
    let rows = rows.query_map(params![project, MAX_COMPARED_ROWS], |row| {
        let lesson =
            ProjectLesson { row: row.get(0)?, kind: DocumentKind::Experience, text: row.get(1)? };
        Ok((lesson, row.get::<_, Option<Tier>>(2)?, row.get::<_, Time>(3)?))
    })?;
    let mut ranked = Vec::new();
    for row in rows {
        let (lesson, tier, at) = row?;
        let effects = effects::total_effects(connection, lesson.row)?;
        if !effects.is_harmful() {
            ranked.push((rank_factor(false, tier, now.since(at), effects), lesson));
        }
    }
    Ok(ranked)
}

fn ranked_memories(
    connection: &Connection,
    project: i64,
    now: Time,
) -> StoreResult<Vec<(f64, ProjectLesson)>> {
    let mut rows = connection.prepare_cached(MEMORIES_BY_IMPORTANCE)?;
    let rows = rows.query_map(params![project, MAX_COMPARED_ROWS], |row| {
        let lesson =
            ProjectLesson { row: row.get(0)?, kind: DocumentKind::Memory, text: row.get(1)? };
        Ok((lesson, row.get::<_, f64>(2)?, row.get::<_, Time>(3)?))
    })?;
    let mut ranked = Vec::new();
    for row in rows {
        let (lesson, importance, at) = row?;
        let effects = effects::total_effects(connection, lesson.row)?;
        if !effects.is_harmful() {
            let rank = rank_factor(false, None, now.since(at), effects);
            ranked.push((rank * importance_factor(importance), lesson));
        }
    }
    Ok(ranked)
}

impl Store {
    /// Records that an agent looked up a row by its id, so that the row counts as shown to it. Does nothing
    /// for an agent without a known session.
    pub fn record_lookup(&mut self, owner: &GhapOwner, row: Id, now: Time) -> StoreResult {
        let Some(client) = owner.client.clone() else { return Ok(()) };
        let session: Option<i64> = self
            .connection
            .query_row("SELECT id FROM session WHERE client = ?1", [&client], |row| row.get(0))
            .optional()?;
        let Some(session) = session else { return Ok(()) };
        let injection = Injection {
            id: Id::new(now),
            session: client,
            agent: owner.agent.clone(),
            event: Clean::new(LOOKUP_EVENT),
            row,
            score: 1.0,
            prompt: Clean::default(),
            at: now,
            effect: None,
            brief: false,
        };
        self.write(|transaction| {
            injections::insert_injection(transaction, session, &injection).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_not_sorted_on_each_start() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("rutter"), Time::from_millis(1)).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {MEMORIES_BY_IMPORTANCE}");
        let mut steps = store.connection.prepare(&plan).unwrap();
        let steps = steps.query_map(params![1, 50], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert_eq!(steps, ["SEARCH memory USING INDEX memory_importance (project=?)"]);
    }
}
