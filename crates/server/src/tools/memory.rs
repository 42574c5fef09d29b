//! The tools that store, find and delete memories.

use std::fmt::Write as _;

use rutter_memory::document::{Axis, Kind};
use rutter_memory::memory::{Category, Memory};
use rutter_memory::quote;
use rutter_memory::store::entry::Place;
use rutter_memory::store::{self, Ask, MemoryFilter, NewMemory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Call, Cursor, Given, PASSAGE, Refusal, cut, foreign_origin, id, origin, quoted, short,
    still_there,
};
use crate::schema;

/// `remember`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Remember {
    #[schemars(length(min = 1, max = 10000))]
    content: String,
    #[schemars(schema_with = "schema::category")]
    category: Category,
    /// A preference with 1, its default, opens every session
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    importance: Option<f64>,
    #[schemars(length(max = 20))]
    #[serde(default)]
    tags: Vec<String>,
    /// Propose it for every project; it applies to this one until the user accepts
    #[serde(default)]
    everywhere: bool,
}

/// `recall_memories`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recall {
    /// A full memory
    #[serde(default)]
    id: Option<String>,
    #[schemars(length(max = 10000))]
    #[serde(default)]
    query: Option<String>,
    #[schemars(schema_with = "schema::category")]
    #[serde(default)]
    category: Option<Category>,
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
pub(super) struct Forget {
    /// Memory, GHAP, run or episode ids
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<String>,
}

/// The answer of `remember`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Remembered {
    ok: bool,
    id: String,
    category: String,
    importance: f64,
    /// True if it existed already.
    known: bool,
    /// True if proposed to the user for every project.
    proposed: bool,
}

/// The answer of `recall_memories`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Recalled {
    results: Vec<Shown>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Advice if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    id: String,
    /// From 0 to 1; absent without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    content: String,
    category: String,
    importance: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    created: String,
    /// Origin, if requested by id or if imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

/// The answer of `forget`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Forgotten {
    ok: bool,
    /// Number of rows, dependents included.
    rows: usize,
    /// True if every byte is gone. If not, `rutter tend` finishes it.
    erased: bool,
}

pub(super) fn remember(new: &Remember, call: &mut Call<'_>) -> Result<Given<Remembered>, Refusal> {
    let place = call.owner()?.place;
    let (now, everywhere) = (call.now(), new.everywhere);
    let new = NewMemory {
        // Only the user can apply a memory to every project; an agent proposes it.
        place: Some(&place),
        category: new.category,
        text: &new.content,
        importance: new.importance.unwrap_or_else(|| new.category.default_importance()),
        tags: &new.tags,
    };
    let store::Remembered { memory, is_known } = call.store.remember(&new, now)?;
    let proposed = everywhere && memory.project.is_some();
    if proposed {
        call.store.propose_everywhere(memory.id, now)?;
    }
    let id = memory.id.short();
    let tail = if proposed {
        " It holds in this project; the user lets it hold everywhere with `rutter review`."
    } else {
        ""
    };
    Ok(Given {
        text: if is_known {
            format!("Known already as {id}; nothing was added.{tail}")
        } else {
            format!("Remembered as {id}.{tail}")
        },
        value: Remembered {
            ok: true,
            id: memory.id.to_string(),
            category: memory.category.to_string(),
            importance: memory.importance,
            known: is_known,
            proposed,
        },
    })
}

impl Shown {
    fn new(memory: &Memory, score: Option<f64>) -> Self {
        Self {
            id: memory.id.to_string(),
            score: score.map(|score| (score.clamp(0.0, 1.0) * 1000.0).round() / 1000.0),
            content: memory.text.to_string(),
            category: memory.category.to_string(),
            importance: memory.importance,
            tags: memory.tags.iter().map(ToString::to_string).collect(),
            created: memory.created.to_string(),
            origin: None,
        }
    }
}

