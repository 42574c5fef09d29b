//! The tools that store, find and delete memories.

use std::fmt::Write as _;

use rutter_memory::StoreError;
use rutter_memory::document::{Axis, DocumentKind};
use rutter_memory::ghap::Ghap;
use rutter_memory::memory::{Memory, MemoryCategory};
use rutter_memory::quote;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{self, GhapOwner, MemoryFilter, NewMemory, RecallRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MAX_PASSAGE_CHARS, PageCursor, ToolInvocation, ToolRefusal, TypedAnswer, describe_origin,
    if_still_there, import_origin, parse_id, quote_passage, short_id, spaced_mark, truncate_chars,
    unconfirmed_mark,
};
use crate::schema;

/// `remember`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RememberInput {
    #[schemars(length(min = 1, max = 10000))]
    content: String,
    #[schemars(schema_with = "schema::category")]
    category: MemoryCategory,
    /// A preference with 1, its default, opens every session
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    importance: Option<f64>,
    #[schemars(length(max = 20))]
    #[serde(default)]
    tags: Vec<String>,
    /// 4–6 phrases a user would type not knowing this: symptom, question, task; varied words
    #[schemars(length(max = 6))]
    #[serde(default)]
    applies_when: Vec<String>,
    /// Propose it for every project; it applies to this one until the user accepts
    #[serde(default)]
    everywhere: bool,
}

/// `recall_memories`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallMemoriesInput {
    /// A memory or lesson in full
    #[serde(default)]
    id: Option<String>,
    #[schemars(length(max = 10000))]
    #[serde(default)]
    query: Option<String>,
    #[schemars(schema_with = "schema::category")]
    #[serde(default)]
    category: Option<MemoryCategory>,
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    min_importance: Option<f64>,
    /// Long texts in lists are cut
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    limit: Option<usize>,
    /// next_cursor of the last answer, without query
    #[serde(default)]
    cursor: Option<String>,
}

/// `forget`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetInput {
    /// Memory, GHAP, run or episode ids
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<String>,
}

/// The answer of `remember`.
#[derive(Serialize, JsonSchema)]
pub(super) struct RememberAnswer {
    ok: bool,
    id: String,
    category: String,
    importance: f64,
    /// True if it existed already. It got the new phrases.
    known: bool,
    /// True if proposed to the user for every project.
    proposed: bool,
}

