//! A list of tasks in Markdown, from which an index is made.
//!
//! Every item of a list is a task, and the items below it are its children. Headings and other text are left out.
//!
//! ```text
//! - Cart
//!   - [x] Tests of the total (files `tests/test_cart.py`) (agent tester)
//!   - [ ] The total (after 1.1) (files `src/cart.py`)
//! ```

use std::collections::BTreeMap;

use serde_json::{Value, json};
use thiserror::Error;

/// Number of tasks that a list can have.
const MAX_TASKS: usize = 10_000;

/// The reason why a text is no list of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskListError {
    /// The text has no item.
    #[error("has no list item (`- title`)")]
    Empty,
    /// The text has too many items.
    #[error("has more than {MAX_TASKS} list items")]
    TooMany,
}

/// An item of the list.
struct ListItem {
    /// The numbers of the item and of those above it.
    numbers: Vec<usize>,
    is_done: bool,
    title: String,
    dependencies: Vec<String>,
    deliverables: Vec<String>,
    agent: Option<String>,
}

impl ListItem {
    fn id(&self) -> String {
        self.numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }
}

/// Parses a list in Markdown. Returns the entries of an index, as in its file. The ids are the numbers of the items: `1.2` is
/// the second item below the first. An item is done if it is ticked.
pub fn parse_task_list(text: &str) -> Result<Vec<Value>, TaskListError> {
    let mut items: Vec<ListItem> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut is_code = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let Some((indent, title)) = split_item(line).filter(|_| !is_code) else { continue };
        let mut left = 0;
        while let Some((_, number)) = open.pop_if(|(last, _)| *last > indent) {
            left = number;
        }
        match open.last_mut() {
            Some((last, number)) if *last == indent => *number += 1,
            // An item between two levels goes on with the inner one.
            _ => open.push((indent, left + 1)),
        }
        if items.len() == MAX_TASKS {
            return Err(TaskListError::TooMany);
        }
        items.push(parse_item(open.iter().map(|(_, number)| *number).collect(), title));
    }
    if items.is_empty() {
        return Err(TaskListError::Empty);
    }
    let mut children: BTreeMap<&[usize], Vec<String>> = BTreeMap::new();
    for item in &items {
        if let [above @ .., _] = item.numbers.as_slice() {
            children.entry(above).or_default().push(item.id());
        }
    }
    let children_of = |item: &ListItem| children.get(item.numbers.as_slice());
    let render = |item| render_entry(item, children_of(item).map_or(&[][..], Vec::as_slice));
    Ok(items.iter().map(render).collect())
}

/// Splits a line into its indentation and the text behind `-`, `*`, `+`, `1.` or `1)`.
fn split_item(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start();
    let blank = &line[..line.len() - text.len()];
    let indent = blank.chars().map(|sign| if sign == '\t' { 4 } else { 1 }).sum();
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            text.trim_start_matches(|sign: char| sign.is_ascii_digit()).strip_prefix(['.', ')'])?
        }
    };
    let is_item = rest.starts_with([' ', '\t']) && !text.starts_with(['.', ')']);
    let title = rest.trim();
    // A rule such as `- - -` is no item.
    (is_item && title.contains(char::is_alphanumeric)).then_some((indent, title))
}

fn parse_item(numbers: Vec<usize>, text: &str) -> ListItem {
    let tick =
        ["[x]", "[X]", "[ ]"].into_iter().find_map(|tick| Some((tick, text.strip_prefix(tick)?)));
    let (is_done, text) = tick.map_or((false, text), |(tick, rest)| (tick != "[ ]", rest));
    let mut item = ListItem {
        numbers,
        is_done,
        title: String::new(),
        dependencies: Vec::new(),
        deliverables: Vec::new(),
        agent: None,
    };
    let mut title = text.trim();
    while let Some((before, note)) = title.strip_suffix(')').and_then(|text| text.rsplit_once('('))
    {
        let Some((word, rest)) = note.split_once([' ', ':']) else { break };
        let mut parts: Vec<String> = split_list(rest);
        match word {
            "after" => item.dependencies.append(&mut parts),
            "files" => item.deliverables.append(&mut parts),
            "agent" => item.agent = parts.pop(),
            _ => break,
        }
        title = before.trim();
    }
    title.clone_into(&mut item.title);
    item
}

