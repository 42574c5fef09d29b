//! The task index: its format, its faults, and how states roll up.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rutter_gates::{
    IndexFault, StartOptions, TaskError, TaskIndex, TaskProgress, TaskStatus, rolled_up_status,
};
use serde_json::{Value, json};

const AT: &str = "2026-01-02T03:04:05Z";
const PLAIN: StartOptions = StartOptions { force: false, reopen: false };
const FORCE: StartOptions = StartOptions { force: true, reopen: false };
const REOPEN: StartOptions = StartOptions { force: false, reopen: true };

/// An index as claude-code-sub-agent-collective writes it, with fields that Rutter does not know.
const COLLECTIVE: &str = r#"{
  "version": "1.0.0",
  "owner": {"b": 1, "a": [1.50, null]},
  "tasks": [
    {"title": "Shop", "id": "1", "type": "epic", "status": "in-progress", "parent": null,
     "children": ["1.1"], "progress": {"total": 1, "note": "x", "completed": 0}},
    {"id": "1.1", "type": "feature", "title": "Cart", "status": "pending", "parent": "1",
     "children": ["1.1.1", "1.1.2"], "dependencies": []},
    {"id": "1.1.1", "type": "task", "title": "tests", "status": "pending", "parent": "1.1", "children": [],
     "dependencies": [], "deliverables": ["tests/a.test.js"], "agent": "test-first-agent", "zeal": 7},
    {"id": "1.1.2", "type": "task", "title": "impl", "status": "pending", "parent": "1.1", "children": null,
     "dependencies": ["1.1.1"], "deliverables": ["src/a.js"], "agent": "feature-implementation-agent"}
  ]
}
"#;

fn collective() -> TaskIndex {
    TaskIndex::parse(COLLECTIVE.as_bytes()).unwrap()
}

fn index(entries: &Value) -> TaskIndex {
    TaskIndex::from_entries(entries.as_array().unwrap().clone()).unwrap()
}

fn status(index: &TaskIndex, id: &str) -> TaskStatus {
    index.find(id).unwrap().status
}

fn statuses(index: &TaskIndex) -> Vec<TaskStatus> {
    index.tasks().iter().map(|task| task.status).collect()
}

#[test]
fn collective_index_is_kept() {
    let mut index = collective();
    assert_eq!(index.faults(), []);
    index.start("1.1.1", AT, PLAIN).unwrap();
    let after: Value = serde_json::from_slice(&index.render()).unwrap();
    let mut expected: Value = serde_json::from_str(COLLECTIVE).unwrap();
    for task in 0..3 {
        expected["tasks"][task]["status"] = json!("in-progress");
    }
    expected["tasks"][1]["progress"] = json!({ "completed": 0, "total": 2 });
    expected["tasks"][2]["startedAt"] = json!(AT);
    // As texts: the order of fields counts.
    assert_eq!(after.to_string(), expected.to_string());
}

#[test]
fn foreign_layouts_are_read_and_kept() {
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(COLLECTIVE).unwrap());
    let text = format!("\u{feff}{}\r\n", pretty.unwrap().replace('\n', "\r\n").replace("  ", "\t"));
    let mut index = TaskIndex::parse(text.as_bytes()).unwrap();
    assert_eq!(index.render(), text.as_bytes());
    index.start("1.1.1", AT, PLAIN).unwrap();
    let after = String::from_utf8(index.render()).unwrap();
    assert!(after.starts_with("\u{feff}{\r\n\t\"version\""), "{after}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    let minimal = TaskIndex::parse(br#"{"tasks":[{"id":1},{"id":"1.1"}]}"#).unwrap();
    assert_eq!(minimal.faults(), []);
    assert_eq!(minimal.next_task().unwrap().id, "1.1");
}