pub(super) fn recall(recall: &Recall, call: &mut Call<'_>) -> Result<Given<Recalled>, Refusal> {
    let place = call.owner()?.place;
    let query = recall.query.as_deref().filter(|query| !query.trim().is_empty());
    let mut next_cursor = None;
    let mut results = if let Some(text) = &recall.id {
        let which = call.store.memory_id_in(&id("id", text)?, &place)?;
        vec![Shown::new(&call.store.memory(which)?, None)]
    } else if let Some(query) = query {
        if recall.cursor.is_some() {
            let what = "cursor goes on with a list; what a query finds has one page: leave out one of the two";
            return Err(Refusal::Arguments(what.to_owned()));
        }
        sought(query, recall, &place, call)?
    } else {
        let page = newest(recall, &place, call)?;
        next_cursor = page.next_cursor;
        page.memories.iter().map(|memory| Shown::new(memory, None)).collect()
    };
    for shown in &mut results {
        if let Ok(row) = shown.id.parse() {
            shown.origin =
                if recall.id.is_some() { origin(call, row)? } else { foreign_origin(call, row)? };
        }
    }
    // A single result is not truncated.
    let is_list = results.len() > 1;
    let lines: Vec<String> = results
        .iter_mut()
        .map(|shown| {
            if is_list {
                shown.content = cut(&shown.content, PASSAGE);
            }
            let content = if is_list {
                quoted(&shown.content)
            } else {
                format!("`{}`", quote::quoted(&quote::field(&shown.content)))
            };
            format!("{} {}: {content}", short(&shown.id), shown.category)
        })
        .collect();
    let hint = results.is_empty().then(|| recall.elsewhere().to_owned());
    let mut text = match &hint {
        Some(hint) => format!("Nothing was found; {hint}."),
        None => lines.join("\n"),
    };
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nMore with cursor {cursor}.");
    }
    Ok(Given { value: Recalled { count: results.len(), results, next_cursor, hint }, text })
}

impl Recall {
    fn most(&self) -> usize {
        self.limit.unwrap_or(10)
    }

    /// Returns advice for an empty result.
    const fn elsewhere(&self) -> &'static str {
        if self.category.is_some() || self.min_importance.is_some() {
            "leave out category and min_importance to find more; what GHAPs taught is found by search_experiences"
        } else {
            "what GHAPs taught is found by search_experiences"
        }
    }

    fn wants(&self, memory: &Memory) -> bool {
        self.category.is_none_or(|category| category == memory.category)
            && self.min_importance.is_none_or(|least| memory.importance >= least)
    }
}

fn sought(
    query: &str,
    recall: &Recall,
    place: &Place,
    call: &mut Call<'_>,
) -> Result<Vec<Shown>, Refusal> {
    // Fetches more rows, because some are filtered out below.
    let narrowed = recall.category.is_some() || recall.min_importance.is_some();
    let ask = Ask {
        text: query,
        axis: Axis::Full,
        place: Some(place),
        all: false,
        kind: Some(Kind::Memory),
        domain: None,
        outcome: None,
        limit: if narrowed { recall.most() * 7 } else { recall.most() },
    };
    let mut results = Vec::new();
    for hit in call.store.recall(&ask, call.now())? {
        let Some(memory) = still_there(call.store.memory(hit.hit.row))? else { continue };
        if recall.wants(&memory) && results.len() < recall.most() {
            results.push(Shown::new(&memory, Some(hit.rank)));
        }
    }
    Ok(results)
}

/// A page of memories, and the cursor for the next page.
struct Page {
    memories: Vec<Memory>,
    next_cursor: Option<String>,
}

fn newest(recall: &Recall, place: &Place, call: &Call<'_>) -> Result<Page, Refusal> {
    let before = recall.cursor.as_deref().map(|cursor| Cursor::MEMORIES.read(cursor));
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
    memories.retain(|memory| recall.wants(memory));
    let mut next_cursor = None;
    if memories.len() > recall.most() {
        memories.truncate(recall.most());
        let page = memories.iter().map(|memory| memory.id);
        next_cursor = Cursor::MEMORIES.behind(page, |id| call.store.memory_position(id))?;
    }
    Ok(Page { memories, next_cursor })
}

pub(super) fn forget(forget: &Forget, call: &mut Call<'_>) -> Result<Given<Forgotten>, Refusal> {
    let place = call.owner()?.place;
    // Includes rows that are still in the spool.
    call.store.gather(call.now())?;
    // Resolves all ids first, so that a wrong one prevents every deletion.
    let mut rows = Vec::new();
    for text in &forget.ids {
        let row = call.store.row_in(&id("ids", text)?, &place)?;
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let gone = call.store.forget(&rows, None)?;
    let tail = if gone.erased { "" } else { "; `rutter tend` erases the last bytes" };
    Ok(Given {
        text: format!("{} forgotten{tail}.", gone.rows),
        value: Forgotten { ok: true, rows: gone.rows, erased: gone.erased },
    })
}