/// Splits at commas outside of braces, and removes backticks.
fn split_list(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|sign| {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        sign == ',' && depth <= 0
    });
    let parts = parts.map(|part| part.trim_matches([' ', '`', ':']).to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn render_entry(item: &ListItem, children: &[String]) -> Value {
    let depth = item.numbers.len();
    let kind = match (children.is_empty(), depth) {
        (true, _) => "task",
        (false, 1) => "epic",
        (false, _) => "feature",
    };
    let parent = item.id().rsplit_once('.').map(|(parent, _)| parent.to_owned());
    let is_leaf = children.is_empty();
    let mut entry = json!({
        "id": item.id(),
        "type": kind,
        "title": item.title,
        // The state of a parent follows from its children.
        "status": if item.is_done && is_leaf { "done" } else { "pending" },
        "parent": parent,
        "children": children,
        "dependencies": item.dependencies,
    });
    if let Some(fields) = entry.as_object_mut() {
        if !item.deliverables.is_empty() {
            fields.insert("deliverables".to_owned(), json!(item.deliverables));
        }
        if let Some(agent) = &item.agent {
            fields.insert("agent".to_owned(), json!(agent));
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskStatus;
    use crate::task_index::TaskIndex;

    fn parse(text: &str) -> TaskIndex {
        let index = TaskIndex::from_entries(parse_task_list(text).unwrap()).unwrap();
        assert_eq!(index.faults(), [], "{text}");
        index
    }

    fn ids(text: &str) -> Vec<String> {
        parse(text).tasks().iter().map(|task| format!("{} {}", task.id, task.title)).collect()
    }

    #[test]
    fn list_becomes_index() {
        let index = parse(
            "# Plan\n\nSome text.\n\n- Cart\n  - [x] Tests (of it) (files `tests/a.py`, src/*.{a,b}) (agent tester)\n  \
             - [ ] Total (after 1.1)\n    1. Sum\n    2) Tax (after: 1.2.1)\n\n* Docs\n",
        );
        let found: Vec<&str> = index.tasks().iter().map(|task| task.id.as_str()).collect();
        assert_eq!(found, ["1", "1.1", "1.2", "1.2.1", "1.2.2", "2"]);
        let tests = index.find("1.1").unwrap();
        assert_eq!((tests.title.as_str(), tests.status), ("Tests (of it)", TaskStatus::Done));
        let paths: Vec<&str> = tests.deliverables.iter().map(|item| item.path.as_str()).collect();
        assert_eq!(paths, ["tests/a.py", "src/*.{a,b}"]);
        assert_eq!(tests.agent.as_deref(), Some("tester"));
        assert_eq!(index.find("1.2.2").unwrap().dependencies, ["1.2.1"]);
        let kinds: Vec<&str> =
            index.tasks().iter().filter_map(|task| task.kind.as_deref()).collect();
        assert_eq!(kinds, ["epic", "task", "feature", "task", "task", "task"]);
        assert_eq!(index.next_task().unwrap().id, "1.2.1");
    }

    #[test]
    fn uneven_lists_have_unique_ids() {
        assert_eq!(ids("    - a\n- b\n- c"), ["1 a", "2 b", "3 c"]);
        assert_eq!(ids("- a\n    - b\n  - c\n- d"), ["1 a", "1.1 b", "1.2 c", "2 d"]);
        assert_eq!(ids("- a\r\n\t- b\r\n"), ["1 a", "1.1 b"]);
    }

    #[test]
    fn other_lines_are_left_out() {
        assert_eq!(ids("- a\n---\n- - -\n-b\n.) c\n```\n- code\n```\n2026 - x"), ["1 a"]);
        assert_eq!(parse_task_list("nothing"), Err(TaskListError::Empty));
        let many = "- a\n".repeat(MAX_TASKS + 1);
        assert_eq!(parse_task_list(&many), Err(TaskListError::TooMany));
    }
}