#[test]
fn next_task_waits_for_dependencies() {
    let mut index = collective();
    assert_eq!(index.next_task().unwrap().id, "1.1.1");
    index.start("1.1.1", AT, PLAIN).unwrap();
    assert_eq!(index.next_task(), None);
    let refused = index.start("1.1.2", AT, PLAIN).unwrap_err();
    assert_eq!(refused.to_string(), "1.1.2 waits for 1.1.1 (in-progress)");
    index.finish("1.1.1", AT).unwrap();
    assert_eq!(index.next_task().unwrap().id, "1.1.2");
    index.start("1.1.2", AT, PLAIN).unwrap();
}

#[test]
fn dependencies_of_parents_count() {
    let index = index(&json!([
        { "id": "1" }, { "id": "1.1" },
        { "id": "2", "dependencies": ["1"] }, { "id": "2.1", "dependencies": ["1", "9"] },
    ]));
    let open = index.open_dependencies(index.find("2.1").unwrap());
    let open: Vec<_> = open.iter().map(|open| (open.id.as_str(), open.status)).collect();
    assert_eq!(open, [("1", Some(TaskStatus::Pending)), ("9", None)]);
    assert_eq!(index.next_task().unwrap().id, "1.1");
}

#[test]
fn all_ancestors_roll_up() {
    let mut index = collective();
    index.start("1.1.1", AT, PLAIN).unwrap();
    let changes = index.finish("1.1.1", AT).unwrap();
    assert_eq!(changes.len(), 1);
    let feature = index.find("1.1").unwrap();
    assert_eq!(index.progress(feature), Some(TaskProgress { completed: 1, total: 2 }));
    index.start("1.1.2", AT, PLAIN).unwrap();
    let changes = index.finish("1.1.2", AT).unwrap();
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    assert_eq!(ids, ["1.1.2", "1.1", "1"]);
    assert!(statuses(&index).iter().all(|status| *status == TaskStatus::Done));
    let document: Value = serde_json::from_slice(&index.render()).unwrap();
    let progress = json!({ "total": 1, "note": "x", "completed": 1 });
    assert_eq!(document["tasks"][0]["progress"].to_string(), progress.to_string());
}

/// The original set a parent with one child in progress, and none done, back to pending.
#[test]
fn parent_never_goes_back_to_pending() {
    let mut index = collective();
    index.start("1.1.1", AT, PLAIN).unwrap();
    index.fail("1.1.1", AT).unwrap();
    assert_eq!(status(&index, "1.1.1"), TaskStatus::Failed);
    assert_eq!(status(&index, "1.1"), TaskStatus::InProgress);
    assert_eq!(status(&index, "1"), TaskStatus::InProgress);
    index.start("1.1.1", AT, PLAIN).unwrap();
}

/// The original let every write pass once a task was done: its parent, in progress and without dependencies, passed for the
/// task that is worked on.
#[test]
fn pending_dependency_holds_after_first_done_task() {
    let mut index = index(&json!([
        { "id": "1" },
        { "id": "1.1", "parent": "1" },
        { "id": "1.2", "parent": "1" },
        { "id": "1.3", "parent": "1", "dependencies": ["1.2"] },
    ]));
    index.start("1.1", AT, PLAIN).unwrap();
    index.finish("1.1", AT).unwrap();
    assert_eq!(status(&index, "1"), TaskStatus::InProgress);
    assert_eq!(rutter_gates::find_active_task(&index, None, Some("1")), None);
    assert!(matches!(index.start("1.3", AT, PLAIN), Err(TaskError::OpenDependencies { .. })));
    assert!(matches!(index.start("1", AT, FORCE), Err(TaskError::HasChildren { .. })));
}

#[test]
fn only_reopening_takes_done_tasks_back() {
    let mut index = collective();
    for id in ["1.1.1", "1.1.2"] {
        index.start(id, AT, PLAIN).unwrap();
        index.finish(id, AT).unwrap();
    }
    assert!(matches!(index.start("1.1.1", AT, FORCE), Err(TaskError::Done { .. })));
    assert!(matches!(index.fail("1.1.1", AT), Err(TaskError::Done { .. })));
    let changes = index.start("1.1.1", AT, REOPEN).unwrap();
    assert_eq!(changes.len(), 3);
    assert_eq!(status(&index, "1"), TaskStatus::InProgress);
    assert_eq!(status(&index, "1.1.2"), TaskStatus::Done);
    let document: Value = serde_json::from_slice(&index.render()).unwrap();
    assert_eq!(document["tasks"][2].get("completedAt"), None);
    assert!(document["tasks"][3].get("completedAt").is_some());
}

