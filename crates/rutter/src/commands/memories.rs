//! `rutter remember`, `rutter memories`, `rutter edit`.

use rutter_memory::ghap::LessonEdit;
use rutter_memory::memory::Memory;
use rutter_memory::quote::format_field;
use rutter_memory::store::{MemoryEdit, MemoryFilter, NewMemory, RememberResult};
use rutter_memory::{Clean, Id, Store, StoreError};
use serde::Serialize;

use crate::CommandResult;
use crate::ask;
use crate::cli::Format;
use crate::cli::memory::{MemoriesArgs, MemoryEditArgs, RememberArgs};
use crate::environment::Environment;
use crate::ui::{Ui, first_line};

#[derive(Serialize)]
struct MemoryJson<'a> {
    /// The short id.
    short: String,
    #[serde(flatten)]
    memory: &'a Memory,
    /// For `rutter remember`: true if the memory existed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
}

impl<'a> From<&'a Memory> for MemoryJson<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self { short: memory.id.short(), memory, known: None }
    }
}

fn print_memory(memory: &Memory, format: Format, ui: &mut Ui<'_>) -> CommandResult {
    if format == Format::Json {
        return ui.print_json(&MemoryJson::from(memory));
    }
    let tags: String = memory.tags.iter().flat_map(|tag| [" #", tag.as_str()]).collect();
    let text = format_field(&memory.text);
    let tags = format_field(&tags);
    writeln!(ui.out, "{} {}{tags}: {text}", memory.id.short(), memory.category)?;
    for phrase in &memory.applies_when {
        writeln!(ui.out, "  applies when: {}", format_field(phrase))?;
    }
    Ok(())
}

pub(crate) fn remember(args: &RememberArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let place = env.owner()?.place;
    let new = NewMemory {
        place: (!args.everywhere).then_some(&place),
        category: args.category,
        text: &args.text,
        importance: args.importance.unwrap_or_else(|| args.category.default_importance()),
        tags: &args.tags,
        applies_when: &args.applies_when,
    };
    let RememberResult { memory, is_known, has_new_phrases } = store.remember(&new, env.now)?;
    if is_known {
        let id = memory.id.short();
        let differs = (memory.importance - new.importance).abs() > f64::EPSILON;
        let hint = if differs {
            format!("; `rutter edit {id} --importance {}` changes its importance", new.importance)
        } else {
            String::new()
        };
        let added =
            if has_new_phrases { "only the phrases were added" } else { "nothing was added" };
        ui.print_note(&format!("memory {id} already has this text, so {added}{hint}"))?;
    }
    if args.format.chosen() == Format::Json {
        return ui.print_json(&MemoryJson { known: Some(is_known), ..MemoryJson::from(&memory) });
    }
    print_memory(&memory, Format::Text, ui)
}

pub(crate) fn list_memories(
    args: &MemoriesArgs,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let store = env.open_store(ui)?;
    let project = if args.all {
        None
    } else {
        store.project(&env.owner()?.place)?.map(|project| project.key)
    };
    let filter = MemoryFilter {
        before: None,
        // An unknown project has no memories, so only those for every project apply.
        everywhere: args.everywhere || (project.is_none() && !args.all),
        project,
        category: args.category,
        tags: args.tags.clone(),
        limit: Some(args.limit),
    };
    let memories = store.memories(&filter)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&memories.iter().map(MemoryJson::from).collect::<Vec<_>>());
    }
    if memories.is_empty() {
        return Ok(ui.print_note("there are no memories; `rutter remember` adds one")?);
    }
    let rows = memories.iter().map(|memory| {
        let tags: Vec<&str> = memory.tags.iter().map(Clean::as_str).collect();
        [
            memory.id.short(),
            memory.category.to_string(),
            memory.importance.to_string(),
            if memory.project.is_some() { "project" } else { "everywhere" }.to_owned(),
            tags.join(" "),
            first_line(&memory.text),
        ]
    });
    Ok(ui.print_table(["ID", "CATEGORY", "IMPORTANCE", "WHERE", "TAGS", "TEXT"], rows)?)
}

/// Returns the GHAP to edit, or None if the options are about a memory. `--applies-when` alone is about either.
fn find_edited_ghap(args: &MemoryEditArgs, store: &Store) -> CommandResult<Option<Id>> {
    if args.what_worked.is_some() || args.takeaway.is_some() {
        return Ok(Some(store.ghap_id(&args.id)?));
    }
    let is_memory = args.applies_when.is_none()
        || args.text.is_some()
        || args.category.is_some()
        || args.importance.is_some()
        || args.tags.is_some();
    match store.memory_id(&args.id) {
        Err(StoreError::NotFound { .. }) if !is_memory => match store.ghap_id(&args.id) {
            Err(StoreError::NotFound { .. }) => Ok(None),
            found => Ok(Some(found?)),
        },
        _ => Ok(None),
    }
}

pub(crate) fn edit_row(args: &MemoryEditArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    if let Some(id) = find_edited_ghap(args, &store)? {
        let edit = LessonEdit {
            what_worked: args.what_worked.as_deref(),
            takeaway: args.takeaway.as_deref(),
            applies_when: args.applies_when.as_deref(),
        };
        let (ghap, followed) = store.edit_lesson(id, &edit, env.now)?;
        for value in followed {
            let id = value.id.short();
            ui.print_note(&match value.standing {
                Some(standing) => {
                    format!("value {id} had the same text, and was changed too: {standing}")
                }
                None => format!("value {id} had the same text, and was removed"),
            })?;
        }
        return super::ghap::show(&ghap, &store, args.format.chosen(), env, ui);
    }
    let id = store.memory_id(&args.id)?;
    let nothing = args.text.is_none()
        && args.category.is_none()
        && args.importance.is_none()
        && args.tags.is_none()
        && args.applies_when.is_none();
    let text = if nothing {
        Some(ask::edit_text(&store.memory(id)?.text, env)?)
    } else {
        args.text.clone()
    };
    let edit = MemoryEdit {
        text: text.as_deref(),
        category: args.category,
        importance: args.importance,
        tags: args.tags.as_deref(),
        applies_when: args.applies_when.as_deref(),
    };
    let memory = store.edit_memory(id, &edit, env.now)?;
    print_memory(&memory, args.format.chosen(), ui)
}