/// The answer of `recall_memories`.
#[derive(Serialize, JsonSchema)]
pub(super) struct RecallMemoriesAnswer {
    results: Vec<MemoryEntry>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Advice if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemoryEntry {
    id: String,
    /// From 0 to 1; absent without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    content: String,
    category: String,
    importance: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    applies_when: Vec<String>,
    created: String,
    /// Origin, if requested by id or if imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// The answer of `forget`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ForgetAnswer {
    ok: bool,
    /// Number of rows, dependents included.
    rows: usize,
    /// True if every byte is gone. If not, `rutter maintain` finishes it.
    erased: bool,
}

pub(super) fn remember(
    new: &RememberInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<RememberAnswer>, ToolRefusal> {
    let place = call.owner()?.place;
    let (now, everywhere) = (call.now(), new.everywhere);
    let new = NewMemory {
        // Only the user can apply a memory to every project; an agent proposes it.
        place: Some(&place),
        category: new.category,
        text: &new.content,
        importance: new.importance.unwrap_or_else(|| new.category.default_importance()),
        tags: &new.tags,
        applies_when: &new.applies_when,
    };
    let store::RememberResult { memory, is_known, has_new_phrases } =
        call.store.remember(&new, now)?;
    let proposed = everywhere && memory.project.is_some();
    if proposed {
        call.store.propose_everywhere(memory.id, now)?;
    }
    let id = memory.id.short();
    let tail = if proposed {
        " It applies to this project; the user can accept it for every project with `rutter \
         review`."
    } else {
        ""
    };
    Ok(TypedAnswer {
        text: if is_known {
            let added =
                if has_new_phrases { "only applies_when was added" } else { "nothing was added" };
            format!("It exists already as {id}; {added}.{tail}")
        } else {
            format!("Remembered as {id}.{tail}")
        },
        value: RememberAnswer {
            ok: true,
            id: memory.id.to_string(),
            category: memory.category.to_string(),
            importance: memory.importance,
            known: is_known,
            proposed,
        },
    })
}

impl MemoryEntry {
    fn new(memory: &Memory, score: Option<f64>) -> Self {
        Self {
            id: memory.id.to_string(),
            score: score.map(|score| (score.clamp(0.0, 1.0) * 1000.0).round() / 1000.0),
            content: memory.text.to_string(),
            category: memory.category.to_string(),
            importance: memory.importance,
            tags: memory.tags.iter().map(ToString::to_string).collect(),
            applies_when: memory.applies_when.iter().map(ToString::to_string).collect(),
            created: memory.created.to_string(),
            origin: None,
            unconfirmed: None,
        }
    }
}

impl MemoryEntry {
    /// Returns the lesson of a GHAP with what led to it.
    fn from_experience(ghap: &Ghap) -> Self {
        let resolution = ghap.resolution.as_ref();
        let lesson = resolution.and_then(|resolution| resolution.lesson.as_ref());
        let cause = resolution.and_then(|resolution| resolution.root_cause.as_ref());
        let parts = [
            ("Lesson", lesson.and_then(|lesson| lesson.takeaway.as_ref())),
            ("What worked", lesson.and_then(|lesson| lesson.what_worked.as_ref())),
            ("Goal", Some(&ghap.goal)),
            ("Hypothesis", Some(&ghap.hypothesis)),
            ("Root cause", cause.map(|cause| &cause.text)),
            ("Surprise", resolution.and_then(|resolution| resolution.surprise.as_ref())),
        ];
        let parts = parts.iter().filter_map(|(name, text)| Some(format!("{name}: {}", (*text)?)));
        Self {
            id: ghap.id.to_string(),
            score: None,
            content: parts.collect::<Vec<_>>().join("\n"),
            category: format!("lesson ({})", ghap.status),
            importance: resolution.map_or(0.0, |resolution| resolution.tier.weight()),
            tags: Vec::new(),
            applies_when: resolution
                .filter(|resolution| !resolution.has_derived_phrases)
                .map_or_else(Vec::new, |resolution| {
                    resolution.applies_when.iter().map(ToString::to_string).collect()
                }),
            created: ghap.created.to_string(),
            origin: None,
            unconfirmed: None,
        }
    }
}

pub(super) fn recall_memories(
    recall: &RecallMemoriesInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<RecallMemoriesAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let place = owner.place.clone();
    let query = recall.query.as_deref().filter(|query| !query.trim().is_empty());
    let mut next_cursor = None;
    let mut results = if let Some(text) = &recall.id {
        vec![look_up_lesson(text, &owner, call)?]
    } else if let Some(query) = query {
        if recall.cursor.is_some() {
            let what = "cursor continues a list, and a query has only one page; omit one of the \
                        two";
            return Err(ToolRefusal::Arguments(what.to_owned()));
        }
        search_memories(query, recall, &place, call)?
    } else {
        let page = newest_page(recall, &place, call)?;
        next_cursor = page.next_cursor;
        page.memories.iter().map(|memory| MemoryEntry::new(memory, None)).collect()
    };
    for shown in &mut results {
        if let Ok(row) = shown.id.parse() {
            shown.unconfirmed = unconfirmed_mark(call, row, &place)?;
            shown.origin = if recall.id.is_some() {
                describe_origin(call, row)?
            } else {
                import_origin(call, row)?
            };
        }
    }
    // A single result is not truncated.
    let is_list = results.len() > 1;
    let lines: Vec<String> = results
        .iter_mut()
        .map(|shown| {
            if is_list {
                shown.content = truncate_chars(&shown.content, MAX_PASSAGE_CHARS);
            }
            let content = if is_list {
                quote_passage(&shown.content)
            } else {
                format!("`{}`", quote::escape_quotation(&quote::format_field(&shown.content)))
            };
            let mark = spaced_mark(shown.unconfirmed.as_deref());
            format!("{} {}: {content}{mark}", short_id(&shown.id), shown.category)
        })
        .collect();
    let hint = results.is_empty().then(|| recall.empty_result_hint().to_owned());
    let mut text = match &hint {
        Some(hint) => format!("Nothing was found; {hint}."),
        None => lines.join("\n"),
    };
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nMore with cursor {cursor}.");
    }
    Ok(TypedAnswer {
        value: RecallMemoriesAnswer { count: results.len(), results, next_cursor, hint },
        text,
    })
}

/// Returns the memory or the lesson of a GHAP with an id, and records that the agent has read it.
fn look_up_lesson(
    text: &str,
    owner: &GhapOwner,
    call: &mut ToolInvocation<'_>,
) -> Result<MemoryEntry, ToolRefusal> {
    let id = parse_id("id", text)?;
    let memory = if_still_there(call.store.memory_id_in(&id, &owner.place))?;
    let entry = if let Some(row) = memory {
        MemoryEntry::new(&call.store.memory(row)?, None)
    } else {
        let row = call.store.ghap_id_in(&id, &owner.place).map_err(|error| match error {
            StoreError::NotFound { id, .. } => {
                StoreError::NotFound { what: "memory or lesson", id }
            }
            error => error,
        })?;
        MemoryEntry::from_experience(&call.store.ghap(row)?)
    };
    if let Ok(row) = entry.id.parse() {
        // The answer does not depend on the record.
        drop(call.store.record_lookup(owner, row, call.now()));
    }
    Ok(entry)
}

impl RecallMemoriesInput {
    fn max_results(&self) -> usize {
        self.limit.unwrap_or(10)
    }