#[test]
fn task_below_done_parent_needs_reopening() {
    let mut index = index(&json!([
        { "id": "1", "status": "done" }, { "id": "1.1", "status": "done" }, { "id": "1.2" },
    ]));
    assert_eq!(index.start("1.2", AT, PLAIN), Err(TaskError::Done { done: "1".to_owned() }));
    index.start("1.2", AT, REOPEN).unwrap();
    assert_eq!(status(&index, "1"), TaskStatus::InProgress);
}

#[test]
fn states_forbid_transitions() {
    let mut index = index(&json!([
        { "id": "a", "status": "blocked" }, { "id": "b", "status": "in review" }, { "id": "c" },
    ]));
    assert!(matches!(index.start("a", AT, PLAIN), Err(TaskError::NotStartable { .. })));
    assert!(matches!(index.start("b", AT, PLAIN), Err(TaskError::NotStartable { .. })));
    assert!(matches!(index.finish("c", AT), Err(TaskError::NotStarted { .. })));
    assert!(matches!(index.start("d", AT, FORCE), Err(TaskError::Unknown { .. })));
    index.start("a", AT, FORCE).unwrap();
    assert_eq!(index.start("a", AT, PLAIN), Ok(Vec::new()));
    index.finish("a", AT).unwrap();
    assert_eq!(index.finish("a", AT), Ok(Vec::new()));
}

#[test]
fn contradictions_are_named() {
    let index = index(&json!([
        { "id": "1", "parent": null, "children": ["1.1", "8", "2"] },
        { "id": "1.1", "parent": "1" },
        { "id": "1.2", "parent": "1" },
        { "id": "1.1", "parent": "1" },
        { "id": "2", "parent": null, "status": "soon" },
        { "id": "3", "parent": "9" },
        { "title": "no id" }, 7,
        { "id": "4", "parent": "6" }, { "id": "5", "parent": "4" }, { "id": "6", "parent": "5" },
        { "id": "7", "parent": null, "dependencies": ["7.1", "99"] },
        { "id": "7.1", "parent": "7" },
        { "id": "a", "dependencies": ["b"] }, { "id": "b", "dependencies": ["c"] }, { "id": "c", "dependencies": ["a"] },
        { "id": "d", "dependencies": ["d"] }, { "id": "e", "dependencies": ["a"] }, { "id": "f", "parent": "f" },
    ]));
    let text = |text: &str| text.to_owned();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut expected = vec![
        IndexFault::NoId { position: 7 },
        IndexFault::NoId { position: 8 },
        IndexFault::DuplicateId { id: text("1.1"), count: 2 },
        IndexFault::UnknownStatus { id: text("2"), status: text("soon") },
        IndexFault::UnknownParent { id: text("3"), parent: text("9") },
        IndexFault::UnknownChild { id: text("1"), child: text("8") },
        IndexFault::UnknownDependency { id: text("7"), dependency: text("99") },
        IndexFault::ForeignChild { id: text("1"), child: text("2"), parent: text("none") },
        IndexFault::UnlistedChild { id: text("1.2"), parent: text("1") },
        IndexFault::ParentCycle { ids: texts(&["4", "6", "5"]) },
        IndexFault::ParentCycle { ids: texts(&["f"]) },
        IndexFault::DependencyCycle { ids: texts(&["7", "7.1"]) },
        IndexFault::DependencyCycle { ids: texts(&["a", "b", "c"]) },
        IndexFault::DependencyCycle { ids: texts(&["d"]) },
    ];
    let mut faults = index.faults().to_vec();
    // Where a circle begins is no matter of the fault.
    for fault in &mut faults {
        if let IndexFault::DependencyCycle { ids } = fault {
            let first = (0..ids.len()).min_by_key(|at| &ids[*at]).unwrap();
            ids.rotate_left(first);
        }
    }
    faults.sort();
    expected.sort();
    assert_eq!(faults, expected);
    assert_eq!(index.find("4").unwrap().parent, None);
    assert!(faults.iter().all(|fault| fault.to_string().len() > 20));
}

