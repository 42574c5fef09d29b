//! The structure of a task index: which task is whose parent, and which tasks wait for each other.

use std::collections::HashMap;

use crate::index_fault::IndexFault;
use crate::task::Task;

/// Number of circles of dependencies that are named.
const MAX_NAMED_CYCLES: usize = 20;

/// The parent that an entry of the index names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedParent {
    /// The field is missing.
    Missing,
    /// The field is there, also as null.
    Given,
}

/// Positions of tasks by id.
pub(crate) type Positions = HashMap<String, usize>;

/// Resolves the parents and children of all tasks and writes them into the tasks. Returns the position of each parent.
///
/// The field `parent` counts. Without it, the task that lists this one as a child is the parent, otherwise the task with the
/// id without its last part. The result has no circles.
pub(crate) fn resolve_parents(
    tasks: &mut [Task],
    named: &[NamedParent],
    positions: &Positions,
    faults: &mut Vec<IndexFault>,
) -> Vec<Option<usize>> {
    let mut listing: HashMap<&str, usize> = HashMap::new();
    for (position, task) in tasks.iter().enumerate() {
        for child in &task.children {
            listing.entry(child).or_insert(position);
        }
    }
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(tasks.len());
    for (task, named) in tasks.iter().zip(named) {
        let parent = match (&task.parent, named) {
            (Some(parent), _) => {
                let found = positions.get(parent).copied();
                if found.is_none() {
                    let (id, parent) = (task.id.clone(), parent.clone());
                    faults.push(IndexFault::UnknownParent { id, parent });
                }
                found
            }
            (None, NamedParent::Given) => None,
            (None, NamedParent::Missing) => listing.get(task.id.as_str()).copied().or_else(|| {
                let (above, _) = task.id.rsplit_once('.')?;
                positions.get(above).copied()
            }),
        };
        parents.push(parent);
    }
    break_cycles(tasks, &mut parents, faults);
    find_disagreements(tasks, &parents, positions, faults);
    let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in tasks.iter_mut() {
        task.children.clear();
    }
    for (position, parent) in parents.iter().enumerate() {
        tasks[position].parent = parent.map(|parent| ids[parent].clone());
        if let Some(parent) = parent {
            tasks[*parent].children.push(ids[position].clone());
        }
    }
    parents
}

/// Takes the parent from the first task of every circle of parents.
fn break_cycles(tasks: &[Task], parents: &mut [Option<usize>], faults: &mut Vec<IndexFault>) {
    // The walk in which a task was seen.
    let mut seen = vec![0_usize; tasks.len()];
    for start in 0..tasks.len() {
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = start + 1;
            let Some(parent) = parents[at] else { break };
            if seen[parent] == start + 1 {
                let mut circle = vec![parent];
                let mut next = parents[parent];
                while let Some(member) = next.filter(|member| *member != parent) {
                    circle.push(member);
                    next = parents[member];
                }
                let first = circle.iter().enumerate().min_by_key(|(_, member)| **member);
                let turn = first.map_or(0, |(turn, _)| turn);
                circle.rotate_left(turn);
                parents[circle[0]] = None;
                let ids = circle.iter().map(|member| tasks[*member].id.clone()).collect();
                faults.push(IndexFault::ParentCycle { ids });
                break;
            }
            at = parent;
        }
    }
}

/// Finds lists of children that contradict the parents.
fn find_disagreements(
    tasks: &[Task],
    parents: &[Option<usize>],
    positions: &Positions,
    faults: &mut Vec<IndexFault>,
) {
    for (position, task) in tasks.iter().enumerate() {
        for child in &task.children {
            let id = task.id.clone();
            let Some(found) = positions.get(child).copied() else {
                faults.push(IndexFault::UnknownChild { id, child: child.clone() });
                continue;
            };
            if parents[found] != Some(position) {
                let parent = parents[found].map_or("none", |parent| tasks[parent].id.as_str());
                let parent = parent.to_owned();
                faults.push(IndexFault::ForeignChild { id, child: child.clone(), parent });
            }
        }
    }
    let listed: std::collections::HashSet<(&str, &str)> = tasks
        .iter()
        .flat_map(|task| task.children.iter().map(|child| (task.id.as_str(), child.as_str())))
        .collect();
    for (task, parent) in tasks.iter().zip(parents) {
        // A parent without any list is a file that leaves the lists out.
        if let Some(parent) = parent.map(|parent| &tasks[parent])
            && !parent.children.is_empty()
            && !listed.contains(&(parent.id.as_str(), task.id.as_str()))
        {
            let (id, parent) = (task.id.clone(), parent.id.clone());
            faults.push(IndexFault::UnlistedChild { id, parent });
        }
    }
}

/// Finds dependencies that do not exist, and tasks that wait for each other.
pub(crate) fn find_dependency_faults(
    tasks: &[Task],
    parents: &[Option<usize>],
    positions: &Positions,
    faults: &mut Vec<IndexFault>,
) {
    for task in tasks {
        for dependency in &task.dependencies {
            if !positions.contains_key(dependency) {
                let (id, dependency) = (task.id.clone(), dependency.clone());
                faults.push(IndexFault::UnknownDependency { id, dependency });
            }
        }
    }
    for cycle in find_waiting_cycles(tasks, parents, positions) {
        let ids = cycle.into_iter().map(|position| tasks[position].id.clone()).collect();
        faults.push(IndexFault::DependencyCycle { ids });
    }
}

/// Finds circles among starts and ends of tasks.
///
/// Every task has two nodes: its start (`2 * position`) and its end (`2 * position + 1`). A start waits for the ends of the
/// dependencies and for the start of the parent; an end waits for the own start and for the ends of the children.
fn find_waiting_cycles(
    tasks: &[Task],
    parents: &[Option<usize>],
    positions: &Positions,
) -> Vec<Vec<usize>> {
    let edges = |node: usize| -> Vec<usize> {
        let task = &tasks[node / 2];
        let place = |id: &String| positions.get(id).copied();
        if node.is_multiple_of(2) {
            let ends = task.dependencies.iter().filter_map(place).map(|found| 2 * found + 1);
            ends.chain(parents[node / 2].map(|parent| 2 * parent)).collect()
        } else {
            let ends = task.children.iter().filter_map(place).map(|found| 2 * found + 1);
            ends.chain([node - 1]).collect()
        }
    };
    let mut cycles = Vec::new();
    // 0: not seen. 1: on the path. 2: left.
    let mut colours = vec![0_u8; 2 * tasks.len()];
    for start in 0..colours.len() {
        if colours[start] != 0 {
            continue;
        }
        colours[start] = 1;
        let mut path: Vec<(usize, Vec<usize>)> = vec![(start, edges(start))];
        while let Some((node, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                colours[*node] = 2;
                path.pop();
                continue;
            };
            match colours[next] {
                0 => {
                    colours[next] = 1;
                    path.push((next, edges(next)));
                }
                1 if cycles.len() < MAX_NAMED_CYCLES => {
                    let from = path.iter().position(|(node, _)| *node == next).unwrap_or(0);
                    let mut cycle: Vec<usize> =
                        path[from..].iter().map(|(node, _)| node / 2).collect();
                    cycle.dedup();
                    if cycle.len() > 1 && cycle.first() == cycle.last() {
                        cycle.pop();
                    }
                    cycles.push(cycle);
                }
                _ => {}
            }
        }
    }
    cycles
}