    /// Returns advice for an empty result.
    const fn empty_result_hint(&self) -> &'static str {
        if self.category.is_some() || self.min_importance.is_some() {
            "omit category and min_importance to find more; search_experiences finds the \
             lessons of GHAPs"
        } else {
            "search_experiences finds the lessons of GHAPs"
        }
    }

    fn matches(&self, memory: &Memory) -> bool {
        self.category.is_none_or(|category| category == memory.category)
            && self.min_importance.is_none_or(|least| memory.importance >= least)
    }
}

fn search_memories(
    query: &str,
    recall: &RecallMemoriesInput,
    place: &ProjectPlace,
    call: &mut ToolInvocation<'_>,
) -> Result<Vec<MemoryEntry>, ToolRefusal> {
    // Fetches more rows, because some are filtered out below.
    let narrowed = recall.category.is_some() || recall.min_importance.is_some();
    let ask = RecallRequest {
        text: query,
        axis: Axis::Full,
        place: Some(place),
        all: false,
        kind: Some(DocumentKind::Memory),
        domain: None,
        outcome: None,
        limit: if narrowed { recall.max_results() * 7 } else { recall.max_results() },
    };
    let mut results = Vec::new();
    for hit in call.store.recall(&ask, call.now())? {
        let Some(memory) = if_still_there(call.store.memory(hit.hit.row))? else { continue };
        if recall.matches(&memory) && results.len() < recall.max_results() {
            results.push(MemoryEntry::new(&memory, Some(hit.rank)));
        }
    }
    Ok(results)
}

/// A page of memories, and the cursor for the next page.
struct MemoryPage {
    memories: Vec<Memory>,
    next_cursor: Option<String>,
}

fn newest_page(
    recall: &RecallMemoriesInput,
    place: &ProjectPlace,
    call: &ToolInvocation<'_>,
) -> Result<MemoryPage, ToolRefusal> {
    let before = recall.cursor.as_deref().map(|cursor| PageCursor::MEMORIES.parse(cursor));
    let project = call.store.project(place)?.map(|project| project.key);
    let filter = MemoryFilter {
        // An unknown project has no memories, so only those for every project apply.
        everywhere: project.is_none(),
        project,
        category: recall.category,
        before: before.transpose()?,
        ..MemoryFilter::default()
    };
    let mut memories = call.store.memories(&filter)?;
    memories.retain(|memory| recall.matches(memory));
    let mut next_cursor = None;
    if memories.len() > recall.max_results() {
        memories.truncate(recall.max_results());
        let page = memories.iter().map(|memory| memory.id);
        next_cursor = PageCursor::MEMORIES.after_page(page, |id| call.store.memory_position(id))?;
    }
    Ok(MemoryPage { memories, next_cursor })
}

pub(super) fn forget_rows(
    forget: &ForgetInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<ForgetAnswer>, ToolRefusal> {
    let place = call.owner()?.place;
    // Includes rows that are still in the spool.
    call.store.drain_spool(call.now())?;
    // Resolves all ids first, so that a wrong one prevents every deletion.
    let mut rows = Vec::new();
    for text in &forget.ids {
        let row = call.store.find_row_in_project(&parse_id("ids", text)?, &place)?;
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let gone = call.store.forget(&rows, None)?;
    let tail = if gone.erased { "" } else { "; `rutter maintain` erases the remaining bytes" };
    Ok(TypedAnswer {
        text: format!("{} forgotten{tail}.", gone.rows),
        value: ForgetAnswer { ok: true, rows: gone.rows, erased: gone.erased },
    })
}