#[test]
fn duplicate_id_is_not_changed() {
    let mut index = index(&json!([{ "id": "1", "agent": "first" }, { "id": "1" }]));
    assert_eq!(index.find("1").unwrap().agent.as_deref(), Some("first"));
    assert!(matches!(index.start("1", AT, FORCE), Err(TaskError::DuplicateId { .. })));
}

#[test]
fn deep_indexes_do_not_overflow() {
    let count = 20_000;
    let entry = |number: usize| {
        json!({
            "id": format!("t{number}"),
            "parent": (number > 0).then(|| format!("t{}", number - 1)),
            "dependencies": [format!("d{number}")],
        })
    };
    let mut index = TaskIndex::from_entries((0..count).map(entry).collect()).unwrap();
    let last = format!("t{}", count - 1);
    index.start(&last, AT, FORCE).unwrap();
    index.finish(&last, AT).unwrap();
    assert!(statuses(&index).iter().all(|status| *status == TaskStatus::Done));
}

/// Epics of 5 features of 9 tasks each.
fn large_index(count: usize) -> Vec<u8> {
    let mut entries = Vec::new();
    for number in 0..count {
        let (feature, task) = (number / 10, number % 10);
        let (epic, feature) = (feature / 5 + 1, feature % 5 + 1);
        let id = if task == 0 {
            format!("{epic}.{feature}")
        } else {
            format!("{epic}.{feature}.{task}")
        };
        if task == 0 && feature == 1 {
            entries.push(json!({ "id": epic.to_string(), "parent": null, "status": "pending" }));
        }
        let before = (task > 1).then(|| format!("{epic}.{feature}.{}", task - 1));
        entries.push(json!({
            "id": id, "type": "task", "title": format!("Task number {number}"), "status": "pending",
            "parent": id.rsplit_once('.').unwrap().0, "dependencies": before.into_iter().collect::<Vec<_>>(),
            "deliverables": [format!("src/part_{number}.rs")], "agent": "coder", "more": { "a": [1, 2, 3] },
        }));
    }
    TaskIndex::from_entries(entries).unwrap().render()
}

#[test]
fn large_index_takes_under_50_ms() {
    let bytes = large_index(2_000);
    // The best of several: the machine may be busy.
    let best = (0..10).map(|_| {
        let start = Instant::now();
        let mut index = TaskIndex::parse(&bytes).unwrap();
        assert_eq!(index.faults(), []);
        let id = index.next_task().unwrap().id.clone();
        index.start(&id, AT, PLAIN).unwrap();
        index.finish(&id, AT).unwrap();
        assert!(index.render().len() > bytes.len());
        start.elapsed()
    });
    let best = best.min().unwrap();
    println!("read, start, finish and render {} bytes: {best:?}", bytes.len());
    assert!(best < Duration::from_millis(50), "{best:?}");
}

/// The state of a task by its children alone, without a memory of earlier states.
fn naive_status(children: &[TaskStatus]) -> TaskStatus {
    let done = children.iter().filter(|status| **status == TaskStatus::Done).count();
    if done == children.len() {
        TaskStatus::Done
    } else if done > 0 || children.contains(&TaskStatus::InProgress) {
        TaskStatus::InProgress
    } else {
        TaskStatus::Pending
    }
}

fn rank(status: TaskStatus) -> usize {
    match status {
        TaskStatus::Done => 2,
        TaskStatus::InProgress => 1,
        _ => 0,
    }
}

fn child_statuses(index: &TaskIndex, id: &str) -> Vec<TaskStatus> {
    let children = &index.find(id).unwrap().children;
    children.iter().map(|child| status(index, child)).collect()
}

/// A tree: each number is the parent of the next task, among those before it; and steps on its tasks.
fn trees_and_steps() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, u8)>)> {
    (
        proptest::collection::vec(0_usize..1000, 1..24),
        proptest::collection::vec((0_usize..1000, 0_u8..6), 0..60),
    )
}

fn tree(parents: &[usize]) -> TaskIndex {
    let mut entries = vec![json!({ "id": "t0", "parent": null })];
    for (number, parent) in parents.iter().enumerate() {
        let parent = format!("t{}", parent % (number + 1));
        entries.push(json!({ "id": format!("t{}", number + 1), "parent": parent }));
    }
    TaskIndex::from_entries(entries).unwrap()
}

fn check_steps(parents: &[usize], steps: &[(usize, u8)]) -> Result<(), TestCaseError> {
    let mut index = tree(parents);
    let count = index.tasks().len();
    for (task, action) in steps {
        let id = format!("t{}", task % count);
        let before = index.clone();
        let is_reopening = *action == 5;
        let result = match action {
            0 | 1 => index.start(&id, AT, FORCE),
            2 | 3 => index.finish(&id, AT),
            4 => index.fail(&id, AT),
            _ => index.start(&id, AT, REOPEN),
        };
        if result.is_err() {
            prop_assert_eq!(statuses(&index), statuses(&before));
        }
        for task in index.tasks().iter().filter(|task| !task.is_leaf()) {
            let (was, is) = (status(&before, &task.id), task.status);
            let naive = naive_status(&child_statuses(&index, &task.id));
            let is_regress = rank(naive) < rank(was);
            if is_reopening {
                prop_assert!(rank(is) >= rank(was).min(1), "{} fell to {}", task.id, is);
            } else {
                prop_assert!(rank(is) >= rank(was), "{}: {} after {}", task.id, is, was);
            }
            if !is_regress {
                prop_assert_eq!(is, naive, "{}", task.id);
            }
        }
    }
    // What is written is what is in memory.
    let read = TaskIndex::parse(&index.render()).unwrap();
    prop_assert_eq!(statuses(&read), statuses(&index));
    // Everything is rolled up already.
    prop_assert_eq!(index.roll_up_all(), Vec::new());
    Ok(())
}

proptest! {
    #[test]
    fn roll_up_never_regresses((parents, steps) in trees_and_steps()) {
        check_steps(&parents, &steps)?;
    }

    #[test]
    fn rolled_up_status_is_naive_unless_worse(
        before in proptest::sample::select(&TaskStatus::ALL[..3]),
        children in proptest::collection::vec(proptest::sample::select(&TaskStatus::ALL[..]), 1..6),
    ) {
        let is = rolled_up_status(before, &children, false);
        let naive = naive_status(&children);
        prop_assert_eq!(is, if rank(naive) < rank(before) { before } else { naive });
    }

    #[test]
    fn any_document_is_read_without_panic(
        parents in proptest::collection::vec((0_usize..6, 0_usize..6, 0_usize..6, 0_usize..6), 0..12),
    ) {
        let entry = |(id, parent, child, dependency): &(usize, usize, usize, usize)| {
            json!({
                "id": id, "parent": (*parent > 0).then_some(parent), "children": [child], "dependencies": [dependency],
            })
        };
        let mut index = TaskIndex::from_entries(parents.iter().map(entry).collect()).unwrap();
        for id in 0..6 {
            let id = id.to_string();
            if index.start(&id, AT, StartOptions { force: true, reopen: true }).is_ok() {
                prop_assert_eq!(status(&index, &id), TaskStatus::InProgress);
                prop_assert!(index.finish(&id, AT).is_ok());
            }
        }
        let _ = index.next_task();
        index.roll_up_all();
    }
}
